"""Damages run folders, checkpoints and folders of pretrained models in thousands of ways, and runs commands on them.

    python tools/fuzz_folders.py [--targets flat,rated,torch,bert,checkpoints,pretrained] [--most N] [--seed N] [--out FILE]

The mutations are those of tests/mutations.py. To count with another version of regard, put its src folder into PYTHONPATH:
the same mutations are made. Every case runs in a process of its own, forked from one that has imported everything. Counted are

- tracebacks, and ends by a signal
- hangs: more than CPU seconds of work, or more than IDLE seconds of waiting
- memory: more than MEMORY bytes beyond what the process had at its start
- NaN among predictions, and warnings
- files outside the folder that were read or changed: a file with a secret, and targets of links
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["REGARD_TRACEBACK"] = "1"  # the last resort would hide a traceback

# ruff: noqa: E402 (from the folder of tests, and after the variables are set)
import regard
from command import TINY, write_csv
from killed import Kill, Killed
from mutations import (
    Mutation,
    bytes_mutations,
    checkpoint_mutations,
    file_mutations,
    json_mutations,
    manifest_mutations,
    run_mutations,
    tensor_mutations,
)
from regard.cli import main
from regard.config import Config
from regard.data.reviews import reviews
from regard.runs import train_run
from regard.training import fit_sparse
from tiny_bert import save_bert

CPU, IDLE = 60, 20  # seconds of work, and of waiting for something, after which a case hangs
MEMORY = 1 << 30
SECRET = "zebrafish"
TEXT = "good film, but the food was bad"
OPTIONS = {"hidden": 8, "embedding": 8, "query": 8, "epochs": 4, "batch_size": 16, "device": "cpu"}

Commands = Callable[[Path, Path], None]


def prepare(folder: Path) -> Path:
    """Small runs of every kind, and data."""
    table = write_csv(folder / "stars.csv", [(one.text, one.label) for one in reviews(60)])
    kinds = {
        "flat": ("--keep-texts", "5"),
        "rated": ("--task", "regression"),
        "torch": ("--levels", "2", "--pooling", "apln", "--encoder", "bilstm"),
        "recorded": ("--encoder", "cnn", "--record", "epoch"),
    }
    save_bert(folder / "pretrained")
    os.environ["REGARD_DATA"] = str(folder)  # no corpora of the user
    kinds["bert"] = ("--encoder", "bert", "--pretrained", str(folder / "pretrained"), "--engine", "torch")
    for name, options in kinds.items():
        tiny = TINY if name != "bert" else ("--epochs", "1", "--device", "cpu")
        assert main(["train", str(table), *tiny, *options, "--out", str(folder / name)]) == 0
        if name == "flat":
            shutil.copytree(folder / name, folder / "manifest")
        (folder / name / "manifest.json").unlink(missing_ok=True)  # which would notice every mutation
    fit_sparse.SAVED_EVERY = 0
    for engine in ("sparse", "torch"):
        config = Config().override({**OPTIONS, "train": str(table), "engine": engine})
        try:
            train_run(config, folder / f"checkpoint_{engine}", False, False, Kill(begin=3))
        except Killed:
            continue
    return table


def on_run(folder: Path, out: Path) -> None:
    """Commands after the first are left out if the run cannot be loaded: none of them could."""
    texts = write_csv(out / "texts.csv", [(TEXT, "1"), ("", "2"), ("the story", "5"), ("lovely", "3")])
    for words in (
        ("predict", folder, texts),
        ("explain", folder, TEXT),
        ("report", folder, "--data", texts),
        ("analyse", folder, "--data", texts),
        ("report", folder),
        ("train", texts, "--from", folder, "--out", out / "new", "--epochs", "1"),
    ):
        if main([str(word) for word in words]) and words[0] == "predict":
            break


def on_checkpoint(table: Path, engine: str) -> Commands:
    def commands(folder: Path, out: Path) -> None:
        words = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
        main(["train", str(table), *words, "--engine", engine, "--out", str(folder), "--resume"])

    return commands


def on_pretrained(table: Path) -> Commands:
    def commands(folder: Path, out: Path) -> None:
        words = ["--encoder", "bert", "--pretrained", str(folder), "--epochs", "1", "--device", "cpu"]
        main(["train", str(table), *words, "--out", str(out / "run")])

    return commands


def pretrained_mutations(folder: Path, most: int, seed: int) -> Iterator[Mutation]:
    for path in sorted(folder.iterdir()):
        yield from file_mutations(path.name)
        yield from bytes_mutations(path.name, path.read_bytes(), most // 10, seed)
        if path.suffix == ".json":
            yield from json_mutations(path.name, path.read_bytes(), most, seed)
        elif path.suffix == ".safetensors":
            yield from tensor_mutations(path.name, path, most // 2, seed)


def run_case(mutation: Mutation, base: Path, commands: Commands, place: Path) -> set[str]:
    """What went wrong, in a fresh copy of the base folder."""
    shutil.rmtree(place, ignore_errors=True)
    folder, out, outside = place / "run", place / "out", place / "outside"
    shutil.copytree(base, folder)
    for one in (out, outside):
        one.mkdir()
    write_csv(place / "secret.csv", [(f"{SECRET} good film", "1"), (f"{SECRET} bad", "2")])
    (place / "target").write_text("untouched", encoding="utf-8")
    mutation.apply(folder)
    log = out / "log"
    child = os.fork()
    if not child:
        in_child(commands, folder, out, log, place)
    used, status, ended = wait(child)
    problems = set()
    if not ended:
        problems.add("hang")
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if "Traceback (most recent call last)" in text or (ended and os.WIFSIGNALED(status)):
        problems.add("traceback")
    if "Warning" in text:
        problems.add("warning")
    if "NaN" in text:
        problems.add("NaN")
    if "@@read outside" in text:
        problems.add("read outside")
    if used > MEMORY:
        problems.add("memory")
    if (place / "target").read_text(encoding="utf-8") != "untouched" or any(outside.iterdir()):
        problems.add("written outside")
    pages = [
        path for path in (*folder.rglob("*.html"), *out.rglob("*.html")) if path.is_file() and not path.is_symlink()
    ]
    if SECRET in text or any(SECRET in page.read_text(encoding="utf-8", errors="replace") for page in pages):
        problems.add("secret shown")
    if problems:
        (place.parent / "failures.txt").open("a", encoding="utf-8").write(
            f"=== {mutation.name}: {sorted(problems)}\n{text[-3000:]}\n"
        )
    return problems


def wait(child: int) -> tuple[int, int, bool]:
    """The memory that a process used beyond its start, its status, and whether it ended without hanging."""
    first = last = resident(child)
    cpu, since = 0.0, time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return last - first, status, True
        state, used = activity(child)
        if used != cpu or state == "R":  # on a busy machine a process may wait long for its turn
            cpu, since = used, time.monotonic()
        last = max(last, resident(child))
        large = last - first > 4 * MEMORY
        if large or cpu > CPU or time.monotonic() - since > IDLE:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return last - first, 0, large
        time.sleep(0.005)


def activity(process: int) -> tuple[str, float]:
    """Its state, R if it wants to run, and the CPU time that it has used, in seconds."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return "R", 0.0
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def in_child(commands: Commands, folder: Path, out: Path, log: Path, place: Path) -> None:
    code = 0
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        null = os.open(os.devnull, os.O_RDONLY)
        for number, source in ((0, null), (1, descriptor), (2, descriptor)):
            os.dup2(source, number)
        os.chdir(place)

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            if event == "open" and str(arguments[0]).endswith("secret.csv"):
                os.write(descriptor, b"@@read outside\n")

        sys.addaudithook(watch)
        commands(folder, out)
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def targets(folder: Path, table: Path, most: int, seed: int) -> dict[str, tuple[Path, list[Mutation], Commands]]:
    cases: dict[str, tuple[Path, list[Mutation], Commands]] = {}
    for name in ("flat", "rated", "torch", "recorded", "bert"):
        base = folder / name
        cases[name] = base, list(run_mutations(base, most, seed)), on_run
    for engine in ("sparse", "torch"):
        base = folder / f"checkpoint_{engine}"
        cases[f"checkpoint_{engine}"] = base, list(checkpoint_mutations(base, most, seed)), on_checkpoint(table, engine)
    base = folder / "manifest"
    if (base / "manifest.json").exists():  # earlier versions have none
        cases["manifest"] = base, list(manifest_mutations(base, most, seed)), on_run
    base = folder / "pretrained"
    cases["pretrained"] = base, list(pretrained_mutations(base, most, seed)), on_pretrained(table)
    return cases


def fuzz(arguments: argparse.Namespace, place: Path) -> dict[str, dict[str, int]]:
    table = prepare(place)
    counts: dict[str, dict[str, int]] = {}
    for name, (base, mutations, commands) in targets(place, table, arguments.most, arguments.seed).items():
        if arguments.targets and name not in arguments.targets.split(","):
            continue
        chosen = mutations
        if arguments.sample and len(mutations) > arguments.sample:
            rows = np.random.default_rng(arguments.seed).choice(len(mutations), arguments.sample, replace=False)
            chosen = [mutations[row] for row in sorted(rows)]
        problems: Counter[str] = Counter()
        started = time.monotonic()
        for number, mutation in enumerate(chosen, 1):
            for problem in run_case(mutation, base, commands, place / "case"):
                problems[problem] += 1
            if number % 100 == 0:
                print(f"{name} {number}/{len(chosen)} {dict(problems)} {time.monotonic() - started:.0f} s", flush=True)
        counts[name] = {"mutations": len(chosen), **dict(problems)}
        print(name, json.dumps(counts[name]), flush=True)
    return counts


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--targets",
        help="flat, rated, torch, recorded, bert, checkpoint_sparse, checkpoint_torch, manifest, pretrained",
    )
    parser.add_argument("--most", type=int, default=300, help="mutations of one kind per file")
    parser.add_argument("--sample", type=int, help="mutations per target at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the counts as JSON")
    parser.add_argument("--failures", type=Path, help="write what failed, and how")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        counts = fuzz(arguments, Path(folder))
        failures = Path(folder) / "failures.txt"
        if arguments.failures and failures.exists():
            shutil.copy(failures, arguments.failures)
    facts = {
        "command": " ".join(["python", "tools/fuzz_folders.py", *sys.argv[1:]]),
        "regard": regard.__version__,
        "python": platform.python_version(),
        "counts": counts,
    }
    if arguments.out:
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(counts, indent=1))


if __name__ == "__main__":
    run()
