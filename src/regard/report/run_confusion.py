"""A confusion matrix as plain SVG: rows are the true classes, the darker a cell the larger its share of the row."""

from __future__ import annotations

from collections.abc import Iterator

from regard.report.characters import cells, one_line
from regard.report.colours import ACCENT, opacity
from regard.report.measures import Matrix
from regard.report.plots import EDGE, FAINT, LETTER, document, text

MOST = 24  # classes, above which cells would be too small for their numbers
CELL, HIGH, TOP = 58, 30, 70
NAME = 22  # cells of a class's name that are written


def confusion(title: str, found: Matrix) -> str:
    left = 34 + LETTER * max(cells(short(label)) for label in found.labels)
    column = max(CELL, 10 + LETTER * max(cells(short(label)) for label in found.labels))
    size = len(found.labels)
    body = [text(left + column * size / 2, 44, "said", anchor="middle", colour=FAINT)]
    body += [text(12, TOP - 8, "true", colour=FAINT)]
    for place, label in enumerate(found.labels):
        body.append(text(left + column * (place + 0.5), TOP - 8, short(label), anchor="middle"))
        body.append(text(left - 10, TOP + HIGH * (place + 0.5) + 4, short(label), anchor="end"))
        body += row(found.counts[place], place, left, column)
    return document(title, left + column * size + 16, TOP + HIGH * size + 16, body)


def row(counts: list[int], place: int, left: float, column: float) -> Iterator[str]:
    total, top = sum(counts) or 1, TOP + HIGH * place
    for k, count in enumerate(counts):
        box = f'x="{left + column * k:.1f}" y="{top}" width="{column:.1f}" height="{HIGH}"'
        # as words are shaded, so that ink on it stays readable on light and on dark paper
        fill = f'fill="rgb({", ".join(map(str, ACCENT))})" fill-opacity="{opacity(count / total)}"'
        yield f'<rect {box} {fill} stroke="{EDGE}"/>'
        middle = left + column * (k + 0.5)
        yield text(middle, top + HIGH / 2 + 4, f"{count:,}", anchor="middle", weight="600" if k == place else "")


def short(label: str) -> str:
    label = one_line(label)
    while cells(label) > NAME:
        label = label[:-2] + "…"
    return label
