"""`regard predict`: one prediction per text; a large file is streamed."""

from __future__ import annotations

import argparse
import difflib
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
    read_corpus,
    read_options,
    read_text,
)
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from regard.data.readers import Corpus, Stream
    from regard.models.model import Model
    from regard.records import Example, Prediction
    from regard.report.text.predictions import Layout

    Predicted = tuple[Example, Prediction | None]  # None: the example has an error instead

RESERVED = ("row", "text", "prediction", "probabilities", "error")  # keys that predictions have in any format
LARGE = 1 << 26  # bytes from which a file is streamed


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    add_model(parser)
    parser.add_argument(
        "source",
        metavar="FILE",
        nargs="?",
        default="-",
        help="a file of texts, - for standard input, or a text",
    )
    add_reading(parser, "write an error instead of a prediction for rows that cannot be used (the default)")
    parser.add_argument("--strict", action="store_true", help="stop at the first row that cannot be used")
    parser.add_argument(
        "--format",
        choices=("terminal", "jsonl", "csv", "fasttext", "parquet", "xlsx"),
        help="default: by the extension of --out; otherwise terminal, or jsonl in a pipe",
    )
    parser.add_argument(
        "--keep",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns of the file to copy to the output, such as an identifier",
    )
    parser.add_argument("--top", type=int, metavar="K", help="write only the K most probable classes, in order")
    parser.add_argument(
        "--digits",
        type=int,
        metavar="N",
        help="round probabilities and predicted numbers to N decimals (default: do not)",
    )
    parser.add_argument(
        "--novelty", action="store_true", help="add how little each text resembles the training texts, from 0 to 1"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write here instead of to standard output")


def run(arguments: argparse.Namespace) -> None:
    from regard.data.readers import Corpus
    from regard.report.text.notes import print_note
    from regard.report.text.predictions import prediction_format, write_predictions
    from regard.report.text.progress import RowCounter

    if arguments.strict and arguments.skip_bad_rows:
        raise InputError("--strict stops at a bad row and --skip-bad-rows goes on; use only one of them")
    trained = load_model(arguments.folder, arguments.device)
    layout = layout_of(arguments, trained)
    kind = prediction_format(arguments.format, arguments.out, layout)
    texts = read_texts(arguments, trained)
    tally = Tally()
    total = len(texts.examples) if isinstance(texts, Corpus) else None
    # lines that appear on the terminal meanwhile would get mixed up with the bar
    visible = arguments.out is not None or kind == "terminal" or not sys.stdout.isatty()
    with RowCounter(total, visible) as counter:
        predictions = counter.count(
            tally.count(predict_stream(trained, texts, texts.path, arguments.strict, arguments.novelty))
        )
        write_predictions(predictions, kind, arguments.out, layout, print_note)
    if tally.bad:
        rows = f"{tally.rows:,} row{'s' * (tally.rows != 1)}"
        where = "; see the column error" if kind not in ("terminal", "fasttext") else ""
        print_note(f"{tally.bad:,} of {rows} {'has' if tally.bad == 1 else 'have'} no prediction{where}")


def layout_of(arguments: argparse.Namespace, trained: Model) -> Layout:
    """What is written about every text, if the options fit each other and the model."""
    from regard.data.label_sets import joiner
    from regard.errors import quoted
    from regard.models.tasks import MultiLabel, Named
    from regard.report.text.predictions import Layout

    classes = trained.task.classes if isinstance(trained.task, Named) else ()
    if arguments.top is not None and not classes:
        raise InputError(f"--top {arguments.top}: expected a model of classes, got one that predicts numbers")
    if arguments.top is not None and arguments.top < 1:
        raise InputError(f"--top: expected a number of classes from 1, got {arguments.top}")
    if arguments.digits is not None and not 0 <= arguments.digits <= 15:
        raise InputError(f"--digits: expected a number from 0 to 15, got {arguments.digits}")
    between = joiner(classes, trained.data.label_separator) if isinstance(trained.task, MultiLabel) else None
    layout = Layout(
        classes,
        tuple(arguments.keep),
        not arguments.strict,
        arguments.top,
        arguments.digits,
        arguments.novelty,
        between,
    )
    reserved = [*dict.fromkeys((*RESERVED, *layout.answer_columns()))]
    for column in arguments.keep:
        if column in reserved:
            raise InputError(
                f"--keep {column}: predictions have a column of that name; expected any name except {quoted(reserved)}"
            )
    return layout


class Tally:
    """How many rows were written, and how many of them have no prediction."""

    rows = bad = 0

    def count(self, pairs: Iterable[Predicted]) -> Iterator[Predicted]:
        for example, prediction in pairs:
            self.rows, self.bad = self.rows + 1, self.bad + (prediction is None)
            yield example, prediction


def read_texts(arguments: argparse.Namespace, trained: Model) -> Corpus | Stream:
    """Texts to predict: those of a file or a named corpus, or the argument itself if it cannot be the name of one.

    A large file is not read into memory at once, so a bad row may be reported after earlier rows were predicted.
    """
    from regard.corpora.lookup import resolve
    from regard.data.readers import stream
    from regard.report.text.notes import print_note

    source, strict = arguments.source, arguments.strict
    if is_text(source):
        if arguments.keep:
            raise InputError(f"--keep {arguments.keep[0]}: expected a file with columns, got a text")
        return read_text(source)
    options = replace(
        read_options(arguments, trained, source),
        keep=arguments.keep,
        skip_bad_rows=False,
        mark_bad_rows=not strict,
        advice="without --strict, such rows get an error instead of a prediction",
    )
    if os.path.isfile(source) and os.path.getsize(source) >= LARGE:
        texts: Corpus | Stream = stream(resolve(source, "test"), options)
    else:
        texts = read_corpus(source, options, "test")
        if strict:
            check_lengths(trained, texts.examples, texts.path)
    for sentence in texts.guessed:
        print_note(sentence)
    return texts


def is_text(source: str) -> bool:
    """Whether the argument is a text: not the name of a file or corpus, and not like one, such as "reviews.csv"."""
    from regard.corpora.catalogue import catalogue
    from regard.corpora.lookup import available
    from regard.data.readers import FORMATS

    if source == "-" or os.path.exists(source):
        return False
    if len(source.split()) == 1:
        corpora = [*(dataset.name for dataset in available()), *catalogue()]
        if not source.strip("!?").isalpha() or difflib.get_close_matches(source, corpora, 1, 0.8):
            return False
        print(f"regard: there is no file {source!r}; predicting this word as a text", file=sys.stderr)
    elif source.lower().endswith(tuple(f".{form}" for form in FORMATS)):
        print(f"regard: there is no file {source!r}; predicting these words as a text", file=sys.stderr)
    return True


def predict_stream(
    trained: Model, examples: Iterable[Example], where: str, strict: bool, with_novelty: bool = False
) -> Iterator[Predicted]:
    """Each text with its prediction, or None if it cannot be read; some thousands at a time, so that a large file streams."""
    from itertools import islice

    remaining = iter(examples)
    while chunk := list(islice(remaining, 1 << 14)):
        usable = [example for example in chunk if example.error is None]
        try:
            answers = trained.answers([example.text for example in usable])
        except InputError:
            if strict:
                check_lengths(trained, chunk, where)
                raise
            chunk = [example if example.error else checked(trained, example, where) for example in chunk]
            usable = [example for example in chunk if example.error is None]
            answers = trained.answers([example.text for example in usable])
        predictions = iter(trained.task.predictions(answers))
        if with_novelty:
            from regard.novelty import with_novelties

            predictions = iter(with_novelties(trained, [example.text for example in usable], answers))
        yield from ((example, None if example.error else next(predictions)) for example in chunk)


def checked(trained: Model, example: Example, where: str) -> Example:
    """The example, with an error if the text is too long for the model."""
    try:
        check_lengths(trained, [example], where)
    except InputError as error:
        return replace(example, error=str(error))
    return example
