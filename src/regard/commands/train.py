"""`regard train`: options to a run folder."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from regard.arguments import Parser
from regard.commands.options import add_options
from regard.config import Config, options, read_config


def add_arguments(parser: Parser) -> None:
    add_options(parser)
    parser.add_argument("--out", type=Path, metavar="RUN", help="the folder of the run (default: runs/NAME)")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped or killed")
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there already")
    parser.add_argument("--config", metavar="FILE", help="read options from a TOML file; those given here go first")


def run(arguments: argparse.Namespace) -> None:
    given = vars(arguments)
    names = {item.name for _, item, _ in options()}
    values = read_config(arguments.config) if arguments.config else {}
    values |= {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items() if name in names
    }
    config = Config().override(values)

    from regard.report.progress import Watch
    from regard.runs import train_run

    with Watch() as recorder:
        trained, folder = train_run(config, arguments.out, arguments.resume, arguments.overwrite, recorder)
    show_scores(trained.metrics)
    print(f'saved in {folder}; try: regard explain {shlex.quote(str(folder))} "a text of yours"')


def show_scores(metrics: dict[str, Any]) -> None:
    from rich.console import Console

    from regard.report.tables import metrics_table

    console = Console()
    chosen = f"epoch {metrics['best_epoch']} of {metrics['epochs']}"
    if "best_round" in metrics:
        chosen += f", round {metrics['best_round']}"
    for split in ("dev", "test"):
        if split in metrics:
            console.print(f"[bold]{split}[/] ({chosen})")
            console.print(metrics_table(metrics[split]))
