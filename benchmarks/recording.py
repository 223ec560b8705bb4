"""What recording costs: the same training with record = "epoch" and "step" beside one without, in one run.

    REGARD_DATA=… python benchmarks/recording.py [sparse] [bilstm] [--repeats 5] [--save]

`sparse` is imdb with the sparse engine's defaults, `bilstm` three epochs of sst2 with a BiLSTM on the CPU. The recorder's own
seconds are taken by a clock around each of its parts (finding the types of the words, each look, and what is kept at the
end), and told as a share of what remains of training. The ratio of whole runs, one beside the other in turns, is told too:
it holds reading as well, and whatever else the machine does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keeping import keep, machine

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
    """Seconds within the recorder: in making it and in what it keeps, and in looks."""

    def __init__(self) -> None:
        self.around, self.looks, self.count = 0.0, 0.0, 0
        for name, add in (("__init__", self.add_around), ("recorded", self.add_around), ("look", self.add_look)):
            setattr(Dynamics, name, self.timed(getattr(Dynamics, name), add))

    def add_around(self, seconds: float) -> None:
        self.around += seconds

    def add_look(self, seconds: float) -> None:
        self.looks, self.count = self.looks + seconds, self.count + 1

    def timed(self, real: Callable[..., Any], add: Callable[[float], None]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            begun = time.perf_counter()
            found = real(*given, **more)
            add(time.perf_counter() - begun)
            return found

        return call


def learn(corpus: str, options: dict[str, Any], record: str) -> tuple[Trained, float]:
    config = Config().override({"device": "cpu", "text": "text", "label": "label", "record": record, **options})
    dev = stream(resolve(f"{corpus}/dev", "dev")) if corpus == "sst2" else None
    begun = time.perf_counter()
    trained = fit(config, Parts(stream(resolve(corpus, "train")), dev))
    return trained, time.perf_counter() - begun


def measure(case: str, repeats: int, clock: Clock) -> dict[str, Any]:
    corpus, options = CASES[case]
    learn(corpus, {**options, "epochs": 1}, "step")  # what is compiled is compiled now
    found: dict[str, list[dict[str, float]]] = {record: [] for record in RECORDS}
    for _ in range(repeats):
        for record in RECORDS:
            clock.around = clock.looks = 0.0
            clock.count = 0
            trained, seconds = learn(corpus, options, record)
            plain = trained.metrics["seconds"] - clock.looks  # looks are within epochs, but for the first
            found[record].append(
                {
                    "seconds": seconds,
                    "seconds_training": plain,
                    "looks": clock.count,
                    "share_of_looks": clock.looks / plain,
                    "share_in_all": (clock.looks + clock.around) / plain,
                }
            )
            print(case, record, {name: round(value, 4) for name, value in found[record][-1].items()}, flush=True)
    middle = {
        record: {name: statistics.median(row[name] for row in rows) for name in rows[0]}
        for record, rows in found.items()
    }
    return {
        "corpus": corpus,
        "repeats": repeats,
        **{
            record: {
                "seconds_training": round(middle[record]["seconds_training"], 2),
                "looks": round(middle[record]["looks"]),
                "share_of_looks": round(middle[record]["share_of_looks"], 4),
                "share_in_all": round(middle[record]["share_in_all"], 4),
                "whole_run_to_unrecorded": round(
                    statistics.median(
                        row["seconds"] / plain["seconds"] for row, plain in zip(found[record], found["no"], strict=True)
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
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="all where none is given")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", action="store_true", help=f"keep the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    clock = Clock()
    for case in arguments.cases or CASES:
        figures = measure(case, arguments.repeats, clock)
        print(json.dumps({case: figures}, indent=1), flush=True)
        if arguments.save:
            keep(RESULTS, {case: figures})


if __name__ == "__main__":
    main()
