"""What the words that a model weighs most are worth: to a judge without them, and beside words that people marked.

MARKS: one line per form of annotation. All of them count tokens, which are the text split at single spaces. Which marks are
evidence is VAT's choice (§5.3): those of the text's own class.
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
CUTS = (1, 2, 3, 5, 7, 10, 15, 20)  # K along which curves go
SHOWN = (1, 5, 10, 20)  # those that tables may show
CLASSES = ("positive", "negative")  # the second class and the first
DRAWS = 2  # of words by chance: thousands of texts average it out
NAMES = {"accuracy_fall": "aopc", "post_hoc": "post_hoc", "comprehensiveness": "comprehensiveness"}
RATES = {"precision": "P", "recall": "R", "f": "F"}


class Form(NamedTuple):
    """Where a row keeps its marks, and which of them are evidence for a class: spans of tokens."""

    field: str
    accepted: str
    evidence: Callable[[Any, str], list[Span]]


def leaves(given: Any, label: str) -> list[Span]:
    """For the classes 0 and 1."""
    side = 1 if label == "1" else -1
    return [(place, place + 1) for place, own in enumerate(given) if side * (own - 2) > 0]


def rationales(given: Any, label: str) -> list[Span]:
    """All of them are for the text's class."""
    return [(start, end) for start, end in given]


MARKS = {
    "phrases": Form("spans", "a list of [start, end, class]", of_polarity),  # SemEval 2013, task 2A
    "leaves": Form("token_labels", "a list of 0 to 4, 2 being neutral,", leaves),  # the Stanford treebank
    "rationales": Form("rationales", "a list of [start, end]", rationales),  # ERASER
}


def marks_of(path: Path, examples: Sequence[Example], form: str) -> list[list[Span]]:
    """For each example that was read from a file of JSON lines, the marked characters."""
    field, accepted, evidence = MARKS[form]
    wanted = {example.row for example in examples}
    rows = {row: fields for row, fields in enumerate(lines(path), 1) if row in wanted}
    found = []
    for example in examples:
        fields = rows.get(example.row, {})
        if fields.get("text") != example.text:
            raise InputError(
                f"{path}, row {example.row}: not the text that was read from it; marks need the file itself"
            )
        try:
            own = evidence(fields[field], str(example.label))
        except (KeyError, TypeError, ValueError):
            raise InputError(
                f"{path}, row {example.row}: no marks of the form {form!r}; {accepted} in the field {field!r} is accepted"
            ) from None
        found.append(characters(example.text, own))
    return found


def characters(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans of tokens as spans of characters."""
    tokens = token_spans(text)
    return edges(((start, end) for start, end in spans if start < end <= len(tokens)), tokens)


def lines(path: Path) -> Iterator[Fields]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


class MeasurePlan(NamedTuple):
    """What a cell measures, and on which texts, in an order of chance."""

    own: Options
    prepared: Prepared
    examples: list[Example]
    marks: list[list[tuple[int, int]]] | None

    @property
    def cuts(self) -> list[int]:
        return [k for k in CUTS if k <= self.own.get("most", 10)]


class Found:
    """What is measured of a model: numbers for the table, intervals over texts, and what figures draw."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.intervals: dict[str, list[float]] = {}
        self.drawn: Row = {}

    def take(self, name: str, curve: Curve, place: int) -> None:
        own = curve.intervals()[place]
        self.values[name] = own.mean
        self.intervals[name] = [own.low, own.high]


def scored_texts(trained: Trained, ways: MeasurePlan) -> list[Scored]:
    """The words of each text that the model reads, and their weights. What it doesn't read is no part of the text: with
    words erased, others beyond the last would come into sight."""
    from regard.explain.explain import explain
    from regard.faithfulness.scored import from_explanation
    from regard.models.tasks import labels_as_shown

    chosen = ways.examples if ways.marks is not None else ways.examples[: ways.own.get("judged")]
    texts = [example.text for example in chosen]
    found = map(from_explanation, explain(trained, texts, labels_as_shown(trained.task, chosen)))
    return [one._replace(text=one.text[: one.spans[-1][1]] if one.spans else "") for one in found]


def measure_erasing(found: Found, scored: Sequence[Scored], ways: MeasurePlan, judges: Judges, seed: int) -> None:
    """The judge's answers at every K; what it says of words by chance is asked once for all methods."""
    from regard.faithfulness.judged import judge_erased
    from regard.faithfulness.random_choice import RANDOM

    judge = judge_of(judges, seed).answers
    if seed not in judges.random:
        judged = judge_erased(judge, {"own": scored}, ways.cuts, draws=DRAWS)
        judges.random[seed] = judged[RANDOM]
    else:
        judged = judge_erased(judge, {"own": scored}, ways.cuts, draws=0)
    by_chance = judges.random[seed]
    add_curves(found, by_chance if ways.own.get("chance") else judged["own"], by_chance, ways.cuts)


def add_curves(found: Found, judged: Judged, by_chance: Judged, cuts: Sequence[int]) -> None:
    from regard.faithfulness.curves import MEASURES as CURVES

    found.drawn["cuts"] = list(cuts)
    curves = found.drawn["curves"] = {}
    for measure, name in NAMES.items():
        for ending, answers in (("", judged), ("_random", by_chance)):
            curve = CURVES[measure](answers)
            if measure == "comprehensiveness":
                curve = curve.averaged()
            curves[name + ending] = [short(value, 5) for value in curve.mean()]
            for place, k in enumerate(cuts):
                if k in SHOWN:
                    found.take(f"{name}_{k}{ending}", curve, place)
    found.values["judge_accuracy"] = float((judged.before.argmax(1) == judged.labels).mean())


def measure_marks(found: Found, scored: Sequence[Scored], ways: MeasurePlan) -> None:
    """Of each class, and of both together."""
    from regard.faithfulness.detection import detection

    assert ways.marks is not None
    within = [
        [(start, min(end, len(one.text))) for start, end in own if start < len(one.text)]
        for one, own in zip(scored, ways.marks, strict=True)
    ]
    seen = detection(scored, within, (1, 5))
    last = max(one.label or 0 for one in scored)
    chance = bool(ways.own.get("chance"))
    for ending, rates in (("", seen.random if chance else seen.found), ("_random", seen.random)):
        for name, label in zip(CLASSES, (last, 0), strict=True):
            of_class = rates.of([one.label == label for one in scored])
            for rate in RATES:
                for place, k in enumerate((1, 5)):
                    found.take(f"{rate}_{k}_{name}{ending}", getattr(of_class, rate), place)
        for place, k in enumerate((1, 5)):
            found.take(f"f_{k}{ending}", rates.f, place)
    found.values["f_1_ratio"] = found.values["f_1"] / found.values["f_1_random"]
