"""The argument parser of all commands: strict options, errors of one sentence, and help in two layers.

`--help` shows what most people need; options added with `advanced=True` appear only under `--help-all`.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn


def report_error(sentence: str, code: int) -> int:
    from regard.report.text.characters import printable

    if sys.stderr is not None:  # if it is closed, only the exit code reports the error
        print(f"regard: {printable(sentence)}", file=sys.stderr)
    return code


class Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any):
        super().__init__(**options, allow_abbrev=False)  # --epoch is a typing error, not --epochs: options are strict
        self.advanced: dict[argparse.Action, str] = {}  # their help texts, which --help leaves out
        self.leading: str | None = None  # option whose value becomes the first positional argument
        self.details: Callable[[], str] | None = None  # what only --help-all adds at the end

    def add_advanced(self, group: argparse._ArgumentGroup, *names: str, help: str, **options: Any) -> None:
        """Add an option that only `--help-all` shows."""
        if not self.advanced:
            self.add_argument("--help-all", action=HelpAll, help="show all options, including advanced ones, and exit")
        self.advanced[group.add_argument(*names, help=argparse.SUPPRESS, **options)] = help

    def add_details(self, details: Callable[[], str]) -> None:
        """Add text that only `--help-all` shows, and that is put together only then."""
        self.add_argument("--help-all", action=HelpAll, help="show this help with the list of methods, and exit")
        self.details = details

    def add_leading(self, name: str, metavar: str, help: str) -> None:
        """Add an option whose value becomes the first positional argument."""
        self.leading = name
        self.add_argument(name, metavar=metavar, default=argparse.SUPPRESS, help=help)

    def with_leading(self, words: Sequence[str]) -> list[str]:
        """The words of a command line, with the value of the leading option in front."""
        rest = list(words)
        for index, word in enumerate(rest[: rest.index("--")] if "--" in rest else rest):
            name, equals, value = word.partition("=")
            if name == self.leading and equals:
                return [value, *rest[:index], *rest[index + 1 :]]
            if name == self.leading and index + 1 < len(rest):
                return [rest[index + 1], *rest[:index], *rest[index + 2 :]]
        return rest

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if args is not None and self.leading is not None:
            args = self.with_leading(args)
        arguments, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0].startswith("--"):
            self.error(f"unknown option {unknown[0]}{self.suggestion(unknown[0])}")
        return arguments, unknown

    def suggestion(self, option: str) -> str:
        """The option that an unknown one probably means."""
        near = difflib.get_close_matches(option.partition("=")[0], self._option_string_actions, 1, 0.7)
        return f"; did you mean {near[0]}?" if near else ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """argparse's list of all commands does not say which one was meant."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            near = difflib.get_close_matches(value, action.choices, 1)
            expected = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(action.choices)}"
            raise argparse.ArgumentError(None, f"unknown command {value!r}; {expected}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        self.exit(report_error(f"{message} (see `{self.prog} --help`)", 2))


class HelpAll(argparse.Action):
    """Print the help of every option, advanced ones included."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str):
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        assert isinstance(parser, Parser)
        for action, text in parser.advanced.items():
            action.help = text
        if parser.details is not None:
            parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, parser.details()
        parser.print_help()
        parser.exit()


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")
