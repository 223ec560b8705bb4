"""A recorder that also writes to logs, and stays alive when they fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from regard.config import Config
from regard.errors import InputError
from regard.files import write
from regard.recorder import Recorder
from regard.run_metrics import EpochRecord, RunMetrics
from regard.tracking.addresses import Address
from regard.tracking.log import Log, describe, epoch_values, final_values, settings_of

LARGEST = 1 << 20  # bytes that are read of the ids of logs


class TrackedRun(NamedTuple):
    """What logs need to know about a run."""

    name: str
    ids: Path | None = None  # the file that keeps which logs an unfinished run has
    resume: bool = False
    history: Sequence[EpochRecord] = ()  # the epochs before it was resumed


class TrackedRecorder:
    """Passes everything on to another recorder, and what an epoch measured to logs, too.

    A log that raises an error, because a server is gone or a disk is full, is reported once and then left out.
    """

    def __init__(self, recorder: Recorder, warn: Callable[[str], None]):
        self.recorder, self.warn = recorder, warn
        self.logs: dict[str, Log] = {}
        self.is_finished = False

    def note(self, sentence: str) -> None:
        self.recorder.note(sentence)

    def enter(self, phase: str) -> None:
        self.recorder.enter(phase)

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.recorder.begin(epoch, epochs, steps)

    def step(self, loss: float | None) -> None:
        self.recorder.step(loss)

    def end(self, record: EpochRecord) -> None:
        self.recorder.end(record)
        self.log_epoch(record)

    def log_epoch(self, record: EpochRecord) -> None:
        epoch, values = record["epoch"], epoch_values(record)
        self.write(lambda log: log.add_epoch(epoch, values), f"epoch {epoch} and later ones are not logged")

    def finish(self, config: Config, metrics: RunMetrics) -> None:
        """The run is complete: log its options and its final metrics."""
        settings, values = settings_of(config, metrics), final_values(metrics)
        lost = "the settings and the final metrics are not logged"
        self.write(lambda log: log.add_result(metrics["best_epoch"], settings, values), lost)
        self.is_finished = True

    def close(self) -> None:
        self.write(lambda log: log.close(self.is_finished), "the log may be incomplete")

    def write(self, action: Callable[[Log], None], lost: str) -> None:
        for address, log in list(self.logs.items()):
            try:
                action(log)
            except Exception as error:  # nothing narrower: each tool has its own errors, and those of networks
                del self.logs[address]
                self.warn(f"log {address!r} failed ({describe(error)}); {lost}, training is not affected")


@contextmanager
def tracked(
    recorder: Recorder, addresses: Sequence[Address], run: TrackedRun, warn: Callable[[str], None] | None = None
) -> Iterator[TrackedRecorder]:
    """Open the logs, or continue those of a resumed run, and close them at the end, whatever it is.

    `warn` gets the sentence about a log that failed, instead of the recorder, which may be silent.
    """
    both = TrackedRecorder(recorder, warn or recorder.note)
    try:
        open_logs(both, addresses, run)
        for record in run.history:  # a killed process may not have sent its last epochs, or had another log
            both.log_epoch(record)
        yield both
    finally:
        both.close()


def open_logs(recorder: TrackedRecorder, addresses: Sequence[Address], run: TrackedRun) -> None:
    ids = read_ids(run.ids) if run.resume and run.ids is not None else {}
    for address in addresses:
        try:
            log = address.tracker.open(address.name, run.name, ids.get(address.text))
        except InputError:
            raise
        except Exception as error:  # the same as in `write`, but nothing is trained yet
            raise InputError(
                f"log {address.text!r}: cannot be opened ({describe(error)}); repair it, or train without it"
            ) from None
        recorder.logs[address.text] = log
        recorder.note(f"logging to {address.text}: {log.place}")
    if run.ids is None:
        return
    if not run.resume:
        run.ids.unlink(missing_ok=True)
    if addresses:
        write(run.ids, json.dumps(ids | {address: log.id for address, log in recorder.logs.items()}))


def read_ids(path: Path) -> dict[str, str]:
    """Address → id of the log. A file that cannot be read is treated as absent: the run is worth more than its log."""
    try:
        with path.open("rb") as file:
            ids = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(address): str(name) for address, name in ids.items()} if isinstance(ids, dict) else {}
