"""`regard datasets`: list the corpora on this machine, show where to get others, convert downloads."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from regard.arguments import Parser, flag
from regard.commands.reading import add_encoding
from regard.errors import InputError
from regard.report.text.characters import print_line


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="name of a public corpus or of your own (default: list all)"
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="PATH",
        help="the original as downloaded, your own table, or hub:ORG/NAME on the Hugging Face hub",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the corpora folder to write NAME into (default: REGARD_DATA)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing corpus")
    parser.add_argument("--text", metavar="COLUMN", help="text column of your own table or of the hub's")
    parser.add_argument("--label", metavar="COLUMN", help="label column")
    parser.add_argument("--skip-bad-rows", action="store_true", help="skip rows of your table that cannot be used")
    add_encoding(parser)


def run(arguments: argparse.Namespace) -> None:
    if arguments.source is not None and arguments.name is None:
        raise InputError("--from: the name of the corpus is missing; expected regard datasets NAME --from PATH")
    if arguments.source is not None:
        convert_dataset(arguments)
        return
    options = [name for name in ("out", "text", "label", "encoding") if getattr(arguments, name) is not None]
    options += [name for name in ("overwrite", "skip_bad_rows") if getattr(arguments, name)]
    if options:
        raise InputError(f"{flag(options[0])}: needs --from, which names the original to convert")
    show_datasets() if arguments.name is None else show_dataset(arguments.name)


def show_datasets() -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from regard.corpora.description import missing
    from regard.corpora.lookup import VARIABLE, available
    from regard.report.text.characters import one_line
    from regard.report.text.notes import print_note

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "splits", "description"):
        table.add_column(heading)
    datasets = available()
    for dataset in datasets:
        cells = (dataset.name, ", ".join(dataset.splits), dataset.title)
        table.add_row(*(Text(one_line(cell)) for cell in cells))  # the title comes from a file of the corpus
    for name, known in missing().items():
        table.add_row(*map(Text, (name, "missing", known.title)), style="dim")
    Console().print(table)
    if not datasets:
        folder = os.environ.get(VARIABLE)
        value = repr(folder) if folder else "not set"
        print_note(f"{VARIABLE} is {value}; it names the folder that contains the corpora, such as NAME/train.csv")


def show_dataset(name: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from regard.corpora.description import describe
    from regard.report.text.characters import one_line

    table = Table(box=None, pad_edge=False, show_header=False)
    for heading, text in describe(name):
        table.add_row(Text(heading, style="bold"), Text(one_line(text)))
    Console().print(table)


def convert_dataset(arguments: argparse.Namespace) -> None:
    from rich.progress import Progress

    from regard.corpora.conversion import ConversionOptions, convert
    from regard.report.text.characters import one_line
    from regard.report.text.progress import ConsoleRecorder

    recorder = ConsoleRecorder()
    options = ConversionOptions(**{name: value for name, value in vars(arguments).items() if name != "run"})
    with Progress(console=recorder.console, transient=True, disable=not recorder.console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        done = convert(options, recorder.note, lambda seen, total: bar.update(task, completed=seen, total=total))
    for sentence in done.differences:
        recorder.note(f"{options.name}: {sentence}")
    print(", ".join(f"{one_line(part)} {count:,}" for part, count in done.counts.items()))
    variable = f"REGARD_DATA={shlex.quote(str(done.folder.parent))} " if options.out else ""
    print_line(f"saved in {done.folder}; try: {variable}regard train {shlex.quote(options.name)}")
