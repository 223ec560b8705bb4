"""The verdict in words: which sentences of verdicts.toml hold for the measurements, with their numbers filled in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict

from regard.analysis.interpretation import too_few
from regard.audit.rule import AREA, FEWEST, NEAR, SIGNIFICANT, SMALLEST, Judged, above, below, is_few, is_small, judge
from regard.audit.sentences import (
    around,
    capitalized,
    few,
    focus_of,
    fragment,
    reason,
    sentences,
    too_small,
    weights_of,
)
from regard.facts.audit import AuditedModel, Measurements, Reason, Verdict
from regard.facts.faithfulness import Lead
from regard.facts.intervals import Interval
from regard.report.names import MAIN, explainer_name
from regard.report.text.intervals import percent, span, unsigned_span

OTHER_POOLINGS = ("apln", "bottleneck")  # worth trying if attention fails


def verdict(facts: Measurements) -> Verdict:
    judged = judge(facts)
    all_reasons = reasons(judged)
    may, may_not, change = (
        tuple(one for one in all_reasons if one.kind == kind) for kind in ("may", "may_not", "change")
    )
    return Verdict(judged.name, title(judged), asdict(judged.checks), may, may_not, change)


def reasons(judged: Judged) -> list[Reason]:
    """With too few texts for a verdict, only the ranking and the advice."""
    rules = (*FIRST, *FURTHER, advice) if judged.checks.enough else (ranking, advice)
    return [reason for rule in rules for reason in rule(judged)]


def title(judged: Judged) -> str:
    name = judged.name
    if name == "misleading" and not judged.checks.below_chance:
        name = "neutral"
    elif judged.is_slight:
        name = "slight"
    text: str = sentences()["titles"][name]
    return capitalized(text.format(focus=focus_of(judged.facts)), judged.facts)


def ranking(judged: Judged) -> list[Reason]:
    """What erasing the top words shows."""
    facts, checks = judged.facts, judged.checks
    values = {"focus": focus_of(facts), "falls": falls(judged)}
    if judged.is_slight:
        return [reason(judged, "faithfulness", "may_not", "slight", **values)]
    if judged.name == "inconclusive":
        return [reason(judged, "faithfulness", "may_not", "inconclusive", scarce=scarce(judged), **values)]
    if checks.below_chance:
        return [reason(judged, "faithfulness", "may_not", "below_chance", **values)]
    if not checks.above_chance:
        return [reason(judged, "faithfulness", "may_not", "not_above_chance", **values)]
    return [reason(judged, "faithfulness", "may", judged.name, **values), rival(judged)]


def falls(judged: Judged) -> str:
    compared = judged.against_random
    size, is_less = unsigned_span(compared.difference)
    text = fragment("falls_less" if is_less else "falls_more", size=size)
    if not judged.checks.enough:
        return text
    if compared.holm is not None and compared.holm < SIGNIFICANT:
        return text + too_small(compared.difference)
    return text + (fragment("small", range=around(SMALLEST)) if is_small(compared.difference) else "")


def scarce(judged: Judged) -> str:
    if judged.checks.enough:
        return ""
    count = judged.facts.different
    if count == 1:
        return fragment("one_text", fewest=FEWEST)
    return fragment("few_texts", count=count, fewest=FEWEST)


def rival(judged: Judged) -> Reason:
    lead, checks = judged.facts.faithfulness.lead, judged.checks
    if lead is None:
        difference = span(judged.against_random.difference)
        return reason(judged, "faithfulness", "may_not", "no_rival", lead=difference)
    values = {"leads": leads(lead), "kept": kept(lead), "smallest": SMALLEST}
    if checks.keeps_up is None:
        return reason(judged, "faithfulness", "may_not", "weak_rival", **values)
    if checks.keeps_up:
        return reason(judged, "faithfulness", "may", "keeps_up", **values)
    key = "falls_behind" if checks.falls_behind else "not_keeping_up"
    return reason(judged, "faithfulness", "may_not", key, **values)


def leads(lead: Lead) -> str:
    own, its = span(lead.own_lead), span(lead.best_lead)
    return fragment("leads", own=own, best=explainer_name(lead.best), its=its)


def kept(lead: Lead) -> str:
    return f"{100 * lead.kept:.0f}"


def permutation(judged: Judged) -> list[Reason]:
    """What permuted weights do to the predictions."""
    measured, checks = judged.facts.diagnostics.permutation, judged.checks
    if measured is None:
        return []
    moved = fragment("moved", "permutation", moved=span(measured.moved)) + few(measured.moved)
    values = {
        "weights": weights_of(judged.facts.model),
        "moved": moved,
        "uneven": span(measured.uneven),
        "smallest": SMALLEST,
    }
    if checks.moves:
        return [reason(judged, "permutation", "may", "moves", **values)]
    key = "even" if checks.even else "still" if checks.still else "few" if is_few(measured.moved) else "unclear"
    return [reason(judged, "permutation", "may_not", key, **values)]


def separation(judged: Judged) -> list[Reason]:
    measured = judged.facts.separation
    if measured is None:
        return []
    area = fragment("area", "separation", area=span(measured.area)) + too_small(measured.area, AREA, 0.5)
    if measured.low is None:
        why = too_few(measured.tied, measured.neutral)
        return [reason(judged, "separation", "may_not", "too_few", why=why, area=area)]
    if judged.checks.below_neutral:
        return [reason(judged, "separation", "may_not", "below", area=area)]
    if above(measured.area, 0.5 + AREA):
        return [reason(judged, "separation", "may", "above", area=area)]
    return [reason(judged, "separation", "may_not", "unclear", area=area)]


def adversary(judged: Judged) -> list[Reason]:
    measured = judged.facts.diagnostics.adversary
    if measured is None or measured.far.mean is None:
        return []
    if above(measured.far, 0.5):
        key, weights = "far" if measured.exact else "far_searched", weights_of(judged.facts.model)
        values = {"weights": weights, "share": percent(measured.far), "epsilon": measured.epsilon}
        return [reason(judged, "adversary", "may_not", key, **values)]
    # a search that finds none proves nothing, nor do texts of so few words that no weights at all are far
    possible = measured.far_of_possible
    if possible is not None and below(possible, 0.5) and measured.exact:
        values = {"share": percent(possible), "n": possible.n, "epsilon": measured.epsilon}
        return [reason(judged, "adversary", "may", "near", **values)]
    return []


def seeds(judged: Judged) -> list[Reason]:
    facts = judged.facts
    measured, farthest = facts.diagnostics.seeds, facts.diagnostics.adversary
    if measured is None or farthest is None or farthest.divergence.low is None or facts.model is None:
        return []
    if facts.model.levels > 1 or judged.checks.even:  # words and sentences; uniform weights are alike with any seed
        return []
    values = {"seeds": span(measured.divergence), "adversary": span(farthest.divergence), "largest": math.log(2)}
    distances = fragment("distances", "seeds", **values)
    if below(measured.divergence, farthest.divergence.low / 2) and not is_few(farthest.divergence):
        return [reason(judged, "seeds", "may", "near", distances=distances)]
    return [reason(judged, "seeds", "may_not", "far", distances=distances, few=few(measured.divergence))]


def uniform(judged: Judged) -> list[Reason]:
    measured = judged.facts.diagnostics.even
    if measured is None:
        return []
    shares = {"even": percent(measured.even), "attention": percent(measured.attention)}
    return [use_of_attention(judged, "even", measured.difference, shares)]


def guided(judged: Judged) -> list[Reason]:
    measured = judged.facts.diagnostics.guided
    if measured is None:
        return []
    shares = {"guided": percent(measured.guided), "even": percent(measured.even)}
    return [use_of_attention(judged, "guided", measured.guided_less_even, shares)]


def use_of_attention(judged: Judged, evidence: str, difference: Interval, shares: dict[str, str]) -> Reason:
    """By how much attention makes a model better."""
    accuracies = fragment("accuracies", evidence, difference=span(difference), **shares)
    accuracies += few(difference) + too_small(difference)
    kind, key = ("may", "useful") if above(difference, SMALLEST) else ("may_not", "unclear")
    return reason(judged, evidence, kind, key, accuracies=accuracies)


def trained_adversary(judged: Judged) -> list[Reason]:
    """Only if training found one with a very different attention: that it found none proves nothing."""
    measured = judged.facts.diagnostics.trained_adversary
    near = [] if measured is None else [point for point in measured.points if below(point.distance, NEAR)]
    far = [point for point in near if above(point.divergence, math.log(2) / 2)]
    if not far:
        return []
    best = max(far, key=lambda point: point.divergence.mean or 0.0)
    values = {"factor": best.factor, "distance": span(best.distance), "divergence": span(best.divergence)}
    return [reason(judged, "trained_adversary", "may_not", "far", largest=math.log(2), **values)]


def word_dropout(judged: Judged) -> list[Reason]:
    """Whether a lead over random words, or the lack of one, may be due to erased texts being new to the model."""
    measured = judged.facts.diagnostics.word_dropout
    found = {one.name: one.less_random(MAIN, judged.facts.focus) for one in (measured.judges if measured else ())}
    leads = {name: one for name, one in found.items() if one is not None}
    if not {"audited", "plain", "dropout"} <= set(leads):
        return []
    dropout, beats = leads["dropout"], above(leads["dropout"], SMALLEST)
    differences = fragment("differences", "word_dropout", **{name: span(one) for name, one in leads.items()})
    differences += few(dropout) + too_small(dropout)
    if not judged.checks.above_chance:
        return [reason(judged, "word_dropout", "may_not", "hidden", differences=differences)] if beats else []
    if beats:
        return [reason(judged, "word_dropout", "may", "beats", differences=differences)]
    key = "artefact" if above(leads["plain"], SMALLEST) else "unconfirmed"
    return [reason(judged, "word_dropout", "may_not", key, differences=differences)]


def plausibility(judged: Judged) -> list[Reason]:
    measured = judged.facts.plausibility
    if measured is None:
        return []
    lead = measured.above_chance
    size, is_less = unsigned_span(lead)
    precision = fragment("below" if is_less else "above", "plausibility", size=size, texts=measured.texts)
    precision += few(lead) + too_small(lead)
    kind, key = ("may", "above") if above(lead, SMALLEST) else ("may_not", "unclear")
    return [reason(judged, "plausibility", kind, key, precision=precision)]


def advice(judged: Judged) -> list[Reason]:
    """What to try; another audit shows whether it helps."""
    facts, lead = judged.facts, judged.facts.faithfulness.lead
    values = {"texts": facts.texts, "different": facts.different, "difference": span(judged.against_random.difference)}
    if judged.name == "inconclusive" and not judged.is_slight:
        has_copies = not judged.checks.enough and facts.different < facts.texts
        key = "more_different_texts" if has_copies else "more_texts"
        return [reason(judged, "faithfulness", "change", key, **values)]
    if judged.name == "faithful":
        return [reason(judged, "faithfulness", "change", "nothing", **values)]
    advised = []
    if judged.checks.keeps_up is False and lead is not None:
        best = {"best": explainer_name(lead.best), "method": lead.best, "lead": span(lead.best_lead)}
        key = "show_best" if facts.model is None else "show_method"  # no command shows scores from elsewhere
        advised.append(reason(judged, "faithfulness", "change", key, **best))
    return advised if facts.model is None else [*advised, *advice_for(judged, facts.model)]


def advice_for(judged: Judged, model: AuditedModel) -> list[Reason]:
    advised: list[Reason] = []
    permuted = judged.facts.diagnostics.permutation
    if judged.name in ("irrelevant", "misleading"):
        key, uneven = ("scale", "") if permuted is None else ("scale_and_weights", span(permuted.uneven))
        advised.append(reason(judged, "model", "change", key, scale=model.scale, uneven=uneven))
    has_v = model.attention == "dot" and model.pooling.endswith("attention")
    if judged.name == "misleading" and has_v and not model.head_hidden:  # and W
        difference = span(judged.against_random.difference)
        advised.append(reason(judged, "model", "change", "vtw", difference=difference))
    others = [pooling for pooling in OTHER_POOLINGS if pooling not in model.pooling]
    if others:
        values = {"others": " or ".join(others), "pooling": model.pooling, "texts": judged.facts.texts}
        advised.append(reason(judged, "model", "change", "pooling", **values))
    return advised


FIRST: tuple[Callable[[Judged], list[Reason]], ...] = (ranking, permutation, separation)
FURTHER: tuple[Callable[[Judged], list[Reason]], ...] = (
    adversary,
    seeds,
    uniform,
    guided,
    trained_adversary,
    word_dropout,
    plausibility,
)
