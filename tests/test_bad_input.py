"""Bad input: one sentence with its position, exit code 2, no traceback, and no partial files."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import TINY, Regard, write_csv
from regard.cli import main
from regard.training import fit_sparse

COMMAND = [sys.executable, "-W", "error", "-m", "regard.cli"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
GOOD = "text,label\ngood film,1\nbad film,0\n"


def refused(regard: Regard, message: str, *argv: object, left: Path | None = None) -> None:
    result = regard(*argv)
    assert result.code == 2
    assert message in result.error
    assert result.out == ""
    assert left is None or not left.exists(), "a failed start leaves nothing behind"


BAD_DATA: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the file is empty"),
    "only a head": (b"text,label\n", "expected rows of data, got only the header row"),
    "one row": (b"text,label\ngood film,1\n", "expected at least 2 usable rows, got 1"),
    "no label column": (b"text,id\ngood film,1\nbad film,2\n", "no column looks like labels"),
    "one class": (
        b"text,label\ngood film,1\nbad film,1\n",
        "every label is '1'; expected at least two different labels",
    ),
    "a missing label": (b"text,label\ngood film,1\nbad film,\n", "row 2, column 'label': the label is missing"),
    "a NaN label": (b"text,label\ngood film,1\nbad film,NaN\n", "row 2, column 'label': the label is missing"),
    "latin-1": (b"text,label\ngood film,1\ncaf\xe9,0\n", "line 3: byte 0xe9 at offset 26 is not UTF-8"),
    "an empty text": (
        b"text,label\n,1\nbad film,0\n",
        "row 1, column 'text': expected at least one word, got the text ''",
    ),
    "one long word": (
        b"text,label\ngood film,1\n" + b"a" * 2**20 + b",0\n",
        "row 2, column 'text': expected words of up to 10000 characters, got one of 1048576",
    ),
    "many labels": (
        b"text,label\n" + b"".join(b"good film,name %d\n" % n for n in range(30)),
        "30 different values in 30 rows",
    ),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_data_that_cannot_be_learned_from(regard: Regard, tmp_path: Path, name: str) -> None:
    content, message = BAD_DATA[name]
    path, out = tmp_path / "data.csv", tmp_path / "deep" / "run"
    path.write_bytes(content)
    refused(regard, message, "train", path, *TINY, "--out", out, left=out.parent)
    assert str(path) in regard("train", path, *TINY, "--out", out).error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "nope"], "no column 'nope' (--text); the columns are 'text', 'label'"),
        (["--label", "nope"], "no column 'nope' (--label)"),
        (["--task", "binary"], "expected two classes for task = binary, got 5 ('1', '2', '3', '4', '5', …)"),
        (["--hidden", "0"], "hidden: expected a number from 1 to 100000, got 0"),
        (["--hidden", "x"], "argument --hidden: invalid int value: 'x'"),
        (["--encoder", "rnn"], "expected one of embedding, affine, cnn, lstm, bilstm, gru, bigru, bert, got 'rnn'"),
        (["--pooling", "max,max,max"], "one name, or one for each of the 1 levels"),
        (
            ["--encoder", "bilstm", "--hidden", "7"],
            "hidden: expected an even number for the two directions of a bilstm, got 7",
        ),
        (["--pooling", "norm_unit", "--norm-init", "0.5"], "norm_init: expected a finite number above 1"),
        (["--vtw", "1"], "vtw needs pooling"),
        (["--device", "cuda:99"], "device = 'cuda:99': PyTorch sees"),
        (["--device", "tpu"], "device: expected cpu, cuda, cuda:N or auto, got 'tpu'"),
        (["--device", "cuda:²"], "expected cpu, cuda, cuda:N or auto, got 'cuda:²'"),
        (["--norm", "none"], "argument --norm: invalid choice: 'none'"),
        (["--zzz"], "unknown option --zzz (see `regard train --help`)"),
        (["--resume", "--overwrite"], "use only one of them"),
        (["--config", "none.toml"], "none.toml: no such file"),
        (["--vectors", "none.txt"], "none.txt: no such file"),
        (["--dev", "none.csv"], "none.csv: no such file"),
        (["--lr", "1e9", "--batch-size", "16"], "training diverged: the loss is"),
        (["--lr", "1000"], "training diverged: the loss is"),
        (["--lr", "1e30", "--optimizer", "sgd"], "training diverged: the loss is"),
        (["--lr", "1e9", "--engine", "torch", "--batch-size", "16"], "training diverged: the loss is"),
        (
            ["--engine", "sparse", "--encoder", "cnn"],
            "engine = 'sparse': it supports only encoder = 'embedding' or 'affine'",
        ),
        (
            ["--engine", "sparse", "--optimizer", "adam"],
            "engine = 'sparse': it supports only the optimizers adagrad and sgd",
        ),
        (["--engine", "fast"], "argument --engine: invalid choice: 'fast'"),
        (["--pairs", "--encoder", "lstm"], "pairs and beginnings need encoder = 'embedding' or 'affine'"),
        (["--pairs", "--optimizer", "adam"], "pairs needs the sparse engine"),
        (["--decay", "--levels", "2"], "decay needs the sparse engine"),
        (["--lr", "1e9", "--task", "regression", "--encoder", "cnn", "--pooling", "apln"], "training diverged"),
    ],
)
def test_options_that_cannot_be_used(
    regard: Regard, table: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    out = tmp_path / "run"
    refused(regard, message, "train", table, *TINY, *options, "--out", out, left=out)


@pytest.mark.parametrize("argv", [["nothing"], ["predict"], ["train", "--epochs"], ["explain", "x", "--limit", "y"]])
def test_invalid_commands(regard: Regard, argv: list[str]) -> None:
    result = regard(*argv)
    assert result.code == 2
    assert "--help`)" in result.error


def test_no_training_texts(regard: Regard) -> None:
    refused(regard, "no training texts: pass a file", "train")


@pytest.mark.parametrize("split", ["--dev", "--test"])
def test_a_label_unseen_in_training_is_reported_before_training(
    regard: Regard, table: Path, tmp_path: Path, split: str
) -> None:
    other, out = write_csv(tmp_path / "other.csv", [("fine", "1"), ("odd", "9")]), tmp_path / "run"
    message = (
        f"{other}, row 2, column 'label': the label '9' was not among the training labels ('1', '2', '3', '4', '5')"
    )
    refused(regard, message, "train", table, *TINY, split, other, "--out", out, left=out)


def test_a_label_unseen_in_training_cannot_be_evaluated(regard: Regard, run: Path, rated: Path, tmp_path: Path) -> None:
    other = write_csv(tmp_path / "other.csv", [("fine", "1"), ("odd", "much")])
    refused(regard, f"{other}, row 2, column 'label': the label 'much' was not among", "evaluate", run, other)
    refused(regard, f"{other}, row 2, column 'label': the label 'much' is not a number", "evaluate", rated, other)


def test_words_among_the_numbers_of_a_regression_are_named_by_row(regard: Regard, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("", "1"), ("fine", "1"), ("good", "2"), ("odd", "much")])
    options = ("--task", "regression", "--skip-bad-rows", "--out", tmp_path / "run")
    refused(regard, f"{path}, row 4: the label 'much' is not a number", "train", path, *TINY, *options)
    path.write_text(path.read_text().replace("much", '"3,500"'))
    refused(regard, "row 4: the comma of the label '3,500' may separate thousands or decimals", "train", path, *options)


@pytest.mark.parametrize("labels", [("1", "1"), ("1e308", "-1e308"), ("1e400", "0")])
def test_numbers_without_a_deviation_are_refused(regard: Regard, tmp_path: Path, labels: tuple[str, str]) -> None:
    path = write_csv(tmp_path / "a.csv", zip(("good", "bad"), labels, strict=True))
    result = regard("train", path, *TINY, "--task", "regression", "--out", tmp_path / "run")
    assert result.code == 2
    assert str(path) in result.error


def test_vectors_of_the_wrong_width_name_the_line(regard: Regard, table: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "vectors.txt", tmp_path / "run"
    path.write_text("the 1 2 3\nfilm 1 2\n")
    refused(
        regard,
        f"{path}, line 2: expected 3 numbers after the word, got 2",
        "train",
        table,
        *TINY,
        "--vectors",
        path,
        "--out",
        out,
        left=out,
    )


@pytest.mark.parametrize("engine", ["sparse", "torch"])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e39", "one"])
def test_vectors_with_invalid_numbers_name_the_line(
    regard: Regard, table: Path, tmp_path: Path, number: str, engine: str
) -> None:
    path, out = tmp_path / "vectors.txt", tmp_path / "run"
    path.write_text(f"a 1 2 3\nthe 1 {number} 3\n")
    options = (*TINY, "--engine", engine, "--vectors", path, "--out", out)
    refused(regard, f"{path}, line 2", "train", table, *options, left=out)


# Folders and files


def test_an_existing_run_is_left_unchanged(regard: Regard, table: Path, run: Path) -> None:
    before = (run / "weights.safetensors").read_bytes()
    refused(regard, f"{run} already exists; use another --out, --resume", "train", table, *TINY, "--out", run)
    assert (run / "weights.safetensors").read_bytes() == before


@pytest.mark.parametrize("option", ["--resume", "--overwrite"])
def test_a_foreign_folder_is_left_unchanged(regard: Regard, table: Path, tmp_path: Path, option: str) -> None:
    (tmp_path / "README.md").write_text("mine")
    refused(regard, f"{tmp_path} is not a run of regard", "train", table, *TINY, "--out", tmp_path, option)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize("option", [[], ["--resume"], ["--overwrite"]])
def test_a_file_cannot_be_a_folder(regard: Regard, table: Path, tmp_path: Path, option: list[str]) -> None:
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        refused(regard, f"{tmp_path / 'file'} is a file", "train", table, *TINY, "--out", out, *option)
    refused(regard, f"{tmp_path / 'file'} is a file", "demo", "--out", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_results_that_cannot_be_written(regard: Regard, run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for out in (tmp_path / "file" / "a.csv", tmp_path / "folder"):
        refused(regard, f"{out.parent if out.suffix else out}", "predict", run, "good film", "--out", out)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]
    refused(
        regard,
        "expected one of the formats terminal, jsonl, csv, fasttext, parquet, xlsx, got svg",
        "predict",
        run,
        "a b",
        "--out",
        "a.svg",
    )
    for command, name in (("predict", "a.xls"), ("predict", "a.tsv"), ("explain", "a.JSON")):
        out = tmp_path / name
        message = f"--out {out}: expected .jsonl, .csv,"
        refused(regard, message, command, run, "good film", "--out", out, left=out)
    assert regard("predict", run, "good film", "--out", tmp_path / "a.json", "--format", "jsonl").code == 0


# Trained models


def test_a_folder_that_is_not_a_run_is_rejected(regard: Regard, tmp_path: Path) -> None:
    refused(regard, "there is no such folder", "predict", tmp_path / "none", "good film")
    refused(regard, "not a finished run of regard: config.toml, tokenizer.json", "predict", tmp_path, "good film")


def swapped(name: str, **values: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        row = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**row, **values}))

    return change


def not_finite(folder: Path) -> None:
    import safetensors.torch

    weights = safetensors.torch.load_file(folder / "weights.safetensors")
    weights["head.weight"][0, 0] = float("nan")
    safetensors.torch.save_file(weights, folder / "weights.safetensors")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "half the weights": lambda folder: os.truncate(folder / "weights.safetensors", 500),
    "no weights": lambda folder: os.truncate(folder / "weights.safetensors", 0),
    "weights that are not finite": not_finite,
    "half a vocabulary": lambda folder: os.truncate(folder / "tokenizer.json", 300),
    "a list": lambda folder: (folder / "metrics.json").write_text("[]"),
    "bytes": lambda folder: (folder / "task.json").write_bytes(b"\xff\xfe\0"),
    "another config": lambda folder: (folder / "config.toml").write_text("[model]\nlevels = 2\nhidden = 8\n"),
    "an unknown key": lambda folder: (folder / "config.toml").write_text("[model]\nheads = 8\n"),
    "a missing file": lambda folder: (folder / "task.json").unlink(),
    "one word less": swapped("tokenizer.json", words=["a"]),
    "other levels": swapped("tokenizer.json", levels=1),
    "odd max_words": swapped("tokenizer.json", max_words="ten"),
    "another format": swapped("tokenizer.json", format="other"),
    "no classes": swapped("task.json", classes=[]),
    "two classes for five": swapped("task.json", kind="binary", classes=["1", "2"]),
    "another task": swapped("task.json", kind="ranking"),
}


def refused_when_damaged(regard: Regard, run: Path, folder: Path, damage: Callable[[Path], object]) -> None:
    """A copy of a run that works before it is damaged and is rejected after."""
    shutil.copytree(run, folder)
    assert regard("predict", folder, "good film").code == 0
    damage(folder)
    refused(regard, str(folder), "predict", folder, "good film")


@pytest.mark.parametrize("name", ["weights.safetensors", "config.toml"])
def test_a_run_that_may_not_be_read_is_not_called_damaged(
    regard: Regard, run: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    opened = Path.open

    def guarded(path: Path, *given: Any, **options: Any) -> Any:
        if path.name == name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *given, **options)

    monkeypatch.setattr(Path, "open", guarded)
    refused(regard, f"{run / name}: cannot be read (Permission denied)", "predict", run, "good film")


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_run_is_refused(regard: Regard, run: Path, tmp_path: Path, name: str) -> None:
    refused_when_damaged(regard, run, tmp_path / "run", DAMAGE[name])


def listed(name: str, key: str, change: Callable[[list[Any]], list[Any]]) -> Callable[[Path], object]:
    """Change a list in a JSON file."""
    return lambda folder: swapped(name, **{key: change(json.loads((folder / name).read_text())[key])})(folder)


FLAT_DAMAGE: dict[str, Callable[[Path], object]] = {
    "weights that are not finite": not_finite,
    "pairs of words that are not there": listed(
        "tokenizer.json", "pairs", lambda pairs: [[10**6] * len(pairs[0]), pairs[1]]
    ),
    "pairs of negative words": listed("tokenizer.json", "pairs", lambda pairs: [pairs[0], [-1] * len(pairs[1])]),
    "pairs of numbers beyond all": listed(
        "tokenizer.json", "pairs", lambda pairs: [[10**30] * len(pairs[0]), pairs[1]]
    ),
    "a pair more": listed("tokenizer.json", "pairs", lambda pairs: [[*side, 2] for side in pairs]),
    "pairs of one list": listed("tokenizer.json", "pairs", lambda pairs: pairs[:1]),
    "pairs of unequal lists": listed("tokenizer.json", "pairs", lambda pairs: [pairs[0][:-1], pairs[1]]),
    "no pairs": swapped("tokenizer.json", pairs=[[], []]),
    "a beginning less": listed("tokenizer.json", "beginnings", lambda names: names[1:]),
    "a beginning twice": listed("tokenizer.json", "beginnings", lambda names: [names[1], *names[1:]]),
    "beginnings that are numbers": listed("tokenizer.json", "beginnings", lambda names: list(range(len(names)))),
    "words that are numbers": listed("tokenizer.json", "words", lambda names: list(range(len(names)))),
    "letters in words": swapped("tokenizer.json", letters="five"),
    "letters below none": swapped("tokenizer.json", letters=-5),
    "half the weights": lambda folder: os.truncate(folder / "weights.safetensors", 5000),
    "two classes for a number": swapped("task.json", kind="multiclass", classes=["1", "2", "3"]),
}


@pytest.mark.parametrize("name", FLAT_DAMAGE)
def test_a_damaged_run_of_the_sparse_engine_is_refused(regard: Regard, rated: Path, tmp_path: Path, name: str) -> None:
    refused_when_damaged(regard, rated, tmp_path / "run", FLAT_DAMAGE[name])


def test_an_unfinished_run_is_not_used(regard: Regard, run: Path, tmp_path: Path) -> None:
    """Its files may be those of the run that is being overwritten."""
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    (folder / "checkpoint.safetensors").touch()
    refused(regard, f"{folder}: its training has not finished", "predict", folder, "good film")


def test_a_damaged_checkpoint_is_refused(regard: Regard, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    for content in (b"", b"\x08\0\0\0\0\0\0\0{}      ", os.urandom(100)):
        path.write_bytes(content)
        refused(regard, f"{path}: damaged checkpoint", "train", table, *TINY, "--out", tmp_path, "--resume")
        assert path.read_bytes() == content


# Texts


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["predict", "RUN", ""], "expected at least one word, got the text ''"),
        (["explain", "RUN", " "], "expected at least one word, got the text ' '"),
        (["predict", "RUN", "caf\udce9 au lait"], "bytes that are not UTF-8"),
        (["explain", "RUN", "caf\udce9"], "bytes that are not UTF-8"),
        (["explain", "RUN", "a" * 10_001], "expected words of up to 10000 characters, got one of 10001"),
        (["predict", "RUN", "none.csv"], "none.csv: no such file or folder"),
        (["explain", "RUN", "--file", "my reviews.csv"], "my reviews.csv: no such file or folder"),
        (["report", "RUN", "--data", "my reviews.csv"], "my reviews.csv: no such file or folder"),
        (["audit", "RUN", "--data", "my reviews.csv"], "my reviews.csv: no such file or folder"),
        (["predict", "RUN", "a text", "--keep", "id"], "--keep id: expected a file with columns, got a text"),
        (["explain", "RUN", "a text", "--file", "a.csv"], "expected a text or --file, got both"),
        (["explain", "RUN", "a text", "--limit", "0"], "--limit: expected 1 or more, got 0"),
        (["predict", "RUN", "a text", "--device", "cuda:99"], "device = 'cuda:99'"),
    ],
)
def test_texts_that_cannot_be_read(regard: Regard, run: Path, argv: list[str], message: str) -> None:
    refused(regard, message, *(run if word == "RUN" else word for word in argv))


def test_columns_that_are_not_there(regard: Regard, run: Path, table: Path) -> None:
    refused(regard, "no column 'body' (--text)", "predict", run, table, "--text", "body")
    refused(regard, "no column 'y' (--label)", "evaluate", run, table, "--label", "y")


def test_an_svg_needs_a_single_text(regard: Regard, run: Path, table: Path) -> None:
    refused(regard, "svg: expected one text, got 60; --limit 1", "explain", run, "--file", table, "--format", "svg")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input: the file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "standard input, line 1: byte 0x89"),
        (b"good\0film", "expected text, got a NUL byte at character 4"),
        (b'{"body": "good"}\n{"body": 3}', "standard input, row 2 (line 2), column 'body'"),
    ],
)
def test_invalid_standard_input(
    regard: Regard, run: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    refused(regard, message, "predict", run, "--strict")


def test_closed_streams_are_reported(regard: Regard, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    refused(regard, "standard input is closed", "predict", run)
    monkeypatch.setattr(sys, "stdout", None)
    refused(regard, "standard output is closed", "predict", run, "good film")
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["predict", "nothing"]) == 2


def test_corpora_by_name_need_their_folder(regard: Regard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "REGARD_DATA is not set" in regard("datasets").err
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    assert f"REGARD_DATA is '{tmp_path}'" in regard("datasets").err


def test_control_characters_of_a_file_do_not_reach_the_terminal(regard: Regard, run: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("fine", "1"), ("odd", "\x1b[31m9\x07")])
    assert "\x1b" not in regard("evaluate", run, path).err


# Out of memory, full disks, interrupts


def test_out_of_memory_is_a_sentence(regard: Regard, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.models.trained import Trained

    # what PyTorch says on a CPU
    error = RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory")
    for problem in (MemoryError(), error):
        monkeypatch.setattr(Trained, "answers", lambda *_, problem=problem: (_ for _ in ()).throw(problem))
        refused(regard, "out of memory", "predict", run, "good film")


@pytest.mark.parametrize("engine", ["torch", "sparse"])
@pytest.mark.parametrize("failing", ["write", "save"])
def test_a_full_disk_leaves_nothing_half_written(
    regard: Regard, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, engine: str
) -> None:
    """At the first checkpoint, and when the finished run is saved: the last file of all is the one that doesn't fit."""
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    out, real, calls, options = tmp_path / "deep" / "run", os.fsync, [0], (*TINY, "--engine", engine)

    def fsync(number: int) -> None:
        calls[0] += 1
        if calls[0] == {"write": 1, "save": 8}[failing]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    refused(regard, "could not be written (No space left on device)", "train", table, *options, "--out", out)
    assert calls[0] == {"write": 1, "save": 8}[failing]
    if failing == "write":
        assert list(tmp_path.iterdir()) == []
    else:
        assert [path.name for path in out.iterdir()] == ["checkpoint.safetensors"]
        assert regard("train", table, *options, "--out", out, "--resume").code == 0
        assert regard("predict", out, "good film").code == 0


def test_ctrl_c_while_saving_leaves_nothing_half_written(
    regard: Regard, run: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(number: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    result = regard("train", table, *TINY, "--out", tmp_path / "run")
    assert (result.code, result.error) == (130, "stopped; no epoch was saved to resume from")
    result = regard("predict", run, "good film", "--out", tmp_path / "a.jsonl")
    assert (result.code, result.error) == (130, "stopped")
    assert list(tmp_path.iterdir()) == []


def test_a_limit_on_file_size_is_a_sentence(table: Path, rated: Path, tmp_path: Path) -> None:
    """`rated` ensures that kernels are compiled and cached before file sizes are limited."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    command = [*COMMAND, "train", table, *TINY, "--out", tmp_path / "run"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 2
    assert "could not be written (File too large)" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("engine", ["torch", "sparse"])
def test_ctrl_c_is_one_sentence(table: Path, tmp_path: Path, engine: str) -> None:
    command = [*COMMAND, "train", table, *TINY, "--epochs", "1000000", "--patience", "0", "--out", tmp_path / "run"]
    command += ["--engine", engine]
    with subprocess.Popen(
        command,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stderr is not None
        seen = ""
        while "epoch  2/" not in seen:
            seen = process.stderr.readline()
            assert seen, "training ended"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    if engine == "torch":
        assert err.splitlines()[-1] == "regard: stopped; --resume continues after the last saved epoch"
        assert [path.name for path in (tmp_path / "run").iterdir()] == ["checkpoint.safetensors"]
    else:
        assert err.splitlines()[-1] == "regard: stopped; no epoch was saved to resume from"
        assert list(tmp_path.iterdir()) == [], "a few seconds are faster to repeat than to save"


@pytest.mark.parametrize("form", ["terminal", "jsonl"])
def test_a_closed_pipe_is_not_an_error(run: Path, tmp_path: Path, form: str) -> None:
    """`| head -1`: more is written than a pipe buffers, and nobody reads it."""
    path = write_csv(tmp_path / "many.csv", [("good film and more of it " * 20, "1")] * 400)
    command = [*COMMAND, "explain", run, "--file", path, "--format", form]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 0
    assert b"Traceback" not in err
    assert b"Broken" not in err


@pytest.fixture(scope="module")
def flat(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flat") / "run"
    assert main(["train", str(table), "--task", "multiclass", "--epochs", "1", "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("command", ["analyse", "audit"])
def test_a_closed_pipe_loses_no_files(flat: Path, table: Path, tmp_path: Path, command: str) -> None:
    """`| head -0`: nobody reads what is printed, and the files are complete."""
    limit = ("--limit", "4") if command == "audit" else ()
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [*COMMAND, command, flat, "--data", table, *limit, "--out", tmp_path / "out"]
    done = subprocess.run(arguments, env=ENVIRONMENT, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    name = {"analyse": "analysis", "audit": "audit"}[command]
    assert json.loads((tmp_path / "out" / f"{name}.json").read_text(encoding="utf-8"))
    assert (tmp_path / "out" / f"{name}.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_training_continues_when_the_progress_pipe_is_closed(table: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*COMMAND, "train", table, *TINY, "--out", tmp_path / "run"]
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=writing)
    os.close(writing)
    assert done.returncode == 0
    assert (tmp_path / "run" / "weights.safetensors").exists()
