"""APLN's Figure 4, drawn again: the function y = x^p for several p. `python docs/images/figure4.py`."""

from __future__ import annotations

from pathlib import Path

from regard.report.plots.lines import Curve, Panel, lines

NORMS = (0.2, 0.5, 1.0, 2.0, 5.0)
POINTS = 50


def figure() -> str:
    x = tuple(point / POINTS for point in range(POINTS + 1))
    curves = [Curve(f"p = {norm:g}", x, y, y, y) for norm in NORMS for y in [tuple(value**norm for value in x)]]
    return lines(
        "The influence of p on y = x^p (APLN, Figure 4)", "x = α h", "y = x^p", [Panel("", tuple(curves))], band=True
    )


if __name__ == "__main__":
    (Path(__file__).parent / "apln-figure4.svg").write_text(figure(), encoding="utf-8")
