"""Every explainer by its name, and one function for all of them."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from regard.errors import InputError
from regard.explain.attention_weights import attention, attention_norm, weighted_norm
from regard.explain.attributed import Attributed
from regard.explain.controls import random, tfidf
from regard.explain.found import Found, attributed
from regard.explain.gradients import gradient, gradient_times_input
from regard.explain.integrated_gradients import integrated_gradients
from regard.explain.leave_one_out import leave_one_out
from regard.explain.reading import check_texts, read
from regard.explain.surrogate import surrogate
from regard.explain.targets import Target, numbers
from regard.models.trained import Trained


class Explainer(NamedTuple):
    function: Callable[..., list[Found]]  # (trained, readings, targets, **options), one a text and in their order
    signed: bool  # whether scores below zero speak against the target
    is_control: bool = False  # made without a look at what the model does with the words

    @property
    def options(self) -> tuple[str, ...]:
        given = inspect.signature(self.function).parameters.values()
        return tuple(one.name for one in given if one.kind is one.KEYWORD_ONLY)


EXPLAINERS: dict[str, Explainer] = {
    "attention": Explainer(attention, signed=False),
    "attention_norm": Explainer(attention_norm, signed=False),
    "weighted_norm": Explainer(weighted_norm, signed=False),
    "gradient": Explainer(gradient, signed=False),
    "gradient_times_input": Explainer(gradient_times_input, signed=True),
    "integrated_gradients": Explainer(integrated_gradients, signed=True),
    "leave_one_out": Explainer(leave_one_out, signed=True),
    "surrogate": Explainer(surrogate, signed=True),
    "random": Explainer(random, signed=False, is_control=True),
    "tfidf": Explainer(tfidf, signed=False, is_control=True),
}


def attribute(
    trained: Trained,
    texts: Sequence[str],
    method: str = "integrated_gradients",
    targets: Sequence[Target] | Target = None,
    **options: Any,
) -> list[Attributed]:
    """What the model's answers were made of, one a text and in their order.

    `targets` are the classes that scores are about, by name or number, one a text or one for all; None, for all or for
    some: the class that the model decides for. `options` are the method's own, such as `steps` of integrated gradients.
    """
    check_texts(texts)
    if method not in EXPLAINERS:
        raise InputError(f"method = {method!r}: accepted are {', '.join(EXPLAINERS)}")
    explainer = EXPLAINERS[method]
    for name in options:
        if name not in explainer.options:
            accepted = f"accepted are {', '.join(explainer.options)}" if explainer.options else "it has none"
            raise InputError(f"{name}: no option of {method}; {accepted}")
    chosen = numbers(trained.task, targets, len(texts))
    begun = time.perf_counter()
    readings = read(trained, texts)
    found = explainer.function(trained, readings, chosen, **options)
    seconds = (time.perf_counter() - begun) / max(len(texts), 1)
    return [attributed(trained, method, *pair, seconds) for pair in zip(readings, found, strict=True)]
