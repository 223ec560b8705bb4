"""A sheet as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from regard.markdown_text import plain
from regard_lab.comparisons import HEADS, Comparison
from regard_lab.rendering.sheet import Entry, Sheet


def markdown(sheet: Sheet, figures: Mapping[str, str]) -> str:
    """`figures`: file -> title."""
    where = f" ({plain(sheet.where)})" if sheet.where else ""
    lines = [f"# {plain(sheet.title)}{where}", "", plain(sheet.caption), ""]
    if sheet.note:
        lines += [plain(sheet.note), ""]
    lines += rows(heads(sheet), [[plain(line.title), *cells(sheet, line.entries)] for line in sheet.lines])
    for file, title in figures.items():
        lines += ["", f"![{plain(title)}]({file})"]
    if sheet.comparisons:
        lines += ["", "## Comparisons", "", explained(sheet.comparisons), ""]
        lines += rows(HEADS, [[plain(word) for word in one.words] for one in sheet.comparisons])
    lines += ["", "## Where the numbers come from", ""]
    lines += [f"- {name}: {code(told) if name in ('Command', 'Data') else plain(told)}" for name, told in sheet.sources]
    for remark in sheet.remarks:
        lines += ["", f"Remark: {plain(remark)}"]
    return "\n".join([*lines, ""])


def code(words: str) -> str:
    """Letter by letter; words that code cannot hold stand as others do."""
    return f"`{words}`" if words.isprintable() and "`" not in words else plain(words)


def explained(comparisons: Sequence[Comparison]) -> str:
    count = sum(one.found.p is not None for one in comparisons) or len(comparisons)
    return (
        "Differences are paired by seed, with 95 % intervals; p is that of a paired t-test (two-sided), corrected after Holm "
        f"for all {count} comparisons of this table, with Wilcoxon's signed-rank test beside it where there are six pairs. "
        "Seeds vary weights and order, not the texts: p says whether training, on these texts, tells the methods apart."
    )


def heads(sheet: Sheet) -> list[str]:
    found = [""]
    for column in sheet.columns:
        name = f"{plain(column.corpus_title)}: {plain(column.measure_title)}"
        found += [name, *(["paper"] if column.printed else []), *(["published"] if column.published else [])]
    return found


def cells(sheet: Sheet, entries: Sequence[Entry]) -> list[str]:
    found = []
    for column, entry in zip(sheet.columns, entries, strict=True):
        ours = f"**{entry.ours}**" if entry.best else entry.ours
        found.append(" ".join(filter(None, (ours, f"({entry.note})" if entry.note else ""))))
        found += [*([entry.paper] if column.printed else []), *([entry.published] if column.published else [])]
    return found


def rows(heads: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    rule = "|---" + "|---:" * (len(heads) - 1) + "|"
    return [f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(row)} |" for row in body)]
