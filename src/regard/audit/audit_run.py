"""The audit of a run: its explainers, the measures, the diagnostics and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.analysis.analyse import Tokens, find_scores, separation_facts
from regard.analysis.token_names import token_names
from regard.analysis.token_scores import check_scores, lead
from regard.analysis.token_types import token_types
from regard.audit.adversarial_weights import adversary_facts, farthest
from regard.audit.audit import AuditInput, AuditResult, decided, measure
from regard.audit.audit_options import (
    DIAGNOSTICS,
    OPAQUE_RIVALS,
    RIVALS,
    TRAINING,
    AuditOptions,
    check_options,
    check_run,
)
from regard.audit.correlation import correlations
from regard.audit.explanations import FOCUS, Explanations, explain_all, signed_scores
from regard.audit.guided import guided
from regard.audit.intervals import finite
from regard.audit.permutation import permutation_facts, permuted
from regard.audit.retraining import Audited, LazyRetraining
from regard.audit.seed_variance import other_seeds, uniform_weights
from regard.audit.trained_adversary import trained_adversary
from regard.audit.training_texts import training_overlap
from regard.audit.word_dropout import word_dropout
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.explain.explainers import EXPLAINERS, default_contribution
from regard.explain.reading import read
from regard.explain.word_scores import Attributed
from regard.facts.audit import (
    AuditedExplainer,
    AuditedModel,
    AuditFacts,
    Correlation,
    Diagnostics,
    LeftOut,
)
from regard.facts.separation import Separation
from regard.faithfulness.random_choice import RANDOM
from regard.faithfulness.scored import Scored
from regard.models.model import Model
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.recorder import Recorder, Silent
from regard.records import Example
from regard.report.names import audited_name

Ints = NDArray[np.int64]
NO_INSIDE = "only predictions of this model are available: it has no attention weights to examine"
CORRELATED = ("gradient", "leave_one_out")  # what Jain & Wallace correlate attention with
TOP = ("permutation", "adversary", "trained_adversary")  # those that change the weights of the highest level

Wish = AuditOptions  # its documented name in version 0.1


def audit_run(
    trained: Model,
    examples: Sequence[Example],
    options: AuditOptions | None = None,
    recorder: Recorder | None = None,
    learned_from: Sequence[Example] | None = None,
) -> AuditResult:
    """Audit a run. Only some measures need labels of the `examples`. `learned_from` replaces the run's training texts."""
    return AuditResult(run_facts(trained, examples, options, recorder, learned_from).to_json())


def run_facts(
    trained: Model,
    examples: Sequence[Example],
    options: AuditOptions | None = None,
    recorder: Recorder | None = None,
    learned_from: Sequence[Example] | None = None,
) -> AuditFacts:
    options, recorder = options or AuditOptions(), recorder or Silent()
    task = check_run(trained)
    names = check_options(options, trained)
    chosen = sample(examples, options, recorder)
    texts = [example.text for example in chosen]
    labels = labels_of(task, chosen, options.data)
    explanations = explain_all(trained, texts, names, options.explainers is not None, recorder)
    recorder.note("predicting texts without their top words, and the top words alone")
    measured = measure(audit_input(trained, chosen, labels, explanations, options))
    left_out = [*measured.left_out, *(LeftOut(**one) for one in explanations.refused)]
    separation, diagnostics = None, Diagnostics()
    if isinstance(trained, Trained):
        audited = Audited(trained, texts, labels, options.seed, recorder)
        separation = separation_of(task, audited, left_out)
        retraining = LazyRetraining(audited, learned_from)
        best = measured.faithfulness.lead
        diagnostics = diagnose(
            audited, retraining, explanations, options, left_out, None if best is None else best.best
        )
        learned_from = retraining.learned_from
    else:
        left_out += [LeftOut(name, NO_INSIDE) for name in ("separation", *DIAGNOSTICS)]
    return decided(
        replace(
            measured,
            run=options.run,
            data=options.data,
            classes=tuple(task.classes),
            model=audited_model(trained) if isinstance(trained, Trained) else None,
            explainers=audited_explainers(explanations),
            diagnostics=diagnostics,
            separation=separation,
            left_out=tuple(left_out),
            notes=(*measured.notes, *notes(trained, texts, explanations, options, learned_from)),
        )
    )


def audit_input(
    trained: Model,
    chosen: Sequence[Example],
    labels: Ints | None,
    explanations: Explanations,
    options: AuditOptions,
) -> AuditInput:
    texts = [example.text for example in chosen]
    return AuditInput(
        trained.answers,
        texts,
        explanations.scores,
        None if labels is None else labels.tolist(),
        [example.evidence for example in chosen],
        explanations.focus,
        seed=options.seed,
        rivals=OPAQUE_RIVALS if trained.is_opaque else RIVALS,
        lacking=explanations.lacking,
        signed=signed_scores(trained, texts, explanations),
        default=default_contribution(trained),
    )


def sample(examples: Sequence[Example], options: AuditOptions, recorder: Recorder) -> list[Example]:
    """A random sample, in the order of the file, which may be sorted by label."""
    if not examples:
        raise InputError(f"{options.data or 'texts'}: expected at least one text, got none")
    if len(examples) <= options.limit:
        return list(examples)
    recorder.note(f"{options.limit} of {len(examples)} texts, chosen at random; --limit sets how many")
    rows = np.random.default_rng(options.seed).choice(len(examples), options.limit, replace=False)
    return [examples[row] for row in np.sort(rows).tolist()]


def labels_of(task: Classes, examples: Sequence[Example], where: str) -> Ints | None:
    """None if a text has no label."""
    if any(example.label is None for example in examples):
        return None
    return np.array([task.encode(x.label, f"{where or 'texts'}, row {x.row}") for x in examples], dtype=np.int64)


def audited_model(trained: Trained) -> AuditedModel:
    model = trained.config.model.filled()
    return AuditedModel(model.encoder, model.pooling, model.levels, model.attention, model.scale, model.head_hidden)


def audited_explainers(explanations: Explanations) -> tuple[AuditedExplainer, ...]:
    explainers = (audited_explainer(name, explanations.complete(name)) for name in explanations.scores)
    return (*explainers, AuditedExplainer(RANDOM, control=True))


def audited_explainer(name: str, scores: Sequence[Attributed]) -> AuditedExplainer:
    """Its cost is in passes over a text, on average: seconds would differ from run to run."""
    forward, backward = (finite(float(np.mean([one.cost[what] for one in scores]))) for what in ("forward", "backward"))
    return AuditedExplainer(name, EXPLAINERS[name].signed, EXPLAINERS[name].is_control, forward, backward)


def separation_of(task: Classes, audited: Audited, left_out: list[LeftOut]) -> Separation | None:
    """Sun & Lu: attention scores of words of a class against those of neutral words, in the audited texts."""
    trained, texts, labels = audited.trained, audited.texts, audited.labels
    try:
        if labels is None:
            raise InputError("not every text has a label")
        check_scores(trained.config.model)
        units = UnitTexts.of(trained.tokenizer, texts, labels.astype(np.float64))
        types = token_types(units, len(trained.tokenizer), task.classes)
        scores, _ = find_scores(trained, units, texts, True)
        facts = separation_facts(Tokens(token_names(trained.tokenizer), types, scores, lead(scores.polarity)))
        if facts is None:
            raise InputError("no word is typical of one class, or none is neutral")
    except InputError as error:
        left_out.append(LeftOut("separation", str(error)))
        return None
    return facts


def notes(
    trained: Model,
    texts: Sequence[str],
    explanations: Explanations,
    options: AuditOptions,
    learned_from: Sequence[Example] | None,
) -> list[str]:
    data = trained.data
    sentences = explanations.notes()
    if trained.is_opaque:
        sentences.append(
            "only predictions of this model are available, so the audit is about leave-one-out, which resembles the measure "
            "itself: it should lead; by how much others follow shows whether cheaper ones will do"
        )
    if overlap := training_overlap(trained, texts, options.data, learned_from):
        sentences.append(f"{overlap}: the model is more confident on such texts than on others")
    max_words = data.max_words
    if max_words is not None and any(len(one.spans) == max_words for one in explanations.scores[explanations.focus]):
        sentences.append(
            f"some texts have {max_words} words or more, and the model reads only the first {max_words}: when words are removed, "
            "it reads later ones"
        )
    return sentences


def diagnose(
    audited: Audited,
    retraining: LazyRetraining,
    explanations: Explanations,
    options: AuditOptions,
    left_out: list[LeftOut],
    best: str | None,
) -> Diagnostics:
    """Each diagnostic that can be made; the reasons of the others are added to `left_out`. `best`: the best alternative"""
    trained, seed = audited.trained, audited.seed
    correlated_with = [name for name in CORRELATED if name in explanations.scores]
    readings = read(trained, audited.texts)
    steps: dict[str, Callable[[], object]] = {
        "correlation": lambda: correlated(explanations, correlated_with, seed),
        "permutation": lambda: permutation_facts(permuted(trained, readings, seed), seed),
        "adversary": lambda: adversary_facts(farthest(trained, readings, seed), seed),
        "even": lambda: uniform_weights(audited, retraining.setup, retraining.first),
        "seeds": lambda: other_seeds(audited, retraining.setup, retraining.first),
        "guided": lambda: guided(audited, retraining.setup),
        "trained_adversary": lambda: trained_adversary(audited, retraining.setup),
        "word_dropout": lambda: word_dropout(audited, retraining.setup, retraining.first, explanations, best),
    }
    results: dict[str, Any] = {}
    for name, step in steps.items():
        try:
            check_diagnostic(name, trained, options, bool(correlated_with))
            audited.recorder.note(audited_name(name))
            results[name] = step()
        except InputError as error:
            left_out.append(LeftOut(name, str(error)))
    return Diagnostics(**results)


def correlated(explanations: Explanations, names: Sequence[str], seed: int) -> dict[str, Correlation]:
    """Of attention with each, over the texts that it has scores for."""
    facts: dict[str, Correlation] = {}
    for name in names:
        attention, other = (
            [Scored(*one.scored()) for one in explanations.complete(who, name)] for who in (FOCUS, name)
        )
        facts |= correlations(attention, {name: other}, seed)
    return facts


def check_diagnostic(name: str, trained: Trained, options: AuditOptions, can_correlate: bool) -> None:
    """Refuse a diagnostic that is not wanted or not possible."""
    if name in options.without:
        raise InputError("left out as requested")
    if name == "correlation" and not can_correlate:
        raise InputError(f"neither {' nor '.join(CORRELATED)} is among the explainers")
    if name in TOP and not trained.capabilities[-1].attends:
        raise InputError(f"pooling = {trained.config.model.pooling!r}: the highest level has no attention")
    if name in TRAINING and not options.retrain:
        raise InputError("it trains models; --retrain includes it")
    if name in TRAINING and trained.config.model.reads_pieces:
        raise InputError("training a pretrained encoder again would take too long")
