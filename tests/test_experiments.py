"""Every committed experiment can be read, its rows belong to it, and its rendered files are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.config import Config
from regard.models.build import build
from regard.training.defaults import provisional_defaults
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.render import rendered
from regard_lab.results import match, read_rows
from regard_lab.tables.table import Table
from tiny_bert import save_bert

FOLDER = Path(__file__).parent.parent / "experiments"
TABLES = sorted(FOLDER.glob("*/*.toml"))
WITH_RESULTS = [path for path in TABLES if path.with_suffix(".jsonl").exists()]

every_table = pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
every_result = pytest.mark.parametrize("path", WITH_RESULTS, ids=lambda path: f"{path.parent.name}/{path.stem}")


def read(path: Path) -> Table:
    return read_table(path, f"{path.parent.name}/{path.stem}")


def test_there_are_experiments() -> None:
    assert {"apln/table2", "apln/table3", "first/table", "first/choice", "sun_lu/table2"} <= {
        f"{path.parent.name}/{path.stem}" for path in TABLES
    }
    assert len(WITH_RESULTS) >= 2


@every_table
def test_every_table_is_read_and_every_model_built(path: Path, tmp_path: Path) -> None:
    table = read(path)
    tried: list[object] = []
    for cell in table.cells():
        options = {key: value for key, value in cell.options.items() if key not in table.implementation.keys}
        if "pretrained" in options:  # a small model of the same kind, because the real one may have to be downloaded
            pytest.importorskip("transformers")
            small = tmp_path / "bert"
            options["pretrained"] = str(small if small.exists() else save_bert(small))
        config = Config().override(options)
        if config.model not in tried:
            tried.append(config.model)
            build(provisional_defaults(config).model, words=5, outputs=2)


@every_result
def test_every_row_belongs_to_a_cell(path: Path) -> None:
    """Rows with other options are mentioned in the rendered table; the file must contain no other rows."""
    rows, messages = read_rows(path.with_suffix(".jsonl"))
    assert rows
    assert not messages, "a committed file ends with a whole line"
    results = match(read(path), rows)
    assert len(results.rows) + results.others <= len(rows)
    assert bool(results.others) == ("are not counted" in path.with_suffix(".md").read_text(encoding="utf-8"))
    assert all({"environment", "data", "seconds", "device"} <= set(row) for row in results.good)
    assert all("/" not in str(row["environment"]) for row in results.good), "no paths of the machine"


@every_result
def test_rendered_files_are_up_to_date(path: Path) -> None:
    table = read(path)
    contents = rendered(table, match(table, read_rows(path.with_suffix(".jsonl"))[0]))
    stale = [
        name
        for name, content in contents.items()
        if not (path.parent / name).exists() or (path.parent / name).read_text(encoding="utf-8") != content
    ]
    assert not stale, (
        f"`regard reproduce {table.name} --render --out experiments/{path.parent.name}` renders them again"
    )


@pytest.mark.parametrize("name", ["first/choice", "sun_lu/table2_choice"])
def test_choices_never_read_test(name: str) -> None:
    table = read(FOLDER / f"{name}.toml")
    assert not [corpus for corpus in table.corpora.values() if corpus.test]
    rows, _ = read_rows(FOLDER / f"{name}.jsonl")
    assert not [row for row in rows if any("test" in file for file in row["data"])]


def test_table_2_uses_the_options_chosen_on_dev() -> None:
    """The best mean on dev; ties go to the smaller learning rate, then to less dropout and penalty."""
    tried: dict[tuple[str, str], dict[tuple[float, float, float], list[float]]] = {}
    for row in read_rows(FOLDER / "sun_lu" / "table2_choice.jsonl")[0]:
        method = "dp" if row["method"] == "dp" else row["method"].rpartition("-")[0]
        given = row["options"]
        scores = tried.setdefault((row["corpus"], method), {})
        scores.setdefault((given["lr"], given["dropout"], given.get("l2", 0.0)), []).append(row["values"]["accuracy"])
    table = read(FOLDER / "sun_lu" / "table2.toml")
    assert set(tried) >= {(corpus, method) for corpus in ("sst2_uaftc", "imdb") for method in ("dp", "dp-a", "ad")}
    for (corpus, method), several in tried.items():
        best = min(several, key=lambda given: (-round(sum(several[given]) / len(several[given]), 6), *given))
        tuned = table.tuned[corpus][method]
        assert (tuned["lr"], tuned["dropout"], tuned.get("l2", 0.0)) == best


def test_the_first_measurements_are_kept() -> None:
    for name, count in (("table", 145), ("choice", 88)):
        path = FOLDER / "first" / f"{name}.toml"
        results = match(read(path), read_rows(path.with_suffix(".jsonl"))[0])
        assert (len(results.good), results.others) == (count, 0)
