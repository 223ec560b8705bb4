"""An analysis as one self-contained HTML document: an interactive scatter plot with search and playback, and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from markupsafe import Markup

from regard.facts.analysis import AnalysisFacts, Recording, Token
from regard.files import check_writable, write_all
from regard.report.pages.analysis_figures import (
    ATTENTION_TITLE,
    NO_TYPE,
    figures,
    marks_of,
    named_words,
    polarity_title,
    score_spans,
)
from regard.report.pages.templates import render
from regard.report.plots.axis import number, ticks
from regard.report.plots.marks import UNTYPED, Mark
from regard.report.text.analysis import (
    OutputRow,
    TypeRow,
    WordRow,
    header_facts,
    output_rows,
    strongest_words,
    type_rows,
    unit_name,
)
from regard.report.text.characters import one_line
from regard.report.text.numbers import short

PAGE = "analysis.html"
SCRIPTS = ("scatter.js", "details.js", "search.js", "playing.js", "analysis.js")
WORDS = 12  # of each class
FRAMES = 120  # most moments of a recording on the page, which interpolates between them


@dataclass(frozen=True)
class AnalysisView:
    analysis: AnalysisFacts
    title: str
    facts: dict[str, str]
    types: list[TypeRow]
    marks: dict[str, Markup]
    untyped: Markup  # the mark of tokens without a type; empty if there are none
    words: dict[str, list[WordRow]]
    outputs: list[OutputRow]
    static_plot: Markup  # the scatter plot for browsers without JavaScript
    by_type: dict[str, Markup]  # figures
    during_training: dict[str, Markup]
    unit: str


def write_analysis(facts: AnalysisFacts, folder: Path) -> Path:
    """analysis.json, the page, and every figure as a file: all files or none. Returns the path of the page."""
    check_writable(folder)
    drawn = figures(facts)
    written = json.dumps(facts.to_json(), ensure_ascii=False, indent=1)
    contents = {"analysis.json": written, PAGE: analysis_page(facts, drawn)}
    contents |= {f"{name}.svg": svg for name, svg in drawn.items()}
    write_all(folder, {name: content.encode("utf-8", "replace") for name, content in contents.items()})
    return folder / PAGE


def analysis_page(facts: AnalysisFacts, drawn: Mapping[str, str]) -> str:
    """The whole document; `drawn`: its figures."""
    shown = {name: Markup(svg) for name, svg in drawn.items()}
    during = {name: svg for name, svg in shown.items() if name.startswith("along")}
    unit = unit_name(facts)
    view = AnalysisView(
        facts,
        f"Polarity and attention of {unit}s: {one_line(facts.run or facts.data)}",
        {name: value for name, value in header_facts(facts).items() if name != "run"},
        type_rows(facts),
        swatches(facts),
        untyped_swatch(facts),
        strongest_words(facts, WORDS),
        output_rows(facts),
        shown.get("scatter", Markup()),
        {name: svg for name, svg in shown.items() if name != "scatter" and name not in during},
        during,
        unit,
    )
    return render("analysis.html", view, SCRIPTS, payload(facts))


def swatches(facts: AnalysisFacts) -> dict[str, Markup]:
    return {name: swatch(mark) for name, mark in marks_of(facts).items()}


def untyped_swatch(facts: AnalysisFacts) -> Markup:
    return swatch(UNTYPED) if any(token.type is None for token in facts.tokens) else Markup()


def swatch(mark: Mark) -> Markup:
    path = f'<path d="{mark.path(7, 7, 5)}" fill="{mark.colour}"/>'
    return Markup(f'<svg class="swatch" width="14" height="14" aria-hidden="true">{path}</svg>')


class Kind(TypedDict):
    """A type of tokens and its mark, for the script."""

    name: str
    light: str
    dark: str
    corners: tuple[tuple[float, float], ...]


class AxisJson(TypedDict):
    low: float
    high: float
    title: str
    ticks: list[tuple[float, str]]


class RecordingJson(TypedDict):
    token: list[int]
    moments: list[float]
    polarity: list[list[float | None]]
    attention: list[list[float | None]]


def payload(facts: AnalysisFacts) -> str:
    """JSON for the script of the page, without `<`, so that nothing in it can end the script element."""
    recording = facts.recorded
    tokens = [*facts.tokens, *only_recorded(facts, recording)]
    index = {token.token: number for number, token in enumerate(tokens)}
    marks = marks_of(facts)
    kinds = list(marks)
    across, up = score_spans(facts, recording)
    content = {
        "classes": [one_line(name) for name in facts.classes],
        "kinds": [kind(name, mark) for name, mark in marks.items()] + [kind(NO_TYPE, UNTYPED)],
        "token": [one_line(token.token) or "(blank)" for token in tokens],
        "kind": [len(kinds) if token.type is None else kinds.index(token.type) for token in tokens],
        "polarity": [digits(token.polarity) for token in tokens],
        "attention": [digits(token.attention) for token in tokens],
        "weight": [digits(token.weight) for token in tokens],
        "gamma": [digits(token.gamma) for token in tokens],
        "count": [token.count for token in tokens],
        "by_class": [token.by_class and [digits(value) for value in token.by_class] for token in tokens],
        "recording": None if recording is None else recording_json(recording, index),
        "named": [index[word.token] for word in named_words(facts) if word.token in index],
        "x": axis(*across, polarity_title(facts)),
        "y": axis(*up, ATTENTION_TITLE),
    }
    written = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def only_recorded(facts: AnalysisFacts, recording: Recording | None) -> list[Token]:
    """Tokens that the recording followed and the analysis left out."""
    if recording is None:
        return []
    known = {token.token for token in facts.tokens}
    pairs = zip(recording.tokens, recording.types, strict=True)
    return [Token(token, kind) for token, kind in pairs if token not in known]


def recording_json(recording: Recording, index: Mapping[str, int]) -> RecordingJson:
    kept = frames(len(recording.moments))
    return {
        "token": [index[token] for token in recording.tokens],
        "moments": [recording.moments[moment] for moment in kept],
        "polarity": [[digits(value) for value in recording.polarity[moment]] for moment in kept],
        "attention": [[digits(value) for value in recording.attention[moment]] for moment in kept],
    }


def frames(moments: int, most: int = FRAMES) -> list[int]:
    """Which moments to keep: evenly spread, including the first and the last."""
    if moments <= most:
        return list(range(moments))
    return [round(k * (moments - 1) / (most - 1)) for k in range(most)]


def kind(name: str, mark: Mark) -> Kind:
    return {"name": one_line(name), "light": mark.colour, "dark": mark.dark, "corners": mark.corners}


def axis(low: float, high: float, title: str) -> AxisJson:
    return {"low": low, "high": high, "title": title, "ticks": [(tick, number(tick)) for tick in ticks(low, high, 9)]}


def digits(value: float | None) -> float | None:
    """Rounded to the precision of a screen."""
    return None if value is None else short(value, 5)
