"""Imports point down only, rooms of one layer don't import each other, and the product doesn't know the laboratory."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "regard"
LABORATORY = SOURCE.with_name("regard_lab")

# room -> layer; a room may import rooms of lower layers, and itself
LAYERS = {
    "errors": 0,
    "records": 1,
    "files": 1,
    "run_lock": 2,
    "markdown_text": 1,
    "recorder": 1,
    "facts": 2,
    "config": 1,
    "values": 1,
    "wilson": 1,
    "masking": 1,
    "kernels": 2,
    "data": 3,
    "corpora": 4,
    "encoders": 3,
    "poolings": 3,
    "models": 4,
    "analysis": 5,
    "explain": 5,
    "faithfulness": 5,
    "report": 6,
    "training": 6,  # above `analysis`, which rides along and helps to choose λ
    "runs": 7,
    "audit": 7,
    "estimators": 7,
    "arguments": 8,
    "extensions": 8,
    "run_facts": 8,
    "serve": 8,
    "demo": 9,
    "commands": 10,
    "cli": 11,
}
# `report` stands high so that few may use it, but it reads records, facts and the table of explainers only: no tensors
ONLY = {"report": {"errors", "records", "files", "facts", "explain", "report"}}
NO_TORCH = {
    "errors",
    "records",
    "files",
    "facts",
    "recorder",
    "config",
    "report",
    "arguments",
    "extensions",
    "serve",
    "commands",
    "cli",
}
LABORATORY_LAYERS = {
    "rows": 0,
    "signatures": 0,
    "stack": 0,
    "fit_stacked": 1,
    "towers": 1,
    "measures": 1,
    "statistics": 1,
    "tables": 2,
    "results": 3,
    "comparisons": 3,
    "kinds": 4,
    "reading": 5,  # above `kinds`, which says what keys and measures a table may have
    "rendering": 6,
    "claims": 7,
    "running": 8,
    "command": 9,
}
LABORATORY_USES = 7  # the highest layer of `regard` that the laboratory imports; its command also uses the command line


def room(path: Path, package: Path = SOURCE) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    own = room(path)
    assert own in LAYERS, f"give {own!r} a layer"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "torch":
            assert own not in NO_TORCH, f"{path.name} must not import torch"
        assert parts[0] != "regard_lab", f"{path.relative_to(SOURCE)} imports {name}"
        if parts[0] != "regard" or parts[1] in (own, "__version__"):
            continue
        assert LAYERS[parts[1]] < LAYERS[own], f"{path.relative_to(SOURCE)} imports {name}"
        assert parts[1] in ONLY.get(own, LAYERS), f"{path.relative_to(SOURCE)} imports {name}"


def test_every_layer_still_exists() -> None:
    assert set(LAYERS) == {room(path) for path in FILES}


LABORATORY_FILES = sorted(path for path in LABORATORY.rglob("*.py") if path != LABORATORY / "__init__.py")


@pytest.mark.parametrize("path", LABORATORY_FILES, ids=lambda path: str(path.relative_to(LABORATORY)))
def test_imports_of_the_laboratory_point_down(path: Path) -> None:
    own = room(path, LABORATORY)
    assert own in LABORATORY_LAYERS, f"give {own!r} a layer"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "regard_lab" and parts[1] != own:
            assert LABORATORY_LAYERS[parts[1]] < LABORATORY_LAYERS[own], (
                f"{path.relative_to(LABORATORY)} imports {name}"
            )
        if parts[0] == "regard" and parts[1] != "__version__" and own != "command":
            assert LAYERS[parts[1]] <= LABORATORY_USES, f"{path.relative_to(LABORATORY)} imports {name}"


def test_every_layer_of_the_laboratory_still_exists() -> None:
    assert set(LABORATORY_LAYERS) == {room(path, LABORATORY) for path in LABORATORY_FILES}


def test_modules_do_not_import_each_other_in_circles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports inside functions count; those for types alone don't."""
    monkeypatch.syspath_prepend(str(SOURCE.parent.parent / "tools"))
    structure = import_module("structure")
    cycles = [cycle.text for cycle in structure.find_cycles(structure.read_source(SOURCE.parent))]
    assert not cycles, "\n".join(cycles)
