"""What `regard predict` writes: the most probable classes, rounded numbers, fastText's lines, Parquet and spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from command import Regard, write_csv
from regard.commands import reading
from regard.records import Example, Prediction
from regard.report.text import prediction_files
from regard.report.text.prediction_lines import Block, block_lines
from regard.report.text.predictions import Layout, fasttext_output, prediction_json
from regard.report.text.progress import RowCounter

Rows = list[dict[str, object]]
FORMULA = '=HYPERLINK("http://example.org","good film")'


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Texts with an identifier, one of which cannot be used, one of which looks like a formula."""
    rows = [("a", "good film, bad food"), ("b", ""), ("c", FORMULA), ("d", "@SUM(1) the room was filthy")]
    return write_csv(tmp_path / "texts.csv", rows, ("id", "text"))


def as_json(regard: Regard, *argv: object) -> Rows:
    return [json.loads(line) for line in regard("predict", *argv, "--format", "jsonl").out.splitlines()]


def as_csv(regard: Regard, *argv: object) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(regard("predict", *argv, "--format", "csv").out))]


def test_the_confidence_is_the_probability_of_the_prediction(regard: Regard, run: Path, table: Path) -> None:
    rows = as_json(regard, run, table)
    for row in rows:
        shares = row["probabilities"]
        assert isinstance(shares, dict)
        assert row["confidence"] == shares[row["prediction"]] == max(shares.values())
    assert [float(row["confidence"]) for row in as_csv(regard, run, table)] == [row["confidence"] for row in rows]


def test_the_most_probable_classes_are_in_order(regard: Regard, run: Path, table: Path) -> None:
    everything, best = as_json(regard, run, table), as_json(regard, run, table, "--top", "3")
    for whole, row in zip(everything, best, strict=True):
        shares, shown = whole["probabilities"], row["probabilities"]
        assert isinstance(shares, dict)
        assert isinstance(shown, dict)
        assert list(shown.items()) == sorted(shares.items(), key=lambda item: -item[1])[:3]
        assert next(iter(shown)) == row["prediction"]
    sheet = as_csv(regard, run, table, "--top", "2")
    head = ["row", "text", "prediction", "confidence", "class_1", "probability_1", "class_2", "probability_2", "error"]
    assert list(sheet[0]) == head
    assert [row["class_1"] for row in sheet] == [row["prediction"] for row in everything]
    assert len(as_json(regard, run, "good film", "--top", "99")[0]["probabilities"]) == 5  # type: ignore[arg-type]
    shown_table = regard("predict", run, "good film", "--top", "2", "--format", "terminal").out
    first, second = list(as_json(regard, run, "good film", "--top", "2", "--digits", "3")[0]["probabilities"].items())  # type: ignore[attr-defined]
    assert f"{first[0]} {first[1]:.3f}, {second[0]} {second[1]:.3f}" in shown_table


def test_numbers_are_rounded_only_on_request(regard: Regard, run: Path, rated: Path) -> None:
    (exact,), (rounded,) = as_json(regard, run, "good film"), as_json(regard, run, "good film", "--digits", "2")
    assert isinstance(exact["confidence"], float)
    assert rounded["confidence"] == round(exact["confidence"], 2) != exact["confidence"]
    assert as_csv(regard, run, "good film", "--digits", "0")[0]["p(1)"] in ("0.0", "1.0")
    (value,), (short,) = as_json(regard, rated, "good film"), as_json(regard, rated, "good film", "--digits", "1")
    assert isinstance(value["prediction"], float)
    assert short["prediction"] == round(value["prediction"], 1) != value["prediction"]
    assert "confidence" not in value


def test_fasttext_lines_have_one_per_text(regard: Regard, run: Path, texts: Path) -> None:
    result = regard("predict", run, texts, "--format", "fasttext", "--top", "2", "--digits", "3")
    best = as_json(regard, run, texts, "--top", "2", "--digits", "3")
    expected = [
        " ".join(f"__label__{name} {share}" for name, share in row.get("probabilities", {}).items())  # type: ignore[attr-defined]
        for row in best
    ]
    assert result.out.split("\n") == [*expected, ""]
    assert expected[1] == "", "a text that cannot be used leaves its line empty"
    one = regard("predict", run, texts, "--format", "fasttext").out.splitlines()
    assert [len(line.split()) for line in one] == [2, 0, 2, 2]


def test_classes_with_white_space_are_joined_for_fasttext() -> None:
    layout = Layout(("very good", "bad"))
    (line,) = fasttext_output([(Example("x"), Prediction("very good", {"very good": 0.75, "bad": 0.25}))], layout)
    assert line == "__label__very_good 0.75\n"


@pytest.mark.parametrize("large", [0, 1 << 26])
def test_parquet_has_the_values_of_the_csv(
    regard: Regard, run: Path, texts: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(reading, "LARGE", large)
    monkeypatch.setattr(prediction_files, "CHUNK", 3)
    out = texts.parent / "answers.parquet"
    assert regard("predict", run, texts, "--keep", "id", "--out", out).code == 0
    read = parquet.read_table(out)
    expected = as_csv(regard, run, texts, "--keep", "id")
    assert read.column_names == list(expected[0])
    found = [{key: "" if cell is None else str(cell) for key, cell in row.items()} for row in read.to_pylist()]
    assert found == expected
    assert {str(kind) for kind in read.schema.types} == {"int64", "string", "double"}


def test_a_spreadsheet_has_texts_and_no_formulas(regard: Regard, run: Path, texts: Path) -> None:
    pytest.importorskip("xlsxwriter")
    calamine = pytest.importorskip("python_calamine")
    out = texts.parent / "answers.xlsx"
    assert regard("predict", run, texts, "--keep", "id", "--out", out).code == 0
    head, *rows = calamine.CalamineWorkbook.from_path(out).get_sheet_by_index(0).to_python()
    expected = as_csv(regard, run, texts, "--keep", "id")
    assert head == list(expected[0])
    assert [row[head.index("text")] for row in rows] == [row["text"] for row in expected]
    for name in ("row", "confidence", "p(3)"):
        numbers = [row[head.index(name)] for row in rows if row[-1] == ""]
        assert numbers == pytest.approx([float(row[name]) for row in expected if not row["error"]], rel=1e-14)
    with zipfile.ZipFile(out) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        parts = archive.namelist()
    assert FORMULA.replace('"', "&quot;") in sheet or FORMULA in sheet
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet.replace(FORMULA, "").lower().replace("=hyperlink", "")
    assert not [name for name in parts if "rels" in name and "worksheets" in name], "no links"


def test_a_spreadsheet_has_limits(regard: Regard, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xlsxwriter")
    path = write_csv(tmp_path / "texts.csv", [("film " * 7000, 1), ("film", 1), ("film", 1)])
    out = tmp_path / "deep" / "answers.xlsx"
    result = regard("predict", run, path, "--out", out)
    assert "1 cells were cut to 32,767 characters" in result.err
    out.unlink()
    out.parent.rmdir()
    monkeypatch.setattr(prediction_files, "MOST_ROWS", 3)
    result = regard("predict", run, path, "--out", out)
    assert result.code == 2
    assert "a spreadsheet holds 2 rows; expected .csv or .parquet for more" in result.error
    assert not out.parent.exists(), "nothing is left behind"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--top", "0"], "--top: expected a number of classes from 1, got 0"),
        (["--digits", "-1"], "--digits: expected a number from 0 to 15, got -1"),
        (["--digits", "x"], "argument --digits: invalid int value: 'x'"),
        (["--out", "a.pdf"], "expected one of the formats terminal, jsonl, csv, fasttext, parquet, xlsx, got pdf"),
        (["--keep", "confidence"], "--keep confidence: predictions have a column of that name"),
        (["--keep", "class_1", "--top", "1"], "--keep class_1: predictions have a column of that name"),
    ],
)
def test_options_that_cannot_be_used(regard: Regard, run: Path, table: Path, options: list[str], message: str) -> None:
    result = regard("predict", run, table, *options)
    assert result.code == 2
    assert message in result.error
    assert result.out == ""


def test_numbers_have_no_classes(regard: Regard, rated: Path) -> None:
    assert "--top 2: expected a model of classes" in regard("predict", rated, "good film", "--top", "2").error
    assert "--format fasttext: expected a model of classes" in (
        regard("predict", rated, "good film", "--format", "fasttext").error
    )


@pytest.mark.parametrize(("terminal", "visible"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("total", [None, 1024])
def test_the_bar_is_only_on_a_terminal(terminal: bool, visible: bool, total: int | None) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=80)

    def rows() -> Iterator[int]:
        yield from range(1024)

    with RowCounter(total, visible, console) as counter:
        assert [*counter.count(rows())] == [*range(1024)]
        counter.bar.refresh()
        shown = screen.getvalue()
    assert ("1,024 rows" in shown) == (terminal and visible)
    assert ("rows/s" in shown) == (terminal and visible)


@pytest.mark.parametrize("numbers", [False, True])
def test_lines_from_columns_are_those_of_the_records(numbers: bool) -> None:
    """Names with braces and quotes, a row without an answer, and numbers that Python writes with an exponent."""
    layout = Layout(() if numbers else ("a{}", 'b"\\', "é"))
    examples = [Example("one\n", row=1), Example("", row=2, error="no text"), Example("zwei é", row=3)]
    if numbers:
        answers, chosen = np.array([[1e-05], [2.5]]), None
        predictions = [Prediction(1e-05, {}), Prediction(2.5, {})]
    else:
        answers, chosen = np.array([[0.5, 0.5 - 1e-7, 1e-7], [1e-300, 0.25, 0.75]]), np.array([0, 2])
        rows = zip(("a{}", "é"), answers.tolist(), strict=True)
        predictions = [Prediction(name, dict(zip(layout.classes, row, strict=True))) for name, row in rows]
    expected = [
        prediction_json(example, prediction, layout)
        for example, prediction in zip(examples, (predictions[0], None, predictions[1]), strict=True)
    ]
    found = b"".join(block_lines([Block(examples, answers, chosen)], layout)).decode()
    assert found == "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in expected)
