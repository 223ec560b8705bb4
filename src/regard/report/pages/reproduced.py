"""A reproduced table as one HTML document: its numbers next to the paper's, comparisons, figures, and sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from markupsafe import Markup

from regard.report.pages.templates import render


class Contents(Protocol):
    """The part of regard_lab's contents that is read here; the template reads the rest."""

    @property
    def title(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def comparisons(self) -> Sequence[object]: ...


@dataclass(frozen=True)
class ReproducedView:
    title: str
    contents: Contents
    heads: Sequence[str]
    comparison_note: str
    figures: list[tuple[str, Markup]]
    sections: dict[str, str]  # titles by anchor


def page_of_table(
    contents: Contents, heads: Sequence[str], comparison_note: str, figures: Sequence[tuple[str, str]]
) -> str:
    """`figures`: titles and SVGs, which are trusted and not escaped."""
    drawn = [(title, Markup(svg)) for title, svg in figures]
    title = contents.title + (f" ({contents.where} of the paper)" if contents.where else "")
    present = {
        "numbers": ("Numbers", True),
        "figures": ("Figures", bool(drawn)),
        "comparisons": ("Comparisons", bool(contents.comparisons)),
        "sources": ("Where the numbers come from", True),
    }
    sections = {anchor: name for anchor, (name, is_shown) in present.items() if is_shown}
    return render("reproduced.html", ReproducedView(title, contents, heads, comparison_note, drawn, sections))
