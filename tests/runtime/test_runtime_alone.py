"""The runtime in an environment that holds NumPy, onnxruntime and regard without its dependencies."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from regard.models.folder import load

SOURCE = Path(__file__).parent.parent.parent / "src"
SCRIPT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import regard.runtime
model = regard.runtime.load(sys.argv[2])
text = "The staff were kind. The room was not clean!"
row = model.explain(text).as_dict()
print(json.dumps({"answers": model.model.logits([text]).tolist(), "words": len(row["tokens"]), "modules": sorted(sys.modules)}))
"""
# a heavy package that is not there cannot be imported; what is looked for here are those that would be
FORBIDDEN = {"torch", "numba", "safetensors", "jinja2", "rich", "sklearn", "onnxruntime"}


def environment(place: Path, *packages: str) -> Path:
    """A folder with links to these packages, and nothing else."""
    site = place / "site"
    site.mkdir()
    for name in packages:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        (site / name).symlink_to(folder)
        libraries = folder.with_name(f"{name}.libs")
        if libraries.is_dir():
            (site / libraries.name).symlink_to(libraries)
    return site


def run_alone(site: Path, folder: Path) -> dict[str, object]:
    command = [sys.executable, "-I", "-S", "-c", SCRIPT, json.dumps([str(SOURCE), str(site)]), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_a_flat_run_needs_numpy_only(flat_run: Path, tmp_path: Path) -> None:
    answer = run_alone(environment(tmp_path, "numpy"), flat_run)
    trained, text = load(flat_run), "The staff were kind. The room was not clean!"
    assert trained.task.answers(answer["answers"]) == pytest.approx(trained.answers([text]), abs=1e-6)
    assert answer["words"] == 11
    modules = answer["modules"]
    assert isinstance(modules, list)
    assert not {name.split(".")[0] for name in modules} & FORBIDDEN


def test_an_exported_run_needs_numpy_and_onnxruntime_only(run: Path, tmp_path: Path) -> None:
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)
    from regard.export.onnx_folder import export_onnx

    trained, text = load(run), "The staff were kind. The room was not clean!"
    export_onnx(trained, run, tmp_path / "exported")
    needed = ["numpy", "onnxruntime", *(name for name in ("flatbuffers",) if find_spec(name))]
    answer = run_alone(environment(tmp_path, *needed), tmp_path / "exported")
    assert trained.task.answers(answer["answers"]) == pytest.approx(trained.answers([text]), abs=1e-5)
    modules = answer["modules"]
    assert isinstance(modules, list)
    assert not {name.split(".")[0] for name in modules} & (FORBIDDEN - {"onnxruntime"})
