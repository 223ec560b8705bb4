"""Explanations in the terminal: words with a shaded background, or in [brackets] with their sign without colours."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from regard.records import Explanation
from regard.report.colours import ACCENT, COLD, DARK, LIGHT, Ground, hexed, shade
from regard.report.text.answers import answer
from regard.report.text.characters import one_line
from regard.report.text.highlights import Piece, Row, concentration, rows, top_words
from regard.report.text.strongest_words import StrongWord, for_whom, nothing_strong, strongest_words

BAR = 8  # cells of a full sentence bar
FAINTEST = 0.25  # weaker words are not shaded: a barely visible box is only noise
MARKED = 5  # words listed, and in brackets if there are no colours; as many against
SIDE_BY_SIDE = 100  # cells: on narrower terminals explanations of two models are stacked

Mark = tuple[int, int]


def show(explanation: Explanation, console: Console, light: bool | None = None) -> None:
    """Print the prediction, the text and its strongest words. `light`: of the terminal; None reads COLORFGBG."""
    for item in drawn(explanation, console, light):
        console.print(item, highlight=False)


def show_beside(named: Sequence[tuple[str, Explanation]], console: Console, light: bool | None = None) -> None:
    """Print explanations of the same text by several models, each under its name."""
    columns = [(name, drawn(explanation, console, light)) for name, explanation in named]
    if console.width < SIDE_BY_SIDE:
        for name, items in columns:
            for item in (Text(one_line(name), style="bold underline"), *items):
                console.print(item, highlight=False)
        return
    table = Table.grid(padding=(0, 3), expand=True)
    for _ in columns:
        table.add_column(ratio=1, overflow="fold")
    table.add_row(*(Text(one_line(name), style="bold underline") for name, _ in columns))
    table.add_row(*(Group(*items) for _, items in columns))
    console.print(table, highlight=False)


def show_legend(explanation: Explanation, console: Console) -> None:
    """Print how signs are shown; nothing if the explanation has none."""
    if not explanation.is_signed:
        return
    if has_colours(console) is None:
        key = f"[word+]: for the answer, [word{minus_sign(console)}]: against it"
    elif explanation.target is None:
        key = "orange: raises the number, blue and underlined: lowers it, italic: unknown word"
    else:
        key = "orange: for the answer, blue and underlined: against it, italic: unknown word"
    what = "it" if explanation.target is None else "its log-odds"
    numbers = f"how far {what} would drop without the word"
    if explanation.contribution_method != "leave_one_out":
        numbers += f", estimated by {str(explanation.contribution_method).replace('_', ' ')}"
    console.print(Text(f"{key}; numbers: {numbers}", style="dim"), highlight=False)


def drawn(explanation: Explanation, console: Console, light: bool | None = None) -> list[RenderableType]:
    ground = LIGHT if (light_terminal() if light is None else light) else DARK
    colour = has_colours(console)
    strong = strongest_words(explanation, MARKED)
    marks = {} if colour else marked(explanation, strong, minus_sign(console))
    lines = [(row, draw_line(row, colour, ground, marks)) for row in rows(explanation)]
    items: list[RenderableType] = [headline(explanation, console)]
    if explanation.note:
        items.append(Text(explanation.note, style="italic" if colour is None else "yellow"))
    items += [sentence_table(lines, console)] if explanation.sentences else [line for _, line in lines]
    if listed := listed_words(explanation, strong):
        items.append(Text(listed if not console.options.ascii_only else as_ascii(listed), style="dim"))
    return items


def listed_words(explanation: Explanation, strong: tuple[list[StrongWord], list[StrongWord]]) -> str:
    if not explanation.is_signed:
        listed = ", ".join(f"{word} {weight}" for word, weight in top_words(explanation, MARKED))
        return listed and f"top words: {listed}; {concentration(explanation)}"
    pairs = zip(for_whom(explanation), strong, strict=True)
    lists = [
        f"{title}: " + ", ".join(f"{word.name} {word.number}" for word in words) for title, words in pairs if words
    ]
    return "; ".join(lists) or nothing_strong(explanation)


def marked(explanation: Explanation, strong: tuple[list[StrongWord], list[StrongWord]], minus: str) -> dict[Mark, str]:
    """What is put after the words in brackets, by their positions."""
    tokens = explanation.tokens
    if explanation.is_signed:
        signs = zip(("+", minus), strong, strict=True)
        indices = [(index, sign) for sign, words in signs for word in words for index in word.tokens]
        return {(tokens[index].start, tokens[index].end): sign for index, sign in indices}
    return {(token.start, token.end): "" for token in explanation.top(MARKED) if token.weight > 0}


def headline(explanation: Explanation, console: Console) -> Text:
    shown = answer(explanation)
    line = Text.assemble((shown.prediction, "bold"), f" {shown.probability}" if shown.probability else "")
    yes, no = ("correct", "wrong") if console.options.ascii_only else ("✓", "✗")
    if shown.right is not None:
        line.append(
            f" {yes}" if shown.right else f" {no} actual: {shown.truth}", style="green" if shown.right else "red"
        )
    elif shown.truth:
        line.append(f" actual: {shown.truth}" + (f", off by {shown.error}" if shown.error else ""))
    if explanation.target is not None and explanation.target != explanation.prediction.only_name:
        line.append(f", explained for {one_line(explanation.target)}")
    return line


def sentence_table(lines: list[tuple[Row, Text]], console: Console) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, width=BAR)
    table.add_column(no_wrap=True, justify="right", style="dim")
    table.add_column(overflow="fold")
    ascii_only = console.options.ascii_only
    for row, line in lines:
        if row.part:
            table.add_row("", "", Text(row.part, style="dim"))
        bar = Text(draw_bar(row.share, ascii_only), style=hexed(COLD if row.against else ACCENT))
        table.add_row(bar, as_ascii(row.number) if ascii_only else row.number, line)
    return table


def draw_bar(share: float, ascii_only: bool) -> str:
    eighths = round(share * BAR * 8)
    if ascii_only:
        return "#" * round(eighths / 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def draw_line(row: Row, colour: str | None, ground: Ground, marks: dict[Mark, str]) -> Text:
    line = Text()
    for piece in row.pieces:
        if piece.token is not None and (piece.token.start, piece.token.end) in marks:
            line.append(f"[{piece.text}{marks[piece.token.start, piece.token.end]}]")
        else:
            line.append(piece.text, style=style_of(piece, colour, ground))
    return line


def style_of(piece: Piece, colour: str | None, ground: Ground) -> Style | None:
    """Words against the answer are underlined; unknown words are underlined too, or italic where there are signs."""
    if piece.token is None:
        return None
    is_signed = piece.token.contribution is not None
    italic = True if is_signed and not piece.known else None
    unknown = True if not is_signed and not piece.known else None
    if colour is None or piece.strength < FAINTEST:
        return Style(underline=unknown, italic=italic)
    underline = True if piece.against else unknown
    if colour in ("standard", "windows"):  # sixteen colours are too few for a ramp: two steps
        name, ink = ("blue", "white") if piece.against else ("yellow", "black")
        strong = Style(color=ink, bgcolor=name, underline=underline, italic=italic)
        return strong if piece.strength >= 0.7 else Style(color=name, underline=underline, italic=italic)
    fill = shade(piece.strength, ground.paper, COLD if piece.against else ACCENT)
    return Style(color=hexed(ground.ink), bgcolor=hexed(fill), underline=underline, italic=italic)


def has_colours(console: Console) -> str | None:
    return console.color_system if not console.no_color else None


def minus_sign(console: Console) -> str:
    return "-" if console.options.ascii_only else "−"


def as_ascii(text: str) -> str:
    return text.translate(str.maketrans("−×“”", '-x""'))


def light_terminal() -> bool:
    """By COLORFGBG ("foreground;background") of rxvt, Konsole and iTerm2; most other terminals are dark."""
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
