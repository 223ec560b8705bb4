"""tools/goldens.py compare: equal folders pass, and every kind of difference is reported with its position."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "goldens.py"
PAGE = '<p>Accuracy (F1) {number}, {word}</p><script type="application/json">{data}</script><script>1 < 2</script>'


def write(folder: Path, number: str = "0.5", word: str = "found", **data: float) -> Path:
    folder.mkdir()
    (folder / "page.html").write_text(PAGE.format(number=number, word=word, data=json.dumps(data)), encoding="utf-8")
    (folder / "facts.json").write_text(json.dumps({"scores": [1.0, {"f": 0.25}], "nothing": float("nan")}))
    return folder


def compare(*words: object) -> tuple[int, list[str]]:
    command = [sys.executable, str(TOOL), "compare", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def test_equal_folders_are_identical(tmp_path: Path) -> None:
    code, lines = compare(write(tmp_path / "a"), write(tmp_path / "b"))
    assert (code, lines) == (0, ["2 files identical, 0 differ, 0 missing on either side"])


def test_words_differ_by_bytes_but_not_by_numbers(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), write(tmp_path / "b", word="measured")
    code, lines = compare(a, b)
    assert code == 1
    assert lines[0].startswith("differs: page.html: line 1: ")
    assert compare(a, b, "--numbers")[0] == 0


def test_numbers_and_embedded_json_are_compared(tmp_path: Path) -> None:
    a, b, c = write(tmp_path / "a", p=1.5), write(tmp_path / "b", "0.6", p=1.5), write(tmp_path / "c", p=2.5)
    assert compare(a, b, "--numbers")[1][0] == (
        "differs: page.html: number 1: 'Accuracy (F1) 0.5, found' != 'Accuracy (F1) 0.6, found'"
    )
    assert compare(a, c, "--numbers")[1][0] == "differs: page.html: embedded JSON [0].p: 1.5 != 2.5"


def test_json_is_compared_parsed_and_missing_files_are_listed(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), write(tmp_path / "b")
    (b / "facts.json").write_text('{"nothing": NaN, "scores": [1.0,  {"f": 0.25}]}')
    assert compare(a, b)[0] == 0
    (b / "facts.json").write_text('{"nothing": NaN, "scores": [1.0, {"f": 0.5}]}')
    (a / "page.html").unlink()
    assert compare(a, b) == (
        1,
        [
            "differs: facts.json: .scores[1].f: 0.25 != 0.5",
            f"missing in {a}: page.html",
            "0 files identical, 1 differ, 1 missing on either side",
        ],
    )
