"""What the page's script is given: every token once, with its scores, and where a recording took it along training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from regard.report.pages.analysis_scores import (
    ATTENTION_TITLE,
    NO_TYPE,
    Found,
    marks_of,
    named_words,
    polarity_title,
    recorded,
    score_spans,
)
from regard.report.plots.axis import number, ticks
from regard.report.plots.marks import UNTYPED, Mark
from regard.report.text.characters import one_line
from regard.report.text.numbers import short

FRAMES = 120  # moments of a long recording that the page keeps: between them it moves points evenly
UNKNOWN: dict[str, Any] = dict.fromkeys(("polarity", "attention", "weight", "count", "gamma", "by_class"))


def payload(found: Found) -> str:
    """As JSON that may stand in a script element: without `<`, so that nothing in it can end the element."""
    tokens = [*found["tokens"], *only_recorded(found)]
    marks = marks_of(found)
    kinds = list(marks)
    given = {
        "classes": [one_line(name) for name in found["classes"]],
        "kinds": [kind(name, mark) for name, mark in marks.items()] + [kind(NO_TYPE, UNTYPED)],
        "token": [one_line(token["token"]) or "(blank)" for token in tokens],
        "kind": [len(kinds) if token["type"] is None else kinds.index(token["type"]) for token in tokens],
        **{name: [digits(token[name]) for token in tokens] for name in ("polarity", "attention", "weight", "gamma")},
        "count": [token["count"] for token in tokens],
        "by_class": [token["by_class"] and [digits(value) for value in token["by_class"]] for token in tokens],
        "recording": recording(found, tokens),
        "named": named(found, tokens),
        "x": axis(*score_spans(found, along=True)[0], polarity_title(found)),
        "y": axis(*score_spans(found, along=True)[1], ATTENTION_TITLE),
    }
    written = json.dumps(given, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def only_recorded(found: Found) -> list[Mapping[str, Any]]:
    """Tokens that the recording followed and the analysis itself left out."""
    told = recorded(found) or {"tokens": (), "types": ()}
    known = {token["token"] for token in found["tokens"]}
    pairs = zip(told["tokens"], told["types"], strict=True)
    return [{**UNKNOWN, "token": token, "type": kind} for token, kind in pairs if token not in known]


def recording(found: Found, tokens: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    told = recorded(found)
    if not told:
        return None
    place = {token["token"]: index for index, token in enumerate(tokens)}
    kept = frames(len(told["moments"]))
    return {
        "token": [place[token] for token in told["tokens"]],
        "moments": [told["moments"][moment] for moment in kept],
        **{
            score: [[digits(value) for value in told[score][moment]] for moment in kept]
            for score in ("polarity", "attention")
        },
    }


def frames(moments: int, most: int = FRAMES) -> list[int]:
    """Which moments are kept: evenly spread, the first and the last among them."""
    if moments <= most:
        return list(range(moments))
    return [round(k * (moments - 1) / (most - 1)) for k in range(most)]


def named(found: Found, tokens: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of the words that are written beside their points."""
    place = {token["token"]: index for index, token in enumerate(tokens)}
    return [place[word["token"]] for word in named_words(found) if word["token"] in place]


def kind(name: str, mark: Mark) -> dict[str, Any]:
    return {"name": one_line(name), "light": mark.colour, "dark": mark.dark, "corners": mark.corners}


def axis(low: float, high: float, title: str) -> dict[str, Any]:
    return {"low": low, "high": high, "title": title, "ticks": [[tick, number(tick)] for tick in ticks(low, high, 9)]}


def digits(value: float | None) -> float | None:
    """So many that a screen cannot show more."""
    return None if value is None else short(value, 5)
