"""`regard audit`: what attention may be read as, as tables, a page and JSON."""

from __future__ import annotations

import argparse
from pathlib import Path

from regard.arguments import Parser
from regard.commands.figures import add_figures, told_figures
from regard.commands.loading import add_folder, load_model
from regard.commands.reading import add_reading, read_source
from regard.errors import InputError


def add_arguments(parser: Parser) -> None:
    add_folder(parser)
    parser.add_argument(
        "--data", metavar="FILE", required=True, help="texts, with labels or without, or a named corpus (its test part)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where audit.json and audit.html go (default: RUN/audit)"
    )
    add_figures(parser)
    parser.add_argument(
        "--rationales", metavar="COLUMN", help="what people marked: a column of JSON lists of [start, end] a text"
    )
    parser.add_argument(
        "--rationales-in", choices=("characters", "tokens"), help="what these numbers count (default: characters)"
    )
    parser.add_argument(
        "--explainers", nargs="+", metavar="NAME", help="what attention is held against (default: five of them)"
    )
    parser.add_argument(
        "--limit", type=int, default=1000, metavar="N", help="audit N texts, drawn by chance (default: 1000)"
    )
    parser.add_argument("--retrain", action="store_true", help="take the diagnostics that train models again too")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where chance starts (default: 0)")
    parser.add_argument("--json", action="store_true", help="print the JSON instead of tables, and write nothing")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> None:
    from regard.audit.audit_run import AuditOptions, check_options, check_run, run_facts
    from regard.data.rationales import Rationales
    from regard.files import check_writable
    from regard.report.pages.audit import NAME, PAGE, as_json, write_audit
    from regard.report.text.progress import Watch

    if arguments.rationales_in and not arguments.rationales:
        raise InputError("--rationales-in: it goes with --rationales, which names the column")
    trained = load_model(arguments.folder, arguments.device)
    options = AuditOptions(
        arguments.explainers, arguments.limit, arguments.retrain, arguments.seed, arguments.folder, arguments.data
    )
    try:
        check_run(trained)
    except InputError as error:
        raise InputError(f"{arguments.folder}: {error}") from None
    check_options(options, trained.capabilities)
    out = arguments.out or Path(arguments.folder) / "audit"
    for place in () if arguments.json else filter(None, (out, arguments.figures)):
        check_writable(place)
    marks = Rationales(arguments.rationales, arguments.rationales_in or "characters") if arguments.rationales else None
    corpus = read_source(arguments, trained, arguments.data, rationales=marks)
    with Watch() as recorder:
        facts = run_facts(trained, corpus.examples, options, recorder)
    if arguments.json:
        print(as_json(facts))
        return
    from rich.console import Console

    from regard.report.text.audit import print_audit

    print_audit(facts, Console())
    caution = write_audit(facts, out, arguments.figures)
    print(f"open {out / PAGE}; all numbers are in {out / NAME}")
    told_figures(arguments.figures, caution)
