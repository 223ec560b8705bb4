"""The code of docs/recipes.md runs, and prints what the page shows, wherever the libraries are installed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "recipes.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")
NUMBER = re.compile(r"\d+\.\d+")
PREAMBLE, *SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def blocks(text: str, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(text) if name == language]


def libraries(code: str) -> set[str]:
    """The packages that code imports."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.partition("\n")[0])
def test_a_recipe_runs_as_shown(section: str, tmp_path: Path) -> None:
    """Decimals may differ from one machine to another; labels, words and the number of lines may not."""
    script, files = blocks(PREAMBLE, "python"), {}
    for block in blocks(section, "python"):
        if named := FILE.match(block):
            files[named[1]] = block
        else:
            script.append(block)
    for name in libraries("\n".join([*script, *files.values()])) - {"regard"} - {Path(file).stem for file in files}:
        pytest.importorskip(name, exc_type=ImportError)
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "recipe.py").write_text("\n".join(script), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    shown = "".join(blocks(section, "text"))
    assert NUMBER.sub("#", done.stdout) == NUMBER.sub("#", shown), done.stdout


def test_every_recipe_shows_what_it_prints() -> None:
    assert len(SECTIONS) == 3
    assert all(blocks(section, "text") for section in SECTIONS)
