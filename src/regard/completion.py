"""Scripts that complete the command line in bash, zsh and fish, made from the parsers of the commands.

Everything is written into the script, so that a shell never has to start Python while somebody is typing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from regard.extras import is_installed

Files = Literal["none", "folders", "any"]
FOLDERS, FILES = ("RUN", "DIR"), ("FILE", "PATH", "KIND:PATH")  # metavars


@dataclass(frozen=True)
class Argument:
    """An option, or a positional argument (without names)."""

    names: tuple[str, ...]
    takes_value: bool
    values: tuple[str, ...]
    files: Files
    help: str


@dataclass(frozen=True)
class Command:
    name: str
    purpose: str
    options: tuple[Argument, ...]
    positional: tuple[Argument, ...]

    @property
    def files(self) -> Files:
        """What its positional arguments may be, together."""
        kinds = {argument.files for argument in self.positional}
        return "any" if "any" in kinds else "folders" if "folders" in kinds else "none"

    @property
    def values(self) -> list[str]:
        return [value for argument in self.positional for value in argument.values]


def read_parser(parser: argparse.ArgumentParser) -> list[Command]:
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    suggested = suggestions()
    purposes = {action.dest: action.help or "" for action in commands._choices_actions}
    found = []
    for name, child in commands.choices.items():
        visible = [action for action in child._actions if is_visible(action, child)]
        arguments = [read_argument(action, child, suggested) for action in visible]
        options = tuple(argument for argument in arguments if argument.names)
        positional = tuple(argument for argument in arguments if not argument.names)
        found.append(Command(name, purposes.get(name, ""), options, positional))
    return found


def is_visible(action: argparse.Action, parser: argparse.ArgumentParser) -> bool:
    """Whether some help shows it: advanced options are suppressed until `--help-all`, old names always."""
    return action.help != argparse.SUPPRESS or action in getattr(parser, "advanced", ())


def read_argument(
    action: argparse.Action, parser: argparse.ArgumentParser, suggested: dict[str, tuple[str, ...]]
) -> Argument:
    names = tuple(action.option_strings)
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    values = tuple(map(str, action.choices or ())) or (suggested.get(names[-1], ()) if names else ())
    files: Files = "folders" if metavar in FOLDERS else "any" if metavar in FILES else "none"
    text = str(getattr(parser, "advanced", {}).get(action, action.help) or "").replace("%%", "%")
    return Argument(names, action.nargs != 0, values, files, text)


def suggestions() -> dict[str, tuple[str, ...]]:
    """The values of options that accept others too, such as one encoder per level. The base install has one encoder."""
    from regard.explain.explainers import EXPLAINERS

    words = {"--method": tuple(EXPLAINERS), "--device": ("auto", "cpu", "cuda")}
    if is_installed("torch"):
        from regard.encoders import ENCODERS
        from regard.poolings import POOLINGS

        words |= {"--encoder": tuple(ENCODERS), "--pooling": tuple(POOLINGS)}
    return words


BASH = """\
# completion of regard for bash, written by `regard completion bash`
_regard_files() {{
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null  # bash 3, as in macOS, cannot do this
    COMPREPLY=($(compgen "$1" -- "$2"))
}}
_regard() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}"
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
        return
    fi
    if [[ $word == "=" ]]; then  # --option=value is three words
        word=""
    elif [[ $before == "=" ]]; then
        before="${{COMP_WORDS[COMP_CWORD - 2]}}"
    fi
    case "${{COMP_WORDS[1]}} $before" in
{after_options}
    esac
    case "${{COMP_WORDS[1]}}" in
{after_commands}
    esac
}}
complete -F _regard regard
"""


def bash(commands: Sequence[Command]) -> str:
    flags = {"folders": "-d", "any": "-f"}

    def reply(values: Sequence[str], files: Files) -> str:
        if values:
            return f'COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$word"))'
        return ":" if files == "none" else f'_regard_files {flags[files]} "$word"'

    names = " ".join(command.name for command in commands)
    return BASH.format(commands=names, **cases(commands, reply))


def cases(commands: Sequence[Command], reply: Callable[[Sequence[str], Files], str]) -> dict[str, str]:
    """The branches of the script in bash and zsh: what follows an option, and what follows a command."""
    after_options, after_commands = [], []
    for command in commands:
        for option in command.options:
            if option.takes_value:
                pattern = "|".join(f'"{command.name} {name}"' for name in option.names)
                after_options.append(f"        {pattern}) {reply(option.values, option.files)}; return ;;")
        names = [name for option in command.options for name in option.names]
        positional = reply(command.values, command.files)
        choice = f"if [[ $word == -* ]]; then {reply(names, 'none')}; else {positional}; fi"
        after_commands.append(f"        {command.name}) {choice} ;;")
    return {"after_options": "\n".join(after_options), "after_commands": "\n".join(after_commands)}


ZSH = """\
#compdef regard
# completion of regard for zsh, written by `regard completion zsh`
_regard() {{
    local word="${{words[CURRENT]}}" before="${{words[CURRENT - 1]}}"
    local -a commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        compadd -- --help --version
        return
    fi
    case "${{words[2]}} $before" in
{after_options}
    esac
    case "${{words[2]}}" in
{after_commands}
    esac
}}
if [[ "${{zsh_eval_context[-1]}}" == loadautofunc ]]; then
    _regard "$@"
else
    compdef _regard regard
fi
"""


def zsh(commands: Sequence[Command]) -> str:
    finders = {"none": ":", "folders": "_files -/", "any": "_files"}

    def reply(values: Sequence[str], files: Files) -> str:
        return f"compadd -- {' '.join(values)}" if values else finders[files]

    names = "\n".join(f"        {quoted(f'{command.name}:{command.purpose}')}" for command in commands)
    return ZSH.format(commands=names, **cases(commands, reply))


def fish(commands: Sequence[Command]) -> str:
    lines = ["# completion of regard for fish, written by `regard completion fish`", "complete -c regard -f"]
    for command in commands:
        lines.append(
            f"complete -c regard -n __fish_use_subcommand -a {command.name} -d {quoted(command.purpose, fish=True)}"
        )
    for command in commands:
        start = f"complete -c regard -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = " -x" if option.takes_value and option.files == "none" else " -r -F" if option.takes_value else ""
            if option.values:
                value += f" -a '{' '.join(option.values)}'"
            lines.append(f"{start} {names}{value} -d {quoted(option.help, fish=True)}")
        if command.values:
            lines.append(f"{start} -a '{' '.join(command.values)}'")
        if command.files != "none":
            lines.append(f"{start} -F" if command.files == "any" else f"{start} -a '(__fish_complete_directories)'")
    return "\n".join(lines) + "\n"


def quoted(text: str, fish: bool = False) -> str:
    """In single quotes. A quote within is written as each shell wants it."""
    if fish:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"


scripts: dict[str, Callable[[Sequence[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
