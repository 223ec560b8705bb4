"""`regard compare`: several models on the same labelled texts."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import (
    A_RUN_ANYWHERE,
    add_reading,
    add_verify,
    check_lengths,
    check_model,
    load_model,
    read_source,
)
from regard.errors import InputError

LISTED = 30


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "folders",
        metavar="RUN",
        nargs="+",
        help=f"{A_RUN_ANYWHERE}, or another model: fasttext:FILE or hf:FOLDER; the others are compared with the first",
    )
    parser.add_argument(
        "--data", metavar="FILE", required=True, help="texts with labels, or a named corpus (its test split)"
    )
    parser.add_argument("--out", type=Path, metavar="PAGE", help="also write an HTML page, such as comparison.html")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument(
        "--limit", type=int, default=LISTED, metavar="N", help=f"texts to list at most (default: {LISTED})"
    )
    add_reading(parser)
    add_verify(parser)


def run(arguments: argparse.Namespace) -> None:
    import json

    from rich.console import Console

    from regard.comparison import compare
    from regard.files import check_writable
    from regard.report.pages.comparison import write_comparison
    from regard.report.text.comparison import show_comparison
    from regard.report.text.notes import print_note

    folders, out = arguments.folders, arguments.out
    check(folders, arguments.limit)
    if out is not None:
        if out.is_dir():
            raise InputError(f"--out: expected the name of a page, such as {out / 'comparison.html'}, got a folder")
        check_writable(out.parent)
    for folder in folders:
        check_model(folder)
    models = {folder: load_model(folder, arguments.device, not arguments.no_verify) for folder in folders}
    corpus = read_source(arguments, models[folders[0]], arguments.data, labelled=True)
    for model in models.values():
        check_lengths(model, corpus.examples, corpus.path)
    facts = compare(models, corpus, arguments.limit)
    for caution in facts.cautions:
        print_note(caution)
    if out is not None:
        write_comparison(facts, out)
        print_note(f"open {out}")
    if arguments.json:
        print(json.dumps(facts.to_json(), ensure_ascii=False))
    else:
        show_comparison(facts, Console(highlight=False))


def check(folders: list[str], limit: int) -> None:
    if len(folders) < 2:
        raise InputError(f"expected two or more runs to compare, got only {folders[0]}")
    if repeated := [folder for place, folder in enumerate(folders) if folder in folders[:place]]:
        raise InputError(f"{repeated[0]}: expected different runs, got this one twice")
    if limit < 0:
        raise InputError(f"--limit: expected 0 or more, got {limit}")
