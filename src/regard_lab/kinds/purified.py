"""The kind "purified": a model is trained, and a base model judges whether the words that it weighs most matter (VAT, §5).

Beside what training gives, a row holds AOPC (the judge's fall in accuracy without the top K words) and post-hoc accuracy (with
the top K words alone), both also for words by chance; where people marked words, precision, recall and F of the top K; how
close texts of a class lie together; and with `by_round` accuracy and text vectors after each round. Intervals of a row are
bootstrapped over texts; those of a table are over seeds. Rows keep numbers, never texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.config import Config
from regard.errors import InputError
from regard.records import Example
from regard.report.text.numbers import short
from regard_lab.kinds import train
from regard_lab.kinds.base_judges import (
    judge_of,
    judge_options,
    judges_of,
    train_judges,
)
from regard_lab.kinds.train import placed, trainings
from regard_lab.kinds.word_marks import MARKS
from regard_lab.measures import Measure
from regard_lab.rows import History, Options, Row
from regard_lab.tables.context import Context, Judges

if TYPE_CHECKING:
    from regard.faithfulness.curves import Curve
    from regard.faithfulness.judged import Judged
    from regard.faithfulness.scored import Scored
    from regard.models.trained import Trained
    from regard_lab.kinds.round_looks import Looks
    from regard_lab.tables.context import Training
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

KEYS: Options = {
    "judge": str,  # the pooling of the base model that judges; without one nothing is erased
    "judge_dropout": float,  # where it is not the method's
    "judge_lr": float,  # likewise
    "chance": bool,  # the words are taken by chance: a row of the table by itself
    "most": int,  # the largest K of the curves; 10
    "judged": int,  # so many texts by chance are erased; all
    "marks": str,  # how the corpus keeps the words that people marked
    "by_round": bool,  # look at the model after each round
    "mapped": int,  # so many text vectors of the first seed are put in the plane
}
CUTS = (1, 2, 3, 5, 7, 10, 15, 20)  # K along which curves go
SHOWN = (1, 5, 10, 20)  # those that tables may show
CLASSES = ("positive", "negative")  # the second class and the first
ROUNDS = range(6)
DRAWS = 2  # of words by chance: thousands of texts average it out
NAMES = {"accuracy_fall": "aopc", "post_hoc": "post_hoc", "comprehensiveness": "comprehensiveness"}
RATES = {"precision": "P", "recall": "R", "f": "F"}


def with_chance(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """And beside each what words by chance get, which is not compared."""
    return {
        **measures,
        **{f"{name}_random": Measure(f"{one.title}, random", *one[1:3]) for name, one in measures.items()},
    }


MEASURES: dict[str, Measure] = {
    **with_chance({f"aopc_{k}": Measure(f"AOPC@{k}", 100, 2, 1) for k in SHOWN}),
    **with_chance({f"post_hoc_{k}": Measure(f"Post-hoc@{k}", 100, 2, 1) for k in SHOWN}),
    **with_chance({f"comprehensiveness_{k}": Measure(f"Comprehensiveness to {k}", 1, 3, 1) for k in SHOWN}),
    **with_chance(
        {
            f"{rate}_{k}_{name}": Measure(f"{letter}@{k}, {name}", 100, 2, 1)
            for name in CLASSES
            for k in (1, 5)
            for rate, letter in RATES.items()
        }
    ),
    **with_chance({f"f_{k}": Measure(f"F@{k}", 100, 2, 1) for k in (1, 5)}),
    "f_1_ratio": Measure("F@1, × random", 1, 2, 1),
    "judge_accuracy": Measure("Accuracy of the judge", 100, 2),
    "closeness": Measure("distance within classes / between", 1, 3, -1),
    "compressed_accuracy": Measure("Accuracy, compressor's head", 100, 2, 1),
    "best_round": Measure("Best round", 1, 1),
    "kl": Measure("KL divergence on dev", 1, 3),
    **{f"round_{number}": Measure(f"Accuracy after round {number}", 100, 2, 1) for number in ROUNDS},
    **{
        f"compressed_{number}": Measure(f"Compressor's head after round {number}", 100, 2)
        for number in ROUNDS
        if number
    },
    **{f"closeness_{number}": Measure(f"Within / between after round {number}", 1, 3, -1) for number in ROUNDS},
}


def check(cell: Cell) -> None:
    own = {name: cell.options[name] for name in KEYS if name in cell.options}
    plain = cell.without(KEYS)
    train.check(plain)
    if own.get("marks", "phrases") not in MARKS:
        raise InputError(f"marks = {own['marks']!r}; accepted are {', '.join(MARKS)}")
    if "judge" in own:
        train.check(replace(plain, options=judge_options(plain.options, own)))
    elif own.get("chance"):
        raise InputError("chance = true needs `judge`: words by chance are measured by a judge")
    if own.get("by_round") and plain.options.get("pooling") != "bottleneck":
        raise InputError("by_round needs pooling = 'bottleneck': training has no rounds otherwise")
    for name, least in (("most", 1), ("judged", 1), ("mapped", 4)):
        if name in own and own[name] < least:
            raise InputError(f"{name} = {own[name]}; {least} or more is accepted")
    if Config().override(plain.options).data.task == "regression":
        raise InputError("task = 'regression': accuracy is measured, which needs classes")


class Ways(NamedTuple):
    """What a cell measures, and on which texts, in an order of chance."""

    own: dict[str, Any]
    prepared: Prepared
    examples: list[Example]
    marks: list[list[tuple[int, int]]] | None

    @property
    def cuts(self) -> list[int]:
        return [k for k in CUTS if k <= self.own.get("most", 10)]


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    plain = cell.without(KEYS)
    ways = ways_of(cell, plain, context)
    own, config = ways.own, Config().override({**plain.options, "device": context.device})
    judges = None
    if "judge" in own:
        options = judge_options(plain.options, own)
        judging = Config().override({**options, "device": context.device})
        judges = judges_of(cell, judging, ways.prepared, context)
        train_judges(judges, judging, ways.prepared, seeds, context)
        if own.get("chance") or judging == config:  # a base model is its own judge
            for seed in seeds:
                yield row_of(judges.trained[seed], ways, judges, None)
            return
    if own.get("by_round"):
        from regard_lab.kinds.round_looks import looked_at

        given = (config, ways.prepared.parts, ways.examples, seeds, context.recorder, own.get("mapped", 500))
        for training, looks in looked_at(*given):
            yield row_of(training, ways, judges, looks)
        return
    for training in trainings(config, ways.prepared.parts, seeds, context):
        yield row_of(placed(training, context.device), ways, judges, None)


def ways_of(cell: Cell, plain: Cell, context: Context) -> Ways:
    import numpy as np

    from regard_lab.kinds.word_marks import marks_of
    from regard_lab.tables.corpora import sources

    own = {name: cell.options[name] for name in KEYS if name in cell.options}
    prepared = context.corpora.prepare(cell.corpus, plain.options)
    split = "dev" if prepared.parts.test is None else "test"
    given = list((prepared.parts.dev if split == "dev" else prepared.parts.test) or ())
    examples = [given[place] for place in np.random.default_rng(0).permutation(len(given))]
    marks = marks_of(sources(cell.corpus)[split], examples, own["marks"]) if "marks" in own else None
    return Ways(own, prepared, examples, marks)


def row_of(training: Training, ways: Ways, judges: Judges | None, looks: Looks | None) -> Row:
    result, facts = training
    if isinstance(result, InputError):
        return {**facts, "error": str(result)}
    row = train.measured(result, ways.prepared)
    own, found = ways.own, Found()
    if own.get("chance"):
        row["values"] = {}
    else:
        found.values |= of_rounds(result, looks)
        row["history"] |= round_paths(result.metrics["history"])
        of_vectors(found, result, ways, looks, facts["seed"])
    base_alone = judges is not None and judges.trained[facts["seed"]].result is result and not own.get("chance")
    if not base_alone:
        scored = scored_texts(result, ways)
        if judges is not None:
            of_erasing(found, scored[: own.get("judged")], ways, judges, facts["seed"])
        if ways.marks is not None:
            of_marks(found, scored, ways)
    row["values"] |= found.values
    return {**facts, **row, **({"intervals": found.intervals} if found.intervals else {}), **found.drawn}


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


def scored_texts(trained: Trained, ways: Ways) -> list[Scored]:
    """The words of each text that the model reads, and their weights. What it doesn't read is no part of the text: with
    words erased, others beyond the last would come into sight."""
    from regard.explain.explain import explain
    from regard.faithfulness.scored import from_explanation
    from regard.models.tasks import labels_as_shown

    chosen = ways.examples if ways.marks is not None else ways.examples[: ways.own.get("judged")]
    texts = [example.text for example in chosen]
    found = map(from_explanation, explain(trained, texts, labels_as_shown(trained.task, chosen)))
    return [one._replace(text=one.text[: one.spans[-1][1]] if one.spans else "") for one in found]


def of_erasing(found: Found, scored: Sequence[Scored], ways: Ways, judges: Judges, seed: int) -> None:
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
    take_curves(found, by_chance if ways.own.get("chance") else judged["own"], by_chance, ways.cuts)


def take_curves(found: Found, judged: Judged, by_chance: Judged, cuts: Sequence[int]) -> None:
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


def of_marks(found: Found, scored: Sequence[Scored], ways: Ways) -> None:
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


def of_rounds(trained: Trained, looks: Looks | None) -> dict[str, float]:
    metrics = trained.metrics
    if "best_round" not in metrics:
        return {}
    best = metrics["history"][metrics["best_epoch"] - 1]
    values = {"best_round": metrics["best_round"], "kl": best["terms"]["kl"]}
    if looks is not None:
        values |= {f"round_{number}": value for number, value in looks.accuracy.items()}
        values |= {f"compressed_{number}": value for number, value in looks.compressed.items()}
        values["compressed_accuracy"] = looks.compressed[metrics["best_round"]]
    return values


def round_paths(history: Sequence[Mapping[str, Any]]) -> History:
    """Dev accuracy of both heads and the divergence at the end of each round, 0 being the best epoch of plain attention."""
    first = [record["dev"]["accuracy"] for record in history if record.get("round") == 0 and "dev" in record]
    ends = {record["round"]: record for record in history if record.get("phase") == "compressor" and "dev" in record}
    if not first or not ends:
        return {}
    return {
        "rounds.dev": [max(first), *(ends[number]["dev"]["accuracy"] for number in sorted(ends))],
        "rounds.compressed": [ends[number]["heads"]["compressed"]["accuracy"] for number in sorted(ends)],
        "rounds.kl": [short(ends[number]["terms"]["kl"], 5) for number in sorted(ends)],
    }


def of_vectors(found: Found, trained: Trained, ways: Ways, looks: Looks | None, seed: int) -> None:
    """Of the first texts; in the plane those of seed 0 alone, which figures show."""
    import numpy as np

    from regard.models.tasks import labels_as_shown
    from regard_lab.kinds.round_looks import closeness, plane, vectors_of

    if trained.is_flat:
        return
    count = ways.own.get("mapped", 500)
    chosen = ways.examples[:count]
    labels = np.unique([str(label) for label in labels_as_shown(trained.task, chosen)], return_inverse=True)[1]
    own = vectors_of(trained.model, trained.tokenizer.encode_each([example.text for example in chosen]))
    found.values["closeness"] = closeness(own, labels)
    by_round = {} if looks is None else looks.seen
    found.values |= {f"closeness_{number}": closeness(seen, labels) for number, seen in by_round.items()}
    if "mapped" in ways.own and seed == 0:
        maps = {f"round {number}": seen for number, seen in by_round.items()} or {"": own}
        found.drawn["map"] = {
            "labels": labels.tolist(),
            "points": {name: plane(seen) for name, seen in maps.items()},
        }
