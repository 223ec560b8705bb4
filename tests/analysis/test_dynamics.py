"""The recorder of training: its values follow from the weights, and it does not change training."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from killed import Kill, Killed
from regard.analysis.dot_products import group_means
from regard.analysis.dynamics import FED, Dynamics, mean_products, spread
from regard.analysis.gradient_flow import flow
from regard.analysis.recording import recording_facts
from regard.analysis.token_scores import global_scores, lead
from regard.analysis.token_types import token_types
from regard.analysis.tracked_tokens import PULLED, most_frequent, select_texts, track_tokens
from regard.config import Config
from regard.data.reviews import reviews
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.facts.json_form import to_json
from regard.kernels.class_counts import class_counts
from regard.models.flat import EMBEDDING, HEAD, QUERY
from regard.models.folder import load
from regard.models.run_files import DYNAMICS
from regard.models.saving import save
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.runs import train_run
from regard.training import fit_sparse, unit_indexing
from regard.training.fit import Parts, Run, fit
from regard_lab.fit_stacked import fit_stacked

SMALL = {"hidden": 6, "query": 4, "embedding": 5, "epochs": 3, "batch_size": 8, "device": "cpu", "min_count": 1}
PLAIN = {**SMALL, "dev_fraction": 0.0, "patience": 0}  # the last epoch's weights are those that are kept
STARS = reviews(150)
TWO = [Example(one.text, "bad" if int(str(one.label)) < 3 else "good", one.row) for one in STARS]
MODELS: dict[str, dict[str, Any]] = {
    "sparse": {},
    "sparse, words": {"pairs": False, "beginnings": 0, "decay": False},
    "sparse, affine, additive": {"encoder": "affine", "attention": "additive"},
    "torch, dot": {"engine": "torch", "attention": "dot"},
    "torch, affine": {"engine": "torch", "encoder": "affine", "attention": "dot", "vtw_mapped": 0.1},
    "cnn": {"encoder": "cnn"},
    "bilstm": {"encoder": "bilstm", "attention": "dot", "hidden": 4},
}
every = pytest.mark.parametrize("kind", MODELS)
flat_ones = pytest.mark.parametrize("kind", list(MODELS)[:5])
many_classes = pytest.mark.parametrize("examples", [TWO, STARS], ids=["two classes", "five"])

ONE_MODEL = {"members": 1, "calibrate": False}  # recording is about one model, as it was trained


class Listener(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def learn(examples: list[Example] = TWO, recorder: Silent | None = None, **options: Any) -> Trained:
    return fit(Config().override({**ONE_MODEL, **PLAIN, **options}), Parts(examples), Run(recorder or Silent()))


def recording(trained: Trained) -> dict[str, Any]:
    assert trained.dynamics is not None
    facts = dict(to_json(recording_facts(trained.dynamics)))
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    return facts


def texts_of(trained: Trained, examples: list[Example] = TWO) -> UnitTexts:
    labels = np.array([trained.task.encode(example.label, "") for example in examples])
    return UnitTexts.of(trained.tokenizer, [example.text for example in examples], labels)


def same(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.array(actual, dtype=np.float64), expected, rtol=2e-4, atol=2e-6)


# What is recorded


@many_classes
@flat_ones
def test_the_last_moment_is_the_finished_flat_model(kind: str, examples: list[Example]) -> None:
    trained = learn(examples, record="epoch", **MODELS[kind])
    recorded, tables, weights = recording(trained), trained.tables, trained.weights
    assert recorded["moments"] == [0, 1, 2, 3]
    assert isinstance(trained.task, Classes)
    texts = texts_of(trained, examples)
    types = token_types(texts, len(trained.tokenizer), trained.task.classes)
    polarity, attention = lead(tables.polarity[:, 0].astype(np.float64)), tables.scores[:, 0]
    typed = np.flatnonzero(types.codes >= 0)
    if len(typed) <= 600:  # all of them are shown one by one
        same(recorded["polarity"][-1], polarity[typed])
        same(recorded["attention"][-1], attention[typed])
        assert recorded["types"] == [types.names[code] for code in types.codes[typed]]
    groups = [np.flatnonzero(types.codes == code) for code in range(len(types.names))]
    assert list(recorded["by_type"]) == [name for name, tokens in zip(types.names, groups, strict=True) if len(tokens)]
    for name, tokens in zip(types.names, groups, strict=True):
        for what, values in (("polarity", polarity), ("attention", attention)):
            if len(tokens):
                expected = [values[tokens].mean(), *np.quantile(values[tokens], (0.25, 0.75))]
                same(recorded["by_type"][name][what][-1], expected)
    means = group_means(weights[EMBEDDING], groups)
    for row in recorded["dot_products"]:
        same(row["mean"][-1], means[tuple(types.names.index(name) for name in row["pair"])])
    is_dot = trained.config.model.attention == "dot"
    same(recorded["vtw"][-1], weights[HEAD] @ weights[QUERY] if is_dot else [])
    same(recorded["norm_v"][-1], np.linalg.norm(weights[QUERY]))
    same(recorded["norms_w"][-1], np.linalg.norm(weights[HEAD], axis=1))
    assert trained.config.model.scale is not None
    pushed = flow(weights, trained.config.model.scale, texts, trained.task.kind)  # fewer texts than a sample may have
    assert list(recorded["terms"]) == [*pushed.polarity, *pushed.attention]
    for term, by_type in recorded["terms"].items():
        for code, (name, tokens) in enumerate(zip(types.names, groups, strict=True)):
            if not 0 < len(tokens) <= PULLED:
                continue
            values = {**pushed.polarity, **pushed.attention}[term][tokens]
            if values.ndim == 2 and values.shape[1] > 1:
                values = values[:, code] if code < values.shape[1] else values.max(1)
            np.testing.assert_allclose(by_type[name][-1], values.mean(), rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("kind", ["cnn", "bilstm"])
def test_tokens_are_fed_alone_to_a_contextual_encoder(kind: str) -> None:
    trained = learn(record="epoch", **MODELS[kind])
    recorded, scores = recording(trained), global_scores(trained)
    numbers = [trained.tokenizer.vocabulary.words.index(token) + 2 for token in recorded["tokens"]]
    same(recorded["polarity"][-1], scores.polarity[numbers, 0])
    same(recorded["attention"][-1], scores.attention[numbers])
    assert recorded["terms"] == {}
    assert len(recorded["dot_products"]) > 0
    if kind == "bilstm":
        same(recorded["vtw"][-1], trained.weights[HEAD] @ trained.weights[QUERY])
    else:
        assert recorded["vtw"] == [[]] * 4


def test_the_first_moment_is_before_the_first_step() -> None:
    """Sun & Lu's start: word vectors from ± embedding_range, in nearly orthogonal directions."""
    recorded = [recording(learn(record="epoch", embedding_range=reach, decay=False)) for reach in (0.01, 1.0)]
    widths = [np.abs(np.array(one["polarity"][0])).max() for one in recorded]
    assert widths[1] == pytest.approx(100 * widths[0], rel=1e-4), "the same draw, a hundred times as far"


def test_recorded_tokens_have_readable_names() -> None:
    trained = learn(record="epoch")
    recorded, names = recording(trained), set(trained.tokenizer.vocabulary.words)
    assert any(token in names for token in recorded["tokens"])
    assert any(" " in token for token in recorded["tokens"]), "a pair"
    assert any(token.endswith("…") for token in recorded["tokens"]), "a beginning"
    assert len(recorded["tokens"]) == len(recorded["types"]) == len(recorded["polarity"][0]) <= 600


@pytest.mark.parametrize("kind", ["sparse", "torch, dot", "bilstm"])
def test_steps_are_recorded_up_to_twenty_five_times_per_epoch(kind: str) -> None:
    trained = learn(record="step", batch_size=1, epochs=2, **{k: v for k, v in MODELS[kind].items() if k != "epochs"})
    recorded = recording(trained)
    moments = recorded["moments"]
    assert moments == sorted(set(moments))
    assert {0, 1, 2} <= set(moments)
    if kind == "bilstm":  # tokens that are fed alone are few compared with the words
        words = int(texts_of(trained).counts.sum())
        fed = (len(moments) - 1) / 2 * len(recorded["tokens"])
        assert words * FED - len(recorded["tokens"]) < fed <= words * FED
        assert len(moments) > 1 + 2
    else:
        assert len(moments) == 1 + 2 * 25
    for by_type in recorded["terms"].values():
        for values in by_type.values():
            assert [value is not None for value in values] == [moment == int(moment) for moment in moments]
    assert bool(recorded["terms"]) == (kind != "bilstm")


def test_few_steps_are_all_recorded() -> None:
    assert recording(learn(record="step", batch_size=50, epochs=1))["moments"] == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_texts_without_typed_words_leave_v_and_w() -> None:
    trained = learn([Example(word, word) for word in ("one", "two", "three")], record="step", epochs=2)
    recorded = recording(trained)
    assert (recorded["tokens"], recorded["terms"]) == ([], {})
    assert len(recorded["norm_v"]) == len(recorded["moments"])


def test_the_recording_is_announced() -> None:
    listener = Listener()
    learn(recorder=listener, record="epoch")
    assert [
        note
        for note in listener.notes
        if note.startswith("recording ") and "tokens individually; types represented by" in note
    ]


def test_a_block_gives_the_types_if_the_corpus_is_too_large_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_indexing, "IN_MEMORY", 10)
    monkeypatch.setattr(unit_indexing, "CHUNK", 1 << 9)
    listener = Listener()
    trained = learn(TWO * 4, recorder=listener, record="step")
    assert any("token types are counted in" in note and "of the 600 texts" in note for note in listener.notes)
    recorded = recording(trained)
    assert len(recorded["tokens"]) > 0
    assert len(recorded["moments"]) <= 1 + 3 * 50


# Recording does not change training


def weights_of(trained: Trained) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in trained.weights.items()}


@pytest.mark.parametrize("record", ["epoch", "step"])
@every
def test_recording_changes_no_weight(kind: str, record: str) -> None:
    options = {**SMALL, "dropout": 0.3, **MODELS[kind]}
    plain, watched = learn(**options), learn(record=record, **options)
    assert weights_of(watched) == weights_of(plain)
    assert plain.dynamics is None
    assert watched.metrics["fingerprint"] == plain.metrics["fingerprint"]


@pytest.mark.parametrize("kind", ["torch, dot", "bilstm"])
@pytest.mark.parametrize("training", [True, False])
def test_recording_changes_neither_mode_nor_random_state(kind: str, training: bool) -> None:
    trained = learn(record="epoch", **MODELS[kind])
    assert isinstance(trained.task, Classes)
    model = trained.model.train(training)
    dynamics = Dynamics(trained.config, trained.tokenizer, trained.task, texts_of(trained), model)
    before = torch.get_rng_state()
    dynamics.record(0)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(part.training == training for part in model.modules())


# Killed, resumed, overwritten, damaged


@pytest.fixture(autouse=True)
def _saved_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)


def run(table: Path, out: Path, recorder: Silent | None = None, how: str = "", **options: Any) -> Trained:
    config = Config().override({**ONE_MODEL, **SMALL, "epochs": 4, "train": str(table), **options})
    return train_run(config, out, how == "resume", how == "overwrite", recorder or Silent())[0]


@pytest.mark.parametrize("record", ["epoch", "step"])
@pytest.mark.parametrize("kind", ["sparse", "torch, dot", "bilstm"])
def test_a_resumed_run_gives_the_same_recording(table: Path, tmp_path: Path, kind: str, record: str) -> None:
    options = {**MODELS[kind], "record": record}
    run(table, tmp_path / "unbroken", **options)
    with pytest.raises(Killed):
        run(table, tmp_path / "killed", Kill(step=3), **options)
    assert os.listdir(tmp_path / "killed") == ["checkpoint.safetensors"]
    run(table, tmp_path / "killed", how="resume", **options)
    for name in (DYNAMICS, "weights.safetensors"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "unbroken" / name).read_bytes()


def test_killed_after_the_last_epoch_the_terms_keep_their_names(table: Path, tmp_path: Path) -> None:
    class Late(Silent):
        def end(self, record: Any) -> None:
            if record["epoch"] == 4:
                raise Killed

    run(table, tmp_path / "unbroken", record="epoch")
    with pytest.raises(Killed):
        run(table, tmp_path / "killed", Late(), record="epoch")
    more = run(table, tmp_path / "killed", how="resume", record="epoch", decay=None)
    assert recording(more) == recording(load(tmp_path / "unbroken"))


@pytest.mark.parametrize("kind", ["sparse", "torch, dot"])
def test_recording_can_start_on_resume(table: Path, tmp_path: Path, kind: str) -> None:
    with pytest.raises(Killed):
        run(table, tmp_path / "run", Kill(step=3), **MODELS[kind])
    assert recording(run(table, tmp_path / "run", how="resume", record="epoch", **MODELS[kind]))["moments"] == [2, 3, 4]


def test_recording_can_stop_on_resume(table: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run(table, tmp_path / "run", Kill(step=3), record="step")
    assert run(table, tmp_path / "run", how="resume").dynamics is None
    assert not (tmp_path / "run" / DYNAMICS).exists()


@pytest.mark.parametrize("kind", ["sparse", "bilstm"])
def test_a_folder_keeps_the_recording(table: Path, tmp_path: Path, kind: str) -> None:
    trained = run(table, tmp_path / "run", record="epoch", **MODELS[kind])
    loaded = load(tmp_path / "run")
    assert recording(loaded) == recording(trained)
    save(loaded, tmp_path / "copy")
    assert (tmp_path / "copy" / DYNAMICS).read_bytes() == (tmp_path / "run" / DYNAMICS).read_bytes()


def test_a_finished_run_without_a_recording_is_noted(table: Path, tmp_path: Path) -> None:
    run(table, tmp_path / "run")
    listener = Listener()
    assert run(table, tmp_path / "run", listener, how="resume", record="epoch").dynamics is None
    assert any("was trained without --record; --overwrite trains it again" in note for note in listener.notes)


def test_overwriting_removes_an_old_recording(table: Path, tmp_path: Path) -> None:
    run(table, tmp_path / "run", record="epoch")
    assert (tmp_path / "run" / DYNAMICS).exists()
    run(table, tmp_path / "run", how="overwrite")
    assert load(tmp_path / "run").dynamics is None
    assert not (tmp_path / "run" / DYNAMICS).exists()


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def foreign(_: bytes) -> bytes:
    from safetensors.numpy import save as saved

    return saved({"moments": np.zeros(3)})


def renamed(content: bytes) -> bytes:
    return content.replace(b'"norm_v"', b'"norm_u"')


@pytest.mark.parametrize("harm", [cut, foreign, renamed, lambda _: b"", lambda _: b"\xff" * 99])
def test_a_damaged_recording_is_reported(table: Path, tmp_path: Path, harm: Any) -> None:
    run(table, tmp_path / "run", record="epoch", epochs=1)
    path = tmp_path / "run" / DYNAMICS
    path.write_bytes(harm(path.read_bytes()))
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"run: damaged run \(dynamics.safetensors: not a readable recording"):
        load(tmp_path / "run")


# What cannot be recorded


@pytest.mark.parametrize("options", [{"levels": 2}, {"pooling": "apln"}, {"pooling": "max"}, {"task": "regression"}])
def test_models_without_word_scores_are_refused_before_anything_is_read(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(
        InputError, match="record = 'step' needs pooling = 'attention', levels = 1 and a classification task"
    ):
        run(tmp_path / "nowhere.csv", tmp_path / "run", record="step", **options)


@pytest.mark.parametrize("engine", ["sparse", "torch"])
def test_recording_a_regression_is_refused(engine: str) -> None:
    rated = [Example("good film", 0.5 * row, row) for row in range(40)]
    with pytest.raises(InputError, match="record = 'epoch' needs classes"):
        learn(rated, record="epoch", engine=engine)


def test_seeds_together_are_refused() -> None:
    config = Config().override({**PLAIN, "engine": "torch", "record": "epoch"})
    with pytest.raises(InputError, match="record = 'epoch': seeds are recorded one by one"):
        fit_stacked(config, Parts(TWO), (0, 1), Silent())


# Parts


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=40))
def test_quartiles_are_numpys(values: list[float]) -> None:
    given = np.array(values)
    np.testing.assert_allclose(spread(given), [given.mean(), *np.quantile(given, (0.25, 0.75))], atol=1e-9)


def test_mean_products_by_hand() -> None:
    """(1, 0), (0, 2) and (3, 3): within the first type 0, across (3 + 6) / 2; a type of one token has no pair."""
    products = mean_products([np.array([[1, 0], [0, 2]], np.float32), np.array([[3, 3]], np.float32)])
    np.testing.assert_array_equal(products, [[0, 4.5], [4.5, np.nan]])


def test_small_types_leave_space_to_others() -> None:
    counts = np.arange(100)
    groups = [np.arange(60), np.arange(60, 62), np.arange(62, 100)]
    chosen = most_frequent(groups, counts, 42)
    assert chosen.tolist() == [*range(40, 60), 60, 61, *range(80, 100)]


def test_counts_by_class_in_one_pass() -> None:
    trained = learn(STARS, epochs=1)
    texts, units = texts_of(trained, STARS), len(trained.tokenizer)
    labels = texts.labels.astype(np.int64)
    counts = class_counts(texts.ids, texts.counts, texts.offsets, labels, units, 5)
    slow = np.zeros((units, 5), dtype=np.int64)
    np.add.at(slow, (texts.ids, np.repeat(labels, np.diff(texts.offsets))), texts.counts)
    np.testing.assert_array_equal(counts, slow)


def test_tracked_tokens_are_those_requested() -> None:
    trained = learn(epochs=1)
    texts = texts_of(trained)
    types = token_types(texts, len(trained.tokenizer), ("bad", "good"))
    for most in (None, 3, 0):
        tracked = track_tokens(types, texts, most, pulls=True)
        assert len(set(tracked.rows.tolist())) == len(tracked.rows)
        for code, tokens, pulled in zip(tracked.codes, tracked.slices, tracked.pulled, strict=True):
            assert (types.codes[tracked.rows[tokens]] == code).all()
            assert (types.codes[tracked.rows[pulled]] == code).all()
            assert len(tracked.rows[tokens]) == {None: (types.codes == code).sum(), 3: 3}.get(
                most, len(tracked.rows[tokens])
            )
        np.testing.assert_array_equal(tracked.rows[tracked.texts.ids], texts.ids)  # all texts fit in
        assert tracked.chosen.max() < tracked.few
        if most == 0:
            assert sorted(tracked.chosen) == list(range(tracked.few))
        assert [types.names[types.codes[unit]] for unit in tracked.rows[tracked.chosen]] == tracked.types


def test_selected_texts_are_complete() -> None:
    texts = UnitTexts(
        np.array([5, 6, 7, 8, 9], np.int32), np.ones(5, np.uint16), np.array([0, 2, 2, 4, 5]), np.arange(4.0)
    )
    selected = select_texts(texts, np.array([0, 1, 3]))
    assert selected.ids.tolist() == [5, 6, 9]
    assert selected.offsets.tolist() == [0, 2, 2, 3]
    assert selected.labels.tolist() == [0, 1, 3]
