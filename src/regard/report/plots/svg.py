"""The canvas of every plot: text, panels next to each other, and the SVG document around them.

The colours are those of Okabe and Ito, which people with any kind of colour blindness can tell apart; lines also differ in
their dashes.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from html import escape

from regard.report.text.characters import cells, is_wide, one_line

COLOURS = ("#0072b2", "#d55000", "#009e73", "#b0578a", "#b07a00", "#3b9bd0", "#555555", "#7d3ac1")
DASHES = ("", "7 3", "2 3", "8 3 2 3", "12 4", "4 2", "1 4", "9 2 2 2 2 2")
INK, FAINT, EDGE = "#1b1d21", "#595e68", "#dcdcd8"
FONTS = "system-ui, sans-serif"
LETTER = 6.3  # width of one character of a label
WIDE_FONT = 1.15  # how much wider DejaVu Sans, the label font of some systems, is than Helvetica
# the widths of Helvetica's letters from the space on (Adobe), in thousandths of the size
HELVETICA = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556
1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556
333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584
"""
WIDTHS = dict(zip(map(chr, range(32, 127)), map(int, HELVETICA.split()), strict=True))
OTHER, WIDE = 600, 1000  # of letters that are not in the table
LEFT, TOP, BOTTOM, GAP = 62, 46, 44, 26

Draw = Callable[[float, float], Iterable[str]]  # the content of a panel, given its left and top


def panels(
    title: str,
    drawn: Sequence[Draw],
    size: tuple[float, float],
    sides: tuple[float, float],
    headed: bool,
    columns: int = 2,
) -> str:
    """Panels of one size as a document; see `arrange`."""
    body, width, height = arrange(drawn, size, sides, headed, columns)
    return document(title, width, height, body)


def arrange(
    drawn: Sequence[Draw],
    size: tuple[float, float],
    sides: tuple[float, float],
    headed: bool,
    columns: int = 2,
    row_gap: float = 0.0,
) -> tuple[list[str], float, float]:
    """Shapes, width and height. `sides`: space for labels left and right of each panel; `headed`: panels have titles."""
    columns = min(columns, len(drawn))
    head = TOP + 18 if headed else TOP
    across, down = sum(sides) + size[0] + GAP, size[1] + BOTTOM + (TOP if headed else 0) + row_gap
    body = [
        shape
        for number, draw in enumerate(drawn)
        for shape in draw((number % columns) * across + sides[0], (number // columns) * down + head)
    ]
    rows = math.ceil(len(drawn) / columns)
    return body, columns * across - GAP + 8, head + rows * down - (TOP if headed else 0) - row_gap


def label_width(words: str) -> float:
    """The width of a label in a wide font."""
    return 12 * WIDE_FONT * sum(letter_width(char) for char in one_line(words) if cells(char)) / 1000


def letter_width(char: str) -> int:
    """A letter with an accent is as wide as without."""
    return WIDTHS.get(unicodedata.normalize("NFD", char)[0], WIDE if is_wide(char) else OTHER)


def longest_label(names: Iterable[str]) -> float:
    """The space that labels need: upper-case letters are wider than LETTER, which is right for most names."""
    return max((max(LETTER * cells(one_line(name)), label_width(name)) for name in names), default=0.0)


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = INK, weight: str = "") -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{bold}>{escape(one_line(words))}</text>'
    )


def rotated(x: float, y: float, words: str) -> str:
    """Text that reads upwards, for the name of a vertical axis."""
    attributes = f'x="{x:.1f}" y="{y:.1f}" transform="rotate(-90 {x:.1f} {y:.1f})" text-anchor="middle" fill="{FAINT}"'
    return f"<text {attributes}>{escape(one_line(words))}</text>"


def document(title: str, width: float, height: float, body: Sequence[str]) -> str:
    width = max(width, 24 + 1.3 * LETTER * cells(one_line(title)))  # the heading is larger than the labels
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" font-family="{FONTS}" font-size="12">'
    )
    hidden_title = f"<title>{escape(one_line(title))}</title>"
    background = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    heading = text(12, 22, title, weight="600").replace("<text ", '<text font-size="14" ', 1)
    return "\n".join([head, hidden_title, background, heading, *body, "</svg>", ""])
