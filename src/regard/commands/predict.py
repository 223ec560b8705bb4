"""`regard predict`: a line of answer a text, of a large file while it is read."""

from __future__ import annotations

import argparse
import os
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.arguments import Parser
from regard.commands.loading import add_folder, load_model
from regard.commands.reading import add_reading, read_source, reading
from regard.errors import InputError

if typing.TYPE_CHECKING:
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
    from regard.report.writing import write_predictions

    for column in arguments.keep:
        if column in TAKEN:
            raise InputError(
                f"--keep {column}: answers have a column of that name; accepted are names but {', '.join(TAKEN)}"
            )
    trained = load_model(arguments.folder, arguments.device)
    write_predictions(predicted(trained, read_large(arguments, trained)), arguments.format, arguments.out)


def read_large(arguments: argparse.Namespace, trained: Trained) -> Iterable[Example]:
    """Texts to predict. Of a large file not all are in memory; so a bad row is met when others were answered already."""
    from regard.data.datasets import resolve
    from regard.data.readers import stream
    from regard.report.progress import Watch
    from regard.runs import tell

    source = arguments.source
    if not os.path.isfile(source) or os.path.getsize(source) < LARGE:
        return read_source(arguments, trained, source, keep=arguments.keep)
    found = stream(resolve(source, "test"), **reading(arguments, trained), labelled=False, keep=arguments.keep)
    tell(found, Watch())
    return found


def predicted(trained: Trained, examples: Iterable[Example]) -> Iterator[tuple[Example, Prediction]]:
    """Each text with what the model says of it, some thousand at a time, so that a large file streams."""
    from itertools import islice

    several = iter(examples)
    while part := list(islice(several, 1 << 14)):
        said = trained.task.predictions(trained.answers([example.text for example in part]))
        yield from zip(part, said, strict=True)
