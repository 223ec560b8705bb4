"""The kind "purified": a model is trained, and a base model judges whether the words that it weighs most matter (VAT, §5).

Beside what training gives, a row holds AOPC (the judge's fall in accuracy without the top K words) and post-hoc accuracy (with
the top K words alone), both also for words by chance; where people marked words, precision, recall and F of the top K; how
close texts of a class lie together; and with `by_round` accuracy and text vectors after each round. Intervals of a row are
bootstrapped over texts; those of a table are over seeds. Rows keep numbers, never texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from regard.config import Config
from regard.errors import InputError
from regard.report.text.numbers import short
from regard_lab.kinds import train
from regard_lab.kinds.train import judge_options, judges_of, placed, train_judges, trainings
from regard_lab.kinds.word_measures import (
    CLASSES,
    MARKS,
    RATES,
    SHOWN,
    Found,
    MeasurePlan,
    marks_of,
    measure_erasing,
    measure_marks,
    scored_texts,
)
from regard_lab.measures import Measure
from regard_lab.rows import History, Options, Row
from regard_lab.tables.context import Context, Judges

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard_lab.kinds.rounds import RoundRecorder
    from regard_lab.tables.context import Training
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
ROUNDS = range(6)


def with_random(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """And beside each what words by chance get, which is not compared."""
    return {
        **measures,
        **{f"{name}_random": Measure(f"{one.title}, random", *one[1:3]) for name, one in measures.items()},
    }


MEASURES: dict[str, Measure] = {
    **with_random({f"aopc_{k}": Measure(f"AOPC@{k}", 100, 2, 1) for k in SHOWN}),
    **with_random({f"post_hoc_{k}": Measure(f"Post-hoc@{k}", 100, 2, 1) for k in SHOWN}),
    **with_random({f"comprehensiveness_{k}": Measure(f"Comprehensiveness to {k}", 1, 3, 1) for k in SHOWN}),
    **with_random(
        {
            f"{rate}_{k}_{name}": Measure(f"{letter}@{k}, {name}", 100, 2, 1)
            for name in CLASSES
            for k in (1, 5)
            for rate, letter in RATES.items()
        }
    ),
    **with_random({f"f_{k}": Measure(f"F@{k}", 100, 2, 1) for k in (1, 5)}),
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


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    plain = cell.without(KEYS)
    ways = make_plan(cell, plain, context)
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
        from regard_lab.kinds.rounds import train_by_round

        given = (config, ways.prepared.parts, ways.examples, seeds, context.recorder, own.get("mapped", 500))
        for training, looks in train_by_round(*given):
            yield row_of(training, ways, judges, looks)
        return
    for training in trainings(config, ways.prepared.parts, seeds, context):
        yield row_of(placed(training, context.device), ways, judges, None)


def make_plan(cell: Cell, plain: Cell, context: Context) -> MeasurePlan:
    import numpy as np

    from regard_lab.tables.corpora import sources

    own = {name: cell.options[name] for name in KEYS if name in cell.options}
    prepared = context.corpora.prepare(cell.corpus, plain.options)
    split = "dev" if prepared.parts.test is None else "test"
    given = list((prepared.parts.dev if split == "dev" else prepared.parts.test) or ())
    examples = [given[place] for place in np.random.default_rng(0).permutation(len(given))]
    marks = marks_of(sources(cell.corpus)[split], examples, own["marks"]) if "marks" in own else None
    return MeasurePlan(own, prepared, examples, marks)


def row_of(training: Training, ways: MeasurePlan, judges: Judges | None, looks: RoundRecorder | None) -> Row:
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
            measure_erasing(found, scored[: own.get("judged")], ways, judges, facts["seed"])
        if ways.marks is not None:
            measure_marks(found, scored, ways)
    row["values"] |= found.values
    return {**facts, **row, **({"intervals": found.intervals} if found.intervals else {}), **found.drawn}


def of_rounds(trained: Trained, looks: RoundRecorder | None) -> dict[str, float]:
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


def of_vectors(found: Found, trained: Trained, ways: MeasurePlan, looks: RoundRecorder | None, seed: int) -> None:
    """Of the first texts; in the plane those of seed 0 alone, which figures show."""
    import numpy as np

    from regard.models.tasks import labels_as_shown
    from regard_lab.kinds.rounds import closeness, plane, vectors_of

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
