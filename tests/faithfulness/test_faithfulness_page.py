"""The documentation of the measures is correct: its examples run, and the names it lists exist."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent.parent / "docs" / "faithfulness.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.split("\n")[0])
def test_examples_run(code: str, tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout
    assert "nan" not in result.stdout


def test_names_exist() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (`.*) \|$", PAGE.partition("## Modules")[2], re.MULTILINE)
    assert len(rows) == 16
    for file, names in rows:
        module = importlib.import_module(f"regard.faithfulness.{file}")
        assert not [name for name in re.findall(r"`(\w+)`", names) if not hasattr(module, name)]
    folder = Path(importlib.import_module("regard.faithfulness").__path__[0])
    assert {path.stem for path in folder.glob("[a-z]*.py")} == {file for file, _ in rows}
