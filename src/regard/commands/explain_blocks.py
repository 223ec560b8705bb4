"""Explanations of many texts, some thousands at a time, so that a large file need not be in memory."""

from __future__ import annotations

import argparse
import os
import sys
import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from regard.commands.predict_blocks import block_of, chunks
from regard.commands.reading import check_lengths, is_large, read_options, read_source, read_text

if typing.TYPE_CHECKING:
    from regard.data.readers import Corpus, Stream
    from regard.explain.targets import Target
    from regard.explain.top_words import TopBlock
    from regard.models.model import Model
    from regard.models.trained import Trained
    from regard.records import Example, Explanation
    from regard.report.text.top_words import StrongestWords


def can_stream(arguments: argparse.Namespace, models: Sequence[Model]) -> bool:
    """Whether words of a file can be written without the rest of an explanation, and without holding all texts in memory."""
    from regard.explain.top_words import has_blocks
    from regard.models.tasks import MultiLabel

    if arguments.top is None or arguments.file is None or len(models) > 1 or isinstance(models[0].task, MultiLabel):
        return False
    return has_blocks(models[0], arguments.method)


def stream_top(arguments: argparse.Namespace, trained: Model, texts: Corpus | Stream) -> None:
    from regard.models.tasks import Named
    from regard.models.trained import Trained
    from regard.report.text.top_words import block_lines
    from regard.report.text.writing import emit

    assert isinstance(trained, Trained)
    blocks = strongest_blocks(trained, islice(texts, arguments.limit), arguments.top, arguments.target)
    emit(arguments.out, block_lines(blocks, trained.task.classes if isinstance(trained.task, Named) else ()))


@contextmanager
def read_texts(arguments: argparse.Namespace, trained: Model, kind: str) -> Iterator[Corpus | Stream]:
    """Those of the argument, of a file or of standard input.

    A large file is not read into memory at once if its explanations are written one by one, so a bad row may be reported after
    earlier rows were written.
    """
    from regard.corpora.lookup import resolve
    from regard.data.readers import report_skipped, stream
    from regard.report.text.characters import print_line
    from regard.report.text.notes import print_note

    source = arguments.file or "-"
    if arguments.file is None and arguments.text_given != "-":
        if os.path.isfile(arguments.text_given):
            sentence = f"explaining the words {arguments.text_given!r}; to read that file, use --file"
            print_line(f"regard: {sentence} {arguments.text_given}", sys.stderr)
        yield read_text(arguments.text_given)
    elif kind in ("jsonl", "csv") and is_large(source):
        texts = stream(resolve(source, "test"), read_options(arguments, trained, source))
        for sentence in texts.guessed:
            print_note(sentence)
        yield texts
        report_skipped(texts, print_note)
    else:
        yield read_source(arguments, trained, source)


def example_chunks(arguments: argparse.Namespace, trained: Model, texts: Corpus | Stream) -> Iterator[list[Example]]:
    """Up to --limit texts. The lengths of those that are still being read are checked here."""
    from regard.data.readers import Stream

    for chunk in chunks(islice(texts, arguments.limit)):
        if isinstance(texts, Stream):
            check_lengths(trained, chunk, texts.path)
        yield chunk


def explained_blocks(
    arguments: argparse.Namespace, models: Sequence[Model], texts: Corpus | Stream
) -> Iterator[tuple[Example, Sequence[Explanation]]]:
    """Every text with the explanation of each model."""
    from regard.explain.explain import explain
    from regard.models.tasks import labels_as_shown

    for chunk in example_chunks(arguments, models[0], texts):
        given = [example.text for example in chunk]
        each = [
            explain(model, given, labels_as_shown(model.task, chunk), arguments.method, arguments.target)
            for model in models
        ]
        yield from zip(chunk, zip(*each, strict=True), strict=True)


def strongest_blocks(
    trained: Trained, examples: Iterable[Example], most: int, target: Target
) -> Iterator[StrongestWords]:
    """Every text in order; threads read ahead."""
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
    from regard.report.text.top_words import StrongestWords

    predicted = block_of(trained.task, examples, trained.task.answers(block.logits))
    return StrongestWords(predicted, block.targets, block.bounds, block.starts, block.ends, block.values)
