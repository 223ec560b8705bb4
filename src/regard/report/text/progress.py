"""A training run as it is watched: a bar with loss, dev score and time left, or a line an epoch where there is no bar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text


def whole() -> Column:
    """Words that stay in one line: where there is no room the bar gives way."""
    return Column(no_wrap=True)


class Left(ProgressColumn):
    """Time left, over all epochs that may come, by the pace so far."""

    def render(self, task: Task) -> Text:
        seconds = task.time_remaining
        return Text("–:––" if seconds is None else clock(seconds), style="progress.remaining")


class Onlooker(Console):
    """A console whose reader may leave: nobody watches any more, but training goes on."""

    def on_broken_pipe(self) -> None:  # rich would end the program; it means this to be replaced
        self.quiet = True


class Watch:
    """A recorder for people. Everything goes to standard error, so that results can be piped."""

    def __init__(self, console: Console | None = None):
        self.console = console or Onlooker(stderr=True, soft_wrap=True, highlight=False)
        self.bar: Progress | None = None
        self.seen = ""  # the last score
        self.phase = ""  # with what parts it from the epoch
        self.epoch = self.epochs = 0

    def note(self, sentence: str) -> None:
        self.console.print(f"[dim]·[/] {escape(printable(sentence))}")

    def enter(self, phase: str) -> None:
        self.phase = f"{phase} · "
        self.__exit__()  # the next bar is the phase's own: what is left is time left in it

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.epoch, self.epochs = epoch, epochs
        if self.console.is_terminal and self.bar is None:
            said = [TextColumn(f"{{task.{name}}}", table_column=whole()) for name in ("description", "fields[loss]")]
            columns = (said[0], BarColumn(), said[1], Left(whole()))
            self.bar = Progress(*columns, console=self.console, transient=True, speed_estimate_period=600)
            self.bar.add_task("", total=steps * epochs, completed=steps * (epoch - 1), loss="")
            self.bar.start()
        if self.bar:
            self.bar.update(self.bar.task_ids[0], description=f"{self.phase}epoch {epoch}/{epochs}{self.seen}")

    def step(self, loss: float | None) -> None:
        if self.bar:
            shown = {} if loss is None else {"loss": f"loss {loss:.4f}"}
            self.bar.update(self.bar.task_ids[0], advance=1, **shown)  # type: ignore[arg-type]

    def end(self, record: Mapping[str, Any]) -> None:
        scores = record.get("dev") or record["train"]
        name = "accuracy" if "accuracy" in scores else "rmse"
        part = "dev" if "dev" in record else "train"
        self.seen = (
            f" · {part} {scores[name]:.4f}"  # a bar beside a round and a phase leaves no room for the measure's name
        )
        norms = "".join(f" · p({level}) {norm['mean']:.3f}" for level, norm in record.get("norms", {}).items())
        heads = "".join(f" · {head} {own[name]:.4f}" for head, own in record.get("heads", {}).items())
        done = f"{self.phase}epoch {self.epoch or record['epoch']:>2}/{self.epochs} · loss {record['loss']:.4f}"
        self.console.print(f"{done} · {part} {name} {scores[name]:.4f}{heads}{norms} · {record['seconds']:.1f} s")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.stop()
            self.bar = None


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} left" if minutes >= 60 else f"{minutes}:{rest:02} left"


def printable(sentence: str) -> str:
    """A sentence may quote what a user's file holds: keep control characters out of the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in sentence)
