"""The tables of a report: measures, classes, confusions, words, what attention was held against; also as CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from regard.report.analysis_numbers import signed, strongest, weight
from regard.report.characters import one_line
from regard.report.measures import Matrix, class_rows, confusions, matrix, summary, written
from regard.report.run_names import explainer_name

Report = Mapping[str, Any]
WORDS = 12  # of each class
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "−": "$-$",
    "×": r"$\times$",
}


class Table(NamedTuple):
    caption: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def run_tables(found: Report) -> dict[str, Table]:
    """By name; what the report doesn't hold leaves no table."""
    made = {**measured_tables(found), "words": words_table(found), "comparisons": comparisons_table(found)}
    return {name: table for name, table in made.items() if table is not None and table.rows}


def measured_tables(found: Report) -> dict[str, Table | None]:
    metrics = found["metrics"] or {}
    listed, count = class_rows(metrics)
    per_class = metrics.get("per_class") or {}
    ends = {one_line(name): row.get("f_interval") for name, row in per_class.items()}
    intervals = [interval(ends.get(row.name)) for row in listed]
    caption = "Classes" if count == len(listed) else f"{len(listed)} of {count} classes, weakest first"
    classes = [
        (row.name, row.precision, row.recall, row.f + end, row.n) for row, end in zip(listed, intervals, strict=True)
    ]
    small = matrix(metrics)
    return {
        "measures": Table("Measures, with 95 % intervals", ("measure", "value"), summary(metrics)),
        "classes": Table(caption, ("class", "precision", "recall", "F1", "texts"), classes),
        "confusion_matrix": None if small is None else matrix_table(small),
        "confusions": Table(
            "Most frequent mistakes",
            ("true", "taken for", "texts"),
            [(one.true, one.said, f"{one.count:,}") for one in confusions(metrics)],
        ),
    }


def matrix_table(found: Matrix) -> Table:
    rows = [(label, *map(written, counts)) for label, counts in zip(found.labels, found.counts, strict=True)]
    return Table("Rows: true, columns: said", ("", *found.labels), rows)


def interval(ends: Any) -> str:
    return f" ({written(ends[0])} to {written(ends[1])})" if ends else ""


def words_table(found: Report) -> Table | None:
    if not found["analysis"]:
        return None
    listed = [
        (one_line(name), word["token"], word["polarity"], word["attention"], word["weight"], word["count"])
        for name, words in strongest(found["analysis"], WORDS).items()
        for word in words
    ]
    return Table("Strongest words", ("class", "word", "polarity", "attention", "weight", "count"), listed)


def comparisons_table(found: Report) -> Table | None:
    """The focus of the audit against every other explainer, in comprehensiveness."""
    given = (found["audit"] or {}).get("faithfulness")
    if not given:
        return None
    listed = [
        (
            f"{explainer_name(one['one'])} less {explainer_name(one['other'])}",
            signed(one["mean"]),
            f"{signed(one['low'])} to {signed(one['high'])}",
            weight(one.get("holm")),
        )
        for one in given["comparisons"]
        if one["measure"] == "comprehensiveness" and one["mean"] is not None
    ]
    return Table("Comprehensiveness, differences", ("difference", "mean", "95 % interval", "p (Holm)"), listed)


def as_csv(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    sheet = io.StringIO()
    csv.writer(sheet).writerows([head, *rows])
    return sheet.getvalue()


def latex(table: Table) -> str:
    """With the rules of booktabs."""
    body = [" & ".join(map(escaped, row)) + r" \\" for row in table.rows]
    ways = "l" + "r" * (len(table.head) - 1)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\begin{{tabular}}{{{ways}}}",
        r"\toprule",
        " & ".join(map(escaped, table.head)) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(words: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in one_line(words))
