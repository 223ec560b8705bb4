"""The command line: the table of commands, and what becomes of their errors: one sentence and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from regard import __version__
from regard.arguments import Parser, complain
from regard.errors import InputError
from regard.extensions import extra_commands

COMMANDS = {  # each is a file of `commands/`, which is imported when its word is given; `extensions` finds others
    "train": "learn from a file of texts and labels, and save the model as a folder",
    "predict": "say what a trained model makes of texts",
    "evaluate": "score a trained model on a file of texts and labels",
    "explain": "show which words a trained model's answer was made of",
    "analyse": "show what each word says and weighs in a trained model, and what moved it there",
    "serve": "open a page on this machine to type texts into, and a JSON API",
    "audit": "say what a trained model's attention may be read as on texts, and what it may not",
    "report": "write one page with all there is to know of a trained model",
    "demo": "train on the corpus that comes with regard, and show what it learned",
    "datasets": "list corpora, say where one is had, or convert its public original",
}


def main(argv: Sequence[str] | None = None) -> int:
    # PyTorch's threads spin while they wait; beside another training run that cost 15 times the time. A short spin costs
    # nothing alone (the demo: 11.8 s, where long spins give 11.1 s and none at all 23 s)
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    if sys.stdout is None:
        return complain("standard output is closed; send it to /dev/null where it is not wanted", 2)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # a pipe gets UTF-8, as a file does; a terminal that cannot show a character gets its number
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    words = sys.argv[1:] if argv is None else argv
    try:
        parser = make_parser(words)
        arguments = parser.parse_args(words)
    except KeyboardInterrupt:
        return complain("stopped", 130)
    if "run" not in arguments:
        parser.print_help()
        return 0
    try:
        arguments.run(arguments)
        sys.stdout.flush()
        return 0
    except InputError as error:
        return complain(str(error), 2)
    except KeyboardInterrupt:
        goes_on = "; --resume goes on after the last epoch that was saved" if "resume" in arguments else ""
        return complain(f"stopped{goes_on}", 130)
    except BrokenPipeError:
        # whoever read the output has seen enough; keep Python from complaining once more when it closes the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit:
        return 0  # rich's answer to a broken pipe
    except (MemoryError, RuntimeError) as error:
        if "memory" not in f"{type(error).__name__} {error}".lower():  # PyTorch has no error of its own for it on a CPU
            raise
        return complain("out of memory; a smaller --batch-size, --max-words or --hidden takes less", 2)
    except OSError as error:
        return complain(f"{error.filename or 'input or output'}: {error.strerror or error}", 2)


def make_parser(words: Sequence[str] | None = None) -> Parser:
    """A parser that knows the arguments of those commands which are among the words; what others are for it can say.
    Without words it knows all of them."""
    parser = Parser(prog="regard", description="Text classifiers that show their work.")
    parser.add_argument("--version", action="version", version=f"regard {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    modules = {name: f"regard.commands.{name}" for name in COMMANDS}
    purposes = dict(COMMANDS)
    if words is None or not words or words[0] not in COMMANDS:  # looking for others takes time
        others = {name: module for name, module in extra_commands().items() if name not in COMMANDS}
        modules |= others
        purposes |= {name: import_module(module).PURPOSE for name, module in others.items()}
    for name, purpose in purposes.items():
        added = commands.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
        if words is None or name in words:
            command = import_module(modules[name])
            command.add_arguments(added)
            added.set_defaults(run=command.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
