"""One explanation as a stand-alone SVG heat map, for papers and slides: always dark ink on white.

Every word is set on its own, in a monospace font and with its width written down, so that rectangles fit the words
whatever font the viewer has. `lines.py` says how right-to-left text is ordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from regard.errors import InputError
from regard.records import Explanation
from regard.report.colours import ACCENT, LIGHT, hexed, shade
from regard.report.plots.word_lines import Placed, lines
from regard.report.text.answers import Answer, answer
from regard.report.text.characters import direction
from regard.report.text.highlights import Row, rows, weight_text

FONTS = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"
SIZE = 14  # of the font, in pixels
CELL = 8.4  # a monospace character is 0.6 of its size wide
LEADING = 24
MARGIN = 16
GUTTER = 112  # for bar and number of a sentence
BAR = 48
NARROWEST = 240


def svg(explanation: Explanation, width: int = 800) -> str:
    """The figure as text; its height follows from the text."""
    if width < NARROWEST:
        raise InputError(f"width: {width} is too narrow for a figure; at least {NARROWEST} (pixels) is needed")
    left = MARGIN + (GUTTER if explanation.sentences else 0)
    room = int((width - left - MARGIN) // CELL)
    title = _title(answer(explanation))
    drawn: list[str] = []
    y = MARGIN + LEADING
    for row in rows(explanation):
        if row.part:
            drawn.append(_small(row.part, left, y))
            y += LEADING
        if explanation.sentences:
            drawn += _gutter(row, y)
        for line in lines(row.pieces, room):
            drawn += [shape for placed in line for shape in _word(placed, left, y)]
            y += LEADING
    height = y + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="{FONTS}" '
        f'font-size="{SIZE}" fill="{hexed(LIGHT.ink)}">'
    )
    paper = f'<rect width="{width}" height="{height}" fill="{hexed(LIGHT.paper)}"/>'
    caption = f'<text x="{MARGIN}" y="{MARGIN + SIZE}" font-weight="bold">{escape(title)}</text>'
    return "\n".join([head, f"<title>{escape(title)}</title>", paper, caption, *drawn, "</svg>", ""])


def _title(given: Answer) -> str:
    said = f"{_isolated(given.said)} {given.probability}".rstrip()
    if given.right is not None:
        return f"{said} ✓" if given.right else f"{said} ✗ (true: {_isolated(given.truth)})"
    if given.truth:
        return f"{said} (true: {given.truth}{f', off by {given.error}' if given.error else ''})"
    return said


def _isolated(name: str) -> str:
    """A right-to-left name must not pull the numbers around it into its own order (Unicode's FSI and PDI)."""
    return f"\u2068{name}\u2069" if direction(name) == "rtl" else name


def _gutter(row: Row, y: int) -> Iterator[str]:
    if row.weight is None:
        return
    if row.share > 0:
        size = f'width="{row.share * BAR:.1f}" height="8"'
        yield f'<rect x="{MARGIN}" y="{y + LEADING / 2 - 4:g}" {size} fill="{hexed(ACCENT)}"/>'
    yield _small(weight_text(row.weight), MARGIN + BAR + 8, y)


def _small(text: str, x: int, y: int) -> str:
    return f'<text x="{x}" y="{y + 17}" font-size="12" fill="{hexed(LIGHT.faint)}">{escape(text)}</text>'


def _word(placed: Placed, left: int, y: int) -> Iterator[str]:
    piece = placed.piece
    x, size = left + placed.at * CELL, placed.width * CELL
    if piece.token is not None and piece.strength > 0 and size:
        fill = hexed(shade(piece.strength, LIGHT.paper))
        hint = f"<title>{escape(piece.note)}</title>"
        box = f'x="{x:.1f}" y="{y + 2}" width="{size:.1f}" height="{LEADING - 4}" rx="2"'
        yield f'<rect {box} fill="{fill}">{hint}</rect>'
    if piece.text.isspace():
        return
    way = ' direction="rtl"' if placed.way == "rtl" else ""
    new = "" if piece.known else ' text-decoration="underline" style="text-decoration-style:dotted"'
    fit = f' textLength="{size:.1f}" lengthAdjust="spacingAndGlyphs"' if size else ""
    # Set from the middle: the only anchor that means the same in both directions.
    yield f'<text x="{x + size / 2:.1f}" y="{y + 17}" text-anchor="middle"{fit}{way}{new}>{escape(piece.text)}</text>'
