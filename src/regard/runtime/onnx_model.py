"""A model as an ONNX graph, run by onnxruntime: logits and weights in one pass, contributions by leaving words out.

The graph takes ids and a mask, and returns logits and the weights of every level, words first (`export/onnx_graph.py`). It
reads padding like words, so only texts of similar shape are read together: a batch of hierarchies would be mostly padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.padding import padded
from regard.data.tokenizer import Indexed, Outline, Tokenizer
from regard.errors import InputError
from regard.explain.removal import all_but, check_length, only, single_erasures
from regard.explain.scored_text import ScoredText, repeats
from regard.explain.targets import explained, settled
from regard.explain.word_scores import WordScores
from regard.extras import import_extra
from regard.models.tasks import Task
from regard.records import ReadAs

LEVELS = ("words", "sentences", "parts")
INPUTS = {"ids": "tensor(int64)", "mask": "tensor(bool)"}
MOST_POSITIONS = 1 << 14  # padded positions per batch
MOST_PADDING = 1.25  # positions per word of a batch

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


class OnnxModel:
    def __init__(self, path: Path, tokenizer: Tokenizer, task: Task, method: str, threads: int) -> None:
        self.tokenizer, self.task = tokenizer, task
        self.methods = (method, "leave_one_out")
        self.session = open_session(path, threads)
        self.outputs = ["logits", *LEVELS[: tokenizer.levels]]
        check_signature(self.session, self.outputs, tokenizer.levels, task.out_dim, path)

    def run(self, texts: Sequence[Indexed]) -> list[NDArray[Any]]:
        """Logits and weights of each level, with padding."""
        ids, mask = padded(texts, self.tokenizer.levels)
        results: list[NDArray[Any]] = self.session.run(self.outputs, {"ids": ids, "mask": mask})
        return results

    def logits(self, texts: Sequence[str]) -> Doubles:
        return self.logits_of(self.tokenizer.encode_each(texts))

    def logits_of(self, texts: Sequence[Indexed]) -> Doubles:
        result = np.empty((len(texts), self.task.out_dim))
        for rows in batches(texts):
            result[rows] = self.run([texts[row] for row in rows])[0]
        return result

    def scored(self, texts: Sequence[str], targets: Ints, contributions: bool = True) -> Iterator[ScoredText]:
        for text, target in zip(texts, targets, strict=True):
            outline = self.tokenizer.outline(text)
            indexed = self.tokenizer.encode(text)
            if contributions:
                check_length(len(outline.words), "explain")
            logits, *levels = self.run([indexed])
            values = logits.astype(np.float64)
            chosen = int(settled(self.task, values, np.array([target]))[0])
            weights = self.shares(indexed, levels, values[0], chosen)
            groups = repeats(text, outline.words) if contributions else []
            effects = WordScores(np.zeros(len(outline.words)), values[0], chosen, 1)
            joint: Doubles = np.empty(0)
            if contributions:
                effects, joint = self.effects(outline, indexed, weights, groups)
            known = self.tokenizer.known(text, outline.words)
            reading: list[ReadAs] = ["word" if is_known else "unknown" for is_known in known]
            yield ScoredText(outline, reading, weights, effects, groups, joint.tolist())

    def shares(self, indexed: Indexed, levels: Sequence[NDArray[Any]], logits: Doubles, target: int) -> WordScores:
        """The share of every word, sentence and part in the whole text: the product of the weights down the levels."""
        mask = padded([indexed], self.tokenizer.levels)[1][0]
        products = [levels[-1][0].astype(np.float64)]
        for level in reversed(levels[:-1]):
            products.insert(0, products[0][..., None] * level[0])
        real = []
        for values in products:
            real.append(values[mask])
            mask = np.asarray(mask.any(-1))
        return WordScores(real[0], logits, target, 1, above=tuple(real[1:]), are_weights=True)

    def effects(
        self, outline: Outline, indexed: Indexed, weights: WordScores, groups: Sequence[tuple[int, ...]]
    ) -> tuple[WordScores, Doubles]:
        """What leaving out each word, sentence and part does, and all occurrences of a word: one pass each."""
        erasures = [*single_erasures(outline), *(np.array(group) for group in groups)]
        kept = all_but(erasures, len(outline.words))
        logits = self.logits_of([only(indexed, row) for row in kept])
        every = np.concatenate((weights.logits[None], logits))
        values = explained(self.task, every, np.full(len(every), weights.target))
        sizes = [len(outline.words), *map(len, outline.shape)]
        single, *rest = np.split(values[0] - values[1:], np.cumsum(sizes))
        return WordScores(single, weights.logits, weights.target, len(every), above=tuple(rest[:-1])), rest[-1]


def batches(texts: Sequence[Indexed]) -> Iterator[list[int]]:
    """Rows of texts that are read together: every text once, and little padding."""
    order = sorted(
        range(len(texts)), key=lambda row: (len(texts[row].shape[0]) if texts[row].shape else 0, size(texts[row]))
    )
    batch: list[int] = []
    axes, words = np.zeros(1, dtype=np.int64), 0
    for row in order:
        widened = np.maximum(axes, extent(texts[row]))
        positions = int(widened.prod()) * (len(batch) + 1)
        if batch and (positions > MOST_POSITIONS or positions > MOST_PADDING * (words + size(texts[row]))):
            yield batch
            batch, words, widened = [], 0, extent(texts[row])
        batch.append(row)
        axes, words = widened, words + size(texts[row])
    if batch:
        yield batch


def size(text: Indexed) -> int:
    return max(len(text.ids), 1)


def extent(text: Indexed) -> Ints:
    """The positions that a text takes on each axis."""
    counts = (
        [len(text.shape[-1]), *(int(one.max(initial=1)) for one in reversed(text.shape))]
        if text.shape
        else [size(text)]
    )
    return np.maximum(np.array(counts, dtype=np.int64), 1)


def open_session(path: Path, threads: int) -> Any:
    onnxruntime = import_extra("onnxruntime", str(path))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common class
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: not an ONNX model that onnxruntime can read ({reason})") from None


def check_signature(session: Any, outputs: Sequence[str], levels: int, classes: int, path: Path) -> None:
    """Check names, types and shapes of the inputs and outputs."""
    inputs = {one.name: (one.type, len(one.shape)) for one in session.get_inputs()}
    expected = {name: (kind, 1 + levels) for name, kind in INPUTS.items()}
    if inputs != expected:
        raise InputError(f"{path}: expected the inputs {expected}, got {inputs}; export the run again")
    found = {one.name: (one.type, list(one.shape)) for one in session.get_outputs()}
    wrong = [name for name in outputs if found.get(name, ("",))[0] != "tensor(float)"]
    if wrong:
        raise InputError(
            f"{path}: expected the output {wrong[0]!r} of float32, got {found.get(wrong[0])}; export the run again"
        )
    if found["logits"][1][-1] != classes:
        raise InputError(
            f"{path}: expected {classes} output{'s' * (classes != 1)} for the labels in task.json, "
            f"got {found['logits'][1][-1]}; export the run again"
        )
