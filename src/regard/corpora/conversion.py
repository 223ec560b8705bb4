"""From an original to NAME/{train,dev,test}.jsonl.gz and a README, all of it or nothing."""

from __future__ import annotations

import difflib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.corpora.archives import Progress
from regard.corpora.catalogue import ORIGINALS, Original
from regard.corpora.forms import FORMS
from regard.corpora.hub import PREFIX, hub_splits
from regard.corpora.lookup import VARIABLE
from regard.corpora.readme import readme
from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits
from regard.corpora.tally import Tally, differences
from regard.corpora.user_table import own_splits
from regard.data.guess import listed
from regard.errors import InputError
from regard.files import check_place, write_all

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
SUFFIX = ".jsonl.gz"
README = "README.md"


@dataclass(frozen=True)
class Wish:
    """What the user asked for."""

    name: str
    source: str
    out: Path | None = None
    text: str | None = None
    label: str | None = None
    skip_bad_rows: bool = False
    overwrite: bool = False


@dataclass(frozen=True)
class Converted:
    folder: Path
    counts: dict[str, int]
    differences: list[str]  # sentences on what is not as in the original


def convert(wish: Wish, note: Callable[[str], None], progress: Progress | None = None) -> Converted:
    folder = _folder(wish)
    original = ORIGINALS.get(wish.name)
    splits, digests = _splits(wish, original, note, progress)
    tallies = {part: Tally() for part in splits}
    for part, rows in splits.items():
        for _ in tallies[part].usable(rows, wish.name):
            pass
    remarks = [
        f"{part}: {tally.left_out} texts that cannot be used left out ({tally.why})"
        for part, tally in tallies.items()
        if tally.left_out
    ]
    for remark in remarks:
        note(remark)
    tallies = {part: tally for part, tally in tallies.items() if tally.rows}
    if not tallies:
        raise InputError(f"{wish.source}: no text that can be used is found")
    counts = {part: tally.rows for part, tally in tallies.items()}
    other = differences(original, counts)
    origin = wish.source if wish.source.startswith(PREFIX) else Path(wish.source).absolute().name
    page = readme(wish.name, origin, original, tallies, digests, [*remarks, *other])
    before = set(_written(folder))
    files: dict[str, bytes | Iterable[bytes]] = {
        part + SUFFIX: packed(Tally().usable(splits[part], wish.name)) for part in tallies
    }
    write_all(folder, {**files, README: page.encode()})
    for old in before - {folder / name for name in files}:  # parts of the corpus that was replaced
        old.unlink(missing_ok=True)
    return Converted(folder, counts, other)


def packed(rows: Iterable[Record]) -> Iterator[bytes]:
    """JSON lines as gzip, without a time in it: the same rows give the same file."""
    press = zlib.compressobj(6, zlib.DEFLATED, 31)
    for row in rows:
        yield press.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    yield press.flush()


def _splits(
    wish: Wish, original: Original | None, note: Callable[[str], None], progress: Progress | None
) -> tuple[Splits, dict[str, str]]:
    if original is None:
        near = difflib.get_close_matches(wish.name, ORIGINALS, n=1)
        if near:
            note(f"{wish.name} is none of the known corpora (is {near[0]} meant?); it is read as a table of your own")
    elif not original.form:
        raise InputError(f"{wish.name}: it cannot be converted; {original.split}")
    if wish.source.startswith(PREFIX):
        return hub_splits(wish.name, wish.source, original, wish.text, wish.label, note), {}
    if original is None:
        return own_splits(Path(wish.source), wish.text, wish.label, wish.skip_bad_rows, note)
    if wish.text is not None or wish.label is not None or wish.skip_bad_rows:
        raise InputError(
            f"{wish.name}: the columns of the original are known; --text, --label and --skip-bad-rows are for other names"
        )
    source = Source(Path(wish.source), progress)
    splits = FORMS[wish.name](source)
    if not any(splits.values()):
        raise source.mismatch(original.form)
    return splits, source.read


def _folder(wish: Wish) -> Path:
    """Where the corpus goes, if it may."""
    if not NAME.fullmatch(wish.name):
        raise InputError(f"{wish.name!r} is no name for a corpus; letters, digits, - and _ are accepted")
    home = wish.out or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if home is None:
        raise InputError(
            f"{VARIABLE} is not set and no --out is given; one of them names the folder that corpora go to"
        )
    if not wish.source:  # it would be the current folder
        raise InputError(
            "--from: an empty path is found; the original as it was downloaded, or hub:ORG/NAME, is accepted"
        )
    folder = home / wish.name
    check_place(folder)
    there = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")] if folder.is_dir() else []
    foreign = [name for name in there if name != README and not name.endswith(SUFFIX)]
    if there and not wish.overwrite:
        raise InputError(f"{folder} exists already; give another --out, or --overwrite to replace it")
    if foreign:
        raise InputError(
            f"{folder} holds {listed(sorted(foreign), most=3)}; --overwrite replaces only {README} and *{SUFFIX} files"
        )
    return folder


def _written(folder: Path) -> Iterator[Path]:
    return folder.glob(f"*{SUFFIX}") if folder.is_dir() else iter(())
