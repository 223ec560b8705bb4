"""Files that are not UTF-8: read with the encoding that is named, and otherwise refused with the likely one."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import TINY, Regard
from regard.data import decoding
from regard.data.likely_encoding import likely_encoding
from regard.data.read_options import ReadOptions
from regard.data.readers import read, stream
from regard.errors import InputError

SENTENCES = [
    ("cp1252", "Le dîner était très bon, mais à côté il y avait du bruit."),
    ("cp1252", "Die Straße ist schön, überall Bäume."),
    ("cp1252", "El año pasado fue difícil, señor."),
    ("cp1252", "It’s a “good” film – really"),
    ("cp1252", "café"),
    ("cp1250", "Příliš hlučný pokoj, ale snídaně byla výborná."),
    ("cp1250", "Bardzo dobry film, świetna muzyka i piękne zdjęcia."),
    ("cp1254", "Bu film çok güzeldi, ışık ve ağaçlar şahane"),
    ("cp1251", "Это был очень хороший фильм, мне понравилось"),
    ("koi8-r", "Это был очень хороший фильм, мне понравилось"),
    ("cp1253", "Ήταν μια πολύ καλή ταινία και μου άρεσε"),
    ("cp1256", "كان هذا فيلم جيد جدا"),
    ("shift_jis", "とても良い映画でした。また見たいです。"),
    ("euc_jp", "とても良い映画でした。また見たいです。"),
    ("gb18030", "这是一部很好的电影，我很喜欢。"),
    ("big5", "這是一部很好的電影，我很喜歡。"),
    ("euc_kr", "방이 너무 더럽고 직원이 불친절했다"),
    ("utf-16-le", "good film"),
    ("utf-16-be", "good film"),
    ("utf-32-le", "good film"),
    ("utf-32-be", "good film"),
]


@pytest.mark.parametrize(("encoding", "sentence"), SENTENCES)
def test_the_error_names_an_encoding_that_reads_the_file(tmp_path: Path, encoding: str, sentence: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f'text,label\n"{sentence}",1\nfilm,0\n'.encode(encoding))
    with pytest.raises(InputError, match=f"--encoding {encoding} probably reads it"):
        read(path)
    corpus = read(path, ReadOptions(encoding=encoding))
    assert [example.text for example in corpus.examples] == [sentence, "film"]


@pytest.mark.parametrize("piece", [4, 5, 7])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "shift_jis", "gb18030", "euc_jp", "iso2022_jp"])
def test_characters_may_continue_in_the_next_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, encoding: str
) -> None:
    monkeypatch.setattr(decoding, "PIECE", piece)
    text = "\ufefftext,label\nテスト,1\n映画,0\n" if encoding == "utf-16-le" else "text,label\nテスト,1\n映画,0\n"
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    assert [one.text for one in stream(path, ReadOptions(encoding=encoding))] == ["テスト", "映画"]


def test_a_byte_order_mark_takes_precedence(tmp_path: Path) -> None:
    """So that one option can be given for several files, of which some are UTF-8 with a mark."""
    path = tmp_path / "a.csv"
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        path.write_bytes("text,label\ncafé,1\nfilm,0\n".encode(encoding))
        assert [one.text for one in read(path, ReadOptions(encoding="cp1252")).examples] == ["café", "film"]


def test_a_folder_and_gzip_are_decoded_too(tmp_path: Path) -> None:
    for label, text in (("pos", "très bien"), ("neg", "déçu")):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_bytes(text.encode("cp1252"))
    assert {one.text for one in read(tmp_path, ReadOptions(encoding="cp1252")).examples} == {"très bien", "déçu"}


def test_bytes_that_do_not_fit_the_named_encoding_are_refused_or_mark_their_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\ngood,1\nfilm,0\nb\xffd,1\n")
    with pytest.raises(InputError, match=r"line 4: byte 0xff at offset 26 is not ascii; --encoding cp125\d probably"):
        read(path, ReadOptions(encoding="ascii"))
    tolerant = read(path, ReadOptions(encoding="ascii", skip_bad_rows=True))
    assert [one.text for one in tolerant.examples] == ["good", "film"]
    assert tolerant.skipped == 1
    path.write_bytes("text,label\ngood,1\nfilm,0\n".encode("utf-16-le") + b"\x00\xd8")
    assert len(read(path, ReadOptions(encoding="utf-16-le", skip_bad_rows=True)).examples) == 2


@pytest.mark.parametrize("name", ["klingon", "rot13", "base64", "", "a\0b", "undefined"])
def test_an_unknown_encoding_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\ngood,1\nbad,0\n")
    with pytest.raises(InputError, match="expected the name of an encoding, such as cp1252"):
        read(path, ReadOptions(encoding=name))


def test_bytes_of_no_language_are_western() -> None:
    assert likely_encoding(b"\x81\x8d abc") == "latin-1"
    assert likely_encoding(b"abc \xa7 1") == "cp1252"


def test_a_run_remembers_the_encoding_of_its_own_files(regard: Regard, tmp_path: Path) -> None:
    own, other, run = tmp_path / "own.csv", tmp_path / "other.csv", tmp_path / "run"
    rows = "text,label\n" + "très bien,1\ndéçu,0\n" * 10
    own.write_bytes(rows.encode("cp1252"))
    other.write_text(rows, encoding="utf-8")
    assert "--encoding cp1252 probably reads it" in regard("train", own, *TINY, "--out", run).error
    assert regard("train", own, "--encoding", "cp1252", *TINY, "--out", run).code == 0
    assert 'encoding = "cp1252"' in (run / "config.toml").read_text()
    for source in ([own], [other], [own, "--encoding", "latin-1"]):
        result = regard("predict", run, *source, "--format", "csv")
        assert result.code == 0
        assert "déçu" in result.out, result.err
    again = regard("train", other, *TINY, "--out", run, "--resume")
    assert "nothing left to do" in again.err, "the same texts in another encoding are the same run"
    assert regard("evaluate", run, other, "--encoding", "klingon").code == 2
    assert regard("datasets", "mine", "--from", own, "--encoding", "cp1252", "--out", tmp_path / "corpora").code == 0
    assert "--encoding: needs --from" in regard("datasets", "--encoding", "cp1252").error
