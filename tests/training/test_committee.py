"""Committees of the fast engine: the mean of their members, however they are trained, saved, explained or exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

import regard.runtime
from regard.config import Config
from regard.data.collate import collate
from regard.data.reviews import reviews
from regard.data.splitting import disjoint_rows
from regard.data.tokenizer import Indexed
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.explain.flat_texts import leave_one_out_from_tables
from regard.explain.leave_one_out import leave_one_out
from regard.explain.reading import read
from regard.models.build import build
from regard.models.flat import State, fresh, join_members, tables
from regard.models.folder import load
from regard.models.saving import save
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.training import fit_sparse
from regard.training.committee_engine import CommitteeEngine, member_seed
from regard.training.defaults import DataSize, fill_defaults
from regard.training.fit import Parts, Run, fit
from regard.training.loop import EpochPlan
from regard.training.sparse_engine import copy_of, read_by, read_texts

TEXTS = ["Clean room, friendly staff.", "the worst film", "not good at all, not good", "odd words qqq", ""]


def trained(members: int, count: int = 120, **options: Any) -> Trained:
    values = {"epochs": 2, "task": "multiclass", "members": members, **options}
    return fit(Config().override(values), Parts(reviews(count)))


def test_a_committee_is_the_mean_of_models_trained_alone() -> None:
    committee = trained(3, dev_fraction=0.0)
    alone = [trained(1, dev_fraction=0.0, seed=member_seed(0, member)) for member in range(3)]
    indexed = committee.tokenizer.encode_each(TEXTS)
    expected = np.mean([model.logits(model.tokenizer.encode_each(TEXTS)) for model in alone], axis=0)
    np.testing.assert_allclose(committee.logits(indexed), expected, atol=2e-6)
    weights = [[weights for _, _, weights in model.attended(TEXTS)] for model in (committee, *alone)]
    np.testing.assert_allclose(weights[0][0], np.mean([one[0] for one in weights[1:]], axis=0), atol=1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_pytorch_and_tables_agree(outputs: int) -> None:
    model = Config().override({"embedding": 6, "members": 3, "attention": "dot", "scale": 2.0}).model
    states = [fresh(model, 40, outputs, seed) for seed in range(3)]
    for state in states:  # larger than at the start, so that attention differs from the mean
        for value in state.values():
            value *= 20
    joined = join_members(states)
    lookup, classifier = tables(joined, 2.0, 3), build(model, 40, outputs).eval()
    classifier.load_state_dict({name: torch.from_numpy(value) for name, value in joined.items()})
    rng = np.random.default_rng(0)
    texts = [Indexed(rng.integers(1, 40, size).astype(np.int32)) for size in (1, 5, 17)]
    with torch.no_grad():
        output = classifier(collate(texts, 1))
    for row, text in enumerate(texts):
        scores = lookup.scores[text.ids].astype(np.float64)
        alpha = np.exp(scores - scores.max(0)) / np.exp(scores - scores.max(0)).sum(0)
        logits = np.einsum("um,umc->c", alpha, lookup.polarity[text.ids].astype(np.float64)) + lookup.bias
        np.testing.assert_allclose(output.logits[row].numpy(), logits, rtol=1e-4, atol=1e-4)
        shares = output.traces[0].pooled.weights[row, : len(text.ids)].numpy()
        np.testing.assert_allclose(shares, alpha.mean(1), atol=1e-5)


def test_weights_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        made.append(trained(4).weights)
    assert all(np.array_equal(made[0][name], made[1][name]) for name in made[0])


def test_a_killed_committee_resumes_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0.0)
    real, config = CommitteeEngine.run_epoch, Config().override({"epochs": 4, "members": 3})
    whole = fit(config, Parts(reviews(80))).weights

    def run_epoch(self: CommitteeEngine, plan: EpochPlan, *others: Any) -> list[float]:
        if plan.epoch == 3:
            raise KeyboardInterrupt
        return real(self, plan, *others)

    run = Run(Silent(), tmp_path / "checkpoint.safetensors")
    with monkeypatch.context() as patch:
        patch.setattr(CommitteeEngine, "run_epoch", run_epoch)
        with pytest.raises(KeyboardInterrupt):
            fit(config, Parts(reviews(80)), run)
    assert run.checkpoint is not None
    assert run.checkpoint.exists()
    with safe_open(run.checkpoint, "np") as file:
        assert not any(name.startswith("best/") for name in file.keys()), "the last epoch is the best: not twice"  # noqa: SIM118
    resumed = fit(config, Parts(reviews(80)), run).weights
    assert all(np.array_equal(resumed[name], whole[name]) for name in whole)


def test_members_hold_out_different_texts() -> None:
    groups = np.repeat(np.arange(4, dtype=np.int32), [50, 30, 10, 3])
    folds = np.array(disjoint_rows(groups, 0.1, 5, 0))
    assert folds.sum(1).tolist() == [9] * 5
    assert folds.sum(0).max() == 1
    for group in range(4):
        assert not folds[:, groups == group].all(1).any(), "no member loses all texts of a class"


def test_what_a_member_never_saw_says_nothing() -> None:
    """Words of texts that only one member holds out: it ignores them, and they have no polarity there."""
    model = trained(2, dev_fraction=0.4)
    silent = model.tables.scores < -15
    assert silent.any(0).all()
    assert not silent.all(1).any(), "every word is known to one of them"
    np.testing.assert_allclose(model.tables.polarity[silent], 0, atol=1e-3)


def test_dev_scores_are_of_texts_that_were_held_out() -> None:
    model = trained(3, dev_fraction=0.2)
    assert model.metrics["dev"]["n"] == 3 * 24
    assert "dev" not in trained(3, dev_fraction=0.0).metrics


def test_a_saved_committee_explains_the_same_everywhere(tmp_path: Path) -> None:
    committee = trained(3, dev_fraction=0.0)
    save(committee, tmp_path / "run")
    loaded, runtime = load(tmp_path / "run"), regard.runtime.load(tmp_path / "run")
    assert np.array_equal(loaded.answers(TEXTS), committee.answers(TEXTS))
    np.testing.assert_allclose(runtime.predict_proba(TEXTS), committee.answers(TEXTS), atol=1e-6)
    targets = np.zeros(len(TEXTS), dtype=np.int64)
    exact = leave_one_out_from_tables(committee, TEXTS, targets)
    read_again = leave_one_out(committee, read(committee, TEXTS), targets)
    for text, one, other in zip(TEXTS, exact, read_again, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=2e-5)
        contributions = [token.contribution for token in runtime.explain(text, target=committee.task.classes[0]).tokens]
        np.testing.assert_allclose(contributions, one.scores, atol=1e-6)


@pytest.mark.parametrize("options", [{"encoder": "bilstm"}, {"attention": "additive"}, {"engine": "torch"}])
def test_other_models_have_one_member(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="members = 3: a committee is trained by the fast engine"):
        Config().override({"members": 3, **options})


def test_recording_needs_one_member() -> None:
    with pytest.raises(InputError, match="members = 3: record = 'epoch' needs members = 1"):
        Config().override({"members": 3, "record": "epoch"})


def test_a_committee_keeps_its_last_epoch() -> None:
    assert trained(3, epochs=4).metrics["best_epoch"] == 4
    scores = trained(3, epochs=4, select="log_loss").metrics
    losses = [epoch["dev"]["log_loss"] for epoch in scores["history"]]
    assert scores["best_epoch"] == 1 + int(np.argmin(losses))


@pytest.mark.parametrize(
    ("texts", "words", "options", "expected"),
    [
        (300, 6_000, {}, 6),
        (4_999, 100_000, {}, 6),
        (1_000, 2_000_000, {}, 3),
        (25_000, 6_000_000, {}, 3),
        (25_000, 30_000_000, {}, 1),
        (300, 6_000, {"members": 2}, 2),
        (300, 6_000, {"record": "epoch"}, 1),
        (300, 6_000, {"encoder": "affine"}, 1),
        (300, 6_000, {"attention": "additive"}, 1),
        (300, 6_000, {"vtw": 0.1, "attention": "dot"}, 1),
    ],
)
def test_the_number_of_members_depends_on_the_corpus(
    texts: int, words: int, options: dict[str, Any], expected: int
) -> None:
    config = fill_defaults(Config().override(options), DataSize(texts, words))
    assert config.model.members == expected  # the sixth reads letters
    assert config.training.select == ("accuracy" if expected == 1 else "last")


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_scores_from_vectors_are_those_from_tables(outputs: int, bias: bool) -> None:
    rng = np.random.default_rng(1)
    model = Config().override({"embedding": 6, "attention": "dot", "head_bias": bias}).model
    states = [fresh(model, 900, outputs, seed) for seed in range(2)]
    ids, counts = rng.integers(1, 900, 60).astype(np.int32), rng.integers(1, 4, 60).astype(np.uint16)
    offsets = np.array([0, 25, 25, 60])  # the second text has no words
    texts = UnitTexts(ids, counts, offsets, np.zeros(3, dtype=np.float32))
    logits, scores = read_by(states, 2.0, texts)
    expected, of_members = read_texts(tables(join_members(states), 2.0, 2), texts)
    np.testing.assert_allclose(logits, expected, atol=1e-6)
    np.testing.assert_allclose(np.sort(scores), np.sort(of_members.ravel()), atol=1e-6)


def test_weights_are_only_copied_if_a_later_epoch_would_change_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[bool, bool]] = []
    real = CommitteeEngine.weights

    def weights(self: CommitteeEngine, model: int = 0, copied: bool = True, into: State | None = None) -> State:
        asked.append((copied, bool(into)))
        return real(self, model, copied, into)

    monkeypatch.setattr(CommitteeEngine, "weights", weights)
    last = trained(2).weights
    assert asked == [(False, False), (False, True)]
    asked.clear()
    trained(2, select="accuracy", epochs=4)
    assert asked[0] == (True, False)
    assert all(is_reused for _, is_reused in asked[1:])
    assert any(value.any() for value in last.values())


def test_a_copy_reuses_arrays_that_fit_and_are_its_own() -> None:
    state = {name: np.full(3, number, dtype=np.float32) for number, name in enumerate(("a", "b", "c", "d"))}
    frozen = np.zeros(3, dtype=np.float32)
    frozen.flags.writeable = False
    old = {"a": np.zeros(3, dtype=np.float32), "b": state["b"], "c": np.zeros(4, dtype=np.float32), "d": frozen}
    copy = copy_of(state, old)
    assert copy["a"] is old["a"]
    assert all(copy[name] is not state[name] and copy[name] is not old[name] for name in ("b", "c", "d"))
    assert all((copy[name] == state[name]).all() for name in state)
