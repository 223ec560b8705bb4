"""The measures and a verdict for scores from any tool, for any classifier: `audit(predict, texts, attributions)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.audit.erasure_checks import Attributions, Lacking, sign_facts
from regard.audit.measuring import CUTS, agreements, faithfulness, plausibilities
from regard.audit.verdict import verdict
from regard.errors import InputError
from regard.explain.word_scores import Attributed
from regard.facts.audit import (
    FORMAT,
    AuditedExplainer,
    AuditedText,
    AuditFacts,
    Diagnostics,
    LeftOut,
    Measurements,
    Plausibility,
)
from regard.facts.faithfulness import Faithfulness
from regard.faithfulness.curves import NEED_LABELS
from regard.faithfulness.judging import Judge
from regard.faithfulness.random_choice import RANDOM
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Scored
from regard.records import Span
from regard.report.text.numbers import short

TextScores = Scored | Attributed | tuple[Sequence[Span], Sequence[float]]
Doubles = NDArray[np.float64]
SHOWN = 100  # texts that the facts hold with all their scores


class AuditResult(dict[str, Any]):
    """What audit.json holds, as a plain dict that can also be shown and saved."""

    def page(self) -> str:
        """The whole HTML document: verdict, evidence, texts."""
        from regard.report.pages.audit import audit_page

        return audit_page(AuditFacts.from_json(self))

    def save(self, folder: str | Path, figures: str | Path | None = None) -> Path:
        """Write audit.json and the page, and if `figures` is given every figure as SVG, PDF and CSV and every table as
        LaTeX and CSV."""
        from regard.report.pages.audit import write_audit

        write_audit(AuditFacts.from_json(self), Path(folder), None if figures is None else Path(figures))
        return Path(folder)


@dataclass(frozen=True)
class AuditInput:
    """What is audited. A `focus` of None is the first attribution."""

    predict: Judge
    texts: Sequence[str]
    attributions: Mapping[str, Sequence[TextScores]]
    labels: Sequence[int] | None = None
    evidence: Sequence[Sequence[Span]] | None = None
    focus: str | None = None
    cuts: Sequence[Cut] = CUTS
    seed: int = 0
    rivals: Sequence[str] | None = None  # that may be the best one the focus is compared with; None: all others
    lacking: Lacking = field(default_factory=dict)
    # explainers whose sign is meant, which need not be among the attributions; None: those with a score below 0
    signed: Mapping[str, Sequence[TextScores]] | None = None
    default: str | None = None  # of these, the one that the model's explanations show where no method is named


def audit(
    predict: Judge,
    texts: Sequence[str],
    attributions: Mapping[str, Sequence[TextScores]],
    *,
    labels: Sequence[int] | None = None,
    evidence: Sequence[Sequence[Span]] | None = None,
    focus: str | None = None,
    cuts: Sequence[Cut] = CUTS,
    seed: int = 0,
) -> AuditResult:
    """Audit the scores of any tool, without access to the inside of the model.

    `predict` returns the probability of every class, (texts, classes). Each attribution has one entry per text: the spans
    of the words and a number for each. The verdict is about `focus`, by default the first one; it is
    compared with the others. `labels` are numbers of classes, `evidence` spans that people marked. The result is a dict, as
    audit.json holds it; `.page()` is an HTML document of it, `.save(folder)` writes both.
    """
    inputs = AuditInput(predict, texts, attributions, labels, evidence, focus, cuts, seed)
    return AuditResult(decided(measure(inputs)).to_json())


def decided(measurements: Measurements) -> AuditFacts:
    return AuditFacts(**vars(measurements), verdict=verdict(measurements))


def measure(inputs: AuditInput) -> Measurements:
    """Everything except the verdict and what needs access to the inside of a model."""
    check_input(inputs)
    texts, seed, lacking = inputs.texts, inputs.seed, inputs.lacking
    scored = scored_texts(inputs)
    focus = next(iter(scored)) if inputs.focus is None else inputs.focus
    if focus not in scored:
        raise InputError(f"focus: expected {' or '.join(map(repr, scored))}, got {focus!r}")
    rivals = [name for name in scored if name != focus] if inputs.rivals is None else inputs.rivals
    faithful, answers = faithfulness(inputs.predict, scored, focus, rivals, inputs.cuts, seed, lacking)
    faithful = replace(
        faithful, signs=sign_facts(inputs.predict, signed_texts(inputs, scored), lacking, inputs.default, seed)
    )
    plausible = None if inputs.evidence is None else plausibilities(scored, inputs.evidence, focus, seed, lacking)
    return Measurements(
        format=FORMAT,
        run=None,
        data=None,
        texts=len(texts),
        different=len(set(texts)),
        seed=seed,
        classes=tuple(str(number) for number in range(answers.shape[1])),
        model=None,
        focus=focus,
        explainers=tuple(AuditedExplainer(name) for name in (*scored, RANDOM)),
        faithfulness=faithful,
        agreement=agreements(scored, seed, lacking),
        plausibility=plausible,
        diagnostics=Diagnostics(),
        separation=None,
        details=details(scored, answers, seed, lacking),
        left_out=left_out(faithful, plausible),
        notes=duplicates(texts),
    )


def check_input(inputs: AuditInput) -> None:
    texts, attributions, labels, seed = inputs.texts, inputs.attributions, inputs.labels, inputs.seed
    if isinstance(texts, str):
        raise InputError("texts: expected a list of strings, got a single string")
    if not texts:
        raise InputError("texts: expected at least one, got none")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"texts, number {number}: expected str, got {type(text).__name__}")
    if not isinstance(attributions, Mapping):
        raise InputError(f"attributions: expected a dict of scores by name, got {type(attributions).__name__}")
    if not attributions:
        raise InputError("attributions: expected at least one, got none")
    for name, entries in {**attributions, "labels": labels, "evidence": inputs.evidence}.items():
        if entries is not None and len(entries) != len(texts):
            raise InputError(f"{name}: expected one entry for each of {len(texts)} texts, got {len(entries)}")
    for label in () if labels is None else labels:
        if not isinstance(label, Integral):
            raise InputError(f"labels: expected the numbers of classes, from 0, got {label!r}")
    if not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed: expected an integer of at least 0, got {seed!r}")


def scored_texts(inputs: AuditInput) -> Attributions:
    # random words are always included, drawn several times
    scored = as_scored({name: one for name, one in inputs.attributions.items() if name != RANDOM}, inputs)
    if not scored:
        raise InputError(f"attributions: expected at least one besides {RANDOM!r}, got none")
    return scored


def signed_texts(inputs: AuditInput, scored: Attributions) -> Attributions:
    if inputs.signed is not None:
        return as_scored(inputs.signed, inputs)
    return {name: texts for name, texts in scored.items() if any(np.min(one.scores, initial=0) < 0 for one in texts)}


def as_scored(attributions: Mapping[str, Sequence[TextScores]], inputs: AuditInput) -> Attributions:
    labels: Sequence[int | None] = [None] * len(inputs.texts) if inputs.labels is None else inputs.labels
    return {
        name: [
            scored_text(name, number, *row)
            for number, row in enumerate(zip(inputs.texts, entries, labels, strict=True), 1)
        ]
        for name, entries in attributions.items()
    }


def scored_text(name: str, number: int, text: str, entry: TextScores, label: int | None) -> Scored:
    if isinstance(entry, Attributed):
        entry = Scored(*entry.scored())
    if isinstance(entry, Scored):
        if entry.text != text:
            raise InputError(f"{name}, text {number}: expected scores of this text, got scores of another one")
        return entry._replace(label=entry.label if label is None else int(label))
    try:
        spans, scores = entry
        return Scored(
            text, [(int(a), int(b)) for a, b in spans], np.asarray(scores, dtype=np.float64).reshape(-1), label
        )
    except (TypeError, ValueError):
        kind = type(entry).__name__
        raise InputError(f"{name}, text {number}: expected a Scored or (spans, scores), got {kind}") from None


def details(attributions: Attributions, answers: Doubles, seed: int, lacking: Lacking) -> tuple[AuditedText, ...]:
    """The texts that a page shows one at a time; a random sample if there are more than SHOWN."""
    first = next(iter(attributions.values()))
    rows = np.arange(len(first))
    if len(first) > SHOWN:
        rows = np.sort(np.random.default_rng((seed, 1)).choice(len(first), SHOWN, replace=False))
    return tuple(
        AuditedText(
            place=row,
            text=first[row].text,
            label=first[row].label,
            decided=int(answers[row].argmax()),
            probabilities=tuple(short(value, 4) for value in answers[row]),
            spans=tuple((int(a), int(b)) for a, b in first[row].spans),
            scores={
                name: tuple(short(value, 4) for value in scored[row].scores)
                for name, scored in attributions.items()
                if name not in lacking or not lacking[name][row]
            },
        )
        for row in rows.tolist()
    )


def left_out(faithful: Faithfulness, plausible: Plausibility | None) -> tuple[LeftOut, ...]:
    measured = {curve.measure for curve in faithful.curves}
    missing = [LeftOut(name, "not every text has a label") for name in NEED_LABELS if name not in measured]
    if plausible is None:
        missing.append(LeftOut("plausibility", "no text has words that people marked"))
    return tuple(missing)


def duplicates(texts: Sequence[str]) -> tuple[str, ...]:
    count = len(texts) - len(set(texts))
    if not count:
        return ()
    are = "is a duplicate, which intervals count as a separate text"
    if count > 1:
        are = "are duplicates, which intervals count as separate texts"
    return (f"{count} of {len(texts)} texts {are}",)
