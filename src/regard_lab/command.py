"""`regard reproduce`: run and render a paper's table, or list the tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from regard.arguments import Parser, flag
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.ray_cluster import Needs

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
    parser.add_argument(
        "--on",
        metavar="WHERE",
        help="run on Ray: ray (this machine) or ray:HOST:PORT (a cluster); --jobs is then decided by its size",
    )
    parser.add_argument("--cpus-per-job", type=float, default=1, metavar="N", help="cores of a run on Ray (default: 1)")
    parser.add_argument(
        "--gpus-per-job", type=float, metavar="N", help="GPUs of a run on Ray (default: 1 with --device cuda)"
    )
    parser.add_argument(
        "--memory-per-job", type=float, metavar="GB", help="memory of a run on Ray (default: not counted)"
    )
    parser.add_argument(
        "--part",
        metavar="K/N",
        help="run the K-th of N equal parts of the runs, for arrays of batch jobs; --render merges them",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the results (default: reproduced/PAPER)")
    parser.add_argument(
        "--render", action="store_true", help="run nothing; write tables and figures from the existing results"
    )
    parser.add_argument("--retry-failed", action="store_true", help="run failed cells again")


def run(arguments: argparse.Namespace) -> None:
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
    if arguments.render:
        running = ("seeds", "only", "budget", "jobs", "on", "part", "retry_failed")
        used = [name for name in running if getattr(arguments, name)]
        if used:
            raise InputError(
                f"{flag(used[0])}: cannot be combined with --render, which runs nothing; leave one of them out"
            )
        written = render_only(arguments.table, arguments.out)
    else:
        names = ("seeds", "device", "only", "budget", "jobs", "on", "out", "retry_failed")
        chosen = {name: getattr(arguments, name) for name in names}
        part = None if arguments.part is None else parse_part(arguments.part)
        written = reproduce(arguments.table, RunOptions(**chosen, needs=needs_of(arguments), part=part))
    for path in written:
        print(path)


def needs_of(arguments: argparse.Namespace) -> Needs:
    """What a job on Ray occupies."""
    from regard.ray_cluster import Needs

    gpus = arguments.gpus_per_job
    if gpus is None:
        gpus = 1 if arguments.device.startswith("cuda") else 0
    for name, value in (("cpus", arguments.cpus_per_job), ("gpus", gpus), ("memory", arguments.memory_per_job)):
        if value is not None and not (0 <= value < float("inf")):
            raise InputError(f"--{name}-per-job: expected a number of at least 0, got {value:g}")
    return Needs(arguments.cpus_per_job, gpus, arguments.memory_per_job)
