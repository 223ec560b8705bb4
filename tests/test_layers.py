"""Imports only point to lower layers, no modules import each other in cycles, and `regard` never imports `regard_lab`.

Imports inside functions count everywhere.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "regard"
LABORATORY = SOURCE.with_name("regard_lab")

# package -> layer; a package may import packages of lower layers, and itself
LAYERS = {
    "errors": 0,
    "extras": 1,
    "student": 0,
    "mcnemar": 1,
    "sklearn_base": 1,
    "ordered_threads": 0,
    "records": 1,
    "scored_tokens": 0,
    "files": 1,
    "run_lock": 2,
    "process_group": 1,
    "ray_cluster": 2,
    "ray_tasks": 3,
    "markdown_text": 1,
    "piece_ids": 1,
    "keyword_names": 0,
    "label_matrix": 1,
    "run_metrics": 0,
    "recorder": 1,
    "facts": 2,
    "config": 1,
    "tracking": 2,
    "values": 1,
    "wilson": 1,
    "masking": 1,
    "kernels": 2,
    "data": 3,
    "corpora": 4,
    "encoders": 3,
    "poolings": 3,
    "models": 4,
    "adapters": 5,
    "analysis": 5,
    "explain": 5,
    "faithfulness": 5,
    "novelty": 5,
    "report": 6,
    "runtime": 6,
    "training": 6,  # above `analysis`, which records training and helps to choose λ
    "comparison": 7,
    "run_folders": 5,
    "runs": 7,
    "scoring": 7,
    "audit": 7,
    "doubts": 7,
    "text_estimator": 7,
    "estimators": 8,
    "arguments": 8,
    "extensions": 8,
    "run_facts": 8,
    "serve": 8,
    "completion": 9,
    "demo": 9,
    "distilling": 4,
    "export": 9,
    "tuning": 9,  # above `arguments`, which spells the options of the command that it recommends
    "wrapping": 9,
    "commands": 10,
    "cli": 11,
    "__main__": 12,
}
# `report` is high so that few packages may use it, but it reads only records, facts and the table of explainers: no tensors
ONLY = {
    "report": {"errors", "extras", "records", "scored_tokens", "run_metrics", "files", "facts", "explain", "report"}
}
NO_TORCH = {
    "errors",
    "records",
    "scored_tokens",
    "run_metrics",
    "files",
    "facts",
    "recorder",
    "config",
    "report",
    "runtime",
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
    "predictions": 1,
    "pooled_effect": 1,
    "power": 1,
    "tables": 2,
    "over_texts": 2,
    "results": 3,
    "comparisons": 3,
    "kinds": 4,
    "reading": 5,  # above `kinds`, which define the keys and measures of tables
    "rendering": 6,
    "claims": 7,
    "running": 8,
    "command": 9,
    "towers_command": 9,
}
LABORATORY_COMMANDS = {"command", "towers_command"}
# the highest layer of `regard` that the laboratory may import, except its commands, which also need the command line
LABORATORY_USES = 7


def package_of(path: Path, root: Path = SOURCE) -> str:
    """The package, or the single module, directly below `regard` or `regard_lab`."""
    return path.relative_to(root).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    package = package_of(path)
    assert package in LAYERS, f"add a layer for {package!r}"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "torch":
            assert package not in NO_TORCH, f"{path.name} must not import torch"
        if parts[0] != "regard" or parts[1] in (package, "__version__"):
            continue
        assert LAYERS[parts[1]] < LAYERS[package], f"{path.relative_to(SOURCE)} imports {name}"
        assert parts[1] in ONLY.get(package, LAYERS), f"{path.relative_to(SOURCE)} imports {name}"


def test_every_layer_still_exists() -> None:
    assert set(LAYERS) == {package_of(path) for path in FILES}


def test_regard_never_imports_the_laboratory() -> None:
    names = {path: imported(path) for path in SOURCE.rglob("*.py")}
    assert not [path for path, modules in names.items() if any(name.split(".")[0] == "regard_lab" for name in modules)]


LABORATORY_FILES = sorted(path for path in LABORATORY.rglob("*.py") if path != LABORATORY / "__init__.py")


@pytest.mark.parametrize("path", LABORATORY_FILES, ids=lambda path: str(path.relative_to(LABORATORY)))
def test_imports_of_the_laboratory_point_down(path: Path) -> None:
    package = package_of(path, LABORATORY)
    assert package in LABORATORY_LAYERS, f"add a layer for {package!r}"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "regard_lab" and parts[1] != package:
            assert LABORATORY_LAYERS[parts[1]] < LABORATORY_LAYERS[package], (
                f"{path.relative_to(LABORATORY)} imports {name}"
            )
        if parts[0] == "regard" and parts[1] != "__version__" and package not in LABORATORY_COMMANDS:
            assert LAYERS[parts[1]] <= LABORATORY_USES, f"{path.relative_to(LABORATORY)} imports {name}"


def test_every_layer_of_the_laboratory_still_exists() -> None:
    assert set(LABORATORY_LAYERS) == {package_of(path, LABORATORY) for path in LABORATORY_FILES}


def test_there_are_no_import_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports inside functions count; those under TYPE_CHECKING do not."""
    monkeypatch.syspath_prepend(str(SOURCE.parent.parent / "tools"))
    structure = import_module("structure")
    source = structure.read_source(SOURCE.parent)
    assert {"regard.cli", "regard_lab.command"} <= set(source.modules), "both packages are checked"
    cycles = [cycle.text for cycle in structure.find_cycles(source)]
    assert not cycles, "\n".join(cycles)
