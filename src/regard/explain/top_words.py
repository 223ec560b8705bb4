"""The words that matter most in each text, whatever their sign, without the rest of an explanation, which takes longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from regard.explain.explain import chosen_methods, explain
from regard.explain.explainers import is_fast
from regard.explain.flat_texts import flat_chunks
from regard.explain.reading import check_texts
from regard.explain.targets import Target, numbers
from regard.kernels.strongest import strongest
from regard.models.model import Model
from regard.models.tasks import Named
from regard.models.trained import Trained
from regard.records import TopWords


def explain_top(
    trained: Model, texts: Sequence[str], most: int, method: str | None = None, target: Target = None
) -> Iterator[TopWords]:
    """Up to `most` words per text, the largest contribution first; of equal ones the earlier first."""
    weigh, sign = chosen_methods(trained, method)
    check_texts(texts)
    if not (is_fast(trained, weigh) and sign == "leave_one_out"):
        for one in explain(trained, texts, method=method, target=target):
            order = sorted(one.tokens, key=lambda token: -abs(token.contribution or 0.0))[:most]
            yield TopWords(one.prediction, one.target, tuple((x.text, x.contribution or 0.0) for x in order))
        return
    assert isinstance(trained, Trained)
    task = trained.task
    targets = numbers(task, target, len(texts))
    for chunk in flat_chunks(trained, texts, targets, repeated=False):
        predictions = task.predictions(task.answers(chunk.logits))
        classes = task.classes if isinstance(task, Named) else ()
        picked, bounds = strongest(chunk.effects, chunk.bounds, most)
        edges, starts, ends = pairwise(bounds.tolist()), chunk.starts[picked].tolist(), chunk.ends[picked].tolist()
        values = chunk.effects[picked].tolist()
        rows = zip(chunk.texts, predictions, chunk.targets.tolist(), edges, strict=True)
        for text, prediction, number, (low, high) in rows:
            words = tuple((text[starts[k] : ends[k]], values[k]) for k in range(low, high))
            yield TopWords(prediction, classes[number] if classes else None, words)
