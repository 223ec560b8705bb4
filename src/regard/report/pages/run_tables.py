"""The tables of a report: measures, classes, confusions, words, and those of its audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regard.report.text.analysis_numbers import strongest, unit_name
from regard.report.text.audit_tables import audit_tables
from regard.report.text.characters import one_line
from regard.report.text.exported import Table
from regard.report.text.measures import Matrix, class_rows, confusions, interval, matrix, summary, written

Report = Mapping[str, Any]
WORDS = 12  # of each class


def run_tables(found: Report) -> dict[str, Table]:
    """By name; what the report doesn't hold leaves no table."""
    made = {**measured_tables(found), "words": words_table(found)}
    if found["audit"]:
        made |= audit_tables(found["audit"])
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


def words_table(found: Report) -> Table | None:
    if not found["analysis"]:
        return None
    listed = [
        (one_line(name), word["token"], word["polarity"], word["attention"], word["weight"], word["count"])
        for name, words in strongest(found["analysis"], WORDS).items()
        for word in words
    ]
    unit = unit_name(found["analysis"])
    return Table(f"Strongest {unit}s", ("class", unit, "polarity", "attention", "weight", "count"), listed)
