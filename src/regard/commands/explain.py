"""`regard explain`: the words for and against a prediction, by one model or two."""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import (
    add_escape_formulas,
    add_folder,
    add_model,
    add_reading,
    load_model,
)
from regard.errors import InputError
from regard.report.text.characters import print_line


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    add_model(parser)
    parser.add_argument("text_given", metavar="TEXT", nargs="?", default="-", help="a text, or - for standard input")
    parser.add_argument("--file", metavar="FILE", help="explain the texts of a file")
    add_reading(parser)
    parser.add_argument("--method", metavar="NAME", help="explainer (default: the model's; --help-all lists them)")
    parser.add_argument("--target", metavar="CLASS", help="explain this class (default: the predicted one)")
    parser.add_argument("--beside", metavar="RUN", help="a second model, shown side by side")
    parser.add_argument("--limit", type=int, metavar="N", help="explain the first N texts only")
    parser.add_argument(
        "--top", type=int, metavar="K", help="write only the K words that matter most for or against (jsonl or csv)"
    )
    parser.add_argument(
        "--format",
        choices=("terminal", "jsonl", "csv", "html", "svg", "tex", "pdf", "png"),
        help="default: by the extension of --out, otherwise terminal",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write here instead of to standard output")
    add_escape_formulas(parser)
    parser.add_details(list_methods)


def list_methods() -> str:
    """The explainers with their cost and sign, for `--help-all`."""
    from regard.explain.explainers import EXPLAINERS

    width = max(map(len, EXPLAINERS))
    lines = ["methods: name, signed or not, cost of a text in predictions, what the scores are"]
    for name, explainer in EXPLAINERS.items():
        sign = "signed" if explainer.signed else "weights"
        cost = "words" if explainer.passes is None else f"{explainer.passes:g}"
        lines.append(f"  {name:{width}}  {sign:7}  {cost:>5}  {explainer.sentence}")
    lines.append(
        "A signed method gives contributions, for (+) or against (−) the class; another one gives weights. Flat models"
    )
    lines.append("compute leave_one_out and attention from tables, at one to four times the cost of a prediction.")
    return "\n".join(lines)


def run(arguments: argparse.Namespace) -> None:
    from regard.commands.explain_blocks import can_stream, example_chunks, explained_blocks, read_texts, stream_top
    from regard.explain.top_words import explain_top
    from regard.report.text.formulas import Formulas
    from regard.report.text.notes import print_note
    from regard.report.text.top_words import check_top, write_top_words
    from regard.report.text.writing import explanation_format, write_explanations

    kind = explanation_format(arguments.format, arguments.out, arguments.escape_formulas)
    check_top(arguments.top, kind)
    if arguments.limit is not None and arguments.limit < 1:
        raise InputError(f"--limit: expected 1 or more, got {arguments.limit}")
    if arguments.file is not None and arguments.text_given != "-":
        raise InputError("expected a text or --file, got both")
    folders = [arguments.folder, *([arguments.beside] if arguments.beside is not None else [])]
    models = [load_model(folder, arguments.device, not arguments.no_verify) for folder in folders]
    with read_texts(arguments, models[0], kind) as texts:
        if kind == "jsonl" and can_stream(arguments, models):
            stream_top(arguments, models[0], texts)
            return
        formulas, caution = Formulas(arguments.escape_formulas), ""
        if arguments.top is not None:
            examples = [*chain.from_iterable(example_chunks(arguments, models[0], texts))]
            given = [example.text for example in examples]
            top = [explain_top(model, given, arguments.top, arguments.method, arguments.target) for model in models]
            write_top_words(zip(examples, zip(*top, strict=True), strict=True), kind, arguments.out, folders, formulas)
        else:
            explained = explained_blocks(arguments, models, texts)
            title = f"What {' and '.join(folders)} looked at"
            caution = write_explanations(explained, arguments.format, arguments.out, title, folders, formulas)
    formulas.report(print_note)
    if caution:
        print_line(f"regard: {arguments.out or arguments.format}: {caution}", sys.stderr)
