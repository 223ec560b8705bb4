"""`regard towers`: train two towers on reviews, predict how a user will rate an item, and show what was read for that."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import typing
from pathlib import Path

from regard.arguments import Parser
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

    from regard_lab.towers.explanation import ExplainedPair
    from regard_lab.towers.ratings import Rating
    from regard_lab.towers.trained_towers import TrainedTowers

PURPOSE = "predict how users will rate items from their reviews, by two towers, and show what was read"
ACTIONS = {
    "train": "train on a file of reviews with user, item, rating and text, and save the model as a folder",
    "predict": "predict the rating of an item by a user, or of every pair of a file",
    "explain": "show the words, sentences and reviews of both sides that a predicted rating rests on",
    "report": "write a page with the measures on a file of ratings and the ratings with the largest errors, explained",
}
OPTIONS = {  # of the config, that two towers have
    *("train", "dev", "test", "dev_fraction", "max_words", "min_count", "max_vocabulary", "lowercase", "vectors"),
    *("encoder", "pooling", "embedding", "hidden", "windows", "attention", "query", "norm", "norm_init", "form"),
    *("head_bias", "embedding_range", "freeze_embeddings", "epochs", "patience", "batch_size", "optimizer", "lr"),
    *("norm_lr", "dropout", "l2", "clip", "seed", "device", "bf16"),
}
DEFAULTS = {"levels": 3, "encoder": "cnn,cnn,embedding"}  # as in the three-tier paper
SHOWN = 20  # ratings on a page
LARGEST = 2000  # ratings on a page, which a browser still opens
RUN = "the folder that `regard towers train` wrote"


def add_arguments(parser: Parser) -> None:
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", required=True, dest="action", parser_class=Parser
    )
    added = {
        name: actions.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
        for name, purpose in ACTIONS.items()
    }
    add_training(added["train"])
    for name in ("predict", "explain", "report"):
        add_reading(added[name], is_page=name == "report")
    added["predict"].add_argument(
        "--out", type=Path, metavar="FILE", help="write JSON lines here, not to standard output"
    )
    added["explain"].add_argument("--out", type=Path, metavar="FILE", help="write here: .jsonl, .html, or .txt")
    added["explain"].add_argument("--limit", type=int, metavar="N", help="explain the first N ratings only")
    added["report"].add_argument("--out", type=Path, metavar="FILE", help="the page (default: RUN/report.html)")
    added["report"].add_argument(
        "--limit", type=int, default=SHOWN, metavar="N", help=f"ratings to explain (default: {SHOWN})"
    )


def add_training(parser: Parser) -> None:
    from regard.commands.options import add_options

    parser.usage = "regard towers train FILE --out RUN [options]"
    parser.description = f"{parser.description} The encoder is {DEFAULTS['encoder']} unless --encoder is given."
    add_options(parser, OPTIONS)
    group = parser.add_argument_group("two towers")
    group.add_argument(
        "--max-reviews", type=int, metavar="N", help="read at most the first N reviews per user and item"
    )
    group.add_argument("--side", choices=("both", "user", "item"), default="both", help="read one side only")
    group.add_argument(
        "--ids",
        type=int,
        default=0,
        metavar="N",
        help="width of vectors of user and item ids; 0: text only (default: 0)",
    )
    group.add_argument(
        "--head",
        choices=("concat", "product"),
        default="concat",
        help="the rating is linear in [u, i, u·i], or in u·i alone (default: concat)",
    )
    group.add_argument("--relu", action="store_true", help="keep ratings from being negative by a ReLU")
    group.add_argument("--out", type=Path, metavar="RUN", required=True, help="folder of the run")
    group.add_argument("--overwrite", action="store_true", help="replace an existing run")


def add_reading(parser: Parser, is_page: bool) -> None:
    parser.add_argument("folder", metavar="RUN", help=RUN)
    if not is_page:
        parser.add_argument("user", metavar="USER", nargs="?", help="name of the user")
        parser.add_argument("item", metavar="ITEM", nargs="?", help="name of the item")
    parser.add_argument(
        "--data" if is_page else "--file",
        dest="file",
        metavar="FILE",
        required=is_page,
        help="a file with the columns user and item, and rating if it is known",
    )
    parser.add_argument(
        "--reviews",
        metavar="FILE",
        help="read the reviews of this file, with user, item, rating and text, in place of the training reviews",
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")
    parser.add_argument(
        "--no-verify", action="store_true", help="load the run even if its files have changed since it was saved"
    )


def run(arguments: argparse.Namespace) -> None:
    {"train": train, "predict": predict, "explain": explain, "report": report}[arguments.action](arguments)


def train(arguments: argparse.Namespace) -> None:
    from regard.commands.options import options_given
    from regard.config import Config
    from regard.report.text.characters import print_line
    from regard.report.text.progress import ConsoleRecorder
    from regard_lab.towers.train_folder import TowerOptions, train_folder
    from regard_lab.towers.two_towers import Form

    given = options_given(arguments)
    if "train" not in given:
        raise InputError("no training reviews: pass a file with the columns user, item, rating and text")
    config = Config().override({**DEFAULTS, **given})
    form = Form(arguments.ids, arguments.head, arguments.relu)
    options = TowerOptions(arguments.max_reviews, arguments.side, form, arguments.overwrite)
    with ConsoleRecorder() as recorder:
        trained = train_folder(config, options, arguments.out, recorder)
    for split in ("dev", "test"):
        if split in trained.metrics:
            scores = trained.metrics["dev"] if split == "dev" else trained.metrics["test"]
            print_line(
                f"{split}: RMSE {scores['rmse']:.4f}, of always predicting the mean {scores['rmse_of_mean']:.4f}"
            )
    print_line(f"saved in {arguments.out}; try: regard towers explain {shlex.quote(str(arguments.out))} USER ITEM")


def predict(arguments: argparse.Namespace) -> None:
    from regard.records import to_jsonl
    from regard.report.text.writing import emit

    trained, ratings = read(arguments)
    rows = (
        {
            **({"row": rating.row} if rating.row else {}),
            "user": rating.user,
            "item": rating.item,
            "prediction": float(value),
            **({"rating": rating.value} if math.isfinite(rating.value) else {}),
        }
        for rating, value in zip(ratings, trained.answers(ratings), strict=True)
    )
    if arguments.file is None and arguments.out is None:
        (row,) = rows
        print(f"{row['prediction']:.4g}")
        return
    emit(arguments.out, (f"{line}\n" for line in to_jsonl(rows)))


def explain(arguments: argparse.Namespace) -> None:
    from regard.records import to_jsonl
    from regard.report.text.writing import choose_format, emit
    from regard_lab.towers.explanation import explain

    kind = choose_format(None, arguments.out, ("terminal", "jsonl", "html"), "terminal")
    check_limit(arguments.limit)
    trained, ratings = read(arguments)
    explained = explain(trained, ratings[: arguments.limit or (LARGEST if kind == "html" else None)])
    if kind == "jsonl":
        emit(arguments.out, (f"{line}\n" for line in to_jsonl(pair.as_dict() for pair in explained)))
    elif kind == "html":
        from regard_lab.towers.page import page

        title = f"What {arguments.folder} read"
        emit(arguments.out, [page(trained, title, "", [], explained, len(ratings))])
    else:
        show(explained, arguments.out)


def report(arguments: argparse.Namespace) -> None:
    from regard.files import check_writable, write
    from regard.report.text.characters import print_line
    from regard_lab.towers.explanation import explain
    from regard_lab.towers.folder import PAGE
    from regard_lab.towers.page import measure_rows, page

    check_limit(arguments.limit)
    out = arguments.out or Path(arguments.folder) / PAGE
    if out.is_dir():
        raise InputError(f"--out: expected the name of a page, such as {out / PAGE}, got the folder {out}")
    trained, ratings = read(arguments)
    check_writable(out.parent)
    predictions = trained.answers(ratings)
    measures = measure_rows(predictions, ratings, trained.contexts(ratings))
    errors = [abs(value - rating.value) for value, rating in zip(predictions.tolist(), ratings, strict=True)]
    order = sorted(
        range(len(ratings)), key=lambda place: (-errors[place] if math.isfinite(errors[place]) else 0.0, place)
    )
    explained = explain(trained, [ratings[place] for place in order[: arguments.limit]])
    title = f"Two towers: {arguments.folder}"
    write(out, page(trained, title, arguments.file, measures, explained, len(ratings)))
    print_line(f"open {out}")


def read(arguments: argparse.Namespace) -> tuple[TrainedTowers, list[Rating]]:
    """The model, with the reviews that it may read, and the pairs whose rating is wanted."""
    from regard_lab.towers.folder import load
    from regard_lab.towers.ratings import Rating, read_pairs, read_ratings

    names = (getattr(arguments, "user", None), getattr(arguments, "item", None))
    if arguments.file is not None and names != (None, None):
        raise InputError("expected a user and an item, or --file, got both")
    if arguments.file is None and None in names:
        raise InputError("expected the name of a user and of an item, or --file FILE with many")
    trained = load(arguments.folder, arguments.device, not arguments.no_verify)
    if arguments.reviews is not None:
        trained = trained.with_reviews(read_ratings(arguments.reviews), same_names=True)
    pairs = [Rating(*names, math.nan, "")] if arguments.file is None else read_pairs(arguments.file)
    return trained, pairs


def check_limit(limit: int | None) -> None:
    if limit is not None and not 1 <= limit <= LARGEST:
        raise InputError(f"--limit: expected a number from 1 to {LARGEST}, got {limit}")


def show(explained: Sequence[ExplainedPair], out: Path | None) -> None:
    """Print each pair with its terms and both sides."""
    import io

    from rich.console import Console

    from regard.files import write
    from regard_lab.towers.terminal import show_pair

    sheet = None if out is None else io.StringIO()
    console = Console(file=sheet or sys.stdout, highlight=False)
    for pair in explained:
        show_pair(pair, console)
    if out is not None and sheet is not None:
        write(out, sheet.getvalue())
