"""Collect everything the report of a run shows: measures, calibration, words, its audit, explained texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.analysis.analyse import analyse, check_model
from regard.audit.audit_options import check_run
from regard.audit.audit_run import audited_model
from regard.audit.training_texts import training_overlap
from regard.errors import InputError
from regard.explain.shown_texts import MOST, WORDS, shown_texts
from regard.explain.targets import Target
from regard.facts.analysis import AnalysisFacts
from regard.facts.audit import FORMAT, AuditFacts
from regard.facts.history import history
from regard.facts.measures import Measures
from regard.facts.run import Calibration, RunFacts
from regard.files import is_same_file
from regard.models.model import Model
from regard.models.tasks import Classes, MultiLabel, Named
from regard.models.trained import Trained
from regard.recorder import Recorder, Silent
from regard.records import Example
from regard.report.pages.audit import NAME
from regard.training import calibration
from regard.training.bootstrap import measure_with_intervals

ANALYSED = 5000  # texts whose words are analysed if an encoder has to read all of them
CHOSEN = "The best epoch was selected on these texts, so the measures are slightly optimistic."
CHECKED = 5  # texts of an audit that are predicted again to see whether it is of this model
CLOSE = 1e-3  # largest difference in probability from the file, to allow for another device or thread count
LARGEST_AUDIT = 1 << 26  # bytes of its file that are read

Floats = NDArray[np.float64]


def gather(
    trained: Model,
    folder: str | Path,
    examples: Sequence[Example],
    where: str = "texts",
    recorder: Recorder | None = None,
    method: str | None = None,
    target: Target = None,
) -> RunFacts:
    """Facts of a run on texts, labelled or not; `where` names them. Without texts: the measures from training.

    `method` and `target` choose how texts are explained, as in `explain`.
    """
    recorder = recorder or Silent()
    notes: list[str] = []
    answers = trained.answers([example.text for example in examples])
    facts = trained_facts(trained, folder)
    labelled = [k for k, example in enumerate(examples) if example.label is not None]
    if labelled:
        if len(labelled) < len(examples):
            notes.append(f"measures leave out {len(examples) - len(labelled):,} texts without a label")
        recorder.note(f"analysing the words of {len(labelled)} texts")
        facts = with_labels(facts, trained, [examples[k] for k in labelled], answers[labelled], where, notes)
    elif examples:
        notes.append(f"{where} has no labels, so there are no measures and no words by class")
    else:
        facts = with_training_measures(facts, trained)
    if examples:
        recorder.note("explaining texts")
        texts = shown_texts(trained, examples, answers, method, target)
        facts = replace(facts, data=where, texts=texts, texts_in_all=len(examples))
        if len(texts) < min(MOST, len(examples)):
            notes.append(f"the texts shown are limited to {WORDS:,} words in total")
    return replace(facts, notes=tuple(notes))


def trained_facts(trained: Model, folder: str | Path) -> RunFacts:
    """Facts that need no texts."""
    audit, no_audit = audit_of(trained, folder)
    records, best = trained.metrics.get("history") or [], trained.metrics.get("best_epoch")
    return RunFacts(
        str(folder),
        None,
        header_facts(trained),
        trained.task.kind,
        tuple(trained.task.classes) if isinstance(trained.task, Named) else (),
        history=history(records),
        best_epoch=best,
        audit=audit,
        no_audit=no_audit,
    )


def header_facts(trained: Model) -> dict[str, str]:
    metrics = trained.metrics
    shown = {
        "model": trained.description,
        "trained on": f"{metrics['texts']:,} texts" if isinstance(metrics.get("texts"), int) else "",
        "epochs": f"{metrics['epochs']}, best: {metrics.get('best_epoch')}" if metrics.get("epochs") else "",
    }
    return {name: value for name, value in shown.items() if value}


def with_labels(
    facts: RunFacts, trained: Model, examples: Sequence[Example], answers: Floats, where: str, notes: list[str]
) -> RunFacts:
    labels = np.array([trained.task.encode(x.label, f"{where}, row {x.row}") for x in examples])
    return replace(
        facts,
        measures=Measures.of(measure_with_intervals(trained.task, answers, labels)),
        measured_on=where,
        calibration=calibration_of(trained, answers, labels),
        caution=caution(trained, [example.text for example in examples], where),
        analysis=words(trained, facts.run, examples, labels, where, notes),
    )


def calibration_of(trained: Model, answers: Floats, labels: Floats) -> Calibration | None:
    if isinstance(trained.task, Classes):
        return calibration.of_classes(answers, labels)
    if isinstance(trained.task, MultiLabel):
        return calibration.of_labels(answers, labels)
    numbers = trained.task.as_dict()
    return calibration.of_numbers(answers[:, 0], labels * numbers["scale"] + numbers["mean"])


def caution(trained: Model, texts: Sequence[str], where: str) -> str:
    """Why measures on these texts are better than on new ones, or \"\"."""
    data = trained.data
    reasons = [CHOSEN] if is_same_file(where, data.dev) and not is_same_file(where, data.test) else []
    if overlap := training_overlap(trained, texts, where):
        reasons.insert(0, f"{overlap[0].upper()}{overlap[1:]}: expect lower scores on new texts.")
    return " ".join(reasons)


def with_training_measures(facts: RunFacts, trained: Model) -> RunFacts:
    """Measures saved with the run: those on test texts, or else on dev texts."""
    for split in ("test", "dev"):
        metrics = trained.metrics.get(split)
        if isinstance(metrics, Mapping):
            return replace(
                facts,
                measures=Measures.of(metrics),
                measured_on=f"the {split} texts of training",
                caution=CHOSEN if split == "dev" else "",
            )
    return facts


def words(
    trained: Model, run: str, examples: Sequence[Example], labels: Floats, where: str, notes: list[str]
) -> AnalysisFacts | None:
    """Analysis of words; None and a note if the model does not score words."""
    try:
        if not isinstance(trained, Trained):
            raise InputError("only predictions of this model are available")
        check_model(trained)
        if not trained.is_flat and len(examples) > ANALYSED:
            chosen = np.sort(np.random.default_rng(0).choice(len(examples), ANALYSED, replace=False))
            examples, labels = [examples[k] for k in chosen], labels[chosen]
            notes.append(f"words are from {ANALYSED:,} random texts")
        return analyse(trained, [example.text for example in examples], labels, where, run)
    except InputError as error:
        notes.append(f"no words by class: {error}")
        return None


def audit_of(trained: Model, folder: str | Path) -> tuple[AuditFacts | None, str]:
    """The audit in the folder of a run, and the reason why it is not shown, or ""."""
    try:
        check_run(trained)
    except InputError as error:
        return None, f"No audit: {error}."
    if not isinstance(trained, Trained):
        return None, "Audits of models from other libraries are separate pages; `regard audit` writes them."
    path = Path(folder) / "audit" / NAME
    command = f"regard audit {folder} --data FILE"
    if not path.is_file():
        return None, f"This run has not been audited; `{command}` tests whether its attention can be trusted."
    try:
        with path.open("rb") as file:
            facts = AuditFacts.from_json(json.loads(file.read(LARGEST_AUDIT)))
        matches = audits(facts, trained)
    except (OSError, ValueError, OverflowError, RecursionError):
        return None, f"{path} cannot be read as an audit; `{command}` writes it again."
    if not matches:
        return None, f"{path} is the audit of another model; `{command}` audits this one."
    return facts, ""


def audits(facts: AuditFacts, trained: Trained) -> bool:
    """Whether an audit is of this model: same classes, same architecture, same predictions for some of its texts."""
    assert isinstance(trained.task, Classes)
    if facts.format != FORMAT or facts.classes != tuple(trained.task.classes):
        return False
    if facts.model != audited_model(trained):
        return False
    details = facts.details[:CHECKED]
    if not details:
        return True
    recorded = np.array([detail.probabilities for detail in details], dtype=np.float64)
    return bool(np.abs(trained.answers([detail.text for detail in details]) - recorded).max() < CLOSE)
