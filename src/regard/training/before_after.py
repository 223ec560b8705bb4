"""Scores before and after training continued: what was learned on new texts, and what was forgotten on old ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import UNKNOWN
from regard.models.flat import State
from regard.models.tasks import Classes, Multiclass, Task, number
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.records import Example
from regard.run_metrics import BeforeAfter, Continued
from regard.training.committee_engine import CommitteeData, read_dev
from regard.training.growth import Grown

Doubles = NDArray[np.float64]


class Comparison:
    """Scores of a flat model on groups of held-out texts, by the name of the group."""

    def __init__(self, start: Grown, scale: float, old: Task, groups: Mapping[str, CommitteeData]) -> None:
        """Computed before training changes the weights that it starts from; groups without texts are left out."""
        self.scale, self.groups = scale, {name: data for name, data in groups.items() if data.has_dev}
        self.before = {name: self.score_before(start, data, old) for name, data in self.groups.items()}

    def score_before(self, start: Grown, data: CommitteeData, old: Task) -> float:
        """Of the old model: it did not know the new units, and never predicts a new class."""
        if data.dev is not None:
            data = data._replace(dev=known_units(data.dev, np.logical_or.reduce(start.learned)))
        else:
            pairs = zip(data.members, start.learned, strict=True)
            data = data._replace(
                members=[
                    one if one.held is None else one._replace(held=known_units(one.held, rows)) for one, rows in pairs
                ]
            )
        read = read_dev(start.states, self.scale, data)
        logits = read.logits.astype(np.float64)
        if isinstance(old, Classes) and isinstance(data.task, Multiclass):
            logits[:, len(old.classes) :] = -math.inf
        return score(data.task, logits, read.labels)

    def after(self, states: list[State]) -> dict[str, BeforeAfter]:
        rows: dict[str, BeforeAfter] = {}
        for name, data in self.groups.items():
            read = read_dev(states, self.scale, data)
            after = score(data.task, read.logits.astype(np.float64), read.labels)
            rows[name] = before_after(data.task, self.before[name], after, len(read.labels))
        return rows


def compare_texts(old: Trained, new: Trained, groups: Mapping[str, Sequence[Example]]) -> dict[str, BeforeAfter]:
    """The same for any two models; groups without texts are left out."""
    rows = {}
    for name, examples in groups.items():
        if examples:
            before, after = (score_texts(model, new.task, examples) for model in (old, new))
            rows[name] = before_after(new.task, before, after, len(examples))
    return rows


def score_texts(model: Trained, task: Task, examples: Sequence[Example]) -> float:
    answers = model.answers([example.text for example in examples])
    if isinstance(model.task, Classes):
        predicted = np.array(model.task.classes)[model.task.chosen(answers)]
        return float((predicted == np.array([str(example.label) for example in examples])).mean())
    actual = np.array([number(example.label, f"row {example.row}") for example in examples])
    return float(np.sqrt(np.mean((answers[:, 0] - actual) ** 2)))


def known_units(texts: UnitTexts, known: NDArray[np.bool_]) -> UnitTexts:
    """The texts as a model reads them that has only these units; the unknown word stands for a text without any."""
    kept = known[texts.ids]
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    sizes = np.diff(sums[texts.offsets])
    empty = sizes == 0
    starts = sums[texts.offsets[:-1]][empty]
    ids = np.insert(texts.ids[kept], starts, UNKNOWN).astype(np.int32)
    counts = np.insert(texts.counts[kept], starts, 1).astype(texts.counts.dtype)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes + empty)])
    return texts._replace(ids=ids, counts=counts, offsets=offsets)


def score(task: Task, logits: Doubles, labels: Doubles) -> float:
    """Accuracy, or the RMSE on the scale of the labels."""
    with np.errstate(invalid="ignore"):
        answers = task.answers(logits)
    if isinstance(task, Classes):
        return float((task.chosen(answers) == labels).mean())
    actual = np.array([task.answers(np.array([[value]]))[0, 0] for value in np.unique(labels)])
    return float(np.sqrt(np.mean((answers[:, 0] - actual[np.unique(labels, return_inverse=True)[1]]) ** 2)))


def before_after(task: Task, before: float, after: float, texts: int) -> BeforeAfter:
    measure = "accuracy" if isinstance(task, Classes) else "rmse"
    return {"texts": texts, "measure": measure, "before": before, "after": after}


def note_scores(continued: Continued, missing: Sequence[str], recorder: Recorder) -> None:
    """Say what became of old and new texts; `missing` are the old classes that this run has no text of."""
    names = {"new": "held-out new texts", "old": "old texts that were set aside", "dev": "dev texts"}
    for part, row in continued["scores"].items():
        title = "accuracy" if row["measure"] == "accuracy" else "RMSE"
        recorder.note(
            f"{names[part]} ({row['texts']:,}): {title} {row['before']:.4f} before, {row['after']:.4f} after"
            + (" (the old run has probably learned from these texts)" if part == "old" else "")
        )
    if missing:
        shown = ", ".join(map(repr, missing[:6])) + (", …" if len(missing) > 6 else "")
        recorder.note(
            f"no text of {shown}: the model is likely to forget {'them' if len(missing) > 1 else 'it'}; "
            "--replay OLD.csv lets it learn from old texts too"
        )
    elif "old" not in continued["scores"]:
        recorder.note("what was forgotten of old texts is not known; --replay OLD.csv measures and limits it")
