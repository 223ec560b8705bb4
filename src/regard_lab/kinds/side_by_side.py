"""One text under several methods in one SVG: APLN's Figure 1 (below each other) and Figure 8 (next to each other).

Every panel is `report/figure`'s drawing of one explanation, set into the whole; above it stands who drew it, and the norm p.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from regard.report.colours import LIGHT, hexed
from regard.report.plots.word_heatmap import FONTS, MARGIN, SIZE, svg
from regard_lab.kinds.weights import explanations

if TYPE_CHECKING:
    from regard_lab.tables.table import Table

WIDTH = 640  # of a panel
BESIDE = 2  # panels next to each other, where the model reads sentences
HEAD = 26
HEIGHT = re.compile(r'height="(\d+)"')


def draw(table: Table, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """One figure a corpus that has texts to draw, from the first seed that all its methods have."""
    found = {}
    for corpus in table.corpora.values():
        own = [row for row in rows if row["corpus"] == corpus.name and row.get("texts") and "error" not in row]
        methods = [name for name in table.methods if any(row["method"] == name for row in own)]
        seeds = [{row["seed"] for row in own if row["method"] == name} for name in methods]
        shared = set.intersection(*seeds) if seeds else set()
        if shared:
            chosen = {row["method"]: row for row in own if row["seed"] == min(shared)}
            titles = {name: table.methods[name].title for name in methods}
            found[corpus.name] = beside(f"{table.where or table.title}: {corpus.title}", titles, chosen)
    return found


def beside(title: str, titles: Mapping[str, str], rows: Mapping[str, Mapping[str, Any]]) -> str:
    """`titles` in the order to draw them; every row holds the same texts."""
    panels: list[str] = []
    y, width = MARGIN + HEAD, 0
    texts = {name: explanations(rows[name]) for name in titles}
    for number in range(min(map(len, texts.values()))):
        columns = BESIDE if all(texts[name][number].sentences for name in titles) else 1
        line = 0
        for place, name in enumerate(titles):
            column = place % columns
            if place and not column:
                y, line = y + line, 0
            drawn = svg(texts[name][number], WIDTH)
            height = int(HEIGHT.search(drawn)[1])  # type: ignore[index]
            x = MARGIN + column * (WIDTH + MARGIN)
            panels.append(_heading(f"{titles[name]}{_norms(rows[name])}", x, y))
            panels.append(drawn.replace("<svg ", f'<svg x="{x}" y="{y + HEAD - MARGIN // 2}" ', 1).rstrip())
            line, width = max(line, height + HEAD), max(width, x + WIDTH + MARGIN)
        y += line + MARGIN
    whole = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}" role="img" aria-label={quoteattr(title)}'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {whole} font-family="{FONTS}" font-size="{SIZE}">'
    paper = f'<rect width="{width}" height="{y}" fill="{hexed(LIGHT.paper)}"/>'
    caption = f'<text x="{MARGIN}" y="{MARGIN + SIZE}" fill="{hexed(LIGHT.ink)}">{escape(title)}</text>'
    return "\n".join([head, f"<title>{escape(title)}</title>", paper, caption, *panels, "</svg>", ""])


def _heading(words: str, x: int, y: int) -> str:
    return (
        f'<text x="{x + MARGIN}" y="{y + SIZE}" font-weight="bold" fill="{hexed(LIGHT.faint)}">{escape(words)}</text>'
    )


def _norms(row: Mapping[str, Any]) -> str:
    levels = {"norm": "words", "norm_sentences": "sentences"}
    values = [(level, row["values"][name]) for name, level in levels.items() if name in row["values"]]
    return "".join(f", p of {level} {value:.3f}" for level, value in values)
