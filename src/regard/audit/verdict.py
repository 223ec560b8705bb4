"""The verdict: what attention may be read as for this model on these texts, by a table over intervals.

It looks at nothing but what audit.json holds. A check is true only where a whole 95 % interval, of FEWEST texts or more,
says so, and a difference counts only where it is larger than what matters; a check that could not be made is None. The first
row of TABLE whose checks all are as it wants gives the verdict, so that the order of rows is part of the rule. docs/audit.md has
the same table in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from regard.analysis.meaning import too_few
from regard.models.capabilities import capabilities
from regard.report.names import MAIN, explainer_name

Found = Mapping[str, Any]
Checks = Mapping[str, bool | None]
Sentence = dict[str, str]

FEWEST = 30  # texts that differ; the percentiles of fewer are too narrow to be believed
SIGNIFICANT = 0.05  # of p after Holm's correction
# a difference that matters is larger, be it in probability (total variation of answers, too), accuracy or average precision:
# as near as that, the adversary's weights already count as giving the same answer
SMALLEST = 0.01
AREA = 0.05  # the same of an area under the ROC curve, from 0.5: of twenty pairs of words one more stands the right way round
NEAR = 0.05  # total variation distance of answers, below which a trained adversary answers alike
EVEN = 0.05  # total variation distance of weights from even ones, below which they hardly vary

# in order; None stands for whatever it may be by not being named
TABLE: tuple[tuple[str, dict[str, bool]], ...] = (
    ("inconclusive", {"enough": False}),
    ("irrelevant", {"still": True, "all_weights": True}),
    ("irrelevant", {"even": True, "moves": False, "all_weights": True}),
    ("misleading", {"below_chance": True}),
    ("misleading", {"below_neutral": True, "above_chance": False}),
    ("faithful", {"above_chance": True, "keeps_up": True, "moves": True}),
    ("faithful", {"above_chance": True, "keeps_up": True, "inside": False}),
    ("partial", {"above_chance": True}),
    ("inconclusive", {}),
)
TITLES = {
    "faithful": "{focus} points at the words that decide",
    "partial": "{focus} points at words that matter, with reservations",
    "irrelevant": "{focus} has little to do with the answers",
    "misleading": "{focus} points away from the words that decide",
    "inconclusive": "these texts do not tell",
}
SLIGHT = "{focus} points at words that matter hardly more than others"  # inconclusive, though not for want of texts
NEUTRAL = "{focus} stands on neutral words rather than on words of a class"  # misleading, as far as separation shows it


def verdict(found: Found) -> dict[str, Any]:
    own = checks(found)
    name = next(name for name, wants in TABLE if all(own[check] is wish for check, wish in wants.items()))
    focus = explainer_name(found["focus"])
    asked = (*FIRST, *FURTHER, advise) if own["enough"] else (rank_sentences, advise)
    sentences = [sentence for say in asked for sentence in say(name, own, found)]
    special = (
        NEUTRAL if name == "misleading" and not own["below_chance"] else SLIGHT if is_slight(name, own, found) else ""
    )
    title = (special or TITLES[name]).format(focus=focus)
    return {
        "name": name,
        "title": begun(title, found),
        "checks": own,
        **{
            kind: [{**one, "text": begun(one["text"], found)} for one in sentences if one["kind"] == kind]
            for kind in ("may", "may_not", "change")
        },
    }


def begun(text: str, found: Found) -> str:
    """With a capital, but for a name that somebody gave to scores of their own."""
    named = found["model"] is None and text.startswith(explainer_name(found["focus"]))
    return text if named else text[0].upper() + text[1:]


def checks(found: Found) -> dict[str, bool | None]:
    chance = versus(found, "random")
    margin = found["faithfulness"]["lead"]
    # a rival that hardly finds more than chance does is nothing to keep up with
    contrast = margin["contrast"] if margin is not None and above(margin["best_lead"], SMALLEST) else None
    permuted = found["diagnostics"].get("permutation")
    area = found["separation"]
    sure = is_sure(chance)
    return {
        "inside": found["model"] is not None,
        "enough": found["different"] >= FEWEST,
        "above_chance": sure and above(chance, SMALLEST),
        "below_chance": sure and below(chance, -SMALLEST),
        "keeps_up": None if contrast is None else above(contrast, 0, level=True),
        "falls_behind": None if contrast is None else below(contrast, 0),
        "all_weights": None if permuted is None else permutes_all(found["model"]),
        "moves": None if permuted is None else above(permuted["moved"], SMALLEST),
        "still": None if permuted is None else below(permuted["moved"], SMALLEST),
        "even": None if permuted is None else below(permuted["uneven"], EVEN),
        "below_neutral": None if area is None or area["low"] is None else below(area, 0.5 - AREA),
    }


def above(one: Found, edge: float, level: bool = False) -> bool:
    """Whether the whole interval lies above; without an interval, or of few texts, it cannot be said to."""
    low = one["low"]
    return low is not None and not is_few(one) and (low >= edge if level else low > edge)


def below(one: Found, edge: float) -> bool:
    high = one["high"]
    return high is not None and not is_few(one) and high < edge


def is_sure(one: Found) -> bool:
    return one["holm"] is not None and one["holm"] < SIGNIFICANT


def is_small(one: Found, edge: float = SMALLEST, about: float = 0.0) -> bool:
    """Whether the whole interval lies so near that what it is of does not matter."""
    return above(one, about - edge) and below(one, about + edge)


def is_slight(name: str, own: Checks, found: Found) -> bool:
    """Whether it is known to find hardly more than chance does, or less: no more texts are needed to tell."""
    return name == "inconclusive" and own["enough"] is True and is_small(versus(found, "random"))


def is_few(one: Found) -> bool:
    """An area under a curve is of words, and has an interval of its own kind."""
    return "n" in one and one["n"] < FEWEST


def permutes_all(model: Found) -> bool:
    """Whether the weights that are permuted, of the highest level, are all that there are."""
    return not any(level.attends for level in capabilities(model["pooling"], model["levels"])[:-1])


def weights_of(model: Found | None) -> str:
    """What it is that other weights were put in the place of."""
    levels = 1 if model is None else model["levels"]
    return ("the weights", "the weights of sentences", "the weights of parts")[levels - 1]


def versus(found: Found, other: str) -> Found:
    rows: list[Found] = found["faithfulness"]["comparisons"]
    return next(one for one in rows if one["measure"] == MAIN and one["other"] == other)


def rank_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    """What erasing the top words says."""
    focus, chance, margin = explainer_name(found["focus"]), versus(found, "random"), found["faithfulness"]["lead"]
    falls = (
        f"without its top words the probability of the decision falls by {sized(chance, 'more', 'less')} than without "
        "words by chance"
    )
    if own["enough"]:
        small = f", which is too small to matter (less than {SMALLEST:g})" if is_small(chance) else ""
        falls += too_small(chance) if is_sure(chance) else small
    if is_slight(name, own, found):
        return [
            sentence("may_not", f"{focus} may not be read as a ranking of words that matter: {falls}.", "faithfulness")
        ]
    if name == "inconclusive":
        texts = "1 different text is" if found["different"] == 1 else f"{found['different']} different texts are"
        scarce = "" if own["enough"] else f"{texts} fewer than the {FEWEST} that it takes; "
        return [sentence("may_not", f"{focus} may not be read either way yet: {scarce}{falls}.", "faithfulness")]
    if own["below_chance"]:
        less = f"{focus} may not be read as importance: {falls}."
        return [sentence("may_not", less, "faithfulness")]
    if not own["above_chance"]:
        unknown = f"That the order of {focus} finds words that matter is not shown: {falls}."
        return [sentence("may_not", unknown, "faithfulness")]
    strength = {
        "faithful": "as a ranking of the words that the model decides by",
        "irrelevant": "by its order alone, not by its sizes",
    }
    how = strength.get(name, "as a hint at words that matter")
    said = [sentence("may", f"{focus} may be read {how}: {falls}.", "faithfulness")]
    return [*said, rival_sentence(own, chance, margin)]


def rival_sentence(own: Checks, chance: Found, margin: Found | None) -> Sentence:
    if margin is None:
        alone = f"It was held against chance alone, and against no rival: its lead is {span(chance)}."
        return sentence("may_not", alone, "faithfulness")
    best = explainer_name(margin["best"])
    leads = (
        f"its lead over chance is {span(margin['own_lead'])}, that of {best} {span(margin['best_lead'])}, and "
        f"its own less {100 * margin['kept']:.0f} % of the other is {span(margin['contrast'])}"
    )
    if own["keeps_up"] is None:
        weak = f"It was held against nothing that is sure to beat chance by more than {SMALLEST:g}"
        return sentence("may_not", f"{weak}: {leads}.", "faithfulness")
    if own["keeps_up"]:
        begun = f"It keeps at least {100 * margin['kept']:.0f} % of the lead of its best rival"
        return sentence("may", f"{begun}: {leads}.", "faithfulness")
    if own["falls_behind"]:
        return sentence("may_not", f"It may not be read as the words that matter most: {leads}.", "faithfulness")
    return sentence("may_not", f"It is not shown to keep up with its best rival: {leads}.", "faithfulness")


def weight_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    """What other weights do to the answers."""
    permuted = found["diagnostics"].get("permutation")
    if permuted is None:
        return []
    said = f"permuting them moves answers by {span(permuted['moved'])} in total variation{few(permuted['moved'])}"
    weights = weights_of(found["model"])
    if own["moves"]:
        return [sentence("may", f"{weights} take part in the answer: {said}.", "permutation")]
    if own["still"] or own["even"]:
        vary = f", and they lie {span(permuted['uneven'])} from even ones" if own["even"] else ""
        begun = f"The sizes of {weights} may not be read as what made the answer"
        return [sentence("may_not", f"{begun}: {said}{vary}.", "permutation")]
    begun = f"That {weights} take part in the answer is not shown"
    edge = "" if few(permuted["moved"]) else f", not clearly above {SMALLEST:g}"
    return [sentence("may_not", f"{begun}: {said}{edge}.", "permutation")]


def separation_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    one = found["separation"]
    if one is None:
        return []
    area = f"the area under the ROC curve is {span({**one, 'mean': one['auc']})}{too_small(one, AREA, 0.5)}"
    if one["low"] is None:
        begun = "Whether scores tell words of a class from neutral words cannot be said"
        why = too_few(one["tied"], one["neutral"])
        return [sentence("may_not", f"{begun}: {why}; {area}.", "separation")]
    if own["below_neutral"]:
        begun = "High scores may not be read as words of a class: those stand below neutral words"
        return [sentence("may_not", f"{begun}; {area}.", "separation")]
    if above(one, 0.5 + AREA):
        return [sentence("may", f"Scores tell words of a class from neutral words; {area}.", "separation")]
    begun = "Scores are not shown to tell words of a class from neutral words"
    return [sentence("may_not", f"{begun}; {area}.", "separation")]


def adversary_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    one = found["diagnostics"].get("adversary")
    if one is None or one["far"]["mean"] is None:
        return []
    share = (
        f"for {percent(one['far'])} of the texts other weights, more than half as far away as can be, give the same "
        f"answer within {one['epsilon']:g}"
    )
    if above(one["far"], 0.5):
        unseen = "" if one["exact"] else " (as far as a search found)"
        begun = f"{weights_of(found['model'])} may not be read as the only ones that explain the answer"
        return [sentence("may_not", f"{begun}: {share}{unseen}.", "adversary")]
    # a search that finds none proves nothing, nor do texts of so few places that no weights at all are far
    if below(one["far_of_possible"], 0.5) and one["exact"]:
        begun = "For most texts that have far weights at all, none of these gives the same answer"
        of_these = f"{percent(one['far_of_possible'])} of {one['far_of_possible']['n']} texts have one within"
        return [sentence("may", f"{begun}: {of_these} {one['epsilon']:g}.", "adversary")]
    return []


def seed_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    one, adversary = found["diagnostics"].get("seeds"), found["diagnostics"].get("adversary")
    if one is None or adversary is None or adversary["divergence"]["low"] is None:
        return []
    if found["model"]["levels"] > 1 or own["even"]:  # of words, and of sentences; even weights are alike with any seed
        return []
    said = (
        f"attention of other seeds lies {span(one['divergence'])} from the first one's in Jensen–Shannon divergence, the "
        f"farthest weights with the same answer lie {span(adversary['divergence'])} away, and {math.log(2):.3f} is the most"
    )
    if below(one["divergence"], adversary["divergence"]["low"] / 2) and not is_few(adversary["divergence"]):
        return [sentence("may", f"Other seeds find an attention much nearer than adversaries do: {said}.", "seeds")]
    begun = "The attention of a single run may not be read as that of the task"
    return [sentence("may_not", f"{begun}: {said}{few(one['divergence'])}.", "seeds")]


def even_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    one = found["diagnostics"].get("even")
    if one is None:
        return []
    said = (
        f"trained again with even weights the model is right on {percent(one['even'])} of the texts, with attention on "
        f"{percent(one['attention'])}; the difference is {span(one['difference'])}{few(one['difference'])}"
        f"{too_small(one['difference'])}"
    )
    if above(one["difference"], SMALLEST):
        return [sentence("may", f"The task has a use for attention: {said}.", "even")]
    return [sentence("may_not", f"That the task has a use for attention is not shown: {said}.", "even")]


def guided_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    one = found["diagnostics"].get("guided")
    if one is None:
        return []
    said = (
        f"a model without contexts is right on {percent(one['guided'])} of the texts with this attention and on "
        f"{percent(one['even'])} with even weights; the difference is {span(one['guided_less_even'])}"
        f"{few(one['guided_less_even'])}{too_small(one['guided_less_even'])}"
    )
    if above(one["guided_less_even"], SMALLEST):
        return [sentence("may", f"Attention knows something of the task beyond this model: {said}.", "guided")]
    return [sentence("may_not", f"That attention helps another model is not shown: {said}.", "guided")]


def trained_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    """Only where one was found that looks far elsewhere: that training found none proves nothing."""
    one = found["diagnostics"].get("trained_adversary")
    near = [] if one is None else [point for point in one["points"] if below(point["distance"], NEAR)]
    far = [point for point in near if above(point["divergence"], math.log(2) / 2)]
    if not far:
        return []
    best = max(far, key=lambda point: float(point["divergence"]["mean"]))
    said = (
        f"trained to look elsewhere (λ = {best['factor']:g}), it answers within {span(best['distance'])} of this one, with "
        f"attention {span(best['divergence'])} away in Jensen–Shannon divergence, {math.log(2):.3f} being the most"
    )
    return [sentence("may_not", f"Another model explains the same answers otherwise: {said}.", "trained_adversary")]


def plausible_sentences(name: str, own: Checks, found: Found) -> list[Sentence]:
    one = found["plausibility"]
    if one is None:
        return []
    lead = one["above_chance"]
    said = f"average precision is {sized(lead, 'above', 'below')} chance in {one['texts']} texts{few(lead)}{too_small(lead)}"
    if above(lead, SMALLEST):
        return [sentence("may", f"It agrees with the words that people marked: {said}.", "plausibility")]
    return [sentence("may_not", f"It is not shown to agree with the words that people marked: {said}.", "plausibility")]


def advise(name: str, own: Checks, found: Found) -> list[Sentence]:
    """What to try; whether it helps, another audit says."""
    model, texts, margin = found["model"], found["texts"], found["faithfulness"]["lead"]
    if name == "inconclusive" and not is_slight(name, own, found):
        few_differ = not own["enough"] and found["different"] < texts
        over = f" that differ: over {texts}, of which {found['different']} do," if few_differ else f": over {texts}"
        more = f"Give more texts{over} the difference to chance is {span(versus(found, 'random'))}."
        return [sentence("change", more, "faithfulness")]
    if name == "faithful":
        nothing = f"Nothing needs to change by these {texts} texts; audit again for other texts, and for a new run."
        return [sentence("change", nothing, "faithfulness")]
    said = []
    if own["keeps_up"] is False:
        beside = (
            f"Show {explainer_name(margin['best'])} beside it: its lead over chance is {span(margin['best_lead'])}."
        )
        said.append(sentence("change", beside, "faithfulness"))
    return said if model is None else [*said, *advise_model(name, model, found)]


def advise_model(name: str, model: Found, found: Found) -> list[Sentence]:
    said, permuted = [], found["diagnostics"].get("permutation")
    if name in ("irrelevant", "misleading"):
        behind = "" if permuted is None else f"; weights lie {span(permuted['uneven'])} from even ones now"
        said.append(
            f"Try a smaller λ (--scale, now {model['scale']:g}), with which scores part the words more{behind}."
        )
    has_v = model["attention"] == "dot" and model["pooling"].endswith("attention")
    if name == "misleading" and has_v and not model["head_hidden"]:  # and W
        said.append(
            "Try a penalty on VᵀW (--vtw), which holds attention and the last layer apart; the fall beyond chance is "
            f"{span(versus(found, 'random'))} now."
        )
    others = [pooling for pooling in ("apln", "bottleneck") if pooling not in model["pooling"]]
    if others:
        said.append(
            f"Try another pooling (--pooling {' or '.join(others)}, now {model['pooling']}), and audit it on the same "
            f"{found['texts']} texts."
        )
    return [sentence("change", one, "model") for one in said]


FIRST: tuple[Callable[[str, Checks, Found], list[Sentence]], ...] = (
    rank_sentences,
    weight_sentences,
    separation_sentences,
)
FURTHER: tuple[Callable[[str, Checks, Found], list[Sentence]], ...] = (
    adversary_sentences,
    seed_sentences,
    even_sentences,
    guided_sentences,
    trained_sentences,
    plausible_sentences,
)


def sentence(kind: str, text: str, evidence: str) -> Sentence:
    """`evidence` is the part of audit.json that the numbers come from."""
    return {"kind": kind, "text": text, "evidence": evidence}


def span(one: Found) -> str:
    if one["mean"] is None:
        return "unknown"
    told = f"{one['mean']:z.3f}" + ("" if one["low"] is None else f" ({one['low']:z.3f} to {one['high']:z.3f})")
    return told.replace("-", "−")


def sized(one: Found, more: str, less: str) -> str:
    """A difference and the word for its sign, which the number then has no more."""
    if one["mean"] is None or round(one["mean"], 3) >= 0:
        return f"{span(one)} {more}"
    low, high = (None if one[end] is None else -one[end] for end in ("high", "low"))
    return f"{span({'mean': -one['mean'], 'low': low, 'high': high})} {less}"


def few(one: Found) -> str:
    """Why an interval is not believed, where that is so."""
    return f" ({one['n']} of the texts have it, fewer than the {FEWEST} that it takes)" if is_few(one) else ""


def too_small(one: Found, edge: float = SMALLEST, about: float = 0.0) -> str:
    """Why a difference that is sure doesn't count, where that is so."""
    sure, large = (above(one, about + by) or below(one, about - by) for by in (0.0, edge))
    if large or not sure:
        return ""
    size = f"within {edge:g} of {about:g}" if about else f"less than {edge:g}"
    return f", which is sure but {'' if is_small(one, edge, about) else 'may be '}too small to matter ({size})"


def percent(one: Found) -> str:
    if one["mean"] is None:
        return "an unknown share"
    mean, low, high = (f"{100 * (one[end] or 0):.1f} %" for end in ("mean", "low", "high"))
    return mean if one["low"] is None else f"{mean} ({low} to {high})"
