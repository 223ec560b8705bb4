"""Files that are odd on purpose: torn quotation, very many columns, endless lines, deep nesting, values without a counterpart."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from regard.data import decoding, delimited
from regard.data.nesting import DEEPEST, is_too_deep
from regard.data.read_options import ReadOptions
from regard.data.readers import read, stream
from regard.errors import InputError

SKIP = ReadOptions(skip_bad_rows=True)


def texts(path: Path, options: ReadOptions = SKIP) -> list[str]:
    return [example.text for example in read(path, options).examples]


# quotation in TSV files


def test_a_row_with_an_extra_field_does_not_tear_quoted_rows_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('text\tlabel\n"one\ntwo"\ta\n"three\nfour"\tb\nextra\ta\tfield\n"five\nsix"\ta\n')
    corpus = read(path, SKIP)
    assert [example.text for example in corpus.examples] == ["one\ntwo", "three\nfour", "five\nsix"]
    assert corpus.skipped == 1
    assert "row 3: expected 2 fields, as in the first row, got 3" in corpus.first_skipped


def test_wrong_quotation_beside_rows_of_several_lines_is_an_error_and_tears_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    for content in (
        'text\tlabel\n"one\ntwo"\ta\n"odd" start\tb\nthree\ta\n',
        'text\tlabel\n"odd" start\tb\n"one\ntwo"\ta\nthree\ta\n',
    ):
        path.write_text(content)
        with pytest.raises(InputError, match="double the mark"):
            read(path, SKIP)


def test_many_wrongly_quoted_rows_do_not_hide_rows_of_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\n" + '"odd" start\tb\n' * 40 + '"one\ntwo"\ta\n')
    with pytest.raises(InputError, match="double the mark"):
        read(path, SKIP)
    path.write_text("text\tlabel\n" + '"odd" start\tb\n' * 20_000 + "two\ta\n")
    assert len(read(path).examples) == 20_001, "without such rows a mark is a character"


def test_quotation_that_takes_too_long_to_judge_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MOST_PASSES", 0)
    monkeypatch.setattr(delimited, "LONGEST_FIELD", 100)
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\n" + '"odd\tb\nthree\tb\nfour" x\tb\n' * 40)
    with pytest.raises(InputError, match="wrong in very many places; quote fields that contain a mark"):
        read(path, SKIP)


def test_marks_that_join_complete_lines_are_characters(tmp_path: Path) -> None:
    """Opened in one column and closed in another, further down: with quotation, four rows would be one bad row."""
    path = tmp_path / "a.tsv"
    path.write_text('title\ttext\tlabel\n"Odd\tone\ta\nx\ttwo\tb\ny\tthree"\ta\nz\tfour\tb\n')
    assert texts(path, ReadOptions(text="text", skip_bad_rows=True)) == ["one", "two", 'three"', "four"]


def test_rows_with_marks_and_without_are_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('text\tlabel\n"a ""quoted"" text"\t1\nplain "marks" inside\t0\n')
    assert texts(path) == ['a "quoted" text', 'plain "marks" inside']
    path.write_text('text\tlabel\n"odd start\t1\n"even" more\t0\n')
    assert texts(path) == ['"odd start', '"even" more']


# sizes


@pytest.mark.parametrize("columns", ["label", "keep"])
def test_time_is_linear_in_the_number_of_columns(tmp_path: Path, columns: str) -> None:
    path, names = tmp_path / "wide.csv", [f"c{number}" for number in range(40_000)]
    path.write_text("\n".join([",".join(["text", *names]), *[",".join(["good film", *["0"] * len(names)])] * 2]))
    options = ReadOptions(text="text", labelled=False, keep=names if columns == "keep" else ())
    if columns == "label":
        options = ReadOptions(text="text", label=",".join(names))
    begin = time.process_time()
    assert len(read(path, options).examples) == 2
    assert time.process_time() - begin < 5, "a list was searched for every column"


def compressed(path: Path, *pieces: tuple[bytes, int]) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for piece, times in pieces:
            for _ in range(times):
                file.write(piece)
    return path


MEGABYTE = b"word " * 200_000


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "txt"])
def test_a_line_that_unpacks_to_more_than_64_million_characters_is_refused(tmp_path: Path, form: str) -> None:
    start = b'{"text": "good"}\n' * 2 if form == "jsonl" else b"text,label\ngood,1\n"
    path = compressed(tmp_path / f"bomb.{form}.gz", (start, 1), (MEGABYTE, 80))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match=r"line 3: expected a line of up to 67,108,864 characters, got more"):
        read(path, ReadOptions(labelled=False, text="text" if form != "txt" else None))


def test_a_row_of_endless_quoted_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "LONGEST_RECORD", 10_000)
    monkeypatch.setattr(decoding, "PIECE", 1_000)
    path = tmp_path / "a.csv"
    path.write_text("text,label\ngood,1\n" + '"a\n",' * 10_000)
    with pytest.raises(InputError, match=r"expected a row of up to 10,000 characters, got more"):
        read(path)
    path.write_text("text,label\n" + '"a\nb",1\n' * 10_000)
    assert len(read(path).examples) == 10_000


def test_what_is_held_in_memory_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LARGEST_WHOLE", 1_000)
    rows = json.dumps([{"text": "good film", "label": number % 2} for number in range(100)])
    (tmp_path / "a.json").write_text(rows)
    with pytest.raises(InputError, match=r"a JSON list of up to .* characters, got more; use \.jsonl"):
        read(tmp_path / "a.json")
    pytest.importorskip("python_calamine")
    (tmp_path / "a.xlsx").write_bytes(b"x" * 2_000)
    with pytest.raises(InputError, match=r"a file of this format of up to .* bytes, got more"):
        read(tmp_path / "a.xlsx")


def test_a_file_in_a_folder_of_texts_has_a_limit_too(tmp_path: Path) -> None:
    for label in ("a", "b"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text("good film")
    compressed(tmp_path / "a" / "2.txt.gz", (MEGABYTE, 80))
    with pytest.raises(InputError, match=r"a text of up to 67,108,864 characters, got more"):
        read(tmp_path)
    assert texts(tmp_path) == ["good film"] * 2


# JSON


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_deeply_nested_values_get_one_sentence(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.{form}"
    rows = ['{"text": "a b", "label": "x"}', '{"text": DEEP, "label": "x"}', '{"text": "c d", "label": "y"}']
    for depth in (99, 150, *range(975, 1000), 5_000, 200_000):
        content = [row.replace("DEEP", "[" * depth + "]" * depth) for row in rows]
        path.write_text("\n".join(content) if form == "jsonl" else f"[{','.join(content)}]")
        with pytest.raises(
            InputError, match=r"nested more than 100 levels deep|expected a text or a list of texts|maximum recursion"
        ):
            read(path)
        if form == "jsonl":
            assert texts(path) == ["a b", "c d"]


def test_brackets_inside_strings_are_not_nesting(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    odd = "[{" * 300 + ' \\" ' + "[" * 300
    path.write_text("\n".join(json.dumps({"text": f"good {odd} {k}", "label": k % 2}) for k in range(4)))
    assert texts(path) == [f"good {odd} {k}" for k in range(4)]
    assert not is_too_deep(["[" * 1000] * 1000)
    for depth, expected in ((DEEPEST, False), (DEEPEST + 1, False), (DEEPEST + 2, True), (10_000, True)):
        value: object = "text"
        for _ in range(depth):
            value = [value]
        assert is_too_deep(value) is expected


# encodings


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_half_a_surrogate_pair_in_utf_16_is_not_replaced(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    content = "\ufefftext,label\ngood Ċ,1\nbad \ud83d film,0\nfine,1\nawful,0\n"
    path.write_bytes(content.encode(encoding, "surrogatepass"))
    with pytest.raises(InputError, match=r"line 3: byte 0x\w\w at offset 50: expected UTF-16, got half a character"):
        read(path)
    corpus = read(path, SKIP)
    assert [example.text for example in corpus.examples] == ["good Ċ", "fine", "awful"]
    assert corpus.skipped == 1


# Parquet


def write_parquet(path: Path, **columns: Any) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    base = {"text": arrow.array(["a b", "c d"]), "label": arrow.array(["x", "y"])}
    parquet.write_table(arrow.table({**base, **columns}), path)
    return path


def test_values_that_python_does_not_have_do_not_matter_in_other_columns(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    nested = arrow.list_(arrow.struct([("a", arrow.date32())]))
    odd = {
        "date": arrow.array([2**31 - 1, -(2**31)], arrow.date32()),
        "late": arrow.array([2**62, -(2**62)], arrow.timestamp("ms")),
        "nano": arrow.array([1234567890123456789, 1], arrow.timestamp("ns")),
        "zone": arrow.array([2**62, 5], arrow.timestamp("us", tz="Nowhere/Odd")),
        "span": arrow.array([2**62 + 1, 1], arrow.duration("ns")),
        "deep": arrow.array([[{"a": 2**31 - 1}], [{"a": 5}]], nested),
    }
    for name, column in odd.items():
        path = write_parquet(tmp_path / f"{name}.parquet", **{name: column})
        assert texts(path, ReadOptions(text="text", label="label")) == ["a b", "c d"], name
        (kept, _) = stream(path, ReadOptions(text="text", label="label", keep=(name,)))
        assert kept.kept is not None
        assert str(kept.kept[name]), name
    path = write_parquet(tmp_path / "label.parquet", label=odd["date"])
    with pytest.raises(InputError, match=r"column 'label': the label is of the wrong type \(a ParquetValue"):
        read(path, ReadOptions(label="label"))


def test_two_parquet_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = [arrow.array(["a b", "c d"]), arrow.array(["e f", "g h"]), arrow.array(["x", "y"])]
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table(columns, names=["text", "text", "label"]), path)
    with pytest.raises(InputError, match=r"a\.parquet: expected different column names, got 'text' twice"):
        read(path)


def test_strings_of_parquet_that_are_not_utf_8_make_their_row_a_bad_one(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    offsets = arrow.py_buffer(b"\0\0\0\0\3\0\0\0\6\0\0\0")
    bad = arrow.Array.from_buffers(arrow.string(), 2, [None, offsets, arrow.py_buffer(b"a\xffbc d")])
    path = write_parquet(tmp_path / "a.parquet", text=bad)
    with pytest.raises(InputError, match="row 1, column 'text': expected valid Unicode"):
        read(path)
    assert texts(path, ReadOptions(skip_bad_rows=True, at_least=1)) == ["c d"]
