"""`regard datasets`: descriptions of corpora, and conversion of originals."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from command import TINY, Regard, write_csv
from regard.corpora import conversion

QUESTIONS = "NUM:dist How far is it ?\nHUM:ind Who was there ?\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "corpora"
    folder.mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("REGARD_DATA", str(folder))
    monkeypatch.chdir(tmp_path / "work")
    return folder


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """Two questions in TREC's format."""
    folder = tmp_path / "QC"
    folder.mkdir()
    (folder / "train_5500.label").write_text(QUESTIONS)
    (folder / "TREC_10.label").write_text("LOC:city Where ?\n")
    return folder


def left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_known_corpora_are_listed_even_if_missing(regard: Regard, home: Path) -> None:
    (home / "trec").mkdir()
    write_csv(home / "trec" / "train.csv", [("Who ?", "HUM")])
    lines = regard("datasets").out.splitlines()
    assert next(line for line in lines if line.startswith("trec ")).split()[1] == "train"
    assert next(line for line in lines if line.startswith("imdb ")).split()[1] == "missing"


def test_a_known_corpus_is_described_with_its_local_files(regard: Regard, home: Path) -> None:
    result = regard("datasets", "trec").out
    for part in (
        "cogcomp.seas.upenn.edu",
        "none stated",
        "Li, Roth",
        "train_5500.label",
        "train 4,907, dev 545, test 500",
    ):
        assert part in result
    assert "not in the folder that REGARD_DATA names" in result
    (home / "trec").mkdir()
    write_csv(home / "trec" / "train.csv", [("Who ?", "HUM"), ("Where ?", "LOC")])
    assert "train 2 (of 4,907), dev 0 (of 545), test 0 (of 500)" in " ".join(regard("datasets", "trec").out.split())
    assert "RESTRICTED" in regard("datasets", "yelp").out


def test_a_user_corpus_is_described_by_its_files(regard: Regard, home: Path) -> None:
    (home / "mine").mkdir()
    write_csv(home / "mine" / "train.csv", [("so it is", "a"), ("so it was", "b")])
    assert "train 2, in" in regard("datasets", "mine").out


def test_a_title_cannot_control_the_terminal(regard: Regard, home: Path) -> None:
    (home / "mine").mkdir()
    write_csv(home / "mine" / "train.csv", [("so it is", "a")])
    (home / "mine" / "README.md").write_text("# mine\n\nBooks \x1b]0;gone\x07\x9b2J\n")
    for result in (regard("datasets"), regard("datasets", "mine")):
        assert "Books ␛]0;gone␇" in result.out
        assert not set(result.out) & {"\x1b", "\x07", "\x9b"}


def test_an_original_is_converted_with_a_readme(regard: Regard, home: Path, original: Path) -> None:
    result = regard("datasets", "trec", "--from", original)
    assert result.code == 0
    assert result.out.splitlines() == ["train 2, test 1", f"saved in {home}/trec; try: regard train trec"]
    assert "trec: train: expected 4907 texts, got 2" in result.err
    assert "trec: dev: expected 545 texts, got 0" in result.err
    assert left(home) == ["trec/README.md", "trec/test.jsonl.gz", "trec/train.jsonl.gz"]
    lines = gzip.decompress((home / "trec/train.jsonl.gz").read_bytes()).splitlines()
    assert json.loads(lines[0]) == {"text": "How far is it ?", "label": 5, "coarse": "NUM", "fine": "NUM:dist"}
    page = (home / "trec/README.md").read_text()
    assert page.startswith("# trec\n\nTREC questions, 6 coarse and 50 fine classes\n\n- Origin: QC, by")
    assert "| train.jsonl.gz | 2 | 4 | label: 3: 1, 5: 1 |" in page  # 5 and 4 words: 4.5, to the even
    assert f"{hashlib.sha256(QUESTIONS.encode()).hexdigest()}  train_5500.label" in page
    assert str(original) not in page, "local paths are not published"


def test_the_same_original_gives_the_same_bytes(regard: Regard, home: Path, original: Path) -> None:
    written = []
    for out in ("one", "two"):
        assert regard("datasets", "trec", "--from", original, "--out", out).code == 0
        written.append({path.name: path.read_bytes() for path in Path(out, "trec").iterdir()})
    assert written[0] == written[1]
    assert left(home) == [], "--out goes before REGARD_DATA"


def test_nothing_is_replaced_without_overwrite(regard: Regard, home: Path, original: Path) -> None:
    regard("datasets", "trec", "--from", original)
    before = (home / "trec/README.md").read_bytes()
    result = regard("datasets", "trec", "--from", original)
    assert (result.code, result.error) == (
        2,
        f"{home}/trec already exists; use another --out, or --overwrite to replace it",
    )
    (original / "TREC_10.label").unlink()
    assert regard("datasets", "trec", "--from", original, "--overwrite").code == 0
    assert left(home) == ["trec/README.md", "trec/train.jsonl.gz"], "the old test part is gone"
    assert (home / "trec/README.md").read_bytes() != before
    (home / "trec/mine.txt").write_text("notes")
    result = regard("datasets", "trec", "--from", original, "--overwrite")
    assert "contains 'mine.txt'; --overwrite replaces only" in result.error


def test_a_user_table_is_split_and_trained_on(regard: Regard, home: Path, tmp_path: Path) -> None:
    rows = [(f"a {word} film, number {row}", label) for row in range(30) for word, label in (("good", 1), ("bad", 0))]
    films = write_csv(tmp_path / "films.csv", rows, head=("body", "stars"))
    result = regard("datasets", "films", "--from", films, "--text", "body", "--label", "stars")
    assert result.code == 0, result.err
    assert result.out.startswith("train 48, dev 6, test 6\n")
    assert "of every ten consecutive texts eight go to train" in result.err
    result = regard("train", "films", *TINY, "--test", "films")
    assert result.code == 0, result.err
    assert "early stopping on the dev part of films" in result.err
    metrics = json.loads(Path("runs/films/metrics.json").read_text())
    assert (metrics["dev"]["n"], metrics["test"]["n"]) == (6, 6)


def test_a_converted_original_is_trained_on(regard: Regard, home: Path, tmp_path: Path) -> None:
    for part, number in (("train", 12), ("test", 4)):
        for side, stars in (("pos", 9), ("neg", 2)):
            (tmp_path / "aclImdb" / part / side).mkdir(parents=True)
            for row in range(number):
                path = tmp_path / "aclImdb" / part / side / f"{row}_{stars}.txt"
                path.write_text(f"film {row} was {'fine' if side == 'pos' else 'foul'} indeed")
    assert regard("datasets", "imdb", "--from", tmp_path / "aclImdb").code == 0
    result = regard("train", "imdb", *TINY, "--test", "imdb")
    assert result.code == 0, result.err
    metrics = json.loads(Path("runs/imdb/metrics.json").read_text())
    assert metrics["test"]["n"] == 8


def test_parts_of_a_folder_are_kept(regard: Regard, home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for part in ("train", "valid"):
        write_csv(tmp_path / "mine" / f"{part}.csv", [(f"{part} text", "a"), (f"{part} words", "b")])
    result = regard("datasets", "own-one", "--from", tmp_path / "mine")
    assert result.out.startswith("train 2, dev 2\n")
    write_csv(tmp_path / "mine" / "dev.csv", [("x", "a")])
    result = regard("datasets", "own-two", "--from", tmp_path / "mine")
    assert "expected one dev split, got dev.csv and valid.csv" in result.error


def test_unusable_texts_are_skipped_and_reported(regard: Regard, home: Path, original: Path) -> None:
    (original / "train_5500.label").write_text(QUESTIONS + "DESC:def \n")
    result = regard("datasets", "trec", "--from", original)
    assert result.out.startswith("train 2, test 1")
    assert (
        "train: skipped 1 texts that cannot be used (trec, row 3, column 'text': expected at least one word, got the text ''"
        in result.err
    )


BAD = {
    "a path that is not there": (("trec", "--from", "nowhere"), "nowhere: no such file or folder"),
    "a folder of another form": (
        ("imdb", "--from", "QC"),
        "aclImdb_v1.tar.gz, with train/pos/0_9.txt and so on, got",
    ),
    "what was found there": (("imdb", "--from", "QC"), "got 'TREC_10.label', 'train_5500.label'"),
    "an empty path": (
        ("trec", "--from", ""),
        "--from: expected the original as downloaded, or hub:ORG/NAME, got an empty path",
    ),
    "no name": (("--from", "QC"), "the name of the corpus is missing"),
    "a name that is a path": (("../x", "--from", "QC"), "expected letters, digits, - and _, got '../x'"),
    "a name that is unknown": (("treck",), "did you mean 'trec'?"),
    "an unread original": (("glove100", "--from", "QC"), "glove100: cannot be converted"),
    "columns of a known form": (("trec", "--from", "QC", "--text", "x"), "the columns of this corpus are known"),
    "options alone": (("trec", "--overwrite"), "--overwrite: needs --from"),
    "options of words": (("trec", "--skip-bad-rows"), "--skip-bad-rows: needs --from"),
    "a table that is none": (("own", "--from", "QC/TREC_10.label"), "expected a file (.parquet, .csv"),
    "a table that is not there": (
        ("own", "--from", "nowhere.csv"),
        "nowhere.csv: no such file or folder; expected a table",
    ),
    "a bad row": (("own", "--from", "bad.csv"), "bad.csv, row 2, column 'text'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gives_one_sentence_and_leaves_nothing(
    regard: Regard, home: Path, original: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(original.parent)
    write_csv(original.parent / "bad.csv", [("fine words", "a"), ("", "b"), ("more words", "a")])
    argv, message = BAD[case]
    result = regard("datasets", *argv)
    assert result.code == 2
    assert message in result.error
    assert result.out == ""
    assert list(home.iterdir()) == []


def test_bad_rows_are_skipped_on_request(regard: Regard, home: Path, tmp_path: Path) -> None:
    bad = write_csv(tmp_path / "bad.csv", [("fine words", "a"), ("", "b"), ("more words", "a")])
    assert regard("datasets", "own", "--from", bad, "--skip-bad-rows").code == 0


def test_a_folder_for_corpora_is_required(regard: Regard, original: Path, tmp_path: Path) -> None:
    result = regard("datasets", "trec", "--from", original)
    assert result.error.startswith("expected the folder for corpora in REGARD_DATA or --out, got neither")
    (tmp_path / "file").touch()
    result = regard("datasets", "trec", "--from", original, "--out", tmp_path / "file")
    assert f"because {tmp_path / 'file'} is a file" in result.error


@pytest.mark.parametrize("fault", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_conversion_that_is_stopped_leaves_what_was_there(
    regard: Regard, home: Path, original: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    def stopped(rows: object) -> object:
        yield b"half"
        raise fault

    monkeypatch.setattr(conversion, "packed", stopped)
    assert regard("datasets", "trec", "--from", original).code in (2, 130)
    assert list(home.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setenv("REGARD_DATA", str(home))
    assert regard("datasets", "trec", "--from", original).code == 0
    before = {path: path.read_bytes() for path in (home / "trec").iterdir()}
    monkeypatch.setattr(conversion, "packed", stopped)
    assert regard("datasets", "trec", "--from", original, "--overwrite").code in (2, 130)
    assert {path: path.read_bytes() for path in (home / "trec").iterdir()} == before


def test_a_name_similar_to_a_known_one_is_noted(regard: Regard, home: Path, tmp_path: Path) -> None:
    films = write_csv(tmp_path / "films.csv", [("good words", 1), ("bad words", 0)])
    assert "imbd is not a known corpus (did you mean imdb?)" in regard("datasets", "imbd", "--from", films).err


def test_leftovers_of_a_killed_conversion_are_ignored(regard: Regard, home: Path, original: Path) -> None:
    (home / "trec").mkdir()
    (home / "trec" / ".train.jsonl.gz.partial").write_bytes(b"half")
    assert "not in the folder that REGARD_DATA names" in regard("datasets", "trec").out
    assert regard("datasets", "trec", "--from", original).code == 0
    assert left(home) == ["trec/README.md", "trec/test.jsonl.gz", "trec/train.jsonl.gz"]
