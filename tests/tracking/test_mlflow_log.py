"""Runs in MLflow, as its own client sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from killed_process import assert_no_texts, every_death, killed_and_resumed, train

mlflow = pytest.importorskip("mlflow")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of MLflow are not ours


def runs(folder: Path) -> tuple[Any, list[Any]]:
    client = mlflow.MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("films")
    return client, client.search_runs([experiment.experiment_id], order_by=["attributes.start_time"])


@every_death
def test_a_resumed_run_has_every_epoch_once(tmp_path: Path, death: str) -> None:
    metrics = killed_and_resumed(tmp_path, "mlflow:films", death)
    client, (run,) = runs(tmp_path)
    assert (run.info.status, run.info.run_name) == ("FINISHED", "run")
    for name in ("loss", "seconds", "dev/accuracy", "scores/words/std"):
        assert [value.step for value in client.get_metric_history(run.info.run_id, name)] == [1, 2, 3, 4]
    losses = [value.value for value in client.get_metric_history(run.info.run_id, "loss")]
    assert losses == [record["loss"] for record in metrics["history"]]
    assert run.data.metrics["final/dev/accuracy"] == metrics["dev"]["accuracy"]
    assert run.data.params["training.epochs"] == "4"
    assert run.data.params["fingerprint"] == metrics["fingerprint"]
    assert_no_texts(tmp_path / "mlflow.db")


def test_a_deleted_run_is_begun_again(tmp_path: Path) -> None:
    train(tmp_path, "--log", "mlflow:films", "--out", "run", death="before an epoch")
    client, (first,) = runs(tmp_path)
    assert first.info.status == "RUNNING", "a killed process cannot say so"
    client.delete_run(first.info.run_id)
    train(tmp_path, "--log", "mlflow:films", "--out", "run", "--resume")
    client, (second,) = runs(tmp_path)
    assert [value.step for value in client.get_metric_history(second.info.run_id, "loss")] == [1, 2, 3, 4]


def test_a_server_that_does_not_answer_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard import InputError
    from regard.tracking.addresses import parse_addresses

    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    mlflow.set_tracking_uri(None)
    with pytest.raises(
        InputError, match=r"^log 'mlflow:films': expected an MLflow server at http://127\.0\.0\.1:9, got "
    ):
        parse_addresses(["mlflow:films"])
