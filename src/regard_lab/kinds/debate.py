"""The kind "debate": can attention explain predictions? Measurements of Jain & Wallace (2019), Wiegreffe & Pinter (2019).

A cell's options describe one model with attention, and `shows` selects what is measured:

    diagnosed    on some test texts: Kendall's τ of attention with gradients and with leave-one-out, permuted weights, and the
                 most different weights that keep the prediction (J&W §4)
    seeds        the model, compared with the same model from the next seed (W&P §3.2)
    even         a model trained with uniform weights (W&P §3.1)
    texts        the most different weights of each text that keep the prediction (J&W §4.2.2), on some test texts
    adversary    a model trained to give the same predictions with a different attention, λ = `factor` (W&P §4)
    mlp          the weights that a model without context learns itself (W&P §3.3)

TVD of predictions and JSD of weights are distances from the model of the same seed, on test. `guided` is the accuracy of a
model without context that mixes its words with the row's weights (W&P §3.3). The diagnostics are those of `regard audit`, but
on whole corpora and over seeds. Rows contain numbers, never texts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from regard.errors import InputError
from regard.recorder import Recorder
from regard.records import Example
from regard_lab.kinds import train
from regard_lab.kinds.train import judges_of, on_device, train_judges, trainings
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import single_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.models.trained import Trained
    from regard_lab.tables.context import Training
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

KEYS: Options = {
    "shows": str,  # a key of ANALYSES
    "factor": float,  # adversary: λ, the reward for a different attention
}
DIAGNOSED_TEXTS = 500  # random test texts that are diagnosed
ADVERSARY_TEXTS = 5000  # random training texts for an adversary
GROUPS = (1, 2, 3, 4)  # quarters of the largest weight
EXPLAINED = {"gradient": "gradient", "leave_one_out": "leave-one-out", "random": "random scores"}
MEASURES_COMPARED = {"held": "gradient, fixed weights", **EXPLAINED}  # J&W's gradient, and explainers

MEASURES: dict[str, Measure] = {
    **{f"tau_{name}": Measure(f"τ with {title}", 1, 3) for name, title in MEASURES_COMPARED.items()},
    "tau_between": Measure("τ of gradient, fixed weights, with leave-one-out", 1, 3),
    **{
        f"significant_{name}": Measure(f"% texts p < 0.05, {title}", 100, 1)
        for name, title in MEASURES_COMPARED.items()
    },
    "permuted": Measure("TVD, weights permuted", 1, 3),
    **{f"permuted_{k}": Measure(f"TVD permuted, largest weight in quarter {k}", 1, 3) for k in GROUPS},
    "evened": Measure("TVD, uniform weights", 1, 3),
    "largest": Measure("largest weight", 1, 3),
    "uneven": Measure("TVD of weights from uniform ones", 1, 3),
    "farthest": Measure("JSD of the most different weights", 1, 3),
    "far": Measure("% texts, JSD > log 2 / 2", 100, 1),
    "tvd": Measure("TVD of predictions", 1, 3),
    "jsd": Measure("JSD of weights", 1, 3),
    "guided": Measure("Accuracy of an MLP guided by the weights", 100, 2, 1),
    "guided_macro_f": Measure("Macro-F of an MLP guided by the weights", 100, 2, 1),
}


def check(cell: Cell) -> None:
    options, plain = debate_options(cell), cell.without(KEYS)
    train.check(plain)
    config = single_model(plain.options)
    if config.model.pooling != "attention" or config.model.levels != 1 or config.model.reads_pieces:
        raise InputError(
            "expected pooling = 'attention' over one level of words, got "
            f"encoder = {config.model.encoder!r}, pooling = {config.model.pooling!r}, levels = {config.model.levels}"
        )
    if config.data.task not in ("binary", "multiclass"):
        raise InputError(f"task: expected 'binary' or 'multiclass', got {config.data.task!r}")
    if options["shows"] not in ANALYSES:
        raise InputError(f"shows: expected one of {', '.join(ANALYSES)}, got {options['shows']!r}")
    if (options["shows"] == "adversary") != ("factor" in options):
        raise InputError(f"shows = {options['shows']!r}: `factor` is required for 'adversary' and allowed only there")
    if options.get("factor", 0.0) < 0:
        raise InputError(f"factor: expected 0 or more, got {options['factor']}")


def debate_options(cell: Cell) -> Options:
    options = {name: cell.options[name] for name in KEYS if name in cell.options}
    return {"shows": "diagnosed", **options}


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    from regard.audit.retraining import EVEN

    options, plain = debate_options(cell), cell.without(KEYS)
    prepared = context.corpora.prepare(cell.corpus, plain.options)
    config = single_model({**plain.options, "device": context.device})
    judges = judges_of(cell, config, prepared, context)
    others: dict[int, list[Training]] = {}
    if options["shows"] == "seeds":
        train_judges(judges, config, prepared, sorted({*seeds, *(seed + 1 for seed in seeds)}), context)
        others = {seed: [judges.trained[seed + 1]] for seed in seeds}
    else:
        train_judges(judges, config, prepared, seeds, context)
    if options["shows"] == "even":
        trained_models = trainings(config.override({"scale": EVEN}), prepared.parts, seeds, context)
        others = {training.facts["seed"]: [on_device(training, context.device)] for training in trained_models}
    for seed in seeds:
        yield row_of(options, prepared, [judges.trained[seed], *others.get(seed, ())], context)


class Case(NamedTuple):
    """The models to compare, their texts, and the options of the analysis."""

    models: Sequence[Trained]  # of the seed, and that of the next seed or with uniform weights
    options: Options
    train: list[Example]
    test: list[Example]
    seed: int
    device: str
    recorder: Recorder

    @property
    def base(self) -> Trained:
        return self.models[0]

    def labels(self, examples: list[Example]) -> NDArray[np.int64]:
        import numpy as np

        from regard.data.labels import Labels
        from regard.models.tasks import encoded

        return encoded(self.base.task, Labels.of(examples), "texts").astype(np.int64)


def row_of(options: Options, prepared: Prepared, compared: Sequence[Training], context: Context) -> Row:
    start, facts, parts = time.perf_counter(), compared[0].facts, prepared.parts
    models = []
    for training in compared:
        if isinstance(training.result, InputError):
            return {**facts, "error": str(training.result)}
        models.append(training.result)
    test = list((parts.dev or ()) if parts.test is None else parts.test)
    analysis = ANALYSES[options["shows"]]
    results = analysis.analyse(
        Case(models, options, list(parts.train), test, facts["seed"], context.device, context.recorder)
    )
    row = train.measured(models[analysis.model or 0], prepared)
    if analysis.model is None:
        row = {"values": {}, "data": row["data"], "environment": row["environment"]}
    row["values"] |= {name: value for name, value in results.pop("values").items() if value is not None}
    seconds = (
        time.perf_counter() - start + (0.0 if analysis.model is None else compared[analysis.model].facts["seconds"])
    )
    return {**facts, **row, **results, "seconds": seconds}


def diagnose(case: Case) -> Row:
    from regard.audit.adversarial_weights import adversary_facts, farthest
    from regard.audit.correlation import correlations
    from regard.audit.held_gradients import held_gradients
    from regard.audit.permutation import permutation_facts, permuted
    from regard.explain.attribute import attribute
    from regard.explain.reading import read
    from regard.facts.json_form import to_json
    from regard.faithfulness.scored import Scored

    texts, seed = sample_texts(case), case.seed
    scored = {}
    for name in ("attention", *EXPLAINED):
        case.recorder.note(f"{name} of {len(texts)} texts")
        scored[name] = [Scored(*attribution.scored()) for attribution in attribute(case.base, texts, name)]
    readings = read(case.base, texts)
    held = zip(scored["attention"], held_gradients(case.base, readings), strict=True)
    scored["held"] = [attention._replace(scores=gradients) for attention, gradients in held]
    taus = correlations(scored["attention"], {name: scored[name] for name in MEASURES_COMPARED}, seed)
    between = correlations(scored["held"], {"between": scored["leave_one_out"]}, seed)
    permutation = permutation_facts(permuted(case.base, readings, seed), seed)
    adversary = adversary_facts(farthest(case.base, readings, seed), seed)
    values = {f"tau_{name}": correlation.tau.mean for name, correlation in (taus | between).items()}
    values |= {f"significant_{name}": correlation.significant.mean for name, correlation in taus.items()}
    values |= {name: getattr(permutation, part).mean for name, part in PERMUTATION_MEASURES.items()}
    values |= {f"permuted_{k}": group.moved for k, group in zip(GROUPS, permutation.by_largest, strict=True)}
    values |= {"farthest": adversary.divergence.mean, "far": adversary.far.mean}
    histograms = {name: list(correlation.histogram) for name, correlation in (taus | between).items()}
    return {"values": present(values), "histograms": histograms, "by_largest": to_json(permutation.by_largest)}


def present(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


PERMUTATION_MEASURES = {"permuted": "moved", "evened": "evened", "largest": "largest", "uneven": "uneven"}


def sample_texts(case: Case) -> list[str]:
    """Random test texts, the same for every seed and method."""
    import numpy as np

    indices = np.random.default_rng(0).permutation(len(case.test))[:DIAGNOSED_TEXTS]
    return [case.test[index].text for index in indices.tolist()]


def analyse_texts(case: Case) -> Row:
    from regard.audit.adversarial_weights import adversary_facts, farthest
    from regard.explain.reading import read

    adversary = adversary_facts(farthest(case.base, read(case.base, sample_texts(case)), case.seed), case.seed)
    return {
        "values": present({"tvd": adversary.distance.mean, "jsd": adversary.divergence.mean, "far": adversary.far.mean})
    }


def analyse_seeds(case: Case) -> Row:
    return {"values": distances(case, case.models[1]) | guided_accuracy(case, case.base)}


def analyse_uniform(case: Case) -> Row:
    return {"values": distances(case, case.models[1]) | guided_accuracy(case, case.models[1])}


def analyse_adversary(case: Case) -> Row:
    import numpy as np

    from regard.audit.trained_adversary import train_adversary
    from regard.explain.reading import read
    from regard.models.trained import Trained

    indices = np.random.default_rng((case.seed, 1)).permutation(len(case.train))[:ADVERSARY_TEXTS]
    case.recorder.note(f"training an adversary on {len(indices)} texts: λ = {case.options['factor']:g}")
    texts = [reading.indexed for reading in read(case.base, [case.train[index].text for index in indices.tolist()])]
    model = train_adversary(case.base, texts, case.options["factor"], case.seed)
    base = case.base
    adversary = Trained(base.config, base.tokenizer, base.task, model=model, device=case.device)
    return {"values": distances(case, adversary, scored=True) | guided_accuracy(case, adversary)}


def analyse_mlp(case: Case) -> Row:
    return {"values": guided_accuracy(case, case.base, "learned")}


def distances(case: Case, other: Trained, scored: bool = False) -> dict[str, float]:
    """Distances of predictions and weights from the model's, on test; `scored`: also its accuracy."""
    import numpy as np

    from regard.audit.trained_adversary import compare
    from regard.explain.reading import read

    readings = read(case.base, [example.text for example in case.test])
    distance, divergence, predictions = compare(case.base, other.model, [reading.indexed for reading in readings])
    values = {"tvd": float(distance.mean()), "jsd": float(np.nanmean(divergence))}
    return values | (scores_of(case, predictions) if scored else {})


def guided_accuracy(case: Case, other: Trained, kind: str = "guided") -> dict[str, float]:
    """The accuracy of a model without context with a model's weights; `kind` "learned": with weights that it learns."""
    from regard.audit.guided import answer, train_guided, weigh
    from regard.models.tasks import Classes

    task = case.base.task
    assert isinstance(task, Classes)
    train_weights, test_weights = (weigh(other, [example.text for example in part]) for part in (case.train, case.test))
    case.recorder.note(f"training a model without context on {len(train_weights.texts)} texts: {kind} weights")
    sizes = (len(case.base.tokenizer), len(task.classes))
    model = train_guided(train_weights, case.labels(case.train), kind, *sizes, case.seed, case.device)
    scores = scores_of(case, answer(model, test_weights, kind))
    return {"guided": scores["accuracy"], "guided_macro_f": scores["macro_f"]}


def scores_of(case: Case, predictions: NDArray[np.int64]) -> dict[str, float]:
    import numpy as np

    from regard.models.tasks import Classes
    from regard.training.metrics import classification_metrics

    assert isinstance(case.base.task, Classes)
    classes = case.base.task.classes
    scores = classification_metrics(classes, np.eye(len(classes))[predictions], case.labels(case.test))
    return {"accuracy": scores["accuracy"], "macro_f": scores["macro_f"]}


class Analysis(NamedTuple):
    analyse: Callable[[Case], Row]
    model: int | None = None  # index of the model whose scores the row contains


ANALYSES: dict[str, Analysis] = {
    "diagnosed": Analysis(diagnose, 0),
    "seeds": Analysis(analyse_seeds, 0),
    "even": Analysis(analyse_uniform, 1),
    "texts": Analysis(analyse_texts),
    "adversary": Analysis(analyse_adversary),
    "mlp": Analysis(analyse_mlp),
}
