"""One explanation in the terminal: words with a shaded background, or in [brackets] without colours."""

from __future__ import annotations

import os

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from regard.records import Explanation
from regard.report.colours import ACCENT, DARK, LIGHT, Ground, hexed, shade
from regard.report.text.answers import answer
from regard.report.text.highlights import Piece, Row, concentration, rows, top_words, weight_text

BAR = 8  # cells of a full sentence bar
FAINTEST = 0.25  # weaker words are not shaded: a barely visible box is only noise
MARKED = 5  # words in brackets if there are no colours

Mark = tuple[int, int]


def show(explanation: Explanation, console: Console, light: bool | None = None) -> None:
    """Print the prediction, the text and its heaviest words. `light`: of the terminal; None reads COLORFGBG."""
    console.print(_headline(explanation, console), highlight=False)
    ground = LIGHT if (_light_terminal() if light is None else light) else DARK
    colour = console.color_system if not console.no_color else None
    marks = set() if colour else {(token.start, token.end) for token in explanation.top(MARKED) if token.weight > 0}
    lines = [(row, _line(row, colour, ground, marks)) for row in rows(explanation)]
    if explanation.sentences:
        console.print(_sentences(lines, console), highlight=False)
    else:
        for _, line in lines:
            console.print(line, highlight=False)
    words = top_words(explanation, MARKED)
    if words:
        listed = ", ".join(f"{word} {weight}" for word, weight in words)
        console.print(Text(f"top words: {listed}; {concentration(explanation)}", style="dim"), highlight=False)


def _headline(explanation: Explanation, console: Console) -> Text:
    shown = answer(explanation)
    line = Text.assemble((shown.prediction, "bold"), f" {shown.probability}" if shown.probability else "")
    yes, no = ("correct", "wrong") if console.options.ascii_only else ("✓", "✗")
    if shown.right is not None:
        line.append(
            f" {yes}" if shown.right else f" {no} actual: {shown.truth}", style="green" if shown.right else "red"
        )
    elif shown.truth:
        line.append(f" actual: {shown.truth}" + (f", off by {shown.error}" if shown.error else ""))
    return line


def _sentences(lines: list[tuple[Row, Text]], console: Console) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, width=BAR)
    table.add_column(no_wrap=True, justify="right", style="dim")
    table.add_column(overflow="fold")
    for row, line in lines:
        if row.part:
            table.add_row("", "", Text(row.part, style="dim"))
        weight = "" if row.weight is None else weight_text(row.weight)
        table.add_row(Text(_bar(row.share, console.options.ascii_only), style=hexed(ACCENT)), weight, line)
    return table


def _bar(share: float, ascii_only: bool) -> str:
    eighths = round(share * BAR * 8)
    if ascii_only:
        return "#" * round(eighths / 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def _line(row: Row, colour: str | None, ground: Ground, marks: set[Mark]) -> Text:
    line = Text()
    for piece in row.pieces:
        if piece.token is not None and (piece.token.start, piece.token.end) in marks:
            line.append(f"[{piece.text}]")
        else:
            line.append(piece.text, style=_style(piece, colour, ground))
    return line


def _style(piece: Piece, colour: str | None, ground: Ground) -> Style | None:
    if piece.token is None:
        return None
    underline = True if not piece.known else None
    if colour is None or piece.strength < FAINTEST:
        return Style(underline=underline)
    if colour in ("standard", "windows"):  # sixteen colours are too few for a ramp: two steps
        strong = Style(color="black", bgcolor="yellow", underline=underline)
        return strong if piece.strength >= 0.7 else Style(color="yellow", underline=underline)
    return Style(color=hexed(ground.ink), bgcolor=hexed(shade(piece.strength, ground.paper)), underline=underline)


def _light_terminal() -> bool:
    """By COLORFGBG ("foreground;background") of rxvt, Konsole and iTerm2; most other terminals are dark."""
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
