"""Progress of training on the terminal: a bar with loss, dev score and time left, and one line per epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from regard.facts.history import main_measure
from regard.report.text.notes import print_note, stderr_console
from regard.report.text.numbers import metric_name
from regard.run_metrics import EpochRecord

ROWS_PER_UPDATE = 512
Row = TypeVar("Row")


def unwrapped() -> Column:
    """A column that stays on one line: if space is short, the bar shrinks instead."""
    return Column(no_wrap=True)


class TimeLeft(ProgressColumn):
    """Time left until the last possible epoch, at the speed so far."""

    def render(self, task: Task) -> Text:
        seconds = task.time_remaining
        return Text("–:––" if seconds is None else clock(seconds), style="progress.remaining")


class ConsoleRecorder:
    """A recorder that prints to standard error, so that results can be piped."""

    def __init__(self, console: Console | None = None):
        self.console = console or stderr_console()
        self.bar: Progress | None = None
        self.last_score = ""
        self.phase = ""  # with a separator at its end
        self.epoch = self.epochs = 0

    def note(self, sentence: str) -> None:
        print_note(sentence, self.console)

    def enter(self, phase: str) -> None:
        self.phase = f"{phase} · "
        self.__exit__()  # each phase has its own bar, which shows the time left in that phase

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.epoch, self.epochs = epoch, epochs
        if self.console.is_terminal and self.bar is None:
            texts = [
                TextColumn(f"{{task.{name}}}", table_column=unwrapped()) for name in ("description", "fields[loss]")
            ]
            columns = (texts[0], BarColumn(), texts[1], TimeLeft(unwrapped()))
            self.bar = Progress(*columns, console=self.console, transient=True, speed_estimate_period=600)
            self.bar.add_task("", total=steps * epochs, completed=steps * (epoch - 1), loss="")
            self.bar.start()
        if self.bar:
            self.bar.update(self.bar.task_ids[0], description=f"{self.phase}epoch {epoch}/{epochs}{self.last_score}")

    def step(self, loss: float | None) -> None:
        if self.bar:
            shown = {} if loss is None else {"loss": f"loss {loss:.4f}"}
            self.bar.update(self.bar.task_ids[0], advance=1, **shown)  # type: ignore[arg-type]

    def end(self, record: EpochRecord) -> None:
        scores = record.get("dev") or record["train"]
        name = main_measure(scores)
        part = "dev" if "dev" in record else "train"
        self.last_score = (
            f" · {part} {scores[name]:.4f}"  # next to a round and a phase, a bar leaves no room for the measure's name
        )
        norms = "".join(f" · p({level}) {norm['mean']:.3f}" for level, norm in record.get("norms", {}).items())
        heads = "".join(f" · {head} {measures[name]:.4f}" for head, measures in record.get("heads", {}).items())
        done = f"{self.phase}epoch {self.epoch or record['epoch']:>2}/{self.epochs} · loss {record['loss']:.4f}"
        self.console.print(
            f"{done} · {part} {metric_name(name)} {scores[name]:.4f}{heads}{norms} · {record['seconds']:.1f} s"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.stop()
            self.bar = None


class Rate(ProgressColumn):
    """Rows per second, at the speed so far."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f} rows/s", style="progress.data.speed")


class RowCounter:
    """A bar with the number of rows, their rate and, if their total is known, the time left; only on a terminal."""

    def __init__(self, total: int | None, visible: bool, console: Console | None = None):
        console = console or stderr_console()
        rows = TextColumn("{task.completed:,.0f} rows", table_column=unwrapped())
        columns = (rows, BarColumn(), Rate(unwrapped()), *([TimeLeft(unwrapped())] if total else []))
        hidden = not (visible and console.is_terminal)
        self.bar = Progress(*columns, console=console, transient=True, disable=hidden, speed_estimate_period=10)
        self.task = self.bar.add_task("", total=total)

    def count(self, rows: Iterable[Row]) -> Iterator[Row]:
        for number, row in enumerate(rows, 1):
            yield row
            if number % ROWS_PER_UPDATE == 0:  # an update takes longer than a prediction
                self.bar.update(self.task, completed=number)

    def show(self, rows: int) -> None:
        """The number of rows so far, where they are not counted one by one."""
        self.bar.update(self.task, completed=rows)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} left" if minutes >= 60 else f"{minutes}:{rest:02} left"
