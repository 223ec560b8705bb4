"""Damaged and hostile files: mutations of run folders, checkpoints and folders of pretrained models.

Every mutation is a name and a function that changes a folder in place. They depend on the folder and a seed only, so that the
same ones can be applied to different versions of regard (`tools/fuzz_folders.py`).
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import safe_open

DEEP = "[" * 983 + "]" * 983
DEEPER = '{"a":' * 100_000
ODD: tuple[str, ...] = (  # JSON values; some parsers accept NaN
    *("null", "true", "-1", "0", "3", "0.5", "1e30", "-1e30", "NaN", "Infinity", "1000000000", "9" * 400),
    *('""', '"x"', '"../../secret.csv"', "[]", "[[]]", "[null, 1]", "{}", '{"x": [1]}', '"\\ud800"', DEEP),
)
ODD_TOML = (
    *("true", "-1", "0", "3", "0.5", "1e30", "nan", "inf", "40000", "1000000000", "9" * 40, '""', '"x"', "[]", "[1]"),
    *("[1000000000]", "{}", '"secret.csv"', "1979-05-27"),
)
ITEMS = 2  # of a list that are mutated


class Mutation(NamedTuple):
    name: str
    apply: Callable[[Path], None]


def json_mutations(name: str, content: bytes, most: int = 400, seed: int = 0) -> Iterator[Mutation]:
    """Every value of a JSON file replaced by odd ones or left out; at most so many, drawn at random."""
    document = json.loads(content)
    places = [*json_places(document)]
    cases = [(place, value) for place in places for value in (None, *ODD)]
    for place, value in drawn(cases, most, seed):
        yield Mutation(
            f"{name}: {'/'.join(map(str, place))} = {'left out' if value is None else value[:30]}",
            lambda folder, place=place, value=value: (folder / name).write_bytes(  # type: ignore[misc]
                with_value(document, place, value)
            ),
        )


def json_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(value, dict):
        keys = list(value) if len(value) <= 60 else list(value)[:ITEMS]
        for key in keys:
            yield from json_places(value[key], (*place, key))
    elif isinstance(value, list):
        for index in range(min(len(value), ITEMS)):
            yield from json_places(value[index], (*place, index))


def with_value(document: Any, place: tuple[Any, ...], value: str | None) -> bytes:
    """`value` is JSON, or None to leave it out."""
    if not place:
        return b"" if value is None else value.encode()
    changed = copy.deepcopy(document)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    if value is None:
        del inner[place[-1]]
        return json.dumps(changed).encode()
    inner[place[-1]] = "@@@"
    return json.dumps(changed).replace('"@@@"', value).encode()


def toml_mutations(name: str, content: bytes, most: int = 400, seed: int = 0) -> Iterator[Mutation]:
    lines = content.decode().splitlines()
    tomllib.loads(content.decode())
    cases = [(row, value) for row, line in enumerate(lines) if "=" in line for value in (None, *ODD_TOML)]
    for row, value in drawn(cases, most, seed):
        key = lines[row].partition(" ")[0]
        changed = [*lines[:row], *([] if value is None else [f"{key} = {value}"]), *lines[row + 1 :]]
        yield Mutation(f"{name}: {key} = {value}", writing(name, "\n".join(changed).encode()))


def config_additions(name: str, content: bytes) -> Iterator[Mutation]:
    """Options that a run of a stranger may have, whatever it was trained with."""
    tables = {
        "data": (
            'vectors = "secret.csv"',
            'class_weight = "secret.csv"',
            'train = "secret.csv"',
            'test = "secret.csv"',
        ),
        "model": (
            "hidden = 40000",
            "query = 100000",
            "embedding = 100000",
            "members = 50",
            "levels = 3",
            'encoder = "bert"',
        ),
        "training": ("dropout = 2.0", "epochs = 1000000000", "seed = -5"),
    }
    text = content.decode()
    for table, options in tables.items():
        for option in options:
            key = option.partition(" ")[0]
            without = re.sub(rf"(?m)^{key} = .*\n?", "", text)
            if f"[{table}]" in without:
                changed = without.replace(f"[{table}]", f"[{table}]\n{option}")
                yield Mutation(f"{name}: add {option}", writing(name, changed.encode()))


def bytes_mutations(name: str, content: bytes, count: int = 30, seed: int = 0) -> Iterator[Mutation]:
    rng = random.Random(f"{name} {seed}")
    for number in range(count):
        kind = ("flip", "cut", "insert", "swap")[number % 4]
        data = bytearray(content)
        at = rng.randrange(len(data))
        if kind == "flip":
            data[at] ^= 1 << rng.randrange(8)
        elif kind == "cut":
            del data[at:]
        elif kind == "insert":
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        else:
            end = min(at + rng.randrange(1, 64), len(data))
            data[at:end] = rng.randbytes(end - at)
        yield Mutation(f"{name}: {kind} at {at}", writing(name, bytes(data)))
    yield Mutation(f"{name}: very deep", writing(name, DEEPER.encode()))


def tensor_mutations(name: str, path: Path, most: int = 200, seed: int = 0) -> Iterator[Mutation]:
    """Tensors that are missing, renamed, of other types and shapes, or with odd numbers."""
    tensors, metadata = read_tensors(path)
    changes: list[tuple[str, Callable[[Any], Any]]] = [
        ("left out", lambda _: None),
        ("float16", lambda value: value.astype(np.float16)),
        ("float64", lambda value: value.astype(np.float64)),
        ("int64", lambda value: np.nan_to_num(value).astype(np.int64)),
        ("bool", lambda value: value.astype(bool)),
        ("nan", lambda value: filled(value, np.nan)),
        ("inf", lambda value: filled(value, np.inf)),
        ("huge", lambda value: filled(value, 3e38)),
        ("all huge", lambda value: np.full_like(value, 3e38 if value.dtype.kind == "f" else 1)),
        ("zero", np.zeros_like),
        ("empty", lambda value: value[:0] if value.ndim else value.reshape(1)[:0]),
        ("one row less", lambda value: value[:-1] if value.ndim else value),
        ("another axis", lambda value: value[None]),
        ("flat", lambda value: value.ravel()),
        ("transposed", lambda value: np.ascontiguousarray(value.T)),
        ("scalar", lambda value: np.zeros((), dtype=value.dtype)),
    ]
    cases = [(key, label, change) for key in tensors for label, change in changes]
    for key, label, change in drawn(cases, most, seed):
        with np.errstate(all="ignore"):
            value = change(tensors[key])
        changed = {other: one for other, one in tensors.items() if other != key}
        if value is not None:
            changed[key] = np.ascontiguousarray(value)
        yield Mutation(f"{name}: {key} {label}", writing(name, safetensors.numpy.save(changed, metadata)))
    extra = {**tensors, "extra": np.zeros(3, dtype=np.float32)}
    yield Mutation(f"{name}: an extra tensor", writing(name, safetensors.numpy.save(extra, metadata)))
    yield Mutation(f"{name}: no tensors", writing(name, safetensors.numpy.save({}, metadata)))


def metadata_mutations(name: str, path: Path, most: int = 300, seed: int = 0) -> Iterator[Mutation]:
    """The strings beside the tensors, some of which are JSON themselves."""
    tensors, metadata = read_tensors(path)
    cases: list[tuple[str, str | None]] = []
    for key, text in (metadata or {}).items():
        cases += [(key, None), *((key, value) for value in (*ODD, "", "99", "-99", " 1", "1.0", "x"))]
        try:
            document = json.loads(text)
        except ValueError:
            continue
        places = [place for place in json_places(document) if place]
        inner = [(place, value) for place in places for value in (None, *ODD)]
        cases += [(key, with_value(document, *one).decode()) for one in drawn(inner, most // 2, seed)]
    for key, value in drawn(cases, most, seed):
        changed = {other: one for other, one in (metadata or {}).items() if other != key}
        if value is not None:
            changed[key] = value
        label = "left out" if value is None else value[:40]
        yield Mutation(f"{name}: {key} = {label}", writing(name, safetensors.numpy.save(tensors, changed)))


def file_mutations(name: str) -> Iterator[Mutation]:
    yield Mutation(f"{name}: missing", lambda folder: (folder / name).unlink(missing_ok=True))
    yield Mutation(f"{name}: empty", writing(name, b""))
    yield Mutation(f"{name}: a folder", lambda folder: replaced(folder / name, os.mkdir))
    yield Mutation(f"{name}: a link out", lambda folder: replaced(folder / name, linking("../secret.csv")))
    yield Mutation(f"{name}: a link to zeros", lambda folder: replaced(folder / name, linking("/dev/zero")))
    yield Mutation(f"{name}: a pipe", lambda folder: replaced(folder / name, os.mkfifo))
    yield Mutation(f"{name}: a terabyte", lambda folder: os.truncate(folder / name, 1 << 40))


def folder_mutations(folder: Path) -> Iterator[Mutation]:
    """Links among the names that commands write to."""
    for name in (
        "report.html",
        ".report.html.partial",
        "audit",
        "analysis",
        ".README.md.partial",
        ".lock",
        "README.md",
    ):
        target = "../outside" if name in ("audit", "analysis") else "../target"
        yield Mutation(f"{name}: a link out", lambda _, n=name, t=target: replaced(_ / n, linking(t)))  # type: ignore[misc]
        yield Mutation(f"{name}: a pipe", lambda _, n=name: replaced(_ / n, os.mkfifo))  # type: ignore[misc]


def run_mutations(folder: Path, most: int = 300, seed: int = 0) -> Iterator[Mutation]:
    """Of every file of a finished run."""
    for path in sorted(folder.iterdir()):
        name = path.name
        if name in ("README.md", "manifest.json") or not path.is_file():
            continue
        yield from file_mutations(name)
        yield from bytes_mutations(name, path.read_bytes(), most // 10, seed)
        if name.endswith(".json"):
            yield from json_mutations(name, path.read_bytes(), most, seed)
        elif name.endswith(".toml"):
            yield from toml_mutations(name, path.read_bytes(), most, seed)
            yield from config_additions(name, path.read_bytes())
        elif name.endswith(".safetensors"):
            yield from tensor_mutations(name, path, most // 2, seed)
            yield from metadata_mutations(name, path, most // 2, seed)
    yield from folder_mutations(folder)


def manifest_mutations(folder: Path, most: int = 300, seed: int = 0) -> Iterator[Mutation]:
    """Of the manifest, which otherwise notices every mutation of another file."""
    name = "manifest.json"
    content = (folder / name).read_bytes()
    yield from file_mutations(name)
    yield from bytes_mutations(name, content, most // 10, seed)
    yield from json_mutations(name, content, most, seed)


def checkpoint_mutations(folder: Path, most: int = 400, seed: int = 0) -> Iterator[Mutation]:
    """Of the checkpoint of a run that was killed."""
    name = "checkpoint.safetensors"
    yield from file_mutations(name)
    yield from bytes_mutations(name, (folder / name).read_bytes(), most // 10, seed)
    yield from metadata_mutations(name, folder / name, most, seed)
    yield from tensor_mutations(name, folder / name, most, seed)


def drawn(cases: list[Any], most: int, seed: int) -> list[Any]:
    return cases if len(cases) <= most else random.Random(seed).sample(cases, most)


def filled(value: Any, number: float) -> Any:
    changed = value.copy()
    if changed.size and changed.dtype.kind == "f":
        changed.reshape(-1)[-1] = number
    return changed


def read_tensors(path: Path) -> tuple[dict[str, Any], dict[str, str] | None]:
    with safe_open(path, "np") as file:
        return {key: file.get_tensor(key) for key in file.keys()}, file.metadata()  # noqa: SIM118 (not a dict)


def writing(name: str, content: bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return write


def linking(target: str) -> Callable[[Path], None]:
    return lambda path: os.symlink(target, path)


def replaced(path: Path, make: Callable[[Path], Any]) -> None:
    path.unlink(missing_ok=True)
    make(path)
