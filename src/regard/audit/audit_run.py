"""The audit of a run: explainers, measures, diagnostics and the verdict, as one plain object (audit.json)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.analyse import Tokens, find_scores, separation_facts
from regard.analysis.token_names import token_names
from regard.analysis.token_scores import check_scores, lead
from regard.analysis.token_types import token_types
from regard.audit.adversarial_weights import farthest, told_farthest
from regard.audit.audit import measured
from regard.audit.correlation import correlations
from regard.audit.explained import FOCUS, Explained, explained
from regard.audit.found import Found
from regard.audit.guided import guided
from regard.audit.lessons import Lesson, make_lesson
from regard.audit.numbers import finite
from regard.audit.permutation import permuted, told_permuted
from regard.audit.seed_variance import even_weights, other_seeds
from regard.audit.texts_learned import texts_learned
from regard.audit.trained_adversary import trained_adversary
from regard.audit.training_texts import training_texts
from regard.audit.verdict import verdict
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.explain.attribute import EXPLAINERS
from regard.explain.attributed import Attributed
from regard.explain.reading import read
from regard.facts.json_form import to_json
from regard.faithfulness.random_choice import RANDOM
from regard.faithfulness.scored import Scored
from regard.models.capabilities import Capabilities, attending
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.recording import Recorder, Silent
from regard.records import Example

Ints = NDArray[np.int64]
STANDING = (FOCUS, "gradient", "gradient_times_input", "integrated_gradients", "leave_one_out", "tfidf")
# leave-one-out is no rival, but the measure itself, word by word
RIVALS = ("gradient", "gradient_times_input", "integrated_gradients")
BESIDE = ("gradient", "leave_one_out")  # what Jain & Wallace correlate attention with
LIMIT = 1000  # texts
TOP = ("permutation", "adversary", "trained_adversary")  # those that change the weights of the highest level
TRAINING = ("even", "seeds", "guided", "trained_adversary")  # diagnostics that train models
DIAGNOSTICS = ("correlation", "permutation", "adversary", *TRAINING)


class Wish(NamedTuple):
    """What is asked for."""

    explainers: Sequence[str] | None = None  # STANDING where None
    limit: int = LIMIT
    retrain: bool = False  # take the diagnostics that train models too
    seed: int = 0
    run: str = ""
    data: str = ""
    without: Sequence[str] = ()  # diagnostics that are left out, by name


def audit_run(
    trained: Trained,
    examples: Sequence[Example],
    wish: Wish | None = None,
    recorder: Recorder | None = None,
    learned_from: Sequence[Example] | None = None,
) -> Found:
    """`examples` need labels for some of the measures only. `learned_from` stands in for the run's training texts."""
    wish, recorder = wish or Wish(), recorder or Silent()
    task = check_run(trained)
    names = check_wish(wish, trained.capabilities)
    chosen = sample(examples, wish, recorder)
    texts = [example.text for example in chosen]
    labels = labels_of(task, chosen, wish.data)
    explanations = explained(trained, texts, names, wish.explainers is not None, recorder)
    recorder.note("asking the model without the top words, and with them alone")
    found = measured(
        trained.answers,
        texts,
        explanations.given,
        None if labels is None else labels.tolist(),
        [example.evidence for example in chosen],
        FOCUS,
        seed=wish.seed,
        rivals=RIVALS,
        lacking=explanations.lacking,
    )
    found |= {
        "run": wish.run,
        "data": wish.data,
        "classes": list(task.classes),
        "model": told_model(trained),
        "explainers": [
            *(told_explainer(name, explanations.own(name)) for name in explanations.given),
            {"name": RANDOM, "control": True},
        ],
    }
    found["left_out"] += explanations.refused
    found["separation"] = separation_of(trained, task, texts, labels, found["left_out"])
    teaching = Teaching(trained, texts, labels, wish.seed, recorder, learned_from)
    found["diagnostics"] = diagnose(teaching, explanations, wish, found["left_out"])
    found["notes"] += explanations.notes()
    if learned := texts_learned(trained.config.data, texts, wish.data, teaching.learned_from):
        found["notes"].append(f"{learned}: of such texts it is surer than of others")
    most = trained.config.data.max_words
    if most is not None and any(len(one.spans) == most for one in explanations.given[FOCUS]):
        found["notes"].append(
            f"some texts have {most} words or more: the model reads no further, and what is erased moves the end"
        )
    return Found({**found, "verdict": verdict(found)})


def check_run(trained: Trained) -> Classes:
    """The task, where there is something to audit."""
    if not isinstance(trained.task, Classes):
        raise InputError(
            f"task = {trained.task.kind!r}: answers that are numbers are not measured; a classifier's run is accepted"
        )
    if not any(level.attends for level in trained.capabilities):
        raise InputError(
            f"pooling = {trained.config.model.pooling!r}: it has no attention to audit; {', '.join(map(repr, attending()))} "
            "are accepted, and audit(predict, texts, attributions) measures any scores"
        )
    return trained.task


def check_wish(wish: Wish, levels: Sequence[Capabilities]) -> list[str]:
    """The explainers, attention first."""
    if wish.limit < 1:
        raise InputError(f"limit = {wish.limit}: 1 or more is accepted")
    for name in wish.without:
        if name not in DIAGNOSTICS:
            raise InputError(f"without: {name!r} is no diagnostic; accepted are {', '.join(DIAGNOSTICS)}")
    if wish.seed < 0:
        raise InputError(f"seed = {wish.seed}: 0 or more is accepted")
    also = ("attention_norm",) if any(level.sharpens for level in levels) else ()
    given = (*STANDING, *also) if wish.explainers is None else wish.explainers
    for name in given:
        if name not in EXPLAINERS:
            raise InputError(f"explainers: {name!r} is unknown; accepted are {', '.join(EXPLAINERS)}")
    return [name for name in dict.fromkeys((FOCUS, *given)) if name != RANDOM]


def sample(examples: Sequence[Example], wish: Wish, recorder: Recorder) -> list[Example]:
    """So many texts by chance, in the order of the file: a file may be sorted by its labels."""
    if not examples:
        raise InputError(f"{wish.data or 'texts'}: none was given; at least one is accepted")
    if len(examples) <= wish.limit:
        return list(examples)
    recorder.note(f"{wish.limit} of {len(examples)} texts, by chance; --limit takes more")
    places = np.random.default_rng(wish.seed).choice(len(examples), wish.limit, replace=False)
    return [examples[place] for place in np.sort(places).tolist()]


def labels_of(task: Classes, examples: Sequence[Example], where: str) -> Ints | None:
    """None where a text has none."""
    if any(example.label is None for example in examples):
        return None
    return np.array([task.encode(x.label, f"{where or 'texts'}, row {x.row}") for x in examples], dtype=np.int64)


def told_model(trained: Trained) -> dict[str, Any]:
    model = trained.config.model.filled()
    return {
        "encoder": model.encoder,
        "pooling": model.pooling,
        "levels": model.levels,
        "attention": model.attention,
        "scale": model.scale,
        "head_hidden": model.head_hidden,
    }


def told_explainer(name: str, given: Sequence[Attributed]) -> dict[str, Any]:
    """With its cost in passes over a text, on average. Seconds would differ from run to run."""
    passes = {what: finite(float(np.mean([one.cost[what] for one in given]))) for what in ("forward", "backward")}
    return {"name": name, "signed": EXPLAINERS[name].signed, "control": EXPLAINERS[name].is_control, **passes}


def separation_of(
    trained: Trained, task: Classes, texts: Sequence[str], labels: Ints | None, left_out: list[dict[str, str]]
) -> dict[str, Any] | None:
    """Sun & Lu: attention scores of words of a class against those of neutral words, by the texts audited."""
    try:
        if labels is None:
            raise InputError("not every text has a label")
        check_scores(trained.config.model)
        units = UnitTexts.of(trained.tokenizer, texts, labels.astype(np.float64))
        types = token_types(units, len(trained.tokenizer), task.classes)
        scores, _ = find_scores(trained, units, texts, True)
        found = separation_facts(Tokens(token_names(trained.tokenizer), types, scores, lead(scores.polarity)))
        if found is None:
            raise InputError("no word stands mostly in one class, or none evenly in all")
    except InputError as error:
        left_out.append({"what": "separation", "why": str(error)})
        return None
    return dict(to_json(found))


def diagnose(teaching: Teaching, explanations: Explained, wish: Wish, left_out: list[dict[str, str]]) -> dict[str, Any]:
    (trained, texts, labels, seed), recorder = teaching.given, teaching.recorder
    beside = [name for name in BESIDE if name in explanations.given]
    readings = read(trained, texts)
    found = dict[str, Any]()
    steps: dict[str, Callable[[], dict[str, Any]]] = {
        "correlation": lambda: correlated(explanations, beside, seed),
        "permutation": lambda: told_permuted(permuted(trained, readings, seed), seed),
        "adversary": lambda: told_farthest(farthest(trained, readings, seed), seed),
        "even": lambda: even_weights(teaching.lesson, teaching.first, recorder, seed),
        "seeds": lambda: other_seeds(teaching.lesson, teaching.first, texts, recorder, seed),
        "guided": lambda: guided(trained, teaching.lesson, recorder, seed),
        "trained_adversary": lambda: trained_adversary(trained, teaching.lesson, texts, labels, recorder, seed),
    }
    for name, step in steps.items():
        try:
            check_step(name, trained, wish, bool(beside))
            recorder.note(name.replace("_", " "))
            found[name] = step()
        except InputError as error:
            left_out.append({"what": name, "why": str(error)})
    return found


def correlated(explanations: Explained, beside: Sequence[str], seed: int) -> dict[str, Any]:
    """Of the texts that each has scores for."""
    found = dict[str, Any]()
    for name in beside:
        own, its = ([Scored(*one.scored()) for one in explanations.own(who, name)] for who in (FOCUS, name))
        found |= correlations(own, {name: its}, seed)
    return found


def check_step(name: str, trained: Trained, wish: Wish, beside: bool) -> None:
    """Refuse a diagnostic that is not wanted, or that there is nothing for."""
    if name in wish.without:
        raise InputError("it was not asked for")
    if name == "correlation" and not beside:
        raise InputError(f"neither of {' and '.join(BESIDE)} is among the explainers")
    if name in TOP and not trained.capabilities[-1].attends:
        raise InputError(f"pooling = {trained.config.model.pooling!r}: the highest level has no attention")
    if name in TRAINING and not wish.retrain:
        raise InputError("it trains models; --retrain asks for it")
    if name in TRAINING and trained.config.model.reads_pieces:
        raise InputError("training a pretrained encoder again would take too long")


class Teaching:
    """What models are trained again on, and the first of them; made when they are first asked for."""

    def __init__(
        self,
        trained: Trained,
        texts: Sequence[str],
        labels: Ints | None,
        seed: int,
        recorder: Recorder,
        learned_from: Sequence[Example] | None,
    ) -> None:
        self.given = (trained, texts, labels, seed)
        self.recorder = recorder
        self.learned_from = learned_from  # None until the run's own training texts are read

    @cached_property
    def lesson(self) -> Lesson:
        if self.learned_from is None:
            self.learned_from = list(training_texts(self.given[0].config.data))
        return make_lesson(*self.given, self.learned_from)

    @cached_property
    def first(self) -> Trained:
        return self.lesson.fit(self.recorder, "the model as it is")
