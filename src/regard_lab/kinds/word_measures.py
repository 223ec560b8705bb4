"""How much a model's most heavily weighted words matter: to a judge without them, and compared with words that people marked.

MARKS has one line per format of annotation. All of them count tokens, which are the text split at single spaces. As in VAT
(§5.3), marks of the text's class are evidence.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.data.rationales import token_spans
from regard.data.words import edges
from regard.errors import InputError
from regard.faithfulness.marking import of_polarity
from regard.records import Example, Span
from regard.report.text.numbers import short
from regard_lab.kinds.train import judge_of
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Judges

if TYPE_CHECKING:
    from regard.faithfulness.curves import Curve
    from regard.faithfulness.judged import Judged
    from regard.faithfulness.scored import Scored
    from regard.models.trained import Trained
    from regard_lab.tables.corpora import Prepared

Fields = Mapping[str, Any]
CUTS = (1, 2, 3, 5, 7, 10, 15, 20)  # values of K for curves
SHOWN = (1, 5, 10, 20)  # values of K that tables may show
CLASSES = ("positive", "negative")  # the second class and the first
DRAWS = 2  # random words per text and K: few suffice, because means are over thousands of texts
NAMES = {"accuracy_fall": "aopc", "post_hoc": "post_hoc", "comprehensiveness": "comprehensiveness"}
LONGER = ("aopc", "post_hoc")  # measures that are also taken over texts with more than K words
RATES = {"precision": "P", "recall": "R", "f": "F"}


class MarkFormat(NamedTuple):
    """The field of a row with its marks, and a function that returns those that are evidence for a class: spans of tokens."""

    field: str
    expected: str
    evidence: Callable[[Any, str], list[Span]]


def leaves(marks: Any, label: str) -> list[Span]:
    """Leaves of a treebank, for the classes 0 and 1."""
    side = 1 if label == "1" else -1
    return [(index, index + 1) for index, polarity in enumerate(marks) if side * (polarity - 2) > 0]


def rationales(marks: Any, label: str) -> list[Span]:
    """Rationales, which are always evidence for the text's class."""
    return [(start, end) for start, end in marks]


MARKS = {
    "phrases": MarkFormat("spans", "a list of [start, end, class]", of_polarity),  # SemEval 2013, task 2A
    "leaves": MarkFormat("token_labels", "a list of 0 to 4 (2 is neutral)", leaves),  # the Stanford treebank
    "rationales": MarkFormat("rationales", "a list of [start, end]", rationales),  # ERASER
}


def marks_of(path: Path, examples: Sequence[Example], form: str) -> list[list[Span]]:
    """The marked characters of each example that was read from a file of JSON lines."""
    field, expected, evidence = MARKS[form]
    wanted = {example.row for example in examples}
    rows = {row: fields for row, fields in enumerate(json_lines(path), 1) if row in wanted}
    marked = []
    for example in examples:
        fields = rows.get(example.row, {})
        if fields.get("text") != example.text:
            raise InputError(
                f"{path}, row {example.row}: expected the text that was read from this row; marks need the original file"
            )
        try:
            spans = evidence(fields[field], str(example.label))
        except (KeyError, TypeError, ValueError):
            raise InputError(
                f"{path}, row {example.row}: marks = {form!r}: expected {expected} in the field {field!r}"
            ) from None
        marked.append(characters(example.text, spans))
    return marked


def characters(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans of tokens as spans of characters."""
    tokens = token_spans(text)
    return edges(((start, end) for start, end in spans if start < end <= len(tokens)), tokens)


def json_lines(path: Path) -> Iterator[Fields]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


class MeasurePlan(NamedTuple):
    """The options of a cell, and the texts that it measures, in random order."""

    options: Options
    prepared: Prepared
    examples: list[Example]
    marks: list[list[tuple[int, int]]] | None

    @property
    def cuts(self) -> list[int]:
        return [k for k in CUTS if k <= self.options.get("most", 10)]


class Measurements:
    """Results for a model: numbers for the table, intervals over texts, and data for figures."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.intervals: dict[str, list[float]] = {}
        self.drawn: Row = {}

    def add(self, name: str, curve: Curve, index: int) -> None:
        interval = curve.intervals()[index]
        self.values[name] = interval.mean
        self.intervals[name] = [interval.low, interval.high]


def scored_texts(trained: Trained, plan: MeasurePlan) -> list[Scored]:
    """The words of each text that the model reads, and their weights. Texts are cut after the last word that is read:
    otherwise, once words are erased, the model would read further words instead."""
    from regard.explain.attribute import weights_only
    from regard.faithfulness.scored import from_explanation
    from regard.models.tasks import labels_as_shown

    examples = plan.examples if plan.marks is not None else plan.examples[: plan.options.get("judged")]
    texts = [example.text for example in examples]
    scored = map(from_explanation, weights_only(trained, texts, labels_as_shown(trained.task, examples)))
    return [one._replace(text=one.text[: one.spans[-1][1]] if one.spans else "") for one in scored]


def measure_erasing(
    results: Measurements, scored: Sequence[Scored], plan: MeasurePlan, judges: Judges, seed: int
) -> None:
    """The judge's predictions at every K; those with random words are computed once for all methods."""
    from regard.faithfulness.judged import judge_erased
    from regard.faithfulness.random_choice import RANDOM

    judge = judge_of(judges, seed).answers
    if seed not in judges.random:
        answers = judge_erased(judge, {"method": scored}, plan.cuts, draws=DRAWS)
        judges.random[seed] = answers[RANDOM]
    else:
        answers = judge_erased(judge, {"method": scored}, plan.cuts, draws=0)
    random_words = judges.random[seed]
    judged = random_words if plan.options.get("chance") else answers["method"]
    add_curves(results, judged, random_words, plan.cuts, [len(one.spans) for one in scored])


def add_curves(
    results: Measurements, judged: Judged, random_words: Judged, cuts: Sequence[int], lengths: Sequence[int]
) -> None:
    """`lengths`: words of each text. A text with at most K words is erased completely, or kept as it is, so the measures are also
    taken without such texts: `aopc_5_long`."""
    import numpy as np

    from regard.faithfulness.curves import MEASURES as CURVES

    results.drawn["cuts"] = list(cuts)
    curves = results.drawn["curves"] = {}
    for measure, name in NAMES.items():
        for ending, answers in (("", judged), ("_random", random_words)):
            curve = CURVES[measure](answers)
            if measure == "comprehensiveness":
                curve = curve.averaged()
            curves[name + ending] = [short(value, 5) for value in curve.mean()]
            for index, k in enumerate(cuts):
                if k in SHOWN:
                    results.add(f"{name}_{k}{ending}", curve, index)
                    longer = np.array(lengths) > k
                    if name in LONGER and longer.any():
                        results.add(f"{name}_{k}_long{ending}", curve.of(longer), index)
                        results.values[f"short_{k}"] = float(1 - longer.mean())
    results.values["judge_accuracy"] = float((judged.before.argmax(1) == judged.labels).mean())


def measure_marks(results: Measurements, scored: Sequence[Scored], plan: MeasurePlan) -> None:
    """Precision, recall and F for each class, and F for both together."""
    from regard.faithfulness.detection import detection

    assert plan.marks is not None
    within = [
        [(start, min(end, len(text.text))) for start, end in marks if start < len(text.text)]
        for text, marks in zip(scored, plan.marks, strict=True)
    ]
    detected = detection(scored, within, (1, 5))
    last = max(text.label or 0 for text in scored)
    is_random = bool(plan.options.get("chance"))
    for ending, rates in (("", detected.random if is_random else detected.found), ("_random", detected.random)):
        for name, label in zip(CLASSES, (last, 0), strict=True):
            of_class = rates.of([text.label == label for text in scored])
            for rate in RATES:
                for index, k in enumerate((1, 5)):
                    results.add(f"{rate}_{k}_{name}{ending}", getattr(of_class, rate), index)
        for index, k in enumerate((1, 5)):
            results.add(f"f_{k}{ending}", rates.f, index)
    results.values["f_1_ratio"] = results.values["f_1"] / results.values["f_1_random"]
