"""A sheet as LaTeX: two tables for the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from regard.reproduce.comparisons import HEADS
from regard.reproduce.sheet import Column, Entry, Sheet

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "<": "$<$",
    ">": "$>$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "²": "$^2$",
    "…": r"\dots{}",
    "[": "{[}",  # bare, at the beginning of a row, it would be an argument of the \\ before it; so would *
    "]": "{]}",
    "*": "{*}",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
}


def latex(sheet: Sheet) -> str:
    lines = [f"% {one_line(told)}" for _, told in sheet.sources]
    lines += [r"\begin{table}", r"\centering", rf"\caption{{{tex(sheet.title)}. {tex(sheet.caption)}}}"]
    width = sum(count for _, count in sheet.spans)
    lines += [rf"\begin{{tabular}}{{l{'r' * width}}}", r"\toprule"]
    heads = [rf"\multicolumn{{{count}}}{{c}}{{{tex(title)}}}" for title, count in sheet.spans]
    lines.append(row(["", *heads]))
    lines.append(row(["", *(word for column in sheet.columns for word in column_heads(column))]))
    lines.append(r"\midrule")
    lines += [row([tex(line.title), *entries(sheet, line.entries)]) for line in sheet.lines]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    if sheet.comparisons:
        lines += [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{tex(sheet.title)}: paired comparisons over seeds.}}",
        ]
        lines += [rf"\begin{{tabular}}{{llll{'r' * (len(HEADS) - 4)}}}", r"\toprule"]
        lines += [row([tex(head) for head in HEADS]), r"\midrule"]
        lines += [row([tex(word) for word in one.words]) for one in sheet.comparisons]
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*lines, ""])


def column_heads(column: Column) -> list[str]:
    beside = [*(["paper"] if column.printed else []), *(["published"] if column.published else [])]
    return [tex(column.measure_title), *beside]


def entries(sheet: Sheet, several: Sequence[Entry]) -> list[str]:
    found = []
    for column, entry in zip(sheet.columns, several, strict=True):
        ours = rf"\textbf{{{tex(entry.ours)}}}" if entry.best else tex(entry.ours)
        found.append(" ".join(filter(None, (ours, rf"{{\scriptsize({tex(entry.note)})}}" if entry.note else ""))))
        found += [
            *([tex(entry.paper)] if column.printed else []),
            *([tex(entry.published)] if column.published else []),
        ]
    return found


def row(words: Sequence[str]) -> str:
    return " & ".join(words) + r" \\"


def tex(text: str) -> str:
    return "".join(SPECIAL.get(char, char) for char in text)


def one_line(text: str) -> str:
    return " ".join(text.split())
