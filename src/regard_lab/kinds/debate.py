"""The kind "debate": is attention explanation? What Jain & Wallace (2019) and Wiegreffe & Pinter (2019) measured, again.

A cell's options describe one model with attention, and `shows` says what is looked at beside it:

    diagnosed    on some test texts: Kendall's τ of attention with gradients and with leaving words out, permuted weights, and
                 the farthest weights that keep the answer (J&W §4)
    seeds        the model itself, beside the same model from the next seed (W&P §3.2)
    even         a model trained with weights that cannot but be even (W&P §3.1)
    texts        the farthest weights of each text that keep the answer (J&W §4.2.2), on some test texts
    adversary    a model trained to answer as the model does with another attention, λ = `factor` (W&P §4)
    mlp          the weights that a model without contexts learns by itself (W&P §3.3)

TVD of answers and JSD of weights are those from the model of the same seed, on test. `guided` is the accuracy of a model
without contexts that mixes its words by the row's weights (W&P §3.3). The diagnostics are those of
`regard audit`; here they stand on whole corpora, over seeds. Rows keep numbers, never texts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Recorder
from regard.records import Example
from regard_lab.kinds import train
from regard_lab.kinds.train import judges_of, placed, train_judges, trainings
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.models.trained import Trained
    from regard_lab.tables.context import Training
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

KEYS: Options = {
    "shows": str,  # what is looked at; SHOWS
    "factor": float,  # adversary: λ, how much another attention is worth
}
DIAGNOSED_TEXTS = 500  # test texts, by chance, that are diagnosed
ADVERSARY_TEXTS = 5000  # training texts, by chance, that an adversary learns from
GROUPS = (1, 2, 3, 4)  # of the largest weight, by quarters
EXPLAINED = {"gradient": "gradient", "leave_one_out": "leaving out", "random": "chance"}
BESIDE = {"held": "gradient, weights held", **EXPLAINED}  # J&W's own gradient, and explainers

MEASURES: dict[str, Measure] = {
    **{f"tau_{name}": Measure(f"τ with {title}", 1, 3) for name, title in BESIDE.items()},
    "tau_between": Measure("τ of gradient, weights held, with leaving out", 1, 3),
    **{f"significant_{name}": Measure(f"% texts p < 0.05, {title}", 100, 1) for name, title in BESIDE.items()},
    "permuted": Measure("TVD, weights permuted", 1, 3),
    **{f"permuted_{k}": Measure(f"TVD permuted, largest weight in quarter {k}", 1, 3) for k in GROUPS},
    "evened": Measure("TVD, weights evened", 1, 3),
    "largest": Measure("largest weight", 1, 3),
    "uneven": Measure("TVD of weights from even ones", 1, 3),
    "farthest": Measure("JSD of the farthest weights", 1, 3),
    "far": Measure("% texts, JSD > log 2 / 2", 100, 1),
    "tvd": Measure("TVD of answers", 1, 3),
    "jsd": Measure("JSD of weights", 1, 3),
    "guided": Measure("Accuracy of an MLP guided by the weights", 100, 2, 1),
    "guided_macro_f": Measure("Macro-F of an MLP guided by the weights", 100, 2, 1),
}


def check(cell: Cell) -> None:
    own, plain = own_keys(cell), cell.without(KEYS)
    train.check(plain)
    config = Config().override(plain.options)
    if config.model.pooling != "attention" or config.model.levels != 1 or config.model.reads_pieces:
        raise InputError(
            f"encoder = {config.model.encoder!r}, pooling = {config.model.pooling!r}, levels = {config.model.levels}: "
            "pooling = 'attention' over one level of words is accepted"
        )
    if config.data.task not in ("binary", "multiclass"):
        raise InputError(f"task = {config.data.task!r}; 'binary' and 'multiclass' are accepted")
    if own["shows"] not in ANALYSES:
        raise InputError(f"shows = {own['shows']!r}; accepted are {', '.join(ANALYSES)}")
    if (own["shows"] == "adversary") != ("factor" in own):
        raise InputError(f"shows = {own['shows']!r}: `factor` is needed by 'adversary', and by no other")
    if own.get("factor", 0.0) < 0:
        raise InputError(f"factor = {own['factor']}; 0 or more is accepted")


def own_keys(cell: Cell) -> Options:
    given = {name: cell.options[name] for name in KEYS if name in cell.options}
    return {"shows": "diagnosed", **given}


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    from regard.audit.retraining import EVEN

    own, plain = own_keys(cell), cell.without(KEYS)
    prepared = context.corpora.prepare(cell.corpus, plain.options)
    config = Config().override({**plain.options, "device": context.device})
    judges = judges_of(cell, config, prepared, context)
    others: dict[int, list[Training]] = {}
    if own["shows"] == "seeds":
        train_judges(judges, config, prepared, sorted({*seeds, *(seed + 1 for seed in seeds)}), context)
        others = {seed: [judges.trained[seed + 1]] for seed in seeds}
    else:
        train_judges(judges, config, prepared, seeds, context)
    if own["shows"] == "even":
        made = trainings(config.override({"scale": EVEN}), prepared.parts, seeds, context)
        others = {training.facts["seed"]: [placed(training, context.device)] for training in made}
    for seed in seeds:
        yield row_of(own, prepared, [judges.trained[seed], *others.get(seed, ())], context)


class Case(NamedTuple):
    """Models, and what is looked at beside the first of them."""

    models: Sequence[Trained]  # of the seed, and the next seed's or that of even weights
    own: Options
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


def row_of(own: Options, prepared: Prepared, learned: Sequence[Training], context: Context) -> Row:
    begun, facts, parts = time.perf_counter(), learned[0].facts, prepared.parts
    models = []
    for training in learned:
        if isinstance(training.result, InputError):
            return {**facts, "error": str(training.result)}
        models.append(training.result)
    test = list((parts.dev or ()) if parts.test is None else parts.test)
    shown = ANALYSES[own["shows"]]
    found = shown.look(Case(models, own, list(parts.train), test, facts["seed"], context.device, context.recorder))
    told = train.measured(models[shown.model or 0], prepared)
    if shown.model is None:
        told = {"values": {}, "data": told["data"], "environment": told["environment"]}
    told["values"] |= {name: value for name, value in found.pop("values").items() if value is not None}
    taken = time.perf_counter() - begun + (0.0 if shown.model is None else learned[shown.model].facts["seconds"])
    return {**facts, **told, **found, "seconds": taken}


def diagnose(look: Case) -> Row:
    from regard.audit.adversarial_weights import adversary_facts, farthest
    from regard.audit.correlation import correlations
    from regard.audit.held_gradients import held_gradients
    from regard.audit.permutation import permutation_facts, permuted
    from regard.explain.attribute import attribute
    from regard.explain.reading import read
    from regard.facts.json_form import to_json
    from regard.faithfulness.scored import Scored

    texts, seed = sample_texts(look), look.seed
    scored = {}
    for name in ("attention", *EXPLAINED):
        look.recorder.note(f"{name} of {len(texts)} texts")
        scored[name] = [Scored(*one.scored()) for one in attribute(look.base, texts, name)]
    readings = read(look.base, texts)
    held = zip(scored["attention"], held_gradients(look.base, readings), strict=True)
    scored["held"] = [one._replace(scores=scores) for one, scores in held]
    told = correlations(scored["attention"], {name: scored[name] for name in BESIDE}, seed)
    between = correlations(scored["held"], {"between": scored["leave_one_out"]}, seed)
    moved = permutation_facts(permuted(look.base, readings, seed), seed)
    far = adversary_facts(farthest(look.base, readings, seed), seed)
    values = {f"tau_{name}": one.tau.mean for name, one in (told | between).items()}
    values |= {f"significant_{name}": one.significant.mean for name, one in told.items()}
    values |= {name: getattr(moved, part).mean for name, part in MOVED.items()}
    values |= {f"permuted_{k}": group.moved for k, group in zip(GROUPS, moved.by_largest, strict=True)}
    values |= {"farthest": far.divergence.mean, "far": far.far.mean}
    histograms = {name: list(one.histogram) for name, one in (told | between).items()}
    return {"values": known(values), "histograms": histograms, "by_largest": to_json(moved.by_largest)}


def known(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


MOVED = {"permuted": "moved", "evened": "evened", "largest": "largest", "uneven": "uneven"}


def sample_texts(look: Case) -> list[str]:
    """By chance, the same ones for every seed and method."""
    import numpy as np

    places = np.random.default_rng(0).permutation(len(look.test))[:DIAGNOSED_TEXTS]
    return [look.test[place].text for place in places.tolist()]


def of_texts(look: Case) -> Row:
    from regard.audit.adversarial_weights import adversary_facts, farthest
    from regard.explain.reading import read

    told = adversary_facts(farthest(look.base, read(look.base, sample_texts(look)), look.seed), look.seed)
    return {"values": known({"tvd": told.distance.mean, "jsd": told.divergence.mean, "far": told.far.mean})}


def of_seeds(look: Case) -> Row:
    return {"values": apart(look, look.models[1]) | guided_accuracy(look, look.base)}


def of_even(look: Case) -> Row:
    return {"values": apart(look, look.models[1]) | guided_accuracy(look, look.models[1])}


def of_adversary(look: Case) -> Row:
    import numpy as np

    from regard.audit.trained_adversary import learn
    from regard.explain.reading import read
    from regard.models.trained import Trained

    places = np.random.default_rng((look.seed, 1)).permutation(len(look.train))[:ADVERSARY_TEXTS]
    look.recorder.note(f"training an adversary on {len(places)} texts: λ = {look.own['factor']:g}")
    texts = [reading.indexed for reading in read(look.base, [look.train[place].text for place in places.tolist()])]
    model = learn(look.base, texts, look.own["factor"], look.seed)
    base = look.base
    adversary = Trained(base.config, base.tokenizer, base.task, model=model, device=look.device)
    return {"values": apart(look, adversary, scored=True) | guided_accuracy(look, adversary)}


def of_mlp(look: Case) -> Row:
    return {"values": guided_accuracy(look, look.base, "learned")}


def apart(look: Case, other: Trained, scored: bool = False) -> dict[str, float]:
    """How far answers and weights lie from the model's, on test; `scored`: and how good its answers are."""
    import numpy as np

    from regard.audit.trained_adversary import compare
    from regard.explain.reading import read

    readings = read(look.base, [example.text for example in look.test])
    distance, divergence, decided = compare(look.base, other.model, [reading.indexed for reading in readings])
    found = {"tvd": float(distance.mean()), "jsd": float(np.nanmean(divergence))}
    return found | (scores_of(look, decided) if scored else {})


def guided_accuracy(look: Case, other: Trained, kind: str = "guided") -> dict[str, float]:
    """How good a model without contexts becomes with a model's weights; `kind` "learned": with weights that it learns."""
    from regard.audit.guided import answer, learn, weigh
    from regard.models.tasks import Classes

    task = look.base.task
    assert isinstance(task, Classes)
    learned, judged = (weigh(other, [example.text for example in part]) for part in (look.train, look.test))
    look.recorder.note(f"training a model without contexts on {len(learned.texts)} texts: {kind} weights")
    sizes = (len(look.base.tokenizer), len(task.classes))
    model = learn(learned, look.labels(look.train), kind, *sizes, look.seed, look.device)
    found = scores_of(look, answer(model, judged, kind))
    return {"guided": found["accuracy"], "guided_macro_f": found["macro_f"]}


def scores_of(look: Case, decided: NDArray[np.int64]) -> dict[str, float]:
    import numpy as np

    from regard.models.tasks import Classes
    from regard.training.metrics import classification_metrics

    assert isinstance(look.base.task, Classes)
    classes = look.base.task.classes
    found = classification_metrics(classes, np.eye(len(classes))[decided], look.labels(look.test))
    return {"accuracy": found["accuracy"], "macro_f": found["macro_f"]}


class Analysis(NamedTuple):
    look: Callable[[Case], Row]
    model: int | None = None  # of the models, the one whose scores a row has too


ANALYSES: dict[str, Analysis] = {
    "diagnosed": Analysis(diagnose, 0),
    "seeds": Analysis(of_seeds, 0),
    "even": Analysis(of_even, 1),
    "texts": Analysis(of_texts),
    "adversary": Analysis(of_adversary),
    "mlp": Analysis(of_mlp),
}
