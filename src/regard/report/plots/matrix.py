"""The heat map of a confusion matrix: rows are actual classes; the darker a cell, the larger its share of the row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from regard.report.colours import ACCENT, opacity
from regard.report.plots.svg import EDGE, FAINT, LETTER, document, text
from regard.report.text.characters import cells, shortened

MOST = 24  # classes; with more, cells would be too small for their numbers
CELL, HIGH, TOP = 58, 30, 70
NAME = 22  # cells of a class name that are written


def confusion(title: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    names = [shortened(label, NAME) for label in labels]
    left = 34 + LETTER * max(cells(name) for name in names)
    column = max(CELL, 10 + LETTER * max(cells(name) for name in names))
    size = len(labels)
    body = [text(left + column * size / 2, 44, "predicted", anchor="middle", colour=FAINT)]
    body += [text(12, TOP - 8, "actual", colour=FAINT)]
    for number, name in enumerate(names):
        body.append(text(left + column * (number + 0.5), TOP - 8, name, anchor="middle"))
        body.append(text(left - 10, TOP + HIGH * (number + 0.5) + 4, name, anchor="end"))
        body += draw_row(counts[number], number, left, column)
    return document(title, left + column * size + 16, TOP + HIGH * size + 16, body)


def draw_row(counts: Sequence[int], number: int, left: float, column: float) -> Iterator[str]:
    total, top = sum(counts) or 1, TOP + HIGH * number
    for k, count in enumerate(counts):
        box = f'x="{left + column * k:.1f}" y="{top}" width="{column:.1f}" height="{HIGH}"'
        # shaded like words, so that the numbers stay readable on light and on dark backgrounds
        fill = f'fill="rgb({", ".join(map(str, ACCENT))})" fill-opacity="{opacity(count / total)}"'
        yield f'<rect {box} {fill} stroke="{EDGE}"/>'
        middle = left + column * (k + 0.5)
        yield text(middle, top + HIGH / 2 + 4, f"{count:,}", anchor="middle", weight="600" if k == number else "")
