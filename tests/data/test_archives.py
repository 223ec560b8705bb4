"""A zip file with one table inside is read as that table; others are refused with their contents."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from regard.data import archives
from regard.data.read_options import ReadOptions
from regard.data.readers import read, stream
from regard.errors import InputError

TABLE = "text,label\ngood film,1\nbad film,0\n"


def zipped(path: Path, **files: str | bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "files",
    [
        {"a.csv": TABLE},
        {"deep/folder/A.CSV": TABLE},
        {"a.csv": TABLE, "README.md": "about", "__MACOSX/._a.csv": "junk", ".hidden.csv": "junk"},
        {"a.jsonl": '{"text": "good film", "label": 1}\n{"text": "bad film", "label": 0}\n'},
        {"a.json": '[{"text": "good film", "label": 1}, {"text": "bad film", "label": 0}]'},
        {"a.txt": "__label__1 good film\n__label__0 bad film\n"},
        {"a.csv": TABLE.encode("utf-16")},
    ],
)
def test_the_one_table_is_read(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    corpus = read(zipped(tmp_path / "a.zip", **files))
    assert [(one.text, one.label) for one in corpus.examples] == [("good film", "1"), ("bad film", "0")]
    again = stream(tmp_path / "a.zip")
    assert [*again] == [*again] == corpus.examples, "every iteration reads it again"


def test_parquet_in_a_zip_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": ["good film", "bad film"], "label": [1, 0]}), tmp_path / "a.parquet")
    path = zipped(tmp_path / "a.zip", **{"a.parquet": (tmp_path / "a.parquet").read_bytes()})
    assert [one.text for one in read(path).examples] == ["good film", "bad film"]


def test_other_archives_are_refused_with_their_contents(tmp_path: Path) -> None:
    for files, message in (
        ({"a.csv": TABLE, "b.csv": TABLE}, "expected a zip file with one table inside, got 'a.csv', 'b.csv'; unpack"),
        ({"a.md": ""}, r"got none \('a.md'\)"),
        ({}, r"got none \(empty\)"),
        ({"a.csv": ""}, "the file is empty"),
    ):
        with pytest.raises(InputError, match=message):
            read(zipped(tmp_path / "a.zip", **files))
    (tmp_path / "b.zip").write_bytes(b"no archive")
    with pytest.raises(InputError, match="the zip data is damaged"):
        read(tmp_path / "b.zip")


def test_a_pipe_is_refused_instead_of_waiting_for_ever(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.zip")
    with pytest.raises(InputError, match=r"a\.zip: expected a file, got a pipe"):
        read(tmp_path / "a.zip")


def test_damage_and_passwords_are_one_sentence(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", **{"a.csv": TABLE * 50})
    content = bytearray(path.read_bytes())
    content[45] ^= 255
    path.write_bytes(content)
    with pytest.raises(InputError, match="the zip data is damaged or truncated"):
        read(path)
    zipped(path, **{"a.csv": TABLE})
    content = bytearray(path.read_bytes())
    content[6] |= 1  # the flag of encryption, in the file's header and in the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.csv cannot be unpacked \(.*password"):
        read(path)


def test_too_large_a_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST", 10_000)
    path = zipped(tmp_path / "a.zip", **{"a.csv": TABLE + "film,1\n" * 3000})
    with pytest.raises(InputError, match=r"a\.csv has 21,034 bytes when it is unpacked; expected at most 10,000"):
        read(path)
    content = path.read_bytes()
    directory = content.index(b"PK\x01\x02")
    lie = (5_000).to_bytes(4, "little")  # an archive that states less than it unpacks to
    content = content[:22] + lie + content[26 : directory + 24] + lie + content[directory + 28 :]
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged or truncated"):
        read(path, ReadOptions(skip_bad_rows=True))
