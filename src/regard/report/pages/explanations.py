"""Explanations as one HTML document that needs nothing but itself (no script, no font, no address), or a fragment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from regard.records import Explanation
from regard.report import colours
from regard.report.names import explainer_name
from regard.report.text.answers import answer, chances, tally
from regard.report.text.characters import one_line, visible
from regard.report.text.highlights import concentration, rows, top_words, weight_text


def page(explanations: Sequence[Explanation], title: str) -> str:
    """The whole document; write it as UTF-8."""
    texts = [_view(explanation) for explanation in explanations]
    judged, wrong = tally([text["answer"] for text in texts])
    return (
        templates()
        .get_template("page.html")
        .render(
            title=title,
            texts=texts,
            judged=judged,
            wrong=wrong,
            hierarchical=any(explanation.sentences for explanation in explanations),
        )
    )


def fragment(explanation: Explanation) -> str:
    """One explanation with inline styles, for `_repr_html_`; it takes ink and ground from where it stands."""
    return templates().get_template("fragment.html").render(text=_view(explanation))


def _view(explanation: Explanation) -> dict[str, Any]:
    listed, more = chances(explanation)
    return {
        "answer": answer(explanation),
        "chances": listed,
        "more": more,
        "rows": rows(explanation),
        "sentences": bool(explanation.sentences),
        "tokens": explanation.tokens,
        "method": explainer_name(explanation.method),
        "top": top_words(explanation),
        "concentration": concentration(explanation),
    }


def _exact(text: str) -> Markup:
    """The text, escaped; a carriage return is written as a reference, or the parser would turn it into a newline."""
    return Markup(str(escape(visible(text))).replace("\r", "&#13;"))


@cache
def templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("regard.report.pages", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"exact": _exact, "line": one_line, "weight": weight_text, "hexed": colours.hexed}
    environment.globals["colours"] = colours
    return environment
