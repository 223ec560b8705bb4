"""Save a trained model as a folder, with a model card: what it is, its training data, its scores, and how to use it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from regard.config import config_toml
from regard.errors import InputError
from regard.files import temporary_files, write_all
from regard.markdown_text import escape
from regard.models import manifest
from regard.models.manifest import Content
from regard.models.run_files import CARD, DYNAMICS, ENCODER, KEPT, MANIFEST, OPTIMIZER, OPTIONAL, OURS
from regard.models.tasks import Binary, Classes, MultiLabel, Named, Regression
from regard.models.trained import Trained
from regard.run_metrics import Metrics, RunMetrics

# the part of the card between these lines is replaced by `regard audit`; everything else in the file is left as it is
AUDIT_START, AUDIT_END = "<!-- regard audit: begin -->", "<!-- regard audit: end -->"
ALIGNMENT = 8  # bytes of the header of a safetensors file
USAGE = (
    'Use it with `regard predict FOLDER texts.csv`, `regard explain FOLDER "a text"`, or in Python:',
    "",
    "```python",
    "import regard",
    "",
    "model = regard.load(FOLDER)",
    'model.explain("a text")',
    "```",
)


def save(trained: Trained, folder: str | Path) -> None:
    optional: dict[str, Content] = {} if trained.dynamics is None else {DYNAMICS: trained.dynamics.to_bytes()}
    if trained.encoder_config is not None:
        optional[ENCODER] = json.dumps(trained.encoder_config, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    if trained.accumulators is not None:
        optional[OPTIMIZER] = tensor_file(trained.accumulators)
    if trained.kept is not None:
        optional[KEPT] = trained.kept.to_bytes()
    contents: dict[str, Content] = {
        **optional,
        "config.toml": config_toml(trained.config).encode("utf-8", "replace"),
        "tokenizer.json": trained.tokenizer.to_json().encode("utf-8", "replace"),
        "task.json": json.dumps(trained.task.as_dict(), ensure_ascii=False, indent=1).encode("utf-8", "replace"),
        "metrics.json": json.dumps(trained.metrics, ensure_ascii=False, indent=1).encode("utf-8", "replace"),
        CARD: card(trained).encode("utf-8", "replace"),
        "weights.safetensors": tensor_file(trained.weights),
    }
    contents[MANIFEST] = manifest.to_bytes(manifest.of_contents(contents), trained.digests or {})
    # files of a run that this one overwrites. The weights are removed because a run without a manifest counts as one of an
    # earlier version: it must not look complete before all of its files are new
    stale = ["weights.safetensors", *(name for name in OPTIONAL if name not in optional)]
    write_all(Path(folder), contents, stale)


def tensor_file(tensors: Mapping[str, NDArray[Any]]) -> Content:
    """The bytes of `safetensors.numpy.save`, for float32 without copying them: they may be most of the memory in use."""
    if any(array.dtype != np.float32 for array in tensors.values()):
        return safetensors.numpy.save(dict(tensors))
    header: dict[str, object] = {}
    pieces: list[bytes | memoryview] = []
    start = 0
    for name in sorted(tensors):
        flat = np.ascontiguousarray(tensors[name]).reshape(-1).view(np.uint8)
        header[name] = {"dtype": "F32", "shape": [*tensors[name].shape], "data_offsets": [start, start + len(flat)]}
        pieces.append(flat.data)
        start += len(flat)
    described = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    described += b" " * (-len(described) % ALIGNMENT)
    return [len(described).to_bytes(8, "little") + described, *pieces]


def complete(folder: Path) -> None:
    """Finish saving a run that was killed while its files were renamed: all of them are there, some under temporary names."""
    written = temporary_files(folder)
    for file in [one for one in written if one.name == MANIFEST and one.token is not None]:
        together = {one.name: one.path for one in written if one.token == file.token and one.name in OURS}
        try:
            files, _ = manifest.parse_manifest(file.path)
            expected = {together.get(name, folder / name): digest for name, digest in files.items()}
            if any(manifest.of_file(path) != digest for path, digest in expected.items()):
                continue
            for name in {MANIFEST, *OPTIONAL} - {*files}:
                (folder / name).unlink(missing_ok=True)
            for name in sorted(together, key=lambda name: name == MANIFEST):
                os.replace(together[name], folder / name)
        except (InputError, OSError):
            continue  # it was killed earlier, before all files were written


def card(trained: Trained, usage: Sequence[str] = USAGE) -> str:
    config, metrics = trained.config, trained.metrics
    model, training = config.model, config.training
    lines = [
        f"# {model.encoder}-{model.pooling}"
        + (f", {model.levels} levels" if model.levels > 1 else "")
        + (", hidden layer in the head" if model.head_hidden else ""),
        "",
        "A text classifier that shows its work, trained by regard."
        if isinstance(trained.task, Named)
        else "A text regression model that shows its work, trained by regard.",
        "",
        "| | |",
        "|---|---|",
        f"| task | {describe(trained)} |",
        f"| training data | {escape(config.data.train or 'texts passed in Python')}, {metrics.get('texts', '?')} texts |",
        *(f"| {name} | {escape(value)} |" for name, value in history_rows(trained).items()),
        f"| units | {units(trained)} |",
        f"| vectors | {escape(config.data.vectors or model.pretrained or 'none: learned from scratch')} |",
        f"| training | {training.optimizer}, seed {training.seed}, {chosen(metrics)} |",
        f"| engine | {engine(metrics)} |",
        f"| environment | {escape(', '.join(f'{k} {v}' for k, v in metrics.get('environment', {}).items()))} |",
    ]
    for split in ("dev", "test"):
        if split in metrics:
            lines.append(f"| {split} | {scores(metrics[split])} |")
    lines += [
        "",
        *usage,
        "",
        "A weight is a word's share of the text's vector; it does not say whether the word supports or opposes the prediction.",
        "",
        *audit_section(not_audited(trained)),
    ]
    return "\n".join([*lines, ""])


def history_rows(trained: Trained) -> dict[str, str]:
    """What earlier runs the model comes from, and the texts that the run keeps."""
    rows = {}
    if (continued := trained.metrics.get("continued")) is not None:
        earlier = sum(ancestor["texts"] for ancestor in continued["ancestors"])
        count = len(continued["ancestors"])
        rows["continues"] = (
            f"{continued['origin']}; {count} earlier run{'s' * (count != 1)} with {earlier:,} texts, "
            f"fingerprints {', '.join(ancestor['fingerprint'][:12] for ancestor in continued['ancestors'])}"
        )
        if continued["replayed"]:
            rows["replayed"] = f"{continued['replayed']:,} texts of earlier runs"
    if trained.kept is not None:
        rows["kept texts"] = (
            f"{len(trained.kept.examples):,} of {trained.kept.drawn_from:,} training texts, in {KEPT} of the run folder only; "
            "they are never pushed or exported"
        )
    return rows


def audit_section(lines: Sequence[str]) -> list[str]:
    return [AUDIT_START, "## Audit", "", *lines, "", AUDIT_END]


def not_audited(trained: Trained) -> list[str]:
    if not isinstance(trained.task, Classes):
        if isinstance(trained.task, MultiLabel):
            return ["Not audited: `regard audit FOLDER --data FILE --target LABEL` audits one of its labels."]
        return ["Not audited: `regard audit` takes classifiers, and this model predicts numbers."]
    return [
        "Not audited: whether its explanations point to the words that decide has not been measured yet. To measure it and "
        "to have the verdict written here, run",
        "",
        "```sh",
        "regard audit FOLDER --data FILE",
        "```",
    ]


def describe(trained: Trained) -> str:
    task = trained.task
    if isinstance(task, Named):
        names = ", ".join(escape(name) for name in task.classes[:20]) + (", …" if len(task.classes) > 20 else "")
        (value,) = task.thresholds if isinstance(task, Binary) and task.thresholds else (None,)
        threshold = "" if value is None else f"; {escape(task.classes[1])} from a probability of {value:.3g} on"
        kind = "labels, of which a text may have several" if isinstance(task, MultiLabel) else "classes"
        return f"{len(task.classes)} {kind}: {names}{threshold}"
    assert isinstance(task, Regression)
    limits = f", from {task.low:.4g} to {task.high:.4g} as in training" if task.has_limits else ""
    return f"a number{limits} (training mean {task.mean:.4g}, standard deviation {task.scale:.4g})"


def units(trained: Trained) -> str:
    tokenizer = trained.tokenizer
    if trained.config.model.reads_pieces:
        return f"{len(tokenizer.vocabulary) - 2} word pieces of {escape(trained.config.model.pretrained or '')}"
    others = ((len(tokenizer.beginnings), "beginnings of words"), (len(tokenizer.pairs), "pairs of words"))
    return ", ".join(
        [f"{len(tokenizer.vocabulary) - 2} words", *(f"{count} {what}" for count, what in others if count)]
    )


def chosen(metrics: RunMetrics) -> str:
    """Which epoch was kept."""
    epochs, best = metrics.get("epochs", "?"), metrics.get("best_epoch", "?")
    count = f"{epochs} epoch{'s' * (epochs != 1)}"
    sentence = f"best of {count} on dev: {best}" if "dev" in metrics else f"last of {count}"
    return sentence + (f", of round {metrics['best_round']}" if "best_round" in metrics else "")


def engine(metrics: RunMetrics) -> str:
    """Which engine trained it, and whether its weights can be reproduced."""
    name = str(metrics.get("engine", "torch"))
    if name.endswith("lock-free"):
        return f"{name}: another run with the same seed gives similar, but not identical weights"
    return f"{name}: the same seed gives the same weights" + (" with any number of threads" if "sparse" in name else "")


def scores(metrics: Metrics) -> str:
    labels = ("micro_f1", "macro_f1", "subset_accuracy", "map")
    names = ("accuracy", "macro_f", *labels, "log_loss", "rmse", "mae", "r2")
    numbers = {name: value for name, value in metrics.items() if isinstance(value, float)}
    return ", ".join(f"{name} {numbers[name]:.4f}" for name in names if name in numbers) + f" ({metrics['n']} texts)"
