"""A reproduced table as one HTML document: its numbers next to the paper's, comparisons, figures, and sources."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from regard.report.pages.templates import templates


def page_of_table(
    contents: object, heads: Sequence[str], comparison_note: str, figures: Sequence[tuple[str, str]]
) -> str:
    """`contents` comes from regard_lab; `figures`: titles and SVGs, which are trusted and not escaped."""
    drawn = [(title, Markup(svg)) for title, svg in figures]
    template = templates().get_template("reproduced.html")
    return template.render(contents=contents, heads=heads, comparison_note=comparison_note, figures=drawn)
