"""The command line: the table of commands, and errors reported as one sentence with an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from regard import __version__
from regard.arguments import Parser, report_error
from regard.errors import Disagreement, InputError, ReportedError
from regard.extensions import extra_commands
from regard.extras import missing_extra

TRACEBACK = "REGARD_TRACEBACK"  # the variable that shows the traceback of a defect
COMMANDS = {  # each is a module of `commands/`, imported when the command is used; `extensions` finds others
    "train": "train a model on a file of texts and labels, and save it as a folder",
    "tune": "try options of train on a file of texts and labels, and print the best ones as a command",
    "predict": "predict the labels of texts with a trained model",
    "evaluate": "score a trained model on a file of texts and labels",
    "compare": "compare trained models on the same file of texts and labels",
    "explain": "show which words a prediction rests on",
    "doubts": "find labels that are likely wrong, contradictions, odd texts, and what to label next",
    "analyse": "show the polarity and attention of each word in a trained model, and how training moved them",
    "serve": "serve a page to type texts into, and a JSON API",
    "audit": "test whether a trained model's attention can be trusted as an explanation",
    "report": "write one page about a trained model: measures, calibration, words, explained texts",
    "export": "write a trained model for other places: an ONNX folder, or one offline page",
    "push": "upload a trained model to the Hugging Face hub, private unless --public is given",
    "vectors": "make static word vectors for train --vectors from a sentence-transformers model",
    "demo": "train on the built-in corpus and show what the model learned",
    "datasets": "list corpora, show where to get one, or convert a downloaded one",
    "completion": "print a script that completes commands and options in a shell",
}


def main(argv: Sequence[str] | None = None) -> int:
    # PyTorch's threads spin while they wait; next to another training run that made it 15 times slower. A short spin
    # costs nothing when running alone (the demo: 11.8 s, against 11.1 s with long spins and 23 s with none)
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    if sys.stdout is None:
        return report_error("standard output is closed; redirect it to /dev/null if you do not need it", 2)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # pipes get what files get: UTF-8, and on Windows no second carriage return at the end of a line of CSV; a terminal
        # that cannot show a character gets its escape sequence
        if not sys.stdout.isatty():
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        sys.stdout.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if argv is None else argv
    try:
        return run_command(words)
    except Exception as error:  # the last resort: a defect of regard or of a library, and no fault of the user
        if os.environ.get(TRACEBACK):
            raise
        return report_error(unexpected(error), 1)


def unexpected(error: Exception) -> str:
    reason = " ".join(str(error).split())[:200]
    return (
        f"unexpected error ({type(error).__name__}{': ' * bool(reason)}{reason}); this is a defect of regard: please report it, "
        f"with the traceback that {TRACEBACK}=1 shows"
    )


def run_command(words: Sequence[str]) -> int:
    """The exit code; an error is reported as one sentence, unless it is a defect."""
    try:
        parser = make_parser(words)
        arguments = parser.parse_args(words)
    except KeyboardInterrupt:
        return report_error("stopped", 130)
    if "run" not in arguments:
        parser.print_help()
        return 0
    try:
        if words[0] != "train" and os.environ.get("WORLD_SIZE", "1") != "1":
            check_alone(words[0])
        arguments.run(arguments)
        sys.stdout.flush()
        return 0
    except ReportedError:
        return 2
    except Disagreement:
        sys.stdout.flush()
        return 1
    except InputError as error:
        return report_error(str(error), 2)
    except ImportError as error:
        if (sentence := missing_extra(error)) is None:
            raise
        return report_error(str(sentence), 2)
    except KeyboardInterrupt as stop:
        return report_error("; ".join(["stopped", *map(str, stop.args)]), 130)  # with advice from `train_run`
    except BrokenPipeError:
        # the reader closed the pipe; keep Python from reporting that again when it closes standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit:
        return 0  # rich's answer to a broken pipe
    except (MemoryError, RuntimeError) as error:
        if "memory" not in f"{type(error).__name__} {error}".lower():  # on a CPU, PyTorch raises a plain RuntimeError
            raise
        return report_error("out of memory; try a smaller --batch-size, --max-words or --hidden", 2)
    except OSError as error:
        return report_error(f"{error.filename or 'input or output'}: {error.strerror or error}", 2)


def check_alone(name: str) -> None:
    """Under torchrun, every process would do the same and write the same files."""
    from regard.process_group import is_started_by_torchrun

    if is_started_by_torchrun():
        if os.environ["RANK"] != "0":
            raise ReportedError(name)  # one of the processes says it
        raise InputError(f"{name}: expected one process, got several from torchrun, which is for regard train")


def make_parser(words: Sequence[str] | None = None) -> Parser:
    """Make the parser, with the arguments of the commands among `words` (None: of all) and one line of help for others."""
    parser = Parser(prog="regard", description="Text classifiers that show their work.")
    parser.add_argument("--version", action="version", version=f"regard {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    modules = {name: f"regard.commands.{name}" for name in COMMANDS}
    purposes = dict(COMMANDS)
    if words is None or not words or words[0] not in COMMANDS:  # looking for extensions takes time
        others = {name: module for name, module in extra_commands().items() if name not in COMMANDS}
        modules |= others
        purposes |= {name: import_module(module).PURPOSE for name, module in others.items()}
    for name, purpose in purposes.items():
        added = commands.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
        if words is None or name in words:
            command = import_module(modules[name])
            command.add_arguments(added)
            added.set_defaults(run=command.run)
            if name == "completion":  # which describes all commands
                added.set_defaults(make_parser=make_parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
