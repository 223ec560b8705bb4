"""The sparse engine: seeds and threads, what it learns, epochs, divergence, corpora that do not fit into memory."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.config import Config
from regard.data import corpus_ids
from regard.data.corpus_ids import CorpusIndexer
from regard.data.reviews import reviews, splits
from regard.data.spilling_array import SpillingArray
from regard.errors import InputError
from regard.kernels.units import distinct
from regard.models.tasks import Regression
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.training import fit_sparse, sparse_engine, unit_indexing, worker_pool
from regard.training.defaults import DataSize, fill_defaults
from regard.training.fit import Parts, Run, fit
from regard.training.loop import EpochPlan
from regard.training.sparse_engine import SparseEngine, learning_rate
from regard.training.unit_indexing import TextSource, UnitIndexer
from stopping import CASES, scripted

REVIEWS = splits(train=400, dev=100, test=100)
TOY = [
    Example(f"{word} {thing}", label) for word, label in (("good", "yes"), ("bad", "no")) for thing in "abcdefgh"
] * 3


def learn(
    examples: Sequence[Example] = REVIEWS["train"], dev: Sequence[Example] | None = None, **options: Any
) -> Trained:
    """One model; committees have tests of their own."""
    trained = fit(
        Config().override({"device": "cpu", "members": 1, "calibrate": False, **options}), Parts(examples, dev)
    )
    assert trained.config.training.engine == "sparse"
    return trained


def digest(trained: Trained) -> str:
    whole = hashlib.sha256()
    for name, value in sorted(trained.weights.items()):
        whole.update(name.encode() + value.tobytes())
    return whole.hexdigest()


def accuracy(trained: Trained, examples: Sequence[Example] = REVIEWS["test"]) -> float:
    predictions = trained.task.predictions(trained.answers([example.text for example in examples]))
    correct = [each.value == example.label for each, example in zip(predictions, examples, strict=True)]
    return float(np.mean(correct))


# Seeds and threads


def test_the_seed_determines_the_weights() -> None:
    one, again, other = (digest(learn(TOY, seed=seed)) for seed in (1, 1, 2))
    assert one == again
    assert one != other


@pytest.mark.parametrize("options", [{}, {"optimizer": "sgd", "l2": 0.01}], ids=["adagrad", "sgd"])
def test_weights_do_not_depend_on_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(worker_pool, "MIN_UNITS", 0)
    digests = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert sparse_engine.threads() == int(threads)
        digests.append(digest(learn(TOY, deterministic=True, **options)))
    assert len(set(digests)) == 1


SCRIPT = """
import sys, hashlib
from regard.config import Config
from regard.data.reviews import reviews
from regard.training import worker_pool
from regard.training.fit import Parts, fit
worker_pool.MIN_UNITS = 0
for options in ({}, {"encoder": "affine", "attention": "additive", "epochs": 2, "batch_size": 32}):
    weights = fit(Config().override(options), Parts(reviews(120))).weights
    print(hashlib.sha256(b"".join(weights[name].tobytes() for name in sorted(weights))).hexdigest())
"""


def test_weights_do_not_depend_on_threads_of_the_process() -> None:
    """NumPy multiplies matrices with threads of the process."""
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT],
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].split()) == 2


@pytest.mark.parametrize(
    ("value", "count"), [("3", 3), ("", None), ("0", None), ("two", None), ("-1", None), ("²", None)]
)
def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch, value: str, count: int | None) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert sparse_engine.threads() == (count or min(16, len(os.sched_getaffinity(0))))


# What is learned


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"deterministic": False},
        {"pairs": False, "beginnings": 0},
        {"encoder": "affine", "hidden": 16, "epochs": 8},
        {"attention": "additive", "query": 16, "epochs": 8},
        {"head_bias": False},
        {"dropout": 0.0},
        {"decay": False},
    ],
    ids=lambda options: ", ".join(map(str, options)) or "defaults",
)
def test_reviews_are_classified_better_than_at_random(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    """100 texts of five equally frequent classes: 20 ± 4 are right at random."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert accuracy(learn(dev=REVIEWS["dev"], **options)) > 0.4


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_deciding_words_are_learned(seed: int) -> None:
    trained = learn(TOY, seed=seed)
    assert accuracy(trained, TOY) == 1
    assert accuracy(trained, [Example("good z", "yes"), Example("bad z", "no")]) == 1


def test_order_is_learned_only_from_pairs() -> None:
    """Both classes have the same words: only pairs show their order."""
    examples = [Example(text, label) for text, label in (("man bites dog", "a"), ("dog bites man", "b"))] * 20
    assert accuracy(learn(examples, epochs=20), examples) == 1
    assert accuracy(learn(examples, epochs=20, pairs=False, dev_fraction=0.0), examples) == 0.5


def test_regression_predicts_in_the_unit_of_the_labels() -> None:
    examples = [Example(f"{word} film", value) for word, value in (("good", 5200.0), ("bad", 5000.0))] * 20
    trained = learn(examples, task="regression", epochs=40)
    assert isinstance(trained.task, Regression)
    assert (trained.task.mean, trained.task.scale) == (5100, 100)
    assert trained.answers(["good film", "bad film"])[:, 0] == pytest.approx([5200, 5000], abs=30)
    assert trained.metrics["dev"]["rmse"] < 30
    assert trained.metrics["history"][0]["loss"] < 10, "the loss is of the normalised numbers"


def test_texts_without_words() -> None:
    """Also if all held-out texts, or all texts, have no words."""
    texts = [*TOY, Example("", "yes"), Example("...", "no"), Example(" ", "no")]
    assert np.isfinite(learn(texts).answers(["", "good a"])).all()
    assert np.isfinite(learn(TOY, dev=[Example("", "yes"), Example(" ", "no")]).answers([""])).all()
    assert np.isfinite(learn([Example("", "yes"), Example("", "no")] * 3).answers(["", "good"])).all()


def test_a_batch_may_be_larger_than_the_corpus() -> None:
    assert learn(TOY, batch_size=1000, epochs=2).metrics["epochs"] == 2


def test_initial_vectors(tmp_path: Path) -> None:
    """A file of vectors determines the width; words without a vector and all other units start at random."""
    path = tmp_path / "vectors.txt"
    path.write_text("good 1 2 3\nbad -1 -2 -3\nunseen 9 9 9\n")
    trained = learn(TOY, vectors=str(path), lr=1e-12, dropout=0.0)
    words, table = trained.tokenizer.vocabulary, trained.weights["embedding.weight"]
    assert table.shape == (len(trained.tokenizer), 3)
    assert table[words.ids(["good", "bad"])] == pytest.approx(np.array([[1, 2, 3], [-1, -2, -3]]), abs=1e-5)
    others = np.delete(table, words.ids(["good", "bad"]), 0)
    assert np.abs(others).max() <= 0.1 + 1e-5
    assert "unseen" not in words


def test_held_out_texts_are_not_trained_on() -> None:
    examples = [Example(f"word{row} film", str(row % 2), row) for row in range(20)]
    trained = learn(examples, dev_fraction=0.2, min_count=1, epochs=1)
    assert trained.metrics["texts"] == 16
    assert trained.metrics["dev"]["n"] == 4
    assert sum(f"word{row}" in trained.tokenizer.vocabulary for row in range(20)) == 16


def test_an_unknown_dev_label_is_refused() -> None:
    with pytest.raises(InputError, match="the dev texts, row 7: the label 'c' was not among"):
        learn(TOY, dev=[Example("odd", "c", 7)])


def test_options_limit_the_vocabulary() -> None:
    trained = learn(min_count=5, max_vocabulary=50, pairs=False, beginnings=0)
    assert len(trained.tokenizer) == len(trained.tokenizer.vocabulary) == 2 + 50
    assert not trained.tokenizer.has_units
    truncated = learn(TOY, max_words=1)
    assert set(truncated.tokenizer.vocabulary.words) == {"good", "bad"}


# Epochs


@pytest.mark.parametrize(("accuracies", "patience", "best", "epochs"), CASES)
def test_best_epoch_and_patience(
    monkeypatch: pytest.MonkeyPatch, accuracies: list[float], patience: int, best: int, epochs: int
) -> None:
    options = {"decay": False, "dev_fraction": 0.2}
    with monkeypatch.context() as patch:
        scripted(patch, sparse_engine, accuracies)
        trained = learn(TOY, epochs=5, patience=patience, **options)
    assert (trained.metrics["best_epoch"], trained.metrics["epochs"]) == (best, epochs)
    # the weights are those of a run whose last and best epoch was this one
    with monkeypatch.context() as patch:
        scripted(patch, sparse_engine, [0.1 * epoch for epoch in range(1, best + 1)])
        assert digest(learn(TOY, epochs=best, patience=0, **options)) == digest(trained)


def test_without_dev_the_last_epoch_is_the_best() -> None:
    metrics = learn(TOY, dev_fraction=0.0, epochs=4, patience=1).metrics
    assert metrics["best_epoch"] == metrics["epochs"] == 4
    assert "dev" not in metrics
    assert "dev" not in metrics["history"][0]
    assert metrics["history"][0]["train"]["accuracy"] >= 0


def test_learning_rate_decay() -> None:
    """Epoch 3 of 4 begins at 1/2 of lr and is at 3/8 of it halfway; without decay the rate is constant."""
    config = fill_defaults(Config().override({"lr": 0.8, "epochs": 4, "decay": True}), DataSize(10, 100))
    assert learning_rate(config.training, 1, 0.0) == 0.8
    assert learning_rate(config.training, 3, 0.0) == pytest.approx(0.8 / 2)
    assert learning_rate(config.training, 3, 0.5) == pytest.approx(0.8 * 3 / 8)
    assert learning_rate(config.training, 4, 1.0) == pytest.approx(0)
    steady = fill_defaults(Config().override({"lr": 0.8, "epochs": 4, "decay": False}), DataSize(10, 100))
    assert learning_rate(steady.training, 3, 0.5) == 0.8


class Steps(Silent):
    def __init__(self) -> None:
        self.losses: list[list[float | None]] = []  # by epoch

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.losses.append([])
        self.announced = steps

    def step(self, loss: float | None) -> None:
        self.losses[-1].append(loss)


def test_a_recorder_gets_as_many_steps_as_announced() -> None:
    recorder = Steps()
    trained = fit(Config().override({"epochs": 2, "batch_size": 1}), Parts(TOY), Run(recorder))
    assert [len(losses) for losses in recorder.losses] == [recorder.announced] * 2
    assert recorder.losses[1][-1] == trained.metrics["history"][1]["loss"]


# Divergence


@pytest.mark.parametrize("optimizer", ["adagrad", "sgd"])
@pytest.mark.parametrize("rate", [1000.0, 1e9, 1e30])
@pytest.mark.parametrize("options", [{}, {"encoder": "affine", "attention": "additive"}, {"deterministic": False}])
def test_divergence_is_reported_and_leaves_no_files(
    tmp_path: Path, rate: float, optimizer: str, options: dict[str, Any]
) -> None:
    config = Config().override({"optimizer": optimizer, "lr": rate, "hidden": 8, "query": 8, **options})
    with pytest.raises(InputError, match=r"^training diverged: .* try a smaller lr$"):
        fit(config, Parts(REVIEWS["train"][:100]), Run(checkpoint=tmp_path / "run" / "checkpoint.safetensors"))
    assert list(tmp_path.iterdir()) == []


def test_after_divergence_the_last_checkpoint_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run can be resumed from there, and has the weights that it would have had."""
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    config, path, real = (
        Config().override({"epochs": 4, "members": 1}),
        tmp_path / "checkpoint.safetensors",
        SparseEngine.run_epoch,
    )

    def run_epoch(self: SparseEngine, plan: EpochPlan, *others: Any) -> list[float]:
        losses = real(self, plan, *others)
        if plan.epoch == 3:
            raise InputError("training diverged")
        return losses

    with monkeypatch.context() as patch:
        patch.setattr(SparseEngine, "run_epoch", run_epoch)
        with pytest.raises(InputError, match=f"the last checkpoint is kept in {path}"):
            fit(config, Parts(TOY), Run(checkpoint=path))
    assert digest(fit(config, Parts(TOY), Run(checkpoint=path))) == digest(fit(config, Parts(TOY)))


def test_answers_that_are_not_finite_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SparseEngine.run_epoch

    def run_epoch(self: SparseEngine, *arguments: Any) -> list[float]:
        losses = real(self, *arguments)
        self.current["head.weight"][:] = np.nan
        return losses

    monkeypatch.setattr(SparseEngine, "run_epoch", run_epoch)
    with pytest.raises(InputError, match="training diverged: the model's predictions are not finite"):
        learn(TOY)


# Many texts


def prepared(
    examples: Sequence[Example], kept: NDArray[np.bool_] | None = None, **options: Any
) -> tuple[TextSource, UnitIndexer]:
    config = fill_defaults(Config().override(options), DataSize(len(examples), 20 * len(examples)))
    gathered = CorpusIndexer(True, config.data.max_words)
    part = gathered.read(examples)
    kept = np.ones(len(examples), dtype=bool) if kept is None else kept
    indexer = UnitIndexer(gathered, part, kept, config.data, set())
    return TextSource(indexer, part, kept, np.arange(len(examples), dtype=np.float32)), indexer


def texts_in(source: TextSource, seed: int) -> dict[float, list[tuple[int, int]]]:
    """Each text's units and their counts, by its label, which is its row."""
    texts: dict[float, list[tuple[int, int]]] = {}
    for block, rows in source.blocks(np.random.default_rng(seed)):
        for row, label in zip(rows.tolist(), block.labels[rows].tolist(), strict=True):
            units = slice(block.offsets[row], block.offsets[row + 1])
            assert label not in texts, "every text once"
            texts[label] = list(zip(block.ids[units].tolist(), block.counts[units].tolist(), strict=True))
    return texts


def test_a_stream_gives_every_text_once_per_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = reviews(120)
    kept = np.arange(len(examples)) % 5 != 0
    source, _ = prepared(examples, kept)
    whole = texts_in(source, 0)
    assert sorted(whole) == np.flatnonzero(kept).tolist()
    monkeypatch.setattr(unit_indexing, "IN_MEMORY", 0)
    monkeypatch.setattr(unit_indexing, "CHUNK", 1600)
    source, _ = prepared(examples, kept)
    assert source.whole is None
    assert len(list(source.blocks(np.random.default_rng(1)))) > 2
    assert texts_in(source, 1) == texts_in(source, 2) == whole
    firsts = {seed: next(source.blocks(np.random.default_rng(seed)))[0].labels.tolist() for seed in (1, 1, 2)}
    assert firsts[1] != firsts[2], "each epoch has a different order"


@pytest.mark.parametrize("in_memory", [0, 1 << 24])
def test_weights_stay_with_their_texts(monkeypatch: pytest.MonkeyPatch, in_memory: int) -> None:
    """In memory, in blocks, and after some texts are held out; labels are rows here, and the weight of row r is r + 1/2."""
    monkeypatch.setattr(unit_indexing, "IN_MEMORY", in_memory)
    monkeypatch.setattr(unit_indexing, "CHUNK", 1600)
    plain, indexer = prepared(reviews(120))
    weights = np.arange(120, dtype=np.float32) + np.float32(0.5)
    source = TextSource(indexer, plain.part, plain.kept, plain.labels, weights)
    held = np.arange(120) % 7 == 0
    for texts, expected in ((source, np.arange(120)), (source.without(held), np.flatnonzero(~held))):
        seen = []
        for block, rows in texts.blocks(np.random.default_rng(1)):
            assert block.weights is not None
            assert (block.weights[rows] == block.labels[rows] + 0.5).all()
            seen += block.labels[rows].tolist()
        assert sorted(seen) == expected.tolist()


def test_blocks_of_a_stream_are_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a corpus sorted by label would be trained on class after class."""
    monkeypatch.setattr(unit_indexing, "IN_MEMORY", 0)
    monkeypatch.setattr(unit_indexing, "CHUNK", 3200)
    source, _ = prepared(reviews(200))
    for block, _ in list(source.blocks(np.random.default_rng(0)))[:-1]:
        assert block.labels.min() < 60
        assert block.labels.max() > 140


def test_training_on_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = sorted(REVIEWS["train"], key=lambda example: str(example.label))
    monkeypatch.setattr(unit_indexing, "IN_MEMORY", 0)
    monkeypatch.setattr(unit_indexing, "CHUNK", 4000)
    streamed = learn(ordered, dev=REVIEWS["dev"])
    assert accuracy(streamed) > 0.4
    assert digest(streamed) == digest(learn(ordered, dev=REVIEWS["dev"])), "and it is deterministic"


@pytest.mark.parametrize("in_memory", [0, 1 << 24])
def test_weights_are_the_same_if_words_are_spilled_to_a_file(monkeypatch: pytest.MonkeyPatch, in_memory: int) -> None:
    monkeypatch.setattr(unit_indexing, "IN_MEMORY", in_memory)
    monkeypatch.setattr(unit_indexing, "CHUNK", 4000)
    before = learn(reviews(150))
    monkeypatch.setattr(corpus_ids, "SpillingArray", partial(SpillingArray, most=0))
    assert digest(learn(reviews(150))) == digest(before)


def test_rare_words_are_forgotten_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_ids, "MOST_WORDS", 200)
    monkeypatch.setattr(corpus_ids, "BLOCK", 50)
    trained = learn(dev=REVIEWS["dev"])
    assert len(trained.tokenizer.vocabulary) < 2 + 200
    assert accuracy(trained) > 0.3


@given(
    st.lists(
        st.one_of(
            st.text(st.sampled_from("abB .é好'"), max_size=30),
            st.lists(st.sampled_from(["good", "Bad", "movies", "größer", "x" * 101, "好好好好好好"]), max_size=8).map(
                " ".join
            ),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 2),
    st.sampled_from([0, 2, 5]),
    st.none() | st.integers(1, 4),
)
def test_training_and_prediction_see_the_same_units(
    texts: list[str], min_count: int, letters: int, max_words: int | None
) -> None:
    """Training sees the same units of a text as the saved tokenizer finds in it."""
    examples = [Example(text, "a") for text in texts]
    source, indexer = prepared(examples, min_count=min_count, beginnings=letters, pairs=True, max_words=max_words)
    units = indexer.tokenizer.encode_all(texts)
    expected = distinct(units.ids, units.offsets, len(indexer.tokenizer))
    assert source.whole is not None
    for values, others in zip(source.whole[:3], expected, strict=True):
        assert values.tolist() == others.tolist()
