"""A sheet as one HTML document that needs nothing but itself; the figures stand in it."""

from __future__ import annotations

from collections.abc import Sequence

from regard.report.pages.reproduced import page_of_table
from regard_lab.comparisons import HEADS
from regard_lab.rendering.markdown import explained
from regard_lab.rendering.sheet import Sheet


def page(sheet: Sheet, figures: Sequence[tuple[str, str]]) -> str:
    """`figures`: title and SVG of each."""
    told = explained(sheet.comparisons) if sheet.comparisons else ""
    return page_of_table(sheet=sheet, heads=HEADS, explained=told, figures=figures)
