"""`regard predict`: one prediction per text; a large file is streamed."""

from __future__ import annotations

import argparse
import os
import sys
import typing
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import (
    add_folder,
    add_model,
    add_reading,
    check_lengths,
    load_model,
    read_options,
    read_source,
    read_text,
)
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from regard.data.readers import Corpus, Stream
    from regard.models.model import Model
    from regard.records import Example, Prediction

RESERVED = ("row", "text", "prediction", "probabilities")  # columns that predictions have
LARGE = 1 << 26  # bytes from which a file is streamed


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    add_model(parser)
    parser.add_argument(
        "source",
        metavar="FILE",
        nargs="?",
        default="-",
        help="a file of texts, - for standard input, or a text of at least two words",
    )
    add_reading(parser)
    parser.add_argument(
        "--format",
        choices=("terminal", "jsonl", "csv"),
        help="default: by the extension of --out; otherwise terminal, or jsonl in a pipe",
    )
    parser.add_argument(
        "--keep",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns of the file to copy to the output, such as an identifier",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write here instead of to standard output")


def run(arguments: argparse.Namespace) -> None:
    from regard.data.readers import Stream, report_skipped
    from regard.report.text.notes import print_note
    from regard.report.text.writing import write_predictions

    trained = load_model(arguments.folder, arguments.device)
    check_keep(arguments.keep, trained)
    texts = read_texts(arguments, trained)
    write_predictions(predict_stream(trained, texts, texts.path), arguments.format, arguments.out)
    if isinstance(texts, Stream):
        report_skipped(texts, print_note)


def check_keep(columns: Iterable[str], trained: Model) -> None:
    from regard.errors import quoted
    from regard.models.tasks import Classes

    classes = trained.task.classes if isinstance(trained.task, Classes) else ()
    reserved = [*RESERVED, *(f"p({name})" for name in classes)]
    for column in columns:
        if column in reserved:
            raise InputError(
                f"--keep {column}: predictions have a column of that name; expected any name except {quoted(reserved)}"
            )


def read_texts(arguments: argparse.Namespace, trained: Model) -> Corpus | Stream:
    """Texts to predict: those of a file, or the argument itself if it has several words and is not a file name.

    A large file is not read into memory at once, so a bad row may be reported after earlier rows were predicted.
    """
    from regard.corpora.lookup import resolve
    from regard.data.readers import FORMATS, report_reading, stream
    from regard.report.text.notes import print_note

    source = arguments.source
    if len(source.split()) != 1 and not os.path.exists(source):
        if arguments.keep:
            raise InputError(f"--keep {arguments.keep[0]}: expected a file with columns, got a text")
        if source.lower().endswith(tuple(f".{form}" for form in FORMATS)):
            print(f"regard: there is no file {source!r}; predicting these words as a text", file=sys.stderr)
        return read_text(source)
    if not os.path.isfile(source) or os.path.getsize(source) < LARGE:
        return read_source(arguments, trained, source, keep=arguments.keep)
    texts = stream(resolve(source, "test"), replace(read_options(arguments, trained), keep=arguments.keep))
    report_reading(texts, print_note)
    return texts


def predict_stream(trained: Model, examples: Iterable[Example], where: str) -> Iterator[tuple[Example, Prediction]]:
    """Each text with its prediction, some thousands at a time, so that a large file streams."""
    from itertools import islice

    remaining = iter(examples)
    while chunk := list(islice(remaining, 1 << 14)):
        try:
            answers = trained.answers([example.text for example in chunk])
        except InputError:
            check_lengths(trained, chunk, where)
            raise
        yield from zip(chunk, trained.task.predictions(answers), strict=True)
