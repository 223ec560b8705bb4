"""An analysis in the terminal: types, the strongest words, how well attention tells them apart, VᵀW·λ and what it means."""

from __future__ import annotations

from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from regard.report.pages.analysis_scores import Found
from regard.report.text.analysis_numbers import between, facts, numbers_of_types, outputs, share, strongest, unit_name
from regard.report.text.characters import one_line
from regard.report.text.plain_table import plain_table

WORDS = 8
TABLES = 4  # more classes than this, and a class gets a line instead of a table


def print_analysis(found: Found, console: Console) -> None:
    for number, part in enumerate(analysis_table(found)):
        if number:
            console.print()
        console.print(part, highlight=False)


def analysis_table(found: Found) -> list[RenderableType]:
    """What there is to print, in order. Text objects everywhere: a class or a word may be called "[bold]"."""
    parts = [_header(found), _types(found), _words(found), _separation(found), _vtw(found), _notes(found)]
    return [part for part in parts if part is not None]


def _header(found: Found) -> Text:
    told = facts(found)
    line = Text()
    line.append(told["run"] or "a run", "bold")
    line.append(f" on {told['data']}, {told['texts']} texts; {told['model']}, λ = {told['λ']}; scores {told['scores']}")
    return line


def _types(found: Found) -> Table:
    table = plain_table("types of tokens, and means of their scores")
    table.add_column("type", overflow="fold", min_width=4)
    for name in ("tokens", "polarity", "attention", "weight"):
        table.add_column(name, justify="right", overflow="fold", min_width=6)
    for kind in numbers_of_types(found):
        table.add_row(*map(Text, kind.values()))
    return table


def _words(found: Found) -> RenderableType | None:
    listed = strongest(found, WORDS)
    if not listed:
        return None
    unit = unit_name(found)
    if len(listed) > TABLES:
        return _lines(listed, unit)
    return Columns([_class(name, words, unit) for name, words in listed.items()], padding=(0, 4))


def _class(name: str, words: list[dict[str, str]], unit: str) -> Table:
    table = plain_table(f"strongest {unit}s: {one_line(name)}")
    table.add_column(unit, overflow="fold", min_width=8)
    for heading in ("polarity", "attention"):
        table.add_column(heading, justify="right", no_wrap=True)
    for word in words:
        table.add_row(*(Text(word[key]) for key in ("token", "polarity", "attention")))
    if not words:
        table.add_row(Text("none", style="dim"), "", "")
    return table


def _lines(listed: dict[str, list[dict[str, str]]], unit: str) -> Table:
    table = plain_table(f"strongest {unit}s, with their polarity")
    table.add_column("class", overflow="fold")
    table.add_column(f"{unit}s", overflow="fold")
    for name, words in listed.items():
        told = ", ".join(f"{word['token']} {word['polarity']}" for word in words) or "none"
        table.add_row(Text(one_line(name)), Text(told))
    return table


def _separation(found: Found) -> Text | None:
    told = found["separation"]
    if told is None:
        return None
    line = Text()
    line.append("separation ", "dim")
    line.append(f"AUC {share(told['auc'])} ({between(told)})", "bold")
    line.append(f": attention of {told['tied']:,} tokens of a class against {told['neutral']:,} neutral ones")
    for one in told["by_type"] if len(told["by_type"]) <= TABLES else ():
        line.append(f"; {one_line(one['name'])} {share(one['auc'])} ({between(one)})")
    line.append(f"\n{one_line(told['meaning'])}")
    return line


def _vtw(found: Found) -> Text | None:
    told = outputs(found)
    if not told:
        return None
    line = Text()
    line.append("VᵀW·λ ", "dim")
    values = [one["product"] if len(told) == 1 else f"{one['name']} {one['product']}" for one in told]
    line.append(", ".join(values), "bold")
    if len(told) == 1:
        line.append(f" (VᵀW {told[0]['vtw']}, cosine {told[0]['cosine']})")
    line.append(f"\n{one_line(found['vtw']['meaning'])}")
    return line


def _notes(found: Found) -> Text | None:
    notes = [f"note: {one_line(note)}" for note in found["notes"]]
    return Text("\n".join(notes), style="dim") if notes else None
