"""One explanation as a stand-alone SVG heat map of its words, for papers and slides: always dark ink on white.

Every word is placed separately, in a monospace font and with an explicit width, so that rectangles fit the words in any
font. Lines break at white space and between wide characters. On a right-to-left line the words run from the right, and
consecutive left-to-right words keep their order (and vice versa); inside a word the viewer's bidirectional algorithm
decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from regard.errors import InputError
from regard.records import Explanation
from regard.report.colours import ACCENT, COLD, LIGHT, hexed, shade
from regard.report.text.answers import Answer, answer
from regard.report.text.characters import cells, direction, is_wide, one_line
from regard.report.text.highlights import Piece, Row, rows

FONTS = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"
SIZE = 14  # of the font, in pixels
CELL = 8.4  # a monospace character is 0.6 of its size wide
LEADING = 24
MARGIN = 16
GUTTER = 112  # for bar and number of a sentence
BAR = 48
NARROWEST = 240
_PARTS = re.compile(r"\n|[^\S\n]+|\S+")


def svg(explanation: Explanation, width: int = 800) -> str:
    """The figure; its height depends on the text."""
    if width < NARROWEST:
        raise InputError(f"width: expected at least {NARROWEST} pixels, got {width}")
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
    if explanation.is_signed:
        drawn.append(_small(_legend(explanation), MARGIN, y))
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


def _legend(explanation: Explanation) -> str:
    if explanation.target is None:
        return "orange: raises the number; blue, underlined: lowers it"
    return f"orange: for {_isolated(one_line(explanation.target))}; blue, underlined: against it"


def _title(shown: Answer) -> str:
    title = f"{_isolated(shown.prediction)} {shown.probability}".rstrip()
    if shown.right is not None:
        return f"{title} ✓" if shown.right else f"{title} ✗ (actual: {_isolated(shown.truth)})"
    if shown.truth:
        return f"{title} (actual: {shown.truth}{f', off by {shown.error}' if shown.error else ''})"
    return title


def _isolated(name: str) -> str:
    """A right-to-left name must not change the order of the numbers around it (Unicode's FSI and PDI)."""
    return f"\u2068{name}\u2069" if direction(name) == "rtl" else name


def _gutter(row: Row, y: int) -> Iterator[str]:
    if row.weight is None:
        return
    if row.share > 0:
        size = f'width="{row.share * BAR:.1f}" height="8"'
        yield f'<rect x="{MARGIN}" y="{y + LEADING / 2 - 4:g}" {size} fill="{hexed(COLD if row.against else ACCENT)}"/>'
    yield _small(row.number, MARGIN + BAR + 8, y)


def _small(text: str, x: int, y: int) -> str:
    return f'<text x="{x}" y="{y + 17}" font-size="12" fill="{hexed(LIGHT.faint)}">{escape(text)}</text>'


def _word(placed: Placed, left: int, y: int) -> Iterator[str]:
    piece = placed.piece
    x, size = left + placed.at * CELL, placed.width * CELL
    if piece.token is not None and piece.strength > 0 and size:
        fill = hexed(shade(piece.strength, LIGHT.paper, COLD if piece.against else ACCENT))
        hint = f"<title>{escape(piece.note)}</title>"
        box = f'x="{x:.1f}" y="{y + 2}" width="{size:.1f}" height="{LEADING - 4}" rx="2"'
        yield f'<rect {box} fill="{fill}">{hint}</rect>'
        if piece.against:
            ends = f'x1="{x:.1f}" x2="{x + size:.1f}" y1="{y + LEADING - 3}" y2="{y + LEADING - 3}"'
            yield f'<line {ends} stroke="{hexed(COLD)}" stroke-width="{2 * piece.strength:.1f}"/>'
    if piece.text.isspace():
        return
    rtl = ' direction="rtl"' if placed.direction == "rtl" else ""
    new = "" if piece.known else ' text-decoration="underline" style="text-decoration-style:dotted"'
    fit = f' textLength="{size:.1f}" lengthAdjust="spacingAndGlyphs"' if size else ""
    # Anchored in the middle, the only anchor that is the same in both directions.
    yield f'<text x="{x + size / 2:.1f}" y="{y + 17}" text-anchor="middle"{fit}{rtl}{new}>{escape(piece.text)}</text>'


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece, and the cell from the left edge at which it starts."""

    piece: Piece
    at: int
    width: int
    direction: str  # 'ltr' or 'rtl'


def lines(pieces: Iterable[Piece], width: int) -> list[list[Placed]]:
    """The pieces wrapped at `width` cells: at white space, between wide characters, and inside words longer than a line."""
    parts = list(_parts(pieces, width))
    base = direction("".join(part.text for part in parts)) or "ltr"
    return [_place(_ordered(line, base), width, base) for line in _wrapped(parts, width)]


def _parts(pieces: Iterable[Piece], width: int) -> Iterator[Piece]:
    """Words, white space and newlines, none wider than a line."""
    for piece in pieces:
        for part in _PARTS.findall(piece.text):
            if part == "\n":
                yield Piece("\n")
            elif part.isspace():
                yield replace(piece, text=" " * len(part)) if len(part) < width else Piece(" ")
            else:
                yield from (replace(piece, text=cut) for cut in _cuts(part, width))


def _cuts(word: str, width: int) -> Iterator[str]:
    start, used = 0, 0
    for index, char in enumerate(word):
        size = cells(char)
        if used + size > width and index > start:
            yield word[start:index]
            start, used = index, 0
        used += size
    yield word[start:]


def _wrapped(parts: Sequence[Piece], width: int) -> list[list[Piece]]:
    wrapped: list[list[Piece]] = [[]]
    used = 0
    for cluster in _clusters(parts):
        size = sum(cells(part.text) for part in cluster)
        if cluster[0].text == "\n":
            wrapped.append([])
            used = 0
            continue
        if used and used + size > width:
            wrapped.append([])
            used = 0
            if cluster[0].text.isspace():
                continue
        for part in cluster:  # a cluster wider than a line continues below, part by part
            if used and used + cells(part.text) > width:
                wrapped.append([])
                used = 0
            wrapped[-1].append(part)
            used += cells(part.text)
    return wrapped


def _clusters(parts: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Parts that belong on one line: a word and the comma after it."""
    cluster: list[Piece] = []
    for part in parts:
        if cluster and _may_break(cluster[-1].text, part.text):
            yield cluster
            cluster = []
        cluster.append(part)
    if cluster:
        yield cluster


def _may_break(before: str, after: str) -> bool:
    return before.isspace() or after.isspace() or (is_wide(before[-1]) and is_wide(after[0]) and after[0].isalnum())


def _ordered(line: Sequence[Piece], base: str) -> list[Piece]:
    """The parts of a line from left to right."""
    directions = [direction(part.text) or _neutral(part.text, base) for part in line]
    ordered: list[Piece] = []
    start = 0
    while start < len(line):
        end = start
        while directions[start] not in (None, base) and (following := _next_strong(directions, end + 1)) is not None:
            if directions[following] == base:
                break
            end = following
        run = list(line[start : end + 1])
        ordered += run[::-1] if len(run) > 1 else run
        start = end + 1
    # Runs against the base direction were reversed above, so that reversing a right-to-left line puts them in order.
    return ordered[::-1] if base == "rtl" else ordered


def _neutral(text: str, base: str) -> str | None:
    """Numbers run left to right even between right-to-left words; other signs follow their neighbours."""
    return "ltr" if base == "rtl" and any(char.isdigit() for char in text) else None


def _next_strong(directions: Sequence[str | None], start: int) -> int | None:
    return next((index for index in range(start, len(directions)) if directions[index] is not None), None)


def _place(line: Sequence[Piece], width: int, base: str) -> list[Placed]:
    sizes = [cells(part.text) for part in line]
    at = width - sum(sizes) if base == "rtl" else 0
    placed = []
    for part, size in zip(line, sizes, strict=True):
        placed.append(Placed(part, at, size, direction(part.text) or base))
        at += size
    return placed
