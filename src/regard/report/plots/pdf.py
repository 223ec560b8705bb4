"""A figure as PDF, for papers: the same lines, shapes and letters as its SVG, and nothing embedded.

One page of the size of the figure; letters stay letters, which can be searched and copied. The same figure gives the same
bytes: they contain no date. `letters.py` says which scripts a PDF can show. Only what the plots of this package draw is
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


def pdf(svg: str) -> bytes:
    """`svg` as written by `svg.document`."""
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    sheet = Sheet(float(root.attrib["font-size"]))
    drawn = [f"{POINT} 0 0 -{POINT} 0 {short(POINT * height)} cm"]  # down is up in a PDF
    drawn += [shape(one.tag.rpartition("}")[2], one.attrib, one.text or "", sheet) for one in root]
    content = zlib.compress("\n".join(filter(None, drawn)).encode("ascii"), 9)
    title = next((one.text or "" for one in root if one.tag.endswith("title")), "")
    named: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /DisplayDocTitle true >> /Lang (en) >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"",  # the page, which names what follows
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content),
        f"<< /Title <feff{title.encode('utf-16-be', 'replace').hex()}> >>".encode("ascii"),
    ]
    letters = []
    for place, (_, objects) in enumerate(fonts(sheet.fonts).items()):
        letters.append(f"/F{place} {len(named) + 1} 0 R")
        for one in objects:
            named.append((one % (len(named) + 2) if "%s" in one else one).encode("ascii"))
    opacities = [f"/G{place} << /ca {fill} /CA {line} >>" for place, (fill, line) in enumerate(sheet.opacities)]
    resources = f"<< /Font << {' '.join(letters)} >> /ExtGState << {' '.join(opacities)} >> >>"
    box = f"[0 0 {short(POINT * width)} {short(POINT * height)}]"
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Resources {resources} /Contents 4 0 R >>"
    named[2] = page.encode("ascii")
    return numbered(named)


def numbered(objects: Sequence[bytes]) -> bytes:
    """Objects from 1 on, and the table of where each begins; the first is the catalogue, the fifth says what it is."""
    written, starts = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", []
    for number, one in enumerate(objects, 1):
        starts.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(objects) + 1
    end = b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(written))
    return written + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (size, table, end)


def boxed(svg: str) -> str:
    """The letters of a figure that its PDF shows as boxes only."""
    return "".join(sorted(unshown("".join(one.text or "" for one in ElementTree.fromstring(svg)))))
