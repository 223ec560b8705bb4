"""Many Parquet files: every row once, columns copied, and a second start that only does what is left."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from parquet_case import read_folder, write_parts

from command import Regard
from regard.cli import main
from regard.commands.predict_files import parse_actors
from regard.errors import InputError
from regard.scoring import partitions
from regard.scoring.locations import SourceFile, WritingFailed, compiled, complete_file, locate, split_pattern
from regard.scoring.partitions import Partition, divide
from regard.scoring.score_files import check_shared

pq = pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def model(table: Path) -> Path:
    folder = table.parent / "flat_files"
    assert main(["train", str(table), "--epochs", "2", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(partitions, "ROWS", 32)  # two row groups
    return write_parts(tmp_path / "in")


def times(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}


def test_every_row_is_predicted_once_with_its_columns(
    regard: Regard, model: Path, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = regard("predict", model, source / "*.parquet", "--out", out, "--digits", "6")
    assert result.code == 0, result.err
    assert "120 rows of 6 partitions were predicted" in result.err
    assert "3 of them have no prediction" in result.err
    rows = read_folder(out)
    assert [row["id"] for row in rows] == list(range(120))
    names = [f"part-{number}-0000{k}-of-00002.parquet" for number in range(3) for k in range(2)]
    assert sorted(times(out)) == names
    one = tmp_path / "one.parquet"
    for number in range(3):
        file = source / f"part-{number}.parquet"
        assert regard("predict", model, file, "--out", one, "--keep", "id", "stars", "--digits", "6").code == 0
        for expected in pq.read_table(one).to_pylist():
            row = rows[expected["id"]]
            assert row.pop("text") == (expected.pop("text") or None)
            expected.pop("row")
            assert row == expected  # with the same sentence about a bad row


def test_a_second_start_only_scores_what_is_missing_or_has_changed(
    regard: Regard, model: Path, source: Path, tmp_path: Path
) -> None:
    out, command = tmp_path / "out", ("predict", model, source / "*.parquet", "--out", tmp_path / "out")
    assert regard(*command).code == 0
    before = times(out)
    (out / "part-1-00001-of-00002.parquet").unlink()
    (out / ".part-1-00001-of-00002.parquet.0123.partial").write_bytes(b"half")
    (out / "part-0-00000-of-00002.parquet").write_bytes(b"PAR1 damaged")
    os.utime(source / "part-2.parquet", ns=(1, 1))
    result = regard(*command)
    assert "2 of 6 partitions are finished already" in result.err
    assert "3 partitions have predictions of texts that have changed since" in result.err
    after = times(out)
    assert {name for name in after if after[name] == before[name]} == {
        "part-0-00001-of-00002.parquet",
        "part-1-00000-of-00002.parquet",
    }
    assert [row["id"] for row in read_folder(out)] == list(range(120))
    assert not list(out.glob(".*"))
    assert "0 rows of 0 partitions" in regard(*command).err


def test_predictions_of_partitions_that_a_changed_file_no_longer_has_are_removed(
    regard: Regard, model: Path, source: Path, tmp_path: Path
) -> None:
    out, command = tmp_path / "out", ("predict", model, source / "*.parquet", "--out", tmp_path / "out")
    shutil.copy(source / "part-1.parquet", source / "part-0-00007-of-00009.parquet")  # looks like one of them
    assert regard(*command).code == 0
    shorter = pq.read_table(source / "part-0.parquet").slice(0, 10)
    pq.write_table(shorter, source / "part-0.parquet")
    result = regard(*command)
    assert result.code == 0, result.err
    assert "2 files of predictions are of texts that have changed since: removed" in result.err
    assert sorted(times(out))[0] == "part-0-00007-of-00009-00000-of-00002.parquet"
    ids = [row["id"] for row in read_folder(out)]
    assert ids == sorted([*range(10), *range(40, 80), *range(40, 120)])


@pytest.mark.parametrize(
    ("options", "what"), [(("--top", "1"), "top"), (("--explain", "2"), "explain"), (("--keep", "id"), "columns")]
)
def test_a_folder_of_other_predictions_is_refused(
    regard: Regard, model: Path, source: Path, tmp_path: Path, options: tuple[str, ...], what: str
) -> None:
    command = ("predict", model, source / "*.parquet", "--out", tmp_path / "out")
    assert regard(*command).code == 0
    result = regard(*command, *options)
    assert result.code == 2
    assert f"has predictions of another command ({what}: " in result.error


def test_files_of_the_same_names_in_another_folder_do_not_replace_predictions(
    regard: Regard, model: Path, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert regard("predict", model, source / "*.parquet", "--out", out).code == 0
    before = times(out)
    other = write_parts(tmp_path / "other", files=1)
    result = regard("predict", model, other / "*.parquet", "--out", out)
    assert result.code == 2
    assert f"has predictions of another command (source: {source} there, {other} here)" in result.error
    assert times(out) == before
    again = regard("predict", model, f"file://{source}", "--out", out)
    assert "6 of 6 partitions are finished already" in again.err, again.err


def test_a_folder_of_something_else_is_refused(regard: Regard, model: Path, source: Path) -> None:
    result = regard("predict", model, source / "*.parquet", "--out", source.parent)
    assert result.code == 2
    assert "expected Parquet files outside --out" in result.error
    (source.parent / "other").mkdir()
    (source.parent / "other" / "notes.txt").touch()
    result = regard("predict", model, source / "*.parquet", "--out", source.parent / "other")
    assert result.code == 2
    assert "expected a new folder" in result.error


def test_predictions_inside_the_folder_of_texts_are_not_texts(regard: Regard, model: Path, source: Path) -> None:
    command = ("predict", model, f"{source}/**/*.parquet", "--out", source / "answers")
    assert regard(*command).code == 0
    again = regard(*command)
    assert again.code == 0, again.err
    assert "6 of 6 partitions are finished already" in again.err


def test_words_have_their_sign(regard: Regard, run: Path, model: Path, source: Path, tmp_path: Path) -> None:
    for folder in (model, run):
        out = tmp_path / folder.name
        assert regard("predict", folder, source / "part-0*.parquet", "--out", out, "--explain", "2").code == 0
        rows = read_folder(out)
        assert rows[3]["words"] is None
        explained = json.loads(regard("explain", folder, rows[0]["text"], "--format", "jsonl").out)
        ranked = sorted(explained["tokens"], key=lambda token: -abs(token["contribution"]))[:2]
        for word, token in zip(rows[0]["words"], ranked, strict=True):
            assert word["word"] == token["text"]
            assert word["contribution"] == pytest.approx(token["contribution"], rel=1e-5)


def test_a_damaged_file_fails_alone(regard: Regard, model: Path, source: Path, tmp_path: Path) -> None:
    good = (source / "part-1.parquet").read_bytes()
    at = good.find(b"PAR1", 1)
    (source / "part-1.parquet").write_bytes(good[:100] + bytes(300) + good[400:at] + good[at:])
    result = regard("predict", model, source / "*.parquet", "--out", tmp_path / "out")
    assert result.code == 2
    assert "could not be scored, the others were; the first: " in result.error
    assert {row["id"] // 40 for row in read_folder(tmp_path / "out")} >= {0, 2}


@pytest.mark.parametrize("damaged", [0, 1])
def test_a_file_that_cannot_be_opened_fails_alone(
    regard: Regard, model: Path, source: Path, tmp_path: Path, damaged: int
) -> None:
    cut = source / f"part-{damaged}.parquet"
    whole = cut.read_bytes()
    cut.write_bytes(whole[:-20])
    command = ("predict", model, source / "*.parquet", "--out", tmp_path / "out")
    result = regard(*command)
    assert result.code == 2
    assert f"1 of 5 partitions could not be scored, the others were; the first: {cut}: is not" in result.error
    assert {row["id"] // 40 for row in read_folder(tmp_path / "out")} == {0, 1, 2} - {damaged}
    cut.write_bytes(whole)
    again = regard(*command)
    assert again.code == 0
    assert "4 of 6 partitions are finished already" in again.err
    assert [row["id"] for row in read_folder(tmp_path / "out")] == list(range(120))


def test_a_file_without_rows_has_predictions_without_rows(regard: Regard, model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(
        pa.table({"text": pa.array([], pa.string()), "id": pa.array([], pa.int8())}), tmp_path / "in" / "a.parquet"
    )
    nothing = pq.read_schema(tmp_path / "in" / "a.parquet")
    pq.ParquetWriter(tmp_path / "in" / "b.parquet", nothing).close()  # without a row group
    result = regard("predict", model, f"{tmp_path}/in/*.parquet", "--out", tmp_path / "out")
    assert result.code == 0, result.err
    assert sorted(times(tmp_path / "out")) == ["a.parquet", "b.parquet"]
    assert read_folder(tmp_path / "out") == []


def test_a_file_address_may_name_folders_that_do_not_exist(
    regard: Regard, model: Path, source: Path, tmp_path: Path
) -> None:
    shutil.copytree(source, source / "more")
    result = regard("predict", model, f"file://{source}", "--out", f"file://{tmp_path}/new/out")
    assert result.code == 0, result.err
    assert len(read_folder(tmp_path / "new" / "out")) == 240


def test_a_file_in_which_every_text_is_missing_has_only_bad_rows(
    regard: Regard, model: Path, source: Path, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"id": [998, 999], "text": pa.nulls(2)}), source / "a.parquet")  # as pandas writes it
    pq.write_table(pa.table({"id": pa.array([], pa.int64()), "text": pa.nulls(0)}), source / "b.parquet")
    out = tmp_path / "out"
    result = regard("predict", model, source / "*.parquet", "--keep", "id", "--explain", "1", "--out", out)
    assert result.code == 0, result.err
    assert "122 rows of 8 partitions were predicted" in result.err
    assert "5 of them have no prediction" in result.err
    rows = pq.read_table(out / "a.parquet").to_pylist()
    assert [(row["id"], row["prediction"], row["words"]) for row in rows] == [(998, None, None), (999, None, None)]
    assert rows[1]["error"].endswith("a.parquet, row 2, column 'text': expected a text or a list of texts, got null")
    assert pq.read_table(out / "b.parquet").num_rows == 0


def test_a_folder_of_parquet_files_is_a_source(regard: Regard, model: Path, source: Path, tmp_path: Path) -> None:
    assert regard("predict", model, source, "--out", tmp_path / "out").code == 0
    assert len(read_folder(tmp_path / "out")) == 120
    (source / "part-0.parquet").rename(source / "PART-0.PARQUET")
    assert regard("predict", model, source, "--out", tmp_path / "other").code == 0
    assert len(read_folder(tmp_path / "other")) == 120
    (tmp_path / "empty").mkdir()
    assert "expected one folder of .txt files" in regard("predict", model, tmp_path / "empty", "--out", "o").error


@pytest.mark.parametrize("other", ["texts.csv", "a text", "-"])
def test_other_sources_are_not_for_a_cluster(regard: Regard, model: Path, other: str, tmp_path: Path) -> None:
    result = regard("predict", model, other, "--on", "ray", "--out", tmp_path / "out")
    assert result.code == 2
    assert f"--on ray: expected Parquet files, such as 'reviews/*.parquet', got {other!r}" in result.error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "expected --out FOLDER"),
        (("--out", "o", "--format", "csv"), "--format csv: expected parquet"),
        (("--out", "o", "--strict"), "--strict: not for Parquet files"),
        (("--out", "o", "--explain", "0"), "--explain: expected a number of words from 1, got 0"),
        (("--out", "o", "--actors", "1:2"), "--actors: expected with --on ray"),
        (("--out", "-"), "--out -: expected a folder, got standard output"),
        (("--out", "o", "--on", "ray", "--device", "gpu"), "--device gpu: expected cpu or cuda with --on"),
        (("--out", "o", "--on", "ray", "--device", "cuda:1"), "--device cuda:1: expected cpu or cuda with --on"),
        (("--out", "o", "--text", "nothing"), "--text nothing: "),
        (("--out", "o", "--text", "id"), "--text id: expected a column of strings, got int64"),
        (("--out", "o", "--keep", "other"), "--keep other: "),
    ],
)
def test_bad_options_are_explained(
    regard: Regard, model: Path, source: Path, options: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)
    result = regard("predict", model, source / "*.parquet", *options)
    assert result.code == 2
    assert message in result.error
    assert not (source.parent / "o").exists()


def test_options_of_many_files_are_refused_for_one(regard: Regard, model: Path, source: Path) -> None:
    for options in (("--explain", "2"), ("--actors", "2")):
        result = regard("predict", model, source / "part-0.parquet", *options)
        assert result.code == 2
        assert f"{options[0]} is for Parquet files, such as" in result.error
    assert "no such files" in regard("predict", model, source / "x*.parquet", "--out", "o").error
    assert (
        "expected a file; an address" in regard("predict", model, source / "part-0.parquet", "--out", "s3://a/b").error
    )


def test_a_column_that_is_named_twice_is_copied_once(regard: Regard, model: Path, source: Path, tmp_path: Path) -> None:
    command = ("predict", model, source / "*.parquet", "--out", tmp_path / "out")
    result = regard(*command, "--keep", "id", "stars", "id")
    assert result.code == 0, result.err
    assert [*read_folder(tmp_path / "out")[0]][:3] == ["id", "stars", "prediction"]


def test_a_column_of_answers_in_the_source_is_refused(regard: Regard, model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"text": ["good"], "error": ["x"]}), tmp_path / "in" / "a.parquet")
    command = ("predict", model, f"{tmp_path}/in/*.parquet", "--out", tmp_path / "out")
    assert "predictions have a column 'error' too; name the columns to copy with --keep" in regard(*command).error
    assert regard(*command, "--keep", "text").code == 0


def test_partitions_end_with_row_groups_of_enough_rows_or_bytes() -> None:
    file = SourceFile("/a/b.parquet", "b.parquet", 1, 1)
    whole = divide(file, [(10, 10)])
    assert [(one.target, one.groups, one.rows) for one in whole] == [("b.parquet", (0, 1), 10)]
    some = divide(file, [(10, 1 << 25), (1 << 17, 5), (5, 5), (6, 5)])
    assert [(one.groups, one.first_row, one.rows) for one in some] == [
        ((0, 1), 1, 10),
        ((1, 2), 11, 1 << 17),
        ((2, 4), 11 + (1 << 17), 11),
    ]


@pytest.mark.parametrize(
    ("source", "base", "pattern"),
    [
        ("s3://bucket/a/*.parquet", "s3://bucket/a", "*.parquet"),
        ("s3://bucket/a/year=*/x.parquet?region=eu", "s3://bucket/a?region=eu", "year=*/x.parquet"),
        ("s3://bucket/a", "s3://bucket/a", "**/*.parquet"),
        ("a/b/c.parquet", "a/b", "c.parquet"),
        ("*.parquet", ".", "*.parquet"),
        ("/*.parquet", "/", "*.parquet"),
    ],
)
def test_a_pattern_begins_in_a_folder(source: str, base: str, pattern: str) -> None:
    assert split_pattern(source) == (base, pattern)


def test_patterns_stop_at_slashes() -> None:
    assert compiled("*.parquet").fullmatch("a.parquet")
    assert not compiled("*.parquet").fullmatch("b/a.parquet")
    assert compiled("**/*.parquet").fullmatch("b/c/a.parquet")
    assert compiled("**/*.parquet").fullmatch("a.parquet")
    assert compiled("[ab]?.parquet").fullmatch("bc.parquet")


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("[0-2].parquet", ["0", "2"], ["3", "-"]),
        ("[!ab].parquet", ["c", "!"], ["a", "b", ""]),
        ("x[!a]y.parquet", ["xby"], ["xay", "x/y"]),
        ("[^a].parquet", ["b"], ["a"]),
        ("[\\d].parquet", ["d", "\\"], ["1"]),
        ("[.parquet", ["["], ["a"]),
        ("[]*.parquet", ["[]a"], ["a"]),
    ],
)
def test_brackets_match_as_in_a_shell(pattern: str, matched: list[str], others: list[str]) -> None:
    expression = compiled(pattern)
    assert [name for name in (*matched, *others) if expression.fullmatch(f"{name}.parquet")] == matched


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InputError, match=r"x\[z-a\]\.parquet: expected a pattern .* bad character range z-a"):
        compiled("x[z-a].parquet")


@pytest.mark.parametrize("text", ["", "0", "2:1", "a", "1:2:3", ":3"])
def test_numbers_of_actors_are_checked(text: str) -> None:
    with pytest.raises(InputError, match="--actors: expected MIN:MAX"):
        parse_actors(text)
    assert parse_actors("3") == (3, 3)
    assert parse_actors("1:4") == (1, 4)


def test_predictions_on_other_machines_are_noticed(tmp_path: Path) -> None:
    partition = Partition(SourceFile("/a/b.parquet", "b.parquet", 1, 1), (0, 1), 1, 1, "b.parquet")
    with pytest.raises(InputError, match=r"1 files of predictions, such as b.parquet, are on other machines"):
        check_shared(locate(str(tmp_path)), [partition])
    (tmp_path / "b.parquet").touch()
    check_shared(locate(str(tmp_path)), [partition])


class FullDisk:
    """A file system without space."""

    def __init__(self) -> None:
        self.deleted: list[str] = []

    def open_output_stream(self, path: str) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    def delete_file(self, path: str) -> None:
        self.deleted.append(path)


def test_a_full_disk_is_named_with_its_machine(tmp_path: Path) -> None:
    full = locate(str(tmp_path))._replace(files=FullDisk())
    with (
        pytest.raises(WritingFailed, match=r"could not be written on .* \(the disk is full; free some space"),
        complete_file(full, "a"),
    ):
        pass
    assert full.files.deleted


def test_a_file_is_complete_or_missing(tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), complete_file(locate(str(tmp_path)), "b/a.parquet") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert list((tmp_path / "b").iterdir()) == []


def test_columns_of_one_name_are_refused(regard: Regard, model: Path, tmp_path: Path) -> None:
    for names in (["text", "l", "l"], ["text", "text", "l"], ["text", "", ""]):
        table = pa.table([["a good film", "b"], ["c", "d"], ["x", "y"]], names=names)
        pq.write_table(table, tmp_path / "a.parquet")
        result = regard("predict", model, tmp_path / "*.parquet", "--out", tmp_path / "out")
        assert result.code == 2
        assert "expected different column names, got" in result.error


def test_flipped_bits_give_a_sentence(regard: Regard, model: Path, tmp_path: Path) -> None:
    path = write_parts(tmp_path / "in", files=1) / "part-0.parquet"
    content, rng = path.read_bytes(), random.Random(0)
    for number in range(40):
        damaged = bytearray(content)
        # the footer is the most fragile
        at = len(damaged) - 1 - rng.randrange(1000 if number % 2 else len(damaged))
        damaged[at] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        for source, out in ((tmp_path / "in" / "*.parquet", f"out {number}"), (path, f"{number}.parquet")):
            assert regard("predict", model, source, "--out", tmp_path / out).code in (0, 2), at


@pytest.mark.parametrize("content", ["", "[]", "null", "[" * 100_000, '{"a":' * 50_000, "1" * 5000])
def test_damaged_settings_give_a_sentence(
    regard: Regard, model: Path, source: Path, tmp_path: Path, content: str
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "_regard.json").write_text(content)
    result = regard("predict", model, source / "*.parquet", "--out", tmp_path / "out")
    assert result.code == 2
    assert "has predictions of another command; choose another --out" in result.error


@pytest.mark.parametrize("part", ["[z-a]", "[^]", "[a-"])
def test_brackets_that_name_no_characters_give_a_sentence(regard: Regard, model: Path, source: Path, part: str) -> None:
    result = regard("predict", model, source / f"{part}].parquet", "--out", source / "out")
    assert result.code == 2
    assert "expected a pattern" in result.error or "no such files" in result.error


def test_characters_in_brackets_have_no_other_meaning() -> None:
    assert compiled("[a&&b].parquet").fullmatch("&.parquet")
    assert compiled("[[x]1.parquet").fullmatch("[1.parquet")
    assert compiled("[\\d].parquet").fullmatch("\\.parquet")
    assert not compiled("[\\d].parquet").fullmatch("3.parquet")
    assert compiled("[^0-9].parquet").fullmatch("a.parquet")
    assert not compiled("[^0-9].parquet").fullmatch("3.parquet")
