"""`regard reproduce`: a paper's table, run and rendered, or the list of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser, flag
from regard.errors import InputError

PURPOSE = "run a paper's table again, beside the numbers that it prints"


def add_arguments(parser: Parser) -> None:
    from regard.commands.loading import add_device  # here, so that `regard --help` loads no command

    parser.add_argument("table", metavar="PAPER/TABLE", nargs="?", help="its name, or its TOML file")
    parser.add_argument("--list", action="store_true", help="what there is, what it needs and what it cost")
    parser.add_argument("--seeds", type=int, metavar="N", help="how many seeds (default: as many as the table says)")
    add_device(parser)
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="TEXT",
        help="cells of these corpora, methods or settings only; a/b means both, * anything",
    )
    parser.add_argument(
        "--budget", type=float, metavar="MINUTES", help="what decides a claim first, and begin nothing after this time"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="runs side by side (default: by the cores; 0: in this process)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where results go (default: reproduced/PAPER)")
    parser.add_argument("--render", action="store_true", help="run nothing, write tables and figures of what is there")
    parser.add_argument("--retry-failed", action="store_true", help="run those again that failed")


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
        given = [name for name in ("seeds", "only", "budget", "jobs", "retry_failed") if getattr(arguments, name)]
        if given:
            raise InputError(f"{flag(given[0])}: it says what to run, and --render runs nothing; give one of them")
        written = render_only(arguments.table, arguments.out)
    else:
        names = ("seeds", "device", "only", "budget", "jobs", "out", "retry_failed")
        written = reproduce(arguments.table, RunOptions(**{name: getattr(arguments, name) for name in names}))
    for path in written:
        print(path)
