"""Progress while cells run: one line per finished run, and a status line with what is running and the time left."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from regard.report.text.characters import printable
from regard.report.text.notes import print_note, stderr_console
from regard.report.text.progress import clock
from regard_lab.measures import shown, value_of
from regard_lab.rows import Row
from regard_lab.tables.table import Table

LONG = 160  # characters of an error in its line; the file has all of it


class ProgressDisplay:
    """Writes lines to standard error, so that results can be piped; in a terminal the last line is updated in place."""

    def __init__(self, table: Table, total: int, console: Console | None = None):
        self.console = console or stderr_console()
        self.table = table
        self.total = total
        self.done = self.failed = 0
        self.now: dict[str, str] = {}
        self.left: float | None = None
        self.live = Live(console=self.console, transient=True, get_renderable=self.status, refresh_per_second=2)

    def __enter__(self) -> Self:
        if self.console.is_terminal and self.total:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def status(self) -> Text:
        running = "; ".join(f"{name} {epoch}".strip() for name, epoch in self.now.items())
        text = f"{self.done}/{self.total} done · {self.time_left()}" + (f" · running {running}" if running else "")
        return Text(printable(text), style="cyan", overflow="ellipsis", no_wrap=True)

    def time_left(self) -> str:
        return "time left unknown" if self.left is None else clock(self.left)

    def note(self, sentence: str) -> None:
        print_note(sentence, self.console)

    def begun(self, name: str) -> None:
        self.now[name] = ""

    def epoch(self, name: str, epoch: str) -> None:
        self.now[name] = epoch

    def ended(self, name: str) -> None:
        self.now.pop(name, None)

    def row(self, row: Row, cell: str, left: float | None) -> None:
        self.done, self.left = self.done + 1, left
        if "error" in row:
            self.failed += 1
            error = row["error"]
            text = f"[red]failed:[/] {escape(printable(error if len(error) <= LONG else error[:LONG] + ' …'))}"
        else:
            text = escape(self.measured(row))
        position = f"{self.done:>{len(str(self.total))}}/{self.total}"
        time_left = f" · {clock(left)}" if left is not None and self.done < self.total else ""
        self.console.print(
            f"[dim]{position}[/] {escape(printable(cell))}, seed {row['seed']}: {text}"
            f"[dim] · {row['seconds']:.1f} s{time_left}[/]"
        )

    def measured(self, row: Row) -> str:
        names = self.table.corpora[row["corpus"]].measures
        measures = [(self.table.measure(name), value_of(row, name)) for name in names]
        texts = [f"{measure.title.lower()} {shown(value, measure)}" for measure, value in measures if value is not None]
        return ", ".join(texts) or "done"
