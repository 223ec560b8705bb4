"""Requests about texts, and their answers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from serving import Serving, serving

from regard.cli import main
from regard.data.erasing import delete
from regard.data.words import spans
from regard.explain.explain import explain
from regard.explain.explainers import EXPLAINERS
from regard.models.folder import load
from regard.models.trained import Trained
from regard.novelty import with_novelties
from regard.records import SentenceScore
from regard.serve.answering import original_indices, original_units
from regard.serve.application import Application
from regard.serve.served_run import ServedRun

TEXT = "The staff were kind. The room was not clean! I would come back."


def explained(serving: Serving, **fields: Any) -> dict[str, Any]:
    answer = serving.ask("/api/explain", **fields)
    assert answer.status == 200, answer.body
    (result,) = answer.value["results"]
    return dict(result)


def scores(result: dict[str, Any]) -> list[float | None]:
    return [token["score"] for token in result["tokens"]]


def test_predictions_are_those_of_the_model(flat: Serving, flat_run: Path) -> None:
    texts = [TEXT, "Awful."]
    response = flat.ask("/api/predict", texts=texts).value
    trained = load(flat_run)
    expected = with_novelties(trained, texts, trained.answers(texts))
    assert response["run"] == "flat"
    assert response["results"] == [one.as_dict() for one in expected]
    assert flat.ask("/api/predict", text=TEXT).value["results"] == response["results"][:1]
    assert explained(flat, text=TEXT)["novelty"] == pytest.approx(response["results"][0]["novelty"])


def test_weights_are_those_of_the_command_line(flat: Serving, flat_run: Path, two: Serving, run: Path) -> None:
    for served, folder, name in ((flat, flat_run, "flat"), (two, run, "run")):
        (expected,) = explain(load(folder), [TEXT])
        result = explained(served, text=TEXT, run=name)
        assert scores(result) == pytest.approx([token.weight for token in expected.tokens], abs=1e-6)
        assert [one["score"] for one in result["sentences"]] == pytest.approx(
            [one.weight for one in expected.sentences], abs=1e-6
        )
        assert [token["text"] for token in result["tokens"]] == [token.text for token in expected.tokens]


@pytest.mark.parametrize("method", ["attention", "leave_one_out", "integrated_gradients"])
def test_every_word_has_a_weight_and_a_contribution(
    method: str, flat: Serving, flat_run: Path, two: Serving, run: Path
) -> None:
    for served, folder, name in ((flat, flat_run, "flat"), (two, run, "run")):
        (expected,) = explain(load(folder), [TEXT], method=method if EXPLAINERS[method].signed else None, target="2")
        result = explained(served, text=TEXT, run=name, method=method, target="2")
        tokens = result["tokens"]
        assert [token["weight"] for token in tokens] == pytest.approx([x.weight for x in expected.tokens], abs=1e-6)
        contributions = [x.contribution for x in expected.tokens]
        assert [token["contribution"] for token in tokens] == pytest.approx(contributions, abs=1e-5)
        assert [token["read_as"] for token in tokens] == [x.read_as for x in expected.tokens]
        assert (result["contribution_method"], result["note"]) == (expected.contribution_method, expected.note)
        if EXPLAINERS[method].signed:
            assert [token["contribution"] for token in tokens] == scores(result)


def test_the_strongest_words_are_listed_by_side(flat: Serving, flat_run: Path) -> None:
    text = "Kind staff, kind room, terrible food"
    (expected,) = explain(load(flat_run), [text])
    result = explained(flat, text=text, method="leave_one_out")
    listed = [*result["strongest"]["for"], *result["strongest"]["against"]]
    joint = {one.text: one.contribution for one in expected.repeated}
    for word in listed:
        single = expected.tokens[word["tokens"][0]].contribution
        assert word["contribution"] == pytest.approx(joint.get(word["text"], single), abs=1e-6)
    assert all(word["contribution"] > 0 for word in result["strongest"]["for"])
    assert all(word["contribution"] < 0 for word in result["strongest"]["against"])


def test_words_that_are_crossed_out_have_neither(flat: Serving) -> None:
    tokens = explained(flat, text=TEXT, without=[1])["tokens"]
    assert [tokens[1][key] for key in ("score", "contribution", "weight", "read_as")] == [None] * 4
    assert tokens[2]["contribution"] is not None


def test_a_text_of_unknown_words_has_a_note(flat: Serving) -> None:
    assert explained(flat, text="xyzzyq plughq")["note"].startswith("no word of this text is known")
    assert explained(flat, text=TEXT)["note"] == ""


@pytest.mark.parametrize("method", EXPLAINERS)
def test_every_explainer_works_with_every_kind_of_run(
    method: str, flat: Serving, two: Serving, numbers: Serving
) -> None:
    for served in (flat, two, numbers):
        result = explained(served, text=TEXT, method=method)
        assert len(result["tokens"]) == len(spans(TEXT))
        assert all(isinstance(score, float) for score in scores(result))
        assert result["cost"]["forward"] >= 1


def test_scores_explain_the_named_class(two: Serving) -> None:
    one, five = (explained(two, text=TEXT, method="gradient_times_input", target=name) for name in "15")
    assert (one["target"], five["target"]) == ("1", "5")
    assert scores(one) != scores(five)


def test_crossed_out_words_are_erased_as_if_never_written(two: Serving, flat: Serving) -> None:
    crossed = [3, 9]  # kind, clean
    left = delete(TEXT, spans(TEXT), crossed)
    for served in (flat, two):
        whole, result, alone = (
            explained(served, text=TEXT),
            explained(served, text=TEXT, without=crossed),
            explained(served, text=left),
        )
        assert result["probabilities"] == alone["probabilities"]
        assert result["before"]["probabilities"] == whole["probabilities"]
        assert [score for score in scores(result) if score is not None] == scores(alone)
        assert [index for index, score in enumerate(scores(result)) if score is None] == crossed
        assert [token["start"] for token in result["tokens"]] == [token["start"] for token in whole["tokens"]]


def test_the_rest_of_a_text_is_not_read_anew(flat: Serving) -> None:
    """ ":(613)" without the number is not an emoticon."""
    text = "good :(613) room"
    row = explained(flat, text=text, without=[3])
    assert [token["text"] for token in row["tokens"]] == ["good", ":", "(", "613", ")", "room"]
    assert [score is None for score in scores(row)] == [False, False, False, True, False, False]


def test_crossing_out_every_word_gives_the_prediction_for_an_empty_text(two: Serving, flat: Serving) -> None:
    for served in (flat, two):
        result = explained(served, text=TEXT, without=list(range(len(spans(TEXT)))))
        assert set(scores(result)) == {None}
        assert sum(result["probabilities"].values()) == pytest.approx(1)
        assert result["sentences"] == []


def test_sentences_include_the_crossed_out_words_at_their_edges(two: Serving) -> None:
    result = explained(two, text=TEXT, without=[0, 3, 5])  # The, kind, The
    assert [TEXT[one["start"] : one["end"]] for one in result["sentences"]] == [
        "The staff were kind.",
        "The room was not clean!",
        "I would come back.",
    ]


def test_a_sentence_that_is_crossed_out_is_not_listed(two: Serving) -> None:
    result = explained(two, text=TEXT, without=[0, 1, 2, 3, 4])
    assert [one["start"] for one in result["sentences"]] == [21, 45]


def test_original_indices_with_a_new_word_at_a_cut() -> None:
    text, left = "a b c d", "a X d"
    assert original_indices(text, spans(text), left, spans(left), {1, 2}) == [0, None, 3]


def test_a_sentence_that_a_cut_splits_is_listed_as_two() -> None:
    whole, at = [(0, 7)], [(0, 1), (2, 3), (4, 5), (6, 7)]
    units = [SentenceScore(0, 1, 0.25), SentenceScore(2, 5, 0.75)]
    moved = original_units(units, [(0, 1), (2, 3), (4, 5)], [0, 2, 3], at, whole)
    assert moved == [SentenceScore(0, 4, 0.25), SentenceScore(4, 7, 0.75)]


def test_words_beyond_max_words_have_no_score(short: Path) -> None:
    with serving(short) as served:
        result = explained(served, text=TEXT)
        assert [score is None for score in scores(result)] == [False] * 5 + [True] * (len(spans(TEXT)) - 5)
        assert result["unread"] == len(spans(TEXT)) - 5
        # as if it had never been written, so the sixth word is read
        result = explained(served, text=TEXT, without=[1])
        assert [score is not None for score in scores(result)][:7] == [True, False, True, True, True, True, False]


def test_two_runs_are_compared_on_the_same_words(two: Serving) -> None:
    response = two.ask("/api/compare", text=TEXT, method="gradient").value
    assert [result["run"] for result in response["results"]] == ["han", "run"]
    for result in response["results"]:
        alone = explained(two, text=TEXT, method="gradient", run=result["run"])
        assert scores(result) == pytest.approx(scores(alone))
    assert -1 <= response["agreement"]["tau"] <= 1
    assert response["agreement"]["divergence"] >= 0
    other = two.ask("/api/compare", text=TEXT, runs=["run", "run"]).value
    assert other["agreement"] == {"tau": pytest.approx(1), "divergence": pytest.approx(0, abs=1e-12)}


def test_comparing_needs_two_runs(flat: Serving) -> None:
    assert flat.ask("/api/compare", text=TEXT).error == (
        "expected two runs to compare, got one; start with `regard serve RUN RUN2`"
    )


def test_a_regression_predicts_a_number(numbers: Serving) -> None:
    result = explained(numbers, text=TEXT, without=[3])
    assert isinstance(result["prediction"], float)
    assert isinstance(result["before"]["prediction"], float)
    assert "probabilities" not in result
    assert result["target"] is None


@pytest.mark.parametrize(
    "text",
    ["كان الفندق جميلا.", "房间很干净。", "qqzx zzkw", "word", "😀 loved\r\nit\u2028!", "<img src=x onerror=alert(1)>"],
)
def test_texts_of_every_kind_are_returned_unchanged(text: str, flat: Serving, two: Serving) -> None:
    for served in (flat, two):
        tokens = explained(served, text=text)["tokens"]
        assert [text[token["start"] : token["end"]] for token in tokens] == [token["text"] for token in tokens]


def test_fifty_thousand_words_are_explained_or_refused(flat: Serving) -> None:
    text = "good " * 50_000
    assert len(explained(flat, text=text)["tokens"]) == 50_000
    assert len(explained(flat, text=text, method="leave_one_out")["tokens"]) == 50_000, "from tables"
    refused = flat.ask("/api/explain", text=text, method="surrogate")
    assert refused.status == 400
    assert refused.error == ("surrogate: expected at most 4,000 words, got 50,000; more would take too long")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "body: expected either text (a string) or texts (a list of strings), got neither"),
        ({"text": "a", "texts": ["a"]}, "body: expected either text (a string) or texts (a list of strings), got both"),
        ({"text": ""}, "text: expected at least one word, got the text ''"),
        ({"text": " \n"}, "text: expected at least one word, got the text ' \\n'"),
        ({"texts": ["a", "<br>"]}, "texts, number 2: expected at least one word, got the text '<br>'"),
        ({"text": 3}, "text: expected a string, got a number (3)"),
        ({"texts": "a"}, 'texts: expected a list of strings, got a string ("a")'),
        ({"texts": []}, "texts: expected 1 to 100 texts, got 0"),
        ({"texts": ["a"] * 101}, "texts: expected 1 to 100 texts, got 101"),
        ({"text": "a\0b"}, "text: expected text, got a NUL byte at character 1"),
        ({"text": "x" * 10_001}, "text: expected words of up to 10000 characters, got one of 10001 (pasted binary data?)"),
        ({"text": "a", "method": "guess"}, f"method: expected one of {', '.join(EXPLAINERS)}, got 'guess'"),
        ({"text": "a", "method": ["x"]}, 'method: expected a string, got a list (["x"])'),
        ({"text": "a", "run": "other"}, "run: expected one of flat, got 'other'"),
        ({"text": "a", "target": "9"}, "target: expected a class of flat (1, 2, 3, 4, 5), got '9'"),
        ({"text": "a", "without": [7]}, "without: expected word numbers from 0 to 0, got 7"),
        ({"text": "a", "without": [True]}, "without: expected a list of word numbers, got a list ([true])"),
        ({"text": "a", "without": 0}, "without: expected a list of word numbers, got a number (0)"),
        ({"texts": ["a"], "without": [0]}, "without: expected text with it, since it numbers the words of one text, got texts"),
        ({"text": "a", "wihtout": [0]}, "body: unknown field 'wihtout'; the fields are text, texts, method, target, without, run"),  # noqa: E501
    ],
)  # fmt: skip
def test_invalid_fields_are_refused_in_one_sentence(fields: dict[str, Any], sentence: str, flat: Serving) -> None:
    answer = flat.ask("/api/explain", **fields)
    assert (answer.status, answer.error) == (400, sentence)


def test_half_a_surrogate_pair_is_refused(flat: Serving) -> None:
    answer = flat.send("POST", "/api/predict", b'{"text": "a \\ud83d"}', {"Content-Type": "application/json"})
    assert answer.status == 400
    assert "half a surrogate pair" in answer.error


def test_a_regression_has_no_target_class(numbers: Serving) -> None:
    for method in ("attention", "gradient"):
        answer = numbers.ask("/api/explain", text="good", target="5", method=method)
        assert answer.status == 400
        assert answer.error == "target: expected none, since rated predicts a number, got '5'"


def test_every_row_of_a_table_gets_a_prediction_or_an_error(flat: Serving, flat_run: Path) -> None:
    rows = [["text", "label", "note"], [TEXT, "4", "a, b"], ["", "1", ""], ['He said "awful".', "x", "<b>"]]
    sheet = io.StringIO()
    csv.writer(sheet).writerows(rows)
    response = flat.ask("/api/table", table=sheet.getvalue()).value
    trained = load(flat_run)
    assert (response["text_column"], response["label_column"]) == ("text", "label")
    assert response["columns"] == ["text", "label", "note"]
    assert [row["row"] for row in response["rows"]] == [1, 2, 3]
    assert [row["fields"] for row in response["rows"]] == rows[1:]
    first, bad, last = response["rows"]
    assert bad["error"] == "table, row 2, column 'text': expected at least one word, got the text ''"
    assert "prediction" not in bad
    for row, text in ((first, TEXT), (last, 'He said "awful".')):
        assert row["probabilities"] == probabilities(trained, text)
    assert (response["bad_rows"], response["labelled"]) == (1, 2)
    assert response["right"] == (first["prediction"] == "4")


def probabilities(trained: Trained, text: str) -> dict[str, float]:
    return dict(trained.task.predictions(trained.answers([text]))[0].probabilities)


def test_tables_may_be_spreadsheet_rows_or_lines_of_text(two: Serving, numbers: Serving) -> None:
    response = two.ask("/api/table", table="id\treview\n1\tgood room\n2\tbad bed", run="run").value
    assert response["text_column"] == "review"
    assert [row["fields"] for row in response["rows"]] == [["1", "good room"], ["2", "bad bed"]]
    response = numbers.ask("/api/table", table="good room, clean\n\nbad bed\n", format="lines").value
    assert [row["row"] for row in response["rows"]] == [1, 3]
    assert all(isinstance(row["prediction"], float) for row in response["rows"])


def test_a_table_uses_the_columns_that_the_run_was_trained_on(tmp_path: Path) -> None:
    path = tmp_path / "tickets.csv"
    rows = [("a bill twice", "billing", "news"), ("the screen broke", "hardware", "news")] * 6
    path.write_text("body,queue,text\n" + "".join(f"{body},{queue},{text}\n" for body, queue, text in rows))
    options = ("--text", "body", "--label", "queue", "--epochs", "1")
    assert main(["train", str(path), *options, "--out", str(tmp_path / "run")]) == 0
    with serving(tmp_path / "run") as server:
        response = server.ask("/api/table", table=path.read_text()).value
        assert (response["text_column"], response["label_column"]) == ("body", "queue")
        assert (response["labelled"], response["rows"][0]["label"]) == (12, "billing")
        other = server.ask("/api/table", table="text,label\na bill,billing\n").value
        assert (other["text_column"], other["label_column"]) == ("text", "label")
        named = server.ask("/api/table", table=path.read_text(), text_column="queue").value
        assert (named["text_column"], named["label_column"]) == ("queue", None)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "table: expected the text of a CSV file whose first row names the columns, got none"),
        ({"table": " \n"}, "table: expected rows below a row that names the columns, got an empty table"),
        ({"table": "text,label\n"}, "table: expected rows of data, got only the header row ('text', 'label')"),
        ({"table": "a,a\n1,2"}, "table: the first row names column 'a' twice; expected a different name for every column"),
        ({"table": "a,b\n1,2"}, "table: no column contains text (columns: 'a', 'b'); expected one whose values are strings; name it with text_column"),  # noqa: E501
        ({"table": "a,b\n1,2,3"}, "table, row 1: expected 2 fields, as in the first row, got 3"),
        ({"table": "text\n\"open"}, "table, line 2: unexpected end of data; quote a field that contains a quotation mark, and double the mark"),  # noqa: E501
        ({"table": "text\nx", "text_column": "y"}, "text_column: expected one of 'text', got 'y'"),
        ({"table": "text\nx", "format": "xls"}, "format: expected one of csv, lines, got 'xls'"),
        ({"table": ["text"]}, 'table: expected a string, got a list (["text"])'),
        ({"table": "text\n<br>"}, "table: expected at least one row that can be used, got none; the first: table, row 1, column 'text': expected at least one word, got the text '<br>'"),  # noqa: E501
    ],
)  # fmt: skip
def test_an_invalid_table_is_refused_in_one_sentence(fields: dict[str, Any], sentence: str, flat: Serving) -> None:
    answer = flat.ask("/api/table", **fields)
    assert (answer.status, answer.error) == (400, sentence)


def test_a_table_has_at_most_ten_thousand_rows(flat: Serving) -> None:
    assert len(flat.ask("/api/table", table="text\n" + "good\n" * 10_000).value["rows"]) == 10_000
    answer = flat.ask("/api/table", table="text\n" + "good\n" * 10_001)
    assert answer.status == 413
    assert answer.error == "table: expected at most 10,000 rows; `regard predict` reads files of any size"


def test_runs_and_explainers_are_listed(two: Serving) -> None:
    response = two.get("/api/runs").value
    assert [run["name"] for run in response["runs"]] == ["han", "run"]
    assert [run["default_method"] for run in response["runs"]] == ["attention", "attention_norm"]
    assert "attention_norm" not in response["runs"][0]["methods"]
    assert [method["name"] for method in response["methods"]] == list(EXPLAINERS)
    assert all(method["title"] and method["sentence"] for method in response["methods"])


def test_simultaneous_requests_get_the_right_answers(two: Serving) -> None:
    texts = [f"The {word} room was {word}. I {word} it." for word in ("good", "bad", "clean", "cold", "kind", "slow")]
    expected = {text: explained(two, text=text, method="gradient_times_input") for text in texts}
    response: dict[str, dict[str, Any]] = {}

    def ask_repeatedly(text: str) -> None:
        for _ in range(4):
            response[text] = explained(two, text=text, method="gradient_times_input")

    threads = [Thread(target=ask_repeatedly, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in texts:
        assert scores(response[text]) == pytest.approx(scores(expected[text]))


def test_short_texts_are_answered_at_once_if_everything_is_compiled(flat_run: Path, run: Path) -> None:
    flat, han = ServedRun("flat", load(flat_run)), ServedRun("han", load(run))
    application = Application()
    assert not application.is_quick("/api/predict", b'{"text": "good"}'), "still loading"
    application.set_runs([flat])
    assert not application.is_quick("/api/predict", b'{"text": "good"}'), (
        "the first one may have to wait for compilation"
    )
    flat.warm_up()
    for path, fields, quick in (
        ("/api/predict", {"text": "good"}, True),
        ("/api/explain", {"text": "good"}, True),
        ("/api/explain", {"text": "good", "method": "leave_one_out"}, True),
        ("/api/explain", {"text": "good", "method": "surrogate"}, False),
        ("/api/explain", {"text": "good", "method": "guess"}, False),
        ("/api/explain", {"text": "good " * 300}, False),
        ("/api/table", {"table": "text\ngood"}, False),
    ):
        assert application.is_quick(path, json.dumps(fields).encode()) == quick, fields
    han.warm_up()
    application.set_runs([flat, han])
    assert not application.is_quick("/api/predict", b'{"text": "good"}'), "a model that needs PyTorch"


def test_answers_are_the_same_at_once_and_from_a_thread(flat: Serving, flat_run: Path) -> None:
    with serving(flat_run) as warm:
        warm.server.application.runs[0].warm_up()
        for fields in ({"text": TEXT}, {"text": TEXT, "without": [3]}, {"text": TEXT, "method": "leave_one_out"}):
            one, other = explained(warm, **fields), explained(flat, **fields)
            assert {**one, "cost": None} == {**other, "cost": None}
        refused = warm.ask("/api/explain", text="")
        assert (refused.status, refused.error) == (400, "text: expected at least one word, got the text ''")
