"""`regard doubts`: labels that are likely wrong, as a table, a CSV file, and a page to correct them on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from regard.arguments import Parser
from regard.commands.options import add_options, options_given
from regard.commands.reading import add_escape_formulas, add_verify, is_wrapped, load_run
from regard.errors import InputError
from regard.report.text.characters import print_line

if TYPE_CHECKING:
    from regard.config import Config
    from regard.data.readers import Stream
    from regard.facts.doubts import DoubtFacts
    from regard.records import Example

OPTIONS = (  # of `train`: what the texts and labels are, and how texts are read
    *("text", "label", "label_separator", "task", "within_range", "skip_bad_rows"),
    *(
        "max_words",
        "min_count",
        "max_vocabulary",
        "pairs",
        "beginnings",
        "lowercase",
        "vectors",
        "class_weight",
        "seed",
    ),
)
SHOWN = 100


def add_arguments(parser: Parser) -> None:
    parser.usage = "regard doubts FILE [options]\n       regard doubts RUN --data FILE [options]"
    parser.add_argument(
        "source", metavar="FILE|RUN", help="texts and labels (a file, folder or named corpus), or a run with --data"
    )
    parser.add_argument("--data", metavar="FILE", help="with RUN, whose options are used: the texts and labels")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all rows, the most doubtful first, as CSV")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write an HTML page on which to correct the labels")
    parser.add_argument(
        "--pool", metavar="FILE", help="texts without labels, of which those worth labelling are chosen"
    )
    parser.add_argument("--next", type=Path, metavar="FILE", help="write the texts chosen from --pool as CSV")
    parser.add_argument(
        "--limit",
        type=int,
        default=SHOWN,
        metavar="N",
        help=f"rows on the page, and texts chosen from the pool (default: {SHOWN})",
    )
    add_escape_formulas(parser)
    add_verify(parser)
    add_options(parser, OPTIONS)


def run(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from regard.data.readers import report_reading
    from regard.doubts.doubts import find_doubts
    from regard.doubts.folds import cross_validate
    from regard.report.text.doubts import doubt_rows, next_rows, print_doubts
    from regard.report.text.formulas import Formulas
    from regard.report.text.notes import print_note
    from regard.report.text.progress import ConsoleRecorder
    from regard.report.text.writing import as_csv, emit

    check_arguments(arguments)
    config, source = config_and_source(arguments)
    with ConsoleRecorder() as recorder:
        stream = labelled_texts(source, config)
        examples = list(stream)
        report_reading(stream, recorder.note)
        pool = pool_texts(arguments.pool, stream, config) if arguments.pool else []
        out = cross_validate(examples, config, stream.path, recorder=recorder)
        facts = find_doubts(examples, out, stream.path, arguments.limit, pool, arguments.pool or "")
    formulas = Formulas(arguments.escape_formulas)
    if arguments.out:
        emit(arguments.out, as_csv(doubt_rows(facts), formulas))
    if arguments.next:
        emit(arguments.next, as_csv(next_rows(facts), formulas))
    formulas.report(print_note)
    if arguments.page:
        write_page(facts, stream, arguments)
    print_doubts(facts, Console())
    for name in ("out", "next"):
        if path := getattr(arguments, name):
            print_line(f"saved in {path}")
    if arguments.page:
        print_line(f"open {arguments.page} to correct labels")


def check_arguments(arguments: argparse.Namespace) -> None:
    """Refuse what cannot work before anything is read."""
    from regard.files import check_writable

    if arguments.limit < 1:
        raise InputError(f"--limit: expected 1 or more, got {arguments.limit}")
    if arguments.next and not arguments.pool:
        raise InputError("--next: needs --pool FILE, the texts to choose from")
    kinds = {"out": (".csv",), "next": (".csv",), "page": (".html", ".htm")}
    paths = [path for name in kinds if (path := getattr(arguments, name))]
    for name, suffixes in kinds.items():
        path = getattr(arguments, name)
        if path and path.suffix.lower() not in suffixes:
            raise InputError(
                f"--{name} {path}: expected a name that ends in {suffixes[0]}, got {path.suffix or 'none'}"
            )
        if path and path.is_dir():
            raise InputError(f"--{name} {path}: expected a file, got a folder")
        if path:
            check_writable(path.parent)
    if len({path.absolute() for path in paths}) < len(paths):
        raise InputError("--out and --next: expected two different files, got the same one twice")


def config_and_source(arguments: argparse.Namespace) -> tuple[Config, str]:
    """The options of training, and where the texts and labels are."""
    from regard.config import Config
    from regard.models.hub import is_on_hub
    from regard.models.run_files import is_run
    from regard.training.data_files import check_named

    source, given = arguments.source, options_given(arguments)
    if is_on_hub(source) or is_wrapped(source) or is_run(Path(source)):
        if not arguments.data:
            raise InputError(f"{source}: expected --data FILE with a run, the texts and labels that it was trained on")
        trained = load_run(source, "cpu", not arguments.no_verify)
        check_named(trained, given)
        return trained.config.override(given), arguments.data
    if arguments.data:
        raise InputError(f"--data: expected a run before it, got {source}, which is not one; name only one file")
    return Config().override(given), source


def labelled_texts(source: str, config: Config) -> Stream:
    from regard.corpora.lookup import resolve
    from regard.data.read_options import ReadOptions
    from regard.data.readers import stream

    data = config.data
    options = ReadOptions(
        data.text,
        data.label,
        skip_bad_rows=data.skip_bad_rows,
        several=data.task == "multilabel",
        label_separator=data.label_separator,
    )
    return stream(resolve(source, "train"), options)


def pool_texts(source: str, labelled: Stream, config: Config) -> list[Example]:
    """The texts of the column with the same name as in the labelled file, if the pool has it."""
    from regard.commands.reading import read_corpus
    from regard.data.read_options import ReadOptions
    from regard.data.readers import report_reading
    from regard.report.text.notes import print_note

    known = (labelled.text_column, None)
    corpus = read_corpus(
        source, ReadOptions(labelled=False, skip_bad_rows=config.data.skip_bad_rows, known=known), "train"
    )
    report_reading(corpus, print_note)
    return corpus.examples


def write_page(facts: DoubtFacts, stream: Stream, arguments: argparse.Namespace) -> None:
    from regard.files import write
    from regard.report.pages.doubts import Table, doubts_page

    rows = [(row.number, row.fields) for row in stream.rows() if row.problem is None]
    columns = list(dict.fromkeys(column for _, fields in rows for column in fields))
    assert stream.label_column is not None  # the texts are labelled
    table = Table(columns, rows, stream.label_column, Path(facts.data).name)
    write(arguments.page, doubts_page(facts, table, arguments.limit))
