"""`regard completion`: a script that completes commands, options and their values in a shell."""

from __future__ import annotations

import argparse

from regard.arguments import Parser

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: Parser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell to write the script for")


def run(arguments: argparse.Namespace) -> None:
    from regard.completion import read_parser, scripts

    print(scripts[arguments.shell](read_parser(arguments.make_parser())), end="")
