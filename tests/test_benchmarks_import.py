"""Every benchmark can be imported: none uses a name that the package no longer has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"
# packages that only benchmarks need are replaced if they are not installed, so that all other names are still checked
SCRIPT = """
import importlib.util, sys, torch
from unittest.mock import MagicMock
for package, modules in (("fasttext", ["fasttext"]), ("triton", ["triton", "triton.testing"])):
    if importlib.util.find_spec(package) is None:
        sys.modules |= dict.fromkeys(modules, MagicMock())
import {name}
"""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_can_be_imported(path: Path) -> None:
    """In a separate process: some set environment variables and threads when they are imported."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *sys.path])}
    command = [sys.executable, "-c", SCRIPT.format(name=path.stem)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
