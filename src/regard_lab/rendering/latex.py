"""A sheet as LaTeX: two tables for the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from regard.report.text.characters import one_line
from regard.report.text.exported import escaped
from regard_lab.comparisons import HEADS
from regard_lab.rendering.sheet import Column, Entry, Sheet


def latex(sheet: Sheet) -> str:
    lines = [f"% {one_line(told)}" for _, told in sheet.sources]
    over = [rf"\multicolumn{{{count}}}{{c}}{{{escaped(title)}}}" for title, count in sheet.spans]
    heads = [["", *over], ["", *(word for column in sheet.columns for word in column_heads(column))]]
    body = [[escaped(line.title), *entries(sheet, line.entries)] for line in sheet.lines]
    width = sum(count for _, count in sheet.spans)
    lines += table(f"{escaped(sheet.title)}. {escaped(sheet.caption)}", "l" + "r" * width, heads, body)
    if sheet.comparisons:
        caption = f"{escaped(sheet.title)}: paired comparisons over seeds."
        body = [[escaped(word) for word in one.words] for one in sheet.comparisons]
        lines += ["", *table(caption, "llll" + "r" * (len(HEADS) - 4), [[escaped(head) for head in HEADS]], body)]
    return "\n".join([*lines, ""])


def table(caption: str, columns: str, heads: Sequence[Sequence[str]], body: Sequence[Sequence[str]]) -> list[str]:
    """Of words that are LaTeX already."""
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *map(row, heads),
        r"\midrule",
        *map(row, body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def column_heads(column: Column) -> list[str]:
    beside = [*(["paper"] if column.printed else []), *(["published"] if column.published else [])]
    return [escaped(column.measure_title), *beside]


def entries(sheet: Sheet, several: Sequence[Entry]) -> list[str]:
    found = []
    for column, entry in zip(sheet.columns, several, strict=True):
        ours = rf"\textbf{{{escaped(entry.ours)}}}" if entry.best else escaped(entry.ours)
        found.append(" ".join(filter(None, (ours, rf"{{\scriptsize({escaped(entry.note)})}}" if entry.note else ""))))
        found += [
            *([escaped(entry.paper)] if column.printed else []),
            *([escaped(entry.published)] if column.published else []),
        ]
    return found


def row(words: Sequence[str]) -> str:
    return " & ".join(words) + r" \\"
