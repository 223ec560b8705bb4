"""The notebooks run, and their committed outputs are what the results give now."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "docs" / "notebooks").glob("*.py"))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_one_per_paper() -> None:
    assert {path.stem for path in SOURCES} == {"apln", "sun_lu", "vat"}


@pytest.mark.slow
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_up_to_date(path: Path, tool: ModuleType) -> None:
    committed = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert committed == tool.notebook(path), "run `python tools/notebooks.py`"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_figures_come_first_and_outputs_are_small(path: Path) -> None:
    text = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    outputs = [output for cell in json.loads(text)["cells"] for output in cell.get("outputs", ())]
    assert "image/svg+xml" in outputs[0]["data"]
    assert len(text) < 250_000


def test_cells_and_their_outputs(tool: ModuleType) -> None:
    text = '"""Source."""\n\n# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nx = 2\nprint("two")\nx + 1\n'
    words, code = tool.cells(text)
    assert words == ("markdown", "# Title\n\nWords.")
    stream, value = tool.run(code.source, {})
    assert stream["text"] == "two\n"
    assert value["data"] == {"text/plain": "3"}
