"""The kind "purified": a model is trained, and a base model judges whether its most heavily weighted words matter (VAT, §5).

In addition to the results of training, a row has AOPC (the drop of the judge's accuracy without the top K words) and post-hoc
accuracy (with only the top K words), both also for random words; if people marked words, precision, recall and F of the top K;
the distances within and between classes; and with `by_round` accuracy and text vectors after each round. Intervals of a row
are bootstrapped over texts; those of a table are over seeds. Rows contain numbers, never texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from regard.errors import InputError
from regard.report.text.numbers import short
from regard.run_metrics import EpochRecord
from regard_lab.kinds import train
from regard_lab.kinds.train import judge_options, judges_of, on_device, train_judges, trainings
from regard_lab.kinds.word_measures import (
    CLASSES,
    MARKS,
    RATES,
    SHOWN,
    Measurements,
    MeasurePlan,
    marks_of,
    measure_erasing,
    measure_marks,
    scored_texts,
)
from regard_lab.measures import Measure
from regard_lab.rows import History, Options, Row
from regard_lab.tables.context import Context, Judges
from regard_lab.tables.table import single_model

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard_lab.kinds.rounds import RoundRecorder
    from regard_lab.tables.context import Training
    from regard_lab.tables.table import Cell

KEYS: Options = {
    "judge": str,  # pooling of the base model that judges; without it no words are erased
    "judge_dropout": float,  # if it differs from the method's
    "judge_lr": float,  # if it differs from the method's
    "chance": bool,  # random words, as a separate row of the table
    "most": int,  # the largest K of the curves (default: 10)
    "judged": int,  # number of random texts whose words are erased (default: all)
    "marks": str,  # the format of the words that people marked
    "by_round": bool,  # evaluate the model after each round
    "mapped": int,  # number of text vectors of the first seed that are drawn on a map
}
ROUNDS = range(6)


def with_random(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """Each measure, and the same for random words, which is not compared."""
    return {
        **measures,
        **{f"{name}_random": Measure(f"{measure.title}, random", *measure[1:3]) for name, measure in measures.items()},
    }


MEASURES: dict[str, Measure] = {
    **with_random({f"aopc_{k}": Measure(f"AOPC@{k}", 100, 2, 1) for k in SHOWN}),
    **with_random({f"aopc_{k}_long": Measure(f"AOPC@{k}, texts with more words", 100, 2, 1) for k in SHOWN}),
    **with_random({f"post_hoc_{k}_long": Measure(f"Post-hoc@{k}, texts with more words", 100, 2, 1) for k in SHOWN}),
    **{f"short_{k}": Measure(f"% texts of at most {k} words", 100, 1) for k in SHOWN},
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
    options = {name: cell.options[name] for name in KEYS if name in cell.options}
    plain = cell.without(KEYS)
    train.check(plain)
    if options.get("marks", "phrases") not in MARKS:
        raise InputError(f"marks: expected one of {', '.join(MARKS)}, got {options['marks']!r}")
    if "judge" in options:
        train.check(replace(plain, options=judge_options(plain.options, options)))
    elif options.get("chance"):
        raise InputError("chance = true needs `judge`: random words are measured by a judge")
    if options.get("by_round") and plain.options.get("pooling") != "bottleneck":
        raise InputError("by_round needs pooling = 'bottleneck': other poolings are not trained in rounds")
    for name, least in (("most", 1), ("judged", 1), ("mapped", 4)):
        if name in options and options[name] < least:
            raise InputError(f"{name}: expected {least} or more, got {options[name]}")
    if single_model(plain.options).data.task == "regression":
        raise InputError("task = 'regression': expected a classification task, because accuracy is measured")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    plain = cell.without(KEYS)
    plan = make_plan(cell, plain, context)
    options, config = plan.options, single_model({**plain.options, "device": context.device})
    judges = None
    if "judge" in options:
        judging = single_model({**judge_options(plain.options, options), "device": context.device})
        judges = judges_of(cell, judging, plan.prepared, context)
        train_judges(judges, judging, plan.prepared, seeds, context)
        if options.get("chance") or judging == config:  # a base model judges itself
            for seed in seeds:
                yield row_of(judges.trained[seed], plan, judges, None)
            return
    if options.get("by_round"):
        from regard_lab.kinds.rounds import train_by_round

        arguments = (config, plan.prepared.parts, plan.examples, seeds, context.recorder, options.get("mapped", 500))
        for training, rounds in train_by_round(*arguments):
            yield row_of(training, plan, judges, rounds)
        return
    for training in trainings(config, plan.prepared.parts, seeds, context):
        yield row_of(on_device(training, context.device), plan, judges, None)


def make_plan(cell: Cell, plain: Cell, context: Context) -> MeasurePlan:
    import numpy as np

    from regard_lab.tables.corpora import sources

    options = {name: cell.options[name] for name in KEYS if name in cell.options}
    prepared = context.corpora.prepare(cell.corpus, plain.options)
    split = "dev" if prepared.parts.test is None else "test"
    texts = list((prepared.parts.dev if split == "dev" else prepared.parts.test) or ())
    examples = [texts[index] for index in np.random.default_rng(0).permutation(len(texts))]
    marks = marks_of(sources(cell.corpus)[split], examples, options["marks"]) if "marks" in options else None
    return MeasurePlan(options, prepared, examples, marks)


def row_of(training: Training, plan: MeasurePlan, judges: Judges | None, rounds: RoundRecorder | None) -> Row:
    result, facts = training
    if isinstance(result, InputError):
        return {**facts, "error": str(result)}
    row = train.measured(result, plan.prepared)
    options, results = plan.options, Measurements()
    if options.get("chance"):
        row["values"] = {}
        row.pop("predictions", None)  # those of the judge
    else:
        results.values |= round_measures(result, rounds)
        row["history"] |= round_paths(result.metrics["history"])
        add_closeness(results, result, plan, rounds, facts["seed"])
    judges_itself = judges is not None and judges.trained[facts["seed"]].result is result and not options.get("chance")
    if not judges_itself:
        scored = scored_texts(result, plan)
        if judges is not None:
            measure_erasing(results, scored[: options.get("judged")], plan, judges, facts["seed"])
        if plan.marks is not None:
            measure_marks(results, scored, plan)
    row["values"] |= results.values
    return {**facts, **row, **({"intervals": results.intervals} if results.intervals else {}), **results.drawn}


def round_measures(trained: Trained, rounds: RoundRecorder | None) -> dict[str, float]:
    metrics = trained.metrics
    if "best_round" not in metrics:
        return {}
    best = metrics["history"][metrics["best_epoch"] - 1]
    values = {"best_round": metrics["best_round"], "kl": best["terms"]["kl"]}
    if rounds is not None:
        values |= {f"round_{number}": value for number, value in rounds.accuracy.items()}
        values |= {f"compressed_{number}": value for number, value in rounds.compressed.items()}
        values["compressed_accuracy"] = rounds.compressed[metrics["best_round"]]
    return values


def round_paths(history: Sequence[EpochRecord]) -> History:
    """Dev accuracy of both heads and the divergence after each round; round 0 is the best epoch of plain attention."""
    first = [record["dev"]["accuracy"] for record in history if record.get("round") == 0 and "dev" in record]
    ends = {record["round"]: record for record in history if record.get("phase") == "compressor" and "dev" in record}
    if not first or not ends:
        return {}
    return {
        "rounds.dev": [max(first), *(ends[number]["dev"]["accuracy"] for number in sorted(ends))],
        "rounds.compressed": [ends[number]["heads"]["compressed"]["accuracy"] for number in sorted(ends)],
        "rounds.kl": [short(ends[number]["terms"]["kl"], 5) for number in sorted(ends)],
    }


def add_closeness(
    results: Measurements, trained: Trained, plan: MeasurePlan, rounds: RoundRecorder | None, seed: int
) -> None:
    """Distances between the vectors of the first texts; for seed 0 also their map, which figures show."""
    import numpy as np

    from regard.models.tasks import labels_as_shown
    from regard_lab.kinds.rounds import closeness, tsne, vectors_of

    if trained.is_flat:
        return
    count = plan.options.get("mapped", 500)
    chosen = plan.examples[:count]
    labels = np.unique([str(label) for label in labels_as_shown(trained.task, chosen)], return_inverse=True)[1]
    vectors = vectors_of(trained.model, trained.tokenizer.encode_each([example.text for example in chosen]))
    results.values["closeness"] = closeness(vectors, labels)
    by_round = {} if rounds is None else rounds.vectors_by_round
    results.values |= {
        f"closeness_{number}": closeness(round_vectors, labels) for number, round_vectors in by_round.items()
    }
    if "mapped" in plan.options and seed == 0:
        maps = {f"round {number}": round_vectors for number, round_vectors in by_round.items()} or {"": vectors}
        results.drawn["map"] = {
            "labels": labels.tolist(),
            "points": {name: tsne(round_vectors) for name, round_vectors in maps.items()},
        }
