"""`regard tune`: try options of `regard train`, and print the best ones as a command."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser
from regard.commands.cluster_options import add_cluster_options, needs_of
from regard.commands.options import add_options, options_given

TRIALS = 30


def add_arguments(parser: Parser) -> None:
    parser.usage = "regard tune FILE [--trials N] [options of regard train, which stay as they are]"
    search = parser.add_argument_group("search")
    search.add_argument(
        "--trials", type=int, default=TRIALS, metavar="N", help=f"how many settings are tried (default: {TRIALS})"
    )
    search.add_argument("--seconds", type=float, metavar="S", help="begin no trial after this many seconds")
    search.add_argument(
        "--cv", type=int, metavar="K", help="score each trial by cross-validation on K parts instead of one dev part"
    )
    search.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where trials are kept; the same command continues them (default: tuning/NAME)",
    )
    search.add_argument(
        "--config", metavar="FILE", help="read options from a TOML file; the command line has precedence"
    )
    add_cluster_options(search)
    add_options(parser)


def run(arguments: argparse.Namespace) -> None:
    from regard.report.text.numbers import metric_name
    from regard.report.text.progress import ConsoleRecorder
    from regard.tuning.search import Limits
    from regard.tuning.tune import Cluster, train_command, tune

    given = options_given(arguments)
    select = str(given["select"]) if given.get("select") in ("accuracy", "macro_f") else None  # also between trials
    limits = Limits(arguments.trials, arguments.seconds)
    needs = needs_of(arguments, given.get("device"))
    cluster = None if arguments.on is None else Cluster(arguments.on, needs)
    with ConsoleRecorder() as recorder:
        found, folder = tune(given, arguments.out, limits, arguments.cv, select, recorder, cluster)
        measure = metric_name(found.measure)
        others = f"{found.pruned} stopped early, {found.failed} failed"
        if found.best is None:
            recorder.note(f"none of {found.trials} trials finished ({others}); nothing to recommend")
        else:
            default = "" if found.default is None else f", {found.default:.4f} with the defaults"
            recorder.note(f"best {measure} of {found.trials} trials ({others}): {found.best:.4f}{default}")
            recorder.note(f"the best of many scores is optimistic: measure the model on other texts; kept in {folder}")
    if found.best is not None:
        print(train_command(given, found.options))
    if found.interrupted:
        raise KeyboardInterrupt("the same command continues the search")
