"""`regard evaluate`: the measures of a trained model on labelled texts."""

from __future__ import annotations

import argparse

from regard.arguments import Parser
from regard.commands.reading import add_folder, add_model, add_reading, load_model, read_source


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    add_model(parser)
    parser.add_argument("source", metavar="FILE", help="a file of texts and labels, or a named corpus (its test split)")
    add_reading(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(arguments: argparse.Namespace) -> None:
    import json

    from rich.console import Console

    from regard.report.text.tables import metrics_table
    from regard.runs import score

    trained = load_model(arguments.folder, arguments.device, not arguments.no_verify)
    metrics = score(trained, read_source(arguments, trained, arguments.source, labelled=True))
    if arguments.json:
        print(json.dumps(metrics, ensure_ascii=False))
    else:
        Console().print(metrics_table(metrics))
