"""The structure tool on a small source tree that has at least one of everything it counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "structure.py"
PACKAGES = ("regard", "regard_lab")

EXPLAIN = """
from typing import TYPE_CHECKING

from regard import config

if TYPE_CHECKING:
    from regard.models.unused import Unused


def run():
    from regard.models.net import predict
"""
NET = """
from regard.models.layer import Layer


class Net:
    def seven(self, a, b, c, d, *args, e, **kwargs): ...

    def eight(self, a, b, c, d, /, e, *args, f, **kwargs): ...


async def predict():
    from .pieces import split
"""
FILES = {
    "regard/__init__.py": '"""A package."""\n',
    "regard/config.py": "\n" * 301,
    "regard/commands/__init__.py": "",
    "regard/commands/explain.py": EXPLAIN,
    "regard/commands/train.py": "import regard.config\n",
    "regard/models/__init__.py": "from regard.models import table\n",
    "regard/models/table.py": "options: dict[str, Any]\n",
    "regard/models/net.py": NET,
    "regard/models/layer.py": "def fits(values: dict[str, Any]) -> Mapping[str, Any]:\n" + "    pass\n" * 49,
    "regard/models/pieces.py": "from regard.models import net\n\n\ndef long():\n" + "    pass\n" * 50,
    "regard/models/unused.py": "",
    "regard/kernels/__init__.py": "",
    "regard/kernels/steps.py": "def step(a, b, c, d, e, f, g, h):\n" + "    pass\n" * 300,
    "regard_lab/__init__.py": "",
    "regard_lab/tables.py": "from regard.models import net\nfrom regard_lab import kinds\n",
    "regard_lab/kinds.py": "def read():\n    import regard_lab.tables\n",
    "loose/not_a_package.py": "",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def measured(source: Path) -> Any:
    return json.loads(run("--source", str(source), "--json"))


def run(*arguments: str) -> str:
    return subprocess.run([sys.executable, str(TOOL), *arguments], check=True, capture_output=True, text=True).stdout


def test_figures_per_package(measured: Any) -> None:
    lines = {name: sum(t.count("\n") for f, t in FILES.items() if f.startswith(f"{name}/")) for name in PACKAGES}
    assert measured["figures"] == {
        "files": {"regard": 13, "regard_lab": 3, "total": 16},
        "lines": {**lines, "total": sum(lines.values())},
        "long_files": {"regard": 1, "regard_lab": 0, "total": 1},
        "long_functions": {"regard": 1, "regard_lab": 0, "total": 1},
        "many_parameters": {"regard": 1, "regard_lab": 0, "total": 1},
        "reach_explain": {"regard": 8, "regard_lab": 0, "total": 8},
        "reach_train": {"regard": 3, "regard_lab": 0, "total": 3},
        "cycles": {"regard": 1, "regard_lab": 1, "total": 2},
        "any_maps": {"regard": 3, "regard_lab": 0, "total": 3},
        "single_importers": {"regard": 3, "regard_lab": 2, "total": 5},
    }


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("long_files", ["regard/config.py: 301 lines"]),
        ("long_functions", ["regard/models/pieces.py:4: long: 51"]),
        ("many_parameters", ["regard/models/net.py:8: eight: 8"]),
        ("reach_train", ["regard", "regard.commands.train", "regard.config"]),
        (
            "single_importers",
            [
                "regard/models/layer.py: imported only by regard/models/net.py",
                "regard/models/pieces.py: imported only by regard/models/net.py",
                "regard/models/table.py: imported only by regard/models/__init__.py",
                "regard_lab/kinds.py: imported only by regard_lab/tables.py",
                "regard_lab/tables.py: imported only by regard_lab/kinds.py",
            ],
        ),
    ],
)
def test_offenders(measured: Any, figure: str, expected: list[str]) -> None:
    assert measured["offenders"][figure] == expected


def test_reach_follows_functions_and_packages_but_not_type_checking(measured: Any) -> None:
    modules = ["commands.explain", "config", "models", "models.layer", "models.net", "models.pieces", "models.table"]
    assert measured["offenders"]["reach_explain"] == ["regard", *(f"regard.{name}" for name in modules)]


def test_cycles_name_their_imports(source: Path) -> None:
    assert run("--source", str(source), "--list", "cycles").splitlines() == [
        "2 modules: regard.models.net, regard.models.pieces",
        "    regard/models/net.py:12 imports regard.models.pieces in a function",
        "    regard/models/pieces.py:1 imports regard.models.net at module level",
        "2 modules: regard_lab.kinds, regard_lab.tables",
        "    regard_lab/kinds.py:2 imports regard_lab.tables in a function",
        "    regard_lab/tables.py:2 imports regard_lab.kinds at module level",
    ]


def test_table_has_one_column_per_package(source: Path) -> None:
    header, *rows = run("--source", str(source)).splitlines()
    assert header.split() == ["regard", "regard_lab", "total"]
    assert rows[0].split() == ["files", "13", "3", "16"]
