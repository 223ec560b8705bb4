"""The kind "purified": accuracy, a base model's predictions for erased texts, marked words, rounds and maps; and its tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from toys import Rows, first_rows, written_table

from regard.config import Config
from regard.errors import InputError
from regard.recorder import Silent
from regard.records import Example
from regard_lab.kinds import drawings, purified, train
from regard_lab.kinds.rounds import closeness, tsne
from regard_lab.kinds.word_measures import MARKS, characters, marks_of
from regard_lab.reading.table_file import read_table
from regard_lab.running.plan import select_cells
from regard_lab.tables.context import Context
from regard_lab.tables.corpus_makers import sided
from regard_lab.tables.table import Table

TABLES = sorted((Path(__file__).parents[2] / "experiments" / "vat").glob("*.toml"))
TOML = """
title = "Toy"
kind = "purified"
seeds = 2
measures = ["accuracy", "aopc_1", "post_hoc_1", "f_1_positive", "round_1"]
[options]
text = "text"
label = "label"
encoder = "cnn"
windows = [1]
hidden = 8
embedding = 8
query = 8
min_count = 1
epochs = 15
patience = 0
batch_size = 16
lr = 0.05
dropout = 0.0
judge = "max"
most = 3
marks = "rationales"
mapped = 12
[methods.random]
title = "Random"
pooling = "max"
chance = true
[methods.base]
title = "Base"
pooling = "max"
[methods.att]
title = "ATT"
pooling = "attention"
[methods.vat]
title = "VAT"
pooling = "bottleneck"
rounds = 2
beta = 0.01
by_round = true
[corpora.toy]
title = "Toy"
train = "toy"
dev = "toy/dev"
test = "toy/test"
task = "binary"
"""
GOOD, BAD = ("lovely", "warm"), ("dull", "grim")


def write(path: Path, count: int, start: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for n in range(start, start + count):
            word, position = (GOOD if n % 2 else BAD)[n // 2 % 2], 1 + n % 3
            tokens = ["a", "thing", f"of{n % 5}", "some", "kind"]
            tokens.insert(position, word)
            row = {"text": " ".join(tokens), "label": n % 2, "rationales": [[position, position + 1]]}
            file.write(json.dumps(row) + "\n")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return written_table(tmp_path_factory.mktemp("vat") / "toy.toml", TOML, "vat/toy")


@pytest.fixture(scope="module")
def rows(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    splits = {"train": (60, 0), "dev": (12, 60), "test": (24, 80)}
    return first_rows(table, tmp_path_factory.mktemp("data"), splits, write)


def test_the_base_model_judges_and_random_words_cost_less(rows: Rows) -> None:
    att, rng = rows["att"]["values"], rows["random"]["values"]
    assert rows["base"]["values"]["accuracy"] == att["judge_accuracy"] == 1.0
    assert att["aopc_1"] > att["aopc_1_random"] == rng["aopc_1"]
    assert att["post_hoc_1"] > att["post_hoc_1_random"] == rng["post_hoc_1"]
    assert "accuracy" not in rng
    assert "aopc_1" not in rows["base"]["values"]
    assert att["aopc_1_long"] == att["aopc_1"], "every text has more than one word"
    assert att["short_1"] == 0
    low, high = att_interval = rows["att"]["intervals"]["aopc_1"]
    assert low <= att["aopc_1"] <= high, att_interval


def test_marked_words_are_found_and_random_precision_is_their_share(rows: Rows) -> None:
    values = rows["att"]["values"]
    assert values["precision_1_positive_random"] == pytest.approx(1 / 6)  # one word of six is marked
    assert values["recall_5_negative_random"] == pytest.approx(5 / 6)
    assert rows["random"]["values"]["f_1"] == pytest.approx(1 / 6)
    assert values["f_1_ratio"] == pytest.approx(6 * values["f_1"])


def test_rounds_are_evaluated_on_the_measured_texts(rows: Rows) -> None:
    row = rows["vat"]
    values, best = row["values"], int(row["values"]["best_round"])
    assert {"round_0", "round_1", "round_2", "compressed_1", "closeness_0"} <= set(values)
    assert values[f"round_{best}"] == values["accuracy"]
    assert values[f"closeness_{best}"] == pytest.approx(values["closeness"], rel=1e-4)
    assert values["compressed_accuracy"] == values[f"compressed_{best}"]
    assert [len(row["history"][name]) for name in ("rounds.dev", "rounds.compressed", "rounds.kl")] == [3, 2, 2]


def test_evaluating_rounds_changes_nothing(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split, count, start in (("train", 60, 0), ("dev", 12, 60), ("test", 24, 80)):
        write(tmp_path / "toy" / f"{split}.jsonl", count, start)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    (cell,) = select_cells(table, ["vat"])
    unseen = {key: value for key, value in cell.options.items() if key not in ("by_round", "judge", "marks", "mapped")}
    (plain,) = purified.run(replace_options(cell, unseen), [1], Context("cpu", Silent()))
    (seen,) = purified.run(replace_options(cell, {**unseen, "by_round": True}), [1], Context("cpu", Silent()))
    assert plain["history"] == seen["history"]
    assert plain["values"].items() <= seen["values"].items()


def replace_options(cell: Any, options: dict[str, Any]) -> Any:
    from dataclasses import replace

    return replace(cell, options=options)


def test_figures_are_svg_and_rows_contain_no_texts(table: Table, rows: Rows) -> None:
    figures = drawings.draw_purified(table, list(rows.values()))
    assert set(figures) == {"along-k-aopc", "along-k-post-hoc", "rounds", "map-toy"}
    for svg in figures.values():
        ElementTree.fromstring(svg)
    assert "lovely" not in json.dumps(list(rows.values()))
    assert list(rows["vat"]["map"]["points"]) == ["round 0", "round 1", "round 2"]


def test_random_words_are_drawn_for_each_judge(rows: Rows, tmp_path: Path) -> None:
    """Each base model judges words in its own way, so random words under one judge say nothing about another's."""
    one = drawings.draw_purified(written_table(tmp_path / "one.toml", TOML, "vat/one"), list(rows.values()))
    assert one["along-k-aopc"].count(">random words<") == 1
    methods = '[methods.deep-random]\ntitle = "Random, deep"\npooling = "max"\nchance = true\n[methods.deep]\ntitle = "Deep"\n'
    both = TOML.replace("[corpora.toy]", methods + "[corpora.toy]")
    deep = [
        {**rows[of], "method": name, "options": {**rows[of]["options"], "encoder": "bilstm"}}
        for name, of in (("deep-random", "random"), ("deep", "att"))
    ]
    table = written_table(tmp_path / "both.toml", both, "vat/both")
    figure = drawings.draw_purified(table, [*rows.values(), *deep])["along-k-aopc"]
    assert [figure.count(f">{name}<") for name in ("Random", "Random, deep", "random words", "Deep")] == [1, 1, 0, 1]


def test_a_judge_is_trained_once_for_a_corpus(table: Table, rows: Rows) -> None:
    given = {"pooling": "bottleneck", "beta": 1.0, "head_hidden": True, "lr": 0.1}
    options = train.judge_options(given, {"judge": "max", "judge_dropout": 0.5})
    assert options == {"pooling": "max", "lr": 0.1, "dropout": 0.5}
    assert train.judge_options(given, {"judge": "max", "judge_lr": 0.2}) == {"pooling": "max", "lr": 0.2}
    assert rows["base"]["seconds"] == rows["random"]["seconds"]  # one training for both


def test_judges_are_not_reused_for_another_folder_of_corpora(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same corpus by name: 60 training texts, then 30, and the first ones again."""
    (cell,) = select_cells(table, ["base"])
    plain = cell.without(purified.KEYS)
    config = Config().override(plain.options)
    context, result = Context("cpu", Silent()), []
    for index, count in (("one", 60), ("other", 30), ("one", 60)):
        for split in ("train", "dev", "test"):
            write(tmp_path / index / "toy" / f"{split}.jsonl", count, 0)
        monkeypatch.setenv("REGARD_DATA", str(tmp_path / index))
        prepared = context.corpora.prepare(cell.corpus, plain.options)
        result.append(train.judges_of(cell, config, prepared, context))
    assert result[0].key == result[2].key != result[1].key
    assert result[0] is not result[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"marks": "stars"}, "marks: expected one of phrases, leaves, rationales, got 'stars'"),
        ({"judge": "attention", "by_round": True}, "by_round needs"),
        ({"most": 0}, "most: expected 1 or more, got 0"),
        ({"task": "regression"}, "expected a classification task, because accuracy is measured"),
    ],
)
def test_bad_options_are_refused(table: Table, change: dict[str, Any], message: str) -> None:
    (cell,) = select_cells(table, ["att"])
    with pytest.raises(InputError, match=message):
        purified.check(replace_options(cell, {**cell.options, **change}))


def test_marks_become_characters(tmp_path: Path) -> None:
    assert characters("ab  c d", [(0, 1), (2, 4)]) == [(0, 2), (4, 7)]  # the empty token between two spaces counts
    assert MARKS["phrases"].evidence([[0, 1, 2], [1, 3, 0]], "2") == [(0, 1)]
    assert MARKS["leaves"].evidence([0, 2, 3], "1") == [(2, 3)]
    assert MARKS["leaves"].evidence([0, 2, 3], "0") == [(0, 1)]
    assert MARKS["rationales"].evidence([[0, 2]], "1") == [(0, 2)]
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "so good", "label": 1, "rationales": [[1, 2]]}\n', encoding="utf-8")
    assert marks_of(path, [Example("so good", "1", 1)], "rationales") == [[(3, 7)]]
    with pytest.raises(InputError, match="row 1: expected the text that was read from this row"):
        marks_of(path, [Example("so bad", "1", 1)], "rationales")
    with pytest.raises(InputError, match=r"expected a list of 0 to 4 \(2 is neutral\) in the field 'token_labels'"):
        marks_of(path, [Example("so good", "1", 1)], "leaves")


def test_ratings_become_two_classes_without_the_middle() -> None:
    ratings = [Example("a", "1.0"), Example("b", "3"), Example("c", 4.0), Example("d", "2")]
    assert [(one.text, one.label) for one in sided(ratings, "train", low=2, high=4)] == [
        ("a", "0"),
        ("c", "1"),
        ("d", "0"),
    ]
    with pytest.raises(InputError, match="low = 4"):
        sided(ratings, "train", low=4, high=4)
    with pytest.raises(InputError, match="expected a number as the label, got 'good'"):
        sided([Example("a", "good")], "train", low=2, high=4)


def test_closeness_is_within_over_between() -> None:
    vectors = np.array([[0.0], [1.0], [10.0], [11.0]])
    # within: 1, 1; between: 10, 11, 9, 10
    assert closeness(vectors, np.array([0, 0, 1, 1])) == pytest.approx(0.1)
    created = tsne(np.random.default_rng(0).normal(size=(12, 3)))
    assert np.array(created).shape == (12, 2)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_tables_of_the_paper_can_be_read(path: Path) -> None:
    table = read_table(path, f"vat/{path.stem}")
    for cell in table.cells():
        if table.implementation.check is not None and cell.options.get("encoder") != "bert":
            table.implementation.check(cell)


def test_tables_2_3_and_4_use_the_same_models() -> None:
    prints = []
    for path in TABLES:
        if path.stem in ("table2", "table3", "table4"):
            table = read_table(path, f"vat/{path.stem}")
            prints.append({cell.key: cell.fingerprint for cell in table.cells()})
    assert len(prints) == 3
    assert prints[0] == prints[1] == prints[2]
