"""The strongest words of many texts, some thousands at a time; threads read them while the caller reads on and writes."""

from __future__ import annotations

import argparse
import os
import typing
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from regard.commands.predict import LARGE
from regard.commands.predict_blocks import chunks
from regard.commands.reading import read_corpus, read_options

if typing.TYPE_CHECKING:
    from regard.data.readers import Corpus, Stream
    from regard.explain.targets import Target
    from regard.explain.top_words import TopBlock
    from regard.models.model import Model
    from regard.models.trained import Trained
    from regard.records import Example
    from regard.report.text.top_words import StrongestWords


def can_stream(arguments: argparse.Namespace, models: Sequence[Model]) -> bool:
    """Whether words of a file can be written without the rest of an explanation, and without holding all texts in memory."""
    from regard.explain.top_words import has_blocks
    from regard.models.tasks import MultiLabel

    if arguments.top is None or arguments.file is None or len(models) > 1 or isinstance(models[0].task, MultiLabel):
        return False
    return has_blocks(models[0], arguments.method)


def stream_top(arguments: argparse.Namespace, trained: Model) -> None:
    """A large file is not read into memory at once, so a bad row may be reported after earlier rows were written."""
    from regard.data.readers import report_skipped
    from regard.models.tasks import Named
    from regard.models.trained import Trained
    from regard.report.text.notes import print_note
    from regard.report.text.top_words import block_lines
    from regard.report.text.writing import emit

    assert isinstance(trained, Trained)
    texts = read_texts(arguments, trained)
    for sentence in texts.guessed:
        print_note(sentence)
    blocks = strongest_blocks(trained, islice(texts, arguments.limit), arguments.top, arguments.target)
    emit(arguments.out, block_lines(blocks, trained.task.classes if isinstance(trained.task, Named) else ()))
    report_skipped(texts, print_note)


def read_texts(arguments: argparse.Namespace, trained: Model) -> Corpus | Stream:
    from regard.corpora.lookup import resolve
    from regard.data.readers import stream

    source = arguments.file
    options = read_options(arguments, trained, source)
    if os.path.isfile(source) and os.path.getsize(source) >= LARGE:
        return stream(resolve(source, "test"), options)
    return read_corpus(source, options, "test")


def strongest_blocks(
    trained: Trained, examples: Iterable[Example], most: int, target: Target
) -> Iterator[StrongestWords]:
    """Every text in order."""
    from regard.explain.top_words import top_blocks
    from regard.ordered_threads import ordered

    def read(chunk: list[Example]) -> list[StrongestWords]:
        first, words = 0, []
        for block in top_blocks(trained, [example.text for example in chunk], most, target, in_threads=False):
            words.append(as_lines(trained, chunk[first : first + len(block.texts)], block))
            first += len(block.texts)
        return words

    for several in ordered(read, chunks(examples)):
        yield from several


def as_lines(trained: Trained, examples: Sequence[Example], block: TopBlock) -> StrongestWords:
    from regard.models.tasks import Classes
    from regard.report.text.prediction_lines import Block
    from regard.report.text.top_words import StrongestWords

    task = trained.task
    answers = task.answers(block.logits)
    predicted = Block(examples, answers, task.chosen(answers) if isinstance(task, Classes) else None)
    return StrongestWords(predicted, block.targets, block.bounds, block.starts, block.ends, block.values)
