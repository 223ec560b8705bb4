"""From a downloaded corpus to NAME/{train,dev,test}.jsonl.gz and a README: everything is written, or nothing."""

from __future__ import annotations

import difflib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from regard.corpora.catalogue import PublicCorpus, catalogue
from regard.corpora.converters import (
    ag_news,
    amazon_multidomain,
    eraser_movies,
    imdb,
    mr_cr_subj,
    newsgroups,
    scale_data,
    semeval,
    sst,
    trec,
    vader,
    yelp_amazon,
)
from regard.corpora.hub import PREFIX, hub_splits
from regard.corpora.lookup import VARIABLE
from regard.corpora.readme import Tally, differences, readme
from regard.corpora.source import Progress, Source
from regard.corpora.splits import Record, Splits
from regard.corpora.user_table import table_splits
from regard.data.read_options import ReadOptions
from regard.errors import InputError, quoted
from regard.files import check_writable, remove_leftovers, temporary_files, write_all

CONVERTERS: dict[str, Callable[[Source], Splits]] = {
    "20newsgroups": newsgroups.convert,
    "ag_news": ag_news.convert,
    "amazon": partial(yelp_amazon.convert, name="amazon"),
    "amazon_multidomain": amazon_multidomain.convert,
    "cr": partial(mr_cr_subj.convert, name="cr"),
    "eraser_movies": eraser_movies.convert,
    "imdb": imdb.convert,
    "mr": partial(mr_cr_subj.convert, name="mr"),
    "scaledata": scale_data.convert,
    "semeval2013_phrases": semeval.convert_phrases,
    "semeval_twitter": semeval.convert_messages,
    "sst1": partial(sst.convert, make=sst.five_classes),
    "sst2": partial(sst.convert, make=sst.two_classes),
    "sst_trees": partial(sst.convert, make=sst.whole_tree),
    "subj": partial(mr_cr_subj.convert, name="subj"),
    "trec": trec.convert,
    "vader_amazon": partial(vader.convert, name="vader_amazon"),
    "vader_movies": partial(vader.convert, name="vader_movies"),
    "vader_nyt": partial(vader.convert, name="vader_nyt"),
    "vader_tweets": partial(vader.convert, name="vader_tweets"),
    "yelp": partial(yelp_amazon.convert, name="yelp"),
    "yelp_small": partial(yelp_amazon.convert, name="yelp_small"),
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
SUFFIX = ".jsonl.gz"
README = "README.md"


@dataclass(frozen=True)
class ConversionOptions:
    """The options of `regard datasets NAME --from SOURCE`."""

    name: str
    source: str
    out: Path | None = None
    text: str | None = None
    label: str | None = None
    skip_bad_rows: bool = False
    encoding: str | None = None
    overwrite: bool = False


@dataclass(frozen=True)
class Converted:
    folder: Path
    counts: dict[str, int]
    differences: list[str]  # sentences about what is not as in the catalogue


def convert(options: ConversionOptions, note: Callable[[str], None], progress: Progress | None = None) -> Converted:
    folder = _folder(options)
    known = catalogue().get(options.name)
    splits, digests = _splits(options, known, note, progress)
    tallies = {split: Tally() for split in splits}
    for split, rows in splits.items():
        for _ in tallies[split].usable(rows, options.name):
            pass
    remarks = [
        f"{split}: skipped {tally.left_out} texts that cannot be used ({tally.reason})"
        for split, tally in tallies.items()
        if tally.left_out
    ]
    for remark in remarks:
        note(remark)
    tallies = {split: tally for split, tally in tallies.items() if tally.rows}
    if not tallies:
        raise InputError(f"{options.source}: expected at least one usable text, got none")
    counts = {split: tally.rows for split, tally in tallies.items()}
    other = differences(known, counts)
    origin = options.source if options.source.startswith(PREFIX) else Path(options.source).absolute().name
    page = readme(options.name, origin, known, tallies, digests, [*remarks, *other])
    before = set(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else set()
    files: dict[str, bytes | Iterable[bytes]] = {
        split + SUFFIX: packed(Tally().usable(splits[split], options.name)) for split in tallies
    }
    remove_leftovers([file.path for file in temporary_files(folder) if file.name in (*files, README)], ())
    write_all(folder, {**files, README: page.encode()})
    for old in before - {folder / name for name in files}:  # splits of the corpus that was replaced
        old.unlink(missing_ok=True)
    return Converted(folder, counts, other)


def packed(rows: Iterable[Record]) -> Iterator[bytes]:
    """JSON lines as gzip without a timestamp, so that the same rows give the same file."""
    press = zlib.compressobj(6, zlib.DEFLATED, 31)
    for row in rows:
        yield press.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    yield press.flush()


def _splits(
    options: ConversionOptions, known: PublicCorpus | None, note: Callable[[str], None], progress: Progress | None
) -> tuple[Splits, dict[str, str]]:
    """The rows of every split, and the SHA-256 of every file that they come from."""
    if known is None:
        near = difflib.get_close_matches(options.name, catalogue(), n=1)
        if near:
            note(f"{options.name} is not a known corpus (did you mean {near[0]}?); reading it as your own table")
    elif not known.accepts:
        raise InputError(f"{options.name}: cannot be converted; {known.split}")
    if options.source.startswith(PREFIX):
        return hub_splits(options.name, options.source, known, (options.text, options.label), note), {}
    if known is None:
        reading = ReadOptions(options.text, options.label, skip_bad_rows=options.skip_bad_rows, at_least=1)
        return table_splits(Path(options.source), replace(reading, encoding=options.encoding), note)
    if options.skip_bad_rows or any(x is not None for x in (options.text, options.label, options.encoding)):
        raise InputError(
            f"{options.name}: the columns of this corpus are known; "
            "--text, --label, --encoding and --skip-bad-rows are only for your own tables"
        )
    source = Source(Path(options.source), progress)
    splits = CONVERTERS[options.name](source)
    if not any(splits.values()):
        raise source.mismatch(known.accepts)
    return splits, source.digests


def _folder(options: ConversionOptions) -> Path:
    """The folder of the corpus, if it may be written."""
    if not NAME.fullmatch(options.name):
        raise InputError(f"name of a corpus: expected letters, digits, - and _, got {options.name!r}")
    home = options.out or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if home is None:
        raise InputError(f"expected the folder for corpora in {VARIABLE} or --out, got neither")
    if not options.source:  # it would be the current folder
        raise InputError("--from: expected the original as downloaded, or hub:ORG/NAME, got an empty path")
    folder = home / options.name
    check_writable(folder)
    entries = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")] if folder.is_dir() else []
    foreign = [name for name in entries if name != README and not name.endswith(SUFFIX)]
    if entries and not options.overwrite:
        raise InputError(f"{folder} already exists; use another --out, or --overwrite to replace it")
    if foreign:
        raise InputError(
            f"{folder} contains {quoted(sorted(foreign), most=3)}; --overwrite replaces only {README} and *{SUFFIX} files"
        )
    return folder
