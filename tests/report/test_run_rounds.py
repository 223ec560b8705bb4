"""Rounds of purified attention on the page of a run: their scores, which was kept, and separate phases."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from run_case import facts_of, report, run_figures, run_page

from command import TINY, Regard, write_csv
from regard.cli import main
from regard.data.reviews import reviews
from regard.facts.history import Rounds
from regard.facts.history import history as epochs_of
from regard.facts.history import rounds as rounds_of
from regard.report.pages.run_figures import history_panels, level_panel, rounds_text

LIKED = {"1": "bad", "2": "bad", "4": "good", "5": "good"}
TAKEN = [  # round, phase, dev accuracy of both heads, log loss, KL
    (0, "attention", 0.6, 0.5, 0.5, 20.0),
    (0, "attention", 0.8, 0.5, 0.6, 20.0),
    (0, "attention", 0.7, 0.5, 0.3, 20.0),
    (1, "learner", 0.9, 0.5, 0.2, 20.0),
    (1, "compressor", 0.7, 0.6, 0.4, 9.0),
    (1, "compressor", 0.7, 0.65, 0.3, 8.0),
    (2, "learner", 0.95, 0.5, 0.2, 9.0),
    (2, "compressor", 0.75, 0.7, 0.4, 4.0),
    (2, "compressor", 0.72, 0.75, 0.3, 3.0),
]


def history(split: str = "dev") -> list[dict[str, Any]]:
    """Two rounds of two epochs per phase; the first compressor's epochs differ in their log loss alone."""
    return [
        {
            "epoch": epoch,
            "round": number,
            "phase": phase,
            "loss": 1 / epoch,
            split: {"accuracy": accuracy, "log_loss": loss},
            "heads": {"compressed": {"accuracy": compressed, "log_loss": loss}},
            "terms": {"kl": kl},
            "scores": {"words": {"mean": 0.0, "std": 1.0}},
        }
        for epoch, (number, phase, accuracy, compressed, loss, kl) in enumerate(TAKEN, 1)
    ]


def of_numbers() -> list[dict[str, Any]]:
    """The same with RMSE, which is better where accuracy was."""
    records = history()
    for record in records:
        for scores in (record["dev"], record["heads"]["compressed"]):
            scores |= {"rmse": round(1 - scores.pop("accuracy"), 2), "rmse_of_mean": 1.0}
            del scores["log_loss"]
    return records


def rounds(run: dict[str, Any]) -> Rounds | None:
    facts = facts_of(run)
    return rounds_of(facts.history, facts.best_epoch)


def text_of_rounds(run: dict[str, Any]) -> str:
    taken = rounds(run)
    return "" if taken is None else rounds_text(taken)


def test_a_round_is_its_best_epoch_that_could_be_kept() -> None:
    result = rounds(report(history=history(), best_epoch=8))
    assert result is not None
    assert [tuple(one) for one in result.listed] == [
        (0, 2, 0.8, 0.5, 20.0),
        (1, 6, 0.7, 0.65, 8.0),
        (2, 8, 0.75, 0.7, 4.0),
    ]
    assert result.kept.number == 2


def test_the_smallest_error_is_the_best_round_of_a_regression() -> None:
    result = rounds(report(history=of_numbers(), best_epoch=8))
    assert result is not None
    assert [(one.epoch, one.learner) for one in result.listed] == [(2, 0.2), (5, 0.3), (8, 0.25)]
    text = text_of_rounds(report(history=of_numbers(), best_epoch=8))
    assert "an RMSE of 0.250 on dev texts (round 0: 0.200)" in text


def test_without_dev_texts_rounds_have_their_final_training_scores() -> None:
    given = report(history=history("train"), best_epoch=9)
    result = rounds(given)
    assert result is not None
    assert [one.epoch for one in result.listed] == [3, 6, 9]
    assert result.kept.number == 2
    assert "the last round, 2, was kept" in text_of_rounds(given)
    assert "on training texts" in text_of_rounds(given)
    assert "accuracy on training texts" in run_figures(given)["rounds"].svg


def test_the_figure_has_both_heads_the_divergence_and_the_round_that_was_kept() -> None:
    figure = run_figures(report(history=history(), best_epoch=8))["rounds"]
    assert "round (dashed: 2, which was kept)" in figure.svg
    assert figure.head == ("panel", "curve", "round", "epoch", "value", "kept")
    assert figure.rows == [
        ["accuracy on dev texts", "the learner’s head", 0, 2, 0.8, ""],
        ["accuracy on dev texts", "the learner’s head", 1, 6, 0.7, ""],
        ["accuracy on dev texts", "the learner’s head", 2, 8, 0.75, "yes"],
        ["accuracy on dev texts", "the compressor’s head", 1, 6, 0.65, ""],  # in round 0 it has learned nothing
        ["accuracy on dev texts", "the compressor’s head", 2, 8, 0.7, "yes"],
        ["KL divergence on dev texts", "KL", 1, 6, 8.0, ""],
        ["KL divergence on dev texts", "KL", 2, 8, 4.0, "yes"],
    ]


def test_the_page_describes_the_rounds() -> None:
    page = run_page(report(history=history(), best_epoch=8))
    assert "Round 2 was kept: the best on dev texts of those after round 0." in page
    assert "an accuracy of 0.750 on dev texts (round 0: 0.800)" in page
    assert (
        "has 0.700. The KL divergence is an upper bound of the information that passes: 4.000 in round 2; 0 would be none."
        in page
    )
    assert "2, round 2 was kept" in page


def test_a_run_without_rounds_has_none() -> None:
    page = run_page(report())
    assert "rounds" not in run_figures(report())
    assert "compressor" not in page
    assert "<dt>rounds</dt>" not in page


def test_no_curve_joins_epochs_of_different_phases() -> None:
    epochs = {"attention": (1, 2, 3), "learner": (4, 7), "compressor": (5, 6, 8, 9)}
    given = history()
    levels = level_panel([(epoch, epoch.attention) for epoch in epochs_of(given)], "attention scores", "")
    assert levels is not None
    for panel in (*history_panels(epochs_of(given)), levels):
        assert {curve.name.rpartition(", ")[2]: curve.x for curve in panel.curves} == epochs


def test_a_phase_has_one_colour_in_all_panels() -> None:
    shown = {
        panel.title: {curve.name.rpartition(", ")[2]: curve.mark.colour for curve in panel.curves if curve.mark}
        for panel in history_panels(epochs_of(of_numbers()))
    }
    assert list(shown["RMSE"]) == ["attention", "learner", "compressor", "the mean"]
    assert shown["loss"].items() < shown["RMSE"].items()


def test_a_phase_of_one_epoch_is_a_point() -> None:
    given = [record for record in history() if record["epoch"] in (1, 4, 5)]
    loss, *_ = history_panels(epochs_of(given))
    assert [curve.x for curve in loss.curves] == [(1,), (4,), (5,)]


@pytest.mark.parametrize("kind", ["classes", "numbers", "no dev texts", "levels"])
def test_a_trained_bottleneck_run_has_rounds(kind: str, regard: Regard, tmp_path: Path) -> None:
    numbers = kind == "numbers"
    rows = [
        (one.text, one.label if numbers else LIKED[str(one.label)]) for one in reviews(60) if str(one.label) in LIKED
    ]
    options = {
        "classes": ("--phase-epochs", 2),
        "numbers": ("--task", "regression"),
        "no dev texts": ("--dev-fraction", 0),
        "levels": ("--levels", 2, "--pooling", "attention,bottleneck"),
    }[kind]
    data, run = write_csv(tmp_path / "texts.csv", rows), tmp_path / "run"
    given = (data, *TINY, "--encoder", "lstm", "--pooling", "bottleneck", "--rounds", 2, *options, "--out", run)
    assert main(["train", *map(str, given)]) == 0
    result = regard("report", run, "--data", data, "--out", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert result.code == 0, result.err
    best = json.loads((run / "metrics.json").read_text())["best_round"]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"2, round {best} was kept" in page
    assert ("of those after round 0" in page) == (kind != "no dev texts")
    for ending in ("svg", "pdf"):
        assert (tmp_path / "figures" / f"rounds.{ending}").exists()
    with open(tmp_path / "figures" / "rounds.csv", encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert {row["round"] for row in listed if row["kept"]} == {str(best)}
    assert {row["panel"].split()[0] for row in listed} == {"RMSE" if numbers else "accuracy", "KL"}
