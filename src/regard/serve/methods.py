"""How explainers are told to people: a sentence, and how many times each reads the text."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from regard.explain.attribute import EXPLAINERS
from regard.models.trained import Trained
from regard.report.names import explainer_name


class Told(NamedTuple):
    sentence: str
    passes: float | None  # over the text, there and back; None: as many as the text has words


TOLD = {
    "attention": Told("the weights that the model gives to words", 1),
    "attention_norm": Told("the weights as the learned norm sharpens them: what is summed", 1),
    "weighted_norm": Told("each weight times the length of what it weighs", 1),
    "gradient": Told("how fast the answer changes with a word's vector", 3),
    "gradient_times_input": Told("that change along the word's own vector", 3),
    "integrated_gradients": Told("gradients added up on the way from no words at all to the text", 150),
    "leave_one_out": Told("how far the answer falls when the word had never been written", None),
    "surrogate": Told("a linear model of how the answer changes as words are left out (LIME)", 250),
    "random": Told("numbers by chance: what no explainer should look like", 1),
    "tfidf": Told("how often each word stands in this text", 1),
}
UNTOLD = 500  # passes of an explainer that the table does not know
MOST_WORK = 1_000_000  # words × passes of one request; some ten seconds with a BiLSTM on two cores
LIKE = 540_000  # weights of a pretrained encoder that cost as much a word; MiniLM, of six layers, has 20 times as many


def methods(trained: Trained) -> list[str]:
    """The explainers that say something of their own about this model."""
    return [name for name in EXPLAINERS if name != "attention_norm" or has_norm(trained)]


def default_method(trained: Trained) -> str:
    """What `regard explain` shows: the weights that words have in the sum."""
    return "attention_norm" if has_norm(trained) else "attention"


def has_norm(trained: Trained) -> bool:
    return any(level.sharpens for level in trained.capabilities)


def told(name: str) -> Told:
    return TOLD.get(name, Told("", UNTOLD))


def as_dict(name: str) -> dict[str, Any]:
    explainer, said = EXPLAINERS[name], told(name)
    return {
        "name": name,
        "title": explainer_name(name),
        "sentence": said.sentence,
        "signed": explainer.signed,
        "control": explainer.is_control,
    }


def work(method: str, words: int) -> float:
    """Words × passes, for one text."""
    passes = told(method).passes
    return words * (words if passes is None else passes)


def budget(trained: Trained) -> float:
    """Words × passes that a request may take of this model."""
    if not trained.config.model.reads_pieces:
        return MOST_WORK
    own = sum(value.size for name, value in trained.weights.items() if name.startswith("levels.0.encoder."))
    return MOST_WORK / max(1.0, own / LIKE)


def most_words(method: str, budget: float) -> int:
    """Of a request that asks about one text."""
    passes = told(method).passes
    return int(math.sqrt(budget) if passes is None else budget / passes)
