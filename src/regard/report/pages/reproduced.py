"""A reproduced table as one HTML document: its numbers next to the paper's, comparisons, figures, and sources."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from regard.report.pages.templates import templates


def page_of_table(sheet: object, heads: Sequence[str], explained: str, figures: Sequence[tuple[str, str]]) -> str:
    """`sheet` is made by the laboratory; `figures`: titles and SVGs, which are trusted and not escaped."""
    drawn = [(title, Markup(svg)) for title, svg in figures]
    template = templates().get_template("reproduced.html")
    return template.render(sheet=sheet, heads=heads, explained=explained, figures=drawn)
