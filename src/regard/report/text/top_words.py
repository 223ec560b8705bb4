"""The strongest words of each text as compact JSON lines or CSV: `regard explain --top K`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from regard.errors import InputError
from regard.records import Example, TopWords
from regard.report.text.explanation_lines import dumped
from regard.report.text.formulas import Formulas
from regard.report.text.writing import as_csv, emit, joined_label

Explained = Iterable[tuple[Example, Sequence[TopWords]]]  # one per model


def check_top(most: int | None, kind: str) -> None:
    if most is None:
        return
    if most < 1:
        raise InputError(f"--top: expected a number of words from 1, got {most}")
    if kind not in ("jsonl", "csv"):
        raise InputError(f"--top: expected --format jsonl or csv, got the format {kind}, which shows every word")


def write_top_words(explained: Explained, kind: str, out: Path | None, runs: Sequence[str], formulas: Formulas) -> None:
    if kind == "csv":
        emit(out, as_csv(top_rows(explained, runs), formulas))
    else:
        emit(out, top_lines(explained, runs))


def top_lines(explained: Explained, runs: Sequence[str]) -> Iterator[str]:
    several = len(runs) > 1
    for example, items in explained:
        for run, item in zip(runs, items, strict=True):
            row: dict[str, object] = {"row": example.row, **({"run": run} if several else {}), "text": example.text}
            row |= item.prediction.as_dict()
            if item.target is not None:
                row["target"] = item.target
            row["words"] = [{"word": word, "contribution": value} for word, value in item.words]
            yield dumped(row) + "\n"


def top_rows(explained: Explained, runs: Sequence[str]) -> Iterator[list[str]]:
    """One row per word, strongest first."""
    several = len(runs) > 1
    yield ["row", "prediction", "word", "contribution", "target", *["run"] * several]
    for example, items in explained:
        for run, item in zip(runs, items, strict=True):
            for word, value in item.words:
                known = [str(example.row), joined_label(item.prediction), word, repr(value), item.target or ""]
                yield [*known, *[run] * several]
