"""`regard tune`: the space, the command it prints, resuming, stopping early, and errors. Most of it needs Optuna."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from command import Regard, write_csv
from regard.cli import make_parser
from regard.commands.options import options_given
from regard.config import Config
from regard.data.reviews import reviews
from regard.extras import is_installed
from regard.run_metrics import EpochRecord
from regard.training.defaults import DataSize, fill_defaults
from regard.tuning import search
from regard.tuning.scoring import Quarters
from regard.tuning.space import Choices, Range, search_space
from regard.tuning.tune import train_command

needs_optuna = pytest.mark.skipif(not is_installed("optuna"), reason="needs Optuna")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "my stars.csv", [(example.text, example.label) for example in reviews(100)])


def test_options_given_are_not_tuned_and_ranges_include_the_defaults() -> None:
    config = fill_defaults(Config().override({"scale": 100.0}), DataSize(30, 300))
    space = search_space(config, {"scale", "pairs"})
    assert set(space) == {"lr", "epochs", "dropout", "beginnings", "min_count", "embedding"}
    epochs = space["epochs"]
    assert isinstance(epochs, Range)
    assert epochs.high == config.training.epochs == 34


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"encoder": "bilstm"}, {"lr", "dropout", "hidden", "embedding", "pooling"}),
        ({"encoder": "cnn", "pooling": "max"}, {"lr", "dropout", "hidden", "embedding"}),
        ({"engine": "torch"}, {"lr", "dropout", "embedding", "pooling"}),
        ({"encoder": "bert", "pretrained": "somewhere"}, {"lr", "dropout", "pooling"}),
    ],
)
def test_each_encoder_has_its_space(options: dict[str, object], expected: set[str]) -> None:
    pytest.importorskip("torch")
    space = search_space(fill_defaults(Config().override(options), DataSize(1000, 0)), options)
    assert set(space) == expected
    assert all(isinstance(one, (Range, Choices)) for one in space.values())


def test_the_command_means_the_same_options() -> None:
    given: dict[str, object] = {
        "train": "my file's.csv",
        "windows": (3, 4),
        "label": "a b",
        "lowercase": False,
        "lr": 0.123456789,
    }
    words = shlex.split(train_command(given, {"pairs": True, "beginnings": 0, "dropout": 3e-05}))
    assert words[:2] == ["regard", "train"]
    parsed = options_given(make_parser(words[1:]).parse_args(words[1:]))
    assert parsed == {**given, "pairs": True, "beginnings": 0, "dropout": 3e-05}


def record(epoch: int, accuracy: float) -> EpochRecord:
    return {"epoch": epoch, "loss": 1.0, "seconds": 0.0, "dev": {"accuracy": accuracy}}


def test_trials_are_compared_after_the_same_share_of_their_epochs() -> None:
    for epochs, expected in ((8, [(0.2, 1), (0.4, 2), (0.6, 3)]), (2, [(0.1, 2)]), (1, [])):
        seen: list[tuple[float, int]] = []
        recorder = Quarters("accuracy", lambda value, step, seen=seen: seen.append((value, step)))
        for epoch in range(1, epochs + 1):
            recorder.begin(epoch, epochs, 10)
            recorder.end(record(epoch, epoch / 10))
        assert seen == expected


def test_without_optuna_there_is_one_sentence(regard: Regard, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    result = regard("tune", file, "--out", file.parent / "out")
    assert result.code == 2
    assert "pip install 'regard[tune]'" in result.error
    assert not (file.parent / "out").exists()


@needs_optuna
def test_the_printed_command_trains_and_the_search_continues(regard: Regard, file: Path) -> None:
    out = file.parent / "search"
    first = regard("tune", file, "--trials", 7, "--out", out)
    assert first.code == 0
    assert "trial 7 of 7" in first.err
    (command,) = first.out.splitlines()
    words = shlex.split(command)
    assert words[:3] == ["regard", "train", str(file)]
    assert regard(*words[1:], "--out", file.parent / "run").code == 0
    again = regard("tune", file, "--trials", 8, "--out", out)
    assert "continuing after 7 trials" in again.err
    assert again.err.count("· trial ") == 1
    for line in (out / "trials.jsonl").read_text().splitlines():
        assert isinstance(json.loads(line), dict)
    assert "my stars" in command
    assert reviews(1)[0].text not in (out / "trials.jsonl").read_text()


@needs_optuna
def test_the_first_trial_has_the_defaults_and_the_same_seed_the_same_trials(regard: Regard, file: Path) -> None:
    lines = []
    for name in ("one", "two"):
        shown = regard("tune", file, "--trials", 3, "--out", file.parent / name).err
        lines.append([line for line in shown.splitlines() if line.startswith("· trial")])
    assert lines[0] == lines[1]
    assert "pairs True, beginnings 5, min_count 1" in lines[0][0]


@needs_optuna
def test_an_interrupted_search_keeps_what_is_done(regard: Regard, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    score, calls = search.score, []

    def interrupted(*given: object) -> float:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return score(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(search, "score", interrupted)
    out = file.parent / "search"
    stopped = regard("tune", file, "--trials", 4, "--out", out)
    assert stopped.code == 130
    assert stopped.out.startswith("regard train")
    assert "the same command continues the search" in stopped.err
    rest = regard("tune", file, "--trials", 4, "--out", out)
    assert rest.code == 0
    assert "continuing after 2 trials" in rest.err
    assert len(calls) == 5


@needs_optuna
def test_trials_that_fall_behind_are_stopped_and_failures_do_not_end_the_search(
    regard: Regard, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regard.errors import InputError

    numbers = iter(range(100))

    def scripted(config: object, splits: object, report: object) -> float:
        number = next(numbers)
        if number == 6:
            raise InputError("epoch 1: the loss is not finite")
        report(0.9 - number / 10, 1)  # type: ignore[operator]
        return 0.9 - number / 10

    monkeypatch.setattr(search, "score", scripted)
    result = regard("tune", file, "--trials", 8, "--out", file.parent / "search")
    outcomes = [line.split(": ")[1].split(" ")[0] for line in result.err.splitlines() if line.startswith("· trial")]
    assert outcomes == ["accuracy"] * 5 + ["stopped", "failed", "stopped"]
    assert "best accuracy of 8 trials (2 stopped early, 1 failed): 0.9000" in result.err


@needs_optuna
def test_rmse_is_minimised_over_folds(regard: Regard, file: Path) -> None:
    result = regard("tune", file, "--task", "regression", "--trials", 4, "--cv", 3, "--out", file.parent / "search")
    assert result.code == 0
    lines = [line for line in result.err.splitlines() if line.startswith("· trial") and ": rmse" in line]
    scores = [float(line.split("rmse ")[1].split()[0]) for line in lines]
    assert f"best RMSE of 4 trials (0 stopped early, 0 failed): {min(scores):.4f}" in result.err


@needs_optuna
def test_bad_input_is_one_sentence(regard: Regard, file: Path) -> None:
    out = file.parent / "search"
    assert "at least 1" in regard("tune", file, "--trials", 0).error
    assert "above 0" in regard("tune", file, "--seconds", "-1").error
    assert "not a folder of `regard tune`" in regard("tune", file, "--out", file.parent).error
    assert "the RMSE decides" in regard("tune", file, "--task", "regression", "--select", "macro_f", "--out", out).error
    assert not out.exists()
    assert regard("tune", file, "--trials", 1, "--out", out).code == 0
    assert "choose another --out" in regard("tune", file, "--trials", 1, "--no-pairs", "--out", out).error
    (out / "trials.jsonl").write_text("nonsense\nmore\n")
    assert "not a journal" in regard("tune", file, "--trials", 1, "--out", out).error
