"""Explanations of many texts by a flat model: from the arrays of some hundred texts at a time, read by two threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from regard.explain.flat_texts import FlatChunk, flat_chunks
from regard.explain.scored_text import word_strength
from regard.explain.targets import Ints
from regard.models.tasks import Named
from regard.models.trained import Trained
from regard.records import Explanation, Label, RepeatedWord, Tokens


def explain_flat(
    trained: Trained,
    texts: Sequence[str],
    labels: Sequence[Label | None] | None,
    targets: Ints,
    methods: tuple[str, str],
) -> Iterator[Explanation]:
    """`methods`: what the weights are, and what the contributions are."""
    task, strong, done = trained.task, word_strength(trained.task), 0
    for chunk in flat_chunks(trained, texts, targets):
        predictions = task.predictions(task.answers(chunk.logits))
        known = [None] * len(chunk.texts) if labels is None else labels[done : done + len(chunk.texts)]
        names = [task.classes[k] for k in chunk.targets.tolist()] if isinstance(task, Named) else [None] * len(known)
        rows = zip(
            chunk.texts, predictions, known, names, pairwise(chunk.bounds.tolist()), repeated_words(chunk), strict=True
        )
        for text, prediction, label, target, (low, high), repeated in rows:
            yield Explanation(
                text=text,
                prediction=prediction,
                tokens=tokens(chunk, text, slice(low, high)),
                method=methods[0],
                label=label,
                contribution_method=methods[1],
                target=target,
                repeated=repeated,
                strong=strong,
            )
        done += len(chunk.texts)


def tokens(chunk: FlatChunk, text: str, span: slice) -> Tokens:
    places, scores = (chunk.starts[span], chunk.ends[span]), (chunk.weights[span], chunk.effects[span])
    return Tokens(text, *places, *scores, chunk.codes[span])


def repeated_words(chunk: FlatChunk) -> Iterator[tuple[RepeatedWord, ...]]:
    """Of each text."""
    members, joint = chunk.members.tolist(), chunk.joint.tolist()
    groups = [tuple(members[low:high]) for low, high in pairwise(chunk.member_starts.tolist())]
    origin = [group[0] for group in groups]
    for row, (first, last) in enumerate(pairwise(chunk.group_bounds.tolist())):
        text, low = chunk.texts[row], int(chunk.bounds[row])
        places = [low + word for word in origin[first:last]]
        starts, ends = chunk.starts[places].tolist(), chunk.ends[places].tolist()
        found = zip(starts, ends, groups[first:last], joint[first:last], strict=True)
        yield tuple(RepeatedWord(text[start:end], group, value) for start, end, group, value in found)
