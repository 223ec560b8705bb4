"""TensorBoard: event files in DIR/NAME, written by the package tensorboard alone, without PyTorch or TensorFlow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from regard.extras import import_extra
from regard.files import check_writable
from regard.tracking.log import Setting

PURPOSE = "logging to tensorboard"


def check_tensorboard(folder: str) -> None:
    check_writable(Path(folder))
    import_extra("tensorboard", PURPOSE)


def open_tensorboard(folder: str, run_name: str, log_id: str | None) -> TensorBoardLog:
    """Continue the subfolder `log_id`, or begin the first free one that is named after the run."""
    names = (run_name if number == 1 else f"{run_name}-{number}" for number in range(1, 10_000))
    name = log_id or next(name for name in names if not (Path(folder) / name).exists())
    return TensorBoardLog(Path(folder), name, resumed=log_id is not None)


class TensorBoardLog:
    def __init__(self, folder: Path, name: str, resumed: bool):
        import_extra("tensorboard", PURPOSE)
        self.id, self.place = name, str(folder / name)
        self.resumed = resumed
        self.protocol = import_module("tensorboard.compat.proto.event_pb2")
        self.summaries = import_module("tensorboard.compat.proto.summary_pb2")
        writers = import_module("tensorboard.summary.writer.event_file_writer")
        (folder / name).mkdir(parents=True, exist_ok=True)
        self.writer = writers.EventFileWriter(str(folder / name))

    def add_epoch(self, epoch: int, values: Mapping[str, float]) -> None:
        if self.resumed:  # readers then drop this epoch and later ones from the files of the stopped run
            session = self.protocol.SessionLog
            self.add(step=epoch, session_log=session(status=session.START))
            self.resumed = False
        self.add_scalars(epoch, values)
        self.writer.flush()

    def add_result(self, epoch: int, settings: Mapping[str, Setting], metrics: Mapping[str, float]) -> None:
        texts = import_module("tensorboard.plugins.text.summary_v2")
        hyperparameters = import_module("tensorboard.plugins.hparams.summary_v2")
        rows = [f"| {name} | {str(value).replace('|', '&#124;')} |" for name, value in settings.items()]
        table = "\n".join(["| setting | value |", "|---|---|", *rows])
        self.add(step=epoch, summary=texts.text_pb("settings", table))
        self.add(step=epoch, summary=hyperparameters.hparams_pb(dict(settings)))
        self.add_scalars(epoch, metrics)
        self.writer.flush()

    def add_scalars(self, epoch: int, values: Mapping[str, float]) -> None:
        scalars = [self.summaries.Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self.add(step=epoch, summary=self.summaries.Summary(value=scalars))

    def add(self, **content: Any) -> None:
        self.writer.add_event(self.protocol.Event(wall_time=time.time(), **content))

    def close(self, finished: bool) -> None:
        self.writer.close()
