"""An analysis as one HTML document that needs nothing but itself: a scatter to hover, search and play, and its figures."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from regard.report.pages.analysis_figures import figures
from regard.report.pages.analysis_payload import payload
from regard.report.pages.analysis_scores import Found, has_untyped, marks_of, recorded
from regard.report.pages.explanations import templates
from regard.report.pages.scripts import permitted
from regard.report.plots.marks import ON_DARK, UNTYPED, Mark
from regard.report.text.analysis_numbers import (
    between,
    facts,
    numbers_of_types,
    outputs,
    share,
    signed,
    strongest,
    unit_name,
)

SCRIPTS = ("scatter.js", "details.js", "search.js", "playing.js", "analysis.js")


def analysis_page(found: Found) -> str:
    """The whole document; write it as UTF-8."""
    drawn = figures(found)
    view: dict[str, Any] = {
        "found": found,
        "subject": found["run"] or found["data"],
        "recorded": recorded(found),
        "facts": facts(found),
        "types": numbers_of_types(found),
        "marks": {name: Markup(swatch(mark)) for name, mark in marks_of(found).items()},
        "words": strongest(found, 12),
        "outputs": outputs(found),
        "still": Markup(drawn.pop("scatter", "")),
        "untyped": Markup(swatch(UNTYPED)) if has_untyped(found) else "",
        "figures": [
            ("By type", [(name, Markup(svg)) for name, svg in drawn.items() if not name.startswith("along")]),
            ("Along training", [(name, Markup(svg)) for name, svg in drawn.items() if name.startswith("along")]),
        ],
        "payload": Markup(payload(found)),
        **permitted(SCRIPTS),
        "on_dark": ON_DARK,
        "unit": unit_name(found),
        "signed": signed,
        "share": share,
        "between": between,
    }
    return templates().get_template("analysis.html").render(view)


def swatch(mark: Mark) -> str:
    path = f'<path d="{mark.path(7, 7, 5)}" fill="{mark.colour}"/>'
    return f'<svg class="swatch" width="14" height="14" aria-hidden="true">{path}</svg>'
