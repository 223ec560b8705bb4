"""The audit of a run: its explainers, the measures, the diagnostics and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.analysis.analyse import Tokens, find_scores, separation_facts
from regard.analysis.token_names import token_names
from regard.analysis.token_scores import check_scores, lead
from regard.analysis.token_types import token_types
from regard.audit.adversarial_weights import adversary_facts, farthest
from regard.audit.audit import AuditInput, AuditResult, decided, measure
from regard.audit.correlation import correlations
from regard.audit.explanations import FOCUS, Explanations, explain_all, signed_scores
from regard.audit.guided import guided
from regard.audit.intervals import finite
from regard.audit.permutation import permutation_facts, permuted
from regard.audit.retraining import Audited, LazyRetraining
from regard.audit.seed_variance import other_seeds, uniform_weights
from regard.audit.trained_adversary import trained_adversary
from regard.audit.training_texts import training_overlap
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
from regard.models.capabilities import Capabilities, attending
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.recorder import Recorder, Silent
from regard.records import Example
from regard.report.names import audited_name

Ints = NDArray[np.int64]
STANDARD = (FOCUS, "gradient", "gradient_times_input", "integrated_gradients", "leave_one_out", "tfidf")
# leave-one-out is not an alternative: it is the measure itself, word by word
RIVALS = ("gradient", "gradient_times_input", "integrated_gradients")
CORRELATED = ("gradient", "leave_one_out")  # what Jain & Wallace correlate attention with
LIMIT = 1000  # texts
TOP = ("permutation", "adversary", "trained_adversary")  # those that change the weights of the highest level
TRAINING = ("even", "seeds", "guided", "trained_adversary")  # diagnostics that train models
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


Wish = AuditOptions  # its documented name in version 0.1


def audit_run(
    trained: Trained,
    examples: Sequence[Example],
    options: AuditOptions | None = None,
    recorder: Recorder | None = None,
    learned_from: Sequence[Example] | None = None,
) -> AuditResult:
    """Audit a run. Only some measures need labels of the `examples`. `learned_from` replaces the run's training texts."""
    return AuditResult(run_facts(trained, examples, options, recorder, learned_from).to_json())


def run_facts(
    trained: Trained,
    examples: Sequence[Example],
    options: AuditOptions | None = None,
    recorder: Recorder | None = None,
    learned_from: Sequence[Example] | None = None,
) -> AuditFacts:
    options, recorder = options or AuditOptions(), recorder or Silent()
    task = check_run(trained)
    names = check_options(options, trained.capabilities)
    chosen = sample(examples, options, recorder)
    texts = [example.text for example in chosen]
    labels = labels_of(task, chosen, options.data)
    audited = Audited(trained, texts, labels, options.seed, recorder)
    explanations = explain_all(trained, texts, names, options.explainers is not None, recorder)
    recorder.note("predicting texts without their top words, and the top words alone")
    inputs = AuditInput(
        trained.answers,
        texts,
        explanations.scores,
        None if labels is None else labels.tolist(),
        [example.evidence for example in chosen],
        FOCUS,
        seed=options.seed,
        rivals=RIVALS,
        lacking=explanations.lacking,
        signed=signed_scores(trained, texts, explanations),
        default=default_contribution(trained),
    )
    measured = measure(inputs)
    left_out = [*measured.left_out, *(LeftOut(**one) for one in explanations.refused)]
    separation = separation_of(task, audited, left_out)
    retraining = LazyRetraining(audited, learned_from)
    diagnostics = diagnose(audited, retraining, explanations, options, left_out)
    return decided(
        replace(
            measured,
            run=options.run,
            data=options.data,
            classes=tuple(task.classes),
            model=audited_model(trained),
            explainers=audited_explainers(explanations),
            diagnostics=diagnostics,
            separation=separation,
            left_out=tuple(left_out),
            notes=(*measured.notes, *notes(audited, explanations, options, retraining.learned_from)),
        )
    )


def check_run(trained: Trained) -> Classes:
    """The task; an error if there is nothing to audit."""
    if not isinstance(trained.task, Classes):
        raise InputError(f"task: expected a classifier, got {trained.task.kind!r}, whose predictions are numbers")
    if not any(level.attends for level in trained.capabilities):
        raise InputError(
            f"pooling: expected one with attention ({', '.join(attending())}), got {trained.config.model.pooling!r}, which "
            "has no attention to audit; audit(predict, texts, attributions) measures any scores"
        )
    return trained.task


def check_options(options: AuditOptions, levels: Sequence[Capabilities]) -> list[str]:
    """The names of the explainers, attention first."""
    if options.limit < 1:
        raise InputError(f"limit: expected at least 1, got {options.limit}")
    for name in options.without:
        if name not in DIAGNOSTICS:
            raise InputError(f"without: expected diagnostics ({', '.join(DIAGNOSTICS)}), got {name!r}")
    if options.seed < 0:
        raise InputError(f"seed: expected at least 0, got {options.seed}")
    also = ("attention_norm",) if any(level.sharpens for level in levels) else ()
    names = (*STANDARD, *also) if options.explainers is None else options.explainers
    for name in names:
        if name not in EXPLAINERS:
            raise InputError(f"method: expected one of {', '.join(EXPLAINERS)}, got {name!r}")
    return [name for name in dict.fromkeys((FOCUS, *names)) if name != RANDOM]


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
    audited: Audited, explanations: Explanations, options: AuditOptions, learned_from: Sequence[Example] | None
) -> list[str]:
    data = audited.trained.config.data
    sentences = explanations.notes()
    if overlap := training_overlap(data, audited.texts, options.data, learned_from):
        sentences.append(f"{overlap}: the model is more confident on such texts than on others")
    max_words = data.max_words
    if max_words is not None and any(len(one.spans) == max_words for one in explanations.scores[FOCUS]):
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
) -> Diagnostics:
    """Each diagnostic that can be made; the reasons of the others are added to `left_out`."""
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
