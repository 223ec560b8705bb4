"""`regard analyse`: polarity and attention of every word, as tables, a page and JSON."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser
from regard.commands.reading import add_folder, add_reading, load_run, read_source, run_folder
from regard.errors import InputError
from regard.report.text.characters import print_line


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    parser.add_argument(
        "--data", metavar="FILE", help="labelled texts, or a named corpus (default: the texts the run was trained on)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder for the page, figures and JSON (default: RUN/analysis)"
    )
    parser.add_argument(
        "--scores",
        choices=("local", "global"),
        default="local",
        help="for encoders that read context: averages over the texts, or each word alone (default: local)",
    )
    parser.add_argument("--target", metavar="LABEL", help="of a run with several labels per text: the label to analyse")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables, and write no files")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    import json

    from regard.analysis.analyse import analyse, check_model
    from regard.data.labels import Labels
    from regard.files import check_writable
    from regard.models.one_label import one_label, with_one_label
    from regard.models.tasks import encoded
    from regard.training.data_files import verified

    whole = load_run(arguments.folder, arguments.device, not arguments.no_verify)
    trained = whole if arguments.target is None else one_label(whole, arguments.target)
    try:
        check_model(trained)
    except InputError as error:
        raise InputError(f"{arguments.folder}: {error}") from None
    out = arguments.out or run_folder(arguments.folder) / "analysis"
    if not arguments.json:
        check_writable(out)
    source = arguments.data
    if source is None:
        try:
            verified(trained, "train")
        except InputError as error:
            advice = "" if "--data" in str(error) else "; pass texts with --data"
            raise InputError(f"{arguments.folder}: {error}{advice}") from None
        source = str(trained.data.train)
    corpus = read_source(arguments, whole, source, labelled=True, part="train")
    examples = corpus.examples
    if arguments.target is not None:
        examples = with_one_label(examples, arguments.target)
    labels = encoded(trained.task, Labels.of(examples), corpus.path, corpus.label_column)
    texts = [example.text for example in examples]
    facts = analyse(trained, texts, labels, source, str(arguments.folder), arguments.scores == "local")
    if arguments.json:
        print(json.dumps(facts.to_json(), ensure_ascii=False))
        return
    from rich.console import Console

    from regard.report.pages.analysis import write_analysis
    from regard.report.text.analysis import print_analysis

    page = write_analysis(facts, out)  # before printing, which ends the command if the reader closes the pipe
    print_analysis(facts, Console())
    print_line(f"open {page}")
