"""What is known about a corpus, and how much of it is on this machine."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from regard.corpora.catalogue import PublicCorpus, catalogue
from regard.corpora.hub import PREFIX
from regard.corpora.lookup import VECTORS, Dataset, available
from regard.data.decoding import unpacked
from regard.data.read_options import ReadOptions
from regard.data.readers import stream
from regard.errors import InputError


def describe(name: str) -> list[tuple[str, str]]:
    """Headings, each with its text."""
    datasets = {dataset.name: dataset for dataset in available()}
    known, local = catalogue().get(name), datasets.get(name)
    if known is None and local is None:
        names = sorted({*catalogue(), *datasets})
        near = difflib.get_close_matches(name, names, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"{name}: no such corpus; {meant}`regard datasets` lists them")
    facts = _facts(name, known) if known else [("name", name), ("description", local.title if local else "")]
    return [*facts, *_local_facts(known, local)]


def missing() -> dict[str, PublicCorpus]:
    """Corpora of the catalogue that are not on this machine."""
    names = {dataset.name for dataset in available()}
    return {name: known for name, known in catalogue().items() if name not in names}


def count(path: Path) -> int:
    """The number of texts in a file."""
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return sum(piece.count(b"\n") for piece in unpacked(path))
    return sum(1 for _ in stream(path, ReadOptions(labelled=False)))


def _facts(name: str, known: PublicCorpus) -> list[tuple[str, str]]:
    facts = [
        ("name", name),
        ("description", known.title),
        ("available from", known.origin),
        ("licence", known.licence),
        ("citation", known.citation),
        ("splits", known.split),
        ("labels", known.labels),
    ]
    if known.counts:
        random = (
            " (compare the total: splits are random, or some texts are no longer available)" if known.random else ""
        )
        facts.append(("texts", _numbers(known.counts) + random))
    if known.published:
        facts.append(("published", f"{_numbers(known.published)}: the published results use only these"))
    if known.accepts:
        hub = "; or hub:ORG/NAME as above" if PREFIX in known.origin else ""
        facts.append(("--from", known.accepts + hub))
    return facts


def _local_facts(known: PublicCorpus | None, local: Dataset | None) -> list[tuple[str, str]]:
    if local is None:
        return [("on this machine", "not in the folder that REGARD_DATA names")]
    if VECTORS in local.splits:
        return [("on this machine", str(local.splits[VECTORS]))]
    counts = {split: count(path) for split, path in local.splits.items()}
    expected = {**known.counts, **known.published} if known else {}
    numbers = [f"{split} {number:,}{_if_other(number, expected.get(split))}" for split, number in counts.items()]
    numbers += [f"{split} 0{_if_other(0, number)}" for split, number in expected.items() if split not in counts]
    return [("here", f"{', '.join(numbers)}, in {local.path}")]


def _if_other(actual: int, expected: int | None) -> str:
    return "" if expected is None or expected == actual else f" (of {expected:,})"


def _numbers(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{split} {number:,}" for split, number in counts.items())
