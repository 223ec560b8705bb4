"""`regard explain`: the words behind a prediction, with their weights."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import add_folder, add_reading, load_model, read_source, read_text
from regard.errors import InputError


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    parser.add_argument("text_given", metavar="TEXT", nargs="?", default="-", help="a text, or - for standard input")
    parser.add_argument("--file", metavar="FILE", help="explain the texts of a file")
    add_reading(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="explain the first N texts only")
    parser.add_argument(
        "--format",
        choices=("terminal", "jsonl", "csv", "html", "svg"),
        help="default: by the extension of --out, otherwise terminal",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write here instead of to standard output")


def run(arguments: argparse.Namespace) -> None:
    from regard.explain.explain import explain
    from regard.models.tasks import labels_as_shown
    from regard.report.text.writing import write_explanations

    if arguments.limit is not None and arguments.limit < 1:
        raise InputError(f"--limit: expected 1 or more, got {arguments.limit}")
    if arguments.file is not None and arguments.text_given != "-":
        raise InputError("expected a text or --file, got both")
    trained = load_model(arguments.folder, arguments.device)
    if arguments.file is None and arguments.text_given != "-":
        if os.path.isfile(arguments.text_given):
            sentence = f"explaining the words {arguments.text_given!r}; to read that file, use --file"
            print(f"regard: {sentence} {arguments.text_given}", file=sys.stderr)
        corpus = read_text(arguments.text_given)
    else:
        corpus = read_source(arguments, trained, arguments.file or "-")
    examples = corpus.examples[: arguments.limit]
    labels = labels_as_shown(trained.task, examples)
    explained = zip(examples, explain(trained, [example.text for example in examples], labels), strict=True)
    write_explanations(explained, arguments.format, arguments.out, f"What {arguments.folder} looked at")
