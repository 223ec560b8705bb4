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
from regard.commands.predict_files import add_file_arguments, is_of_files, run_files
from regard.commands.reading import (
    add_escape_formulas,
    add_folder,
    add_model,
    add_reading,
    check_lengths,
    is_large,
    load_model,
    read_corpus,
    read_options,
    read_text,
)
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from regard.data.read_options import ReadOptions
    from regard.data.readers import Corpus, Stream
    from regard.models.model import Model
    from regard.records import Example, Prediction
    from regard.report.text.prediction_lines import Block
    from regard.report.text.predictions import Layout
    from regard.report.text.progress import RowCounter

    Predicted = tuple[Example, Prediction | None]  # None: the example has an error instead

RESERVED = ("row", "text", "prediction", "probabilities", "error")  # keys that predictions have in any format
ADVICE = "without --strict, such rows get an error instead of a prediction"


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    add_model(parser)
    parser.add_argument(
        "source",
        metavar="FILE",
        nargs="?",
        default="-",
        help="a file of texts, - for standard input, or a text; or many Parquet files, such as 'reviews/*.parquet'",
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
    parser.add_argument(
        "--out", metavar="FILE", help="write here instead of to standard output; of many Parquet files: a folder"
    )
    add_escape_formulas(parser)
    add_file_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    from regard.report.text.notes import print_note
    from regard.report.text.predictions import prediction_format

    if arguments.strict and arguments.skip_bad_rows:
        raise InputError("--strict stops at a bad row and --skip-bad-rows goes on; use only one of them")
    of_files = is_of_files(arguments)
    trained = load_model(arguments.folder, "cpu" if arguments.on else arguments.device, not arguments.no_verify)
    layout = layout_of(arguments, trained)
    if of_files:
        run_files(arguments, trained, layout)
        return
    check_kept(arguments.keep, layout)
    arguments.out = None if arguments.out is None else Path(arguments.out)
    kind = prediction_format(arguments.format, arguments.out, layout, arguments.escape_formulas)
    tally = Tally()
    if kind == "parquet" and is_columnar(arguments.source):
        predict_columns(arguments, trained, layout, tally)
    else:
        predict_rows(arguments, trained, layout, kind, tally)
    if tally.bad:
        rows = f"{tally.rows:,} row{'s' * (tally.rows != 1)}"
        where = "; see the column error" if kind not in ("terminal", "fasttext") else ""
        print_note(f"{tally.bad:,} of {rows} {'has' if tally.bad == 1 else 'have'} no prediction{where}")


def predict_rows(arguments: argparse.Namespace, trained: Model, layout: Layout, kind: str, tally: Tally) -> None:
    from regard.commands.predict_blocks import predict_blocks, predicted
    from regard.data.readers import Corpus
    from regard.models.tasks import MultiLabel
    from regard.report.text.notes import print_note
    from regard.report.text.prediction_lines import block_lines
    from regard.report.text.predictions import write_predictions
    from regard.report.text.progress import RowCounter
    from regard.report.text.writing import emit

    texts = read_texts(arguments, trained)
    total = len(texts.examples) if isinstance(texts, Corpus) else None
    blocks = predict_blocks(trained, texts, texts.path, arguments.strict)
    # lines that appear on the terminal meanwhile would get mixed up with the bar
    visible = arguments.out is not None or kind == "terminal" or not sys.stdout.isatty()
    with RowCounter(total, visible) as counter:
        if kind == "jsonl" and layout.is_plain and not isinstance(trained.task, MultiLabel):
            emit(arguments.out, block_lines(tally.count_blocks(blocks, counter), layout))
            return
        predictions = counter.count(tally.count(predicted(trained, blocks, arguments.novelty)))
        write_predictions(predictions, kind, arguments.out, layout, print_note, arguments.escape_formulas)


def layout_of(arguments: argparse.Namespace, trained: Model) -> Layout:
    """What is written about every text, if the options fit each other and the model."""
    from regard.data.label_sets import joiner
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
    return Layout(
        classes,
        tuple(arguments.keep),
        not arguments.strict,
        arguments.top,
        arguments.digits,
        arguments.novelty,
        between,
    )


def check_kept(columns: Iterable[str], layout: Layout) -> None:
    from regard.errors import quoted

    reserved = [*dict.fromkeys((*RESERVED, *layout.answer_columns()))]
    for column in columns:
        if column in reserved:
            raise InputError(
                f"--keep {column}: predictions have a column of that name; expected any name except {quoted(reserved)}"
            )


class Tally:
    """How many rows were written, and how many of them have no prediction."""

    rows = bad = 0

    def count(self, pairs: Iterable[Predicted]) -> Iterator[Predicted]:
        for example, prediction in pairs:
            self.rows, self.bad = self.rows + 1, self.bad + (prediction is None)
            yield example, prediction

    def count_blocks(self, blocks: Iterable[Block], counter: RowCounter) -> Iterator[Block]:
        for block in blocks:
            yield block
            self.rows, self.bad = self.rows + len(block.examples), self.bad + len(block.examples) - len(block.answers)
            counter.show(self.rows)


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
    options = predict_options(arguments, trained)
    if is_large(source):
        texts: Corpus | Stream = stream(resolve(source, "test"), options)
    else:
        texts = read_corpus(source, options, "test")
        if strict:
            check_lengths(trained, texts.examples, texts.path)
    for sentence in texts.guessed:
        print_note(sentence)
    return texts


def predict_options(arguments: argparse.Namespace, trained: Model) -> ReadOptions:
    return replace(
        read_options(arguments, trained, arguments.source),
        keep=arguments.keep,
        skip_bad_rows=False,
        mark_bad_rows=not arguments.strict,
        advice=ADVICE,
    )


def is_columnar(source: str) -> bool:
    """Whether it is a Parquet file, which can be read by columns."""
    return os.path.isfile(source) and source.lower().endswith(".parquet")


def predict_columns(arguments: argparse.Namespace, trained: Model, layout: Layout, tally: Tally) -> None:
    """From Parquet to Parquet: texts and columns that are kept never become Python objects."""
    from regard.data.readers import stream
    from regard.report.text.notes import print_note
    from regard.report.text.predictions import write_pieces
    from regard.report.text.progress import RowCounter
    from regard.scoring.parquet_files import Columns, has_texts, predict_file
    from regard.scoring.scorer import Scorer

    texts = stream(arguments.source, predict_options(arguments, trained))
    if not has_texts(arguments.source, texts.text_column):
        predict_rows(arguments, trained, layout, "parquet", tally)
        return
    for sentence in texts.guessed:
        print_note(sentence)
    columns = Columns(texts.text_column, layout.kept)
    with RowCounter(None, arguments.out is not None or not sys.stdout.isatty()) as counter:

        def count(rows: int, bad: int) -> None:
            tally.rows, tally.bad = rows, bad
            counter.show(rows)

        advice = ADVICE if arguments.strict else None
        write_pieces(predict_file(Scorer(trained, layout), texts.path, columns, count, advice), arguments.out)


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
