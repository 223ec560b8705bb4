"""Answers to requests about texts: predictions, and the words that they are based on."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from contextlib import nullcontext
from typing import cast

import numpy as np

from regard.data.erasing import delete
from regard.data.words import spans as words_of
from regard.errors import InputError
from regard.explain.attribute import attribute
from regard.explain.explainers import EXPLAINERS, can_explain, is_fast
from regard.explain.word_scores import Attributed
from regard.faithfulness.agreement import kendall, share_distances
from regard.models.tasks import Named
from regard.novelty import novelty, with_novelties
from regard.records import Explanation, Prediction, SentenceScore, Span, TokenScore
from regard.serve import request_fields
from regard.serve.answers import (
    Agreement,
    CompareAnswer,
    ComparedRow,
    ExplainAnswer,
    ExplainedRow,
    PredictAnswer,
    UnitRow,
    WordRow,
)
from regard.serve.methods import max_words, work
from regard.serve.request_errors import ClientGone
from regard.serve.request_types import (
    MAX_EXPLAINED,
    MAX_PREDICTED,
    AboutText,
    CompareRequest,
    ExplainRequest,
    PredictRequest,
)
from regard.serve.served_run import IsGone, ServedRun
from regard.serve.signed_words import signed_words, strongest_rows

AHEAD = 50  # words to search for one that is not the next


def answer_predict(fields: PredictRequest, runs: Sequence[ServedRun], is_gone: IsGone) -> PredictAnswer:
    run = request_fields.selected_run(fields.run, runs)
    texts = request_fields.texts(fields, MAX_PREDICTED)
    check_work(run, "attention", texts)
    return {"run": run.name, "results": [one.as_dict() for one in predictions(run, texts, is_gone)]}


def answer_explain(fields: ExplainRequest, runs: Sequence[ServedRun], is_gone: IsGone) -> ExplainAnswer:
    run = request_fields.selected_run(fields.run, runs)
    method = selected_method(fields, [run])
    texts = request_fields.texts(fields, MAX_EXPLAINED)
    if fields.without is not None and fields.text is None:
        raise InputError("without: expected text with it, since it numbers the words of one text, got texts")
    results = [explained(run, text, method, fields, is_gone) for text in check_work(run, method, texts)]
    return {"run": run.name, "method": method, "signed": EXPLAINERS[method].signed, "results": results}


def answer_compare(fields: CompareRequest, runs: Sequence[ServedRun], is_gone: IsGone) -> CompareAnswer:
    pair = request_fields.two_runs(fields, runs)
    method = selected_method(fields, pair)
    text = request_fields.checked_text(fields.text, "text")
    for run in pair:
        check_work(run, method, [text])
    rows = [explained(run, text, method, fields, is_gone) for run in pair]
    results = [cast(ComparedRow, {"run": run.name, **row}) for run, row in zip(pair, rows, strict=True)]
    return {
        "method": method,
        "signed": EXPLAINERS[method].signed,
        "agreement": agreement(*results),
        "results": results,
    }


def selected_method(fields: AboutText, runs: Sequence[ServedRun]) -> str:
    defaults = [run.default_method for run in runs]
    sharpened = [name for name in defaults if EXPLAINERS[name].needs_norm]  # without a norm it equals attention
    shared = [name for name in (*sharpened, *defaults) if all(can_explain(run.trained, name) for run in runs)]
    method = shared[0] if fields.method is None else fields.method
    if method not in EXPLAINERS:
        raise InputError(f"method: expected one of {', '.join(EXPLAINERS)}, got {method[:40]!r}")
    return method


def check_work(run: ServedRun, method: str, texts: list[str]) -> list[str]:
    """The texts, or an InputError if they would take too long."""
    if is_fast(run.trained, method):
        return texts
    counts = [len(words_of(text)) for text in texts]
    if sum(work(method, count) for count in counts) > run.budget:
        limit = max_words(method, run.budget)
        raise InputError(f"{method}: expected at most {limit:,} words, got {sum(counts):,}; more would take too long")
    return texts


def check_waiting(is_gone: IsGone) -> None:
    """Called before each piece of work, so that an answer that nobody waits for is not completed."""
    if is_gone():
        raise ClientGone


def predictions(run: ServedRun, texts: Sequence[str], is_gone: IsGone) -> list[Prediction]:
    trained = run.trained
    check_waiting(is_gone)
    with nullcontext() if trained.is_flat else run.exclusive(is_gone):
        answers = trained.answers(texts)
    return with_novelties(trained, texts, answers)


def explained(run: ServedRun, text: str, method: str, fields: AboutText, is_gone: IsGone) -> ExplainedRow:
    """All words of the text with their scores; words that are crossed out, or beyond what the model reads, have none."""
    spans = words_of(text)
    crossed = request_fields.crossed_words(fields, len(spans))
    rest = delete(text, spans, crossed)
    target = selected_target(run, fields.target)
    one, explanation = attributed(run, rest, method, target, is_gone)
    indices: list[int | None] = [*range(len(one.spans))]
    sentences, parts = list(one.sentences), list(one.parts)
    if crossed:
        indices = original_indices(text, spans, rest, one.spans, set(crossed))
        outline = run.trained.tokenizer.outline(text)
        sentences = original_units(sentences, one.spans, indices, spans, outline.sentences or [(0, len(text))])
        parts = original_units(parts, one.spans, indices, spans, outline.parts or [(0, len(text))])
    scored = zip(one.scores.tolist(), explanation.tokens, strict=True)
    by_index = {index: pair for index, pair in zip(indices, scored, strict=True) if index is not None}
    row = cast(ExplainedRow, one.prediction.as_dict())  # completed below
    probabilities = np.array([[*one.prediction.probabilities.values()]])
    row["novelty"] = float(novelty(run.trained, [rest], probabilities)[0])
    if crossed:
        row["before"] = predictions(run, [text], is_gone)[0].as_dict()
    task = run.trained.task
    row["target"] = task.classes[one.target] if isinstance(task, Named) and one.target is not None else None
    row["tokens"] = [word_row(text, span, by_index.get(index)) for index, span in enumerate(spans)]
    row["without"] = crossed
    row["unread"] = max(0, len(spans) - len(crossed) - len(one.spans))
    row["sentences"], row["parts"], row["cost"] = unit_scores(sentences), unit_scores(parts), dict(one.cost)
    row["contribution_method"], row["strong"] = explanation.contribution_method, explanation.strong
    row["strongest"], row["note"] = strongest_rows(explanation), explanation.note
    row["facts"] = {k: finite(v) if isinstance(v, float) else v for k, v in one.facts.items() if is_plain(v)}
    return row


def word_row(text: str, span: Span, scored: tuple[float, TokenScore] | None) -> WordRow:
    """`scored`: its score and its record; None if the model does not read it."""
    start, end = span
    score, token = scored if scored is not None else (math.nan, None)
    contribution = None if token is None or token.contribution is None else finite(token.contribution)
    return {
        "text": text[start:end],
        "start": start,
        "end": end,
        "score": finite(score),
        "known": token is None or token.known,
        "contribution": contribution,
        "weight": None if token is None else finite(token.weight),
        "read_as": None if token is None else token.read_as,
    }


def selected_target(run: ServedRun, target: str | None) -> str | None:
    task = run.trained.task
    if target is None:
        return None
    if not isinstance(task, Named):
        raise InputError(f"target: expected none, since {run.name} predicts a number, got {target[:40]!r}")
    if target not in task.classes:
        classes = ", ".join(task.classes[:20]) + (", …" if len(task.classes) > 20 else "")
        raise InputError(f"target: expected a class of {run.name} ({classes}), got {target[:40]!r}")
    return target


def attributed(
    run: ServedRun, text: str, method: str, target: str | None, is_gone: IsGone
) -> tuple[Attributed, Explanation]:
    """The scores of the method, and the words with their weights and contributions."""
    check_waiting(is_gone)
    # reading tables is thread-safe: any number of requests at a time
    with nullcontext() if is_fast(run.trained, method) else run.exclusive(is_gone):
        one = attribute(run.trained, [text], method, target)[0]
        return one, signed_words(run, one, target)


def agreement(one: ExplainedRow, other: ExplainedRow) -> Agreement:
    """How far two models' scores agree, over the words that both read."""
    pairs = [(a["score"], b["score"]) for a, b in zip(one["tokens"], other["tokens"], strict=True)]
    both = [pair for pair in pairs if None not in pair]
    first, second = ([np.array([pair[side] for pair in both], dtype=np.float64)] for side in (0, 1))
    divergence, _ = share_distances(first, second)
    return {"tau": finite(kendall(first, second)[0]), "divergence": finite(divergence[0])}


def unit_scores(units: Sequence[SentenceScore]) -> list[UnitRow]:
    return [{"start": unit.start, "end": unit.end, "score": finite(unit.weight)} for unit in units]


def finite(value: float) -> float | None:
    """None for NaN and infinity, which JSON does not have."""
    return float(value) if math.isfinite(value) else None


def is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def original_indices(
    text: str, spans: Sequence[Span], rest: str, rest_spans: Sequence[Span], crossed: set[int]
) -> list[int | None]:
    """For each word of the rest, the index of the same word in the whole text.

    Crossed-out words are cut out of the text, and the rest is tokenized again. None if a word is new: the neighbours of a cut
    can form one, for example if the second half of an emoji is crossed out.
    """
    kept = [index for index in range(len(spans)) if index not in crossed]
    indices: list[int | None] = []
    start_at = 0
    for start, end in rest_spans:
        word = rest[start:end]
        near = range(start_at, min(start_at + AHEAD, len(kept)))
        match = next((k for k in near if text[slice(*spans[kept[k]])] == word), None)
        indices.append(None if match is None else kept[match])
        start_at = start_at if match is None else match + 1
    return indices


def original_units(
    units: Sequence[SentenceScore],
    rest_spans: Sequence[Span],
    indices: Sequence[int | None],
    spans: Sequence[Span],
    whole: Sequence[Span],
) -> list[SentenceScore]:
    """Sentences (or parts) of the rest, with their offsets in the whole text.

    Each includes the crossed-out words at its edges, up to the boundaries of a sentence of the whole text, `whole`.
    """
    starts, firsts, lasts = [a for a, _ in rest_spans], [a for a, _ in whole], [b for _, b in whole]
    moved: list[SentenceScore] = []
    for unit in units:
        words = indices[bisect_left(starts, unit.start) : bisect_left(starts, unit.end)]
        kept = [index for index in words if index is not None]
        if not kept:
            continue
        first, last = spans[kept[0]][0], spans[kept[-1]][1]
        start, end = firsts[bisect_right(firsts, first) - 1], lasts[bisect_left(lasts, last)]
        if moved and moved[-1].end > start:  # a cut split one sentence into two
            start = first
            moved[-1] = SentenceScore(moved[-1].start, min(moved[-1].end, first), moved[-1].weight)
        moved.append(SentenceScore(start, end, unit.weight))
    return moved
