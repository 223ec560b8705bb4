"""The kinds of tables: what a cell does. To add a kind, write a module in this folder and add a line to KINDS.

`run(cell, seeds, context)` runs one cell for some seeds and yields one `Row` per seed when it ends. `seed`, `seconds` and
`values` are required; `rows.Row` lists the other fields. `context.device` is "cpu" or "cuda" (on a CPU a job has one seed, on
CUDA all that are missing). A seed that fails is a row with `error` instead of `values`; an exception ends the job, and the
remaining seeds are stored as failed. `results.complete` adds form, table, method, corpus, setting, fingerprint, options and
device. Heavy libraries are imported inside the functions, because listing and rendering don't need them.
"""

from __future__ import annotations

from regard_lab.kinds import (
    counts,
    debate,
    drawings,
    gradient_flow,
    norm_form,
    patterns,
    purified,
    raw_labels,
    scores,
    speed,
    train,
    two_towers,
    weights,
)
from regard_lab.tables.table import Kind

KINDS: dict[str, Kind] = {
    "train": Kind(train.run, train.check),
    "norm_form": Kind(norm_form.run, norm_form.check, norm_form.KEYS, norm_form.MEASURES),
    "counts": Kind(counts.run, counts.check, counts.KEYS, counts.MEASURES),
    "scores": Kind(scores.run, scores.check, measures=patterns.MEASURES, draw=drawings.draw_scores),
    "flow": Kind(
        gradient_flow.run,
        gradient_flow.check,
        gradient_flow.KEYS,
        measures=gradient_flow.MEASURES,
        draw=drawings.draw_scores,
    ),
    "purified": Kind(purified.run, purified.check, purified.KEYS, purified.MEASURES, drawings.draw_purified),
    "debate": Kind(debate.run, debate.check, debate.KEYS, debate.MEASURES, drawings.draw_debate),
    "speed": Kind(speed.run, speed.check, speed.KEYS, speed.MEASURES, reads=False),
    "weights": Kind(weights.run, weights.check, weights.KEYS, weights.MEASURES, weights.draw, reads=False),
    "raw_labels": Kind(raw_labels.run, raw_labels.check, raw_labels.KEYS),
    "two_towers": Kind(two_towers.run, two_towers.check, two_towers.KEYS, two_towers.MEASURES, reads=False),
}
