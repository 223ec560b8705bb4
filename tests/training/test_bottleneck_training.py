"""Training of purified attention: what each phase changes, cached states, and which round is the best."""

from __future__ import annotations

import io
import json
import weakref
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from rich.console import Console
from torch import Tensor

from command import TINY, Regard
from regard.config import Config, Model, Training
from regard.data.collate import collate
from regard.data.reviews import reviews
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.tasks import Binary
from regard.models.trained import Trained
from regard.poolings import bottleneck
from regard.recorder import Silent
from regard.records import Example
from regard.report.text.progress import ConsoleRecorder
from regard.training import state_cache, torch_engine
from regard.training.cuda_graphs import GraphedStep, GraphPool
from regard.training.fit import Parts, Run, fit
from regard.training.optimizers import make_phase_optimizers, set_module_modes
from regard.training.schedule import schedule
from regard.training.state_cache import StateCache
from regard.training.step import Step
from regard.training.torch_engine import Texts
from regard_lab.fit_stacked import fit_stacked
from regard_lab.towers.two_towers import build_towers
from stopping import scripted
from torch_training import train_torch

TASK = Binary(("no", "yes"))
SMALL: dict[str, Any] = {
    "embedding": 6, "hidden": 6, "query": 4, "epochs": 2, "batch_size": 8, "lr": 0.02, "device": "cpu", "dropout": 0.3
}  # fmt: skip


def training(**options: Any) -> Training:
    plain: dict[str, Any] = {
        "optimizer": "adam", "clip": 0.0, "patience": 0, "rounds": 2, "beta": 0.1, "phase_epochs": 1
    }  # fmt: skip
    small = {name: value for name, value in SMALL.items() if name not in ("embedding", "hidden", "query")}
    return Training(**{**plain, **small, **options})


def make_texts(count: int = 40, levels: int = 1) -> Texts:
    """Word 2 or word 3 decides, at a random position among others; one text is empty."""
    rng, texts = np.random.default_rng(0), []
    for number in range(count):
        ids = rng.integers(4, 12, rng.integers(2, 9))
        ids[rng.integers(len(ids))] = 2 + number % 2
        lengths = np.array([1, len(ids) - 1], dtype=np.int64)
        shape = ((), (lengths,), (lengths, np.array([1, 1])))[levels - 1]
        texts.append(Indexed(ids.astype(np.int32), shape))
    nothing = np.zeros(0, dtype=np.int64)
    texts[-1] = Indexed(nothing.astype(np.int32), ((), (nothing,), (nothing, nothing))[levels - 1])
    return Texts(texts, np.arange(count) % 2 * 1.0)


def make(levels: int = 1, encoder: str = "lstm", dropout: float = 0.3, **options: Any) -> Classifier:
    torch.manual_seed(3)
    pooling = ",".join(["attention"] * (levels - 1) + ["bottleneck"])
    config = Model(levels=levels, encoder=encoder, pooling=pooling, embedding=6, hidden=6, query=4, **options)
    return build(config, 12, 1, dropout)


def trained(config: Training | None = None, levels: int = 1, dev: bool = False, **options: Any) -> dict[str, Tensor]:
    model, texts = make(levels, **options), make_texts(levels=levels)
    train_torch(model, TASK, texts, texts if dev else None, config or training(), Silent())
    return model.state_dict()


def same(state: dict[str, Tensor], expected: dict[str, Tensor]) -> bool:
    return all(torch.equal(value, expected[name]) for name, value in state.items())


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("levels", [1, 2])
def test_frozen_weights_get_no_gradient_and_do_not_change(levels: int, number: int) -> None:
    model, config = make(levels), training(l2=0.1)
    phase = schedule(config, levels)[number]
    weights, texts = dict(model.named_parameters()), make_texts(levels=levels)
    optimizer = make_phase_optimizers([phase], weights, config)[phase.name]
    before = {name: weight.detach().clone() for name, weight in weights.items()}
    optimizer.enter(weights)
    set_module_modes(phase, model)
    step = Step(model, TASK, config, optimizer.optimizer, phase)
    for _ in range(3):
        step(collate(texts.indexed[:9], levels, texts.labels[:9]))
    changed = {name for name, weight in weights.items() if not torch.equal(weight, before[name])}
    assert changed == optimizer.names
    for name, weight in weights.items():
        assert (weight.grad is None) == (name not in optimizer.names), name


def test_round_0_is_the_plain_attention_model() -> None:
    """The same weights as attention with the same head: the bottleneck uses neither gradients nor random numbers."""
    texts, config = make_texts(), training()
    model, plain = make(), make()
    plain.levels[0].pooling.deviation = plain.levels[0].pooling.mean  # their values must not matter
    phase = schedule(config, 1)[0]
    for one in (model, plain):
        weights = {name: weight for name, weight in one.named_parameters() if "deviation" not in name}
        optimizer = make_phase_optimizers([phase], weights, config)[phase.name]
        optimizer.enter(weights)
        torch.manual_seed(0)
        set_module_modes(phase, one)
        for _ in range(4):
            Step(one, TASK, config, optimizer.optimizer, phase)(collate(texts.indexed, 1, texts.labels))
    for name, value in plain.state_dict().items():
        if "deviation" not in name:
            assert torch.equal(value, model.state_dict()[name]), name


def test_without_beta_and_deviation_the_compressor_reaches_the_plain_loss() -> None:
    model, texts = make(dropout=0.0), make_texts()
    with torch.no_grad():
        model.levels[0].pooling.deviation.out.weight.zero_()
        model.levels[0].pooling.deviation.out.bias.fill_(-60)  # σ = softplus(−60) = 9e-27
    config = training(epochs=60, phase_epochs=60, rounds=1, beta=0.0)
    progress = train_torch(model, TASK, texts, None, config, Silent())
    last = {record["phase"]: record["loss"] for record in progress.history}
    assert last["attention"] < 0.05
    assert last["compressor"] < last["attention"] + 0.01


def test_a_larger_beta_leaves_less_divergence() -> None:
    """And with the largest beta, nothing passes the bottleneck."""
    texts, left = make_texts(), []
    for beta in (0.0, 0.1, 10.0):
        progress = train_torch(make(), TASK, texts, None, training(beta=beta, phase_epochs=20, rounds=1), Silent())
        left.append(progress.history[-1]["terms"]["kl"])
    assert left[0] > left[1] > left[2]
    assert left[2] < 0.1


def test_the_seed_determines_the_weights() -> None:
    assert same(trained(), trained())
    assert not same(trained(), trained(training(seed=1)))


# cached states


@pytest.mark.parametrize("encoder", ["embedding", "cnn", "lstm"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_cached_states_equal_computed_ones(levels: int, encoder: str) -> None:
    model, texts = make(levels, encoder), make_texts(levels=levels)
    cache = StateCache(texts.indexed, levels)
    assert cache.fill(model, texts.indexed)
    rows = np.array([5, 39, 0, 17])  # 39 is empty
    batch = cache.batch(rows, texts.labels[rows])
    with torch.no_grad():
        top = model.eval().read(collate([texts.indexed[row] for row in rows], levels))[-1]
        states, mask, pooled = top.states, top.mask, top.pooled
        output = model(batch, states=cache.look_up(batch.ids))
    assert torch.equal(batch.mask, mask)
    torch.testing.assert_close(cache.look_up(batch.ids)[mask], states[mask], rtol=0, atol=1e-6)
    assert (cache.look_up(batch.ids)[~mask] == 0).all()
    torch.testing.assert_close(output.traces[-1].pooled.vector, pooled.vector, rtol=0, atol=1e-6)


@pytest.mark.parametrize("levels", [1, 2])
def test_training_is_the_same_without_the_cache(monkeypatch: pytest.MonkeyPatch, levels: int) -> None:
    filled: list[int] = []
    real = StateCache.fill
    monkeypatch.setattr(StateCache, "fill", lambda self, *others: filled.append(1) or real(self, *others))
    with_cache = trained(levels=levels)
    assert len(filled) == 2, "once per compressor phase"
    monkeypatch.setattr(torch_engine, "make_state_cache", lambda *_: None)
    without = trained(levels=levels)
    assert len(filled) == 2
    for name, value in with_cache.items():
        torch.testing.assert_close(value, without[name], rtol=0, atol=5e-6, msg=name)  # Adam amplifies rounding


def test_too_many_states_are_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []

    class Listener(Silent):
        def note(self, sentence: str) -> None:
            notes.append(sentence)

    with_cache = trained()
    monkeypatch.setattr(state_cache, "MAX_BYTES", {"cpu": 1000})
    model, texts = make(), make_texts()
    train_torch(model, TASK, texts, None, training(), Listener())
    assert notes == ["the encoder's states do not fit into the cache: they are computed in every step"], (
        "and the note appears once"
    )
    for name, value in with_cache.items():
        torch.testing.assert_close(value, model.state_dict()[name], rtol=0, atol=1e-6, msg=name)


def test_ordinary_training_has_no_cache() -> None:
    """Not even with frozen word vectors, because dropout differs in every step."""
    model = make(encoder="embedding", freeze_embeddings=True)
    assert torch_engine.make_state_cache(schedule(training(rounds=None), 1)[0], model, make_texts()) is None
    assert torch_engine.make_state_cache(schedule(training(), 1)[1], model, make_texts()) is None
    assert torch_engine.make_state_cache(schedule(training(), 1)[2], model, make_texts()) is not None


def test_steps_of_round_0_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU a step holds graphs and their memory."""
    steps: list[weakref.ref[Step]] = []

    def make_step(step: Step, pool: GraphPool) -> Step:
        steps.append(weakref.ref(step))
        return step

    class Watching(Silent):
        alive: ClassVar[list[int]] = []

        def begin(self, epoch: int, epochs: int, steps_: int) -> None:
            self.alive.append(sum(step() is not None for step in steps))

    monkeypatch.setattr(torch_engine, "make_step", make_step)
    train_torch(make(), TASK, make_texts(), None, training(), Watching())
    # two epochs of round 0, learner, compressor, and both for the last time
    assert Watching.alive == [1, 1, 1, 2, 2, 1]


# the best round


def test_the_best_round_is_chosen_on_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among the epochs of the compressor: those of round 0 and of the learner, better here, do not count."""
    texts = make_texts()
    for accuracies, best in (([0.9, 0.8, 0.99, 0.6, 0.99, 0.5], 4), ([0.9, 0.8, 0.99, 0.5, 0.99, 0.6], 6)):
        model = make()
        with monkeypatch.context() as patch:
            scripted(patch, torch_engine, accuracies)
            progress = train_torch(model, TASK, texts, texts, training(), Silent())
        assert progress.best_epoch == best
        assert progress.epoch == 6
        assert [(record["round"], record["phase"]) for record in progress.history[1:4]] == [
            (0, "attention"), (1, "learner"), (1, "compressor")
        ]  # fmt: skip
        # the learner of round 1 began with the best epoch of round 0, the first one
        assert same(trained(training(epochs=1, rounds=best // 2 - 1)), model.state_dict())


def test_patience_ends_round_0_only(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, config = make_texts(), training(epochs=10, patience=1, rounds=3)
    with monkeypatch.context() as patch:
        scripted(patch, torch_engine, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
        progress = train_torch(make(), TASK, texts, texts, config, Silent())
    assert [record["round"] for record in progress.history] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert progress.best_epoch == 4


def test_without_dev_the_last_round_is_the_best() -> None:
    progress = train_torch(make(), TASK, make_texts(), None, training(), Silent())
    assert progress.best_epoch == progress.epoch == 6


# fit


def options(**values: Any) -> Config:
    return Config().override({**SMALL, "encoder": "lstm", "pooling": "bottleneck", "rounds": 2, **values})


def labelled(count: int = 60) -> list[Example]:
    return [Example(one.text, "good" if int(one.label) > 2 else "bad", one.row) for one in reviews(count)]


def test_both_heads_are_scored_in_every_round() -> None:
    result = fit(options(), Parts(labelled())).metrics
    assert result["best_round"] in (1, 2)
    assert result["history"][result["best_epoch"] - 1]["round"] == result["best_round"]
    assert [record["round"] for record in result["history"]] == [0, 0, 1, 1, 2, 2]
    for record in result["history"]:
        assert 0 <= record["heads"]["compressed"]["accuracy"] <= 1
        assert 0 <= record["dev"]["accuracy"] <= 1
        assert record["terms"]["kl"] >= 0
    best = result["history"][result["best_epoch"] - 1]["dev"]
    assert best["accuracy"] == result["dev"]["accuracy"], "predictions come from the learner's head"


def test_defaults_of_the_bottleneck() -> None:
    result = fit(options(rounds=None, epochs=1), Parts(labelled())).config.training
    assert (result.beta, result.rounds, result.phase_epochs) == (0.1, 3, 1)


KINDS: dict[str, dict[str, Any]] = {
    "two levels": {"levels": 2, "pooling": "attention,bottleneck"},
    "three levels": {"levels": 3, "pooling": "max,attention,bottleneck", "encoder": "embedding"},
    "a regression": {"task": "regression"},
    "five classes": {"task": "multiclass"},
    "dot attention": {"attention": "dot", "encoder": "embedding"},
    "frozen vectors": {"freeze_embeddings": True, "encoder": "bilstm"},
    "bf16": {"bf16": True, "encoder": "cnn"},
    "adagrad": {"optimizer": "adagrad", "clip": 0.5},
}


@pytest.mark.parametrize("kind", KINDS)
def test_combinations_with_other_options(tmp_path: Path, kind: str) -> None:
    from regard.models.folder import load
    from regard.models.saving import save

    examples = list(reviews(60))
    result = fit(options(**KINDS[kind]), Parts(examples))
    assert result.metrics["epochs"] == 6
    save(result, tmp_path)
    texts = [example.text for example in examples[:8]]
    np.testing.assert_allclose(load(tmp_path).answers(texts), result.answers(texts), atol=1e-6)


def decided(count: int, seed: int) -> list[Example]:
    """Texts in which one word decides."""
    rng, examples = np.random.default_rng(seed), []
    for number in range(count):
        words = list(rng.choice(["the", "film", "was", "so", "and"], rng.integers(1, 9)))
        words.insert(rng.integers(len(words) + 1), rng.choice([["poor", "sad"], ["fine", "great"]][number % 2]))
        examples.append(Example(" ".join(words), ("no", "yes")[number % 2], number + 1))
    return examples


def test_stacked_seeds_train_as_they_would_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without randomness: ε = 0 and no dropout. Round 0 ends early, in a different epoch for each seed."""
    monkeypatch.setattr(bottleneck.torch, "randn_like", torch.zeros_like)
    config = options(dropout=0.0, epochs=9, patience=1, encoder="cnn", calibrate=False)
    parts, seeds = Parts(decided(60, 0), decided(30, 1), decided(30, 2)), (3, 8, 1)
    stacked = [one for one in fit_stacked(config, parts, seeds, Silent()) if isinstance(one, Trained)]
    alone = [fit(config.override({"seed": seed}), parts, Run()) for seed in seeds]
    assert len({one.metrics["epochs"] for one in alone}) > 1, "otherwise stopping in different epochs is not tested"
    for one, other in zip(stacked, alone, strict=True):
        for name in ("epochs", "best_epoch", "best_round"):
            assert one.metrics[name] == other.metrics[name]
        for ours, theirs in zip(one.metrics["history"], other.metrics["history"], strict=True):
            assert (ours["round"], ours["phase"]) == (theirs["round"], theirs["phase"])
            assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-4)
            assert ours["terms"] == pytest.approx(theirs["terms"], abs=1e-4)
            assert ours["heads"]["compressed"] == pytest.approx(theirs["heads"]["compressed"], abs=1e-3)
        for name, weight in other.weights.items():
            np.testing.assert_allclose(one.weights[name], weight, atol=2e-3, err_msg=name)


def test_two_towers_have_no_rounds() -> None:
    with pytest.raises(
        InputError,
        match="pooling: expected one without rounds of training for two towers, got 'attention,attention,bottleneck'",
    ):
        build_towers(Model(levels=3, pooling="attention,attention,bottleneck"), 5)


def test_the_command_line_names_round_and_phase(regard: Regard, table: Path, tmp_path: Path) -> None:
    command = regard("train", table, *TINY, "--pooling", "bottleneck", "--rounds", 3, "--out", tmp_path / "run")
    assert command.code == 0, command.err
    lines = [line for line in command.err.splitlines() if line.startswith("round")]
    assert [line.partition(" · loss")[0] for line in lines] == [
        "round 0/3 · attention · epoch  1/2",
        "round 0/3 · attention · epoch  2/2",
        *(f"round {number}/3 · {phase} · epoch  1/1" for number in (1, 2, 3) for phase in ("learner", "compressor")),
    ]
    assert "compressed 0." in lines[-1]
    result = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert f"dev (epoch {result['best_epoch']} of 8, round {result['best_round']})" in command.out
    assert (
        f"on dev: {result['best_epoch']}, of round {result['best_round']} |" in (tmp_path / "run/README.md").read_text()
    )
    assert regard("explain", tmp_path / "run", "a fine film").code == 0


def test_divergence_names_round_and_phase() -> None:
    config = training(rounds=1, compressor_lr=1e30)
    with pytest.raises(InputError, match=r"in epoch \d+ \(round 1/1 · compressor\), step"):
        train_torch(make(), TASK, make_texts(200), None, config, Silent())


@pytest.mark.parametrize("batch", [8, 200])  # the loss shows it, or, if a phase has one step, the answers
@pytest.mark.parametrize(
    ("options", "remedy"), [({"beta": 1e40}, "compressor_lr or beta"), ({"lr": 1e38, "clip": 0.0}, "lr")]
)
def test_divergence_names_options_of_the_phase(batch: int, options: dict[str, Any], remedy: str) -> None:
    config = training(rounds=1, batch_size=batch, **options)
    with pytest.raises(InputError, match=rf"^training diverged: .*; try a smaller {remedy}$"):
        train_torch(make(), TASK, make_texts(200), None, config, Silent())


def test_the_bar_names_round_and_phase() -> None:
    """The remaining time is that of the phase. Ordinary training has no such name."""
    with ConsoleRecorder(Console(file=io.StringIO(), force_terminal=True)) as recorder:
        recorder.begin(1, 4, 10)
        assert recorder.bar is not None
        assert recorder.bar.tasks[0].description == "epoch 1/4"
        recorder.enter("round 2/3 · compressor")
        recorder.begin(2, 5, 10)
        assert recorder.bar.tasks[0].description == "round 2/3 · compressor · epoch 2/5"
        assert (recorder.bar.tasks[0].completed, recorder.bar.tasks[0].total) == (10, 50)


def test_the_bar_fits_a_terminal_of_eighty_columns() -> None:
    shown = io.StringIO()
    with ConsoleRecorder(Console(file=shown, force_terminal=True, width=80, color_system=None)) as recorder:
        recorder.enter("round 10/10 · compressor")
        recorder.begin(10, 12, 10)
        recorder.end({"epoch": 10, "dev": {"accuracy": 0.84}, "loss": 0.3, "seconds": 1.2})
        recorder.begin(11, 12, 10)
        for _ in range(10):
            recorder.step(0.12)
        assert recorder.bar is not None
        recorder.bar.refresh()
    assert any(
        line.strip().endswith("left") and "round 10/10 · compressor · epoch 11/12 · dev 0.8400" in line
        for line in shown.getvalue().splitlines()
    )


gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@gpu
@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("cached", [True, False])
def test_on_a_gpu_graphs_and_ordinary_steps_give_the_same_weights(
    monkeypatch: pytest.MonkeyPatch, levels: int, cached: bool
) -> None:
    states, steps = [], []
    for plain in (False, True):
        with monkeypatch.context() as patch:

            def make_step(step: Step, pool: GraphPool, plain: bool = plain) -> GraphedStep:
                steps.append(GraphedStep(step, pool))
                steps[-1].cannot_capture = plain
                return steps[-1]

            patch.setattr(torch_engine, "make_step", make_step)
            if not cached:
                patch.setattr(torch_engine, "make_state_cache", lambda *_: None)
            model, texts = make(levels).cuda(), make_texts(200, levels)
            train_torch(model, TASK, texts, None, training(rounds=3, phase_epochs=2), Silent())
            states.append(model.state_dict())
    captured = [bool(one.graphs) for one in steps]  # one object per kind of phase: attention, learner, compressor
    assert captured == [True, True, True, False, False, False]
    for name, value in states[0].items():
        torch.testing.assert_close(value, states[1][name], rtol=1e-4, atol=1e-5, msg=name)


BAD = [
    (("--beta", "-1"), "beta: expected a number of at least 0, got -1.0"),
    (("--beta", "inf"), "beta: expected a number of at least 0, got inf"),
    (("--rounds", "0"), "rounds: expected a number from 1 to 1000, got 0"),
    (("--phase-epochs", "0"), "phase_epochs: expected a number of at least 1, got 0"),
    (("--compressor-lr", "0"), "compressor_lr: expected a number above 0, got 0.0"),
    (("--pooling", "attention", "--rounds", "3"), "rounds = 3 needs pooling = 'bottleneck' on the highest level"),
    (("--pooling", "attention", "--compressor-lr", "0.1"), "compressor_lr = 0.1 needs pooling = 'bottleneck'"),
    (("--attention-heads", "0"), "attention_heads: expected a number from 1 to 64, got 0"),
    (("--pooling", "attention", "--attention-heads", "2"), "attention_heads = 2 needs pooling = 'bottleneck'"),
    (("--pooling", "max", "--beta", "0.1"), "beta = 0.1 needs pooling = 'bottleneck' on the highest level"),
    (("--levels", "2"), "can only be on the highest level; expected, for example, 'attention,bottleneck'"),
    (("--levels", "2", "--pooling", "bottleneck,attention"), "expected, for example, 'attention,bottleneck'"),
    (("--engine", "sparse"), "engine = 'sparse': it supports only encoder"),
]


@pytest.mark.parametrize(("words", "sentence"), BAD)
def test_bad_options_are_refused(
    regard: Regard, table: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    command = regard("train", table, "--pooling", "bottleneck", *words, "--out", tmp_path / "run")
    assert command.code == 2
    assert sentence in command.error
    assert list(tmp_path.iterdir()) == []


def test_several_heads_are_trained_saved_and_explained(regard: Regard, table: Path, tmp_path: Path) -> None:
    words = ("--pooling", "bottleneck", "--attention-heads", "2", "--encoder", "gru", "--rounds", "1")
    assert regard("train", table, *TINY, *words, "--out", tmp_path / "run").code == 0
    (row,) = map(json.loads, regard("explain", tmp_path / "run", "Kind staff.", "--format", "jsonl").out.splitlines())
    assert sum(token["weight"] for token in row["tokens"]) == pytest.approx(1)
