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
from regard.report.pages.templates import FINDING, FOLDING, SORTING, render
from regard.report.pages.tiles import Tile, separation_tile
from regard.report.pages.words import WordsView, words_view
from regard.report.plots.axis import number, ticks
from regard.report.plots.marks import UNTYPED, Mark
from regard.report.text.analysis import OutputRow, header_facts, output_rows
from regard.report.text.characters import one_line
from regard.report.text.exported import Table
from regard.report.text.numbers import column, short

PAGE = "analysis.html"
SCRIPTS = ("scatter.js", "details.js", "search.js", "playing.js", "kinds.js", "analysis.js")
FRAMES = 120  # most moments of a recording on the page, which interpolates between them


@dataclass(frozen=True)
class AnalysisView:
    analysis: AnalysisFacts
    title: str
    facts: dict[str, str]
    tiles: list[Tile]
    sections: dict[str, str]  # titles by anchor
    words: WordsView
    outputs: list[OutputRow]
    vtw: Table  # the same, for several outputs
    static_plot: Markup  # the scatter plot for browsers without JavaScript
    by_type: dict[str, Markup]  # figures
    during_training: dict[str, Markup]


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
    by_type = {name: svg for name, svg in shown.items() if name != "scatter" and name not in during}
    words = words_view(facts)
    view = AnalysisView(
        facts,
        f"Polarity and attention of {words.unit}s: {one_line(facts.run or facts.data)}",
        {name: value for name, value in header_facts(facts).items() if name != "run"},
        tiles(facts, words.unit),
        sections(facts, words.unit, bool(by_type), bool(during)),
        words,
        output_rows(facts),
        vtw_table(facts),
        shown.get("scatter", Markup()),
        by_type,
        during,
    )
    return render("analysis.html", view, (FOLDING, SORTING, FINDING, *SCRIPTS), payload(facts))


def tiles(facts: AnalysisFacts, unit: str) -> list[Tile]:
    """Whether attention separates words, and how many there are."""
    neutral = [kind.count for kind in facts.types[-1:]]
    tied = sum(kind.count for kind in facts.types) - sum(neutral)
    shown = [
        Tile(f"{unit}s of a class", f"{tied:,}", f"that occur mostly in texts of one of {len(facts.classes)} classes")
    ]
    shown += [Tile(f"neutral {unit}s", f"{count:,}", "that are equally frequent in all classes") for count in neutral]
    return [separation_tile(facts.separation, unit), *shown] if facts.separation else shown


def sections(facts: AnalysisFacts, unit: str, has_types: bool, has_training: bool) -> dict[str, str]:
    present = {
        "scores": ("Scatter plot", True),
        "summary": ("In numbers", True),
        "strongest": (f"Strongest {unit}s", True),
        "by-type": ("By type", has_types),
        "during-training": ("During training", has_training),
        "notes": ("Notes", bool(facts.notes)),
    }
    return {anchor: title for anchor, (title, is_shown) in present.items() if is_shown}


def vtw_table(facts: AnalysisFacts) -> Table:
    """A row per class, every column with the same decimals."""
    vtw, head = facts.vtw, ("class", "VᵀW·λ", "VᵀW", "cosine", "‖W‖")
    if vtw is None or len(vtw.values) != len(facts.classes):
        return Table("", head, [])
    columns = (*(column(values, "+") for values in (vtw.products, vtw.values, vtw.cosines)), column(vtw.norms_w))
    rows = zip(map(one_line, facts.classes), *columns, strict=True)
    return Table(f"One row per class; ‖V‖ is {vtw.norm_v:.3g}", head, list(rows))


class Kind(TypedDict):
    """A type of tokens and its mark, for the script."""

    name: str
    light: str
    dark: str
    rings: tuple[tuple[tuple[float, float], ...], ...]


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
    return {"name": one_line(name), "light": mark.colour, "dark": mark.dark, "rings": mark.rings}


def axis(low: float, high: float, title: str) -> AxisJson:
    return {"low": low, "high": high, "title": title, "ticks": [(tick, number(tick)) for tick in ticks(low, high, 9)]}


def digits(value: float | None) -> float | None:
    """Rounded to the precision of a screen."""
    return None if value is None else short(value, 5)
