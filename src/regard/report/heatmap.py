"""Words and their weights as a heat map, for weights from any tool: no model or run is needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Literal

from regard.errors import InputError
from regard.records import Explanation, Prediction, TokenScore
from regard.report.colours import ACCENT, COLD, opacity
from regard.report.text.characters import one_line, visible
from regard.report.word_heatmap import svg

Kind = Literal["html", "svg"]
KINDS: tuple[Kind, ...] = ("html", "svg")


class Heatmap(str):
    """Markup that a notebook renders; an SVG is embedded in HTML unchanged."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


class SvgHeatmap(Heatmap):
    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def heatmap(
    tokens: Sequence[str], weights: Sequence[float], kind: Kind = "html", title: str = "", joined: str = " "
) -> Heatmap:
    """An HTML fragment with inline styles, or a whole SVG; notebooks render both. The heaviest word is the darkest;
    in HTML a weight below zero is blue and underlined. `joined` is put between words: "" for Chinese."""
    if kind not in KINDS:
        raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
    values = checked(tokens, weights)
    if kind == "html":
        return Heatmap(fragment(tokens, values, title, joined))
    for number, weight in enumerate(values, 1):
        if weight < 0:
            raise InputError(
                f"weights: expected 0 or more for an SVG, got {weight:g} as number {number}; use kind='html'"
            )
    scores, at = [], 0
    for token, weight in zip(tokens, values, strict=True):
        scores.append(TokenScore(token, at, at + len(token), weight))
        at += len(token) + len(joined)
    drawn = svg(Explanation(joined.join(tokens), Prediction(title or "Words by weight", {}), tuple(scores)))
    return SvgHeatmap(drawn)


def checked(tokens: Sequence[str], weights: Sequence[float]) -> list[float]:
    if isinstance(tokens, str):
        raise InputError("tokens: expected a list of words, got a single string")
    if len(tokens) != len(weights):
        raise InputError(f"expected one weight per token, got {len(tokens)} tokens and {len(weights)} weights")
    for number, token in enumerate(tokens, 1):
        if not isinstance(token, str):
            raise InputError(f"tokens: expected str, got {type(token).__name__} as number {number}")
    values = []
    for number, weight in enumerate(weights, 1):
        try:
            value = float(weight.item() if hasattr(weight, "item") else weight)  # a tensor may have a gradient
        except (RuntimeError, TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"weights: expected finite numbers, got {weight!r} as number {number}")
        values.append(value)
    return values


def fragment(tokens: Sequence[str], weights: Sequence[float], title: str, joined: str) -> str:
    heaviest = max(map(abs, weights), default=0.0)
    words = []
    for token, weight in zip(tokens, weights, strict=True):
        strength = opacity(math.sqrt(abs(weight) / heaviest)) if heaviest else 0.0
        colour = ",".join(map(str, COLD if weight < 0 else ACCENT))
        line = ";text-decoration:underline" if weight < 0 else ""
        style = f"border-radius:3px;background:rgba({colour},{strength}){line}"
        words.append(f'<span title="{weight:.6g}" style="{style}">{escape(visible(token))}</span>')
    head = f"<strong>{escape(one_line(title))}</strong>\n" if title else ""
    body = escape(joined).join(words)
    style = (
        "font-family:system-ui,sans-serif;line-height:1.7;max-width:56em;overflow-wrap:anywhere;white-space:pre-wrap"
    )
    return f'<div>{head}<div dir="auto" lang="" style="{style}">{body}</div></div>\n'
