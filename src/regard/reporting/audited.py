"""The audit that lies in a run's folder, where it is this model's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from regard.audit.audit_run import audited_model, check_run
from regard.errors import InputError
from regard.facts.audit import FORMAT, AuditFacts
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.report.pages.audit import NAME

ASKED = 5  # texts of the audit that the model is asked again
CLOSE = 1e-3  # how far its probabilities may be from those in the file: another device, another thread


def audit_of(trained: Trained, folder: Path) -> tuple[AuditFacts | None, str]:
    """audit.json, and "" or why it is not shown."""
    try:
        check_run(trained)
    except InputError as error:
        return None, f"No audit: {error}."
    path = folder / "audit" / NAME
    asking = f"regard audit {folder} --data FILE"
    if not path.is_file():
        return None, f"This run was not audited yet; `{asking}` asks whether its attention may be trusted."
    try:
        facts = AuditFacts.from_json(json.loads(path.read_text(encoding="utf-8")))
        is_same = fits(trained, facts)
    except (OSError, ValueError):
        return None, f"{path} cannot be read as an audit; `{asking}` writes it again."
    if not is_same:
        return None, f"{path} is the audit of another model; `{asking}` audits this one."
    return facts, ""


def fits(trained: Trained, facts: AuditFacts) -> bool:
    """The same classes and make, and the same answers to some of the texts that were audited."""
    assert isinstance(trained.task, Classes)
    if facts.format != FORMAT or facts.classes != tuple(trained.task.classes):
        return False
    if facts.model != audited_model(trained):
        return False
    asked = facts.details[:ASKED]
    if not asked:
        return True
    said = np.array([one.probabilities for one in asked], dtype=np.float64)
    return bool(np.abs(trained.answers([one.text for one in asked]) - said).max() < CLOSE)
