"""Every command as it is used: input, output, and files in the run folder."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from command import TINY, CommandResult, Regard, write_csv
from regard import __version__, cli
from regard.commands import predict_blocks, reading
from regard.config import Config, read_config
from regard.data.reviews import reviews
from regard.data.wordpieces import WordPieces
from regard.errors import InputError
from regard.models.tasks import Binary
from regard.records import Example
from regard.training import fit_sparse
from tiny_bert import word_pieces

ROWS = [("a good film", "pos"), ("a bad film", "neg")] * 6


def jsonl(result: CommandResult) -> list[dict[str, Any]]:
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def as_parquet(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(
        pa.Table.from_pylist([{"text": text, "label": label} for text, label in ROWS]), path
    )


def as_folder(path: Path) -> None:
    for number, (text, label) in enumerate(ROWS):
        (path / label).mkdir(parents=True, exist_ok=True)
        (path / label / f"{number}.txt").write_text(text)


LINES = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in ROWS)
FORMATS: dict[str, Callable[[Path], object]] = {
    "a.csv": lambda path: write_csv(path, ROWS),
    "a.tsv": lambda path: path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in ROWS)),
    "a.jsonl": lambda path: path.write_text(LINES),
    "a.jsonl.gz": lambda path: path.write_bytes(gzip.compress(LINES.encode())),
    "a.json": lambda path: path.write_text("[" + LINES.strip().replace("\n", ",") + "]"),
    "a.parquet": as_parquet,
    "folder": as_folder,
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_learned_from_and_scored(regard: Regard, tmp_path: Path, name: str) -> None:
    path, out = tmp_path / name, tmp_path / "run"
    FORMATS[name](path)
    assert regard("train", path, *TINY, "--out", out).code == 0
    result = regard("evaluate", out, path, "--json")
    assert result.code == 0
    assert json.loads(result.out)["n"] == 12


def test_a_run_folder_is_self_explanatory(regard: Regard, table: Path, run: Path) -> None:
    names = (
        "README.md",
        "config.toml",
        "manifest.json",
        "metrics.json",
        "task.json",
        "tokenizer.json",
        "weights.safetensors",
    )
    assert sorted(os.listdir(run)) == sorted(names)
    card = (run / "README.md").read_text()
    assert "embedding-apln, 2 levels" in card
    assert "5 classes: 1, 2, 3, 4, 5" in card
    assert json.loads((run / "task.json").read_text()) == {"kind": "multiclass", "classes": ["1", "2", "3", "4", "5"]}
    assert tomllib.loads((run / "config.toml").read_text())["data"]["train"] == str(table)


def test_the_history_records_every_epoch(run: Path) -> None:
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["epochs"] == len(metrics["history"]) == 2
    assert metrics["dev"]["accuracy"] == metrics["history"][metrics["best_epoch"] - 1]["dev"]["accuracy"]
    for record in metrics["history"]:
        assert record["loss"] > 0
        assert set(record["dev"]) >= {"accuracy", "macro_f", "log_loss"}
        for kind in ("scores", "norms"):
            assert list(record[kind]) == ["words", "sentences"]
            for spread in record[kind].values():
                assert spread["min"] <= spread["mean"] <= spread["max"]
    first, second = (record["norms"]["words"]["mean"] for record in metrics["history"])
    assert first != second, "the norm is learned"


def test_the_config_of_a_run_makes_the_same_run(regard: Regard, run: Path, tmp_path: Path) -> None:
    assert regard("train", "--config", run / "config.toml", "--out", tmp_path / "again").code == 0
    again = (tmp_path / "again" / "weights.safetensors").read_bytes()
    assert again == (run / "weights.safetensors").read_bytes()
    assert read_config(tmp_path / "again" / "config.toml") == read_config(run / "config.toml")


def test_the_command_line_takes_precedence_over_the_file(regard: Regard, table: Path, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(
        '[model]\nhidden = 6\nencoder = "cnn"\nwindows = [1, 2]\n[training]\nepochs = 1\n'
    )
    given = ("--hidden", 4, "--no-lowercase", "--no-head-bias", "--device", "cpu")
    assert regard("train", table, "--config", tmp_path / "run.toml", *given, "--out", tmp_path / "run").code == 0
    config = Config().override(read_config(tmp_path / "run" / "config.toml"))
    assert (config.model.hidden, config.model.encoder, config.model.windows) == (4, "cnn", (1, 2))
    assert (config.data.lowercase, config.model.head_bias, config.training.epochs) == (False, False, 1)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (["superb"], "1 more word is known from its vector alone"),
        (["superb", "dire"], "2 more words are known from their"),
    ],
)
def test_words_that_only_have_a_vector_are_counted(
    regard: Regard, table: Path, tmp_path: Path, others: list[str], said: str
) -> None:
    (tmp_path / "vectors.txt").write_text("".join(f"{word} 1 2 3\n" for word in ("the", "was", "good", *others)))
    given = ("--vectors", tmp_path / "vectors.txt", "--epochs", 1, "--out", tmp_path / "run")
    assert said in regard("train", table, *given).err


@pytest.mark.parametrize("split", ["dev", "test"])
def test_scores_on_the_training_texts_are_noted(regard: Regard, table: Path, tmp_path: Path, split: str) -> None:
    done = regard("train", table, f"--{split}", table, *TINY, "--out", tmp_path / "run")
    assert f"the {split} texts are the training texts" in done.err


def test_training_with_dev_test_and_vectors(regard: Regard, table: Path, tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("".join(f"{word} 1 2 3\n" for word in ("the", "was", "good")))
    given = ("--dev", table, "--test", table, "--vectors", tmp_path / "vectors.txt", "--out", tmp_path / "run")
    result = regard("train", table, *TINY, *given)
    assert result.code == 0
    assert "have a vector in" in result.err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["dev"]["n"] == metrics["test"]["n"] == 60
    assert regard("predict", tmp_path / "run", "the vectors are 3 wide, not 8").code == 0


def test_named_corpora(regard: Regard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / ".work"  # in the folder itself "films" would be a path
    elsewhere.mkdir()
    (tmp_path / "films").mkdir()
    for split, count in (("train", 12), ("dev", 6), ("test", 4)):
        write_csv(tmp_path / "films" / f"{split}.csv", ROWS[:count])
    (tmp_path / "films" / "README.md").write_text("# films\n\nTwo films [bold]of ours[/].\n")
    (tmp_path / "[bold]odd").mkdir()
    write_csv(tmp_path / "[bold]odd" / "train.csv", ROWS)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    monkeypatch.chdir(elsewhere)
    result = regard("datasets")
    assert "train, dev, test  Two films [bold]of ours[/]." in result.out
    assert "[bold]odd" in result.out
    result = regard("train", "films", *TINY, "--test", "films")
    assert result.code == 0
    assert "early stopping on the dev part of films" in result.err
    assert 'dev = "films/dev"' in Path("runs/films/config.toml").read_text(), "a name, so that the run can be moved"
    assert "early stopping on" not in regard("train", "films/dev", *TINY, "--out", "other").err, "not its own texts"
    metrics = json.loads(Path("runs/films/metrics.json").read_text())
    assert (metrics["dev"]["n"], metrics["test"]["n"]) == (6, 4)
    assert json.loads(regard("evaluate", "runs/films", "films", "--json").out)["n"] == 4
    assert json.loads(regard("evaluate", "runs/films", "films/dev", "--json").out)["n"] == 6


# evaluate


def test_evaluate_gives_one_json_object(regard: Regard, run: Path, table: Path) -> None:
    (metrics,) = jsonl(regard("evaluate", run, table, "--json"))
    assert metrics["n"] == 60
    assert {"accuracy", "macro_f", "log_loss", "per_class", "confusion"} <= set(metrics)
    result = [row["prediction"] for row in jsonl(regard("predict", run, table))]
    right = sum(answer == label for answer, label in zip(result, labels(table), strict=True))
    assert metrics["accuracy"] == pytest.approx(right / 60)


def labels(path: Path) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        return [row["label"] for row in csv.DictReader(file)]


def test_ratings_are_scored_in_the_unit_of_the_file(regard: Regard, rated: Path, table: Path, tmp_path: Path) -> None:
    (metrics,) = jsonl(regard("evaluate", rated, table, "--json"))
    result = [row["prediction"] for row in jsonl(regard("predict", rated, table))]
    errors = [given - float(true) for given, true in zip(result, labels(table), strict=True)]
    assert metrics["rmse"] == pytest.approx(math.sqrt(sum(error**2 for error in errors) / 60))
    many = write_csv(tmp_path / "many.csv", [(text, 1000 * float(stars)) for text, stars in rows(table)])
    assert regard("train", many, *TINY, "--task", "regression", "--out", tmp_path / "run").code == 0
    (thousandfold,) = jsonl(regard("evaluate", tmp_path / "run", many, "--json"))
    assert thousandfold["rmse"] == pytest.approx(1000 * metrics["rmse"], rel=1e-3)


def rows(path: Path) -> list[tuple[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return [(row["text"], row["label"]) for row in csv.DictReader(file)]


def test_one_row_can_be_evaluated(regard: Regard, run: Path, rated: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "one.csv", [("good film", "1")])
    for folder in (run, rated):
        assert json.loads(regard("evaluate", folder, path, "--json").out)["n"] == 1
        assert regard("evaluate", folder, path).code == 0


def test_evaluate_uses_the_columns_of_training(regard: Regard, tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "a.csv", [(text, "x y", label, "z") for text, label in ROWS], ("b", "text", "c", "label")
    )
    assert regard("train", path, *TINY, "--text", "b", "--label", "c", "--out", tmp_path / "run").code == 0
    assert json.loads(regard("evaluate", tmp_path / "run", path, "--json").out)["n"] == 12


def test_numbers_of_classes_and_decimal_commas_are_understood(regard: Regard, tmp_path: Path) -> None:
    ids = write_csv(tmp_path / "ids.csv", [(f"word{n % 30} film", n % 30) for n in range(90)])
    result = regard("train", ids, *TINY, "--out", tmp_path / "ids")
    assert "· task: multiclass, because column 'label' has 30 consecutive whole numbers" in result.err
    assert jsonl(regard("predict", tmp_path / "ids", "word7 film"))[0]["probabilities"].keys() == {*map(str, range(30))}
    rated = write_csv(tmp_path / "rated.csv", [("good film", "3,5"), ("bad film", "1,5")] * 20)
    for number, option in enumerate([[], ["--task", "regression"]]):
        result = regard("train", rated, *TINY, *option, "--out", tmp_path / f"rated{number}")
        assert "decimal comma" in result.err
        assert json.loads(regard("evaluate", tmp_path / f"rated{number}", rated, "--json").out)["mae"] <= 1


# predict


def test_predictions_stay_with_their_rows(regard: Regard, run: Path, table: Path, tmp_path: Path) -> None:
    """Texts are read in order of length; predictions are in the order of the file and do not depend on neighbouring texts."""
    predictions = jsonl(regard("predict", run, table, "--format", "jsonl"))
    assert [row["row"] for row in predictions] == list(range(1, 61))
    assert [row["text"] for row in predictions] == [text for text, _ in rows(table)]
    for row in predictions[::20]:
        (alone,) = jsonl(regard("predict", run, row["text"], "--format", "jsonl"))
        assert alone["prediction"] == row["prediction"]
        assert alone["probabilities"] == pytest.approx(row["probabilities"], abs=1e-6)
        assert sum(row["probabilities"].values()) == pytest.approx(1)
    sheet = list(csv.DictReader(io.StringIO(regard("predict", run, table, "--format", "csv").out)))
    assert [row["prediction"] for row in sheet] == [row["prediction"] for row in predictions]
    assert [float(row["p(3)"]) for row in sheet] == [row["probabilities"]["3"] for row in predictions]
    written = tmp_path / "answers.jsonl"
    assert regard("predict", run, table, "--out", written).out == ""
    assert [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()] == predictions


@pytest.mark.parametrize("large", [0, 1 << 26])  # a file that is answered while it is read, or all at once
@pytest.mark.parametrize("option", [(), ("--skip-bad-rows",)])
def test_every_row_is_written_and_bad_ones_have_an_error(
    regard: Regard, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int, option: tuple[str, ...]
) -> None:
    monkeypatch.setattr(reading, "LARGE", large)
    path = tmp_path / "a.csv"
    path.write_text("id,text,label\na,,1\nb,good,1\nc,too,many,fields\nd,bad,\n", encoding="utf-8")
    result = regard("predict", run, path, *option, "--format", "jsonl", "--keep", "id")
    rows = jsonl(result)
    assert [(row["row"], row["id"], row["text"]) for row in rows] == [
        (1, "a", ""),
        (2, "b", "good"),
        (3, None, ""),
        (4, "d", "bad"),
    ]
    empty = f"{path}, row 1, column 'text': expected at least one word, got the text ''"
    ragged = f"{path}, row 3: expected 3 fields, as in the first row, got 4"
    assert [row.get("error") for row in rows] == [empty, None, ragged, None]
    assert [row["prediction"] is None for row in rows] == [True, False, True, False]
    assert "2 of 4 rows have no prediction; see the column error" in result.err
    assert "skipped" not in result.err
    sheet = regard("predict", run, path, *option, "--format", "csv", "--keep", "id").out
    table = list(csv.DictReader(io.StringIO(sheet)))
    assert list(table[0]) == [
        "row",
        "id",
        "text",
        "prediction",
        "confidence",
        *(f"p({k})" for k in range(1, 6)),
        "error",
    ]
    assert [row["error"] for row in table] == [empty, "", ragged, ""]
    assert [row["prediction"] for row in table] == [row["prediction"] or "" for row in rows]
    assert table[0]["p(1)"] == ""
    shown = regard("predict", run, path, *option, "--format", "terminal").out.splitlines()
    assert shown[1].split()[:4] == ["1", "–", "–", "error:"]
    assert len(shown) == 5


def test_strict_prediction_stops_at_a_bad_row(regard: Regard, run: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("good", 1), ("", 1), ("bad", 1)])
    result = regard("predict", run, path, "--strict", "--format", "csv")
    assert (result.code, result.out) == (2, "")
    assert f"{path}, row 2, column 'text': expected at least one word, got the text ''" in result.error
    assert "(without --strict, such rows get an error instead of a prediction)" in result.error
    good = write_csv(tmp_path / "b.csv", [("good", 1)])
    assert "error" not in regard("predict", run, good, "--strict", "--format", "csv").out.splitlines()[0]
    assert "use only one of them" in regard("predict", run, path, "--strict", "--skip-bad-rows").error
    bad = write_csv(tmp_path / "c.csv", [("", 1)])
    assert "expected at least 1 usable row, got 0; the first of 1 bad rows: " in regard("predict", run, bad).error


def test_a_text_too_long_for_the_model_is_a_bad_row(tmp_path: Path) -> None:
    """A fine-tuned encoder refuses long texts instead of reading a part of them."""
    tokenizer = WordPieces(word_pieces().to_str(), longest=6)
    task = Binary(("no", "yes"))

    class Refusing:
        def __init__(self) -> None:
            self.tokenizer, self.task = tokenizer, task

        def answers(self, texts: list[str]) -> Any:
            return np.array([[0.25, 0.75] for _ in tokenizer.encode_each(texts)])

    examples = [Example("good film", None, 1), Example("good " * 7, None, 2), Example("", None, 3, error="empty")]
    pairs = list(predict_blocks.predict_stream(cast(Any, Refusing()), examples, "a.csv", strict=False))
    assert [prediction is None for _, prediction in pairs] == [False, True, True]
    assert str(pairs[1][0].error).startswith("a.csv, row 2: expected a text of up to 6 word pieces")
    with pytest.raises(InputError, match=r"a\.csv, row 2"):
        list(predict_blocks.predict_stream(cast(Any, Refusing()), examples[:2], "a.csv", strict=True))


def test_skipped_rows_keep_their_numbers(regard: Regard, run: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [("good", 1), ("", 1), ("bad", 1)])
    result = regard("explain", run, "--file", path, "--skip-bad-rows", "--format", "csv")
    assert list(dict.fromkeys(row["row"] for row in csv.DictReader(io.StringIO(result.out)))) == ["1", "3"]
    assert (
        f"1 row was skipped; the first: {path}, row 2, column 'text': expected at least one word, got the text ''"
        in result.err
    )
    for command in (("explain", run, "--file", path), ("evaluate", run, path)):
        assert "(--skip-bad-rows skips such rows)" in regard(*command).error


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_ragged_rows_mention_the_option_that_skips_them(
    regard: Regard, run: Path, tmp_path: Path, name: str, command: str
) -> None:
    path = tmp_path / name
    if name == "a.csv":
        path.write_text("text,label\ngood,1\nbad,2,3\nfine,2\n", encoding="utf-8")
    else:
        path.write_text('{"text": "good", "label": 1}\n[3]\n{"text": "bad", "label": 2}\n', encoding="utf-8")
    arguments = (path, "--out", tmp_path / "run") if command == "train" else (run, path)
    assert "(--skip-bad-rows skips such rows)" in regard(command, *arguments).error


def test_columns_are_kept_with_predictions(regard: Regard, run: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("number,text,place\n007,good,\n008,bad,Rome\n", encoding="utf-8")
    sheet = list(
        csv.reader(io.StringIO(regard("predict", run, path, "--format", "csv", "--keep", "number", "place").out))
    )
    assert [row[:4] for row in sheet] == [
        ["row", "number", "place", "text"],
        ["1", "007", "", "good"],
        ["2", "008", "Rome", "bad"],
    ]
    assert [row["number"] for row in jsonl(regard("predict", run, path, "--keep", "number"))] == ["007", "008"]
    assert "no column 'nummer' (--keep); did you mean 'number'?" in regard("predict", run, path, "--keep", "nummer").err
    assert "--keep text: predictions have a column of that name" in regard("predict", run, path, "--keep", "text").err
    assert "--keep p(1): predictions have a column of that name" in regard("predict", run, path, "--keep", "p(1)").err
    lines = tmp_path / "a.txt"
    lines.write_text("good\nbad\n", encoding="utf-8")
    assert "lines and folders of text have no columns" in regard("predict", run, lines, "--keep", "number").err


def test_the_column_of_training_takes_precedence_over_a_likelier_name(regard: Regard, tmp_path: Path) -> None:
    rows = [
        ("a fine film", "a", "zzz"),
        ("a dull film", "b", "zzz"),
        ("fine words", "a", "zzz"),
        ("dull words", "b", "zzz"),
    ]
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    for file, names in ((path, "story,kind,comment"), (other, "body,kind,n")):
        with file.open("w", encoding="utf-8") as sheet:
            csv.writer(sheet).writerows([names.split(","), *rows * 4])
    options = ("--text", "story", "--label", "kind", "--out", tmp_path / "run", "--device", "cpu", "--epochs", 1)
    assert regard("train", path, *options).code == 0
    result = regard("predict", tmp_path / "run", path, "--format", "jsonl")
    assert [row["text"] for row in jsonl(result)][:2] == ["a fine film", "a dull film"]
    assert "guessed" not in result.err
    words = jsonl(regard("explain", tmp_path / "run", "--file", path, "--limit", 1, "--format", "jsonl"))
    assert (words[0]["row"], words[0]["text"]) == (1, "a fine film")
    elsewhere = regard(
        "predict", tmp_path / "run", other, "--format", "jsonl"
    )  # a file without it is read all the same
    assert [row["text"] for row in jsonl(elsewhere)][:1] == ["a fine film"]
    assert "text column 'body' guessed" in elsewhere.err


@pytest.mark.parametrize("twins", [("Good", "good"), ("1", "1.0")])
def test_labels_that_differ_only_in_spelling_are_reported(
    regard: Regard, tmp_path: Path, twins: tuple[str, str]
) -> None:
    path, (one, other) = tmp_path / "a.csv", twins
    path.write_text("text,label\n" + f"a fine film,{one}\na dull film,bad\nfine,{other}\n" * 4, encoding="utf-8")
    result = regard("train", path, "--out", tmp_path / "run", "--device", "cpu", "--epochs", 1)
    assert f"{path}: labels {one!r}, {other!r} differ only in case or number format" in result.err


def test_guessed_columns_are_kept_with_the_run(regard: Regard, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("body,kind\n" + "a fine film,a\na dull film,b\n" * 4, encoding="utf-8")
    result = regard("train", path, "--out", tmp_path / "run", "--device", "cpu", "--epochs", 1)
    assert "text column 'body' and label column 'kind' guessed" in result.err
    assert "guessed" not in regard("evaluate", tmp_path / "run", path).err
    again = regard("train", path, "--out", tmp_path / "run", "--device", "cpu", "--epochs", 1, "--resume")
    assert "nothing left to do" in again.err


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("good film\n\nbad film\n", ["good film", "bad film"]),
        ('{"text": "good film"}\n{"text": ["one", "two"]}\n', ["good film", "one\n\ntwo"]),
    ],
)
def test_texts_come_from_a_pipe(
    regard: Regard, run: Path, monkeypatch: pytest.MonkeyPatch, content: str, texts: list[str]
) -> None:
    for source in ([], ["-"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert [row["text"] for row in jsonl(regard("predict", run, *source))] == texts


def test_a_table_for_the_terminal_shows_every_column(regard: Regard, run: Path, table: Path) -> None:
    result = regard("predict", run, table, "--format", "terminal")
    head, first, *_ = result.out.splitlines()
    assert head.split() == ["row", "prediction", "probability", "text"]
    assert first.split()[0] == "1"
    assert len(result.out.splitlines()) == 61


def test_a_long_text_on_the_command_line_is_not_a_file_name(regard: Regard, run: Path) -> None:
    text = "good film " * 500
    assert jsonl(regard("predict", run, text))[0]["text"] == text
    assert regard("explain", run, text).code == 0


def test_a_file_is_read_and_a_text_is_not(regard: Regard, run: Path, tmp_path: Path) -> None:
    path = tmp_path / "two words.txt"
    path.write_text("good film\nbad film\n")
    assert len(jsonl(regard("predict", run, path))) == 2
    result = regard("explain", run, path, "--format", "jsonl")
    assert len(jsonl(result)) == 1
    assert "to read that file, use --file" in result.err
    result = regard("predict", run, "three words.txt")
    assert jsonl(result)[0]["text"] == "three words.txt"
    assert "there is no file 'three words.txt'; predicting these words as a text" in result.err


def test_one_word_is_a_text_unless_it_may_be_a_file_or_a_corpus(regard: Regard, run: Path) -> None:
    result = regard("predict", run, "card")
    assert jsonl(result)[0]["text"] == "card"
    assert "there is no file 'card'; predicting this word as a text" in result.err
    assert "REGARD_DATA" not in result.err
    for name in ("card.csv", "data/card", "imdb", "ag_news", "ag_new"):
        assert f"{name}: no such file or folder" in regard("predict", run, name).error


def test_user_text_cannot_control_the_terminal(regard: Regard, run: Path, tmp_path: Path) -> None:
    nasty = "[bold]good[/] \x1b[31mfilm\x07 [/nope] <b>&"
    path = write_csv(tmp_path / "a.csv", [(nasty, "1")])
    for command in (("predict", run, path, "--format", "terminal"), ("explain", run, "--file", path)):
        result = regard(*command)
        assert result.code == 0
        assert "\x1b" not in result.out
        assert "\x07" not in result.out
        assert "nope" in result.out


# explain


def test_explanations_in_every_format(regard: Regard, run: Path, table: Path, tmp_path: Path) -> None:
    explanations = jsonl(regard("explain", run, "--file", table, "--limit", 3, "--format", "jsonl"))
    assert len(explanations) == 3
    for row in explanations:
        assert sum(token["weight"] for token in row["tokens"]) == pytest.approx(1)
        assert sum(sentence["weight"] for sentence in row["sentences"]) == pytest.approx(1)
        assert all(row["text"][token["start"] : token["end"]] == token["text"] for token in row["tokens"])
    sheet = list(
        csv.DictReader(io.StringIO(regard("explain", run, "--file", table, "--limit", 3, "--format", "csv").out))
    )
    assert [row["word"] for row in sheet] == [token["text"] for row in explanations for token in row["tokens"]]
    assert [row["row"] for row in sheet if row["start"] == "0"] == ["1", "2", "3"]
    for name in ("page.html", "table.csv", "lines.jsonl", "text.txt"):
        assert regard("explain", run, "--file", table, "--limit", 3, "--out", tmp_path / name).out == ""
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    terminal = regard("explain", run, "--file", table, "--limit", 1).out
    assert re.search(r"^(top words for \d: \w+ \+|no word contributes 0\.05 or more)", terminal, re.MULTILINE)


def test_a_figure_is_xml_and_text_is_escaped(regard: Regard, run: Path, tmp_path: Path) -> None:
    text = "<script>alert(1)</script> & good \x1b film"
    assert regard("explain", run, text, "--out", tmp_path / "a.svg").code == 0
    drawing = ElementTree.parse(tmp_path / "a.svg")
    assert "script" in "".join(drawing.getroot().itertext())
    assert "<script" not in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert regard("explain", run, text, "--out", tmp_path / "a.html").code == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;" in page
    assert "\x1b" not in page


def test_explain_takes_a_method_a_target_and_a_second_model(regard: Regard, run: Path) -> None:
    options = ("--method", "leave_one_out", "--target", "1", "--format", "jsonl")
    (row,) = jsonl(regard("explain", run, "a good film", *options))
    assert (row["contribution_method"], row["target"]) == ("leave_one_out", "1")
    assert {"contribution", "weight"} <= set(row["tokens"][0])
    rows = jsonl(regard("explain", run, "a good film", "--beside", run, "--format", "jsonl"))
    assert [row["run"] for row in rows] == [str(run), str(run)]
    assert regard("explain", run, "a good film", "--beside", run).code == 0
    result = regard("explain", run, "a good film", "--beside", run, "--format", "svg")
    assert (result.code, result.err) == (
        2,
        "regard: svg: expected one model, got 2; html, pdf and png draw two side by side\n",
    )


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--method", "regard: method: expected one of attention, "),
        ("--target", "regard: target: expected one of "),
    ],
)
def test_explain_refuses_unknown_methods_and_targets(regard: Regard, run: Path, option: str, sentence: str) -> None:
    result = regard("explain", run, "a good film", option, "nope")
    assert result.code == 2
    assert result.err.startswith(sentence)
    assert result.err.count("\n") == 1


def test_help_all_of_explain_lists_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    from regard.explain.explainers import EXPLAINERS

    with pytest.raises(SystemExit) as stop:
        cli.main(["explain", "--help-all"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    for name, explainer in EXPLAINERS.items():
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        assert ("signed" in line.split()) == explainer.signed


def test_explain_reads_standard_input(regard: Regard, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("好 film\nbad\n".encode())))
    assert [row["text"] for row in jsonl(regard("explain", run, "--format", "jsonl"))] == ["好 film", "bad"]


def test_three_levels_read_lists_of_texts(regard: Regard, tmp_path: Path) -> None:
    path, out = tmp_path / "users.jsonl", tmp_path / "run"
    texts = [example.text for example in reviews(40)]
    users = [{"text": texts[place : place + 2], "label": place % 4 // 2} for place in range(0, 40, 2)]
    path.write_text("".join(json.dumps(user) + "\n" for user in users), encoding="utf-8")
    assert regard("train", path, *TINY, "--levels", 3, "--pooling", "attention", "--out", out).code == 0
    for row in jsonl(regard("explain", out, "--file", path, "--format", "jsonl")):
        assert len(row["parts"]) == 2
        assert sum(part["weight"] for part in row["parts"]) == pytest.approx(1)
        for first, last, weight in ((part["start"], part["end"], part["weight"]) for part in row["parts"]):
            for units in ("sentences", "tokens"):
                weights = [unit["weight"] for unit in row[units] if first <= unit["start"] < last]
                assert sum(weights) == pytest.approx(weight)


def test_help_and_version_import_neither_torch_nor_commands() -> None:
    code = (
        "import sys, regard.cli\n"
        "try: regard.cli.main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "assert not {'torch', 'sklearn', 'numpy', 'rich', 'regard.commands'} & set(sys.modules), 'loaded'"
    )
    for option in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "regard" in done.stdout


def test_output_is_utf8_in_any_locale(run: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "-m", "regard.cli", "predict", run, "-"]
    done = subprocess.run(command, env=environment, input="好 film 🎬\n".encode(), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode("utf-8"))["text"] == "好 film 🎬"


def test_no_command_shows_help(regard: Regard) -> None:
    result = regard()
    assert result.code == 0
    assert "train" in result.out


def test_the_demo_shows_what_it_learned(regard: Regard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard import demo
    from regard.data.reviews import splits

    monkeypatch.setattr(demo, "splits", lambda: splits(train=40, dev=10, test=10))
    monkeypatch.setattr(demo, "SETTINGS", {**demo.SETTINGS, "hidden": 8, "query": 8, "embedding": 8, "epochs": 1})
    out = tmp_path / "[/demo]"
    result = regard("demo", "--out", out, "--seed", 3)
    assert result.code == 0
    assert "of the weight is on the deciding words, which are known here" in result.out
    assert str(out / "page.html") in result.out
    page = (out / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<dt>weight on the deciding words</dt>" in page
    assert 'data-correct="no"' in page, "mistakes can be chosen"
    assert 0 <= json.loads((out / "run" / "metrics.json").read_text())["plausibility"]["weight_on_evidence"] <= 1
    assert regard("demo", "--out", out).code == 0, "a demo may be given twice"


def test_the_command_to_try_next_can_be_pasted(regard: Regard, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "my run's"
    last = regard("train", table, *TINY, "--out", out).out.splitlines()[-1]
    command = last.partition("try: regard ")[2]
    assert shlex.split(command) == ["explain", str(out), "your text"]
    assert regard(*shlex.split(command)).code == 0


def test_an_analysis_that_cannot_be_written_is_not_started(regard: Regard, table: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "run", tmp_path / "file"
    assert regard("train", table, "--epochs", "1", "--out", out).code == 0
    file.write_text("")
    result = regard("analyse", out, "--out", file / "analysis")
    assert result.code == 2
    assert result.out == ""
    assert f"{file / 'analysis'}: cannot be a folder, because {file} is a file" in result.error


@pytest.mark.parametrize("engine", ["sparse", "torch"])
def test_one_epoch_and_one_thread_are_singular(
    regard: Regard, table: Path, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_sparse, "threads", lambda: 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    result = regard("train", table, *TINY, "--epochs", "1", "--engine", engine, "--out", tmp_path / "run")
    card = (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    for written in (result.err, card):
        assert "1 epochs" not in written
        assert "1 threads" not in written
    assert "best of 1 epoch on dev: 1" in card
    assert "cpu 1 thread |" in card


def test_stopping_while_parsing_gives_one_sentence(regard: Regard, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "make_parser", stopped)
    result = regard("train", "a.csv")
    assert (result.code, result.error) == (130, "stopped")


def test_python_m_regard_is_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "regard", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"regard {__version__}\n"


@pytest.mark.parametrize(
    ("command", "expected"), [("trian", "did you mean train?"), ("zzz", "expected one of train, tune, predict")]
)
def test_an_unknown_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str], command: str, expected: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([command])
    assert stopped.value.code == 2
    assert f"regard: unknown command {command!r}; {expected}" in capsys.readouterr().err


@pytest.mark.parametrize("rank", [0, 1])
def test_torchrun_is_for_train(regard: Regard, monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
    """Otherwise every process would write the same files."""
    for name, value in {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 1}.items():
        monkeypatch.setenv(name, str(value))
    result = regard("predict", "runs/none", "a text")
    assert result.code == 2
    said = "predict: expected one process, got several from torchrun, which is for regard train"
    assert result.err == ("" if rank else f"regard: {said}\n")
