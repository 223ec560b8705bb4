"""`regard train`: from options to a run folder."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from regard.arguments import Parser
from regard.commands.options import add_options, options_given
from regard.config import Config
from regard.errors import InputError
from regard.report.text.characters import print_line
from regard.run_metrics import RunMetrics


def add_arguments(parser: Parser) -> None:
    parser.usage = "regard train FILE [options]"
    add_options(parser)
    run_group = parser.add_argument_group("run")
    run_group.add_argument("--out", type=Path, metavar="RUN", help="folder of the run (default: runs/NAME)")
    run_group.add_argument(
        "--from",
        dest="source",
        metavar="RUN",
        help="continue training a finished run (a folder or hf://…) with new texts",
    )
    parser.add_advanced(
        run_group, "--replay", metavar="FILE", help="with --from: old texts, some of which are learned from again"
    )
    parser.add_advanced(
        run_group,
        "--no-verify",
        action="store_true",
        help="with --from: load the run even if its files have changed since it was saved",
    )
    run_group.add_argument("--resume", action="store_true", help="continue a run that was stopped or killed")
    run_group.add_argument("--overwrite", action="store_true", help="replace an existing run")
    parser.add_advanced(
        run_group,
        "--cv",
        type=int,
        metavar="K",
        help="cross-validate on K parts of the training texts before the final training",
    )
    parser.add_advanced(
        run_group,
        "--log",
        action="append",
        default=[],
        metavar="TOOL:NAME",
        help="log epochs to tensorboard:DIR, wandb:PROJECT or mlflow:EXPERIMENT; may be repeated",
    )
    run_group.add_argument(
        "--config", metavar="FILE", help="read options from a TOML file; the command line has precedence"
    )


def run(arguments: argparse.Namespace) -> None:
    from regard.process_group import joined, leave
    from regard.recorder import Silent
    from regard.report.text.progress import ConsoleRecorder
    from regard.runs import Plan, start_from, train_run
    from regard.tracking.addresses import parse_addresses

    with joined() as group, ConsoleRecorder() if group.is_first else Silent() as recorder:
        given = options_given(arguments)  # within the group, one of whose processes reports what is wrong
        check_continuing(arguments)
        logs = parse_addresses(arguments.log)
        plan = Plan(arguments.cv, group=group)
        if arguments.source is None:
            config = Config().override(given)
        else:
            config, origin = start_from(arguments.source, arguments.replay, given, recorder, not arguments.no_verify)
            plan = plan._replace(origin=origin)
        trained, folder = train_run(config, arguments.out, arguments.resume, arguments.overwrite, recorder, logs, plan)
        group.finish_together()
    if group.is_first:
        show_scores(trained.metrics)
        print_line(f'saved in {folder}; try: regard explain {shlex.quote(str(folder))} "your text"')
    leave(group)


def check_continuing(arguments: argparse.Namespace) -> None:
    """Refuse options that mean nothing together, before anything is read."""
    if arguments.replay is not None and arguments.source is None:
        raise InputError("--replay: expected --from RUN with it, the run whose texts are replayed")
    if arguments.cv is not None and arguments.source is not None:
        raise InputError(
            "--cv: expected no --from, because the model has seen the texts of every part; leave out one of them"
        )


def show_scores(metrics: RunMetrics) -> None:
    from rich.console import Console

    from regard.report.text.tables import folds_table, metrics_table

    console = Console()
    if "cv" in metrics:
        console.print("[bold]cross-validation[/]")
        console.print(folds_table(metrics["cv"]), "")
    chosen = f"epoch {metrics['best_epoch']} of {metrics['epochs']}"
    if "best_round" in metrics:
        chosen += f", round {metrics['best_round']}"
    for split in ("dev", "test"):
        if split in metrics:
            console.print(f"[bold]{split}[/] ({chosen})")
            console.print(metrics_table(metrics[split]))
