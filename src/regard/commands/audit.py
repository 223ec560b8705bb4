"""`regard audit`: whether attention can be trusted as an explanation, as tables, a page and JSON."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from regard.arguments import Parser
from regard.commands.figures import add_figures, report_figures
from regard.commands.reading import add_folder, add_model, add_reading, load_model, read_source, run_folder
from regard.errors import InputError
from regard.report.text.characters import print_line

if TYPE_CHECKING:
    from regard.facts.audit import AuditFacts
    from regard.models.model import Model
    from regard.models.trained import Trained
    from regard.records import Example


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    add_model(parser)
    parser.add_argument(
        "--data",
        metavar="FILE",
        required=True,
        help="texts, with or without labels, or a named corpus (its test split)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for audit.json and audit.html (default: RUN/audit, or audit with --model)",
    )
    add_figures(parser)
    parser.add_argument(
        "--rationales",
        metavar="COLUMN",
        help="column of the spans that people marked: one JSON list of [start, end] per text",
    )
    parser.add_argument(
        "--rationales-in", choices=("characters", "tokens"), help="unit of these spans (default: characters)"
    )
    parser.add_argument(
        "--method",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="methods to compare attention with (default: the gradient methods, leave_one_out and tfidf)",
    )
    # its name before every command had --method
    parser.add_argument("--explainers", nargs="+", action="extend", dest="method", help=argparse.SUPPRESS)
    parser.add_argument("--target", metavar="LABEL", help="of a run with several labels per text: the label to audit")
    parser.add_argument("--limit", type=int, default=1000, metavar="N", help="audit N random texts (default: 1000)")
    parser.add_argument("--retrain", action="store_true", help="also run the diagnostics that train further models")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables, and write no files")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from regard.audit.audit_options import AuditOptions, check_options, check_run
    from regard.audit.audit_run import run_facts
    from regard.data.rationales import Rationales
    from regard.files import check_writable
    from regard.models.one_label import with_one_label
    from regard.report.pages.audit import NAME, PAGE, as_json, write_audit
    from regard.report.text.progress import ConsoleRecorder

    if arguments.rationales_in and not arguments.rationales:
        raise InputError("--rationales-in: needs --rationales, which names the column")
    whole = load_model(arguments.folder, arguments.device, not arguments.no_verify)
    trained = whole if arguments.target is None else label_of(whole, arguments.target)
    options = AuditOptions(
        arguments.method, arguments.limit, arguments.retrain, arguments.seed, arguments.folder, arguments.data
    )
    try:
        check_run(trained)
    except InputError as error:
        raise InputError(f"{arguments.folder}: {error}") from None
    check_options(options, trained)
    out = arguments.out or run_folder(arguments.folder) / "audit"
    for target in () if arguments.json else filter(None, (out, arguments.figures)):
        check_writable(target)
    marks = Rationales(arguments.rationales, arguments.rationales_in or "characters") if arguments.rationales else None
    examples = read_source(arguments, whole, arguments.data, rationales=marks).examples
    learned_from = None
    if arguments.target is not None:
        examples, learned_from = with_one_label(examples, arguments.target), learned_texts(whole, arguments.target)
    with ConsoleRecorder() as recorder:
        facts = run_facts(trained, examples, options, recorder, learned_from)
    if arguments.json:
        print(as_json(facts))
        return
    from rich.console import Console

    from regard.report.text.audit import print_audit

    # before printing: the reader may close the pipe
    caution = write_audit(facts, out, arguments.figures, arguments.escape_formulas)
    card = write_card(arguments.folder, facts) if arguments.target is None else ""
    print_audit(facts, Console())
    print_line(f"open {out / PAGE}; all numbers are in {out / NAME}")
    report_figures(arguments.figures, caution)
    if card:
        print_line(card)


def label_of(trained: Model, label: str) -> Trained:
    """One label of a run with several labels per text, as a classifier."""
    from regard.models.one_label import one_label
    from regard.models.trained import Trained

    if not isinstance(trained, Trained):
        raise InputError(
            f"--target {label}: expected a run with several labels per text, got a model of another library"
        )
    return one_label(trained, label)


def learned_texts(trained: Model, label: str) -> list[Example] | None:
    """The training texts of the run with one of its labels, if they are still there."""
    from regard.audit.training_texts import training_texts
    from regard.models.one_label import with_one_label

    try:
        return with_one_label(training_texts(trained), label)
    except (InputError, OSError):
        return None


def write_card(folder: str, facts: AuditFacts) -> str:
    """Write the verdict into the model card, and say so. A run that may not be written to keeps its card."""
    from regard.audit.card import update_card
    from regard.models.hub import is_on_hub

    if is_on_hub(folder):
        return ""
    try:
        card = update_card(Path(folder), facts)
    except InputError as error:
        return f"the model card does not have the verdict: {error}"
    return "" if card is None else f"the verdict is in the model card {card}"
