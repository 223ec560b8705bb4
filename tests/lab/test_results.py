"""Results as data: a kill loses nothing, outdated rows are not counted, and one process writes at a time."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from regard.errors import InputError
from regard_lab.results import Lock, append, error_text, match, read_results, read_rows, repair
from regard_lab.tables.table import Table

Rows = list[dict[str, object]]
Make = Callable[[Table, int], Rows]

ROW = '{"form": 1, "method": "m", "corpus": "c", "setting": "", "seed": 0, "fingerprint": "f", "options": {}, %s}'


def test_rows_are_read_as_they_were_written(toy: Table, rows_of: Make, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = rows_of(toy, 2)
    for row in rows:
        append(path, row)
    assert read_rows(path) == (rows, [])
    assert len(read_results(toy, path).rows) == 10


def test_nan_and_infinity_become_null(toy: Table, rows_of: Make, tmp_path: Path) -> None:
    row = rows_of(toy, 1)[0]
    append(tmp_path / "t.jsonl", {**row, "values": {"accuracy": float("nan")}, "history": {"loss": [float("inf")]}})
    (result,), _ = read_rows(tmp_path / "t.jsonl")
    assert result["values"] == {"accuracy": None}
    assert result["history"] == {"loss": [None]}


def test_an_incomplete_line_is_reported_and_all_others_are_kept(toy: Table, rows_of: Make, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for row in rows_of(toy, 1):
        append(path, row)
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    rows, messages = read_rows(path)
    assert len(rows) == 4
    assert "the last line is incomplete" in messages[0]
    assert "is run again" in (repair(path) or "")
    assert path.read_bytes() == b"".join(line + b"\n" for line in whole.splitlines()[:4])
    assert repair(path) is None


def test_a_line_that_only_lacks_its_end_counts(toy: Table, rows_of: Make, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, rows_of(toy, 1)[0])
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert len(read_rows(path)[0]) == 1
    assert repair(path) is None
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"config": "a.toml", "seed": 0}', "line 2: expected a result of form 1, got no form, as in older versions"),
        ('{"form": 0}', "line 2: expected a result of form 1, got no form"),
        ('{"form": 99}', "line 2: expected a result of form 1, which this version of regard reads, got form 99"),
        ("[1, 2]", "line 2: expected a result of form 1, which this version of regard reads, got form None"),
        ('{"form": 1, "method": "x"}', "line 2: 'corpus' is missing or has the wrong type"),
        ("nonsense", "line 2: expected a line of JSON"),
        ("[" * 100_000, "line 2: expected a line of JSON"),
        (ROW % '"values": {}', "line 2: 'seconds' is missing or has the wrong type"),
        (ROW % '"values": {}, "seconds": null', "line 2: 'seconds' is missing or has the wrong type"),
        (ROW % '"values": {}, "seconds": 1, "history": []', "line 2: 'history' is missing or has the wrong type"),
        (ROW % '"values": {}, "seconds": 1, "data": null', "line 2: 'data' is missing or has the wrong type"),
        (ROW % '"error": "x", "seconds": 1, "values": []', "line 2: 'values' is missing or has the wrong type"),
    ],
)
def test_a_line_of_another_format_is_an_error_with_its_number(
    toy: Table, rows_of: Make, tmp_path: Path, line: str, message: str
) -> None:
    path = tmp_path / "t.jsonl"
    append(path, rows_of(toy, 1)[0])
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert f"{path}, {message}" in str(caught.value)
    assert "move the file away" in str(caught.value)


def test_a_last_line_of_another_program_is_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("my notes", encoding="utf-8")
    assert repair(path) is None
    assert path.read_text(encoding="utf-8") == "my notes"


def test_rows_with_other_options_are_reported_and_not_counted(toy: Table, rows_of: Make) -> None:
    rows = rows_of(toy, 1)
    rows[0]["fingerprint"] = "0" * 16
    rows[1]["method"] = "gone"
    result = match(toy, rows, where="t.jsonl")
    assert (len(result.rows), result.others) == (3, 2)
    assert (
        "t.jsonl: 2 rows are outdated (their cells were removed from the table or have other options now)"
        in result.notes[0]
    )


def test_a_successful_row_takes_precedence_over_a_failed_one_in_either_order(toy: Table, rows_of: Make) -> None:
    good = rows_of(toy, 1)[0]
    bad = {**{key: value for key, value in good.items() if key != "values"}, "error": "it broke"}
    for rows in ([bad, good], [good, bad]):
        assert match(toy, rows).good == [good]
    assert match(toy, [bad]).good == []


def test_two_runs_cannot_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with Lock(path), pytest.raises(InputError, match=r"t\.jsonl: another run is writing to it"), Lock(path):
        pass
    with Lock(path):  # a released lock can be acquired again
        pass
    assert [*tmp_path.iterdir()] == []


def test_an_error_is_kept_as_one_line() -> None:
    assert error_text(InputError("what was found")) == "what was found"
    assert error_text(ValueError("two\nlines")) == "ValueError: two lines"
    assert error_text(MemoryError()) == "MemoryError"
    assert len(error_text(RuntimeError("x" * 5000))) < 600


def test_a_row_is_one_line_whatever_its_error(toy: Table, rows_of: Make, tmp_path: Path) -> None:
    row = {**rows_of(toy, 1)[0], "error": "a\nb\u2028c \ud800"}
    del row["values"]
    append(tmp_path / "t.jsonl", row)
    assert (tmp_path / "t.jsonl").read_bytes().count(b"\n") == 1
    assert "error" in json.loads((tmp_path / "t.jsonl").read_text(encoding="utf-8"))


def test_a_full_disk_leaves_no_half_line_behind(
    toy: Table, rows_of: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk writes part of a line and reports the error only on the next call."""
    path, rows = tmp_path / "t.jsonl", rows_of(toy, 1)
    append(path, rows[0])
    before = path.read_bytes()
    real, calls = os.write, []

    def write(handle: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data[:40])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(InputError, match=r"t\.jsonl: a result could not be written \(No space left on device\)"):
        append(path, rows[1])
    assert len(calls) == 2
    assert path.read_bytes() == before
    monkeypatch.setattr(
        os, "write", lambda handle, data: real(handle, data[:7])
    )  # written in pieces, the line is complete
    append(path, rows[1])
    assert [row["method"] for row in read_rows(path)[0]] == [row["method"] for row in rows[:2]]


def test_a_disk_without_locks_is_not_mistaken_for_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def flock(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(InputError, match="cannot be locked \\(No locks available\\)"), Lock(tmp_path / "t.jsonl"):
        pass
