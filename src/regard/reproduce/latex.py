"""A sheet as LaTeX: two tables for the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from regard.report.characters import one_line
from regard.report.exported import escaped
from regard.reproduce.comparisons import HEADS
from regard.reproduce.sheet import Column, Entry, Sheet


def latex(sheet: Sheet) -> str:
    lines = [f"% {one_line(told)}" for _, told in sheet.sources]
    lines += [r"\begin{table}", r"\centering", rf"\caption{{{escaped(sheet.title)}. {escaped(sheet.caption)}}}"]
    width = sum(count for _, count in sheet.spans)
    lines += [rf"\begin{{tabular}}{{l{'r' * width}}}", r"\toprule"]
    heads = [rf"\multicolumn{{{count}}}{{c}}{{{escaped(title)}}}" for title, count in sheet.spans]
    lines.append(row(["", *heads]))
    lines.append(row(["", *(word for column in sheet.columns for word in column_heads(column))]))
    lines.append(r"\midrule")
    lines += [row([escaped(line.title), *entries(sheet, line.entries)]) for line in sheet.lines]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    if sheet.comparisons:
        lines += [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(sheet.title)}: paired comparisons over seeds.}}",
        ]
        lines += [rf"\begin{{tabular}}{{llll{'r' * (len(HEADS) - 4)}}}", r"\toprule"]
        lines += [row([escaped(head) for head in HEADS]), r"\midrule"]
        lines += [row([escaped(word) for word in one.words]) for one in sheet.comparisons]
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*lines, ""])


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
