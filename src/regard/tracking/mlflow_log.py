"""MLflow: a run of EXPERIMENT on the server or in the folder that MLFLOW_TRACKING_URI names."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from regard.errors import InputError
from regard.extras import import_extra
from regard.tracking.log import Setting, describe

PURPOSE = "logging to mlflow"
LONGEST = 500  # characters of a parameter; servers refuse longer ones
MOST = 100  # parameters of a request
# MLflow's own defaults keep a training run waiting for many minutes when the server does not answer
PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}


def check_mlflow(experiment: str) -> None:
    """Ask a server for the experiment, so that one that does not answer is noticed before texts are read."""
    client, address = new_client(), str(import_module("mlflow").get_tracking_uri())
    if not address.startswith(("http://", "https://")):
        return  # merely opening a database creates it
    try:
        client.get_experiment_by_name(experiment)
    except Exception as error:  # nothing narrower: errors of MLflow, of HTTP and of the network
        raise InputError(
            f"log 'mlflow:{experiment}': expected an MLflow server at {address}, got {describe(error)}; "
            "start it, or set MLFLOW_TRACKING_URI"
        ) from None


def open_mlflow(experiment: str, run_name: str, log_id: str | None) -> MlflowLog:
    return MlflowLog(new_client(), experiment, run_name, log_id)


def new_client() -> Any:
    for name, value in PATIENCE.items():
        os.environ.setdefault(name, value)
    return import_extra("mlflow", PURPOSE).MlflowClient()


class MlflowLog:
    def __init__(self, client: Any, experiment: str, run_name: str, log_id: str | None):
        self.client, self.entities = client, import_module("mlflow.entities")
        self.last_epoch = 0
        if log_id is not None and self.is_active(log_id):
            self.id = log_id
            client.update_run(log_id, status="RUNNING")
            self.last_epoch = max((metric.step for metric in client.get_metric_history(log_id, "loss")), default=0)
        else:
            found = client.get_experiment_by_name(experiment)
            experiment_id = client.create_experiment(experiment) if found is None else found.experiment_id
            self.id = client.create_run(experiment_id, run_name=run_name).info.run_id
        self.place = f"run {self.id} in {import_module('mlflow').get_tracking_uri()}"

    def is_active(self, log_id: str) -> bool:
        """Whether the run exists and was not deleted."""
        try:
            return bool(self.client.get_run(log_id).info.lifecycle_stage == "active")
        except import_module("mlflow.exceptions").MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return False
            raise

    def add_epoch(self, epoch: int, values: Mapping[str, float]) -> None:
        if epoch > self.last_epoch:  # MLflow would keep both values of an epoch
            self.add_metrics(epoch, values)

    def add_result(self, epoch: int, settings: Mapping[str, Setting], metrics: Mapping[str, float]) -> None:
        parameters = [self.entities.Param(name, str(value)[:LONGEST]) for name, value in settings.items()]
        for start in range(0, len(parameters), MOST):
            self.client.log_batch(self.id, params=parameters[start : start + MOST])
        self.add_metrics(epoch, metrics)

    def add_metrics(self, epoch: int, values: Mapping[str, float]) -> None:
        now = int(time.time() * 1000)
        metrics = [self.entities.Metric(name, value, now, epoch) for name, value in values.items()]
        self.client.log_batch(self.id, metrics=metrics)

    def close(self, finished: bool) -> None:
        self.client.set_terminated(self.id, "FINISHED" if finished else "KILLED")
