"""The table of explainers, with everything that the rest of the package needs to know about each.

Commands, pages, the server and the audit read this table; none of them depends on the name of an explainer. Where no method
is named, `default_method` is used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from regard.data.wordpieces import WordPieces
from regard.errors import InputError
from regard.explain.attention_weights import attention, attention_from_tables, attention_norm, weighted_norm
from regard.explain.controls import random, tfidf
from regard.explain.flat_texts import leave_one_out_from_tables
from regard.explain.gradients import (
    gradient,
    gradient_times_input,
    integrated_gradients,
    two_point_gradients,
)
from regard.explain.leave_one_out import leave_one_out
from regard.explain.reading import Ints
from regard.explain.removal import MOST_WORDS
from regard.explain.sentence_occlusion import sentence_occlusion
from regard.explain.surrogate import surrogate
from regard.explain.word_scores import WordScores
from regard.extras import is_installed, require
from regard.models.model import Model

FromTables = Callable[[Any, Sequence[str], Ints], list[WordScores]]


@dataclass(frozen=True, kw_only=True)
class Explainer:
    function: Callable[..., list[WordScores]]  # (trained, readings, targets, **options), one per text, in their order
    title: str  # for headings, legends and lists
    sentence: str  # what the numbers are, in plain words
    reads: Literal["weights", "gradients", "answers", "nothing"]  # of the model; "nothing": a control
    signed: bool = False  # negative scores are evidence against the target
    passes: float | None = 1  # cost of one text, in predictions of it; None: one per word
    most_words: int | None = None  # longest text, if longer ones are refused
    needs_norm: bool = False  # differs from plain attention only if a norm sharpens it
    # (trained, texts, targets) for a flat model: from its tables, without PyTorch, at about the cost of a prediction
    from_tables: FromTables | None = None

    @property
    def is_control(self) -> bool:
        """Whether it ignores what the model does with the words: the others should do better."""
        return self.reads == "nothing"

    @property
    def options(self) -> tuple[str, ...]:
        parameters = inspect.signature(self.function).parameters.values()
        return tuple(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)


EXPLAINERS: dict[str, Explainer] = {
    "attention": Explainer(
        function=attention,
        title="attention",
        sentence="the attention weight α that the model gives to the word",
        reads="weights",
        from_tables=attention_from_tables,
    ),
    "attention_norm": Explainer(
        function=attention_norm,
        title="sharpened attention (α^p)",
        sentence="the attention weight as the learned norm p sharpens it: α^p, renormalised",
        reads="weights",
        needs_norm=True,
        from_tables=attention_from_tables,
    ),
    "weighted_norm": Explainer(
        function=weighted_norm,
        title="weight × length",
        sentence="the attention weight times the length of the word's state",
        reads="weights",
    ),
    "gradient": Explainer(
        function=gradient,
        title="gradient",
        sentence="how fast the prediction changes with the word's vector",
        reads="gradients",
        passes=3,
    ),
    "gradient_times_input": Explainer(
        function=gradient_times_input,
        title="gradient × input",
        sentence="how fast the prediction changes along the word's vector",
        reads="gradients",
        signed=True,
        passes=3,
    ),
    "two_point_gradients": Explainer(
        function=two_point_gradients,
        title="two-point gradients",
        sentence="how fast the prediction changes along the word's vector, at the text and half way to it from empty vectors",
        reads="gradients",
        signed=True,
        passes=5,
    ),
    "integrated_gradients": Explainer(
        function=integrated_gradients,
        title="integrated gradients",
        sentence="gradients summed along the path from empty word vectors to the text",
        reads="gradients",
        signed=True,
        passes=150,
    ),
    "leave_one_out": Explainer(
        function=leave_one_out,
        title="leave-one-out",
        sentence="how far the prediction drops without the word",
        reads="answers",
        signed=True,
        passes=None,
        most_words=MOST_WORDS,
        from_tables=leave_one_out_from_tables,
    ),
    "surrogate": Explainer(
        function=surrogate,
        title="surrogate",
        sentence="the word's coefficient in a linear model of how the prediction changes as words are left out (LIME)",
        reads="answers",
        signed=True,
        passes=250,
    ),
    "sentence_occlusion": Explainer(
        function=sentence_occlusion,
        title="sentence occlusion",
        sentence="how far the prediction drops without the word's sentence, in equal parts for its words",
        reads="answers",
        signed=True,
        passes=10,
    ),
    "random": Explainer(
        function=random,
        title="random",
        sentence="random numbers: every explainer should do better",
        reads="nothing",
    ),
    "tfidf": Explainer(
        function=tfidf,
        title="TF-IDF",
        sentence="how often the word occurs in this text, and how rare it is in others",
        reads="nothing",
    ),
}


def explainer_title(name: str) -> str:
    """The title of an explainer; for scores from elsewhere, the name given with them."""
    return EXPLAINERS[name].title if name in EXPLAINERS else name.replace("_", " ")


def default_method(trained: Model) -> str:
    """What a word's weight is if no method is named: the weights that the states were summed with; of a model that has only
    predictions, its share of the contributions for the target."""
    if trained.is_opaque:
        return default_contribution(trained)
    return "attention_norm" if any(level.sharpens for level in trained.capabilities) else "attention"


def default_contribution(trained: Model) -> str:
    """What a word's contribution is if no method is named: leaving the word out where that is a table lookup; elsewhere the
    cheap method that is more faithful than gradient × input, unless it gets more signs wrong, as it does with several levels
    (docs/explanations.md has the measurements). Pretrained encoders were not measured, and their passes are expensive."""
    if trained.is_flat or trained.is_opaque:
        return "leave_one_out"
    is_pretrained = isinstance(trained.tokenizer, WordPieces)
    return "gradient_times_input" if trained.levels > 1 or is_pretrained else "two_point_gradients"


def methods(trained: Model) -> list[str]:
    """The explainers that differ from each other for this model, and can explain it."""
    sharpens = any(level.sharpens for level in trained.capabilities)
    differing = [name for name, explainer in EXPLAINERS.items() if sharpens or not explainer.needs_norm]
    return [name for name in differing if can_explain(trained, name)]


def can_explain(trained: Model, method: str) -> bool:
    """Whether the model has what the method reads, and PyTorch is there if that takes it."""
    if trained.is_opaque:
        return EXPLAINERS[method].reads in ("answers", "nothing")
    return not needs_torch(trained, method) or is_installed("torch")


def needs_torch(trained: Model, method: str) -> bool:
    return EXPLAINERS[method].reads in ("weights", "gradients") and not is_fast(trained, method)


def check_can_explain(trained: Model, method: str) -> None:
    if not trained.is_opaque and needs_torch(trained, method):
        require("torch", f"method {method!r}")
    if not can_explain(trained, method):
        raise InputError(
            f"method: expected one of {', '.join(methods(trained))} for {trained.title}, of which only predictions are "
            f"available, got {method!r}, which reads its {EXPLAINERS[method].reads}"
        )


def is_fast(trained: Model, method: str) -> bool:
    """Whether scores come from a flat model's tables, without PyTorch, at about the cost of a prediction."""
    return from_tables(trained, method) is not None


def from_tables(trained: Model, method: str) -> FromTables | None:
    """The function that computes scores of a flat model from its tables; None if there is none, or the model is not flat."""
    return EXPLAINERS[method].from_tables if trained.is_flat else None
