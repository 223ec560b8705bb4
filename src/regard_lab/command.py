"""`regard reproduce`: run and render a paper's table, or list the tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser, flag
from regard.errors import InputError

PURPOSE = "reproduce a paper's table and compare it with the printed numbers"


def add_arguments(parser: Parser) -> None:
    from regard.commands.reading import add_device  # here, so that `regard --help` loads no command

    parser.add_argument("table", metavar="PAPER/TABLE", nargs="?", help="name of the table, or its TOML file")
    parser.add_argument("--list", action="store_true", help="list the tables with the corpora they need and their cost")
    parser.add_argument("--seeds", type=int, metavar="N", help="number of seeds (default: the table's)")
    add_device(parser)
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="TEXT",
        help="run only cells of these corpora, methods or settings; a/b requires both, * matches anything",
    )
    parser.add_argument(
        "--budget",
        type=float,
        metavar="MINUTES",
        help="time limit: run the methods that decide a claim first, and start nothing after this time",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="number of parallel runs (default: by the number of cores; 0: in this process)",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the results (default: reproduced/PAPER)")
    parser.add_argument(
        "--render", action="store_true", help="run nothing; write tables and figures from the existing results"
    )
    parser.add_argument("--retry-failed", action="store_true", help="run failed cells again")


def run(arguments: argparse.Namespace) -> None:
    from regard.report.text.characters import one_line
    from regard_lab.running.listing import list_tables
    from regard_lab.running.reproduce import RunOptions, render_only, reproduce

    if arguments.list or arguments.table is None:
        for table in list_tables():
            print(one_line(f"{table.name}: {table.title}"))
            for what, words in table.facts:
                print(f"    {one_line(f'{what}: {words}')}")
        return
    if arguments.render:
        used = [name for name in ("seeds", "only", "budget", "jobs", "retry_failed") if getattr(arguments, name)]
        if used:
            raise InputError(
                f"{flag(used[0])}: cannot be combined with --render, which runs nothing; leave one of them out"
            )
        written = render_only(arguments.table, arguments.out)
    else:
        names = ("seeds", "device", "only", "budget", "jobs", "out", "retry_failed")
        written = reproduce(arguments.table, RunOptions(**{name: getattr(arguments, name) for name in names}))
    for path in written:
        print(path)
