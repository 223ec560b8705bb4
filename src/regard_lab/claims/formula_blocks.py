"""The generated parts of docs/norms.md, and the page of all paths of p: what the rows of apln/norm_form say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TypedDict

from regard.markdown_text import escape
from regard_lab.claims.formula import (
    CORPORA,
    ENCODERS,
    EXTRA_CORPORA,
    FORMS,
    MEASURE,
    Judged,
    first_family,
    judge_all,
    values_of,
)
from regard_lab.claims.verdicts import Given
from regard_lab.rows import Row
from regard_lab.statistics import Interval, mean_interval

FORM_TITLES = {
    "printed": "as printed",
    "no-root": "without the root",
    "no-normaliser": "without the normaliser",
    "neither": "with neither",
    "divided": "divided by N",
}
ENCODER_TITLES = {"lstm": "LSTM", "cnn": "CNN", "han": "HAN, words"}
OTHERS = {
    "lstm-replica": "LSTM, replica of a usual implementation",
    "lstm-smoothed": "LSTM, label smoothing",
    "lstm-capped": "LSTM, capped logits",
    "cnn-fast": "CNN, learning rate 0.01",
}
MOMENTS = (77, 154, 308, 616)  # updates at which the page of paths shows p; the last is the one compared


def blocks(given: Given, slopes: Mapping[str, Sequence[float]], regression: str) -> dict[str, str]:
    """`regression`: the sentence on rating regression, which belongs to the answer."""
    judged = judge_all(given)
    return {
        "formula-mechanism": mechanism(given, slopes),
        "formula-answer": answer(given, regression),
        "formula-table": "\n".join(form_table(given)),
        "formula-others": "\n".join(other_table(given)),
        "formula-hypotheses": "\n".join(hypothesis_table(judged)),
    }


def p_words(interval: Interval | None) -> str:
    """p with its interval: that of log p, exponentiated."""
    if interval is None:
        return ""
    if interval.half is None:
        return f"{math.exp(interval.mean):.2f}"
    return f"{math.exp(interval.mean):.2f} ({math.exp(interval.low):.2f}–{math.exp(interval.high):.2f})"


def cell_interval(given: Given, method: str, corpus: str) -> Interval | None:
    return mean_interval(list(values_of(given, method, corpus, MEASURE).values()))


def form_table(given: Given) -> Iterator[str]:
    """p by form, encoder and corpus; bold where H1 to H3's family confirms that it is not 1."""
    table, family = given.table, first_family(given)
    yield "| equation 5 | encoder | " + " | ".join(table.corpora[corpus].title for corpus in CORPORA) + " |"
    yield "|---|---|" + "---:|" * len(CORPORA)
    for form in FORMS:
        for encoder in ENCODERS:
            cells = []
            for corpus in CORPORA:
                method = f"{encoder}-{form}"
                words = p_words(cell_interval(given, method, corpus))
                confirmed = (method, corpus) in family and family[method, corpus].side
                cells.append(f"**{words}**" if confirmed else words)
            yield f"| {FORM_TITLES[form]} | {ENCODER_TITLES[encoder]} | " + " | ".join(cells) + " |"


def other_table(given: Given) -> Iterator[str]:
    yield "| as printed, and | " + " | ".join(given.table.corpora[corpus].title for corpus in EXTRA_CORPORA) + " |"
    yield "|---|" + "---:|" * len(EXTRA_CORPORA)
    for method, title in {"lstm-printed": "LSTM, nothing else", **OTHERS}.items():
        cells = [p_words(cell_interval(given, method, corpus)) for corpus in EXTRA_CORPORA]
        yield f"| {title} | " + " | ".join(cells) + " |"
    stars = cell_interval(given, "lstm-printed", "stars")
    if stars is not None:
        yield ""
        yield (
            f"Rating regression, the one cell of these runs (LSTM, {given.table.corpora['stars'].title}): {p_words(stars)}. "
            "[More cells](#rating-regression) are below."
        )


def hypothesis_table(judged: Sequence[Judged]) -> Iterator[str]:
    yield "| | hypothesis | verdict | numbers |"
    yield "|---|---|---|---|"
    for one in judged:
        yield f"| {one.name} | {escape(one.hypothesis)} | **{one.verdict}** | {escape(one.why)} |"


def section(given: Given) -> str:
    """For the page of evidence."""
    head = (
        "## The formula question: our own hypotheses\n\n"
        "Registered in the [protocol](../experiments/PROTOCOL.md#5-the-formula-question) before the runs; "
        "[the answer](norms.md), and the rows: [apln/norm_form](../experiments/apln/norm_form.md).\n"
    )
    return "\n".join([head, *hypothesis_table(judge_all(given)), ""])


def answer(given: Given, regression: str) -> str:
    """A few sentences, from counts of cells whose whole interval is on one side of p = 1."""
    counts = {form: sides_of(given, form) for form in FORMS}
    printed = counts["printed"]
    without = [counts[form] for form in ("no-normaliser", "neither")]
    rooted = [sides_of(given, "no-root", encoders) for encoders in (("lstm", "han"), ("cnn",))]
    means = [mean for sides in without for mean in sides["means"]]
    low, high = (math.exp(pick(means)) for pick in (min, max))
    return (
        "**As far as it can be answered:** with equation 5 as printed, p does not fall in our runs of classification: after 616 "
        f"updates its 95 % interval lies above 1 in {printed['above']} of {printed['cells']} combinations of encoder and corpus, "
        f"and below 1 in {printed['below'] or 'none'}. {regression} ([table](#rating-regression)). In classification, without "
        f"the normaliser Σα^p, with the root or without it, p falls in {sum(sides['below'] for sides in without)} of "
        f"{sum(sides['cells'] for sides in without)}, to {low:.2f}–{high:.2f}; "
        f"without the root alone, in {rooted[0]['below']} of {rooted[0]['cells']} with recurrent encoders "
        f"but only in {rooted[1]['below']} of {rooted[1]['cells']} with a CNN. The paper's Figures 7 and 8 (p = 0.885 and 0.892) "
        "have recurrent encoders. So a falling p, as there, is what an implementation without the normaliser or without the root "
        "would give; the paper shows no p of its regression. Whether the paper's was one cannot be determined, because its code "
        "is not public."
    )


def mechanism(given: Given, slopes: Mapping[str, Sequence[float]]) -> str:
    """How often p ends on the side where the vector grew before training."""
    agree, total, exceptions = 0, 0, []
    for name, values in slopes.items():
        method, _, corpus = name.partition("/")
        interval = cell_interval(given, method, corpus)
        if interval is not None and interval.half is not None:
            total += 1
            same = interval.mean * fmean(values) > 0
            agree += same
            if not same:
                title = f"{given.table.methods[method].title} on {given.table.corpora[corpus].title}"
                exceptions.append(f"{title} ({fmean(values):+.2f} and {interval.mean:+.3f})".replace("-0", "−0"))
    rest = f" The exceptions: {'; '.join(exceptions)}." if exceptions else ""
    return (
        f"In {agree} of {total} combinations, p ends on the side of 1 where the vector grew before the first update "
        f"(`experiments/apln/norm_mechanism.py`).{rest}"
    )


class Sides(TypedDict):
    """Combinations of encoder and corpus by the side of p = 1 on which the whole interval lies."""

    cells: int
    above: int
    below: int
    means: list[float]  # of log p


def sides_of(given: Given, form: str, encoders: Sequence[str] = ENCODERS) -> Sides:
    intervals = [cell_interval(given, f"{encoder}-{form}", corpus) for encoder in encoders for corpus in CORPORA]
    known = [interval for interval in intervals if interval is not None and interval.half is not None]
    return {
        "cells": len(known),
        "above": sum(interval.low > 0 for interval in known),
        "below": sum(interval.high < 0 for interval in known),
        "means": [interval.mean for interval in known],
    }


def path_page(given: Given) -> str:
    """Every path of p as numbers: p after some updates and at the end, with intervals over seeds."""
    lines = [
        "# Paths of p under other forms of equation 5",
        "",
        "p after a number of updates and after all eight epochs, with 95 % intervals over seeds (of log p, exponentiated). "
        "Written by `make evidence` from the rows of [norm_form](norm_form.md); [what it means](../../docs/norms.md).",
        "",
        "| method | corpus | seeds | " + " | ".join(f"{moment} updates" for moment in MOMENTS) + " | at the end |",
        "|---|---|---:|" + "---:|" * (len(MOMENTS) + 1),
    ]
    for (method, corpus, _), rows in given.rows.items():
        paths = [path for row in rows if (path := path_of(row))]
        if paths:
            titles = (given.table.methods[method].title, given.table.corpora[corpus].title)
            values = [p_words(mean_interval([at(path, moment) for path in paths])) for moment in MOMENTS]
            end = p_words(mean_interval([path[max(path)] for path in paths]))
            lines.append(f"| {' | '.join(titles)} | {len(paths)} | {' | '.join(values)} | {end} |")
    return "\n".join([*lines, ""])


def path_of(row: Row, level: str = "words") -> dict[int, float]:
    """log p by update."""
    return dict(zip(row.get("cuts", ()), row.get("curves", {}).get(f"log_norm.{level}", ()), strict=False))


def at(path: Mapping[int, float], moment: int) -> float:
    """log p at the recorded update that is closest: long paths are thinned."""
    return path[min(path, key=lambda update: abs(update - moment))]
