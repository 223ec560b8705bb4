"""The folder of an ONNX export: the graph, the tokenizer, the labels, the card, and export.json, which `regard.runtime` reads."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors.numpy

from regard import __version__
from regard.errors import InputError
from regard.export.card import export_card
from regard.export.verification import Verified, verify
from regard.extras import require
from regard.files import contents, remove_leftovers, temporary_files, write_all
from regard.models.manifest import of_contents, to_bytes
from regard.models.run_files import CARD, FACTS, GRAPH, MANIFEST, TABLES
from regard.models.trained import Trained
from regard.runtime.folder import EXPORTED, FORMAT

if TYPE_CHECKING:
    from onnx import ModelProto

PACKAGES = ("onnx", "onnxscript", "torch", "onnxruntime")  # the extra of the first installs all of them
FILES = {*EXPORTED, CARD, MANIFEST}
MOST_BYTES = 2_000_000_000  # protobuf cannot hold more in one file


def export_onnx(trained: Trained, run: Path, out: Path) -> Verified:
    """Export a run that was loaded from the folder `run`; nothing is written unless the graph agrees with PyTorch."""
    check_exportable(trained, run)
    check_packages()
    check_folder(out)
    import onnxruntime

    try:
        graph = graph_of(trained)
        content = graph.SerializeToString()
        verified = verify(trained, onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"]))
    except InputError as error:
        raise InputError(f"{run}: {error}") from None
    facts = describe(trained, graph, verified)
    card = export_card(trained, run, facts)
    tables = {TABLES: safetensors.numpy.save(trained.tables._asdict())} if trained.is_flat else {}
    files = {
        GRAPH: content,
        **tables,
        "tokenizer.json": trained.tokenizer.to_json().encode("utf-8", "replace"),
        "task.json": json.dumps(trained.task.as_dict(), ensure_ascii=False, indent=1).encode("utf-8", "replace"),
        FACTS: json.dumps(facts, ensure_ascii=False, indent=1).encode(),
    }
    listed = to_bytes(of_contents(files, EXPORTED), {})
    files = {MANIFEST: listed, CARD: card.encode("utf-8", "replace"), **files}
    leftovers = [file.path for file in temporary_files(out) if file.name in FILES]
    write_all(out, files, () if trained.is_flat else (TABLES,))
    remove_leftovers(leftovers, ())
    return verified


def graph_of(trained: Trained) -> ModelProto:
    from regard.export.onnx_graph import make_graph

    try:
        return make_graph(trained)
    except InputError:
        raise
    except Exception as error:  # the exporter raises many kinds
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = lines[0][:200] if lines else ""
        raise InputError(
            f"PyTorch cannot export its {trained.description} to ONNX ({type(error).__name__}: {reason}); nothing was written"
        ) from None


def check_exportable(trained: Trained, run: Path) -> None:
    if trained.config.model.reads_pieces:
        raise InputError(
            f"{run}: expected a run whose encoder reads words, got encoder = 'bert', whose word pieces need the package "
            "tokenizers and whose windows depend on the length of the text; ship the run folder and regard[bert] instead"
        )
    size = sum(value.nbytes for value in trained.weights.values())
    if size > MOST_BYTES:
        raise InputError(
            f"{run}: expected at most {MOST_BYTES / 1e9:.0f} GB of weights, which is what an ONNX file can hold, "
            f"got {size / 1e9:.1f} GB; train it with --max-vocabulary"
        )


def check_packages() -> None:
    for name in PACKAGES:
        require(name, "--format onnx")


def check_folder(out: Path) -> None:
    """Refuse a folder with other files in it, such as the run itself."""
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: expected a folder to write into, got a file")
    if out.is_dir() and any(out.iterdir()) and not (out / FACTS).is_file() and not is_interrupted(out):
        raise InputError(
            f"--out {out}: expected a new folder, an empty one or an earlier export; this one has other files"
        )


def is_interrupted(out: Path) -> bool:
    """Whether an export was interrupted while its files were renamed; the last is export.json."""
    written = [file for file in temporary_files(out) if file.name in FILES]
    return set(contents(out)) <= FILES and any(file.name in (FACTS, GRAPH) for file in written)


def describe(trained: Trained, graph: ModelProto, verified: Verified) -> dict[str, Any]:
    """The contents of export.json."""
    sharpens = any(level.sharpens for level in trained.capabilities)
    return {
        "format": FORMAT,
        "model": trained.description,
        "ids": len(trained.tokenizer),
        "levels": trained.levels,
        "outputs": trained.task.out_dim,
        "method": "attention_norm" if sharpens else "attention",
        "tables": trained.is_flat,
        "label_type": trained.metrics.get("label_type"),
        "graph": {
            "opset": next(one.version for one in graph.opset_import if one.domain == ""),
            "ir_version": graph.ir_version,
            "inputs": [one.name for one in graph.graph.input],
            "outputs": [one.name for one in graph.graph.output],
        },
        "versions": {
            "python": platform.python_version(),
            "regard": __version__,
            "numpy": np.__version__,
            **{name: package_version(name) for name in PACKAGES},
        },
        "verified": asdict(verified),
    }


def package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
