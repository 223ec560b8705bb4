"""The reference of the command line as Markdown, written from the parsers: every command with every option."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

USAGE_COLUMNS = "90"


def command_reference(parser: Any) -> str:
    """A section per command of `regard`, with what `--help-all` shows, and below it one per action that the command has."""
    return "\n\n".join("\n".join(section(name, command)) for name, command in children(parser).items())


def children(parser: Any) -> dict[str, Any]:
    """The commands of `regard`, or the actions of a command."""
    actions = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: child for action in actions for name, child in action.choices.items()}


def section(name: str, parser: Any, heading: str = "##") -> Iterator[str]:
    yield f"{heading} regard {name}\n"
    yield f"{escaped(parser.description)}\n"
    yield f"```text\n{usage(parser)}\n```\n"
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if is_shown(parser, action)]
        if actions:
            yield f"**{escaped(group.title)}**\n"
            for action in actions:
                yield f"`{invocation(action)}`\n:   {escaped(help_text(parser, action))}\n"
    if parser.details is not None:
        yield f"`regard {name} --help-all` also lists the methods; [explainers](../explainers.md) describes them.\n"
    for action, child in children(parser).items():
        yield from section(f"{name} {action}", child, f"{heading}#")


def is_shown(parser: Any, action: argparse.Action) -> bool:
    """Whether `--help-all` shows an option. `--help` itself needs no explanation."""
    is_hidden = action.help is argparse.SUPPRESS and action not in parser.advanced
    return not is_hidden and not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)


def usage(parser: argparse.ArgumentParser) -> str:
    """The usage of a command, without colours and as wide as the page."""
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ.update(COLUMNS=USAGE_COLUMNS, NO_COLOR="1")
    try:
        return parser.format_usage().removeprefix("usage: ").strip()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def invocation(action: argparse.Action) -> str:
    """An option with its value, or the name of a positional argument."""
    value = value_text(action)
    return ", ".join(f"{name} {value}".strip() for name in action.option_strings) or value


def value_text(action: argparse.Action) -> str:
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return ""
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    name = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    text = " ".join(name) if isinstance(name, tuple) else name
    return f"{text} …" if action.nargs in ("+", "*") else text


def help_text(parser: Any, action: argparse.Action) -> str:
    text = parser.advanced.get(action, action.help) or ""
    values = {**vars(action), "prog": parser.prog}
    return text % {key: value for key, value in values.items() if value is not argparse.SUPPRESS}


def escaped(text: str) -> str:
    """Plain text as Markdown: code in back quotes stays code."""
    pieces = text.split("`")
    return "`".join(piece if number % 2 else escaped_prose(piece) for number, piece in enumerate(pieces))


def escaped_prose(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\*_<>[]#|" else character for character in text)
