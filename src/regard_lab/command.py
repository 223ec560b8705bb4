"""`regard reproduce`: run and render a paper's table, or list the tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser, flag
from regard.errors import Disagreement, InputError

PURPOSE = "reproduce a paper's table and compare it with the printed numbers"


def add_arguments(parser: Parser) -> None:
    # here, so that `regard --help` loads no command
    from regard.commands.cluster_options import add_cluster_options
    from regard.commands.reading import add_device

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
    add_cluster_options(parser)
    parser.add_argument(
        "--part",
        metavar="K/N",
        help="run the K-th of N parts of the runs, for arrays of batch jobs; --render merges them",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the results (default: reproduced/PAPER)")
    parser.add_argument(
        "--render", action="store_true", help="run nothing; write tables and figures from the existing results"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="run nothing; compare the results in --out with the published ones, and say whether they agree within noise",
    )
    parser.add_argument("--retry-failed", action="store_true", help="run failed cells again")


def run(arguments: argparse.Namespace) -> None:
    from regard.commands.cluster_options import needs_of
    from regard.report.text.characters import one_line
    from regard_lab.running.listing import list_tables
    from regard_lab.running.parts import parse_part
    from regard_lab.running.reproduce import RunOptions, render_only, reproduce

    if arguments.list or arguments.table is None:
        for table in list_tables():
            print(one_line(f"{table.name}: {table.title}"))
            for what, words in table.facts:
                print(f"    {one_line(f'{what}: {words}')}")
        return
    if arguments.render or arguments.check:
        refuse_running_options(arguments)
    if arguments.check:
        check_rerun(arguments)
        return
    if arguments.render:
        written = render_only(arguments.table, arguments.out)
    else:
        names = ("seeds", "device", "only", "budget", "jobs", "on", "out", "retry_failed")
        chosen = {name: getattr(arguments, name) for name in names}
        part = None if arguments.part is None else parse_part(arguments.part)
        written = reproduce(
            arguments.table, RunOptions(**chosen, needs=needs_of(arguments, arguments.device), part=part)
        )
    for path in written:
        print(path)


def refuse_running_options(arguments: argparse.Namespace) -> None:
    """--render and --check run nothing."""
    running = ("seeds", "only", "budget", "jobs", "on", "part", "retry_failed")
    used = [name for name in (*running, *(["check"] if arguments.render else ())) if getattr(arguments, name)]
    if used:
        reason = "--render" if arguments.render else "--check"
        raise InputError(
            f"{flag(used[0])}: cannot be combined with {reason}, which runs nothing; leave one of them out"
        )


def check_rerun(arguments: argparse.Namespace) -> None:
    """Prints the comparison; the exit status is 1 if something differs."""
    from regard.report.text.characters import one_line
    from regard_lab.running.check import check, report

    result = check(arguments.table, arguments.out)
    for text in report(result):
        print(one_line(text))
    if not result.agrees:
        raise Disagreement
