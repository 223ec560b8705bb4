"""Questions about texts, and their answers."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from serving import Serving, serving

from regard.data.words import spans
from regard.explain.explain import explain
from regard.explain.explainers import EXPLAINERS
from regard.faithfulness.erasing import delete
from regard.models.folder import load
from regard.models.trained import Trained
from regard.records import SentenceScore
from regard.serve.answering import places_of, units_of

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
    found = flat.ask("/api/predict", texts=texts).value
    trained = load(flat_run)
    said = trained.task.predictions(trained.answers(texts))
    assert found["run"] == "flat"
    assert found["results"] == [one.as_dict() for one in said]
    assert flat.ask("/api/predict", text=TEXT).value["results"] == found["results"][:1]


def test_weights_are_those_that_the_command_line_shows(flat: Serving, flat_run: Path, two: Serving, run: Path) -> None:
    for served, folder, name in ((flat, flat_run, "flat"), (two, run, "run")):
        (expected,) = explain(load(folder), [TEXT])
        result = explained(served, text=TEXT, run=name)
        assert scores(result) == pytest.approx([token.weight for token in expected.tokens], abs=1e-6)
        assert [one["score"] for one in result["sentences"]] == pytest.approx(
            [one.weight for one in expected.sentences], abs=1e-6
        )
        assert [token["text"] for token in result["tokens"]] == [token.text for token in expected.tokens]


@pytest.mark.parametrize("method", EXPLAINERS)
def test_every_explainer_answers_for_every_kind_of_run(
    method: str, flat: Serving, two: Serving, numbers: Serving
) -> None:
    for served in (flat, two, numbers):
        result = explained(served, text=TEXT, method=method)
        assert len(result["tokens"]) == len(spans(TEXT))
        assert all(isinstance(score, float) for score in scores(result))
        assert result["cost"]["forward"] >= 1


def test_scores_are_about_the_class_that_is_named(two: Serving) -> None:
    one, five = (explained(two, text=TEXT, method="gradient_times_input", target=name) for name in "15")
    assert (one["target"], five["target"]) == ("1", "5")
    assert scores(one) != scores(five)


def test_crossed_words_are_erased_as_never_written(two: Serving, flat: Serving) -> None:
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
        assert [place for place, score in enumerate(scores(result)) if score is None] == crossed
        assert [token["start"] for token in result["tokens"]] == [token["start"] for token in whole["tokens"]]


def test_crossing_every_word_out_leaves_an_answer_to_nothing(two: Serving, flat: Serving) -> None:
    for served in (flat, two):
        result = explained(served, text=TEXT, without=list(range(len(spans(TEXT)))))
        assert set(scores(result)) == {None}
        assert sum(result["probabilities"].values()) == pytest.approx(1)
        assert result["sentences"] == []


def test_sentences_keep_the_crossed_words_at_their_edges(two: Serving) -> None:
    result = explained(two, text=TEXT, without=[0, 3, 5])  # The, kind, The
    assert [TEXT[one["start"] : one["end"]] for one in result["sentences"]] == [
        "The staff were kind.",
        "The room was not clean!",
        "I would come back.",
    ]


def test_a_sentence_that_is_crossed_out_is_none(two: Serving) -> None:
    result = explained(two, text=TEXT, without=[0, 1, 2, 3, 4])
    assert [one["start"] for one in result["sentences"]] == [21, 45]


def test_places_are_found_again_where_a_cut_makes_a_new_word() -> None:
    text, left = "a b c d", "a X d"
    found = spans(left)
    assert places_of(text, spans(text), left, found, {1, 2}) == [0, None, 3]


def test_a_sentence_that_a_cut_makes_two_of_is_told_as_two() -> None:
    whole, at = [(0, 7)], [(0, 1), (2, 3), (4, 5), (6, 7)]
    units = [SentenceScore(0, 1, 0.25), SentenceScore(2, 5, 0.75)]
    told = units_of(units, [(0, 1), (2, 3), (4, 5)], [0, 2, 3], at, whole)
    assert told == [SentenceScore(0, 4, 0.25), SentenceScore(4, 7, 0.75)]


def test_words_beyond_what_is_read_have_no_score(short: Path) -> None:
    with serving(short) as served:
        result = explained(served, text=TEXT)
        assert [score is None for score in scores(result)] == [False] * 5 + [True] * (len(spans(TEXT)) - 5)
        assert result["unread"] == len(spans(TEXT)) - 5
        # as if it had never been written, so the sixth word is read
        result = explained(served, text=TEXT, without=[1])
        assert [score is not None for score in scores(result)][:7] == [True, False, True, True, True, True, False]


def test_two_runs_are_compared_on_the_same_words(two: Serving) -> None:
    found = two.ask("/api/compare", text=TEXT, method="gradient").value
    assert [result["run"] for result in found["results"]] == ["han", "run"]
    for result in found["results"]:
        alone = explained(two, text=TEXT, method="gradient", run=result["run"])
        assert scores(result) == pytest.approx(scores(alone))
    assert -1 <= found["agreement"]["tau"] <= 1
    assert found["agreement"]["divergence"] >= 0
    other = two.ask("/api/compare", text=TEXT, runs=["run", "run"]).value
    assert other["agreement"] == {"tau": pytest.approx(1), "divergence": pytest.approx(0, abs=1e-12)}


def test_comparing_takes_two_runs(flat: Serving) -> None:
    assert flat.ask("/api/compare", text=TEXT).error == (
        "one run is served, and two are compared; start with `regard serve RUN RUN2`"
    )


def test_a_number_is_answered_with_a_number(numbers: Serving) -> None:
    result = explained(numbers, text=TEXT, without=[3])
    assert isinstance(result["prediction"], float)
    assert isinstance(result["before"]["prediction"], float)
    assert "probabilities" not in result
    assert result["target"] is None


@pytest.mark.parametrize(
    "text",
    ["كان الفندق جميلا.", "房间很干净。", "qqzx zzkw", "word", "😀 loved\r\nit\u2028!", "<img src=x onerror=alert(1)>"],
)
def test_texts_of_every_kind_come_back_as_they_were(text: str, flat: Serving, two: Serving) -> None:
    for served in (flat, two):
        tokens = explained(served, text=text)["tokens"]
        assert [text[token["start"] : token["end"]] for token in tokens] == [token["text"] for token in tokens]


def test_fifty_thousand_words_are_read_or_refused_in_a_sentence(flat: Serving) -> None:
    text = "good " * 50_000
    assert len(explained(flat, text=text)["tokens"]) == 50_000
    refused = flat.ask("/api/explain", text=text, method="leave_one_out")
    assert refused.status == 400
    assert refused.error == (
        "leave_one_out: 50,000 words would keep you waiting too long; up to 1,000 are accepted here"
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "text, or texts, is needed: a string, or a list of strings"),
        ({"text": "a", "texts": ["a"]}, "text, or texts, is needed: a string, or a list of strings"),
        ({"text": ""}, "text: the text '' has no word in it; at least one is expected"),
        ({"text": " \n"}, "text: the text ' \\n' has no word in it; at least one is expected"),
        ({"texts": ["a", "<br>"]}, "texts, number 2: the text '<br>' has no word in it; at least one is expected"),
        ({"text": 3}, "text: a number (3) is given; a string is accepted"),
        ({"texts": "a"}, 'texts: a string ("a") is given; a list of strings is accepted'),
        ({"texts": []}, "texts: 0 are given; 1 to 100 are accepted"),
        ({"texts": ["a"] * 101}, "texts: 101 are given; 1 to 100 are accepted"),
        ({"text": "a\0b"}, "text: a NUL byte is found at character 1; only text is accepted"),
        ({"text": "x" * 10_001}, "text: a word of 10001 characters is found (pasted binary data?); up to 10000 are accepted"),
        ({"text": "a", "method": "guess"}, "method: there is no 'guess'; accepted are " + ", ".join(EXPLAINERS)),
        ({"text": "a", "method": ["x"]}, 'method: a list (["x"]) is given; a string is accepted'),
        ({"text": "a", "run": "other"}, "run: there is no 'other'; accepted are flat"),
        ({"text": "a", "target": "9"}, "target: flat has no class '9'; accepted are 1, 2, 3, 4, 5"),
        ({"text": "a", "without": [7]}, "without: there is no word number 7; 0 to 0 are accepted"),
        ({"text": "a", "without": [True]}, "without: a list ([true]) is given; a list of the numbers of words is accepted"),
        ({"text": "a", "without": 0}, "without: a number (0) is given; a list of the numbers of words is accepted"),
        ({"texts": ["a"], "without": [0]}, "without: it says which words of one text are crossed out; text is accepted beside it"),  # noqa: E501
        ({"text": "a", "wihtout": [0]}, "there is no field 'wihtout'; accepted are text, texts, method, target, without, run"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_question_is_said_in_a_sentence(
    fields: dict[str, Any], sentence: str, flat: Serving
) -> None:
    answer = flat.ask("/api/explain", **fields)
    assert (answer.status, answer.error) == (400, sentence)


def test_half_a_surrogate_pair_is_refused(flat: Serving) -> None:
    answer = flat.send("POST", "/api/predict", b'{"text": "a \\ud83d"}', {"Content-Type": "application/json"})
    assert answer.status == 400
    assert "half a surrogate pair" in answer.error


def test_a_number_has_no_class_to_be_about(numbers: Serving) -> None:
    for method in ("attention", "gradient"):
        answer = numbers.ask("/api/explain", text="good", target="5", method=method)
        assert answer.status == 400
        assert answer.error == "target: '5' is given, but rated answers with a number; none is accepted"


def test_a_pasted_table_is_answered_row_by_row(flat: Serving, flat_run: Path) -> None:
    rows = [["text", "label", "note"], [TEXT, "4", "a, b"], ["", "1", ""], ['He said "awful".', "x", "<b>"]]
    sheet = io.StringIO()
    csv.writer(sheet).writerows(rows)
    found = flat.ask("/api/table", table=sheet.getvalue()).value
    trained = load(flat_run)
    assert (found["text_column"], found["label_column"]) == ("text", "label")
    assert found["columns"] == ["text", "label", "note"]
    assert [row["row"] for row in found["rows"]] == [1, 2, 3]
    assert [row["fields"] for row in found["rows"]] == rows[1:]
    first, bad, last = found["rows"]
    assert bad["error"] == "table, row 2, column 'text': the text '' has no word in it; at least one is expected"
    assert "prediction" not in bad
    for row, text in ((first, TEXT), (last, 'He said "awful".')):
        assert row["probabilities"] == said(trained, text)
    assert (found["bad_rows"], found["labelled"]) == (1, 2)
    assert found["right"] == (first["prediction"] == "4")


def said(trained: Trained, text: str) -> dict[str, float]:
    return dict(trained.task.predictions(trained.answers([text]))[0].probabilities)


def test_rows_of_a_spreadsheet_and_lines_of_text_are_tables_too(two: Serving, numbers: Serving) -> None:
    found = two.ask("/api/table", table="id\treview\n1\tgood room\n2\tbad bed", run="run").value
    assert found["text_column"] == "review"
    assert [row["fields"] for row in found["rows"]] == [["1", "good room"], ["2", "bad bed"]]
    found = numbers.ask("/api/table", table="good room, clean\n\nbad bed\n", format="lines").value
    assert [row["row"] for row in found["rows"]] == [1, 3]
    assert all(isinstance(row["prediction"], float) for row in found["rows"])


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "table is needed: the text of a CSV file whose first row names the columns"),
        ({"table": " \n"}, "table: it is empty; rows below a row that names the columns are accepted"),
        ({"table": "text,label\n"}, "table: only the row of column names ('text', 'label') is found; rows of data are expected below it"),  # noqa: E501
        ({"table": "a,a\n1,2"}, "table: the first row names column 'a' twice; every column must have a name of its own"),
        ({"table": "a,b\n1,2"}, "table: no column holds text (columns: 'a', 'b'); one whose values are strings is needed; text_column names it"),  # noqa: E501
        ({"table": "a,b\n1,2,3"}, "table, row 1: 3 fields are found; 2 are expected, as in the first row"),
        ({"table": "text\n\"open"}, "table, line 2: unexpected end of data; a field that holds a quotation mark must be quoted, and the mark doubled"),  # noqa: E501
        ({"table": "text\nx", "text_column": "y"}, "text_column: there is no 'y'; the columns are 'text'"),
        ({"table": "text\nx", "format": "xls"}, "format: there is no 'xls'; accepted are csv, lines"),
        ({"table": ["text"]}, 'table: a list (["text"]) is given; a string is accepted'),
        ({"table": "text\n<br>"}, "table: no row can be used; the first one: table, row 1, column 'text': the text '<br>' has no word in it; at least one is expected"),  # noqa: E501
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_said_in_a_sentence(fields: dict[str, Any], sentence: str, flat: Serving) -> None:
    answer = flat.ask("/api/table", **fields)
    assert (answer.status, answer.error) == (400, sentence)


def test_a_table_has_ten_thousand_rows_at_most(flat: Serving) -> None:
    assert len(flat.ask("/api/table", table="text\n" + "good\n" * 10_000).value["rows"]) == 10_000
    answer = flat.ask("/api/table", table="text\n" + "good\n" * 10_001)
    assert answer.status == 413
    assert answer.error == "table: up to 10,000 rows are accepted; `regard predict` reads files of any size"


def test_runs_and_explainers_are_listed(two: Serving) -> None:
    found = two.get("/api/runs").value
    assert [run["name"] for run in found["runs"]] == ["han", "run"]
    assert [run["default_method"] for run in found["runs"]] == ["attention", "attention_norm"]
    assert "attention_norm" not in found["runs"][0]["methods"]
    assert [method["name"] for method in found["methods"]] == list(EXPLAINERS)
    assert all(method["title"] and method["sentence"] for method in found["methods"])


def test_requests_side_by_side_get_their_own_answers(two: Serving) -> None:
    texts = [f"The {word} room was {word}. I {word} it." for word in ("good", "bad", "clean", "cold", "kind", "slow")]
    expected = {text: explained(two, text=text, method="gradient_times_input") for text in texts}
    found: dict[str, dict[str, Any]] = {}

    def asking(text: str) -> None:
        for _ in range(4):
            found[text] = explained(two, text=text, method="gradient_times_input")

    threads = [Thread(target=asking, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in texts:
        assert scores(found[text]) == pytest.approx(scores(expected[text]))
