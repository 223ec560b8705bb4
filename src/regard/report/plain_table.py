"""A table for the terminal as all of ours are: a line under its head, and none around it."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text


def plain_table(title: str | None = None) -> Table:
    """Without columns yet. What a user wrote goes into it as Text, by `one_line`: a class may be called "[bold]"."""
    named = None if title is None else Text(title, no_wrap=True, overflow="ignore")
    table = Table(title=named, title_justify="left", title_style="dim", box=box.SIMPLE_HEAD)
    table.show_edge = table.pad_edge = False
    table.padding = (0, 1, 0, 0)
    return table
