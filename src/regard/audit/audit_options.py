"""What to audit and how: the explainers, which diagnostics, how many texts; and whether that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.audit.explanations import FOCUS
from regard.errors import InputError
from regard.explain.explainers import EXPLAINERS, check_can_explain
from regard.faithfulness.random_choice import RANDOM
from regard.models.capabilities import attending
from regard.models.model import Model
from regard.models.tasks import Classes, MultiLabel
from regard.models.trained import Trained

STANDARD = (FOCUS, "gradient", "gradient_times_input", "integrated_gradients", "leave_one_out", "tfidf")
# leave-one-out is not an alternative: it is the measure itself, word by word
RIVALS = ("gradient", "gradient_times_input", "integrated_gradients")
# of a model that is only known by its predictions; the first is what the audit is about
OPAQUE = ("leave_one_out", "surrogate", "sentence_occlusion", "tfidf")
OPAQUE_RIVALS = ("surrogate", "sentence_occlusion")
LIMIT = 1000  # texts
TRAINING = ("even", "seeds", "guided", "trained_adversary", "word_dropout")  # diagnostics that train models
DIAGNOSTICS = ("correlation", "permutation", "adversary", *TRAINING)


@dataclass(frozen=True)
class AuditOptions:
    """What to audit, and how."""

    explainers: Sequence[str] | None = None  # None: STANDARD
    limit: int = LIMIT
    retrain: bool = False  # run the diagnostics that train models, too
    seed: int = 0
    run: str = ""
    data: str = ""
    without: Sequence[str] = ()  # names of diagnostics to leave out


def check_run(trained: Model) -> Classes:
    """The task; an error if there is nothing to audit."""
    if isinstance(trained.task, MultiLabel):
        raise InputError(
            "task: expected one class per text, got several labels, which `regard audit` audits one by one: --target LABEL"
        )
    if not isinstance(trained.task, Classes):
        raise InputError(f"task: expected a classifier, got {trained.task.kind!r}, whose predictions are numbers")
    if isinstance(trained, Trained) and not any(level.attends for level in trained.capabilities):
        raise InputError(
            f"pooling: expected one with attention ({', '.join(attending())}), got {trained.config.model.pooling!r}, which "
            "has no attention to audit; audit(predict, texts, attributions) measures any scores"
        )
    return trained.task


def check_options(options: AuditOptions, trained: Model) -> list[str]:
    """The names of the explainers; the first is the one that the audit is about, attention where there is any."""
    if options.limit < 1:
        raise InputError(f"limit: expected at least 1, got {options.limit}")
    for name in options.without:
        if name not in DIAGNOSTICS:
            raise InputError(f"without: expected diagnostics ({', '.join(DIAGNOSTICS)}), got {name!r}")
    if options.seed < 0:
        raise InputError(f"seed: expected at least 0, got {options.seed}")
    also = ("attention_norm",) if any(level.sharpens for level in trained.capabilities) else ()
    standard = OPAQUE if trained.is_opaque else (*STANDARD, *also)
    names = standard if options.explainers is None else options.explainers
    for name in names:
        if name not in EXPLAINERS:
            raise InputError(f"method: expected one of {', '.join(EXPLAINERS)}, got {name!r}")
        check_can_explain(trained, name)
    return [name for name in dict.fromkeys((standard[0], *names)) if name != RANDOM]
