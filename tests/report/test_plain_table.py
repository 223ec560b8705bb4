"""Tables in the terminal: their titles."""

from __future__ import annotations

import io

from rich.console import Console

from regard.report.text.tables import plain_table


def printed(title: str) -> list[str]:
    table, out = plain_table(title), io.StringIO()
    table.add_column("class")
    table.add_row("a")
    Console(file=out, width=80).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_title_is_wider_than_a_narrow_table() -> None:
    assert printed("3 of 300 classes, weakest first")[0] == "3 of 300 classes, weakest first"


def test_a_title_longer_than_the_terminal_is_wrapped() -> None:
    title = " ".join(["word"] * 30)
    assert " ".join(printed(title)).split().count("word") == 30
