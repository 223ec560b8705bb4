"""Readers: every format gives the same examples, and every error names its position."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.data.read_options import ReadOptions
from regard.data.readers import Corpus, read, read_lines
from regard.data.sentences import parts
from regard.errors import InputError

ROWS = [("good, really", "1"), ('a "bad"\nfilm', "0"), ("так себе", "1")]
OBJECTS = [{"text": text, "label": int(label)} for text, label in ROWS]
CSV = 'text,label\n"good, really",1\n"a ""bad""\nfilm",0\nтак себе,1\n'
JSONL = "".join(json.dumps(row) + "\n" for row in OBJECTS)

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def pairs(corpus: Corpus) -> list[tuple[str, object]]:
    return [(example.text, example.label) for example in corpus.examples]


def refused(path: Path | str, message: str, **options: object) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(path, ReadOptions(**options))  # type: ignore[arg-type]
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def parquet() -> bytes:
    pa = pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(OBJECTS), stream)
    return stream.getvalue()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", CSV),
        ("a.CSV", CSV.replace("\n", "\r\n").replace('"\r\nfilm', '"\nfilm')),
        ("bom.csv", "\ufeff" + CSV),
        ("semicolon.csv", CSV.replace(",", ";").replace("good;", "good,")),
        ("old.csv", 'text;label\r"good, really";1\r"a ""bad""\nfilm";0\rтак себе;1'),
        ("a.tsv", CSV.replace(",", "\t").replace("good\t", "good,")),
        ("wide.tsv", CSV.replace(",", "\t").replace("good\t", "good,").encode("utf-16")),
        ("a.jsonl", JSONL),
        ("a.ndjson", "\n" + JSONL.replace("\n", "\r\n")),
        ("old.jsonl", JSONL.replace("\n", "\r")),
        ("a.json", json.dumps(OBJECTS)),
        ("a.parquet", parquet),
    ],
)
def test_every_format_gives_the_same_examples(write: Write, name: str, content: object, packed: bool) -> None:
    data = content() if callable(content) else content
    data = data.encode() if isinstance(data, str) else data
    assert isinstance(data, bytes)
    corpus = read(write(gzip.compress(data), name + ".gz") if packed else write(data, name))
    assert pairs(corpus) == ROWS
    assert [example.row for example in corpus.examples] == [1, 2, 3]
    assert (corpus.text_column, corpus.label_column, corpus.skipped) == ("text", "label", 0)


def test_a_folder_for_each_class_is_read_in_order(tmp_path: Path) -> None:
    for name, text in {"pos/2.txt": "two", "pos/1.txt": "one", "neg/3.txt": "three", ".git/x.txt": "no"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    corpus = read(tmp_path)
    assert pairs(corpus) == [("three", "neg"), ("one", "pos"), ("two", "pos")]
    assert corpus.label_column == "folder"


def test_a_folder_without_classes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("one")
    refused(tmp_path, "no file CLASS/NAME.txt")


def test_an_unreadable_class_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pos/1.txt", "neg/2.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("one")
    there = os.scandir

    def locked(folder: Any) -> Any:  # a superuser reads whatever the permissions are
        if Path(folder) == tmp_path / "neg":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return there(folder)

    monkeypatch.setattr(os, "scandir", locked)
    refused(tmp_path, re.escape(f"{tmp_path / 'neg'}: the folder cannot be read (Permission denied)"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_unlabelled_texts(write: Write, end: str) -> None:
    path = write(f"one{end}{end} two {end}", "a.txt")
    corpus = read(path, ReadOptions(labelled=False))
    assert [(example.text, example.row, example.label) for example in corpus.examples] == [
        ("one", 1, None),
        ("two", 3, None),
    ]
    assert corpus.label_column is None
    refused(path, "lines of text have no labels")


def test_guesses_are_reported_and_options_override_them(write: Write) -> None:
    path = write("id,review,stars,other\n1,good one,5,a\n2,bad one,1,b\n")
    both = f"{path}: text column 'review' and label column 'stars' guessed; --text and --label override this"
    assert read(path).guessed == [both]
    assert read(path, ReadOptions(text="review")).guessed == [
        f"{path}: label column 'stars' guessed; --label overrides this"
    ]
    chosen = read(path, ReadOptions(text="other", label="id"))
    assert pairs(chosen) == [("a", "1"), ("b", "2")]
    assert chosen.guessed == []


def test_other_columns_that_could_be_labels_are_named(write: Write) -> None:
    path = write("words,urgency,queue\n" + "".join(f"some words {k},{k % 2},{'abc'[k % 3]}\n" for k in range(12)))
    assert (
        read(path)
        .guessed[0]
        .endswith("label column 'urgency' guessed (labels may also be 'queue'); --text and --label override this")
    )
    german = write("Nummer,Beschreibung,Kategorie,Priorität\n" + "1,eins zwei,a,x\n2,drei vier,b,y\n" * 3)
    assert read(german).guessed == [
        f"{german}: text column 'Beschreibung' and label column 'Kategorie' guessed; --text and --label override this"
    ]


def test_excels_delimiter_line_is_not_a_row(write: Write) -> None:
    for mark in ";,\t|":
        assert pairs(read(write(f"sep={mark}\r\ntext{mark}label\r\na{mark}1\r\nb{mark}2\r\n"))) == [
            ("a", "1"),
            ("b", "2"),
        ]


@pytest.mark.parametrize(
    "head", ["text;label\r", '\n"text; or, if there is none, the title";label\n', '"text\n(what, where, why)";label\n']
)
def test_the_delimiter_is_found_for_any_line_end(write: Write, head: str) -> None:
    end = head[-1]
    assert pairs(read(write(f"{head}a, b, c;1{end}d, e, f;2{end}"))) == [("a, b, c", "1"), ("d, e, f", "2")]


def test_columns_without_a_name_may_be_several(write: Write) -> None:
    assert pairs(read(write("text,label,,\na,1,,\nb,2,,\n"))) == [("a", "1"), ("b", "2")]


def test_a_first_row_that_looks_like_data_is_reported(write: Write) -> None:
    path = write("a good film,5\na bad film,1\nanother good film,5\nanother bad film,1\nquite good,5\n")
    assert read(path).guessed[1:] == [
        f"{path}: the label column has the same name as one of its labels, '5'; if the first row is data, "
        "add a header row above it"
    ]
    assert read(path, ReadOptions(text="a good film", label="5")).guessed == []


def test_known_columns_take_precedence_over_guesses(write: Write) -> None:
    path = write("text,story,label,kind\na,b,c,d\ne,f,g,h\n")
    assert pairs(read(path, ReadOptions(known=("story", "kind")))) == [("b", "d"), ("f", "h")]
    assert pairs(read(path, ReadOptions(text="text", known=("story", "kind")))) == [("a", "d"), ("e", "h")]
    assert pairs(read(path, ReadOptions(known=("elsewhere", None)))) == [("a", "c"), ("e", "g")]
    assert pairs(read(path, ReadOptions(label="story", known=("story", None)))) == [("a", "b"), ("e", "f")]


def test_labels_are_optional_without_labelled(write: Write) -> None:
    assert pairs(read(write("text,label\none,\ntwo,1\n"), ReadOptions(labelled=False))) == [("one", None), ("two", "1")]
    assert pairs(read(write("text,kind\none,a\ntwo,a\nthree,b\nfour,b\n"), ReadOptions(labelled=False)))[0] == (
        "one",
        None,
    )


def test_labels_of_csv_are_only_stripped(write: Write) -> None:
    labels = [label for _, label in pairs(read(write("text,label\na,1.0\nb, x\nc,None\nd,x \n")))]
    assert labels == ["1.0", "x", "None", "x"]


def test_json_numbers_and_strings_give_one_label(write: Write) -> None:
    values = [1, 1.0, "1", True, 0.5, -2.0]
    content = "".join(json.dumps({"text": "a", "label": value}) + "\n" for value in values)
    assert [label for _, label in pairs(read(write(content, "a.jsonl")))] == ["1", "1", "1", "true", "0.5", "-2"]


def test_a_list_of_texts_becomes_parts(write: Write) -> None:
    rows = [{"text": ["one\n\n \ntwo ", "", "three"], "label": "a"}, {"text": "four", "label": "b"}]
    text = read(write(json.dumps(rows), "a.json")).examples[0].text
    assert text == "one\ntwo\n\nthree"
    assert [text[start:end] for start, end in parts(text)] == ["one\ntwo", "three"]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ([[0, 3], [4, 7]], ((0, 3), (4, 7))),
        ([[0, 8]], ()),
        ([[3, 3]], ()),
        ([[0.0, 3]], ()),
        ("0-3", ()),
        ([], ()),
        (None, ()),
    ],
)
def test_valid_evidence_is_read(write: Write, evidence: object, expected: object) -> None:
    line = json.dumps({"text": "one two", "label": 1, "evidence": evidence}) + "\n"
    assert read(write(line * 2, "a.jsonl")).examples[1].evidence == expected


def test_huge_fields_and_quoted_tables_are_read_and_the_limit_is_restored(write: Write) -> None:
    before = csv.field_size_limit()
    assert len(read(write("text,label\n" + "word " * 50_000 + ",1\nb,0\n")).examples[0].text) == 250_000
    assert csv.field_size_limit() == before


def test_tsv_with_unpaired_quotation_marks_is_read_unquoted(write: Write) -> None:
    path = write('text\tlabel\n"odd start\t1\n"even" more\t0\n', "a.tsv")
    assert pairs(read(path)) == [('"odd start', "1"), ('"even" more', "0")]


def test_long_text_without_spaces_is_not_one_long_word(write: Write) -> None:
    assert len(read(write("text,label\n" + "好" * 10_001 + ",1\nb,0\n")).examples) == 2


BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("a.csv", "", "the file is empty"),
    ("a.jsonl", "\n \n", "the file is empty"),
    ("a.json", "[]", "expected at least one row, got none"),
    ("a.doc", "x", r"expected .*\.csv.*, got \.doc"),
    ("plain", "x", "got no extension"),
    ("a.csv", "text,label\n", "only the header row .'text', 'label'."),
    ("a.csv", "text,label\na,1\n", "expected at least 2 usable rows, got 1"),
    ("a.csv", "text,label,text\na,1,b\n", "column 'text' twice"),
    ("a.csv", 'text,label\n"a,1\nb,2\n', "line 3: unexpected end of data"),
    (
        "a.csv",
        b"text,label\ngood,1\ncaf\xe9,0\n",
        "line 3: byte 0xe9 at offset 21 is not UTF-8; --encoding cp1252 probably reads it",
    ),
    ("a.csv", "text,label\ngood,1\nbad,0\n".encode("utf-16-le"), "got NUL bytes at the start"),
    ("a.csv", "text,label\ngood,1\nbad,0\n".encode("utf-32-le"), "got NUL bytes at the start, as in UTF-32"),
    (
        "a.csv",
        'text,label\n"a \\"b\\" c",1\nb,2\n',
        "line 2: .* quote a field that contains a quotation mark, and double the mark",
    ),
    ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)[:-9], "gzip data is damaged"),
    ("a.csv.gz", "no gzip", "gzip data is damaged"),
    ("a.json", '{"text": "a"}', "expected a list of objects .* got an object"),
    ("a.json", "[1,", "is not JSON"),
    ("a.parquet", "PAR1 no", "not a complete Parquet file"),
    ("a.csv", "text,id\na b,1\nc d,2\n", "no column looks like labels .* name it with --label"),
    ("a.csv", "text,label\n123,a\n456,b\n", "column 'label' was taken for the texts, and --text overrides this"),
    ("a.csv", "n,label\n1,1\n2,0\n", "no column contains text .* name it with --text"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES)
def test_a_file_that_cannot_be_used_is_refused(write: Write, name: str, content: str | bytes, message: str) -> None:
    refused(write(content, name), message)


BAD_ROWS: list[tuple[str, str, str]] = [
    ("a.csv", "bad", "row 2: expected 2 fields, as in the first row, got 1"),
    ("a.csv", "bad,1,2", "row 2: expected 2 fields, as in the first row, got 3"),
    ("a.csv", " ,1", "row 2, column 'text': expected at least one word, got the text ' '"),
    ("a.csv", "<br />,1", "row 2, column 'text': expected at least one word"),
    ("a.csv", "bad,", "row 2, column 'label': the label is missing"),
    ("a.csv", "bad,NaN", "row 2, column 'label': the label is missing"),
    ("a.csv", "bad,nan", "row 2, column 'label': the label is missing"),
    ("a.csv", "b\0ad,1", "row 2, column 'text': expected text, got a NUL byte at character 1"),
    ("a.csv", "a" * 10_001 + ",1", "row 2, column 'text': expected words of up to 10000 characters, got one of 10001"),
    ("a.jsonl", '{"text": "bad", "label": null}', r"row 2 \(line 2\), column 'label': the label is missing .*null"),
    ("a.jsonl", '{"text": "bad", "label": NaN}', "column 'label': the label is missing"),
    ("a.jsonl", '{"text": "bad", "label": Infinity}', "column 'label': the label is missing"),
    ("a.jsonl", '{"text": "bad"}', "column 'label': the label is missing"),
    ("a.jsonl", '{"text": "bad", "label": [1]}', "column 'label': the label is of the wrong type .a list"),
    ("a.jsonl", '{"label": 1}', "column 'text': the row has no such field; its fields are 'label'"),
    ("a.jsonl", '{"text": 3, "label": 1}', "column 'text': expected a text or a list of texts, got a number .3."),
    ("a.jsonl", '{"text": null, "label": 1}', "column 'text': expected a text or a list of texts, got null"),
    ("a.jsonl", '{"text": [1], "label": 1}', "column 'text': expected a text or a list of texts, got a list"),
    ("a.jsonl", '{"text": "\\ud83d", "label": 1}', "column 'text': .*half a surrogate pair"),
    ("a.jsonl", '{"text": "bad", ', r"row 2 \(line 2\): .* is not JSON"),
    ("a.jsonl", "[" * 100_000, r"row 2 \(line 2\): .* is not JSON"),
    ("a.jsonl", "[1]", r"row 2 \(line 2\): expected a JSON object .* got a list"),
]
GOOD = {
    "a.csv": ("text,label\ngood one,1\n", "\nlast one,0\n"),
    "a.jsonl": ('{"text": "good one", "label": 1}\n', '\n{"text": "last one", "label": 0}\n'),
}


@pytest.mark.parametrize(("name", "line", "message"), BAD_ROWS)
def test_a_bad_row_is_an_error_or_skipped(write: Write, name: str, line: str, message: str) -> None:
    path = write(line.join(GOOD[name]), name)
    refused(path, message)
    corpus = read(path, ReadOptions(skip_bad_rows=True))
    assert pairs(corpus) == [("good one", "1"), ("last one", "0")]
    assert (corpus.skipped, corpus.examples[1].row) == (1, 3)


def test_rows_that_are_not_utf8_can_be_skipped(write: Write) -> None:
    path = write(b"text,label\ngood,1\ncaf\xe9,0\nlast,0\nx,\xe9\n")
    corpus = read(path, ReadOptions(skip_bad_rows=True))
    assert pairs(corpus) == [("good", "1"), ("last", "0")]
    assert corpus.skipped == 2


def test_leaving_out_every_row_is_an_error(write: Write) -> None:
    refused(
        write("text,label\na,\nb,\n"),
        "expected at least 2 usable rows, got 0.*first of 2 bad rows.*row 1",
        skip_bad_rows=True,
    )
    refused(write("no json\n", "a.jsonl"), "is not JSON", skip_bad_rows=True)


def test_a_missing_column_lists_what_is_there(write: Write) -> None:
    path = write("Review,stars\na b,1\nc d,2\n")
    refused(
        path,
        r"no column 'reviews' \(--text\); did you mean 'Review'\? the columns are 'Review', 'stars'",
        text="reviews",
    )
    refused(path, r"no column 'zzz' \(--label\); the columns are", label="zzz")
    refused(path, "expected two columns for text and label, got 'stars' for both", text="stars", label="stars")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none.csv", "no such file")


def test_at_least_sets_the_number_of_rows(write: Write) -> None:
    path = write("text,label\na,1\n")
    assert len(read(path, ReadOptions(at_least=1)).examples) == 1
    refused(path, "expected at least 5 usable rows, got 1", at_least=5)


def test_parquet_without_pyarrow_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    refused(write("x", "a.parquet"), r"pip install 'regard\[parquet\]'")


def test_a_stream_is_lines_or_objects() -> None:
    assert pairs(read_lines(io.BytesIO(b"one\n{two}\n"))) == [("one", None), ("{two}", None)]
    assert pairs(read_lines(io.BytesIO(b'{"text": "one", "label": 2}\n'))) == [("one", "2")]


def test_a_bad_stream_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="standard input: the file is empty"):
        read_lines(io.BytesIO(b""))
    with pytest.raises(InputError, match="stdin, line 1: byte 0xff"):
        read_lines(io.BytesIO(b"a\xff"), "stdin")
