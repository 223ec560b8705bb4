"""Corpora by name, in the folder REGARD_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from regard.corpora.lookup import available, companion, resolve
from regard.data.readers import read
from regard.errors import InputError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("imdb/train.jsonl.gz", "imdb/test.csv", "imdb/dev.jsonl", "glove/g.6B.npz", "empty/notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "imdb/README.md").write_text("# imdb\n\nReviews of films\n\n- more\n")
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    return tmp_path


def test_folders_with_splits_or_vectors_are_available(home: Path) -> None:
    glove, imdb = available()
    assert (glove.name, list(glove.splits), glove.title) == ("glove", ["vectors"], "")
    assert (imdb.name, list(imdb.splits), imdb.title) == ("imdb", ["train", "dev", "test"], "Reviews of films")
    assert imdb.path == home / "imdb"


def test_names_resolve_to_files(home: Path) -> None:
    assert resolve("imdb") == home / "imdb/train.jsonl.gz"
    assert resolve("imdb", "test") == resolve("imdb/test") == home / "imdb/test.csv"
    assert resolve("glove", "vectors") == home / "glove/g.6B.npz"


def test_an_existing_path_takes_precedence_over_a_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "here").mkdir()
    monkeypatch.chdir(home / "here")
    Path("imdb").write_text("mine")
    assert resolve("imdb") == Path("imdb")
    assert companion("imdb", "dev") is None


def test_a_companion_is_another_split(home: Path) -> None:
    assert companion("imdb", "dev") == companion("imdb/train", "dev") == home / "imdb/dev.jsonl"
    assert companion("imdb", "extra") is None
    assert companion("unknown", "dev") is None


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("imbd", "train", "did you mean 'imdb'\\? expected one of 'glove', 'imdb'"),
        ("imdb/extra", "train", "imdb has no 'extra'; its splits are 'train', 'dev', 'test'"),
        ("glove", "train", "glove has no 'train'; its splits are 'vectors'"),
        ("data.csv", "train", "data.csv: no such file"),
    ],
)
@pytest.mark.usefixtures("home")
def test_unknown_names_are_refused(name: str, split: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(name, split)


def test_an_unset_or_wrong_variable_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="which is not a folder"):
        resolve("imdb")
    monkeypatch.delenv("REGARD_DATA")
    with pytest.raises(InputError, match="REGARD_DATA, the folder of named corpora, is not set"):
        resolve("imdb")
    assert available() == []


@pytest.mark.data
@pytest.mark.parametrize("name", ["sst2", "trec", "vader_tweets"])
def test_real_corpora_are_read_by_name(name: str) -> None:
    if not os.environ.get("REGARD_DATA"):
        pytest.skip("REGARD_DATA, the folder of named corpora, is not set")
    corpus = read(resolve(name))
    assert len(corpus.examples) > 3000
    assert corpus.text_column == "text"
    assert corpus.label_column in ("label", "rating")
    assert corpus.skipped == 0
