"""The words of the command line: options that follow the config by themselves, and errors of one sentence."""

from __future__ import annotations

import argparse
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from regard.config import options

METAVARS = {"dev": "FILE", "test": "FILE", "vectors": "FILE", "text": "COLUMN", "label": "COLUMN"}


def complain(sentence: str, code: int) -> int:
    from regard.report.progress import printable

    if sys.stderr is not None:  # closed: the exit code must do
        print(f"regard: {printable(sentence)}", file=sys.stderr)
    return code


class Parser(argparse.ArgumentParser):
    def __init__(self, **given: Any):
        super().__init__(**given, allow_abbrev=False)  # --epoch is a slip, not --epochs: options are strict everywhere

    def error(self, message: str) -> NoReturn:
        self.exit(complain(f"{message} (see `{self.prog} --help`)", 2))


def add_options(parser: Parser) -> None:
    """Every option of the config, under the same name, in the same groups."""
    groups = {name: parser.add_argument_group(f"[{name}]") for name in ("data", "model", "training")}
    for section, item, kind in options():
        extra: dict[str, Any] = {"default": argparse.SUPPRESS, "help": item.metadata["help"].replace("%", "%%")}
        if item.default not in (None, "auto") and "default" not in extra["help"]:
            shown = " ".join(map(str, item.default)) if isinstance(item.default, tuple) else item.default
            extra["help"] += f" (default: {shown})" if not isinstance(item.default, bool) else ""
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin in (types.UnionType, typing.Union):
            kind = next(part for part in inner if part is not types.NoneType)
            origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin is Annotated:
            groups[section].add_argument(flag(item.name), type=number_or(inner[1]), metavar="X", **extra)
        elif item.name == "train":
            groups[section].add_argument("train", metavar="FILE", nargs="?", **extra)
        elif kind is bool:
            groups[section].add_argument(flag(item.name), action=argparse.BooleanOptionalAction, **extra)
        elif origin is Literal:
            groups[section].add_argument(flag(item.name), choices=inner, **extra)
        elif origin is tuple:
            groups[section].add_argument(flag(item.name), nargs="+", type=int, metavar="N", **extra)
        else:
            metavar = {int: "N", float: "X"}.get(kind, METAVARS.get(item.name, "NAME"))
            groups[section].add_argument(flag(item.name), type=kind, metavar=metavar, **extra)


def number_or(word: str) -> Callable[[str], float | str]:
    def parsed(given: str) -> float | str:
        try:
            return word if given == word else float(given)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{given!r}: a number, or {word!r}, is accepted") from None

    return parsed


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_reading(parser: Parser) -> None:
    parser.add_argument("--text", metavar="COLUMN", help="the column of the texts (default: guessed)")
    parser.add_argument("--label", metavar="COLUMN", help="the column of the labels (default: guessed)")
    parser.add_argument("--skip-bad-rows", action="store_true", help="leave out rows that cannot be used")
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")


def add_auditing(parser: Parser) -> None:
    parser.add_argument(
        "--data", metavar="FILE", required=True, help="texts, with labels or without, or a named corpus (its test part)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where audit.json and audit.html go (default: RUN/audit)"
    )
    add_figures(parser)
    parser.add_argument(
        "--explainers", nargs="+", metavar="NAME", help="what attention is held against (default: six of them)"
    )
    parser.add_argument(
        "--limit", type=int, default=1000, metavar="N", help="audit N texts, drawn by chance (default: 1000)"
    )
    parser.add_argument("--retrain", action="store_true", help="take the diagnostics that train models again too")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where chance starts (default: 0)")
    parser.add_argument("--json", action="store_true", help="print the JSON instead of tables, and write nothing")


def add_reporting(parser: Parser) -> None:
    parser.add_argument(
        "--data",
        metavar="FILE",
        help="texts, with labels or without, or a named corpus (default: the run's test texts, or else its dev texts)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the page (default: RUN/report.html)")
    add_figures(parser)


def add_figures(parser: Parser) -> None:
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="every figure as SVG, PDF and CSV, every table as LaTeX and CSV, too",
    )


def add_reproducing(parser: Parser) -> None:
    parser.add_argument("table", metavar="PAPER/TABLE", nargs="?", help="its name, or its TOML file")
    parser.add_argument("--list", action="store_true", help="what there is, what it needs and what it cost")
    parser.add_argument("--seeds", type=int, metavar="N", help="how many seeds (default: as many as the table says)")
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")
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
