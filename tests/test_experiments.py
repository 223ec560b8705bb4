"""Every committed experiment can be read, and what is rendered is what the results say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from regard.config import Config, read_config
from regard.models.build import build

FOLDER = Path(__file__).parent.parent / "experiments"
CONFIGS = sorted(FOLDER.glob("*/configs/**/*.toml"))
TABLES = sorted(FOLDER.glob("*/*.toml"))


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_some() -> None:
    assert len(CONFIGS) > 20
    assert TABLES


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_config_makes_a_model(path: Path) -> None:
    config = Config().override(read_config(path))
    assert config.data.train
    build(config.model, words=5, outputs=2)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_cell_names_a_config_and_every_row_a_cell(path: Path, runner: ModuleType) -> None:
    jobs = {runner.key(job) for job in runner.jobs(path, None)}
    assert all((path.parent / config).is_file() for config, _, _ in jobs)
    rows = runner.read_rows(path.with_suffix(".jsonl"))
    assert rows, "a table is committed with its results"
    assert {runner.key(row) for row in rows} <= jobs
    assert all({"environment", "data", "seconds"} <= set(row) for row in rows)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_rendered_tables_are_up_to_date(path: Path, runner: ModuleType) -> None:
    assert path.with_suffix(".md").read_text(encoding="utf-8") == runner.render(
        runner.read_rows(path.with_suffix(".jsonl"))
    )


def test_grids_never_read_test(runner: ModuleType) -> None:
    rows = runner.read_rows(FOLDER / "first" / "choice.jsonl")
    assert not any("test" in row for row in rows)


def test_the_interval_of_a_mean(runner: ModuleType) -> None:
    """80, 81 and 82 %: the mean is 81, its deviation 1, and t of two degrees of freedom 4.303: 4.303 / √3 = 2.48."""
    rows = [{"test": {"accuracy": share}} for share in (0.80, 0.81, 0.82)]
    assert runner.interval(rows, "test") == "81.00 ± 2.48"
