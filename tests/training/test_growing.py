"""Training that continues from a finished run: what grows, what stays, and that it can be repeated and resumed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import Regard, write_csv
from killed import Kill, Killed, assert_same_run, weights
from regard.config import Config, continued
from regard.data.sampling import sample
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.models.flat import EMBEDDING, HEAD, QUERY
from regard.models.folder import load
from regard.models.tasks import Binary, Multiclass, Regression
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.runs import Plan, start_from, train_run
from regard.training import fit_sparse, growth
from regard.training.before_after import known_units
from regard.training.continuation import LEAST, Mixture, Origin, check_origin
from regard.training.fit import Parts, fit
from regard.training.silence import silence, silent_units

OLD = [
    Example(f"a {word} film number {row % 7}", label, row)
    for word, label in (("good", "yes"), ("bad", "no"))
    for row in range(30)
]
NEW = [
    Example(f"a {word} novel number {row}", label, row)
    for word, label in (("superb", "yes"), ("poor", "no"))
    for row in range(12)
]
THIRD = [Example(f"a mediocre novel {row}", "so so", row) for row in range(12)]
STILL = {"epochs": 1, "lr": 1e-30, "dropout": 0.0}  # nothing moves
KINDS: dict[str, dict[str, Any]] = {
    "one model": {"members": 1},
    "a committee": {"members": 3},
    "affine": {"encoder": "affine", "hidden": 6, "attention": "additive", "query": 5},
    "sgd": {"members": 1, "optimizer": "sgd", "lr": 0.5},
    "cnn": {"encoder": "cnn", "hidden": 6, "embedding": 8},
    "two levels": {"encoder": "bilstm", "hidden": 6, "embedding": 8, "levels": 2, "pooling": "apln"},
    "a hidden layer": {"encoder": "embedding", "embedding": 8, "head_hidden": True},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def first(texts: Sequence[Example] = tuple(OLD), **options: Any) -> Trained:
    return fit(Config().override({"epochs": 3, **options}), Parts(list(texts)))


def further(old: Trained, texts: Sequence[Example], replay: list[Example] | None = None, **options: Any) -> Trained:
    config = continued(old.config, options, "the old run")
    return fit(config, Parts(list(texts), origin=Origin(old, replay=replay)))


def texts_of(examples: Sequence[Example]) -> list[str]:
    return [example.text for example in examples]


@every_kind
def test_without_learning_the_old_model_answers_as_before(kind: str) -> None:
    old = first(**KINDS[kind])
    new = further(old, NEW, **STILL)
    assert len(new.tokenizer) > len(old.tokenizer)
    np.testing.assert_allclose(new.answers(texts_of(OLD)), old.answers(texts_of(OLD)), atol=2e-6)


@every_kind
def test_two_classes_become_three_whose_odds_stay(kind: str) -> None:
    """softmax(−z/2, z/2) is the sigmoid of z, so the odds of the old classes do not change."""
    old = first(**KINDS[kind])
    new = further(old, [*NEW, *THIRD], **STILL)
    assert isinstance(old.task, Binary)
    assert new.task == Multiclass(("no", "yes", "so so"))
    before, after = old.answers(texts_of(OLD)), new.answers(texts_of(OLD))
    np.testing.assert_allclose(after[:, 1] / after[:, 0], before[:, 1] / before[:, 0], rtol=1e-4)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"two levels"}))  # which would need many epochs
def test_new_classes_and_words_are_learned(kind: str) -> None:
    old = first(**KINDS[kind])
    is_torch = old.metrics["engine"] == "torch"
    options = (
        {"epochs": 20, "patience": 0, "select": "last", "batch_size": 8, "lr": 0.02} if is_torch else {"epochs": 10}
    )
    new = further(old, [*NEW, *THIRD], OLD, **options)
    answers = [one.value for one in new.task.predictions(new.answers(texts_of([*OLD, *NEW, *THIRD])))]
    right = [one == example.label for one, example in zip(answers, [*OLD, *NEW, *THIRD], strict=True)]
    assert np.mean(right) > 0.9


def test_known_units_keep_their_order_and_new_ones_follow() -> None:
    old = first(members=1)
    new = further(old, NEW)
    before, after = old.tokenizer, new.tokenizer
    assert isinstance(before, Tokenizer)
    assert isinstance(after, Tokenizer)
    assert after.vocabulary.words[: len(before.vocabulary.words)] == before.vocabulary.words
    assert "superb" in after.vocabulary.words[len(before.vocabulary.words) :]
    assert after.beginnings[: len(before.beginnings)] == before.beginnings
    np.testing.assert_array_equal(after.pairs[: len(before.pairs)], before.pairs)
    keys = {tuple(pair) for pair in after.pairs.tolist()}
    assert len(keys) == len(after.pairs) > len(before.pairs)


def test_the_vocabulary_grows_up_to_its_limit() -> None:
    old = first(members=1)
    known = len(old.tokenizer.vocabulary.words)
    new = further(old, NEW, max_vocabulary=known + 2)
    assert len(new.tokenizer.vocabulary.words) == known + 2


def test_sums_of_adagrad_are_means_over_the_width() -> None:
    squares = [
        {EMBEDDING: np.array([[1.0, 3.0], [0.0, 4.0]], dtype=np.float32), QUERY: np.array([5.0, 6.0], dtype=np.float32)}
    ]
    kept = growth.kept_squares(squares)
    assert kept is not None
    assert kept[EMBEDDING].tolist() == [[2.0, 2.0]]
    (one,) = growth.by_member(kept, 1)
    assert one[EMBEDDING].tolist() == [[2.0], [2.0]]
    assert one[QUERY].tolist() == [5.0, 6.0]
    assert growth.kept_squares([{}]) is None


def test_old_units_move_less_than_new_ones() -> None:
    """Adagrad's sums are kept, so that what was learned often moves little."""
    old = first(members=1, dev_fraction=0.0)
    flipped = [Example(example.text, "no" if example.label == "yes" else "yes") for example in OLD[:5]]
    kept = further(old, flipped, epochs=1)
    old.accumulators = {name: np.zeros_like(value) for name, value in (old.accumulators or {}).items()}
    forgotten = further(old, flipped, epochs=1)
    moved = [float(np.abs(new.weights[HEAD] - old.weights[HEAD]).max()) for new in (kept, forgotten)]
    assert moved[0] < moved[1]


def test_a_run_without_sums_can_be_continued() -> None:
    """As those of earlier versions."""
    old = first(members=3)
    old.accumulators = None
    assert further(old, NEW).accumulators is not None


def test_silenced_units_are_recognised_and_start_again() -> None:
    rng = np.random.default_rng(0)
    state = {
        EMBEDDING: rng.normal(size=(30, 6)).astype(np.float32),
        QUERY: rng.normal(size=6).astype(np.float32),
        HEAD: rng.normal(size=(2, 6)).astype(np.float32),
    }
    assert not silent_units(state).any()
    learned = np.ones(30, dtype=bool)
    learned[[7, 20]] = False
    silence(state, learned)
    np.testing.assert_array_equal(silent_units(state), ~learned)


def test_texts_are_read_as_the_old_model_reads_them() -> None:
    old = first(members=1)
    new = further(old, NEW, **STILL)
    texts = ["a superb film", "superb novel", "good film"]
    units = UnitTexts.of(new.tokenizer, texts, np.zeros(3))
    learned = np.zeros(len(new.tokenizer), dtype=bool)
    assert isinstance(old.tokenizer, Tokenizer)
    assert isinstance(new.tokenizer, Tokenizer)
    rows = growth.moved_units(old.tokenizer, new.tokenizer)
    learned[rows] = True
    read, expected = known_units(units, learned), UnitTexts.of(old.tokenizer, texts, np.zeros(3))
    np.testing.assert_array_equal(read.offsets, expected.offsets)
    for text in range(3):
        one = slice(read.offsets[text], read.offsets[text + 1])
        assert sorted(read.ids[one].tolist()) == sorted(rows[expected.ids[one]].tolist())


@pytest.mark.parametrize("kind", ["one model", "a committee", "cnn"])
def test_scores_before_are_those_of_the_old_model(kind: str) -> None:
    old = first(**KINDS[kind])
    new = fit(continued(old.config, STILL, ""), Parts([*NEW, *THIRD], dev=[*OLD, *THIRD], origin=Origin(old)))
    row = new.metrics["continued"]["scores"]["dev"]
    predicted = old.task.predictions(old.answers(texts_of([*OLD, *THIRD])))
    right = [one.value == example.label for one, example in zip(predicted, [*OLD, *THIRD], strict=True)]
    assert row["before"] == pytest.approx(np.mean(right))
    assert row["texts"] == len(OLD) + len(THIRD)


def test_a_regression_keeps_mean_and_scale_and_widens_its_range() -> None:
    numbers = [Example(example.text, 4.0 if example.label == "yes" else 2.0, example.row) for example in OLD]
    old = first(numbers, task="regression")
    new = further(old, [Example("a superb novel", 9), Example("a poor novel", "3,5")])
    assert isinstance(old.task, Regression)
    assert new.task == Regression(old.task.mean, old.task.scale, 2.0, 9.0)
    with pytest.raises(InputError, match=r"row 0: the label 'many' is not a number.*continues from predicts numbers"):
        further(old, [Example("a superb novel", "many")])


def test_replayed_texts_are_as_many_as_the_new_ones_and_a_tenth_is_scored() -> None:
    old = first(members=1)
    many = [Example(f"old {row}", "yes", row) for row in range(3 * LEAST)]
    mixture = Mixture([NEW[0]] * 5, Origin(old, replay=many), 0)
    every = list(mixture)
    assert (mixture.new, mixture.replayed, mixture.scored) == (5, LEAST * 9 // 10, LEAST // 10)
    assert len({example.row for example in every[5:]}) == LEAST
    assert every == list(mixture)
    few = Mixture(NEW, Origin(old, replay=many[:50]), 0)
    assert len(list(few)) == len(NEW) + 50
    assert (few.replayed, few.scored) == (50, 0)


def test_a_sample_has_every_item_equally_often() -> None:
    assert sample(range(3), 5, 0) == [0, 1, 2]
    assert sample(range(10), 0, 0) == []
    counts = np.bincount([item for seed in range(2000) for item in sample(range(6), 2, seed)], minlength=6)
    assert counts.sum() == 4000
    assert abs(counts - 4000 / 6).max() < 100  # four standard deviations


def test_ancestors_are_counted_once() -> None:
    old = first(members=1)
    new = further(old, NEW, OLD)
    newest = further(new, THIRD)
    assert newest.metrics["continued"]["ancestors"] == [
        {"fingerprint": old.metrics["fingerprint"], "texts": old.metrics["texts"]},
        {"fingerprint": new.metrics["fingerprint"], "texts": new.metrics["texts"] - len(OLD)},
    ]
    assert newest.metrics["continued"]["new_classes"] == ["so so"]


def test_a_threshold_is_inherited_until_there_is_a_third_class() -> None:
    old = first(members=1, threshold=0.7)
    same, more = further(old, NEW), further(old, THIRD)
    assert isinstance(same.task, Binary)
    assert same.task.thresholds == (0.7,)
    assert more.task.kind == "multiclass"
    assert more.config.training.threshold is None


def test_weights_of_new_texts_count() -> None:
    old = first(members=1)
    heavy = [replace(example, weight=3.0 if example.label == "yes" else 1.0) for example in NEW]
    before, after = further(old, NEW), further(old, heavy)
    assert not np.array_equal(before.weights[HEAD], after.weights[HEAD])
    assert before.metrics["fingerprint"] != after.metrics["fingerprint"]


@pytest.fixture
def folder(tmp_path: Path, regard: Regard) -> Path:
    for name, examples in (("old", OLD), ("new", [*NEW, *THIRD])):
        write_csv(tmp_path / f"{name}.csv", [(example.text, example.label) for example in examples])
    assert regard("train", tmp_path / "old.csv", "--out", tmp_path / "old", "--keep-texts", 9).code == 0
    return tmp_path


def continue_run(folder: Path, out: str, resume: bool = False, recorder: Silent | None = None, **given: object) -> None:
    recorder = recorder or Silent()
    config, origin = start_from(str(folder / "old"), None, {"train": str(folder / "new.csv"), **given}, recorder)
    train_run(config, folder / out, resume, False, recorder, (), Plan(origin=origin))


@pytest.mark.parametrize("members", [1, 5])
def test_a_killed_run_continues_with_the_same_weights(
    folder: Path, regard: Regard, monkeypatch: pytest.MonkeyPatch, members: int
) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    assert regard("train", folder / "old.csv", "--out", folder / "old", "--members", members, "--overwrite").code == 0
    continue_run(folder, "whole", epochs=3)
    for epoch in (2, 3):
        with pytest.raises(Killed):
            continue_run(folder, "killed", epoch > 2, Kill(epoch), epochs=3)
    continue_run(folder, "killed", True, epochs=3)
    assert_same_run(folder / "killed", folder / "whole")


@pytest.mark.parametrize("members", [1, 3])
def test_the_number_of_threads_changes_nothing(
    folder: Path, regard: Regard, monkeypatch: pytest.MonkeyPatch, members: int
) -> None:
    assert regard("train", folder / "old.csv", "--out", folder / "old", "--members", members, "--overwrite").code == 0
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        continue_run(folder, threads)
    assert weights(folder / "1") == weights(folder / "2") == weights(folder / "3")


def test_the_command_continues_a_run(folder: Path, regard: Regard) -> None:
    before = {file.name: file.read_bytes() for file in (folder / "old").iterdir()}
    result = regard("train", folder / "new.csv", "--from", folder / "old", "--out", folder / "new")
    assert result.code == 0
    assert "with 36 new texts and 9 old ones again" in result.err
    assert "new class: 'so so'" in result.err
    assert {file.name: file.read_bytes() for file in (folder / "old").iterdir()} == before
    card = (folder / "new" / "README.md").read_text()
    assert "| continues | old; 1 earlier run with 60 texts" in card
    assert str(folder) not in (folder / "new" / "metrics.json").read_text()
    assert load(folder / "new").task.as_dict()["classes"] == ["no", "yes", "so so"]
    answered = regard("predict", folder / "new", folder / "new.csv")
    assert answered.code == 0


def test_a_run_is_replaced_only_when_asked(folder: Path, regard: Regard) -> None:
    arguments = ("train", folder / "new.csv", "--from", folder / "old", "--out", folder / "old")
    assert "already exists" in regard(*arguments).error
    before = weights(folder / "old")
    config, origin = start_from(str(folder / "old"), None, {"train": str(folder / "new.csv"), "epochs": 3}, Silent())
    with pytest.raises(Killed):
        train_run(config, folder / "old", False, True, Kill(3), (), Plan(origin=origin))
    assert weights(folder / "old") == before  # and it can still be loaded
    assert load(folder / "old").task.as_dict()["classes"] == ["no", "yes"]
    assert regard(*arguments, "--overwrite").code == 0
    assert load(folder / "old").task.as_dict()["classes"] == ["no", "yes", "so so"]
    assert "cannot continue a run into the folder of --from" in regard(*arguments, "--resume").error


def test_kept_texts_are_a_sample_of_all_texts(folder: Path, regard: Regard) -> None:
    rows = [json.loads(line) for line in (folder / "old" / "kept_texts.jsonl").read_text().splitlines()]
    assert rows[0] == {"drawn_from": 60}
    assert len(rows) == 10
    assert {row["text"] for row in rows[1:]} <= set(texts_of(OLD))
    assert "9 of 60 training texts" in (folder / "old" / "README.md").read_text()
    assert regard("train", folder / "new.csv", "--from", folder / "old", "--out", folder / "new").code == 0
    kept = load(folder / "new").kept
    assert kept is not None
    assert kept.drawn_from == 96
    assert sum(example.text in texts_of(OLD) for example in kept.examples) == 6  # 9 · 60 / 96, rounded
    assert len(kept.examples) == 9


def test_no_text_is_kept_unless_asked(folder: Path, regard: Regard) -> None:
    assert regard("train", folder / "old.csv", "--out", folder / "old", "--overwrite").code == 0
    assert not (folder / "old" / "kept_texts.jsonl").exists()


def test_keeping_texts_changes_no_weight(folder: Path, regard: Regard) -> None:
    assert regard("train", folder / "old.csv", "--out", folder / "other").code == 0
    assert weights(folder / "old") == weights(folder / "other")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--encoder", "cnn"), r"encoder: expected 'embedding', with which .*old was trained, got 'cnn'; leave it out"),
        (("--members", "2"), "members: expected 6"),
        (("--embedding", "4"), "embedding: expected 16"),
        (("--no-pairs",), "pairs: expected True"),
        (("--vectors", "x.vec"), "vectors: expected None"),
        (("--task", "regression"), "task: expected 'binary'"),
        (("--record", "epoch"), "record: expected 'no'"),
        (("--cv", "3"), "--cv: expected no --from"),
        (("--replay", "nothing.csv"), "nothing.csv: no such file"),
    ],
)
def test_what_cannot_be_continued_is_refused(
    folder: Path, regard: Regard, options: tuple[str, ...], message: str
) -> None:
    result = regard("train", folder / "new.csv", "--from", folder / "old", "--out", folder / "new", *options)
    assert result.code == 2
    assert re.search(message, result.error)
    assert not (folder / "new").exists()


def test_other_mistakes_are_refused(folder: Path, regard: Regard) -> None:
    new = folder / "new.csv"
    assert "expected --from RUN" in regard("train", new, "--replay", new).error
    assert "there is no such folder" in regard("train", new, "--from", folder / "nothing").error
    shutil.copytree(folder / "old", folder / "damaged")
    (folder / "damaged" / "kept_texts.jsonl").write_text("{}\n")
    assert "damaged run (kept_texts.jsonl" in regard("train", new, "--from", folder / "damaged").error


def test_a_linear_member_is_refused() -> None:
    old = first(members=3)
    old.config = old.config.override({"linear": True, "vectors": "words.vec"})
    with pytest.raises(InputError, match="the run: a committee with a linear model over word vectors keeps its scores"):
        check_origin(old, "the run")


def test_vectors_that_are_gone_are_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "words.vec"
    file.write_text("good 1 0 0 0\nbad 0 1 0 0\nsuperb 1 0 0 0\npoor 0 1 0 0\n")
    old = first(members=1, vectors=str(file))
    there = further(old, NEW, **STILL)
    assert isinstance(there.tokenizer, Tokenizer)
    row = there.tokenizer.vocabulary.ids(["superb"])[0]
    np.testing.assert_allclose(there.weights[EMBEDDING][row], [1, 0, 0, 0], atol=1e-12)
    file.unlink()
    gone = further(old, NEW, **STILL)
    assert not np.allclose(gone.weights[EMBEDDING][row], [1, 0, 0, 0])


def test_a_bottleneck_is_refused(folder: Path, regard: Regard) -> None:
    options = (
        "--pooling",
        "bottleneck",
        "--encoder",
        "lstm",
        "--hidden",
        "8",
        "--embedding",
        "8",
        "--epochs",
        "1",
        "--rounds",
        "1",
    )
    assert regard("train", folder / "old.csv", "--out", folder / "vat", *options).code == 0
    assert "is trained in rounds" in regard("train", folder / "new.csv", "--from", folder / "vat").error


def test_a_changed_file_of_sums_is_damage(folder: Path, regard: Regard) -> None:
    (folder / "old" / "optimizer.safetensors").write_bytes(b"nonsense")
    assert "damaged run" in regard("predict", folder / "old", folder / "new.csv").error
