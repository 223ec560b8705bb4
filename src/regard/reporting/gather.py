"""All that a report shows of a run, as one plain object; the page reads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.analysis.analyse import analyse, check_model
from regard.audit.training_texts import is_same, texts_learned
from regard.config import Data
from regard.errors import InputError
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.recording import Recorder, Silent
from regard.records import Example
from regard.report.names import explainer_name
from regard.reporting import calibration
from regard.reporting.audited import audit_of
from regard.reporting.intervals import measured
from regard.reporting.reader import MOST, SECOND, WORDS, has_attention, shown_texts

ANALYSED = 5000  # texts that words are looked up in, where an encoder has to read all of them
CHOSEN = "These texts chose the epoch that was kept, so measures are a little too good."

Floats = NDArray[np.float64]


def gather(
    trained: Trained, folder: Path, examples: Sequence[Example], where: str = "texts", recorder: Recorder | None = None
) -> dict[str, Any]:
    """Of a run and some texts, with labels or without; `where` names the texts. Without texts: what training left."""
    recorder = recorder or Silent()
    notes: list[str] = []
    labelled = [example for example in examples if example.label is not None]
    answers = trained.answers([example.text for example in examples])
    audit, no_audit = audit_of(trained, folder)
    found: dict[str, Any] = {
        "format": "regard report 1",
        "run": str(folder),
        "data": where if examples else None,
        "facts": facts(trained),
        "task": trained.task.kind,
        "classes": list(trained.task.classes) if isinstance(trained.task, Classes) else [],
        "metrics": None,
        "measured_on": None,
        "caution": "",
        "calibration": None,
        "history": trained.metrics.get("history") or [],
        "best_epoch": trained.metrics.get("best_epoch"),
        "analysis": None,
        "audit": audit,
        "no_audit": no_audit,
        "texts": [],
        "texts_in_all": len(examples),
        "notes": notes,
    }
    if labelled:
        if len(labelled) < len(examples):
            notes.append(f"texts without a label: {len(examples) - len(labelled):,}; measures are of the others")
        own = answers[[k for k, example in enumerate(examples) if example.label is not None]]
        labels = np.array([trained.task.encode(x.label, f"{where}, row {x.row}") for x in labelled])
        found |= judged(trained, own, labels, where)
        found["caution"] = caution(trained.config.data, [example.text for example in labelled], where)
        recorder.note(f"words of {len(labelled)} texts")
        found["analysis"] = words(trained, folder, labelled, labels, where, notes)
    elif examples:
        notes.append(f"{where} has no labels: nothing of it can be measured, and no word belongs to a class")
    else:
        found |= left_by_training(trained)
    if examples:
        recorder.note("explaining texts")
        found["texts"] = shown_texts(trained, examples, answers)
        if len(found["texts"]) < min(MOST, len(examples)):
            notes.append(f"texts are shown until they have {WORDS:,} words together")
        if not has_attention(trained):
            notes.append(f"this run has no attention: words are shaded by {explainer_name(SECOND)}")
    return found


def facts(trained: Trained) -> dict[str, str]:
    model, metrics = trained.config.model.filled(), trained.metrics
    told = {
        "model": f"{model.encoder}, {model.pooling} pooling, {model.levels} level{'s' * (model.levels > 1)}",
        "learned from": f"{metrics['texts']:,} texts" if isinstance(metrics.get("texts"), int) else "",
        "epochs": f"{metrics['epochs']}, the best was {metrics.get('best_epoch')}" if metrics.get("epochs") else "",
    }
    return {name: value for name, value in told.items() if value}


def judged(trained: Trained, answers: Floats, labels: Floats, where: str) -> dict[str, Any]:
    task = trained.task
    if isinstance(task, Classes):
        curve = calibration.of_classes(answers, labels)
    else:
        own = task.as_dict()
        curve = calibration.of_numbers(answers[:, 0], labels * own["scale"] + own["mean"])
    return {"metrics": measured(task, answers, labels), "measured_on": where, "calibration": curve}


def caution(data: Data, texts: Sequence[str], where: str) -> str:
    """What makes measures on these texts better than on others."""
    said = [CHOSEN] if is_same(where, data.dev) and not is_same(where, data.test) else []
    if learned := texts_learned(data, texts, where):
        said.insert(0, f"{learned[0].upper()}{learned[1:]}: on others it will do worse.")
    return " ".join(said)


def left_by_training(trained: Trained) -> dict[str, Any]:
    """The measures in the run's folder, of the last part that there is."""
    for split in ("test", "dev"):
        if isinstance(trained.metrics.get(split), dict):
            told = {"metrics": trained.metrics[split], "measured_on": f"the {split} texts of training"}
            return {**told, "caution": CHOSEN if split == "dev" else ""}
    return {}


def words(
    trained: Trained, folder: Path, examples: Sequence[Example], labels: Floats, where: str, notes: list[str]
) -> dict[str, Any] | None:
    """analysis.json's object, or None and a note where the model has no scores of words."""
    try:
        check_model(trained)
        if not trained.is_flat and len(examples) > ANALYSED:
            chosen = np.sort(np.random.default_rng(0).choice(len(examples), ANALYSED, replace=False))
            examples, labels = [examples[k] for k in chosen], labels[chosen]
            notes.append(f"words are those of {ANALYSED:,} texts, drawn by chance")
        return analyse(trained, [example.text for example in examples], labels, where, str(folder)).to_json()
    except InputError as error:
        notes.append(f"no words by class: {error}")
        return None
