"""`regard doubts` from a file to tables and a page."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from doubtful import FOR, HOSTILE, WRONG, table_rows

from command import Regard, write_csv
from regard.data.reviews import reviews

HEAD = ("id", "text", "label")


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("doubts") / "calls.csv", table_rows(), HEAD)


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_wrong_labels_come_first_with_the_words_against_them(regard: Regard, calls: Path, tmp_path: Path) -> None:
    out = tmp_path / "doubts.csv"
    result = regard("doubts", calls, "--out", out)
    assert result.code == 0
    rows = rows_of(out)
    assert list(rows[0]) == ["row", "label", "suggested", "doubt", "words"]
    assert len(rows) == len(table_rows())
    assert {int(row["row"]) for row in rows[:3]} == {*WRONG, 121}
    doubts = [float(row["doubt"]) for row in rows]
    assert doubts == sorted(doubts, reverse=True)
    first = next(row for row in rows if row["row"] == str(WRONG[0]))
    assert (first["label"], first["suggested"]) == ("no", "yes")
    assert first["words"].split()
    assert set(first["words"].split()) <= {*FOR}
    assert "11, 121" in result.out
    assert f"saved in {out}" in result.out


def test_the_result_is_the_same_every_time(regard: Regard, calls: Path, tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        assert regard("doubts", calls, "--out", tmp_path / name).code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_the_page_has_every_row_and_no_markup_of_a_text(regard: Regard, calls: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert regard("doubts", calls, "--page", page, "--limit", 2).code == 0
    content = page.read_text(encoding="utf-8")
    assert "<img src=x" not in content
    assert content.count("<script>") == 1
    found = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', content, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert data["columns"] == list(HEAD)
    assert data["rows"] == [[str(cell) for cell in row] for row in table_rows()]
    assert content.count("<article id=") == 2
    assert "more disputed label" in content


def test_texts_of_a_pool_are_chosen(regard: Regard, calls: Path, tmp_path: Path) -> None:
    sure, torn = "the film was good great lovely", "good awful great bad story"
    pool = write_csv(tmp_path / "pool.csv", [(sure,), (torn,), (torn,)], ("text",))
    result = regard("doubts", calls, "--pool", pool, "--next", tmp_path / "next.csv", "--limit", 2)
    assert result.code == 0
    chosen = rows_of(tmp_path / "next.csv")
    assert list(chosen[0]) == ["row", "text", "prediction", "uncertainty", "novelty"]
    assert chosen[0]["row"] == "2"
    assert len(chosen) == 2


def test_numbers_are_doubted_by_their_distance(regard: Regard, tmp_path: Path) -> None:
    rows = [(f"{example.text}", float(str(example.label)) + 0.5) for example in reviews(300)]
    swapped = max(range(300), key=lambda place: rows[place][1])
    rows[swapped] = (rows[swapped][0], -20.0)
    table = write_csv(tmp_path / "stars.csv", rows)
    result = regard("doubts", table, "--out", tmp_path / "doubts.csv", "--page", tmp_path / "page.html")
    assert result.code == 0
    first = rows_of(tmp_path / "doubts.csv")[0]
    assert first["row"] == str(swapped + 1)
    assert first["label"] == "-20.0"
    assert float(first["suggested"]) > -5
    assert 'type="number"' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_run_gives_the_options(regard: Regard, calls: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert regard("train", calls, "--out", folder, "--no-pairs").code == 0
    assert regard("doubts", folder).error == (
        f"{folder}: expected --data FILE with a run, the texts and labels that it was trained on"
    )
    assert regard("doubts", folder, "--data", calls, "--out", tmp_path / "of_run.csv").code == 0
    assert regard("doubts", calls, "--no-pairs", "--out", tmp_path / "of_file.csv").code == 0
    first, second = (rows_of(tmp_path / name) for name in ("of_run.csv", "of_file.csv"))
    assert {row["row"] for row in first[:3]} == {row["row"] for row in second[:3]}


def test_models_of_pytorch_are_cross_validated_too(regard: Regard, run: Path, tmp_path: Path) -> None:
    few = write_csv(tmp_path / "few.csv", [row[1:] for row in table_rows(20)])
    out = tmp_path / "doubts.csv"
    assert regard("doubts", run, "--data", few, "--out", out, "--label", "label").code == 0
    assert len(rows_of(out)) == 22


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "expected rows of data, got only the header row"),
        ([("one", "a")], "expected at least 2 usable rows, got 1"),
        ([("one", "a"), ("two", "b")], "expected two or more texts of some label, got one of each"),
        ([("one", "a"), ("two", "a"), ("three", "a")], "expected at least two different labels"),
        ([("one", "1.5"), ("two", "1.5"), ("three", "2.5")], "expected at least two different numbers"),
    ],
)
def test_too_few_labels_are_refused(regard: Regard, tmp_path: Path, rows: list[tuple[str, str]], sentence: str) -> None:
    table = write_csv(tmp_path / "few.csv", rows)
    result = regard("doubts", table, "--out", tmp_path / "doubts.csv")
    assert result.code == 2
    assert sentence in result.error
    assert not (tmp_path / "doubts.csv").exists()


def test_a_tiny_file_is_judged(regard: Regard, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "tiny.csv", [("good", "a"), ("fine", "a"), ("bad", "b"), ("poor", "b")])
    assert regard("doubts", table, "--out", tmp_path / "doubts.csv").code == 0
    assert len(rows_of(tmp_path / "doubts.csv")) == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--limit", "0"), "--limit: expected 1 or more, got 0"),
        (("--next", "next.csv"), "--next: needs --pool FILE, the texts to choose from"),
        (("--out", "doubts.txt"), "--out doubts.txt: expected a name that ends in .csv, got .txt"),
        (("--page", "page"), "--page page: expected a name that ends in .html, got none"),
        (("--out", "a.csv", "--next", "a.csv", "--pool", "p.csv"), "expected two different files, got the same one"),
    ],
)
def test_impossible_options_are_refused(regard: Regard, calls: Path, options: tuple[str, ...], sentence: str) -> None:
    result = regard("doubts", calls, *options)
    assert result.code == 2
    assert sentence in result.error


def test_data_needs_a_run(regard: Regard, calls: Path) -> None:
    result = regard("doubts", calls, "--data", calls)
    assert result.code == 2
    assert result.error == f"--data: expected a run before it, got {calls}, which is not one; name only one file"
    assert HOSTILE not in result.err
