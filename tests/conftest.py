"""Shared fixtures: a small table of reviews, small trained runs, `regard` in this process, and a browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# before torch is imported: threads of parallel tests would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
# a defect is a failure with a traceback, not a sentence
os.environ.setdefault("REGARD_TRACEBACK", "1")

from browser import Browser
from command import TINY, CommandResult, Regard, write_csv
from regard.cli import main
from regard.data.reviews import reviews

# a busy machine must not fail a test, and CI uses the same examples every time
settings.register_profile("regard", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("regard")


@pytest.fixture(autouse=True)
def _no_corpora(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Hide the user's corpora from all tests but those marked `data`."""
    if "data" not in request.keywords:
        monkeypatch.delenv("REGARD_DATA", raising=False)


@pytest.fixture
def regard(capsys: pytest.CaptureFixture[str]) -> Regard:
    def call(*argv: object) -> CommandResult:
        capsys.readouterr()
        try:
            code = main([str(word) for word in argv])
        except SystemExit as end:  # how argparse exits
            code = int(end.code or 0)
        return CommandResult(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 reviews of 1 to 5 stars."""
    rows = [(example.text, example.label) for example in reviews(60)]
    return write_csv(tmp_path_factory.mktemp("table") / "stars.csv", rows)


@pytest.fixture(scope="session")
def run(table: Path) -> Path:
    """A finished run with two levels on the table."""
    folder = table.parent / "run"
    assert main(["train", str(table), *TINY, "--levels", "2", "--pooling", "apln", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def rated(table: Path) -> Path:
    """A finished regression run."""
    folder = table.parent / "rated"
    assert main(["train", str(table), *TINY, "--task", "regression", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
