"""Everything that is drawn of a table: its sheet as Markdown, LaTeX (with booktabs) and one HTML page, and SVG figures."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from regard.files import write_all
from regard.markdown_text import escape
from regard.report.pages.reproduced import page_of_table
from regard.report.text.characters import one_line
from regard.report.text.exported import escaped
from regard_lab.comparisons import HEADS, Comparison
from regard_lab.reading.locations import published_file, results_file
from regard_lab.rendering.contents import Column, Contents, Entry, make_contents
from regard_lab.rendering.figures import draw
from regard_lab.results import Results, read_results
from regard_lab.tables.table import Table


def render(table: Table, folder: Path) -> list[Path]:
    """Write what a folder's results give; the files. Figures that cannot be drawn yet are left out."""
    contents = rendered(table, *results_in(table, folder))
    write_all(folder, {name: text.encode("utf-8", "replace") for name, text in contents.items()})
    return [folder / name for name in contents]


def results_in(table: Table, folder: Path) -> tuple[Results, Results | None]:
    """The results of a folder, and the published ones where those are others."""
    beside = published_file(table, folder)
    own = read_results(table, results_file(table, folder))
    return own, read_results(table, beside) if beside is not None else None


def rendered(table: Table, results: Results, published: Results | None = None) -> dict[str, str]:
    """File -> content."""
    sheet = make_contents(table, results, published)
    rows = list(results.rows.values())
    figures = draw(table, rows)
    if table.does.draw is not None:
        figures |= {name: (title_of(svg) or name, svg) for name, svg in table.does.draw(table, rows).items()}
    files = {f"{table.stem}-{name}.svg": (title, svg) for name, (title, svg) in figures.items()}
    return {
        **{file: svg for file, (_, svg) in files.items()},
        f"{table.stem}.tex": latex(sheet),
        f"{table.stem}.html": page(sheet, list(files.values())),
        f"{table.stem}.md": markdown(sheet, {file: title for file, (title, _) in files.items()}),
    }


def title_of(svg: str) -> str:
    """What a drawing says of itself."""
    found = re.search(r"<title>([^<]*)</title>", svg)
    return html.unescape(found[1]) if found else ""


def markdown(sheet: Contents, figures: Mapping[str, str]) -> str:
    """`figures`: file -> title."""
    where = f" ({escape(sheet.where)})" if sheet.where else ""
    lines = [f"# {escape(sheet.title)}{where}", "", escape(sheet.caption), ""]
    if sheet.note:
        lines += [escape(sheet.note), ""]
    lines += markdown_rows(
        markdown_heads(sheet), [[escape(line.title), *markdown_cells(sheet, line.entries)] for line in sheet.lines]
    )
    for file, title in figures.items():
        lines += ["", f"![{escape(title)}]({file})"]
    if sheet.comparisons:
        lines += ["", "## Comparisons", "", explained(sheet.comparisons), ""]
        lines += markdown_rows(HEADS, [[escape(word) for word in one.words] for one in sheet.comparisons])
    lines += ["", "## Where the numbers come from", ""]
    lines += [
        f"- {name}: {code(told) if name in ('Command', 'Data') else escape(told)}" for name, told in sheet.sources
    ]
    for remark in sheet.remarks:
        lines += ["", f"Remark: {escape(remark)}"]
    return "\n".join([*lines, ""])


def code(words: str) -> str:
    """Letter by letter; words that code cannot hold stand as others do."""
    return f"`{words}`" if words.isprintable() and "`" not in words else escape(words)


def explained(comparisons: Sequence[Comparison]) -> str:
    count = sum(one.found.p is not None for one in comparisons) or len(comparisons)
    return (
        "Differences are paired by seed, with 95 % intervals; p is that of a paired t-test (two-sided), corrected after Holm "
        f"for all {count} comparisons of this table, with Wilcoxon's signed-rank test beside it where there are six pairs. "
        "Seeds vary weights and order, not the texts: p says whether training, on these texts, tells the methods apart."
    )


def markdown_heads(sheet: Contents) -> list[str]:
    found = [""]
    for column in sheet.columns:
        name = f"{escape(column.corpus_title)}: {escape(column.measure_title)}"
        found += [name, *(["paper"] if column.printed else []), *(["published"] if column.published else [])]
    return found


def markdown_cells(sheet: Contents, entries: Sequence[Entry]) -> list[str]:
    found = []
    for column, entry in zip(sheet.columns, entries, strict=True):
        ours = f"**{entry.ours}**" if entry.best else entry.ours
        found.append(" ".join(filter(None, (ours, f"({entry.note})" if entry.note else ""))))
        found += [*([entry.paper] if column.printed else []), *([entry.published] if column.published else [])]
    return found


def markdown_rows(heads: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    rule = "|---" + "|---:" * (len(heads) - 1) + "|"
    return [f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(row)} |" for row in body)]


def latex(sheet: Contents) -> str:
    lines = [f"% {one_line(told)}" for _, told in sheet.sources]
    over = [rf"\multicolumn{{{count}}}{{c}}{{{escaped(title)}}}" for title, count in sheet.spans]
    heads = [["", *over], ["", *(word for column in sheet.columns for word in latex_heads(column))]]
    body = [[escaped(line.title), *latex_cells(sheet, line.entries)] for line in sheet.lines]
    width = sum(count for _, count in sheet.spans)
    lines += latex_table(f"{escaped(sheet.title)}. {escaped(sheet.caption)}", "l" + "r" * width, heads, body)
    if sheet.comparisons:
        caption = f"{escaped(sheet.title)}: paired comparisons over seeds."
        body = [[escaped(word) for word in one.words] for one in sheet.comparisons]
        lines += ["", *latex_table(caption, "llll" + "r" * (len(HEADS) - 4), [[escaped(head) for head in HEADS]], body)]
    return "\n".join([*lines, ""])


def latex_table(caption: str, columns: str, heads: Sequence[Sequence[str]], body: Sequence[Sequence[str]]) -> list[str]:
    """Of words that are LaTeX already."""
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *map(latex_row, heads),
        r"\midrule",
        *map(latex_row, body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def latex_heads(column: Column) -> list[str]:
    beside = [*(["paper"] if column.printed else []), *(["published"] if column.published else [])]
    return [escaped(column.measure_title), *beside]


def latex_cells(sheet: Contents, several: Sequence[Entry]) -> list[str]:
    found = []
    for column, entry in zip(sheet.columns, several, strict=True):
        ours = rf"\textbf{{{escaped(entry.ours)}}}" if entry.best else escaped(entry.ours)
        found.append(" ".join(filter(None, (ours, rf"{{\scriptsize({escaped(entry.note)})}}" if entry.note else ""))))
        found += [
            *([escaped(entry.paper)] if column.printed else []),
            *([escaped(entry.published)] if column.published else []),
        ]
    return found


def latex_row(words: Sequence[str]) -> str:
    return " & ".join(words) + r" \\"


def page(sheet: Contents, figures: Sequence[tuple[str, str]]) -> str:
    """`figures`: title and SVG of each."""
    told = explained(sheet.comparisons) if sheet.comparisons else ""
    return page_of_table(sheet=sheet, heads=HEADS, explained=told, figures=figures)
