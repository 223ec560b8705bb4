"""`regard report`: one page about a run."""

from __future__ import annotations

import argparse
import typing
from pathlib import Path

from regard.arguments import Parser
from regard.commands.figures import add_figures, report_figures
from regard.commands.reading import add_folder, add_model, add_reading, load_model, read_source, run_folder
from regard.errors import InputError
from regard.report.text.characters import print_line

if typing.TYPE_CHECKING:
    from regard.records import Example


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    add_model(parser)
    parser.add_argument(
        "--data",
        metavar="FILE",
        help="texts, with or without labels, or a named corpus (default: the run's test texts, or else its dev texts)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the page (default: RUN/report.html, or report.html with --model)"
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="explainer of the texts (default: the model's; see `regard explain --help-all`)",
    )
    parser.add_argument("--target", metavar="CLASS", help="explain this class (default: the predicted one)")
    add_figures(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from regard.files import check_writable
    from regard.report.pages.run import write_report
    from regard.report.text.progress import ConsoleRecorder
    from regard.run_facts import gather
    from regard.training.data_files import verified

    trained = load_model(arguments.folder, arguments.device, not arguments.no_verify)
    out = arguments.out or run_folder(arguments.folder) / "report.html"
    if out.is_dir():
        raise InputError(f"--out: expected the name of a page, such as {out / 'report.html'}, got the folder {out}")
    for target in filter(None, (out.parent, arguments.figures)):
        check_writable(target)
    split = "test" if trained.data.test else "dev"
    source = arguments.data or getattr(trained.data, split)
    with ConsoleRecorder() as recorder:
        examples: list[Example] = []
        if source is None:
            recorder.note(
                "the run does not record what it was tested on; pass texts with --data to measure and explain them"
            )
        elif arguments.data is not None:
            examples = read_source(arguments, trained, source).examples
        else:
            try:
                verified(trained, split)
                examples = read_source(arguments, trained, source, part=split).examples
            except InputError as error:
                recorder.note(str(error) if "--data" in str(error) else f"{error}; pass other texts with --data")
        facts = gather(trained, arguments.folder, examples, str(source), recorder, arguments.method, arguments.target)
        caution = write_report(facts, out, arguments.figures, arguments.escape_formulas)
    print_line(f"open {out}")
    report_figures(arguments.figures, caution)
