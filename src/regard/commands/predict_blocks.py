"""Texts and their answers, some thousands at a time; threads predict while the caller reads on and writes."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from regard.commands.reading import check_lengths
from regard.errors import InputError

if typing.TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.models.model import Model
    from regard.models.task import Task
    from regard.records import Example, Prediction
    from regard.report.text.prediction_lines import Block

TEXTS = 1 << 12  # of a block


def predict_blocks(trained: Model, examples: Iterable[Example], where: str, strict: bool) -> Iterator[Block]:
    """Every text in order. A flat model is run by threads; any other is not safe there, or has threads of its own."""
    from regard.models.trained import Trained
    from regard.ordered_threads import ordered

    def predict(chunk: list[Example]) -> Block:
        return predict_block(trained, chunk, where, strict)

    run: Callable[..., Iterator[Block]] = ordered if isinstance(trained, Trained) and trained.is_flat else map
    yield from run(predict, chunks(examples))


def chunks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    from itertools import islice

    remaining = iter(examples)
    while chunk := list(islice(remaining, TEXTS)):
        yield chunk


def predict_block(trained: Model, chunk: list[Example], where: str, strict: bool) -> Block:
    """Texts that are too long for the model get an error, or raise it if `strict`."""
    try:
        answers = trained.answers([example.text for example in chunk if example.error is None])
    except InputError:
        if strict:
            check_lengths(trained, chunk, where)
            raise
        chunk = [example if example.error else checked(trained, example, where) for example in chunk]
        answers = trained.answers([example.text for example in chunk if example.error is None])
    return block_of(trained.task, chunk, answers)


def block_of(task: Task, examples: Sequence[Example], answers: NDArray[np.float64]) -> Block:
    from regard.models.tasks import Classes
    from regard.report.text.prediction_lines import Block

    return Block(examples, answers, task.chosen(answers) if isinstance(task, Classes) else None)


def predicted(
    trained: Model, blocks: Iterable[Block], with_novelty: bool = False
) -> Iterator[tuple[Example, Prediction | None]]:
    """Each text with its prediction, or None if it cannot be read."""
    for block in blocks:
        predictions = iter(trained.task.predictions(block.answers))
        if with_novelty:
            from regard.novelty import with_novelties

            texts = [example.text for example in block.examples if example.error is None]
            predictions = iter(with_novelties(trained, texts, block.answers))
        yield from ((example, None if example.error else next(predictions)) for example in block.examples)


def predict_stream(
    trained: Model, examples: Iterable[Example], where: str, strict: bool, with_novelty: bool = False
) -> Iterator[tuple[Example, Prediction | None]]:
    return predicted(trained, predict_blocks(trained, examples, where, strict), with_novelty)


def checked(trained: Model, example: Example, where: str) -> Example:
    """The example, with an error if the text is too long for the model."""
    try:
        check_lengths(trained, [example], where)
    except InputError as error:
        return replace(example, error=str(error))
    return example
