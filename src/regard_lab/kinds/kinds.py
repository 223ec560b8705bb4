"""The kinds of tables: what a cell does. A new kind is a file of its own here and a line in KINDS.

`run(cell, seeds, device, recorder)` carries one cell out for some seeds and yields one result a seed as it ends:

    {"seed": 3, "values": {"accuracy": 0.91, …}, "seconds": 12.3,                          # asked for
     "dev": {…}, "history": {"loss": […], …}, "best_epoch": 4, "epochs": 7, "stacked": 10,    # where there are such
     "data": {"NAME/train.jsonl.gz": checksum}, "environment": {"python": …, "torch": …, "cpu": "2 threads"}}

`device` is "cpu" or "cuda" (on a CPU a job has one seed, on CUDA all that are missing). What cannot be done for one seed
is a result with "error" instead of "values"; an exception ends the job, and the seeds that are left are kept as failed.
The row's form, table, method, corpus, setting, fingerprint, options and device are added by `results.complete`.
Heavy libraries are imported inside the functions: listing and rendering need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.recording import Recorder
from regard_lab.kinds import (
    counts,
    debate,
    debate_drawn,
    flows,
    purified,
    purified_drawn,
    raw_labels,
    scores,
    scores_drawn,
    side_by_side,
    speed,
    train,
    two_towers,
    weights,
)
from regard_lab.measures import Measure

if TYPE_CHECKING:
    from regard_lab.tables.table import Cell, Table

Row = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    run: Callable[[Cell, Sequence[int], str, Recorder], Iterator[Row]]
    check: Callable[[Cell], None] | None = None  # refuses options before anything runs
    keys: Mapping[str, Any] = field(default_factory=dict)  # options beside the config's, and their types
    measures: Mapping[str, Measure] = field(default_factory=dict)  # beside MEASURES
    draw: Callable[[Table, Sequence[Row]], dict[str, str]] | None = None  # figures of its own: name -> SVG
    reads: bool = True  # whether a corpus must say what to learn from


KINDS: dict[str, Kind] = {
    "train": Kind(train.run, train.check),
    "counts": Kind(counts.run, counts.check, counts.KEYS, counts.MEASURES),
    "scores": Kind(scores.run, scores.check, measures=scores.MEASURES, draw=scores_drawn.draw),
    "flow": Kind(flows.run, flows.check, flows.KEYS, measures=flows.MEASURES, draw=scores_drawn.draw),
    "purified": Kind(purified.run, purified.check, purified.KEYS, purified.MEASURES, purified_drawn.draw),
    "debate": Kind(debate.run, debate.check, debate.KEYS, debate.MEASURES, debate_drawn.draw),
    "speed": Kind(speed.run, speed.check, speed.KEYS, speed.MEASURES, reads=False),
    "weights": Kind(weights.run, weights.check, weights.KEYS, weights.MEASURES, side_by_side.draw, reads=False),
    "raw_labels": Kind(raw_labels.run, raw_labels.check, raw_labels.KEYS),
    "two_towers": Kind(two_towers.run, two_towers.check, two_towers.KEYS, two_towers.MEASURES, reads=False),
}
