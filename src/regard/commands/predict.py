"""`regard predict`: a line of answer a text, of a large file while it is read."""

from __future__ import annotations

import argparse
import os
import sys
import typing
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from regard.arguments import Parser
from regard.commands.loading import add_folder, load_model
from regard.commands.reading import add_reading, check_lengths, read_options, read_source, read_text
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from regard.data.readers import Corpus, Stream
    from regard.models.trained import Trained
    from regard.records import Example, Prediction

TAKEN = ("row", "text", "prediction", "probabilities")  # what the columns of answers are called
LARGE = 1 << 26  # bytes of a file that is answered while it is read


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    parser.add_argument(
        "source",
        metavar="FILE",
        nargs="?",
        default="-",
        help="a file of texts, or - for standard input; words with spaces between them are taken as a text",
    )
    add_reading(parser)
    parser.add_argument(
        "--format", choices=("terminal", "jsonl", "csv"), help="default: terminal, or jsonl into a pipe or file"
    )
    parser.add_argument(
        "--keep", nargs="+", default=[], metavar="COLUMN", help="columns of the file that go along, such as a number"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write here instead of to standard output")


def run(arguments: argparse.Namespace) -> None:
    from regard.data.readers import Stream, report_skipped
    from regard.report.text.progress import Watch
    from regard.report.text.writing import write_predictions

    trained = load_model(arguments.folder, arguments.device)
    check_kept(arguments.keep, trained)
    texts = read_texts(arguments, trained)
    write_predictions(predicted(trained, texts, texts.path), arguments.format, arguments.out)
    if isinstance(texts, Stream):
        report_skipped(texts, Watch().note)


def check_kept(columns: Iterable[str], trained: Trained) -> None:
    from regard.errors import quoted
    from regard.models.tasks import Classes

    classes = trained.task.classes if isinstance(trained.task, Classes) else ()
    taken = [*TAKEN, *(f"p({name})" for name in classes)]
    for column in columns:
        if column in taken:
            raise InputError(
                f"--keep {column}: answers have a column of that name; accepted are names but {quoted(taken)}"
            )


def read_texts(arguments: argparse.Namespace, trained: Trained) -> Corpus | Stream:
    """Texts to predict: of a file, or the argument itself where it is more than one word and no file's name.

    Of a large file not all are in memory; so a bad row is met when others were answered already.
    """
    from regard.corpora.lookup import resolve
    from regard.data.readers import FORMATS, report_reading, stream
    from regard.report.text.progress import Watch

    source = arguments.source
    if len(source.split()) != 1 and not os.path.exists(source):
        if arguments.keep:
            raise InputError(f"--keep {arguments.keep[0]}: a text on the command line has no columns; a file has")
        if source.lower().endswith(tuple(f".{form}" for form in FORMATS)):
            print(f"regard: there is no file {source!r}; these words are taken as a text", file=sys.stderr)
        return read_text(source)
    if not os.path.isfile(source) or os.path.getsize(source) < LARGE:
        return read_source(arguments, trained, source, keep=arguments.keep)
    found = stream(resolve(source, "test"), replace(read_options(arguments, trained), keep=arguments.keep))
    report_reading(found, Watch().note)
    return found


def predicted(trained: Trained, examples: Iterable[Example], where: str) -> Iterator[tuple[Example, Prediction]]:
    """Each text with what the model says of it, some thousand at a time, so that a large file streams."""
    from itertools import islice

    several = iter(examples)
    while part := list(islice(several, 1 << 14)):
        try:
            answers = trained.answers([example.text for example in part])
        except InputError:
            check_lengths(trained, part, where)
            raise
        yield from zip(part, trained.task.predictions(answers), strict=True)
