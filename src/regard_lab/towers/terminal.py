"""An explained rating in the terminal: the sum of its terms, and the shaded sentences of both sides."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from regard.report.text.characters import one_line
from regard.report.text.numbers import signed, written
from regard.report.text.terminal import as_ascii, drawn
from regard_lab.towers.explanation import TERMS, ExplainedPair
from regard_lab.towers.page import UNNAMED, note_of


def show_pair(pair: ExplainedPair, console: Console) -> None:
    def line(text: str, style: str = "") -> None:
        plain = console.options.ascii_only
        console.print(Text(as_ascii(text).replace("’", "'") if plain else text, style=style), highlight=False)

    user, item = (UNNAMED if side.name is None else one_line(side.name) for side in (pair.user, pair.item))
    actual = "" if pair.actual is None else f", actual: {written(pair.actual)}"
    terms = [f"{title} {signed(pair.terms[name])}" for name, title in TERMS.items() if name in pair.terms]
    line(f"{user} × {item}: {written(pair.rating)}{actual}", "bold")
    line("; ".join(terms), "dim")
    for kind, title, side in (("user", f"reviews by {user}", pair.user), ("item", f"reviews of {item}", pair.item)):
        line(title, "bold underline")
        if note := note_of(kind, side):
            line(note, "italic")
        if side.reviews:
            for renderable in drawn(side.explanation, console)[1:]:  # without the prediction, which is above
                console.print(renderable, highlight=False)
