"""Names and texts that attack what shows them: control characters in a terminal, formulas in a spreadsheet, endless labels."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import regard as regard_package
from command import TINY, Regard, write_csv
from regard.data.reviews import reviews
from regard.report.text.characters import shortened
from regard.report.text.formulas import is_formula

ESCAPE = "\x1b]0;gotcha\x07\x1b[31m"


@pytest.fixture
def odd_table(tmp_path: Path) -> Path:
    folder = tmp_path / f"odd{ESCAPE}folder"
    folder.mkdir()
    return write_csv(folder / f"t{ESCAPE}.csv", [(example.text, example.label) for example in reviews(60)])


def test_control_characters_in_file_names_do_not_reach_the_terminal(regard: Regard, odd_table: Path) -> None:
    folder = odd_table.parent
    run, other = folder / "run", folder / "other"
    commands: list[tuple[object, ...]] = [
        ("train", odd_table, "--epochs", "2", "--out", run),
        ("train", odd_table, "--epochs", "1", "--out", other),
        ("train", odd_table, "--epochs", "2", "--out", run),
        ("predict", run, odd_table, "--format", "terminal"),
        ("predict", run, folder / "nothing.csv"),
        ("explain", run, "a good room"),
        ("explain", run, "--file", odd_table, "--limit", "2", "--beside", other),
        ("explain", run, str(odd_table)),
        ("evaluate", run, odd_table),
        ("compare", run, other, "--data", odd_table),
        ("report", run, "--data", odd_table, "--out", folder / "report.html", "--figures", folder / "figures"),
        ("analyse", run, "--data", odd_table),
        ("doubts", odd_table, "--out", folder / "doubts.csv", "--page", folder / "doubts.html"),
        ("export", run, "--page", "--out", folder / "page.html"),
        ("serve", run, "--port", "-1"),
        ("datasets", "mine", "--from", odd_table, "--out", folder / "corpora"),
    ]
    for command in commands:
        result = regard(*command)
        shown = result.out + result.err
        assert shown, command
        assert not any(control in shown for control in "\x1b\x07"), command
        assert "Traceback" not in shown


def test_formulas_are_reported_and_escaped_on_request(regard: Regard, run: Path, tmp_path: Path) -> None:
    attack = "=cmd|' /C calc'!A0 a good room"
    table = write_csv(tmp_path / "texts.csv", [("1", attack), ("2", "-3.5 a bad room"), ("-7", "fine")], ("id", "text"))
    raw = regard("predict", run, table, "--format", "csv", "--keep", "id")
    assert (
        "2 cells begin like a formula, which a spreadsheet would run; --escape-formulas puts ' before each" in raw.err
    )
    rows = [*csv.DictReader(io.StringIO(raw.out))]
    assert [row["text"] for row in rows] == [attack, "-3.5 a bad room", "fine"]
    escaped = regard("predict", run, table, "--format", "csv", "--keep", "id", "--escape-formulas")
    assert "' was put before each" in escaped.err
    rows = [*csv.DictReader(io.StringIO(escaped.out))]
    assert [row["text"] for row in rows] == [f"'{attack}", "'-3.5 a bad room", "fine"]
    assert [row["id"] for row in rows] == ["1", "2", "-7"], "a number is not a formula"
    wrong = regard("predict", run, table, "--format", "jsonl", "--escape-formulas")
    assert wrong.error == "--escape-formulas: expected --format csv or --out FILE.csv, got the format jsonl"


def test_explanations_and_doubts_escape_formulas_too(regard: Regard, run: Path, tmp_path: Path) -> None:
    words = regard("explain", run, "a room @home +49", "--format", "csv", "--escape-formulas")
    assert "'@home" in words.out
    assert "1 cell begins like a formula" in words.err
    assert regard("explain", run, "a room", "--escape-formulas").code == 2
    rows = [(f"{'good' if k % 2 else 'bad'} room", "=HYPERLINK(1)" if k % 2 else "no") for k in range(40)]
    out = tmp_path / "doubts.csv"
    result = regard("doubts", write_csv(tmp_path / "t.csv", rows), "--out", out, "--escape-formulas")
    assert "cells begin like a formula" in result.err
    assert "'=HYPERLINK" in out.read_text()


@pytest.mark.parametrize("cell", ["=1+1", "=cmd|'/C calc'!A0", "+1 555", "-good", "@SUM(1)", "\t=1", "\r@x"])
def test_these_are_formulas(cell: str) -> None:
    assert is_formula(cell)


@pytest.mark.parametrize("cell", ["", "-", "=", "-0.5", "+1e9", "-inf", "a=b", ":-)", "—", "-)", " text"])
def test_these_are_not(cell: str) -> None:
    assert not is_formula(cell)


@pytest.mark.parametrize("form", ["csv", "fasttext", "jsonl"])
def test_formats_of_files_do_not_control_a_terminal(
    regard: Regard, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    table = write_csv(tmp_path / "t.csv", [(f"a good{ESCAPE} film\x9b31m", f"{ESCAPE}x")], ("text", "id"))
    command = ("predict", run, table, "--format", form, *([] if form == "fasttext" else ["--keep", "id"]))
    piped = regard(*command).out
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda stream: True)
    shown = regard(*command).out
    assert not any(control in shown for control in "\x1b\x07\x9b")
    assert (ESCAPE in piped) == (form == "csv"), "a pipe gets the text as it is"
    assert len(shown) == len(piped)


def test_a_name_as_long_as_a_book_is_shortened_at_once() -> None:
    begin = time.process_time()
    assert shortened("a" * 3_000_000, 5) == "aaaa…"
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("漢字漢字", 6, "漢字…"),
        ("é" * 3, 3, "é" * 3),
        ("ab", 1, "…"),
    ],
)
def test_names_are_shortened_to_cells(text: str, most: int, expected: str) -> None:
    assert shortened(text, most) == expected


def test_formulas_in_figures_are_reported_and_escaped(regard: Regard, tmp_path: Path) -> None:
    rows = [(one.text, "=cmd|' /C calc'!A0" if number % 2 else "fine") for number, one in enumerate(reviews(40))]
    table = write_csv(tmp_path / "a.csv", rows)
    run = tmp_path / "run"
    assert regard("train", table, *TINY, "--out", run).code == 0
    words = ("report", run, "--data", table, "--figures", tmp_path / "figures")
    raw, escaped = regard(*words), regard(*words, "--escape-formulas")
    assert "like a formula, which a spreadsheet would run; --escape-formulas puts ' before each" in raw.out
    assert "' was put before each" in escaped.out
    cells = [
        cell
        for path in (tmp_path / "figures").glob("*.csv")
        for row in csv.reader(io.StringIO(path.read_bytes().decode()))
        for cell in row
    ]
    assert any("=cmd" in cell for cell in cells)
    assert not any(cell.startswith("=") for cell in cells)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("script", ["serve/table.js", "report/pages/doubts.js"])
def test_pages_know_the_same_formulas(script: str) -> None:
    cells = [
        "=1+1",
        "+x",
        "-5",
        "-5.5e3",
        "-a",
        "@SUM(A1)",
        "\t=x",
        "\r@x",
        "a=b",
        "",
        "-",
        "--",
        "=",
        "- ?",
        "5",
        "=\nx",
    ]
    source = (Path(regard_package.__file__).parent / script).read_text()
    function = re.search(r"function isFormula.*?\n *}\n", source, re.DOTALL)
    assert function is not None
    program = f"{function[0]}; console.log(JSON.stringify({json.dumps(cells)}.map(isFormula)))"
    answers = json.loads(subprocess.run(["node", "-e", program], capture_output=True, check=True).stdout)
    assert answers == [is_formula(cell) for cell in cells]
