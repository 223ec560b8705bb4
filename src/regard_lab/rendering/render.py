"""Write a table as Markdown, LaTeX (with booktabs), an HTML page and SVG figures."""

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
from regard_lab.comparisons import Comparison, heads_of
from regard_lab.reading.locations import published_file, results_file
from regard_lab.rendering.contents import Column, Contents, Entry, make_contents
from regard_lab.rendering.figures import draw
from regard_lab.results import Results, read_results
from regard_lab.tables.table import Table

OVER_TEXTS = (
    " Where both methods have predictions, a 95 % interval from a bootstrap over seeds and texts covers other texts too, and "
    "McNemar's test counts the answers, over all seeds, that only one of the methods got right; it treats them as independent."
)


def render(table: Table, folder: Path) -> list[Path]:
    """Render the results of a folder. Returns the files; figures without results are left out."""
    contents = rendered(table, *results_in(table, folder))
    write_all(folder, {name: text.encode("utf-8", "replace") for name, text in contents.items()})
    return [folder / name for name in contents]


def results_in(table: Table, folder: Path) -> tuple[Results, Results | None]:
    """The results of a folder, and the published ones if they are different files."""
    published = published_file(table, folder)
    results = read_results(table, results_file(table, folder))
    return results, read_results(table, published) if published is not None else None


def rendered(table: Table, results: Results, published: Results | None = None) -> dict[str, str]:
    """File -> content."""
    contents = make_contents(table, results, published)
    rows = list(results.rows.values())
    figures = draw(table, rows)
    if table.implementation.draw is not None:
        figures |= {name: (title_of(svg) or name, svg) for name, svg in table.implementation.draw(table, rows).items()}
    files = {f"{table.stem}-{name}.svg": (title, svg) for name, (title, svg) in figures.items()}
    return {
        **{file: svg for file, (_, svg) in files.items()},
        f"{table.stem}.tex": latex(contents),
        f"{table.stem}.html": page(contents, list(files.values())),
        f"{table.stem}.md": markdown(contents, {file: title for file, (title, _) in files.items()}),
    }


def title_of(svg: str) -> str:
    """The title inside an SVG."""
    match = re.search(r"<title>([^<]*)</title>", svg)
    return html.unescape(match[1]) if match else ""


def markdown(contents: Contents, figures: Mapping[str, str]) -> str:
    """`figures`: file -> title."""
    where = f" ({escape(contents.where)})" if contents.where else ""
    lines = [f"# {escape(contents.title)}{where}", "", escape(contents.caption), ""]
    if contents.note:
        lines += [escape(contents.note), ""]
    lines += markdown_rows(
        markdown_heads(contents),
        [[escape(line.title), *markdown_cells(contents, line.entries)] for line in contents.lines],
    )
    for file, title in figures.items():
        lines += ["", f"![{escape(title)}]({file})"]
    if contents.comparisons:
        lines += ["", "## Comparisons", "", comparison_note(contents.comparisons), ""]
        lines += markdown_rows(
            heads_of(contents.comparisons),
            [[escape(word) for word in comparison.words] for comparison in contents.comparisons],
        )
    lines += ["", "## Where the numbers come from", ""]
    lines += [
        f"- {name}: {code(text) if name in ('Command', 'Data') else escape(text)}" for name, text in contents.sources
    ]
    for remark in contents.remarks:
        lines += ["", f"Remark: {escape(remark)}"]
    return "\n".join([*lines, ""])


def code(words: str) -> str:
    """As Markdown code; text that code cannot contain is escaped instead."""
    return f"`{words}`" if words.isprintable() and "`" not in words else escape(words)


def comparison_note(comparisons: Sequence[Comparison]) -> str:
    count = sum(comparison.test.p is not None for comparison in comparisons) or len(comparisons)
    tests = f"the {count} comparisons" if count > 1 else "the one comparison"
    over_texts = OVER_TEXTS if any(one.over_texts is not None for one in comparisons) else ""
    return (
        "Differences are paired by seed, with 95 % intervals. p is from a two-sided paired t-test, with Holm's correction over "
        f"{tests} of this table; Wilcoxon's signed-rank test is added if there are at least six pairs. This correction decides "
        "no verdict on a claim: for that, p is corrected over the comparisons of that claim alone (on the page Evidence). Seeds "
        "change initial weights and order, not the texts: p tests for a difference between the methods on these texts."
        f"{over_texts}"
    )


def markdown_heads(contents: Contents) -> list[str]:
    heads = [""]
    for column in contents.columns:
        name = f"{escape(column.corpus_title)}: {escape(column.measure_title)}"
        heads += [name, *(["paper"] if column.printed else []), *(["published"] if column.published else [])]
    return heads


def markdown_cells(contents: Contents, entries: Sequence[Entry]) -> list[str]:
    cells = []
    for column, entry in zip(contents.columns, entries, strict=True):
        ours = f"**{entry.ours}**" if entry.best else entry.ours
        cells.append(" ".join(filter(None, (ours, f"({entry.note})" if entry.note else ""))))
        cells += [*([entry.paper] if column.printed else []), *([entry.published] if column.published else [])]
    return cells


def markdown_rows(heads: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    rule = "|---" + "|---:" * (len(heads) - 1) + "|"
    return [f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(row)} |" for row in body)]


def latex(contents: Contents) -> str:
    lines = [f"% {one_line(text)}" for _, text in contents.sources]
    over = [rf"\multicolumn{{{count}}}{{c}}{{{escaped(title)}}}" for title, count in contents.spans]
    heads = [["", *over], ["", *(word for column in contents.columns for word in latex_heads(column))]]
    body = [[escaped(line.title), *latex_cells(contents, line.entries)] for line in contents.lines]
    width = sum(count for _, count in contents.spans)
    lines += latex_table(f"{escaped(contents.title)}. {escaped(contents.caption)}", "l" + "r" * width, heads, body)
    if contents.comparisons:
        caption = f"{escaped(contents.title)}: paired comparisons over seeds."
        body = [[escaped(word) for word in comparison.words] for comparison in contents.comparisons]
        named = [escaped(head) for head in heads_of(contents.comparisons)]
        lines += ["", *latex_table(caption, "llll" + "r" * (len(named) - 4), [named], body)]
    return "\n".join([*lines, ""])


def latex_table(caption: str, columns: str, heads: Sequence[Sequence[str]], body: Sequence[Sequence[str]]) -> list[str]:
    """A table of texts that are LaTeX already."""
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
    numbers = [*(["paper"] if column.printed else []), *(["published"] if column.published else [])]
    return [escaped(column.measure_title), *numbers]


def latex_cells(contents: Contents, entries: Sequence[Entry]) -> list[str]:
    cells = []
    for column, entry in zip(contents.columns, entries, strict=True):
        ours = rf"\textbf{{{escaped(entry.ours)}}}" if entry.best else escaped(entry.ours)
        cells.append(" ".join(filter(None, (ours, rf"{{\scriptsize({escaped(entry.note)})}}" if entry.note else ""))))
        cells += [
            *([escaped(entry.paper)] if column.printed else []),
            *([escaped(entry.published)] if column.published else []),
        ]
    return cells


def latex_row(words: Sequence[str]) -> str:
    return " & ".join(words) + r" \\"


def page(contents: Contents, figures: Sequence[tuple[str, str]]) -> str:
    """`figures`: title and SVG of each."""
    note = comparison_note(contents.comparisons) if contents.comparisons else ""
    return page_of_table(contents=contents, heads=heads_of(contents.comparisons), comparison_note=note, figures=figures)
