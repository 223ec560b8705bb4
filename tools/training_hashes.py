"""Compare what two versions of the code learn: weights, metrics, notes and checkpoints of small runs, as hashes.

    PYTHONPATH=OLD/src python tools/training_hashes.py FOLDER before
    PYTHONPATH=NEW/src python tools/training_hashes.py FOLDER after

Each call trains every case on the CPU in three ways: uninterrupted, killed during an epoch and resumed, and resumed from the
checkpoints that every earlier call left in FOLDER. The hashes go to FOLDER/NAME.json. The call fails if a resumed run
differs from an uninterrupted one, or if a hash differs from that of an earlier call. Times are left out of the comparison.

Hashes are comparable on one machine and with one set of libraries only, so none are kept in the repository.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import safe_open

from regard.config import Config
from regard.data.reviews import reviews
from regard.models.trained import Trained
from regard.records import Example
from regard.runs import train_run
from regard.training.fit import Parts

try:
    from regard.recorder import Silent
except ModuleNotFoundError:  # until 3f75458
    from regard.recording import Silent  # type: ignore[import-not-found, no-redef]

sys.path.append(str(Path(__file__).parent.parent / "tests"))

TINY = {"hidden": 16, "embedding": 16}
CASES: dict[str, dict[str, Any]] = {
    "fast": {"epochs": 4},
    "fast, step by step": {"epochs": 2, "dev_fraction": 0.0, "record": "step", "task": "multiclass", "attention": "dot"},
    "fast, patience": {"epochs": 12, "patience": 2, "decay": False, "lr": 0.3},
    "fast, affine": {"epochs": 2, "encoder": "affine", "attention": "additive", "optimizer": "sgd"},
    "fast, penalty": {"epochs": 2, "vtw": 0.5, "attention": "dot"},
    "fast, regression": {"epochs": 2, "task": "regression"},
    "fast, one thread": {"epochs": 3, "batch_size": 200, "threads": 1},
    "fast, two threads": {"epochs": 3, "batch_size": 200, "threads": 2},
    "fast, chosen scale": {"epochs": 2, "scale": "auto", "task": "multiclass", "attention": "dot"},
    "torch, flat": {"engine": "torch", "epochs": 2, "record": "step", "task": "multiclass", "attention": "dot", **TINY},
    "torch, patience": {"encoder": "cnn", "pooling": "max", "epochs": 8, "patience": 1, "lr": 0.02, **TINY},
    "torch, regression": {"encoder": "bilstm", "task": "regression", "epochs": 2, **TINY},
    "apln": {"encoder": "bilstm", "pooling": "apln", "epochs": 2, **TINY},
    "han-apln": {"levels": 2, "encoder": "bilstm", "pooling": "apln", "epochs": 2, "norm_lr": 5.0, **TINY},
    "bottleneck": {"encoder": "lstm", "pooling": "bottleneck", "rounds": 2, "phase_epochs": 2, "epochs": 2, **TINY},
    "bottleneck, two levels": {
        "encoder": "lstm", "levels": 2, "pooling": "attention,bottleneck", "rounds": 2, "epochs": 2, "hidden": 8,
        "embedding": 8, "dev_fraction": 0.0, "optimizer": "adagrad",
    },
    "bert": {"encoder": "bert", "epochs": 2, "batch_size": 64},
}  # fmt: skip
KILLED_IN = {"bottleneck": (2, 4, 6), "bottleneck, two levels": (2, 3, 5)}  # epochs; for other cases the second
STACKED: dict[str, dict[str, Any]] = {
    "stacked": {"encoder": "cnn", "epochs": 3, "dropout": 0.3, **TINY},
    "stacked, patience": {"encoder": "bilstm", "pooling": "apln", "epochs": 9, "patience": 1, "lr": 0.03, **TINY},
    "stacked, han": {"levels": 2, "encoder": "embedding", "pooling": "attention", "epochs": 2, "lr": 0.03, **TINY},
    "stacked, bottleneck": {
        "encoder": "cnn", "pooling": "bottleneck", "rounds": 2, "epochs": 6, "patience": 1, "lr": 0.02, **TINY
    },
    "stacked, diverging": {"encoder": "cnn", "epochs": 2, "optimizer": "sgd", "lr": 1e30, "clip": 0.0, **TINY},
}  # fmt: skip
TOWERS = {
    "levels": 3, "encoder": "affine,embedding,embedding", "embedding": 12, "hidden": 12, "query": 12, "lr": 0.01,
    "epochs": 6, "patience": 2, "batch_size": 32, "device": "cpu",
}  # fmt: skip


class Killed(BaseException): ...


class Log(Silent):
    """Records everything that is reported, and can kill the run at the first step of an epoch."""

    def __init__(self, fatal: int = 0) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.fatal, self.epochs = fatal, 0

    def note(self, sentence: str) -> None:
        self.events.append(("note", sentence))

    def enter(self, phase: str) -> None:
        self.events.append(("enter", phase))

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.epochs += 1
        self.events.append(("begin", epoch, epochs, steps))

    def step(self, loss: float | None) -> None:
        self.events.append(("step", loss))
        if self.epochs == self.fatal:
            raise Killed

    def end(self, record: Mapping[str, Any]) -> None:
        self.events.append(("end", without_times(record)))


def without_times(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: without_times(each) for key, each in value.items() if key != "seconds"}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def digest(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()  # keys in their order
    return hashlib.sha256(data).hexdigest()[:16]


def of_arrays(arrays: Mapping[str, Any]) -> str:
    return digest(safetensors.numpy.save({name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}))


def of_run(folder: Path, log: Log, root: Path) -> dict[str, str]:
    """Hashes of a run's files, without paths and times."""
    results = {
        name: digest((folder / name).read_bytes())
        for name in ("weights.safetensors", "tokenizer.json", "task.json", "config.toml", "dynamics.safetensors")
        if (folder / name).exists()
    }
    results["metrics.json"] = digest(without_times(json.loads((folder / "metrics.json").read_text(encoding="utf-8"))))
    results["events"] = digest(json.dumps(log.events).replace(str(folder), "RUN").replace(str(root), "").encode())
    return results


def of_checkpoint(path: Path) -> str:
    with safe_open(path, "np") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = dict(file.metadata())
    facts["history"] = json.dumps(without_times(json.loads(facts["history"])))
    return f"{of_arrays(arrays)} {digest(sorted(facts.items()))}"


def make_data(folder: Path) -> Path:
    from tiny_bert import save_bert

    path = folder / "data" / "reviews.csv"
    if not path.exists():
        save_bert(folder / "data" / "bert")
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["text", "label"])
            table.writerows([example.text, example.label] for example in reviews(400, seed=1))
    return path


def save_always() -> None:
    """Write a checkpoint after every epoch, even a short one."""
    module = import_module("regard.training.fit_sparse")
    if not hasattr(module, "SAVED_EVERY"):
        module = import_module("regard.training.sparse")  # until 3f75458
    module.SAVED_EVERY = 0.0  # type: ignore[attr-defined]


def run_case(name: str, folder: Path, version: str) -> dict[str, Any]:
    options = {"test": str(make_data(folder)), "train": str(make_data(folder)), "device": "cpu", **CASES[name]}
    if options.get("encoder") == "bert":
        options["pretrained"] = str(folder / "data" / "bert")
    os.environ["OMP_NUM_THREADS"] = str(options.pop("threads", 2))
    config, uninterrupted = Config().override(options), folder / version / name
    log = Log()
    train_run(config, uninterrupted, False, False, log)
    results: dict[str, Any] = of_run(uninterrupted, log, folder)
    for epoch in KILLED_IN.get(name, (2,)):
        killed = folder / version / f"{name}, killed in {epoch}"
        try:
            train_run(config, killed, False, False, Log(epoch))
        except Killed:
            results[f"checkpoint {epoch}"] = of_checkpoint(killed / "checkpoint.safetensors")
        for earlier in [version, *sorted(path.stem for path in folder.glob("*.json") if path.stem != version)]:
            resumed = folder / version / f"{name}, resumed {epoch} {earlier}"
            shutil.copytree(folder / earlier / f"{name}, killed in {epoch}", resumed)
            log = Log()
            train_run(config, resumed, True, False, log)
            results[f"resumed {epoch} {'itself' if earlier == version else 'other'}"] = of_run(resumed, log, folder)
    return results


def run_stacked(name: str) -> dict[str, Any]:
    fit_stacked = from_either("fit_stacked", "training").fit_stacked
    examples = [Example(each.text, each.label, each.row) for each in reviews(300, seed=2)]
    log = Log()
    config = Config().override({"device": "cpu", "engine": "torch", "task": "multiclass", **STACKED[name]})
    models = fit_stacked(config, Parts(examples[:200], None, examples[200:]), (3, 8, 1), log)
    results: dict[str, Any] = {"events": digest(log.events)}
    for seed, model in zip((3, 8, 1), models, strict=True):
        if isinstance(model, Trained):
            results |= {
                f"weights {seed}": of_arrays(model.weights),
                f"metrics {seed}": digest(without_times(model.metrics)),
            }
        else:
            results[f"error {seed}"] = digest(str(model))
    return results


def run_towers() -> dict[str, Any]:
    synthetic = from_either("towers.synthetic_ratings", "data")
    options = {"users": 60, "items": 40, "each": 8, "sentences": 2, "length": 4, "evidence": 3, "silent": 0.1}
    arguments = {"options": synthetic.WorldOptions(**options)} if hasattr(synthetic, "WorldOptions") else options
    ratings = synthetic.world(**arguments).ratings
    log = Log()
    trained = from_either("towers.fit_pairs", "training").fit_pairs(
        Config().override(TOWERS), ratings[:340], ratings[340:400], log, 6
    )
    weights = {key: value.numpy() for key, value in trained.model.state_dict().items()}
    return {
        "weights": of_arrays(weights),
        "metrics": digest(without_times(trained.metrics)),
        "answers": digest(trained.answers(ratings[400:]).tobytes()),
        "events": digest(log.events),
    }


def from_either(name: str, package: str) -> Any:
    """A module of regard_lab, which was part of another package of regard until 3f75458."""
    try:  # the old location first: an installed regard_lab would be found next to any version of regard
        return import_module(f"regard.{package}.{name.rpartition('.')[2]}")
    except ModuleNotFoundError:
        return import_module(f"regard_lab.{name}")


def compare(results: Mapping[str, Any], folder: Path, version: str) -> int:
    """Print the differences and return their number."""
    differences = []
    for name, hashes in results.items():
        for what, value in hashes.items():
            if what.startswith("resumed"):
                differences += [
                    f"{name}: {what}: {file} differs from the uninterrupted run"
                    for file in ("weights.safetensors", "metrics.json", "config.toml")
                    if value[file] != hashes[file]
                ]
    for path in sorted(folder.glob("*.json")):
        if path.stem == version:
            continue
        for name, hashes in json.loads(path.read_text(encoding="utf-8")).items():
            for what, value in hashes.items() if name in results else ():
                if results[name].get(what) != value:
                    differences.append(f"{name}: {what}: {results[name].get(what)} here, {value} in {path.stem}")
    print("\n".join(differences) or "all the same")
    return len(differences)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("version", help="name of this version of the code")
    parser.add_argument("--only", help="only the cases whose name contains this", default="")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    shutil.rmtree(folder / arguments.version, ignore_errors=True)
    (folder / arguments.version).mkdir(parents=True)
    save_always()
    results: dict[str, Any] = {}
    runs = {name: lambda name=name: run_case(name, folder, arguments.version) for name in CASES}
    runs |= {name: lambda name=name: run_stacked(name) for name in STACKED} | {"two towers": run_towers}
    for name, run in runs.items():
        if arguments.only in name:
            results[name] = run()
            first = results[name].get("weights.safetensors") or next(
                v for k, v in results[name].items() if k != "events"
            )
            print(f"{first}  {name}", flush=True)
    (folder / f"{arguments.version}.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    raise SystemExit(bool(compare(results, folder, arguments.version)))


if __name__ == "__main__":
    main()
