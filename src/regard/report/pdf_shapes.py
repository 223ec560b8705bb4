"""The shapes of our plots, as SVG has them, in the operators of a PDF's page (ISO 32000-1, 8.5 and 9.4).

This is no reader of any SVG: it knows what `plots.py` and its fellows write, and what it does not know is an error, so that
a new kind of shape is noticed by the tests and not by whoever prints it. A shape without `fill` is a line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from regard.report.pdf_letters import NARROW, stretches

ROUND = 0.5522847498  # how far the handles of a Bézier curve stand out that draws a quarter of a circle of radius 1
STEP = re.compile(r"([MLHVhvaz])([-\s\d.e]*)")
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")

Given = Mapping[str, str]


@dataclass
class Sheet:
    """What the operators refer to by name: fonts, and how opaque a shape is (fill, line)."""

    size: float = 12.0  # of letters, where a text has none of its own
    fonts: list[str] = field(default_factory=list)
    opacities: list[tuple[str, str]] = field(default_factory=list)

    def font(self, name: str) -> str:
        return f"/F{place(self.fonts, name)}"

    def opacity(self, fill: str, line: str) -> str:
        return f"/G{place(self.opacities, (fill, line))} gs"


def place(known: list[Any], one: object) -> int:
    """Where it stands among those that are known now."""
    if one not in known:
        known.append(one)
    return known.index(one)


def shape(name: str, given: Given, words: str, sheet: Sheet) -> str:
    """One element; "" for what is not drawn."""
    if name == "title":
        return ""
    if name == "text":
        return " ".join(letters(given, words, sheet))
    return " ".join(("q", *pen(given, sheet), outline(name, given), painted(given), "Q"))


def pen(given: Given, sheet: Sheet) -> Iterator[str]:
    """Colours, thickness, dashes, opacity."""
    if filled(given):
        yield f"{rgb(given['fill'])} rg"
    if lined(given):
        yield f"{rgb(given['stroke'])} RG {given.get('stroke-width', '1')} w"
    if "stroke-dasharray" in given:
        yield f"[{given['stroke-dasharray']}] 0 d"
    if "stroke-linejoin" in given:
        yield "1 j"
    if "fill-opacity" in given or "stroke-opacity" in given:
        yield sheet.opacity(given.get("fill-opacity", "1"), given.get("stroke-opacity", "1"))


def filled(given: Given) -> bool:
    return given.get("fill", "none") != "none"


def lined(given: Given) -> bool:
    return given.get("stroke", "none") != "none"


def painted(given: Given) -> str:
    return {(True, True): "B", (True, False): "f", (False, True): "S", (False, False): "n"}[filled(given), lined(given)]


def rgb(colour: str) -> str:
    if colour.startswith("#"):
        parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    else:
        parts = [int(part) for part in re.findall(r"\d+", colour)]
    return " ".join(short(part / 255) for part in parts)


def outline(name: str, given: Given) -> str:
    if name == "rect":
        sizes = [float(given.get(key, "0")) for key in ("x", "y", "width", "height")]
        return f"{' '.join(map(short, sizes))} re"
    if name == "circle":
        x, y, radius = (float(given[key]) for key in ("cx", "cy", "r"))
        return " ".join(
            (f"{pair(x - radius, y)} m", half(x - radius, y, 2 * radius), half(x + radius, y, -2 * radius), "h")
        )
    if name in ("polyline", "polygon"):
        points = [tuple(map(float, point.split(","))) for point in given["points"].split()]
        drawn = [f"{pair(*point)} {'l' if number else 'm'}" for number, point in enumerate(points)]
        return " ".join([*drawn, "h"] if name == "polygon" else drawn)
    if name == "path":
        return " ".join(steps(given["d"]))
    raise ValueError(f"{name}: no shape that our plots draw")


def steps(path: str) -> Iterator[str]:
    x = y = 0.0
    if STEP.sub("", path).strip():
        raise ValueError(f"{path[:40]}: no path that our plots draw")
    for kind, told in STEP.findall(path):
        values = [float(value) for value in NUMBER.findall(told)]
        if kind == "z":
            yield "h"
            continue
        if kind == "a":  # ours are halves of circles: r r 0 1 0 across 0
            yield half(x, y, values[5])
            x += values[5]
            continue
        if kind in "ML":
            x, y = values
        elif kind in "Hh":
            x = values[0] + (x if kind == "h" else 0)
        else:
            y = values[0] + (y if kind == "v" else 0)
        yield f"{pair(x, y)} {'m' if kind == 'M' else 'l'}"


def half(x: float, y: float, across: float) -> str:
    """Half of a circle, from (x, y) to (x + across, y); counter-clockwise, as sweep 0 has it in SVG."""
    radius = across / 2
    low, handle = y + radius, ROUND * radius
    one = f"{pair(x, y + handle)} {pair(x + radius - handle, low)} {pair(x + radius, low)} c"
    other = f"{pair(x + radius + handle, low)} {pair(x + across, y + handle)} {pair(x + across, y)} c"
    return f"{one} {other}"


def letters(given: Given, words: str, sheet: Sheet) -> Iterator[str]:
    size = float(given.get("font-size", sheet.size))
    found = list(stretches(words, given.get("font-weight") in ("600", "bold")))
    wide = sum(sum(one.widths) for one in found) * size / 1000
    at = {"start": 0.0, "middle": -wide / 2, "end": -wide}[given.get("text-anchor", "start")]
    yield f"q {turn(given)} {pair(float(given['x']), float(given['y']))} cm"
    if lined(given):  # a halo, under the letters
        yield f"{rgb(given['stroke'])} RG {given['stroke-width']} w 1 j"
    yield f"{rgb(given['fill'])} rg"
    for one in found:
        across = sum(one.widths) * size / 1000
        if one.font:
            set_as = f"{sheet.font(one.font)} {short(size)} Tf {short(100 * NARROW) if one.narrow else 100} Tz"
            for mode in (1, 0) if lined(given) else (0,):
                yield f"BT {set_as} {mode} Tr 1 0 0 -1 {short(at)} 0 Tm <{one.code.hex()}> Tj ET"
        else:
            yield f"{rgb(given['fill'])} RG 0.7 w {' '.join(boxes(one.widths, at, size))} S"
        at += across
    yield "Q"


def boxes(widths: tuple[float, ...], at: float, size: float) -> Iterator[str]:
    """A hollow box for each letter that no font has."""
    for width in widths:
        across = width * size / 1000
        yield f"{pair(at + 0.1 * across, -0.65 * size)} {pair(0.8 * across, 0.65 * size)} re"
        at += across


def turn(given: Given) -> str:
    """The matrix of `rotate(degrees x y)`, where x and y are the text's own."""
    found = re.match(r"rotate\((-?[\d.]+)", given.get("transform", ""))
    angle = math.radians(float(found[1])) if found else 0.0
    return " ".join(short(value) for value in (math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle)))


def pair(x: float, y: float) -> str:
    return f"{short(x)} {short(y)}"


def short(value: float) -> str:
    """Three digits after the point, and never an exponent, which a PDF has not."""
    return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")  # + 0.0: there is no −0
