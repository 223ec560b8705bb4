"""Heat maps of explained texts as PDF or PNG; the layout is in `typst/heatmap.typ`."""

from __future__ import annotations

import json

from regard.errors import InputError
from regard.report.colours import ACCENT, COLD, LEVELS, LIGHT, RGB, hexed, shade
from regard.report.pages.explanations import ExplainedText
from regard.report.paper import Paper, cautions, cuts, printed, right_to_left, verdict
from regard.report.text.highlights import Piece, Row
from regard.report.typesetting import PPI, measured, missing_letter, typeset

TEMPLATE = "heatmap.typ"
TALLEST = 20_000  # pixels of an image


def heatmap_pdf(shown: Paper) -> bytes:
    return typeset(TEMPLATE, _inputs(shown, whole=False), "pdf")


def heatmap_png(shown: Paper) -> bytes:
    """One image of all texts."""
    inputs = _inputs(shown, whole=True)
    height = round(measured(TEMPLATE, inputs, "height") * PPI / 72)
    if height > TALLEST:
        raise InputError(
            f"png: expected texts that fit into one image of {TALLEST} pixels' height, got {height} pixels; take fewer "
            "with --limit, or use pdf, which has pages"
        )
    return typeset(TEMPLATE, inputs, "png")


def heatmap_caution(shown: Paper) -> str:
    """A sentence about letters that cannot be drawn, or ""."""
    letter = missing_letter(TEMPLATE, _inputs(shown, whole=False))
    return f"no installed font contains {letter}, so boxes are drawn; install a font for its script" if letter else ""


def _inputs(shown: Paper, whole: bool) -> dict[str, str]:
    data = {
        "title": shown.title,
        "texts": [[_view(view) for view in text] for text in shown.texts],
        "legend": vars(shown.legend),
        "warm_ramp": _ramp(ACCENT),
        "cold_ramp": _ramp(COLD),
        "warm": hexed(ACCENT),
        "cold": hexed(COLD),
        "ink": hexed(LIGHT.ink),
        "faint": hexed(LIGHT.faint),
    }
    return {"data": json.dumps(data), "whole": "yes" if whole else "no"}


def _ramp(accent: RGB) -> list[str]:
    return [hexed(shade(level / LEVELS, LIGHT.paper, accent)) for level in range(0, LEVELS + 1, 4)]


def _view(view: ExplainedText) -> dict[str, object]:
    return {
        "run": view.run,
        "prediction": view.answer.prediction,
        "probability": view.answer.probability,
        "verdict": verdict(view.answer),
        "method": view.method,
        "cautions": cautions(view),
        "sentences": view.sentences,
        "rows": [_row(row) for row in view.rows],
    }


def _row(row: Row) -> dict[str, object]:
    return {
        "part": row.part,
        "number": row.number,
        "share": min(row.share, 1.0),
        "against": row.against,
        "rtl": right_to_left(row),
        "pieces": [_piece(text, piece) for text, piece in printed(row) if text],
    }


def _piece(text: str, piece: Piece) -> dict[str, object]:
    fill = hexed(shade(piece.strength, LIGHT.paper, COLD if piece.against else ACCENT))
    return {
        "text": "\u200b".join(cuts(text)),  # a long word may break at zero-width spaces
        "fill": fill if piece.token is not None and piece.level else None,
        "against": round(piece.strength, 3) if piece.against and piece.level else 0,
        "known": piece.known,
    }
