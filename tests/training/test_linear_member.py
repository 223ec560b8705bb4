"""A linear model over mean word vectors as a member of a committee: the same numbers by hand, and everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard.runtime
from regard.config import Config
from regard.data.collate import collate
from regard.data.reviews import reviews
from regard.data.words import forms
from regard.errors import InputError
from regard.explain.explain import explain
from regard.explain.flat_texts import leave_one_out_from_tables
from regard.explain.leave_one_out import leave_one_out
from regard.explain.reading import read
from regard.models.flat import Tables, fresh, state_of, tables
from regard.models.folder import load
from regard.models.saving import save
from regard.models.tasks import Binary
from regard.models.trained import Trained
from regard.novelty import known_share
from regard.records import Example
from regard.training.defaults import DataSize, fill_defaults
from regard.training.fit import Parts, fit

UNSEEN = ("zebra", "quagga")
TEXTS = ["Clean room, friendly staff.", "the worst zebra film", "not good at all, not good", "zebra quagga", "qqq", ""]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random vectors of most words of the built-in reviews, and of two others."""
    rng = np.random.default_rng(0)
    words = sorted({word for example in reviews(120) for word in forms(example.text, True)})
    lines = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=6))}" for word in (*words[::2], "Zebra", *UNSEEN)]
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def trained(vectors: Path | str, parts: Parts | None = None, **options: Any) -> Trained:
    values = {"epochs": 2, "task": "multiclass", "vectors": str(vectors), **options}
    return fit(Config().override(values), parts or Parts(reviews(120)))


@pytest.fixture(scope="module")
def model(vectors: Path) -> Trained:
    return trained(vectors)


def read_file(path: Path) -> dict[str, np.ndarray]:
    rows = (line.split(" ") for line in path.read_text(encoding="utf-8").splitlines())
    return {word: np.array(values, dtype=np.float64) for word, *values in rows}


def test_the_last_member_is_linear_in_the_mean_of_the_vectors(model: Trained, vectors: Path) -> None:
    """Its polarity is an affine function of the vector, and each word with a vector has the same weight."""
    assert (model.config.model.members, model.config.model.linear) == (6, True)
    table, lookup = read_file(vectors), model.tables
    words = [word for word in model.tokenizer.vocabulary.words if word in table]
    ids = model.tokenizer.vocabulary.ids(words)
    design = np.concatenate((np.array([table[word] for word in words]), np.ones((len(words), 1))), 1)
    polarity = lookup.polarity[ids, -1].astype(np.float64)
    solution = np.linalg.lstsq(design, polarity, rcond=None)[0]
    np.testing.assert_allclose(design @ solution, polarity, atol=1e-5)
    assert np.abs(solution[:-1]).max() > 0.01
    assert (lookup.scores[ids, -1] == 0).all()
    others = np.setdiff1d(np.arange(len(lookup.scores)), [0, *ids])
    assert (lookup.scores[others, -1] <= -60).all()
    assert not lookup.polarity[others, -1].any()


def test_words_that_only_the_file_has_are_known(model: Trained) -> None:
    known = model.tokenizer.vocabulary.known([*UNSEEN, "Zebra", "qqq"])
    assert known == [True, True, False, False]
    ids = model.tokenizer.vocabulary.ids(UNSEEN)
    assert not model.tables.polarity[ids, :-1].any(), "the attention models have never seen them"
    assert (model.tables.scores[ids, :-1] < model.tables.scores[2:100, :-1].min(0) - 50).all()
    assert np.abs(model.answers(["zebra"]) - model.answers(["qqq"])).max() > 1e-4
    np.testing.assert_allclose(known_share(model, ["zebra quagga", "zebra qqq"]), [1, 0.5])


def test_dev_texts_are_read_with_all_words(vectors: Path) -> None:
    """A file given as dev scores what the finished model says about it."""
    dev = [Example(f"{example.text} zebra", example.label) for example in reviews(40)]
    model = trained(vectors, Parts(reviews(120), dev, dev))
    assert model.metrics["dev"]["log_loss"] == pytest.approx(model.metrics["test"]["log_loss"], rel=1e-5)
    answers = model.answers([example.text for example in dev])
    right = [model.task.classes[row.argmax()] == str(one.label) for row, one in zip(answers, dev, strict=True)]
    assert model.metrics["test"]["accuracy"] == pytest.approx(np.mean(right))


def test_saved_explained_and_read_by_pytorch_and_numpy_it_is_the_same(model: Trained, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    save(model, tmp_path / "run")
    loaded, runtime = load(tmp_path / "run"), regard.runtime.load(tmp_path / "run")
    assert np.array_equal(loaded.answers(TEXTS), model.answers(TEXTS))
    np.testing.assert_allclose(runtime.predict_proba(TEXTS), model.answers(TEXTS), atol=1e-6)
    indexed = model.tokenizer.encode_each(TEXTS[:-1])
    with torch.no_grad():
        output = loaded.model(collate(indexed, 1))
    np.testing.assert_allclose(output.logits.numpy(), model.logits(indexed), atol=1e-5)
    targets = np.zeros(len(TEXTS), dtype=np.int64)
    exact = leave_one_out_from_tables(model, TEXTS, targets)
    read_again = leave_one_out(model, read(model, TEXTS), targets)
    for text, one, other in zip(TEXTS, exact, read_again, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=5e-5)
        contributions = [token.contribution for token in runtime.explain(text, target=model.task.classes[0]).tokens]
        np.testing.assert_allclose(contributions, one.scores, atol=1e-5)
    for explanation in explain(model, [text for text in TEXTS if text]):
        assert sum(token.weight or 0 for token in explanation.tokens) == pytest.approx(1, abs=1e-5)


def test_weights_do_not_depend_on_the_number_of_threads(vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        made.append(trained(vectors, members=3).weights)
    assert all(np.array_equal(made[0][name], made[1][name]) for name in made[0])


@pytest.mark.parametrize("members", [2, 3])
def test_numbers_are_predicted_too(vectors: Path, members: int) -> None:
    texts = [Example(example.text, float(len(example.text))) for example in reviews(120)]
    model = trained(vectors, Parts(texts), task="regression", members=members)
    actual = np.array([float(example.label or 0) for example in texts])
    errors = model.answers([example.text for example in texts])[:, 0] - actual
    assert np.sqrt((errors**2).mean()) < actual.std()


def test_without_texts_to_judge_by_nothing_is_calibrated(vectors: Path) -> None:
    metrics = trained(vectors, dev_fraction=0.0).metrics
    assert "dev" not in metrics
    assert "temperature" not in metrics


def test_class_weights_and_a_threshold_apply_to_the_whole(vectors: Path) -> None:
    texts = [Example(one.text, str(one.label) == "1") for one in reviews(120)]  # a fifth
    plain, weighted = (
        trained(vectors, Parts(texts), task="binary", **options)
        for options in ({}, {"class_weight": "balanced", "threshold": "best-f1"})
    )
    assert not np.allclose(plain.tables.polarity[:, -1], weighted.tables.polarity[:, -1])
    assert isinstance(weighted.task, Binary)
    assert len(weighted.task.thresholds) == 1


def test_several_files_stand_side_by_side(vectors: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("okapi 1 2\nroom 2 3\n", encoding="utf-8")
    model = trained(f"{vectors},{other}")
    assert model.tokenizer.vocabulary.known([*UNSEEN, "okapi"]) == [True] * 3
    alone = trained(f"{vectors},{other}", members=1)
    assert alone.weights["embedding.weight"].shape[1] == 8


def test_a_single_model_starts_from_the_vectors(vectors: Path) -> None:
    model = trained(vectors, members=1)
    assert not model.config.model.linear
    assert model.weights["embedding.weight"].shape[1] == 6
    assert not model.tokenizer.vocabulary.known(["zebra"])[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"linear": True}, "linear = true: expected vectors"),
        ({"linear": True, "vectors": "v", "members": 1}, "expected members = 2 or more"),
        ({"linear": True, "vectors": "v", "head_bias": False}, "linear = true needs head_bias"),
        ({"linear": True, "vectors": "v", "encoder": "bilstm"}, "linear = true: expected encoder = 'embedding'"),
        ({"linear": True, "vectors": "v", "engine": "torch"}, "linear = true: expected encoder = 'embedding'"),
    ],
)
def test_what_a_linear_member_needs(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config().override(options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (6, False)),
        ({"vectors": "v"}, (6, True)),
        ({"vectors": "v", "members": 3}, (3, True)),
        ({"vectors": "v", "linear": False}, (5, False)),
        ({"vectors": "v", "members": 1}, (1, False)),
        ({"vectors": "v", "record": "epoch"}, (1, False)),
        ({"vectors": "v", "encoder": "affine"}, (1, False)),
    ],
)
def test_a_committee_with_vectors_has_a_linear_member(options: dict[str, Any], expected: tuple[int, bool]) -> None:
    model = fill_defaults(Config().override(options), DataSize(300, 6000)).model
    assert (model.members, model.linear) == expected


@pytest.mark.parametrize("outputs", [1, 4])
def test_any_tables_can_be_written_as_weights(outputs: int) -> None:
    model = Config().override({"embedding": 6, "attention": "dot"}).model
    made = [tables(fresh(model, 30, outputs, seed), 2.0) for seed in range(3)]
    lookup = Tables(
        np.concatenate([one.scores for one in made], 1), np.concatenate([one.polarity for one in made], 1), made[0].bias
    )
    again = tables(state_of(lookup, 3.0), 3.0, 3)
    for before, after in zip(lookup, again, strict=True):
        np.testing.assert_allclose(
            after[1:] if after.ndim > 1 else after, before[1:] if before.ndim > 1 else before, atol=1e-6
        )
