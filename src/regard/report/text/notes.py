"""Notes to the user on standard error, so that results can be piped."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from regard.report.text.characters import printable

TASK = "task: "  # how the note begins that says which task was guessed


class DetachableConsole(Console):
    """A console that falls silent when its pipe is closed, so that training continues."""

    def on_broken_pipe(self) -> None:  # overrides rich, which would exit
        self.quiet = True


def stderr_console() -> Console:
    return DetachableConsole(stderr=True, soft_wrap=True, highlight=False)


def print_note(sentence: str, console: Console | None = None) -> None:
    """Print a decision or finding that the user should know."""
    shown = escape(printable(sentence))
    if sentence.startswith(TASK):  # everything else depends on it
        decision, comma, reason = shown.partition(",")
        shown = f"[bold]{decision}[/]{comma}{reason}"
    (console or stderr_console()).print(f"[dim]·[/] {shown}")
