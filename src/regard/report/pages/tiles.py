"""The answer at the head of a page: headline numbers with what they mean, and verdicts as coloured badges with a word."""

from __future__ import annotations

from typing import NamedTuple

from regard.facts.audit import AuditFacts
from regard.facts.intervals import Interval
from regard.facts.separation import Separation
from regard.report.names import MAIN, explainer_name
from regard.report.text.characters import one_line
from regard.report.text.intervals import signed
from regard.report.text.numbers import share

TONES = {"faithful": "good", "partial": "fair", "irrelevant": "bad", "misleading": "bad", "inconclusive": "open"}
NUMBERS = 3  # of an audit


class Tile(NamedTuple):
    """A headline number, or a word in a badge, and what it means."""

    name: str
    value: str
    meaning: str
    badge: str = ""  # its tone: good, fair, bad or open


def tone(verdict: str) -> str:
    return TONES.get(verdict, "open")


def verdict_tile(facts: AuditFacts) -> Tile:
    texts = f"the verdict on {facts.texts:,} texts" + (f" of {one_line(facts.data)}" if facts.data else "")
    name = facts.verdict.name
    return Tile(explainer_name(facts.focus), one_line(name), texts, tone(name))


def audit_tiles(facts: AuditFacts) -> list[Tile]:
    """The verdict, and the numbers that it depends on most."""
    compared = [one for one in facts.faithfulness.comparisons if one.measure == MAIN and one.other == "random"]
    lead, permutation = facts.faithfulness.lead, facts.diagnostics.permutation
    shown: list[tuple[str, Interval, str]] = [
        ("lead over random words", one.difference, "extra drop of the probability without its top words")
        for one in compared[:1]
    ]
    if lead is not None:
        meaning = "the same for the best of the other explainers"
        shown.append((f"lead of {explainer_name(lead.best)}", lead.best_lead, meaning))
    if permutation is not None:
        meaning = "how far predictions move if the weights are shuffled"
        shown.append(("effect of the weights", permutation.moved, meaning))
    if facts.separation is not None:
        meaning = "how well scores tell words of a class from neutral words; 0.5 is guessing"
        shown.append(("separation of words (AUC)", facts.separation.area, meaning))
    if facts.plausibility is not None:
        meaning = "average precision for the words that people marked, beyond random words"
        shown.append(("agreement with people", facts.plausibility.above_chance, meaning))
    known = [number_tile(*one) for one in shown if one[1].mean is not None]
    return [verdict_tile(facts), *known[:NUMBERS]]


def number_tile(name: str, one: Interval, meaning: str) -> Tile:
    assert one.mean is not None
    ends = "" if one.low is None or one.high is None else f"; 95 % interval {signed(one.low)} to {signed(one.high)}"
    return Tile(name, signed(one.mean), meaning + ends)


def separation_tile(facts: Separation, unit: str) -> Tile:
    """Whether attention separates the words of a class from neutral ones, as its interval shows."""
    name = f"does attention separate {unit}s of a class from neutral ones?"
    if facts.low is None or facts.high is None:
        return Tile(name, "unknown", f"too few {unit}s", "open")
    ends = f"AUC {share(facts.auc)}, 95 % interval {share(facts.low)} to {share(facts.high)}; 0.5 is guessing"
    if facts.low > 0.5:
        has_reversed = any(one.high is not None and one.high < 0.5 for one in facts.by_type)
        return Tile(name, "mostly", ends, "fair") if has_reversed else Tile(name, "yes", ends, "good")
    return Tile(name, "reversed", ends, "bad") if facts.high < 0.5 else Tile(name, "no", ends, "open")
