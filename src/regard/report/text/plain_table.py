"""A table for the terminal as all of ours are: a line under its head, and none around it."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

NARROWEST = 80  # columns that a terminal has


def plain_table(title: str | None = None) -> Table:
    """Without columns yet. What a user wrote goes into it as Text, by `one_line`: a class may be called "[bold]"."""
    # over a narrow table a title would wrap word by word; one that is longer than the terminal has to
    fits = title is not None and len(title) < NARROWEST
    named = None if title is None else Text(title, no_wrap=fits, overflow="ignore" if fits else None)
    table = Table(title=named, title_justify="left", title_style="dim", box=box.SIMPLE_HEAD)
    table.show_edge = table.pad_edge = False
    table.padding = (0, 1, 0, 0)
    return table
