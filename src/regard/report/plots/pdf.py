"""A figure as PDF, for papers: the same lines, shapes and letters as its SVG, and nothing embedded.

One page of the size of the figure; letters stay letters, which can be searched and copied. The same figure gives the same
bytes: they contain no date. See `letters.py` for the scripts that a PDF can show. Only what the plots of this package draw is
understood (operators: ISO 32000-1, 8.5 and 9.4); any other shape is an error, so that the tests notice it.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from regard.report.plots.letters import NARROW, fonts, stretches, unshown

POINT = 0.75  # of a pixel
ROUND = 0.5522847498  # length of the handles of a Bézier curve that draws a quarter of a circle of radius 1
STEP = re.compile(r"([MLHVhvaz])([-\s\d.e]*)")
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")

Attributes = Mapping[str, str]


@dataclass
class Sheet:
    """Resources that operators refer to by name: fonts and opacities (fill, line)."""

    size: float = 12.0  # of letters, unless a text has its own
    fonts: list[str] = field(default_factory=list)
    opacities: list[tuple[str, str]] = field(default_factory=list)

    def font(self, name: str) -> str:
        return f"/F{index_of(name, self.fonts)}"

    def opacity(self, fill: str, line: str) -> str:
        return f"/G{index_of((fill, line), self.opacities)} gs"


def index_of(item: object, items: list[Any]) -> int:
    """The index of an item, which is appended if it is new."""
    if item not in items:
        items.append(item)
    return items.index(item)


def shape(name: str, attributes: Attributes, words: str, sheet: Sheet) -> str:
    """The operators of one element; "" if it is not drawn."""
    if name == "title":
        return ""
    if name == "text":
        return " ".join(letters(attributes, words, sheet))
    return " ".join(("q", *pen(attributes, sheet), outline(name, attributes), painted(attributes), "Q"))


def pen(attributes: Attributes, sheet: Sheet) -> Iterator[str]:
    """The operators for colours, line width, dashes and opacity."""
    if filled(attributes):
        yield f"{rgb(attributes['fill'])} rg"
    if lined(attributes):
        yield f"{rgb(attributes['stroke'])} RG {attributes.get('stroke-width', '1')} w"
    if "stroke-dasharray" in attributes:
        yield f"[{attributes['stroke-dasharray']}] 0 d"
    if "stroke-linejoin" in attributes:
        yield "1 j"
    if "fill-opacity" in attributes or "stroke-opacity" in attributes:
        yield sheet.opacity(attributes.get("fill-opacity", "1"), attributes.get("stroke-opacity", "1"))


def filled(attributes: Attributes) -> bool:
    return attributes.get("fill", "none") != "none"


def lined(attributes: Attributes) -> bool:
    return attributes.get("stroke", "none") != "none"


def painted(attributes: Attributes) -> str:
    return {(True, True): "B", (True, False): "f", (False, True): "S", (False, False): "n"}[
        filled(attributes), lined(attributes)
    ]


def rgb(colour: str) -> str:
    if colour.startswith("#"):
        parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    else:
        parts = [int(part) for part in re.findall(r"\d+", colour)]
    return " ".join(short(part / 255) for part in parts)


def outline(name: str, attributes: Attributes) -> str:
    if name == "rect":
        sizes = [float(attributes.get(key, "0")) for key in ("x", "y", "width", "height")]
        return f"{' '.join(map(short, sizes))} re"
    if name == "circle":
        x, y, radius = (float(attributes[key]) for key in ("cx", "cy", "r"))
        return " ".join(
            (f"{pair(x - radius, y)} m", half(x - radius, y, 2 * radius), half(x + radius, y, -2 * radius), "h")
        )
    if name in ("polyline", "polygon"):
        points = [tuple(map(float, point.split(","))) for point in attributes["points"].split()]
        drawn = [f"{pair(*point)} {'l' if number else 'm'}" for number, point in enumerate(points)]
        return " ".join([*drawn, "h"] if name == "polygon" else drawn)
    if name == "path":
        return " ".join(steps(attributes["d"]))
    raise ValueError(f"expected a shape that our plots draw, got {name}")


def steps(path: str) -> Iterator[str]:
    x = y = 0.0
    if STEP.sub("", path).strip():
        raise ValueError(f"expected a path that our plots draw, got {path[:40]}")
    for kind, numbers in STEP.findall(path):
        values = [float(value) for value in NUMBER.findall(numbers)]
        if kind == "z":
            yield "h"
            continue
        if kind == "a":  # our plots draw only halves of circles: r r 0 1 0 across 0
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
    """Half of a circle, from (x, y) to (x + across, y); counter-clockwise, like sweep 0 in SVG."""
    radius = across / 2
    low, handle = y + radius, ROUND * radius
    one = f"{pair(x, y + handle)} {pair(x + radius - handle, low)} {pair(x + radius, low)} c"
    other = f"{pair(x + radius + handle, low)} {pair(x + across, y + handle)} {pair(x + across, y)} c"
    return f"{one} {other}"


def letters(attributes: Attributes, words: str, sheet: Sheet) -> Iterator[str]:
    size = float(attributes.get("font-size", sheet.size))
    runs = list(stretches(words, attributes.get("font-weight") in ("600", "bold")))
    wide = sum(sum(one.widths) for one in runs) * size / 1000
    at = {"start": 0.0, "middle": -wide / 2, "end": -wide}[attributes.get("text-anchor", "start")]
    yield f"q {text_matrix(attributes)} {pair(float(attributes['x']), float(attributes['y']))} cm"
    if lined(attributes):  # a halo behind the letters
        yield f"{rgb(attributes['stroke'])} RG {attributes['stroke-width']} w 1 j"
    yield f"{rgb(attributes['fill'])} rg"
    for one in runs:
        across = sum(one.widths) * size / 1000
        if one.font:
            font = f"{sheet.font(one.font)} {short(size)} Tf {short(100 * NARROW) if one.narrow else 100} Tz"
            for mode in (1, 0) if lined(attributes) else (0,):
                yield f"BT {font} {mode} Tr 1 0 0 -1 {short(at)} 0 Tm <{one.code.hex()}> Tj ET"
        else:
            yield f"{rgb(attributes['fill'])} RG 0.7 w {' '.join(boxes(one.widths, at, size))} S"
        at += across
    yield "Q"


def boxes(widths: tuple[float, ...], at: float, size: float) -> Iterator[str]:
    """A hollow box for each letter that no font contains."""
    for width in widths:
        across = width * size / 1000
        yield f"{pair(at + 0.1 * across, -0.65 * size)} {pair(0.8 * across, 0.65 * size)} re"
        at += across


def text_matrix(attributes: Attributes) -> str:
    """The matrix of `rotate(degrees x y)`, where x and y are the position of the text."""
    match = re.match(r"rotate\((-?[\d.]+)", attributes.get("transform", ""))
    angle = math.radians(float(match[1])) if match else 0.0
    return " ".join(short(value) for value in (math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle)))


def pair(x: float, y: float) -> str:
    return f"{short(x)} {short(y)}"


def short(value: float) -> str:
    """Three decimals, and never an exponent, which PDF does not allow."""
    return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")  # + 0.0: avoids −0


def pdf(svg: str) -> bytes:
    """`svg` as written by `svg.document`."""
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    sheet = Sheet(float(root.attrib["font-size"]))
    drawn = [f"{POINT} 0 0 -{POINT} 0 {short(POINT * height)} cm"]  # the y axis of a PDF points up
    drawn += [shape(one.tag.rpartition("}")[2], one.attrib, one.text or "", sheet) for one in root]
    content = zlib.compress("\n".join(filter(None, drawn)).encode("ascii"), 9)
    title = next((one.text or "" for one in root if one.tag.endswith("title")), "")
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /DisplayDocTitle true >> /Lang (en) >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"",  # the page, filled in below
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content),
        f"<< /Title <feff{title.encode('utf-16-be', 'replace').hex()}> >>".encode("ascii"),
    ]
    letters = []
    for number, (_, font_objects) in enumerate(fonts(sheet.fonts).items()):
        letters.append(f"/F{number} {len(objects) + 1} 0 R")
        for one in font_objects:
            objects.append((one % (len(objects) + 2) if "%s" in one else one).encode("ascii"))
    opacities = [f"/G{number} << /ca {fill} /CA {line} >>" for number, (fill, line) in enumerate(sheet.opacities)]
    resources = f"<< /Font << {' '.join(letters)} >> /ExtGState << {' '.join(opacities)} >> >>"
    box = f"[0 0 {short(POINT * width)} {short(POINT * height)}]"
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Resources {resources} /Contents 4 0 R >>"
    objects[2] = page.encode("ascii")
    return numbered(objects)


def numbered(objects: Sequence[bytes]) -> bytes:
    """Objects numbered from 1, and the table of their offsets; the first is the catalogue, the fifth the document info."""
    written, starts = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", []
    for number, one in enumerate(objects, 1):
        starts.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(objects) + 1
    end = b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(written))
    return written + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (size, table, end)


def boxed(svg: str) -> str:
    """The letters of a figure that its PDF shows as boxes."""
    return "".join(sorted(unshown("".join(one.text or "" for one in ElementTree.fromstring(svg)))))
