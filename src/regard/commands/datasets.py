"""`regard datasets`: which corpora are on this machine, where to get others, and their converters."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from regard.arguments import Parser, flag
from regard.errors import InputError


def add_arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="a corpus, known or of your own (default: list all)")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="PATH",
        help="the original as it was downloaded, a table of your own, or hub:ORG/NAME of the Hugging Face hub",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder of corpora that NAME is written to (default: REGARD_DATA)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a corpus that is there already")
    parser.add_argument("--text", metavar="COLUMN", help="the column of the texts of your own table or of the hub's")
    parser.add_argument("--label", metavar="COLUMN", help="the column of the labels")
    parser.add_argument("--skip-bad-rows", action="store_true", help="leave out rows of your own table that are bad")


def run(arguments: argparse.Namespace) -> None:
    if arguments.source is not None and arguments.name is None:
        raise InputError("--from: the name of the corpus is missing; regard datasets NAME --from PATH is accepted")
    if arguments.source is not None:
        convert_dataset(arguments)
        return
    given = [name for name in ("out", "text", "label") if getattr(arguments, name) is not None]
    given += [name for name in ("overwrite", "skip_bad_rows") if getattr(arguments, name)]
    if given:
        raise InputError(f"{flag(given[0])}: it goes with --from, which names the original that is to be converted")
    show_datasets() if arguments.name is None else show_dataset(arguments.name)


def show_datasets() -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from regard.corpora.description import missing
    from regard.corpora.lookup import VARIABLE, available
    from regard.report.text.characters import one_line
    from regard.report.text.progress import Watch

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "parts", "what it is"):
        table.add_column(heading)
    datasets = available()
    for dataset in datasets:
        cells = (dataset.name, ", ".join(dataset.splits), dataset.title)
        table.add_row(*(Text(one_line(cell)) for cell in cells))  # the title comes from a file of the corpus
    for name, known in missing().items():
        table.add_row(*map(Text, (name, "not here", known.title)), style="dim")
    Console().print(table)
    if not datasets:
        folder = os.environ.get(VARIABLE)
        named = repr(folder) if folder else "not set"
        Watch().note(f"{VARIABLE} is {named}; it names the folder that corpora are in, as NAME/train.csv and the like")


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
    from regard.report.text.progress import Watch

    watch = Watch()
    options = ConversionOptions(**{name: value for name, value in vars(arguments).items() if name != "run"})
    with Progress(console=watch.console, transient=True, disable=not watch.console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        done = convert(options, watch.note, lambda seen, total: bar.update(task, completed=seen, total=total))
    for sentence in done.differences:
        watch.note(f"{options.name}: {sentence}")
    print(", ".join(f"{one_line(part)} {count:,}" for part, count in done.counts.items()))
    place = f"REGARD_DATA={shlex.quote(str(done.folder.parent))} " if options.out else ""
    print(f"saved in {done.folder}; try: {place}regard train {shlex.quote(options.name)}")
