"""Word scores of texts by any explainer: the one path that commands, estimators, audit, report and server take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from regard.errors import InputError
from regard.explain.explainers import EXPLAINERS, Explainer, check_can_explain, default_method, from_tables
from regard.explain.reading import check_texts, read
from regard.explain.targets import Target, numbers
from regard.explain.word_scores import Attributed, Words, attributed
from regard.models.model import Model
from regard.records import Explanation, Label


def attribute(
    trained: Model,
    texts: Sequence[str],
    method: str = "integrated_gradients",
    targets: Sequence[Target] | Target = None,
    **options: Any,
) -> list[Attributed]:
    """Which words the predictions are based on: one record per text, in their order.

    Parameters
    ----------
    trained : Model
        What `regard.models.folder.load` returns, or `TextClassifier.trained_`.
    texts : sequence of str
        The texts.
    method : str
        The name of an explainer.
    targets : str, int, sequence or None
        The classes that scores are about, by name or number, one per text or one for all; None, for all or for some: the
        predicted class.
    **options
        Those of the method, such as `steps` for integrated gradients.
    """
    return list(attributions(trained, texts, method, targets, options))


def attributions(
    trained: Model, texts: Sequence[str], method: str, targets: Sequence[Target] | Target, options: Mapping[str, Any]
) -> Iterator[Attributed]:
    """The same, one after the other."""
    check_texts(texts)
    explainer = checked_method(trained, method, options)
    chosen = numbers(trained.task, targets, len(texts))
    start, tokenizer = time.perf_counter(), trained.tokenizer
    if (fast := from_tables(trained, method)) is not None:
        scores = fast(trained, texts, chosen)
        words: Iterator[Words] = ((one := tokenizer.outline(text), tokenizer.known(text, one.words)) for text in texts)
    else:
        readings = read(trained, texts)
        scores = explainer.function(trained, readings, chosen, **options)
        words = ((one.outline, tokenizer.known(one.text, one.outline.words, one.indexed)) for one in readings)
    seconds = (time.perf_counter() - start) / max(len(texts), 1)
    return attributed(trained, method, texts, words, scores, seconds)


def checked_method(trained: Model, method: str, options: Mapping[str, Any]) -> Explainer:
    if method not in EXPLAINERS:
        raise InputError(f"method: expected one of {', '.join(EXPLAINERS)}, got {method!r}")
    check_can_explain(trained, method)
    explainer = EXPLAINERS[method]
    for name in options:
        if name not in explainer.options:
            expected = f"expected one of {', '.join(explainer.options)}" if explainer.options else "it has no options"
            raise InputError(f"{name}: not an option of {method}; {expected}")
    return explainer


def weights_only(
    trained: Model, texts: Sequence[str], labels: Sequence[Label | None] | None = None
) -> Iterator[Explanation]:
    """Explanations without contributions, for measures of the model's weights themselves."""
    records = attributions(trained, texts, default_method(trained), None, {})
    for one, label in zip(records, [None] * len(texts) if labels is None else labels, strict=True):
        yield one.explanation(label)
