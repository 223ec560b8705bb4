"""Streams: the same examples as `read`, one at a time, for files of any size."""

from __future__ import annotations

import csv
import gzip
import json
import os
import threading
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import pytest

from regard.data import decoding, delimited, readers
from regard.data import parquet as parquet_reader
from regard.data.read_options import ReadOptions
from regard.data.readers import read, stream
from regard.errors import InputError
from regard.records import Example

TEXTS = ["good, really", 'a "bad"\nfilm', "так себе", "好 😀", "", "end"]  # the one without a word is a bad row
OBJECTS = [{"text": text, "label": number % 2} for number, text in enumerate(TEXTS)]


def table(delimiter: str, end: str = "\n") -> str:
    quoted = [text.replace('"', '""') for text in TEXTS]
    rows = [f'"{text}"{delimiter}{number % 2}{end}' for number, text in enumerate(quoted)]
    return f"text{delimiter}label{end}" + "".join(rows)


def parquet(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(OBJECTS), path)


def folder(path: Path) -> None:
    for number, text in enumerate(TEXTS):
        (path / str(number % 2)).mkdir(parents=True, exist_ok=True)
        (path / str(number % 2) / f"{number}.txt").write_text(text, encoding="utf-8")


JSONL = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in OBJECTS)
CONTENTS: dict[str, bytes | Callable[[Path], None]] = {
    "a.csv": table(",").encode(),
    "windows.csv": table(";", "\r\n").encode(),
    "old.csv": table("|", "\r").encode(),
    "bom.csv": table(",").encode("utf-8-sig"),
    "wide.csv": table(",").encode("utf-16"),
    "a.tsv": table("\t").encode(),
    "loose.tsv": ("text\tlabel\n" + "".join(f'"так" {k} words\t{k % 2}\n' for k in range(50))).encode(),
    "a.jsonl": JSONL.encode(),
    "windows.jsonl": ("\r\n\n" + JSONL.replace("\n", " \r\n")).encode("utf-8-sig"),
    "wide.ndjson": JSONL.encode("utf-16"),
    "a.json": json.dumps(OBJECTS, ensure_ascii=False).encode(),
    "a.txt": "\n\n".join(TEXTS).encode(),
    "a.csv.gz": gzip.compress(table(",").encode()),
    "a.jsonl.gz": gzip.compress(JSONL.encode()[:50]) + gzip.compress(JSONL.encode()[50:]),
    "a.parquet": parquet,
    "folder": folder,
}


def write(path: Path, content: bytes | str | Callable[[Path], None]) -> Path:
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode(errors="surrogateescape") if isinstance(content, str) else content)
    return path


def many(path: Path, count: int = 300, bad: dict[int, str] | None = None) -> Path:
    """A table of more rows than the columns are guessed from, some of them bad."""
    good = {number: f"text {number},{number % 2}" for number in range(1, count + 1)}
    return write(path, "text,label\n" + "\n".join((good | (bad or {})).values()) + "\n")


def until_error(examples: Iterable[Example]) -> tuple[list[Example], str]:
    read_so_far: list[Example] = []
    with pytest.raises(InputError) as caught:
        read_so_far.extend(examples)
    return read_so_far, str(caught.value)


@pytest.mark.parametrize("piece", [3, 4, 5, 64, decoding.PIECE])
@pytest.mark.parametrize("name", CONTENTS)
def test_a_stream_gives_what_read_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, piece: int) -> None:
    path = write(tmp_path / name, CONTENTS[name])
    options: dict[str, Any] = {"labelled": not name.endswith(".txt"), "skip_bad_rows": True}
    corpus = read(path, ReadOptions(**options))
    assert len(corpus.examples) + corpus.skipped >= len(TEXTS)
    monkeypatch.setattr(decoding, "PIECE", piece)  # bytes: characters and line ends are cut through
    monkeypatch.setattr(parquet_reader, "PARQUET_CHUNK", piece)
    monkeypatch.setattr(readers, "SAMPLE", piece)
    streamed = stream(path, ReadOptions(**options))
    assert (streamed.path, streamed.text_column, streamed.label_column) == (
        str(path),
        corpus.text_column,
        corpus.label_column,
    )
    assert streamed.guessed == corpus.guessed
    assert list(streamed) == corpus.examples
    assert streamed.skipped == corpus.skipped
    assert list(streamed) == corpus.examples, "it can be read again"
    assert streamed.skipped == corpus.skipped


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (" ,1", "row 250, column 'text': expected at least one word, got the text ' '"),
        ("one,", "row 250, column 'label': the label is missing"),
        ("one", "row 250: expected 2 fields, as in the first row, got 1"),
        ('"one" 1,1', "line 251: ',' expected after '\"'; quote a field that contains a quotation mark"),
        ("caf\udce9,1", "line 251: byte 0xe9 at offset 2645 is not UTF-8"),  # 11 + 9·9 + 90·10 + 150·11 + 3
    ],
)
def test_a_bad_row_is_an_error_when_it_is_reached(tmp_path: Path, line: str, message: str) -> None:
    path = many(tmp_path / "a.csv", bad={250: line})
    examples, message_text = until_error(stream(path))
    assert [example.row for example in examples] == list(range(1, 250))
    assert message_text.startswith(f"{path}, {message}")
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value) == message_text


def test_skipped_rows_are_counted(tmp_path: Path) -> None:
    streamed = stream(many(tmp_path / "a.csv", bad={2: "one", 250: " ,1"}), ReadOptions(skip_bad_rows=True))
    examples = iter(streamed)
    assert [next(examples).row for _ in range(2)] == [1, 3]
    assert streamed.skipped == 1
    assert len([*examples]) == 296
    assert streamed.skipped == 2


def test_errors_about_the_whole_file_are_raised_at_once(tmp_path: Path) -> None:
    for content, message in {
        "": "the file is empty; expected at least 2 rows",
        "text,label\n": "only the header row",
        "text,label\none\n": "row 1: expected 2 fields, as in the first row, got 1",
        "text,id\na b,1\nc d,2\n": "no column looks like labels",
    }.items():
        with pytest.raises(InputError, match=message):
            stream(write(tmp_path / "a.csv", content))
    with pytest.raises(InputError, match="no column 'mood'"):
        stream(many(tmp_path / "a.csv", bad={250: "one"}), ReadOptions(label="mood"))


def test_too_few_rows_are_an_error_at_the_end(tmp_path: Path) -> None:
    examples, message_text = until_error(
        stream(many(tmp_path / "a.csv", 3, bad={2: "one"}), ReadOptions(skip_bad_rows=True, at_least=3))
    )
    assert [example.row for example in examples] == [1, 3]
    assert message_text.endswith(
        "a.csv: expected at least 3 usable rows, got 2; the first of 1 bad rows: "
        f"{tmp_path}/a.csv, row 2: expected 2 fields, as in the first row, got 1"
    )


def test_a_column_of_later_rows_can_be_asked_for(tmp_path: Path) -> None:
    lines = [{"text": f"text {number}"} | ({"mood": number % 2} if number > 250 else {}) for number in range(1, 301)]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines)))
    streamed = stream(path, ReadOptions(label="mood", skip_bad_rows=True))
    assert [example.row for example in streamed] == list(range(251, 301))
    assert streamed.skipped == 250
    with pytest.raises(InputError, match=r"no column 'moods' .*did you mean 'mood'\? the columns are 'text', 'mood'"):
        stream(path, ReadOptions(label="moods"))


def test_one_unpaired_quotation_mark_at_the_end_turns_quoting_off(tmp_path: Path) -> None:
    lines = ['"one"\t1\n', *(f"text {number}\t0\n" for number in range(300))]
    assert next(iter(stream(write(tmp_path / "a.tsv", "text\tlabel\n" + "".join(lines))))).text == "one"
    lines.append('"two" 2\t1\n')
    assert next(iter(stream(write(tmp_path / "a.tsv", "text\tlabel\n" + "".join(lines))))).text == '"one"'


@pytest.mark.parametrize("piece", range(3, 9))
@pytest.mark.parametrize("bad", [b"\xe9", b"\xe2\x82", b"\xe2\x82(", b"\xff", b"\xf0\x9f\x98"])
def test_invalid_bytes_are_reported_by_line_and_offset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, bad: bytes
) -> None:
    monkeypatch.setattr(decoding, "PIECE", piece)
    monkeypatch.setattr(readers, "SAMPLE", 1)
    content = '\ufeff{"text": "один"}\n{"text": "two"}\n'.encode()
    path = write(tmp_path / "a.jsonl", content + bad)
    examples, message_text = until_error(stream(path, ReadOptions(labelled=False)))
    assert [example.text for example in examples] == ["один", "two"]
    assert message_text.startswith(f"{path}, line 3: byte 0x{bad[0]:02x} at offset {len(content)} is not UTF-8; --enc")
    assert len([*stream(path, ReadOptions(labelled=False, skip_bad_rows=True))]) == 2


def test_damaged_gzip_is_an_error_when_it_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "PIECE", 64)
    content = "".join(json.dumps({"text": f"text {number}", "label": number % 2}) + "\n" for number in range(300))
    path = write(tmp_path / "a.jsonl.gz", gzip.compress(content.encode())[:-9])
    examples, message_text = until_error(stream(path))
    assert 250 < len(examples) < 300
    assert message_text.startswith(f"{path}: the gzip data is damaged or truncated (")


def test_a_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("text,label\none,1\ntwo,0\n",))
    writer.start()
    assert [example.text for example in stream(path)] == ["one", "two"]
    writer.join()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_an_abandoned_stream_closes_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    opened: list[IO[bytes]] = []

    def watched(real: Callable[..., IO[bytes]]) -> Callable[..., IO[bytes]]:
        def open_file(*arguments: Any) -> IO[bytes]:
            opened.append(real(*arguments))
            return opened[-1]

        return open_file

    path = write(tmp_path / name, CONTENTS[name])
    monkeypatch.setattr(delimited, "CSV_CHUNK", 2)
    monkeypatch.setattr(Path, "open", watched(Path.open))
    monkeypatch.setattr(gzip, "open", watched(gzip.open))
    examples = iter(stream(path, ReadOptions(skip_bad_rows=True)))
    assert opened, "the columns were looked for"
    assert all(file.closed for file in opened)
    next(examples)
    assert not opened[-1].closed
    examples.close()
    assert opened[-1].closed


def test_two_tables_are_read_in_parallel_and_the_limit_is_restored(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    long = "word " * 50_000
    short = iter(stream(many(tmp_path / "a.csv", 3)))
    other = iter(stream(many(tmp_path / "b.csv", 600, bad={599: f"{long},1"})))
    assert next(short).row == next(other).row == 1
    assert csv.field_size_limit() == before
    assert len([*short]) == 2
    assert max(len(example.text) for example in other) == len(long)
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("name", "head", "line"),
    [
        ("a.csv", "text,label\n", "{},{}\n"),
        ("a.tsv", "text\tlabel\n", '"{}"\t{}\n'),
        ("a.jsonl", "", '{{"text": "{}", "label": {}}}\n'),
    ],
)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str, head: str, line: str) -> None:
    path, count = tmp_path / name, 30_000
    with path.open("w") as file:
        file.write(head)
        file.writelines(line.format(f"text {number} " * 10, number % 2) for number in range(count))
    tracemalloc.start()
    try:
        assert sum(1 for _ in stream(path)) == count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_500_000 < 3_000_000 < path.stat().st_size
