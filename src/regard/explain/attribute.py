"""Word scores of texts by any explainer: the one path that commands, estimators, audit, report and server take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from regard.errors import InputError
from regard.explain.attention_weights import from_tables
from regard.explain.explainers import EXPLAINERS, Explainer, default_method
from regard.explain.reading import check_texts, read
from regard.explain.targets import Target, numbers
from regard.explain.word_scores import Attributed, Words, attributed
from regard.models.trained import Trained
from regard.records import Explanation

CHUNK = 512  # texts that `explain` holds at a time, so that a large file streams


def attribute(
    trained: Trained,
    texts: Sequence[str],
    method: str = "integrated_gradients",
    targets: Sequence[Target] | Target = None,
    **options: Any,
) -> list[Attributed]:
    """Which words the predictions are based on: one record per text, in their order.

    `targets` are the classes that scores are about, by name or number, one per text or one for all; None, for all or for
    some: the predicted class. `options` are those of the method, such as `steps` for integrated gradients.
    """
    return list(attributions(trained, texts, method, targets, options))


def attributions(
    trained: Trained, texts: Sequence[str], method: str, targets: Sequence[Target] | Target, options: Mapping[str, Any]
) -> Iterator[Attributed]:
    """The same, one after the other."""
    check_texts(texts)
    explainer = checked_method(method, options)
    chosen = numbers(trained.task, targets, len(texts))
    start, tokenizer = time.perf_counter(), trained.tokenizer
    if is_fast(trained, method):
        scores = from_tables(trained, texts, chosen)
        words: Iterator[Words] = ((one := tokenizer.outline(text), tokenizer.known(text, one.words)) for text in texts)
    else:
        readings = read(trained, texts)
        scores = explainer.function(trained, readings, chosen, **options)
        words = ((one.outline, tokenizer.known(one.text, one.outline.words, one.indexed)) for one in readings)
    seconds = (time.perf_counter() - start) / max(len(texts), 1)
    return attributed(trained, method, texts, words, scores, seconds)


def is_fast(trained: Trained, method: str) -> bool:
    """Whether scores come from a flat model's tables, without PyTorch, at about the cost of a prediction."""
    return trained.is_flat and EXPLAINERS[method].has_tables


def checked_method(method: str, options: Mapping[str, Any]) -> Explainer:
    if method not in EXPLAINERS:
        raise InputError(f"method: expected one of {', '.join(EXPLAINERS)}, got {method!r}")
    explainer = EXPLAINERS[method]
    for name in options:
        if name not in explainer.options:
            expected = f"expected one of {', '.join(explainer.options)}" if explainer.options else "it has no options"
            raise InputError(f"{name}: not an option of {method}; {expected}")
    return explainer


def explain(
    trained: Trained, texts: Sequence[str], labels: Sequence[str | float | None] | None = None
) -> Iterator[Explanation]:
    """One explanation per text, in order, by the model's default method: `attribute` in parts, as records to draw."""
    method = default_method(trained)
    for start in range(0, len(texts), CHUNK):
        part = texts[start : start + CHUNK]
        true = [None] * len(part) if labels is None else labels[start : start + CHUNK]
        for one, label in zip(attributions(trained, part, method, None, {}), true, strict=True):
            yield one.explanation(label)
