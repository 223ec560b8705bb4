"""The cost of recording: the same training with record = "epoch", with "step" and without, in one run.

    REGARD_DATA=… python benchmarks/recording.py [sparse] [bilstm] [--repeats 5] [--save]

`sparse` is imdb with the sparse engine's defaults, `bilstm` three epochs of sst2 with a BiLSTM on the CPU. The time of the
recorder itself is measured around each of its parts (determining the types of the words, each snapshot, and the result at the
end) and reported as a share of the rest of training. The ratio of whole alternating runs is reported too: it includes reading
and other load on the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import machine, save_figures

from regard.analysis.dynamics import Dynamics
from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.readers import stream
from regard.models.trained import Trained
from regard.training.fit import Parts, fit
from regard.training.sparse_engine import threads

RESULTS = Path(__file__).parent / "results" / "recording.json"
RECORDS = ("no", "epoch", "step")
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sparse": ("imdb", {}),
    "bilstm": ("sst2", {"encoder": "bilstm", "epochs": 3, "patience": 0}),
}


class Clock:
    """Seconds spent in the recorder: in snapshots (`look`), and before and after them (construction and result)."""

    def __init__(self) -> None:
        self.around, self.looks, self.count = 0.0, 0.0, 0
        for name, add in (("__init__", self.add_around), ("recorded", self.add_around), ("look", self.add_look)):
            setattr(Dynamics, name, self.timed(getattr(Dynamics, name), add))

    def add_around(self, seconds: float) -> None:
        self.around += seconds

    def add_look(self, seconds: float) -> None:
        self.looks, self.count = self.looks + seconds, self.count + 1

    def timed(self, real: Callable[..., Any], add: Callable[[float], None]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            result = real(*arguments, **named)
            add(time.perf_counter() - begin)
            return result

        return call


def learn(corpus: str, options: dict[str, Any], record: str) -> tuple[Trained, float]:
    config = Config().override({"device": "cpu", "text": "text", "label": "label", "record": record, **options})
    dev = stream(resolve(f"{corpus}/dev", "dev")) if corpus == "sst2" else None
    begin = time.perf_counter()
    trained = fit(config, Parts(stream(resolve(corpus, "train")), dev))
    return trained, time.perf_counter() - begin


def measure(case: str, repeats: int, clock: Clock) -> dict[str, Any]:
    corpus, options = CASES[case]
    learn(corpus, {**options, "epochs": 1}, "step")  # warm-up: compile everything now
    rows_by_record: dict[str, list[dict[str, float]]] = {record: [] for record in RECORDS}
    for _ in range(repeats):
        for record in RECORDS:
            clock.around = clock.looks = 0.0
            clock.count = 0
            trained, seconds = learn(corpus, options, record)
            plain = trained.metrics["seconds"] - clock.looks  # all snapshots but the first are within epochs
            rows_by_record[record].append(
                {
                    "seconds": seconds,
                    "seconds_training": plain,
                    "looks": clock.count,
                    "share_of_looks": clock.looks / plain,
                    "share_in_all": (clock.looks + clock.around) / plain,
                }
            )
            print(
                case, record, {name: round(value, 4) for name, value in rows_by_record[record][-1].items()}, flush=True
            )
    medians = {
        record: {name: statistics.median(row[name] for row in rows) for name in rows[0]}
        for record, rows in rows_by_record.items()
    }
    return {
        "corpus": corpus,
        "repeats": repeats,
        **{
            record: {
                "seconds_training": round(medians[record]["seconds_training"], 2),
                "looks": round(medians[record]["looks"]),
                "share_of_looks": round(medians[record]["share_of_looks"], 4),
                "share_in_all": round(medians[record]["share_in_all"], 4),
                "whole_run_to_unrecorded": round(
                    statistics.median(
                        row["seconds"] / plain["seconds"]
                        for row, plain in zip(rows_by_record[record], rows_by_record["no"], strict=True)
                    ),
                    3,
                ),
            }
            for record in RECORDS[1:]
        },
        "threads": threads(),
        "machine": machine("numpy", "numba", "torch"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="(default: all)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    clock = Clock()
    for case in arguments.cases or CASES:
        figures = measure(case, arguments.repeats, clock)
        print(json.dumps({case: figures}, indent=1), flush=True)
        if arguments.save:
            save_figures(RESULTS, {case: figures})


if __name__ == "__main__":
    main()
