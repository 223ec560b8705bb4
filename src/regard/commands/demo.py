"""`regard demo`: train on the built-in corpus and show the result."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("demo"),
        metavar="DIR",
        help="output folder for the run and its page (default: demo)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")


def run(arguments: argparse.Namespace) -> None:
    from regard.demo import demo
    from regard.report.text.progress import ConsoleRecorder

    with ConsoleRecorder() as recorder:
        demo(arguments.out, arguments.seed, recorder)
