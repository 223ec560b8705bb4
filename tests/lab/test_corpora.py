"""The texts of a column: one split for all, whole groups held out, checksums, and errors for missing corpora."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from toys import write_texts

from regard.errors import InputError
from regard.records import Example
from regard_lab.tables.corpora import Corpora, by_groups, check_corpora, checksum
from regard_lab.tables.table import Corpus, Table


def test_whole_groups_are_held_out(toy: Table, corpora: Path) -> None:
    """60 texts of ten places, six each: a fifth are two whole places."""
    cell = next(cell for cell in toy.cells() if cell.corpus.name == "meals")
    parts = Corpora().prepare(cell.corpus, cell.options).parts
    kept, held = list(parts.train), list(parts.dev or ())
    assert (len(kept), len(held)) == (48, 12)
    places = [{(example.row - 1) % 10 for example in several} for several in (kept, held)]
    assert len(places[1]) == 2
    assert not places[0] & places[1]


def test_the_same_texts_for_every_method_and_read_once(toy: Table, corpora: Path) -> None:
    read = Corpora()
    result = [read.prepare(cell.corpus, cell.options) for cell in toy.cells() if cell.corpus.name == "meals"]
    assert result[0] is result[1]


def test_another_folder_of_corpora_gives_its_own_texts(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same name, of a corpus and of word vectors, in two folders that one process reads after each other."""
    corpus = Corpus("films", "Films", {}, ("accuracy",), 1, train="films")
    read, result = Corpora(), []
    for folder, count in ((corpora, 60), (tmp_path / "other", 30)):
        write_texts(folder / "films" / "train.jsonl", count, 0)
        (folder / "words").mkdir()
        (folder / "words" / "vectors.txt").write_text(f"good {count}\n", encoding="utf-8")
        monkeypatch.setenv("REGARD_DATA", str(folder))
        result.append(read.prepare(corpus, {"text": "text", "label": "label", "vectors": "words"}))
        assert read.prepare(corpus, {"text": "text", "label": "label", "vectors": "words"}) is result[-1]
    assert [len(list(one.parts.train)) for one in result] == [60, 30]
    assert len({one.data["words/vectors.txt"] for one in result}) == 2


def test_only_texts_with_the_requested_labels(corpora: Path) -> None:
    """Six of 60 texts are of each of ten places; of two places half are held out, three of each."""
    corpus = Corpus("films", "Films", {}, ("accuracy",), 1, train="films", test="films/test", labels=("0", "1"))
    parts = Corpora().prepare(corpus, {"label": "label", "text": "text"}).parts
    assert (len(list(parts.train)), len(list(parts.test or ()))) == (60, 20)
    places = replace(corpus, labels=("place 1", "place 2"), hold_out=0.5)
    parts = Corpora().prepare(places, {"label": "place", "text": "text", "task": "binary"}).parts
    for part in (parts.train, parts.dev or ()):
        assert sorted(str(example.label) for example in part) == ["place 1"] * 3 + ["place 2"] * 3
    assert places.definition()["labels"] == ("place 1", "place 2")
    with pytest.raises(
        InputError, match=r"train\.jsonl: expected texts with the label 'place 77', which `labels` names, got none"
    ):
        Corpora().prepare(replace(corpus, labels=("place 1", "place 77")), {"label": "place", "text": "text"})


def test_train_and_test_split_again_at_random(corpora: Path) -> None:
    """80 texts in all, of two labels: a fifth as test, a quarter of the rest as dev."""
    corpus = Corpus("films", "Films", {}, ("accuracy",), 1, train="films", test="films/test", pooled=0.2, hold_out=0.25)
    parts = Corpora().prepare(corpus, {"label": "label", "text": "text", "task": "binary"}).parts
    train, dev, test = (list(part or ()) for part in parts[:3])
    plain = (
        Corpora()
        .prepare(replace(corpus, pooled=0.0, hold_out=0.0), {"label": "label", "text": "text", "task": "binary"})
        .parts
    )
    every = [*plain.train, *(plain.test or ())]
    assert (len(train), len(dev), len(test)) == (48, 16, 16)
    assert sorted(example.text for example in [*train, *dev, *test]) == sorted(example.text for example in every)
    assert [example.text for example in test] != [example.text for example in plain.test or ()][:16]
    assert corpus.definition()["pooled"] == 0.2
    assert "pooled" not in replace(corpus, pooled=0.0).definition()


def test_files_are_identified_by_their_checksums(toy: Table, corpora: Path) -> None:
    cell = next(toy.cells())
    data = Corpora().prepare(cell.corpus, cell.options).data
    assert data["films/train.jsonl"] == checksum(corpora / "films" / "train.jsonl")
    assert set(data) == {"films/train.jsonl", "films/dev.jsonl", "films/test.jsonl"}
    assert len(checksum(corpora / "films")) == 16  # a folder of classes


def test_one_group_cannot_be_split() -> None:
    examples = [Example("a", "0", 1), Example("b", "1", 2)]
    with pytest.raises(InputError, match="expected two or more groups among the training texts, got 1"):
        by_groups(examples, {1: "x", 2: "x"}, 0.5)
    kept, held = by_groups(examples, {1: "x", 2: "y"}, 0.1)
    assert len(kept) == len(held) == 1


def test_a_synthetic_corpus_needs_no_file() -> None:
    created = Corpus("made", "Made", {}, ("accuracy",), 1, make="synthetic", keys={"texts": 40})
    parts = Corpora().prepare(created, {}).parts
    assert [len(list(part or ())) for part in (parts.train, parts.dev, parts.test)] == [40, 8, 8]


def test_all_missing_corpora_are_named_at_once(
    toy: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, corpora: Path
) -> None:
    check_corpora(toy.cells(), toy.name)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    with pytest.raises(
        InputError, match=r"toy/table needs films, meals, not found in the folder that REGARD_DATA names"
    ):
        check_corpora(toy.cells(), toy.name)
    monkeypatch.delenv("REGARD_DATA")
    with pytest.raises(InputError, match=r"REGARD_DATA is not set; .* `regard datasets NAME` explains where"):
        check_corpora(toy.cells(), toy.name)
