"""The command line: one function a command, which parses, calls and prints."""

from __future__ import annotations

import argparse
import io
import os
import sys
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from regard import __version__
from regard.arguments import (
    Parser,
    add_auditing,
    add_options,
    add_reading,
    add_reporting,
    add_reproducing,
    complain,
    flag,
)
from regard.config import Config, options, read_config
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from regard.data.readers import Corpus
    from regard.models.trained import Trained
    from regard.records import Example, Prediction


A_RUN = "the folder that `regard train` wrote"
PORT = 8642
LARGE = 1 << 26  # bytes of a file that is answered while it is read


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
    parser = make_parser()
    arguments = parser.parse_args(argv)
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
        goes_on = "; --resume goes on after the last epoch that was saved" if arguments.run is run_train else ""
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


def make_parser() -> Parser:
    parser = Parser(prog="regard", description="Text classifiers that show their work.")
    parser.add_argument("--version", action="version", version=f"regard {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)

    def command(name: str, run: Callable[[argparse.Namespace], None], help: str) -> Parser:
        added = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        added.set_defaults(run=run)
        return added

    train = command("train", run_train, "learn from a file of texts and labels, and save the model as a folder")
    add_options(train)
    train.add_argument("--out", type=Path, metavar="RUN", help="the folder of the run (default: runs/NAME)")
    train.add_argument("--resume", action="store_true", help="go on with a run that was stopped or killed")
    train.add_argument("--overwrite", action="store_true", help="replace a run that is there already")
    train.add_argument("--config", metavar="FILE", help="read options from a TOML file; those given here go first")

    predict = command("predict", run_predict, "say what a trained model makes of texts")
    predict.add_argument("folder", metavar="RUN", help=A_RUN)
    predict.add_argument(
        "source",
        metavar="FILE",
        nargs="?",
        default="-",
        help="a file of texts, or - for standard input; words with spaces between them are taken as a text",
    )
    add_reading(predict)
    predict.add_argument(
        "--format", choices=("terminal", "jsonl", "csv"), help="default: terminal, or jsonl into a pipe or file"
    )
    predict.add_argument("--out", type=Path, metavar="FILE", help="write here instead of to standard output")

    evaluate = command("evaluate", run_evaluate, "score a trained model on a file of texts and labels")
    evaluate.add_argument("folder", metavar="RUN", help=A_RUN)
    evaluate.add_argument(
        "source", metavar="FILE", help="a file of texts and labels, or a named corpus (its test part)"
    )
    add_reading(evaluate)
    evaluate.add_argument("--json", action="store_true", help="one JSON object instead of a table")

    explain = command("explain", run_explain, "show which words a trained model's answer was made of")
    explain.add_argument("folder", metavar="RUN", help=A_RUN)
    explain.add_argument("text_given", metavar="TEXT", nargs="?", default="-", help="a text, or - for standard input")
    explain.add_argument("--file", metavar="FILE", help="explain every text of a file")
    add_reading(explain)
    explain.add_argument("--limit", type=int, metavar="N", help="explain the first N texts only")
    explain.add_argument(
        "--format", choices=("terminal", "jsonl", "csv", "html", "svg"), help="default: terminal, or as --out ends"
    )
    explain.add_argument("--out", type=Path, metavar="FILE", help="write here instead of to standard output")

    analyse = command(
        "analyse", run_analyse, "show what each word says and weighs in a trained model, and what moved it there"
    )
    analyse.add_argument("folder", metavar="RUN", help=A_RUN)
    analyse.add_argument(
        "--data", metavar="FILE", help="labelled texts, or a named corpus (default: what the run was trained on)"
    )
    analyse.add_argument(
        "--out", type=Path, metavar="DIR", help="where page, figures and JSON go (default: RUN/analysis)"
    )
    analyse.add_argument(
        "--scores",
        choices=("local", "global"),
        default="local",
        help="of an encoder that reads contexts: means over the texts, or each word alone (default: local)",
    )
    analyse.add_argument("--json", action="store_true", help="print the JSON instead of tables, and write nothing")
    add_reading(analyse)

    serve = command("serve", run_serve, "open a page on this machine to type texts into, and a JSON API")
    serve.add_argument("folders", metavar="RUN", nargs="+", help=f"{A_RUN}; two are shown side by side")
    serve.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"where it listens; 0: any free one (default: {PORT})"
    )
    serve.add_argument("--open", action="store_true", help="open a browser there")
    serve.add_argument("--device", default="auto", help="cpu, cuda or auto")

    audit = command(
        "audit", run_audit, "say what a trained model's attention may be read as on texts, and what it may not"
    )
    audit.add_argument("folder", metavar="RUN", help=A_RUN)
    add_auditing(audit)
    add_reading(audit)

    report = command("report", run_report, "write one page with all there is to know of a trained model")
    report.add_argument("folder", metavar="RUN", help=A_RUN)
    add_reporting(report)
    add_reading(report)

    demo = command("demo", run_demo, "train on the corpus that comes with regard, and show what it learned")
    demo.add_argument(
        "--out", type=Path, default=Path("demo"), metavar="DIR", help="where the run and its page go (default: demo)"
    )
    demo.add_argument("--seed", type=int, default=0, metavar="N", help="where chance starts (default: 0)")

    datasets = command("datasets", run_datasets, "list corpora, say where one is had, or convert its public original")
    datasets.add_argument("name", metavar="NAME", nargs="?", help="a corpus, known or of your own (default: list all)")
    datasets.add_argument(
        "--from",
        dest="source",
        metavar="PATH",
        help="the original as it was downloaded, a table of your own, or hub:ORG/NAME of the Hugging Face hub",
    )
    datasets.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder of corpora that NAME is written to (default: REGARD_DATA)"
    )
    datasets.add_argument("--overwrite", action="store_true", help="replace a corpus that is there already")
    datasets.add_argument("--text", metavar="COLUMN", help="the column of the texts of your own table or of the hub's")
    datasets.add_argument("--label", metavar="COLUMN", help="the column of the labels")
    datasets.add_argument("--skip-bad-rows", action="store_true", help="leave out rows of your own table that are bad")
    reproduce = command("reproduce", run_reproduce, "run a paper's table again, beside the numbers that it prints")
    add_reproducing(reproduce)
    return parser


def run_train(arguments: argparse.Namespace) -> None:
    given = vars(arguments)
    names = {item.name for _, item, _ in options()}
    values = read_config(arguments.config) if arguments.config else {}
    values |= {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items() if name in names
    }
    config = Config().override(values)

    from regard.report.progress import Watch
    from regard.runs import train_run

    with Watch() as recorder:
        trained, folder = train_run(config, arguments.out, arguments.resume, arguments.overwrite, recorder)
    show_scores(trained.metrics)
    print(f'saved in {folder}; try: regard explain {folder} "a text of yours"')


def show_scores(metrics: dict[str, Any]) -> None:
    from rich.console import Console

    from regard.report.tables import metrics_table

    console = Console()
    for split in ("dev", "test"):
        if split in metrics:
            console.print(f"[bold]{split}[/] (epoch {metrics['best_epoch']} of {metrics['epochs']})")
            console.print(metrics_table(metrics[split]))


def run_predict(arguments: argparse.Namespace) -> None:
    from regard.report.writing import write_predictions

    trained = load_model(arguments)
    write_predictions(predicted(trained, read_large(arguments)), arguments.format, arguments.out)


def read_large(arguments: argparse.Namespace) -> Iterable[Example]:
    """Texts to predict. Of a large file not all are in memory; so a bad row is met when others were answered already."""
    from regard.data.datasets import resolve
    from regard.data.readers import stream
    from regard.report.progress import Watch
    from regard.runs import tell

    source = arguments.source
    if not os.path.isfile(source) or os.path.getsize(source) < LARGE:
        return read_source(arguments, source)
    how = {"text": arguments.text, "label": arguments.label, "skip_bad_rows": arguments.skip_bad_rows}
    found = stream(resolve(source, "test"), **how, labelled=False, at_least=1)
    tell(found, Watch())
    return found


def predicted(trained: Trained, examples: Iterable[Example]) -> Iterator[tuple[Example, Prediction]]:
    """Each text with what the model says of it, some thousand at a time, so that a large file streams."""
    from itertools import islice

    several = iter(examples)
    while part := list(islice(several, 1 << 14)):
        said = trained.task.predictions(trained.answers([example.text for example in part]))
        yield from zip(part, said, strict=True)


def load_model(arguments: argparse.Namespace) -> Trained:
    from regard.models.folder import load

    trained = load(arguments.folder)
    if arguments.device == "cpu" or (arguments.device == "auto" and trained.is_flat):
        return trained  # on a CPU a flat model answers faster than PyTorch is imported
    from regard.training.device import choose_device

    device = str(choose_device(arguments.device))
    return trained if device == "cpu" else load(arguments.folder, device)


def take_columns(arguments: argparse.Namespace, trained: Trained) -> None:
    """The columns that training used are the ones to look for, where they are not said again."""
    data = trained.config.data
    arguments.text, arguments.label = arguments.text or data.text, arguments.label or data.label


def read_source(arguments: argparse.Namespace, source: str, labelled: bool = False, part: str = "test") -> Corpus:
    """Texts from a file, a named corpus, standard input, or the argument itself where it is more than one word."""
    from regard.data.datasets import resolve
    from regard.data.readers import read, read_lines
    from regard.report.progress import Watch
    from regard.runs import tell

    how = {
        "text": arguments.text,
        "label": arguments.label,
        "skip_bad_rows": arguments.skip_bad_rows,
        "labelled": labelled,
        "at_least": 1,
    }
    if source == "-" and sys.stdin is None:
        raise InputError("standard input is closed; a file of texts, or a text, is accepted")
    if source == "-":
        if sys.stdin.isatty():
            print("regard: reading texts from the keyboard, one a line; Ctrl-D ends", file=sys.stderr)
        corpus = read_lines(sys.stdin.buffer, "standard input", **how)
    elif not labelled and len(source.split()) != 1 and not os.path.exists(source):
        return read_text(source)
    else:
        corpus = read(resolve(source, part), **how)
    tell(corpus, Watch())
    return corpus


def read_text(text: str) -> Corpus:
    """A text that stands on the command line, held to what is asked of a file's rows."""
    from regard.data.examples import make_example
    from regard.data.readers import Corpus
    from regard.data.rows import Row

    example = make_example(Row(1, "argument", {"text": text}), "command line", "text", None, labelled=False)
    return Corpus("command line", [example], "text", None, [], 0)


def run_evaluate(arguments: argparse.Namespace) -> None:
    import json

    from rich.console import Console

    from regard.report.tables import metrics_table
    from regard.runs import score

    trained = load_model(arguments)
    take_columns(arguments, trained)
    metrics = score(trained, read_source(arguments, arguments.source, labelled=True))
    if arguments.json:
        print(json.dumps(metrics, ensure_ascii=False))
    else:
        Console().print(metrics_table(metrics))


def run_explain(arguments: argparse.Namespace) -> None:
    from regard.explain.explain import explain
    from regard.models.tasks import labels_as_shown
    from regard.report.writing import write_explanations

    if arguments.limit is not None and arguments.limit < 1:
        raise InputError(f"--limit {arguments.limit}: 1 or more is accepted")
    if arguments.file is not None and arguments.text_given != "-":
        raise InputError("a text and --file were both given; give one of them")
    trained = load_model(arguments)
    if arguments.file is None and arguments.text_given != "-":
        if os.path.isfile(arguments.text_given):
            sentence = f"explaining the words {arguments.text_given!r}; to read that file, say --file"
            print(f"regard: {sentence} {arguments.text_given}", file=sys.stderr)
        corpus = read_text(arguments.text_given)
    else:
        corpus = read_source(arguments, arguments.file or "-")
    examples = corpus.examples[: arguments.limit]
    labels = labels_as_shown(trained.task, examples)
    explanations = explain(trained, [example.text for example in examples], labels)
    write_explanations(explanations, arguments.format, arguments.out, f"What {arguments.folder} looked at")


def run_analyse(arguments: argparse.Namespace) -> None:
    import json

    from regard.analysis.analyse import analyse, check_model
    from regard.data.labels import Labels
    from regard.models.tasks import encoded

    trained = load_model(arguments)
    try:
        check_model(trained)
    except InputError as error:
        raise InputError(f"{arguments.folder}: {error}") from None
    data = trained.config.data
    source = arguments.data or data.train
    if source is None:
        raise InputError(
            f"{arguments.folder}: the run does not say what it was trained on; name labelled texts by --data"
        )
    take_columns(arguments, trained)
    corpus = read_source(arguments, source, labelled=True, part="train")
    labels = encoded(trained.task, Labels.of(corpus.examples), corpus.path, corpus.label_column)
    texts = [example.text for example in corpus.examples]
    found = analyse(trained, texts, labels, source, str(arguments.folder), arguments.scores == "local")
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False))
        return
    from rich.console import Console

    from regard.report.analysis_table import print_analysis
    from regard.report.analysis_writing import write_analysis

    print_analysis(found, Console())
    print(f"open {write_analysis(found, arguments.out or Path(arguments.folder) / 'analysis')}")


def run_serve(arguments: argparse.Namespace) -> None:
    from regard.serve.serve import serve

    def load(folder: str) -> Trained:
        arguments.folder = folder
        return load_model(arguments)

    serve(arguments.folders, load, arguments.port, arguments.open)


def run_audit(arguments: argparse.Namespace) -> None:
    from regard.audit.audit_run import Wish, audit_run, check_run, check_wish
    from regard.audit.given_weights import poolings
    from regard.audit.writing import NAME, PAGE, as_json, write_audit
    from regard.files import check_place
    from regard.report.progress import Watch

    trained = load_model(arguments)
    wish = Wish(
        arguments.explainers, arguments.limit, arguments.retrain, arguments.seed, arguments.folder, arguments.data
    )
    try:
        check_run(trained)
    except InputError as error:
        raise InputError(f"{arguments.folder}: {error}") from None
    check_wish(wish, poolings(trained))
    out = arguments.out or Path(arguments.folder) / "audit"
    for place in () if arguments.json else filter(None, (out, arguments.figures)):
        check_place(place)
    take_columns(arguments, trained)
    corpus = read_source(arguments, arguments.data)
    with Watch() as recorder:
        found = audit_run(trained, corpus.examples, wish, recorder)
    if arguments.json:
        print(as_json(found))
        return
    from rich.console import Console

    from regard.audit.table import print_audit

    print_audit(found, Console())
    said = write_audit(found, out, arguments.figures)
    print(f"open {out / PAGE}; all numbers are in {out / NAME}")
    told_figures(arguments.figures, said)


def run_report(arguments: argparse.Namespace) -> None:
    from regard.files import check_place
    from regard.report.progress import Watch
    from regard.report.run_writing import write_report
    from regard.reporting.gather import gather

    trained = load_model(arguments)
    folder = Path(arguments.folder)
    out = arguments.out or folder / "report.html"
    if out.is_dir():
        raise InputError(
            f"--out {out}: it is a folder; the name of the page, such as {out / 'report.html'}, is accepted"
        )
    for place in filter(None, (out.parent, arguments.figures)):
        check_place(place)
    data = trained.config.data
    take_columns(arguments, trained)
    source = arguments.data or data.test or data.dev
    with Watch() as recorder:
        examples: list[Example] = []
        if source is None:
            recorder.note("the run does not say what it was tested on; --data names texts to measure and to read")
        elif arguments.data is not None:
            examples = read_source(arguments, source).examples
        else:
            try:
                examples = read_source(arguments, source, part="test" if data.test else "dev").examples
            except InputError as error:
                recorder.note(f"{error}; --data names other texts")
        said = write_report(gather(trained, folder, examples, str(source), recorder), out, arguments.figures)
    print(f"open {out}")
    told_figures(arguments.figures, said)


def told_figures(folder: Path | None, said: str) -> None:
    if folder is not None:
        print(f"figures and tables are in {folder}")
    if said:
        print(said)


def run_demo(arguments: argparse.Namespace) -> None:
    from regard.demo import demo
    from regard.report.progress import Watch

    with Watch() as recorder:
        demo(arguments.out, arguments.seed, recorder)


def run_datasets(arguments: argparse.Namespace) -> None:
    if arguments.source is not None and arguments.name is None:
        raise InputError("--from: the name of the corpus is missing; regard datasets NAME --from PATH is accepted")
    if arguments.source is not None:
        convert_original(arguments)
        return
    given = [name for name in ("out", "text", "label") if getattr(arguments, name) is not None]
    given += [name for name in ("overwrite", "skip_bad_rows") if getattr(arguments, name)]
    if given:
        raise InputError(f"{flag(given[0])}: it goes with --from, which names the original that is to be converted")
    show_datasets() if arguments.name is None else show_original(arguments.name)


def show_datasets() -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from regard.data.datasets import VARIABLE, available
    from regard.data.originals.description import missing
    from regard.report.progress import Watch

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "parts", "what it is"):
        table.add_column(heading)
    found = available()
    for dataset in found:
        table.add_row(*map(Text, (dataset.name, ", ".join(dataset.splits), dataset.title)))
    for name, original in missing().items():
        table.add_row(*map(Text, (name, "not here", original.title)), style="dim")
    Console().print(table)
    if not found:
        folder = os.environ.get(VARIABLE)
        named = repr(folder) if folder else "not set"
        Watch().note(f"{VARIABLE} is {named}; it names the folder that corpora are in, as NAME/train.csv and the like")


def show_original(name: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from regard.data.originals.description import describe

    table = Table(box=None, pad_edge=False, show_header=False)
    for heading, said in describe(name):
        table.add_row(Text(heading, style="bold"), Text(said))
    Console().print(table)


def convert_original(arguments: argparse.Namespace) -> None:
    from rich.progress import Progress

    from regard.data.originals.conversion import Wish, convert
    from regard.report.progress import Watch

    watch = Watch()
    wish = Wish(**{name: value for name, value in vars(arguments).items() if name != "run"})
    with Progress(console=watch.console, transient=True, disable=not watch.console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        done = convert(wish, watch.note, lambda seen, total: bar.update(task, completed=seen, total=total))
    for sentence in done.differences:
        watch.note(f"{wish.name}: {sentence}")
    print(", ".join(f"{part} {count:,}" for part, count in done.counts.items()))
    place = f"REGARD_DATA={done.folder.parent} " if wish.out else ""
    print(f"saved in {done.folder}; try: {place}regard train {wish.name}")


def run_reproduce(arguments: argparse.Namespace) -> None:
    from regard.reproduce.listing import list_tables
    from regard.reproduce.reproduce import Wish, render_only, reproduce

    if arguments.list or arguments.table is None:
        for table in list_tables():
            print(f"{table.name}: {table.title}")
            for what, words in table.facts:
                print(f"    {what}: {words}")
        return
    if arguments.render:
        given = [name for name in ("seeds", "only", "budget", "jobs", "retry_failed") if getattr(arguments, name)]
        if given:
            raise InputError(f"{flag(given[0])}: it says what to run, and --render runs nothing; give one of them")
        written = render_only(arguments.table, arguments.out)
    else:
        names = ("seeds", "device", "only", "budget", "jobs", "out", "retry_failed")
        written = reproduce(arguments.table, Wish(**{name: getattr(arguments, name) for name in names}))
    for path in written:
        print(path)


if __name__ == "__main__":
    sys.exit(main())
