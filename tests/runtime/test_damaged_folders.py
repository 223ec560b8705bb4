"""A folder that cannot be loaded is refused in one sentence that says why."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import regard.runtime
from regard.errors import InputError
from regard.runtime.safetensors_file import read_floats


@pytest.fixture
def copy(flat_run: Path, tmp_path: Path) -> Path:
    """Without the manifest, which would notice every change."""
    folder = Path(shutil.copytree(flat_run, tmp_path / "copy"))
    (folder / "manifest.json").unlink()
    return folder


def refusal(folder: Path, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        regard.runtime.load(folder, **options)
    return str(error.value)


def test_a_missing_folder(tmp_path: Path) -> None:
    assert "there is no such folder" in refusal(tmp_path / "nothing")


def test_an_unfinished_run(copy: Path) -> None:
    (copy / "checkpoint.safetensors").write_bytes(b"")
    assert "its training has not finished" in refusal(copy)


def test_a_run_that_is_not_flat_says_how_to_export_it(run: Path) -> None:
    message = refusal(run)
    assert "expected a run of the fast engine" in message
    assert f"regard export {run} --format onnx" in message


def test_a_number_of_threads_below_0(flat_run: Path) -> None:
    assert "threads: expected a whole number of at least 0" in refusal(flat_run, threads=-1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", "{", "tokenizer.json"),
        ("tokenizer.json", "{}", "tokenizer.json: damaged"),
        ("tokenizer.json", '{"format": "regard words 9"}', "expected 'regard words 2', got 'regard words 9'"),
        ("task.json", '{"kind": "magic", "classes": ["a", "b"]}', "task.json: damaged"),
        ("task.json", '{"kind": "binary", "classes": ["a", "b"]}', "expected the shape"),
        ("weights.safetensors", "short", "not a safetensors file"),
        ("config.toml", "[model]\nlevels = 1.5", "levels"),
    ],
)
def test_a_damaged_file(copy: Path, name: str, content: str, message: str) -> None:
    (copy / name).write_text(content, encoding="utf-8")
    assert message in refusal(copy)


def test_weights_that_are_not_finite(copy: Path) -> None:
    weights = dict(safetensors.numpy.load_file(copy / "weights.safetensors"))
    weights["head.weight"] = weights["head.weight"] * np.float32(np.nan)
    safetensors.numpy.save_file(weights, copy / "weights.safetensors")
    assert "not finite" in refusal(copy)


def test_large_finite_weights_are_accepted(copy: Path) -> None:
    """Their sum overflows, which is how other numbers are found."""
    weights = dict(safetensors.numpy.load_file(copy / "weights.safetensors"))
    weights["head.bias"] = np.full_like(weights["head.bias"], 3e38)
    safetensors.numpy.save_file(weights, copy / "weights.safetensors")
    assert regard.runtime.load(copy).classes is not None


def test_arrays_are_those_of_safetensors(tmp_path: Path) -> None:
    arrays = {"one": np.arange(6, dtype=np.float32).reshape(2, 3), "none": np.empty((0, 4), dtype=np.float32)}
    safetensors.numpy.save_file(arrays, tmp_path / "a.safetensors", {"some": "metadata"})
    found = read_floats(tmp_path / "a.safetensors")
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], value) for name, value in arrays.items())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}, "expected float32, got 'F16'"),
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}, "does not match its 4 bytes"),
        ({"dtype": "F32", "shape": [1000], "data_offsets": [0, 4000]}, "does not match its 4000 bytes"),
        ({"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]}, "whole numbers"),
        ({"dtype": "F32", "shape": "x", "data_offsets": [0, 4]}, "whole numbers"),
        ({"dtype": "F32"}, "expected dtype, shape and data_offsets"),
        ([], "expected dtype, shape and data_offsets"),
    ],
)
def test_a_wrong_header(tmp_path: Path, entry: object, message: str) -> None:
    header = json.dumps({"a": entry}).encode()
    (tmp_path / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(InputError, match=message):
        read_floats(tmp_path / "a.safetensors")


def test_a_header_that_promises_more_than_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes((1 << 60).to_bytes(8, "little") + b"{}")
    with pytest.raises(InputError, match="longer than the file"):
        read_floats(tmp_path / "a.safetensors")


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a": {"dtype": "F32", "shape": [0, 1' + b"0" * 30 + b'], "data_offsets": [0, 0]}}',
    ],
)
def test_headers_that_are_nested_deeply_or_name_huge_shapes(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "tables.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(InputError, match=r"tables\.safetensors"):
        read_floats(path)


@pytest.mark.parametrize("verify", [True, False])
def test_a_file_of_a_terabyte_is_not_read(flat_run: Path, tmp_path: Path, verify: bool) -> None:
    folder = Path(shutil.copytree(flat_run, tmp_path / "copy"))
    os.truncate(folder / "tokenizer.json", 1 << 40)
    assert "tokenizer.json: expected at most 1,024 MB, got 1,048,576 MB" in refusal(folder, verify=verify)


@pytest.mark.parametrize("name", ["export.json", "tables.safetensors", "model.onnx", "task.json"])
def test_a_file_of_an_export_of_a_terabyte_is_not_read(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    for one in ("export.json", name):
        (folder / one).write_text("{}", encoding="utf-8")
    os.truncate(folder / name, 1 << 40)
    assert f"{name}: expected at most" in refusal(folder)
