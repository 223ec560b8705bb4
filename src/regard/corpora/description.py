"""What is known of a corpus, beside what is here of it."""

from __future__ import annotations

import difflib
from pathlib import Path

from regard.corpora.catalogue import ORIGINALS, Original
from regard.corpora.hub import PREFIX
from regard.corpora.lookup import VECTORS, Dataset, available
from regard.data.contents import unpacked
from regard.data.readers import stream
from regard.errors import InputError


def describe(name: str) -> list[tuple[str, str]]:
    """Headings and what is to be said under each."""
    found = {dataset.name: dataset for dataset in available()}
    original, here = ORIGINALS.get(name), found.get(name)
    if original is None and here is None:
        names = sorted({*ORIGINALS, *found})
        near = difflib.get_close_matches(name, names, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"{name}: no corpus of that name is known or found; {meant}`regard datasets` lists them")
    said = _known(name, original) if original else [("name", name), ("what it is", here.title if here else "")]
    return [*said, *_here(original, here)]


def missing() -> dict[str, Original]:
    """Corpora that are known and not found."""
    found = {dataset.name for dataset in available()}
    return {name: original for name, original in ORIGINALS.items() if name not in found}


def count(path: Path) -> int:
    """How many texts a file holds."""
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return sum(piece.count(b"\n") for piece in unpacked(path))
    return sum(1 for _ in stream(path, labelled=False))


def _known(name: str, original: Original) -> list[tuple[str, str]]:
    said = [
        ("name", name),
        ("what it is", original.title),
        ("to be had", original.address),
        ("licence", original.licence),
        ("citation", original.citation),
        ("parts", original.split),
        ("labels", original.labels),
    ]
    if original.counts:
        drawn = (
            " (the sum is what counts: parts are drawn, or some texts can be had no more)" if original.by_chance else ""
        )
        said.append(("texts", _counted(dict(original.counts)) + drawn))
    if original.published:
        said.append(
            ("published", f"{_counted(dict(original.published))}: what the published results rest on is a part")
        )
    if original.form:
        hub = "; or hub:ORG/NAME as above" if PREFIX in original.address else ""
        said.append(("--from", original.form + hub))
    return said


def _here(original: Original | None, here: Dataset | None) -> list[tuple[str, str]]:
    if here is None:
        return [("here", "not found below the folder that REGARD_DATA names")]
    if VECTORS in here.splits:
        return [("here", str(here.splits[VECTORS]))]
    counts = {part: count(path) for part, path in here.splits.items()}
    known = {**original.counts, **original.published} if original else {}
    told = [f"{part} {found:,}{_beside(found, known.get(part))}" for part, found in counts.items()]
    told += [f"{part} 0{_beside(0, number)}" for part, number in known.items() if part not in counts]
    return [("here", f"{', '.join(told)}, in {here.path}")]


def _beside(found: int, known: int | None) -> str:
    return "" if known is None or known == found else f" (of {known:,})"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{part} {number:,}" for part, number in counts.items())
