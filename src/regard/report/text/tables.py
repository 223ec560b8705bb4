"""The metrics of an evaluation as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from regard.report.text.measures import ClassRow, Confusion, Matrix, absent, class_rows, confusions, matrix, summary
from regard.report.text.plain_table import plain_table


def metrics_table(metrics: Mapping[str, Any]) -> Table:
    """One printable thing: the numbers, a row a class, what was taken for what. Missing keys leave no trace."""
    rows, count = class_rows(metrics)
    numbers, whole, mistakes = summary(metrics), matrix(metrics), confusions(metrics)
    parts = [
        _numbers(numbers) if numbers else None,
        _absent(told) if (told := absent(metrics)) else None,
        _classes(rows, count) if rows else None,
        _matrix(whole) if whole is not None else None,
        _confusions(mistakes) if mistakes else None,
    ]
    table = Table.grid()
    for part in filter(None, parts):
        if table.row_count:
            table.add_row()
        table.add_row(part)
    return table


def _numbers(numbers: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in numbers:
        table.add_row(Text(name), Text(value, style="bold"))  # Text, here and below: a class may be called "[bold]"
    return table


def _absent(told: str) -> Table:
    table = Table.grid()
    table.add_row(Text(told))
    return table


def _classes(rows: list[ClassRow], count: int) -> Table:
    table = plain_table(f"{len(rows)} of {count} classes, weakest first" if count > len(rows) else None)
    table.add_column("class", overflow="fold")
    for name in ("precision", "recall", "F1", "texts"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, (row.name, row.precision, row.recall, row.f, row.n)))
    return table


def _matrix(whole: Matrix) -> Table:
    table = plain_table("rows: true, columns: said")
    table.add_column("", overflow="fold")
    for label in whole.labels:
        table.add_column(Text(label), justify="right", overflow="ellipsis", max_width=12)
    for place, (label, counts) in enumerate(zip(whole.labels, whole.counts, strict=True)):
        table.add_row(
            Text(label), *(Text(f"{n:,}", style="bold" if place == column else "") for column, n in enumerate(counts))
        )
    return table


def _confusions(mistakes: list[Confusion]) -> Table:
    table = plain_table("most frequent mistakes")
    table.add_column("true", overflow="fold")
    table.add_column("taken for", overflow="fold")
    table.add_column("texts", justify="right", no_wrap=True)
    for mistake in mistakes:
        table.add_row(Text(mistake.true), Text(mistake.said), Text(f"{mistake.count:,}"))
    return table
