"""Corpora from the hub, with a fake of its library."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from regard.corpora.conversion import ConversionOptions, Converted, convert
from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.errors import InputError


class Part:
    """A split as the library returns it: rows as dicts, names of columns, and features that may name labels."""

    def __init__(self, rows: Sequence[dict[str, Any]], **names: Sequence[str]) -> None:
        self.rows = list(rows)
        self.column_names = list(rows[0])
        self.features = {
            column: SimpleNamespace(names=names[column]) if column in names else None for column in rows[0]
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


class Hub:
    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parts: dict[str, Part] = {}
        self.requests: list[tuple[str, ...]] = []
        self.notes: list[str] = []
        library = ModuleType("datasets")
        library.load_dataset = self.load_dataset  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "datasets", library)
        monkeypatch.setenv("REGARD_DATA", str(tmp_path))

    def load_dataset(self, *arguments: str) -> dict[str, Part]:
        self.requests.append(arguments)
        if not self.parts:
            raise ConnectionError("no way there\nat all")
        return self.parts

    def convert(self, name: str, address: str, **given: str) -> Converted:
        return convert(ConversionOptions(name, address, **given), self.notes.append)  # type: ignore[arg-type]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    return Hub(tmp_path, monkeypatch)


def texts(name: str) -> list[tuple[str, object]]:
    return [(example.text, example.label) for example in read(resolve(name), ReadOptions(at_least=1))]


def test_a_known_corpus_gets_the_labels_of_the_original(hub: Hub) -> None:
    classes = ["ABBR", "ENTY", "DESC", "HUM", "LOC", "NUM"]
    rows = [
        {"text": "Who ?", "coarse_label": 3, "fine_label": 28},
        {"text": "Why ?", "coarse_label": 2, "fine_label": 1},
    ]
    hub.parts = {"train": Part(rows, coarse_label=classes), "test": Part(rows[:1], coarse_label=classes)}
    done = hub.convert("trec", "hub:CogComp/trec")
    assert hub.requests == [("CogComp/trec",)]
    assert texts("trec") == [("Who ?", "3"), ("Why ?", "0")]
    assert done.counts == {"train": 2, "test": 1}
    assert "train: expected 4907 texts, got 2" in done.differences


def test_label_names_take_precedence_over_numbers(hub: Hub) -> None:
    rows = [{"text": "It moves me.", "label": 1, "label_text": "subjective"}]
    hub.parts = {"train": Part([*rows, {"text": "He dies.", "label": 0, "label_text": "objective"}])}
    hub.convert("subj", "hub:SetFit/subj")
    assert texts("subj") == [("It moves me.", "0"), ("He dies.", "1")]


def test_unlabelled_texts_and_other_splits_are_skipped(hub: Hub) -> None:
    rows = [{"sentence": "good", "label": 1}, {"sentence": "bad", "label": 0}, {"sentence": "hidden", "label": -1}]
    hub.parts = {part: Part(rows, label=["negative", "positive"]) for part in ("train", "validation", "unsupervised")}
    hub.parts["test"] = Part(rows[2:], label=["negative", "positive"])
    done = hub.convert("sst2", "hub:stanfordnlp/sst2")
    assert done.counts == {"train": 2, "dev": 2}
    assert texts("sst2/dev") == [("good", "1"), ("bad", "0")]
    assert "hub:stanfordnlp/sst2: skipped unsupervised" in hub.notes
    assert "hub:stanfordnlp/sst2: test has no labels; skipped" in hub.notes


def test_stars_become_ratings(hub: Hub) -> None:
    rows = [{"label": stars, "text": f"review {stars} {row}"} for stars in range(5) for row in range(10)]
    hub.parts = {"train": Part(rows[:40]), "test": Part(rows[40:])}
    done = hub.convert("yelp", "hub:Yelp/yelp_review_full")
    assert done.counts == {"train": 40, "dev": 5, "test": 5}
    assert {example.label for example in read(resolve("yelp/dev"), ReadOptions(label="rating"))} == {
        "1",
        "2",
        "3",
        "4",
        "5",
    }


def test_any_other_corpus_is_read_by_columns_and_divided(hub: Hub) -> None:
    rows = [{"premise": f"a text {row}", "other": "x", "mood": row % 2} for row in range(20)]
    hub.parts = {"train": Part(rows, mood=["sad", "glad"])}
    done = hub.convert("mine", "hub:me/moods:plain", text="premise", label="mood")
    assert hub.requests == [("me/moods", "plain")]
    assert done.counts == {"train": 16, "dev": 2, "test": 2}
    assert done.differences == []
    assert set(texts("mine")) <= {(f"a text {row}", ("sad", "glad")[row % 2]) for row in range(20)}


@pytest.mark.parametrize(
    ("name", "address", "message"),
    [
        ("imdb", "hub:x/none", r"--from hub:x/none: could not be loaded from the hub \(no way there\)$"),
        ("imdb", "hub:a/b/c", "expected hub:ORG/NAME or hub:ORG/NAME:CONFIG, got hub:a/b/c"),
        ("sst_trees", "hub:x/y", "sst_trees: the hub does not have all fields of this corpus"),
    ],
)
def test_what_cannot_be_loaded_is_reported(hub: Hub, tmp_path: Path, name: str, address: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hub.convert(name, address)
    assert list(tmp_path.iterdir()) == []


def test_unexpected_labels_and_splits_are_reported(hub: Hub) -> None:
    hub.parts = {"train": Part([{"text": "x y", "label": 7}])}
    with pytest.raises(
        InputError, match=r"hub:a/b \(train\), row 1, column 'label': expected one of world, sports.*, got 7"
    ):
        hub.convert("ag_news", "hub:a/b")
    hub.parts = {"all": Part([{"text": "x y", "label": 7}])}
    with pytest.raises(InputError, match="expected splits such as train, validation or test, got all"):
        hub.convert("ag_news", "hub:a/b")


def test_a_missing_library_is_reported(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"pip install 'regard\[hub\]'"):
        hub.convert("imdb", "hub:stanfordnlp/imdb")
