"""A reproduced table as one HTML document: its numbers beside the paper's, comparisons, figures, and where all comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from regard.report.page import _templates


def page_of_table(sheet: object, heads: Sequence[str], explained: str, figures: Mapping[str, str]) -> str:
    """`sheet` as `reproduce/sheet.py` makes it; `figures`: title -> SVG, which is ours and stands as it is."""
    drawn = {title: Markup(svg) for title, svg in figures.items()}
    template = _templates().get_template("reproduced.html")
    return template.render(sheet=sheet, heads=heads, explained=explained, figures=drawn)
