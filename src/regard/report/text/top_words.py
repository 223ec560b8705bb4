"""The strongest words of each text as compact JSON lines or CSV: `regard explain --top K`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from json.encoder import encode_basestring as quoted
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.records import Example, TopWords
from regard.report.text.explanation_lines import dumped, written
from regard.report.text.formulas import Formulas
from regard.report.text.prediction_lines import Block, encoded, probabilities_template
from regard.report.text.writing import as_csv, emit, joined_label

Explained = Iterable[tuple[Example, Sequence[TopWords]]]  # one per model


class StrongestWords(NamedTuple):
    """Those of some texts, as numbers."""

    predicted: Block
    targets: NDArray[np.int64]  # (texts,) class numbers, which a regression does not use
    bounds: NDArray[np.int64]  # (texts + 1,) the words of each text are [bounds[i], bounds[i + 1])
    starts: NDArray[np.int64]  # (words,) where each begins in its text, in characters
    ends: NDArray[np.int64]  # (words,)
    values: NDArray[np.float64]  # (words,) contributions


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


def block_lines(blocks: Iterable[StrongestWords], classes: Sequence[str]) -> Iterator[bytes]:
    """The same lines of one model, in UTF-8, written from numbers in a fraction of the time. No classes: a regression."""
    names = [quoted(name) for name in classes]
    for block in blocks:
        values = written(block.values)
        starts, ends = block.starts.tolist(), block.ends.tolist()
        rows = zip(block.predicted.examples, answers_of(block, names), pairwise(block.bounds.tolist()), strict=True)
        lines = []
        for example, answer, (low, high) in rows:
            text = example.text
            words = b", ".join(
                b'{"word": %b, "contribution": %b}' % (encoded(text[starts[k] : ends[k]]), values[k].encode())
                for k in range(low, high)
            )
            line = b'{"row": %d, "text": %b, %b, "words": [%b]}\n'
            lines.append(line % (example.row, encoded(text), answer.encode("utf-8", "replace"), words))
        yield b"".join(lines)


def answers_of(block: StrongestWords, names: Sequence[str]) -> Iterable[str]:
    """The prediction of each text, its probabilities, and the class that contributions are about."""
    _, answers, chosen = block.predicted
    if chosen is None:
        return (f'"prediction": {number}' for number in written(answers[:, 0]))
    columns = [written(answers[:, k]) for k in range(len(names))]
    parts = f'"prediction": {{}}, "probabilities": {probabilities_template(names)}, "target": {{}}'.format
    predicted, targets = ([names[k] for k in numbers.tolist()] for numbers in (chosen, block.targets))
    return (
        parts(one, *row, target)
        for one, target, row in zip(predicted, targets, zip(*columns, strict=True), strict=True)
    )


def top_rows(explained: Explained, runs: Sequence[str]) -> Iterator[list[str]]:
    """One row per word, strongest first."""
    several = len(runs) > 1
    yield ["row", "prediction", "word", "contribution", "target", *["run"] * several]
    for example, items in explained:
        for run, item in zip(runs, items, strict=True):
            for word, value in item.words:
                known = [str(example.row), joined_label(item.prediction), word, repr(value), item.target or ""]
                yield [*known, *[run] * several]
