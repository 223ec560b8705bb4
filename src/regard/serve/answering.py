"""Answers to requests about texts: predictions, and the words that they come from."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.data.words import spans as words_of
from regard.errors import InputError
from regard.explain.attribute import attribute, is_fast
from regard.explain.explainers import EXPLAINERS
from regard.explain.word_scores import Attributed
from regard.faithfulness.agreement import kendall, share_distances
from regard.faithfulness.erasing import delete
from regard.models.tasks import Classes
from regard.records import Prediction, SentenceScore, Span
from regard.serve import asked
from regard.serve.asked import Fields
from regard.serve.methods import most_words, work
from regard.serve.served import Away, Served

AHEAD = 50  # words to search for one that is not the next
MOST_PREDICTED, MOST_EXPLAINED = 1000, 100  # texts of a request
PREDICT = ("text", "texts", "run")
EXPLAIN = ("text", "texts", "method", "target", "without", "run")
COMPARE = ("text", "method", "target", "without", "runs")


def answer_predict(given: Fields, served: Sequence[Served], away: Away) -> dict[str, Any]:
    run = asked.run(given, served)
    texts = asked.texts(given, MOST_PREDICTED)
    check_work(run, "attention", texts)
    return {"run": run.name, "results": [one.as_dict() for one in predictions(run, texts, away)]}


def answer_explain(given: Fields, served: Sequence[Served], away: Away) -> dict[str, Any]:
    run = asked.run(given, served)
    method = method_of(given, [run])
    texts = asked.texts(given, MOST_EXPLAINED)
    if given.get("without") is not None and given.get("text") is None:
        raise InputError("without: it says which words of one text are crossed out; text is accepted beside it")
    results = [explained(run, text, method, given, away) for text in check_work(run, method, texts)]
    return {"run": run.name, "method": method, "signed": EXPLAINERS[method].signed, "results": results}


def answer_compare(given: Fields, served: Sequence[Served], away: Away) -> dict[str, Any]:
    runs = asked.both(given, served)
    method = method_of(given, runs)
    text = asked.text(given.get("text"), "text")
    for run in runs:
        check_work(run, method, [text])
    results = [{"run": run.name, **explained(run, text, method, given, away)} for run in runs]
    beside = {"agreement": agreement(*results), "results": results}
    return {"method": method, "signed": EXPLAINERS[method].signed, **beside}


def method_of(given: Fields, runs: Sequence[Served]) -> str:
    defaults = [one.default_method for one in runs]
    sharpened = [name for name in defaults if EXPLAINERS[name].needs_norm]  # of plain attention, it is the same
    method = asked.string(given, "method", (sharpened or defaults)[0])
    if method not in EXPLAINERS:
        raise InputError(f"method: there is no {str(method)[:40]!r}; accepted are {', '.join(EXPLAINERS)}")
    return method


def check_work(run: Served, method: str, texts: list[str]) -> list[str]:
    """Refuse what would take too long: somebody is waiting."""
    if is_fast(run.trained, method):
        return texts
    counts = [len(words_of(text)) for text in texts]
    if sum(work(method, count) for count in counts) > run.budget:
        most = most_words(method, run.budget)
        raise InputError(
            f"{method}: {sum(counts):,} words would keep you waiting too long; up to {most:,} are accepted here"
        )
    return texts


def predictions(run: Served, texts: Sequence[str], away: Away) -> list[Prediction]:
    trained = run.trained
    if trained.is_flat:
        return trained.task.predictions(trained.answers(texts))
    with run.turn(away):
        return trained.task.predictions(trained.answers(texts))


def explained(run: Served, text: str, method: str, given: Fields, away: Away) -> dict[str, Any]:
    """All words of the text with their scores; words that are crossed out, or that the model does not read, have none."""
    spans = words_of(text)
    crossed = asked.places(given, len(spans))
    left = delete(text, spans, crossed)
    target = target_of(run, given)
    one = attributed(run, left, method, target, away)
    places: list[int | None] = [*range(len(one.spans))]
    sentences, parts = list(one.sentences), list(one.parts)
    if crossed:
        places = places_of(text, spans, left, one.spans, set(crossed))
        outline = run.trained.tokenizer.outline(text)
        sentences = units_of(sentences, one.spans, places, spans, outline.sentences or [(0, len(text))])
        parts = units_of(parts, one.spans, places, spans, outline.parts or [(0, len(text))])
    scores: list[float | None] = [None] * len(spans)
    known = [True] * len(spans)
    for place, score, is_known in zip(places, one.scores.tolist(), one.known, strict=True):
        if place is not None:
            scores[place], known[place] = finite(score), is_known
    rows = zip(spans, scores, known, strict=True)
    row: dict[str, Any] = one.prediction.as_dict()
    if crossed:
        row["before"] = predictions(run, [text], away)[0].as_dict()
    task = run.trained.task
    row["target"] = task.classes[one.target] if isinstance(task, Classes) and one.target is not None else None
    row["tokens"] = [{"text": text[a:b], "start": a, "end": b, "score": s, "known": k} for (a, b), s, k in rows]
    row["without"] = crossed
    row["unread"] = max(0, len(spans) - len(crossed) - len(one.spans))
    row |= {"sentences": unit_scores(sentences), "parts": unit_scores(parts), "cost": dict(one.cost)}
    row["facts"] = {k: finite(v) if isinstance(v, float) else v for k, v in one.facts.items() if is_plain(v)}
    return row


def target_of(run: Served, given: Fields) -> str | None:
    target = asked.string(given, "target")
    task = run.trained.task
    if target is None:
        return None
    if not isinstance(task, Classes):
        raise InputError(f"target: {target[:40]!r} is given, but {run.name} answers with a number; none is accepted")
    if target not in task.classes:
        known = ", ".join(task.classes[:20]) + (", …" if len(task.classes) > 20 else "")
        raise InputError(f"target: {run.name} has no class {target[:40]!r}; accepted are {known}")
    return target


def attributed(run: Served, text: str, method: str, target: str | None, away: Away) -> Attributed:
    if is_fast(run.trained, method):  # for any number of requests at a time
        return attribute(run.trained, [text], method, target)[0]
    with run.turn(away):
        return attribute(run.trained, [text], method, target)[0]


def agreement(one: dict[str, Any], other: dict[str, Any]) -> dict[str, float | None]:
    """How far two models' scores agree, over the words that both read."""
    pairs = [(a["score"], b["score"]) for a, b in zip(one["tokens"], other["tokens"], strict=True)]
    both = [pair for pair in pairs if None not in pair]
    mine, its = ([np.array([pair[side] for pair in both], dtype=np.float64)] for side in (0, 1))
    divergence, _ = share_distances(mine, its)
    return {"tau": finite(kendall(mine, its)[0]), "divergence": finite(divergence[0])}


def unit_scores(units: Sequence[SentenceScore]) -> list[dict[str, Any]]:
    return [{"start": unit.start, "end": unit.end, "score": finite(unit.weight)} for unit in units]


def finite(value: float) -> float | None:
    """JSON has no NaN."""
    return float(value) if math.isfinite(value) else None


def is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def places_of(
    text: str, spans: Sequence[Span], left: str, found: Sequence[Span], crossed: set[int]
) -> list[int | None]:
    """For each word of what is left when words are crossed out, which word of the whole text it is.

    Crossed-out words are cut out of the text itself, and what is left is read anew. None if it is none of the words: the
    neighbours of a cut can form a new word, as when the second half of an emoji goes.
    """
    rest = [place for place in range(len(spans)) if place not in crossed]
    told: list[int | None] = []
    at = 0
    for start, end in found:
        word = left[start:end]
        near = range(at, min(at + AHEAD, len(rest)))
        reached = next((k for k in near if text[slice(*spans[rest[k]])] == word), None)
        told.append(None if reached is None else rest[reached])
        at = at if reached is None else reached + 1
    return told


def units_of(
    units: Sequence[SentenceScore],
    found: Sequence[Span],
    places: Sequence[int | None],
    spans: Sequence[Span],
    whole: Sequence[Span],
) -> list[SentenceScore]:
    """Sentences (or parts) of what is left at their places in the whole text.

    Each takes the crossed words at its edges with it, as far as a sentence of the whole text, `whole`, reaches.
    """
    starts, firsts, lasts = [a for a, _ in found], [a for a, _ in whole], [b for _, b in whole]
    told: list[SentenceScore] = []
    for unit in units:
        own = places[bisect_left(starts, unit.start) : bisect_left(starts, unit.end)]
        kept = [place for place in own if place is not None]
        if not kept:
            continue
        first, last = spans[kept[0]][0], spans[kept[-1]][1]
        start, end = firsts[bisect_right(firsts, first) - 1], lasts[bisect_left(lasts, last)]
        if told and told[-1].end > start:  # a cut made two of one
            start = first
            told[-1] = SentenceScore(told[-1].start, min(told[-1].end, first), told[-1].weight)
        told.append(SentenceScore(start, end, unit.weight))
    return told
