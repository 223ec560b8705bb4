"""The sentences of verdicts.toml with their values filled in."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from regard.audit.rule import FEWEST, SMALLEST, Judged, above, below, is_few, is_small
from regard.facts.audit import AuditedModel, Measurements, Reason
from regard.facts.intervals import Interval
from regard.report.names import explainer_name


@cache
def sentences() -> dict[str, Any]:
    return tomllib.loads((files("regard.audit") / "verdicts.toml").read_text(encoding="utf-8"))


def reason(judged: Judged, evidence: str, kind: str, key: str, **values: object) -> Reason:
    text: str = sentences()[evidence][kind][key]
    return Reason(kind, capitalized(text.format(**values), judged.facts), evidence)


def fragment(key: str, evidence: str | None = None, **values: object) -> str:
    table = sentences() if evidence is None else sentences()[evidence]
    text: str = table["fragments"][key]
    return text.format(**values)


def capitalized(text: str, facts: Measurements) -> str:
    """Unless it begins with a name that the user gave to scores."""
    named = facts.model is None and text.startswith(focus_of(facts))
    return text if named else text[0].upper() + text[1:]


def focus_of(facts: Measurements) -> str:
    return explainer_name(facts.focus)


def weights_of(model: AuditedModel | None) -> str:
    """The weights that were replaced by others."""
    name: str = sentences()["weights"][str(1 if model is None else model.levels)]
    return name


def few(one: Interval) -> str:
    """Why an interval does not count, if it does not."""
    return fragment("few_values", n=one.n, fewest=FEWEST) if is_few(one) else ""


def too_small(one: Interval, edge: float = SMALLEST, about: float = 0.0) -> str:
    """Why a significant difference does not count, if it does not."""
    is_sure, is_large = (above(one, about + by) or below(one, about - by) for by in (0.0, edge))
    if is_large or not is_sure:
        return ""
    key = "sure_but_small" if is_small(one, edge, about) else "sure_but_perhaps_small"
    return fragment(key, range=around(edge, about))


def around(edge: float, about: float = 0.0) -> str:
    return fragment("range_about" if about else "range", edge=edge, about=about)
