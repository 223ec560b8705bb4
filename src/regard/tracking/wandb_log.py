"""Weights & Biases: a run of PROJECT, online or, with WANDB_MODE=offline, as a folder below ./wandb for `wandb sync`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from regard.extras import import_extra
from regard.tracking.log import Setting

PURPOSE = "logging to wandb"


def check_wandb(project: str) -> None:
    import_extra("wandb", PURPOSE)


def open_wandb(project: str, run_name: str, log_id: str | None) -> WandbLog:
    return WandbLog(project, run_name, log_id)


class WandbLog:
    def __init__(self, project: str, run_name: str, log_id: str | None):
        os.environ.setdefault("WANDB_INIT_TIMEOUT", "30")  # seconds; a server that answers takes a few
        wandb = import_extra("wandb", PURPOSE)
        # terminal output may quote texts, and code is not asked for
        settings = wandb.Settings(console="off", save_code=False, disable_code=True, disable_git=True)
        resume = "allow" if log_id else None
        self.run = wandb.init(project=project, name=run_name, id=log_id, resume=resume, settings=settings)
        self.id = str(self.run.id)
        self.place = str(self.run.dir if self.run.offline else self.run.url)
        self.next_step = int(self.run.step)  # after resuming, the first step that the server does not have

    def add_epoch(self, epoch: int, values: Mapping[str, float]) -> None:
        if epoch >= self.next_step:
            self.run.log(dict(values), step=epoch, commit=True)  # otherwise it is kept back until the next epoch

    def add_result(self, epoch: int, settings: Mapping[str, Setting], metrics: Mapping[str, float]) -> None:
        self.run.config.update(dict(settings), allow_val_change=True)
        self.run.summary.update(dict(metrics))

    def close(self, finished: bool) -> None:
        self.run.finish(exit_code=0 if finished else 1)
