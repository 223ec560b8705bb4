"""One model trained by several processes (torchrun, gloo on the CPU) beside one process, killed, and with wrong options."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from numpy.typing import NDArray

from regard.process_group import ALONE, ProcessGroup, buckets

torch = pytest.importorskip("torch")

COMMON = ("--task", "multiclass", "--embedding", "8", "--hidden", "8", "--dropout", "0", "--batch-size", "16")
PLAIN = ("--encoder", "bilstm", "--pooling", "apln", "--optimizer", "sgd", "--lr", "0.3", "--epochs", "2")
MODELS = {
    "flat": PLAIN,
    "levels": (
        "--encoder",
        "cnn,bilstm",
        "--pooling",
        "attention",
        "--levels",
        "2",
        "--optimizer",
        "sgd",
        "--epochs",
        "1",
    ),
}


def write_texts(path: Path, count: int) -> None:
    rng = random.Random(5)
    words = [f"word{number}" for number in range(40)]
    rows = []
    for number in range(count):
        label = number % 3
        chosen = [rng.choice(words) for _ in range(rng.randint(3, 12))] + [f"mark{label}"] * 2
        rng.shuffle(chosen)
        rows.append(
            json.dumps({"text": " ".join(chosen) + ". " + " ".join(chosen[:3]) + ".", "label": f"class {label}"})
        )
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def command(processes: int, *words: str) -> list[str]:
    if processes == 0:  # without torchrun
        return [sys.executable, "-m", "regard", *words]
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    return [sys.executable, *start, "-m", "regard", *words]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def train(folder: Path, processes: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(processes, "train", str(folder / "texts.jsonl"), *COMMON, *words),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def weights(folder: Path) -> dict[str, NDArray[Any]]:
    return safetensors.numpy.load_file(folder / "weights.safetensors")


def metrics(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("model", "processes"),
    [("flat", 2), ("flat", 3), pytest.param("levels", 3, marks=pytest.mark.slow)],
)
def test_several_processes_train_the_weights_of_one(tmp_path: Path, model: str, processes: int) -> None:
    write_texts(tmp_path / "texts.jsonl", 73)  # the last batch is uneven: 66 training texts, 7 held out
    texts = str(tmp_path / "texts.jsonl")
    for number in (0, processes):
        result = train(tmp_path, number, *MODELS[model], "--test", texts, "--out", f"run{number}")
        assert result.returncode == 0, result.stderr
    assert result.stdout.count("saved in") == 1
    alone, group = weights(tmp_path / "run0"), weights(tmp_path / f"run{processes}")
    assert alone.keys() == group.keys()
    for name, value in alone.items():
        np.testing.assert_allclose(group[name], value, atol=1e-6, err_msg=name)
    one, several = metrics(tmp_path / "run0"), metrics(tmp_path / f"run{processes}")
    for before, after in zip(one["history"], several["history"], strict=True):
        assert after["loss"] == pytest.approx(before["loss"], abs=1e-5)
        assert after["scores"]["words"]["mean"] == pytest.approx(before["scores"]["words"]["mean"], abs=1e-5)
    assert several["test"]["accuracy"] == one["test"]["accuracy"]
    assert several["test"]["log_loss"] == pytest.approx(one["test"]["log_loss"], abs=1e-5)


@pytest.mark.slow
def test_a_group_of_one_process_is_a_process(tmp_path: Path) -> None:
    """It sends its gradients to itself: what NCCL can be tried with on one GPU."""
    write_texts(tmp_path / "texts.jsonl", 60)
    for number in (0, 1):
        result = train(tmp_path, number, *PLAIN, "--dropout", "0.2", "--out", f"run{number}")
        assert result.returncode == 0, result.stderr
    for name, value in weights(tmp_path / "run0").items():
        np.testing.assert_array_equal(weights(tmp_path / "run1")[name], value, err_msg=name)


@pytest.mark.slow
def test_bf16_in_a_group_is_that_of_one_process(tmp_path: Path) -> None:
    write_texts(tmp_path / "texts.jsonl", 60)
    losses = {}
    for name, number, words in (("float32", 0, ()), ("one", 0, ("--bf16",)), ("group", 2, ("--bf16",))):
        result = train(tmp_path, number, *PLAIN, *words, "--out", name)
        assert result.returncode == 0, result.stderr
        losses[name] = [epoch["loss"] for epoch in metrics(tmp_path / name)["history"]]
    assert losses["one"] != losses["float32"]
    assert losses["group"] == pytest.approx(losses["one"], rel=2e-2)


FROM_DISK = """from regard.cli import main
from regard.data import spilling_array

spilling_array.IN_MEMORY = 0
raise SystemExit(main())
"""


@pytest.mark.slow
def test_a_group_reads_a_large_file_from_disk(tmp_path: Path) -> None:
    write_texts(tmp_path / "texts.jsonl", 60)
    (tmp_path / "from_disk.py").write_text(FROM_DISK, encoding="utf-8")
    texts, words = str(tmp_path / "texts.jsonl"), [*COMMON, *PLAIN, "--dropout", "0.2"]
    memory = train(tmp_path, 2, *words[len(COMMON) :], "--test", texts, "--out", "memory")
    assert memory.returncode == 0, memory.stderr
    group = command(2)[:-2]  # without `-m regard`
    script = [*group, str(tmp_path / "from_disk.py"), "train", texts, *words, "--test", texts, "--out", "disk"]
    disk = subprocess.run(
        script, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert disk.returncode == 0, disk.stderr
    for name, value in weights(tmp_path / "memory").items():
        np.testing.assert_array_equal(weights(tmp_path / "disk")[name], value, err_msg=name)
    assert metrics(tmp_path / "disk")["test"] == metrics(tmp_path / "memory")["test"]


RESUMED = {
    "bilstm": ("--encoder", "bilstm", "--dropout", "0.2", "--epochs", "40", "--patience", "0", "--no-calibrate"),
    "bottleneck": (
        *("--encoder", "bilstm", "--pooling", "bottleneck", "--dropout", "0.2", "--rounds", "3", "--phase-epochs", "4"),
        *("--epochs", "12", "--patience", "0", "--no-calibrate"),
    ),
}


def kill_one(process: subprocess.Popen[str], folder: Path, after: float) -> None:
    """Kill a process of the group some time after its first checkpoint."""
    deadline = time.monotonic() + 120
    while not (folder / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(after)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    if children:
        os.kill(int(random.Random(after).choice(children)), signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("model", "moment"),
    [
        ("bilstm", 0),
        *(pytest.param("bilstm", one, marks=pytest.mark.slow) for one in range(1, 6)),
        *(pytest.param("bottleneck", one, marks=pytest.mark.slow) for one in range(0, 20, 4)),
    ],
)
def test_a_group_that_lost_a_process_stops_and_resumes_to_the_same_weights(
    tmp_path: Path, model: str, moment: int
) -> None:
    write_texts(tmp_path / "texts.jsonl", 60)
    options = RESUMED[model]
    whole = train(tmp_path, 2, *options, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    words = command(2, "train", str(tmp_path / "texts.jsonl"), *COMMON, *options, "--out", "run")
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        kill_one(process, tmp_path / "run", 0.11 * moment)
        error = process.communicate(timeout=120)[1]
    if process.returncode:  # it may have finished just before
        assert error.count("another process of the group stopped; the same command with --resume continues") == 1
    resumed = train(tmp_path, 2, *options, "--out", "run", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    for name, value in weights(tmp_path / "whole").items():
        np.testing.assert_array_equal(weights(tmp_path / "run")[name], value, err_msg=name)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("processes", "code"),
    [(0, 2), pytest.param(3, 1, marks=pytest.mark.slow)],  # torchrun's own code is 1
)
def test_a_group_of_another_size_does_not_resume(tmp_path: Path, processes: int, code: int) -> None:
    write_texts(tmp_path / "texts.jsonl", 60)
    options = RESUMED["bilstm"]
    words = command(2, "train", str(tmp_path / "texts.jsonl"), *COMMON, *options, "--out", "run")
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as process:
        kill_one(process, tmp_path / "run", 0)
        assert process.wait(timeout=120)
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    before = checkpoint.read_bytes()
    resumed = train(tmp_path, processes, *options, "--out", "run", "--resume")
    assert resumed.returncode == code
    sentences = [line for line in resumed.stderr.splitlines() if line.startswith("regard: ")]
    assert sentences == [
        "regard: run: this run was started with other options or texts, or another number of processes; use the same ones to "
        "resume it, or another --out"
    ]
    assert checkpoint.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="needs a group of processes that is interrupted together")
def test_an_interrupted_group_says_so_once(tmp_path: Path) -> None:
    write_texts(tmp_path / "texts.jsonl", 60)
    words = command(2, "train", str(tmp_path / "texts.jsonl"), *COMMON, *RESUMED["bilstm"], "--out", "run")
    with subprocess.Popen(
        [*words, "--epochs", "100000"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 120
        while not (tmp_path / "run" / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        error = process.communicate(timeout=120)[1]
    assert error.count("regard: ") == 1
    assert "regard: stopped; --resume continues after the last saved epoch" in error


@pytest.mark.slow
def test_two_machines_train_the_weights_of_two_processes(tmp_path: Path) -> None:
    """Both are this one: what differs from one machine is the rendezvous, and that both processes are the first of theirs."""
    write_texts(tmp_path / "texts.jsonl", 73)
    options = (*PLAIN, "--dropout", "0.2")
    together = train(tmp_path, 2, *options, "--out", "together")
    assert together.returncode == 0, together.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{free.getsockname()[1]}"
    start = ["-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", "--local-addr", "127.0.0.1"]
    rendezvous = ["--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint, "--rdzv-id", "test"]
    words = ["-m", "regard", "train", str(tmp_path / "texts.jsonl"), *COMMON, *options, "--out", "apart"]
    machines = [
        subprocess.Popen(
            [sys.executable, *start, *rendezvous, *words],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [machine.communicate(timeout=300) for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], answers
    assert sum(out.count("saved in") for out, _ in answers) == 1
    for name, value in weights(tmp_path / "together").items():
        np.testing.assert_array_equal(weights(tmp_path / "apart")[name], value, err_msg=name)


def test_an_error_is_said_once(tmp_path: Path) -> None:
    write_texts(tmp_path / "texts.jsonl", 30)
    result = train(tmp_path, 2, "--out", "run")
    assert result.returncode == 1  # torchrun's own
    assert result.stderr.count("regard: torchrun: expected a PyTorch model, got the fast engine") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--replay", "old.csv"), "--replay: expected --from RUN with it"),
        pytest.param(("--config", "none.toml"), "none.toml: no such file", marks=pytest.mark.slow),
    ],
)
def test_an_error_in_the_options_is_said_once(tmp_path: Path, options: tuple[str, ...], sentence: str) -> None:
    write_texts(tmp_path / "texts.jsonl", 30)
    result = train(tmp_path, 2, *PLAIN, *options, "--out", "run")
    assert result.returncode == 1
    assert result.stderr.count("regard: ") == 1
    assert f"regard: {sentence}" in result.stderr
    assert not (tmp_path / "run").exists()


def test_a_process_alone_does_everything_itself() -> None:
    rows = np.arange(5)
    assert ALONE.share_of(rows).tolist() == rows.tolist()
    assert ALONE.weight_of(5, 5) == 1
    assert ALONE.gathered({"a": 1}) == [{"a": 1}]
    assert ALONE.from_first(lambda: 3) == 3


@pytest.mark.parametrize("size", [2, 3, 7])
def test_shares_of_a_batch_cover_it_and_weigh_one_in_all(size: int) -> None:
    for count in range(1, 12):
        shares = [ProcessGroup(rank, size).share_of(np.arange(count)) for rank in range(size)]
        weighed = [ProcessGroup(rank, size).weight_of(len(share), count) for rank, share in enumerate(shares)]
        assert sum(weighed) == pytest.approx(1)
        if count >= size:
            assert sorted(np.concatenate(shares).tolist()) == list(range(count))
        else:  # fewer texts than processes: all read all
            assert all(share.tolist() == list(range(count)) for share in shares)


def test_gradients_are_sent_in_buckets_of_one_type() -> None:
    gradients = [torch.zeros(3_000_000), torch.zeros(3_000_000), torch.zeros(5), torch.zeros(2, dtype=torch.float64)]
    assert [[len(one) for one in bucket] for bucket in buckets(gradients)] == [[3_000_000], [3_000_000, 5], [2]]
