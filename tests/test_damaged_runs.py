"""Damaged run folders, checkpoints and pretrained models: one sentence, never a traceback, a hang or NaN.

`tools/fuzz_folders.py` does the same with thousands of mutations, in processes of their own.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from command import TINY, Regard
from killed import Kill, Killed
from mutations import (
    Mutation,
    checkpoint_mutations,
    drawn,
    manifest_mutations,
    metadata_mutations,
    read_tensors,
    run_mutations,
    tensor_mutations,
)
from regard import cli, runtime
from regard.cli import main
from regard.config import Config
from regard.errors import InputError
from regard.models.folder import load
from regard.models.manifest import verify
from regard.recorder import Silent
from regard.runs import train_run
from regard.training import fit_sparse
from regard.training.committee_engine import SQUARES
from tiny_bert import save_bert

SMALL = {"hidden": 8, "embedding": 8, "query": 8, "epochs": 4, "batch_size": 16, "device": "cpu"}
HANGING = ("a pipe", "a link to zeros", "a terabyte")  # test_received_folders has them


def copied(folder: Path, to: Path, manifest: bool = False) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    if not manifest:
        (to / "manifest.json").unlink(missing_ok=True)
    return to


@pytest.fixture(scope="module")
def runs(table: Path) -> dict[str, Path]:
    """A flat run, a regression and a hierarchical one."""
    kinds = {
        "flat": ("--keep-texts", "5"),
        "rated": ("--task", "regression"),
        "torch": ("--levels", "2", "--pooling", "apln", "--encoder", "bilstm"),
    }
    for name, options in kinds.items():
        assert main(["train", str(table), *TINY, *options, "--out", str(table.parent / f"damaged {name}")]) == 0
    return {name: table.parent / f"damaged {name}" for name in kinds}


@pytest.mark.parametrize("kind", ["flat", "rated", "torch"])
def test_mutated_runs(runs: dict[str, Path], table: Path, regard: Regard, tmp_path: Path, kind: str) -> None:
    mutations = [one for one in run_mutations(runs[kind]) if not one.name.endswith(HANGING)]
    for mutation in drawn(mutations, 25, seed=1):
        folder = copied(runs[kind], tmp_path / "run")
        mutation.apply(folder)
        result = regard("predict", folder, "good film, but the food was bad", "--format", "jsonl")
        assert result.code in (0, 2), mutation.name
        assert "NaN" not in result.out, mutation.name
        if not result.code:
            assert regard("report", folder, "--data", table, "--out", tmp_path / "page.html").code in (0, 2), (
                mutation.name
            )
            assert regard("explain", folder, "good film").code in (0, 2), mutation.name


def test_mutated_manifests(runs: dict[str, Path], regard: Regard, tmp_path: Path) -> None:
    mutations = [one for one in manifest_mutations(runs["flat"]) if not one.name.endswith(HANGING)]
    for mutation in drawn(mutations, 40, seed=1):
        folder = copied(runs["flat"], tmp_path / "run", manifest=True)
        mutation.apply(folder)
        assert regard("predict", folder, "good film").code in (0, 2), mutation.name


@pytest.mark.parametrize("engine", ["sparse", "torch"])
def test_mutated_checkpoints(
    table: Path, tmp_path: Path, regard: Regard, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    config = Config().override({**SMALL, "train": str(table), "engine": engine})
    with pytest.raises(Killed):
        train_run(config, tmp_path / "killed", False, False, Kill(begin=3))
    name = "checkpoint.safetensors"
    mutations = [one for one in checkpoint_mutations(tmp_path / "killed") if not one.name.endswith(HANGING)]
    known = [
        *metadata(tmp_path / "killed" / name, history="[]"),
        *metadata(tmp_path / "killed" / name, best_epoch="99"),
    ]
    for mutation in (*known, *drawn(mutations, 25, seed=1)):
        folder = copied(tmp_path / "killed", tmp_path / "run")
        mutation.apply(folder)
        message = refusal(config, folder)
        if message:
            expected = ("damaged checkpoint", "other options", "plain file", "is not a run of regard")
            assert any(sentence in message for sentence in expected), (mutation.name, message)
        assert mutation not in known or "start again with --overwrite" in message, mutation.name


def refusal(config: Config, folder: Path) -> str:
    """Why the run cannot be resumed, or \"\"."""
    try:
        train_run(config, folder, True, False, Silent())
    except InputError as error:
        return str(error)
    return ""


def metadata(path: Path, **values: str) -> list[Mutation]:
    tensors, known = read_tensors(path)
    content = safetensors.numpy.save(tensors, {**(known or {}), **values})
    return [Mutation(str(values), lambda folder: (folder / path.name).write_bytes(content) and None)]


def test_the_metadata_of_a_checkpoint_are_mutated(table: Path, tmp_path: Path) -> None:
    safetensors.numpy.save_file({"a": np.zeros(1)}, tmp_path / "x", {"epoch": "1", "history": '[{"loss": 1.0}]'})
    names = [one.name for one in metadata_mutations("x", tmp_path / "x", most=10_000)]
    assert any("loss" in name for name in names)
    assert "x: epoch = left out" in names


# Single causes


def edited(folder: Path, name: str, change: Callable[[dict[str, object]], object]) -> Path:
    content = json.loads((folder / name).read_text())
    change(content)
    (folder / name).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize("depth", [*range(976, 992, 2), 100_000])
@pytest.mark.parametrize("name", ["task.json", "metrics.json", "tokenizer.json"])
def test_deeply_nested_json(runs: dict[str, Path], tmp_path: Path, regard: Regard, name: str, depth: int) -> None:
    folder = copied(runs["flat"], tmp_path / "run")
    (folder / name).write_text('{"format":' * depth + "1" + "}" * depth)
    assert regard("predict", folder, "good").code == 2


def test_weights_of_half_precision(runs: dict[str, Path], tmp_path: Path, regard: Regard) -> None:
    folder = copied(runs["flat"], tmp_path / "run")
    weights = safetensors.numpy.load_file(folder / "weights.safetensors")
    safetensors.numpy.save_file({n: v.astype(np.float16) for n, v in weights.items()}, folder / "weights.safetensors")
    assert "expected float32, got float16" in regard("predict", folder, "good").error
    with pytest.raises(InputError, match="expected float32"):
        runtime.load(folder)


@pytest.mark.parametrize("form", ["jsonl", "csv", "fasttext", "parquet", "xlsx"])
def test_a_class_named_half_a_surrogate_pair(
    runs: dict[str, Path], tmp_path: Path, regard: Regard, table: Path, form: str
) -> None:
    def rename(row: Any) -> None:
        row["classes"][0] = "a\ud800"

    folder = edited(copied(runs["flat"], tmp_path / "run"), "task.json", rename)
    out = tmp_path / f"out.{'txt' if form == 'fasttext' else form}"
    result = regard("predict", folder, table, "--out", out, *(("--format", form) if form == "fasttext" else ()))
    assert result.code == 0, result.err
    assert out.stat().st_size


@pytest.mark.parametrize("letters", [1e30, 10**30, -1, 2.5, "3", True, None])
def test_letters(runs: dict[str, Path], tmp_path: Path, regard: Regard, letters: object) -> None:
    folder = edited(copied(runs["flat"], tmp_path / "run"), "tokenizer.json", lambda row: row.update(letters=letters))
    assert "letters: expected a whole number from 0 to 100" in regard("predict", folder, "good").error


@pytest.mark.parametrize("scale", [0, -1, 0.0])
def test_a_regression_without_scale(runs: dict[str, Path], tmp_path: Path, regard: Regard, scale: float) -> None:
    folder = edited(copied(runs["rated"], tmp_path / "run"), "task.json", lambda row: row.update(scale=scale))
    assert "scale: expected a number above 0" in regard("predict", folder, "good").error


@pytest.mark.parametrize(
    ("key", "value"),
    [("history", 3), ("history", [0]), ("history", [{"loss": "x"}]), ("best_epoch", []), ("dev", {"per_class": [1]}),
     ("dev", {"confusion": {"labels": ["a"], "counts": [["x"]]}}), ("texts", 10**30), ("temperature", "hot")],
)  # fmt: skip
def test_odd_types_in_metrics(runs: dict[str, Path], tmp_path: Path, regard: Regard, key: str, value: object) -> None:
    folder = edited(copied(runs["flat"], tmp_path / "run"), "metrics.json", lambda row: row.update({key: value}))
    assert f"metrics.json: {key}" in regard("report", folder).error


@pytest.mark.parametrize("temperature", [0, -1, 1e-400, 1e300, float("nan")])
def test_impossible_temperatures(
    runs: dict[str, Path], tmp_path: Path, regard: Regard, table: Path, temperature: float
) -> None:
    run = edited(
        copied(runs["flat"], tmp_path / "run"), "metrics.json", lambda row: row.update(temperature=temperature)
    )
    error = regard("train", table, "--from", run, "--out", tmp_path / "new").error
    assert "metrics.json: temperature: expected a number from 0.001 to 1000, got" in error


@pytest.mark.parametrize("key", ["mean", "scale", "high"])
def test_a_regression_whose_squared_errors_overflow(
    runs: dict[str, Path], tmp_path: Path, regard: Regard, table: Path, key: str
) -> None:
    folder = edited(copied(runs["rated"], tmp_path / "run"), "task.json", lambda row: row.update({key: 1e308}))
    assert f"{key}: expected a number of up to 1e+150, got 1e+308" in regard("report", folder, "--data", table).error


def test_damaged_sums_of_the_optimiser(runs: dict[str, Path], tmp_path: Path, regard: Regard, table: Path) -> None:
    name = "optimizer.safetensors"
    refused = 0
    for mutation in tensor_mutations(name, runs["flat"] / name, 30):
        folder = copied(runs["flat"], tmp_path / "run")
        mutation.apply(folder)
        result = regard("train", table, "--from", folder, "--epochs", "1", "--out", tmp_path / "new", "--overwrite")
        assert result.code in (0, 2), mutation.name
        refused += "optimizer.safetensors: expected the optimiser's sums of the run, got" in result.err
    assert refused > 10


def test_a_checkpoint_whose_sums_overflow(
    table: Path, tmp_path: Path, regard: Regard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    config = Config().override({**SMALL, "train": str(table), "engine": "sparse"})
    with pytest.raises(Killed):
        train_run(config, tmp_path / "killed", False, False, Kill(begin=3))
    path = tmp_path / "killed" / "checkpoint.safetensors"
    tensors, known = read_tensors(path)
    for sum_of_squares in (3e38, -1.0):
        changed = {
            name: np.full_like(value, sum_of_squares) if name.startswith(SQUARES) else value
            for name, value in tensors.items()
        }
        safetensors.numpy.save_file(changed, path, known)
        assert "damaged checkpoint" in refusal(config, tmp_path / "killed")


def test_weights_that_overflow(runs: dict[str, Path], tmp_path: Path, regard: Regard) -> None:
    for kind in ("flat", "torch"):
        folder = copied(runs[kind], tmp_path / "run")
        weights = safetensors.numpy.load_file(folder / "weights.safetensors")
        large = {name: np.full_like(value, 3e38) for name, value in weights.items()}
        safetensors.numpy.save_file(large, folder / "weights.safetensors")
        for command in ("predict", "explain"):
            assert "the weights of the model are too large" in regard(command, folder, "good film").error


@pytest.mark.parametrize(
    ("key", "value"),
    [("chunk_size_feed_forward", 3), ("num_attention_heads", -1), ("num_hidden_layers", 10**9), ("hidden_size", 40_000),
     ("vocab_size", 10**9), ("max_position_embeddings", 10**6), ("layer_norm_eps", float("nan")), ("hidden_act", "x")],
)  # fmt: skip
def test_odd_configurations_of_a_pretrained_model(
    table: Path, tmp_path: Path, regard: Regard, key: str, value: object
) -> None:
    save_bert(tmp_path / "bert")
    words = ("train", table, "--encoder", "bert", "--epochs", 1, "--device", "cpu", "--pretrained", tmp_path / "bert")
    assert regard(*words, "--out", tmp_path / "run").code == 0
    edited(copied(tmp_path / "run", tmp_path / "copy"), "encoder.json", lambda row: row.update({key: value}))
    result = regard("predict", tmp_path / "copy", "good film")
    if key in ("chunk_size_feed_forward", "vocab_size"):  # which do not matter for a run
        assert result.code == (0 if key == "chunk_size_feed_forward" else 2)
    else:
        assert "damaged run" in result.error
    edited(tmp_path / "bert", "config.json", lambda row: row.update({key: value}))
    trained = regard(*words, "--out", tmp_path / "other")
    assert trained.code == (0 if key == "chunk_size_feed_forward" else 2), trained.err


@pytest.mark.parametrize(
    ("number", "of_run", "of_pretrained"),
    [
        (60, None, "its tokenizer has a piece with the id 60, but its model has 50 pieces"),
        (10**9, "expected ids below 16,777,216, got 1,000,000,000", "expected ids below 16,777,216"),
    ],
)
def test_a_word_piece_of_a_huge_id_allocates_nothing(
    table: Path, tmp_path: Path, regard: Regard, number: int, of_run: str | None, of_pretrained: str
) -> None:
    save_bert(tmp_path / "bert")
    words = ("train", table, "--encoder", "bert", "--epochs", 1, "--device", "cpu", "--pretrained", tmp_path / "bert")
    assert regard(*words, "--out", tmp_path / "run").code == 0

    def renumber(row: Any) -> None:
        row.get("pieces", row)["model"]["vocab"]["##ed"] = number

    received = edited(copied(tmp_path / "run", tmp_path / "received"), "tokenizer.json", renumber)
    result = regard("predict", received, "good film")
    if of_run is None:  # ids may be left out
        assert result.code == 0, result.err
    else:
        assert of_run in result.error
    edited(tmp_path / "bert", "tokenizer.json", renumber)
    assert of_pretrained in regard(*words, "--out", tmp_path / "other").error


# The manifest


def test_a_flipped_bit_is_named(runs: dict[str, Path], tmp_path: Path, regard: Regard) -> None:
    for name in json.loads((runs["flat"] / "manifest.json").read_text())["files"]:
        folder = copied(runs["flat"], tmp_path / "run", manifest=True)
        content = bytearray((folder / name).read_bytes())
        content[-20] ^= 1
        (folder / name).write_bytes(content)
        assert f"damaged run ({name} has changed since it was saved" in regard("predict", folder, "good").error
        with pytest.raises(InputError, match=f"{name} has changed"):
            runtime.load(folder)
        if name == "weights.safetensors":
            assert regard("predict", folder, "good", "--no-verify").code == 0
            load(folder, verify=False)
            runtime.load(folder, verify=False)


def test_a_file_that_cannot_be_read_is_named_by_its_digest(
    runs: dict[str, Path], tmp_path: Path, regard: Regard
) -> None:
    for name in json.loads((runs["flat"] / "manifest.json").read_text())["files"]:
        folder = copied(runs["flat"], tmp_path / "run", manifest=True)
        (folder / name).write_bytes(b"{")
        assert f"{name} has changed since it was saved" in regard("predict", folder, "good").error
        with pytest.raises(InputError, match=f"{name} has changed"):
            runtime.load(folder)


def test_what_may_change(runs: dict[str, Path], tmp_path: Path, regard: Regard) -> None:
    folder = copied(runs["flat"], tmp_path / "run", manifest=True)
    (folder / "README.md").write_text("my own words")
    (folder / "kept_texts.jsonl").unlink()
    assert regard("predict", folder, "good").code == 0
    (folder / "dynamics.safetensors").write_bytes(b"")
    assert "dynamics.safetensors was added after it was saved" in regard("predict", folder, "good").error
    (folder / "dynamics.safetensors").unlink()
    (folder / "optimizer.safetensors").unlink()
    assert "optimizer.safetensors is missing" in regard("predict", folder, "good").error


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": "regard manifest 1", "files": {"../x": "0"}}', "[" * 2000]
)
def test_a_damaged_manifest(runs: dict[str, Path], tmp_path: Path, regard: Regard, content: str) -> None:
    folder = copied(runs["flat"], tmp_path / "run", manifest=True)
    (folder / "manifest.json").write_text(content)
    assert "manifest.json" in regard("predict", folder, "good").error
    assert regard("predict", folder, "good", "--no-verify").code == 0


def test_runs_of_earlier_versions_load(runs: dict[str, Path], tmp_path: Path, regard: Regard) -> None:
    folder = copied(runs["flat"], tmp_path / "run")
    assert regard("predict", folder, "good").out == regard("predict", runs["flat"], "good").out
    verify(folder)


# The last resort


def test_a_defect_is_one_sentence(monkeypatch: pytest.MonkeyPatch, regard: Regard, runs: dict[str, Path]) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("regard.commands.predict.load_model", broken)
    with pytest.raises(ZeroDivisionError):
        regard("predict", runs["flat"], "good")
    monkeypatch.delenv(cli.TRACEBACK)
    result = regard("predict", runs["flat"], "good")
    assert result.code == 1
    assert result.error.startswith("unexpected error (ZeroDivisionError: division by zero); this is a defect of regard")
    assert "REGARD_TRACEBACK=1" in result.error
