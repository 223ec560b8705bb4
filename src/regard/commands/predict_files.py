"""`regard predict` for many Parquet files: `--out` is a folder, and `--on ray` spreads them over a cluster."""

from __future__ import annotations

import argparse
import os
import typing
from contextlib import contextmanager

from regard.arguments import Parser
from regard.commands.cluster_options import check_device
from regard.errors import InputError

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

    from regard.models.model import Model
    from regard.report.text.predictions import Layout
    from regard.scoring.job import Job
    from regard.scoring.locations import SourceFile
    from regard.scoring.score_files import Executor

FOLDER = (
    "for Parquet files, such as 'reviews/*.parquet' or s3://bucket/reviews/*.parquet, of which --out names a folder"
)


def add_file_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--explain", type=int, metavar="K", help="of Parquet files: add the K heaviest words of each text"
    )
    parser.add_argument("--on", metavar="WHERE", help="of Parquet files: ray, or ray:HOST:PORT for a cluster")
    parser.add_argument(
        "--actors", metavar="MIN:MAX", help="with --on: how many processes predict (default: 1 per core)"
    )


def is_of_files(arguments: argparse.Namespace) -> bool:
    """Whether the command is about several files. Refuses options that only such a command has."""
    from regard.scoring.locations import is_address, is_pattern

    source, out = arguments.source, arguments.out
    if is_pattern(source):
        return True
    if arguments.on is not None:
        if source.lower().endswith(".parquet") or os.path.isdir(source):
            return True
        raise InputError(f"--on {arguments.on}: expected Parquet files, such as 'reviews/*.parquet', got {source!r}")
    if out is not None and is_address(out):
        raise InputError(f"--out {out}: expected a file; an address can be used {FOLDER}")
    for name in ("explain", "actors"):
        if getattr(arguments, name) is not None:
            more = "; `regard explain` writes words in other formats" if name == "explain" else ""
            raise InputError(f"--{name} is {FOLDER}{more}")
    return False


def run_files(arguments: argparse.Namespace, trained: Model, layout: Layout) -> None:
    from regard.report.text.notes import print_note
    from regard.report.text.progress import RowCounter
    from regard.scoring.locations import locate, matching_files, outside
    from regard.scoring.score_files import score_files, source_of

    check_options(arguments)
    place, files = matching_files(arguments.source)
    files = outside(files, place, locate(arguments.out))
    if not files:
        raise InputError(f"{arguments.source}: expected Parquet files outside --out {arguments.out}, got none")
    job = make_job(arguments, source_of(place), files, layout, trained)
    with executor_for(arguments, job, trained) as executor, RowCounter(None, True) as counter:
        summary = score_files(job, files, model_name(arguments.folder), executor, print_note, counter.show)
    print_note(f"{summary.rows:,} rows of {summary.partitions:,} partitions were predicted, in {arguments.out}")
    if summary.bad:
        print_note(f"{summary.bad:,} of them have no prediction; see the column error")


def check_options(arguments: argparse.Namespace) -> None:
    if arguments.out is None:
        raise InputError(f"{arguments.source}: expected --out FOLDER, which gets one file of predictions per partition")
    if arguments.format not in (None, "parquet"):
        raise InputError(f"--format {arguments.format}: expected parquet {FOLDER}")
    if arguments.strict or arguments.encoding is not None:
        option = "strict" if arguments.strict else "encoding"
        raise InputError(f"--{option}: not {FOLDER}; leave it out")
    if arguments.explain is not None and arguments.explain < 1:
        raise InputError(f"--explain: expected a number of words from 1, got {arguments.explain}")
    if arguments.actors is not None and arguments.on is None:
        raise InputError("--actors: expected with --on ray; without it, one process predicts")
    if os.path.isfile(arguments.out):
        raise InputError(f"--out {arguments.out}: expected a folder, got a file")
    if arguments.out == "-":
        raise InputError("--out -: expected a folder, got standard output, which cannot hold several Parquet files")
    check_device(arguments.on, arguments.device)
    parse_actors(arguments.actors)


def parse_actors(text: str | None) -> tuple[int, int] | None:
    """MIN:MAX, or a number for both."""
    if text is None:
        return None
    parts = text.split(":")
    if len(parts) > 2 or not all(part.isdecimal() for part in parts) or not 1 <= int(parts[0]) <= int(parts[-1]):
        raise InputError(f"--actors: expected MIN:MAX, such as 1:8, or a number, got {text!r}")
    return int(parts[0]), int(parts[-1])


def make_job(
    arguments: argparse.Namespace, source: str, files: list[SourceFile], layout: Layout, trained: Model
) -> Job:
    from dataclasses import replace

    from regard.scoring.job import Job
    from regard.scoring.locations import is_address, locate
    from regard.scoring.parquet_files import all_columns
    from regard.scoring.partitions import first_readable
    from regard.scoring.scorer import Scorer

    first, schema = first_readable(locate(source), files)
    known = trained.data.text
    text = arguments.text or (known if known is not None and known in schema.names else "text")
    words = arguments.explain or 0
    columns = all_columns(schema, text, arguments.keep, Scorer(trained, layout, words).columns(), first.path)
    target = arguments.out if is_address(arguments.out) else os.path.abspath(arguments.out)
    return Job(source, target, columns, replace(layout, kept=()), words)


def model_name(folder: str) -> str:
    """What identifies the model of a folder of predictions."""
    from regard.commands.reading import is_wrapped
    from regard.scoring.model_files import digest, files_of

    return folder if is_wrapped(folder) else digest(files_of(folder))


@contextmanager
def executor_for(arguments: argparse.Namespace, job: Job, trained: Model) -> Iterator[Executor]:
    from regard.commands.reading import is_wrapped
    from regard.report.text.notes import print_note
    from regard.scoring.model_files import files_of
    from regard.scoring.score_files import here

    if arguments.on is None:
        yield here(job, trained)
        return
    from regard.ray_cluster import Needs, connected
    from regard.scoring.ray_actors import RayActors

    cuda = arguments.device == "cuda"
    needs = Needs(1, int(cuda))
    with connected(arguments.on, needs) as ray:
        actors = parse_actors(arguments.actors) or (1, max(1, needs.slots(ray.cluster_resources())))
        model = arguments.folder if is_wrapped(arguments.folder) else files_of(arguments.folder)
        yield RayActors(ray, needs, actors, print_note, job, model, "cuda" if cuda else "cpu")
