"""A confusion matrix as plain SVG: rows are the true classes, the darker a cell the larger its share of the row."""

from __future__ import annotations

from collections.abc import Iterator

from regard.report.characters import cells, shortened
from regard.report.colours import ACCENT, opacity
from regard.report.measures import Matrix
from regard.report.plots import EDGE, FAINT, LETTER, document, text

MOST = 24  # classes, above which cells would be too small for their numbers
CELL, HIGH, TOP = 58, 30, 70
NAME = 22  # cells of a class's name that are written


def confusion(title: str, found: Matrix) -> str:
    names = [shortened(label, NAME) for label in found.labels]
    left = 34 + LETTER * max(cells(name) for name in names)
    column = max(CELL, 10 + LETTER * max(cells(name) for name in names))
    size = len(found.labels)
    body = [text(left + column * size / 2, 44, "said", anchor="middle", colour=FAINT)]
    body += [text(12, TOP - 8, "true", colour=FAINT)]
    for place, name in enumerate(names):
        body.append(text(left + column * (place + 0.5), TOP - 8, name, anchor="middle"))
        body.append(text(left - 10, TOP + HIGH * (place + 0.5) + 4, name, anchor="end"))
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
