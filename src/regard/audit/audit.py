"""The measures and a verdict for scores that any tool made, of any classifier: `audit(predict, texts, attributions)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from regard.audit.details import details
from regard.audit.found import Found
from regard.audit.measuring import CUTS, Lacking, agreements, faithfulness, plausibilities
from regard.audit.verdict import verdict
from regard.errors import InputError
from regard.explain.attributed import Attributed
from regard.faithfulness.curves import NEED_LABELS
from regard.faithfulness.judging import Judge
from regard.faithfulness.random_choice import RANDOM
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Scored
from regard.records import Span

Given = Scored | Attributed | tuple[Sequence[Span], Sequence[float]]
FORMAT = "regard audit 1"


def audit(
    predict: Judge,
    texts: Sequence[str],
    attributions: Mapping[str, Sequence[Given]],
    *,
    labels: Sequence[int] | None = None,
    evidence: Sequence[Sequence[Span]] | None = None,
    focus: str | None = None,
    cuts: Sequence[Cut] = CUTS,
    seed: int = 0,
) -> Found:
    """What audit.json holds, less what needs to look inside a model.

    `predict` gives the probability of every class, (texts, classes). Of each attribution there is one entry a text: spans of
    the words and a number for each. The verdict is on `focus`, the first one unless another is named; the others are what it
    is held against. `labels` are numbers of classes, `evidence` spans that people marked. What is found is a dict;
    `.page()` is an HTML document of it, `.save(folder)` writes both.
    """
    found = measured(predict, texts, attributions, labels, evidence, focus, cuts, seed)
    return Found({**found, "verdict": verdict(found)})


def measured(
    predict: Judge,
    texts: Sequence[str],
    attributions: Mapping[str, Sequence[Given]],
    labels: Sequence[int] | None = None,
    evidence: Sequence[Sequence[Span]] | None = None,
    focus: str | None = None,
    cuts: Sequence[Cut] = CUTS,
    seed: int = 0,
    rivals: Sequence[str] | None = None,
    lacking: Lacking | None = None,
) -> dict[str, Any]:
    """All but the verdict. `rivals` are those that may be the best one it is held against; all others unless said.

    `lacking` says by name where scores only stand in for missing ones: no number of that attribution is of these texts.
    """
    check_given(texts, attributions, labels, evidence, seed)
    known: Sequence[int | None] = [None] * len(texts) if labels is None else labels
    scored = {
        name: [made(name, place, *row) for place, row in enumerate(zip(texts, own, known, strict=True), 1)]
        for name, own in attributions.items()
        if name != RANDOM  # which is always there, drawn several times
    }
    if not scored:
        raise InputError(f"attributions: {RANDOM!r} alone; at least one other is accepted")
    focus = next(iter(scored)) if focus is None else focus
    if focus not in scored:
        raise InputError(f"focus = {focus!r}: accepted are {', '.join(map(repr, scored))}")
    rivals = [name for name in scored if name != focus] if rivals is None else rivals
    lacking = lacking or {}
    faithful, answers = faithfulness(predict, scored, focus, rivals, cuts, seed, lacking)
    plausible = None if evidence is None else plausibilities(scored, evidence, focus, seed, lacking)
    return {
        "format": FORMAT,
        "run": None,
        "data": None,
        "texts": len(texts),
        "different": len(set(texts)),
        "seed": seed,
        "classes": [str(number) for number in range(answers.shape[1])],
        "model": None,
        "focus": focus,
        "explainers": [{"name": name} for name in (*scored, RANDOM)],
        "faithfulness": faithful,
        "agreement": agreements(scored, seed, lacking),
        "plausibility": plausible,
        "diagnostics": {},
        "separation": None,
        "details": details(scored, answers, seed, lacking),
        "left_out": left_out(faithful, plausible),
        "notes": copies(texts),
    }


def check_given(
    texts: Sequence[str],
    attributions: Mapping[str, Sequence[Given]],
    labels: Sequence[int] | None,
    evidence: Sequence[Sequence[Span]] | None,
    seed: int,
) -> None:
    if isinstance(texts, str):
        raise InputError("texts: a single string is given; a list of texts is accepted")
    if not texts:
        raise InputError("texts: none was given; at least one is accepted")
    for place, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"texts: number {place} is no text but {type(text).__name__}; strings are accepted")
    if not isinstance(attributions, Mapping):
        raise InputError(
            f"attributions: a {type(attributions).__name__} is given; a dict of scores by name is accepted"
        )
    if not attributions:
        raise InputError("attributions: none was given; at least one, by its name, is accepted")
    for name, given in {**attributions, "labels": labels, "evidence": evidence}.items():
        if given is not None and len(given) != len(texts):
            raise InputError(f"{name}: {len(given)} entries for {len(texts)} texts; one a text is accepted")
    for label in () if labels is None else labels:
        if not isinstance(label, Integral):
            raise InputError(f"labels: {label!r} is given; numbers of classes, from 0, are accepted")
    if not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed = {seed!r}: a whole number from 0 is accepted")


def made(name: str, place: int, text: str, given: Given, label: int | None) -> Scored:
    if isinstance(given, Attributed):
        given = Scored(*given.scored())
    if isinstance(given, Scored):
        if given.text != text:
            raise InputError(
                f"{name}, text {place}: the scores are of another text than the one given; the same is accepted"
            )
        return given._replace(label=given.label if label is None else int(label))
    try:
        spans, scores = given
        return Scored(
            text, [(int(a), int(b)) for a, b in spans], np.asarray(scores, dtype=np.float64).reshape(-1), label
        )
    except (TypeError, ValueError):
        raise InputError(
            f"{name}, text {place}: {type(given).__name__} is given; a Scored, or (spans, scores), is accepted"
        ) from None


def left_out(faithful: Mapping[str, Any], plausible: dict[str, Any] | None) -> list[dict[str, str]]:
    there = {curve["measure"] for curve in faithful["curves"]}
    found = [{"what": name, "why": "not every text has a label"} for name in NEED_LABELS if name not in there]
    if plausible is None:
        found.append({"what": "plausibility", "why": "no word lies in evidence, the spans that people marked"})
    return found


def copies(texts: Sequence[str]) -> list[str]:
    again = len(texts) - len(set(texts))
    if not again:
        return []
    are = "is a copy of another, which intervals take for a text of its own"
    if again > 1:
        are = "are copies of others, which intervals take for texts of their own"
    return [f"{again} of {len(texts)} texts {are}"]
