"""The rule behind a verdict: what attention may be read as for this model on these texts, by a table over intervals.

It uses only the measurements that audit.json holds. A check is true only if a whole 95 % interval, over at least FEWEST
texts, shows it, and a difference counts only if it is large enough to matter; a check that could not be made is
None. The first row of TABLE whose checks all have the wanted values gives the verdict, so the order of the rows is part of
the rule. docs/audit.md has the same table in words; verdicts.toml has the sentences.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.facts.audit import Measurements
from regard.facts.faithfulness import Comparison
from regard.facts.intervals import Interval
from regard.models.capabilities import capabilities
from regard.report.names import MAIN

FEWEST = 30  # distinct texts; percentiles of fewer give intervals that are too narrow
SIGNIFICANT = 0.05  # of p after Holm's correction
# a difference that matters is larger, in probability (or total variation of predictions), accuracy or average precision:
# within that distance an adversary's weights already count as giving the same prediction
SMALLEST = 0.01
# the same for an area under the ROC curve, from 0.5: one pair of words in twenty more is in the right order
AREA = 0.05
NEAR = 0.05  # total variation distance below which a trained adversary makes the same predictions
EVEN = 0.05  # total variation distance of weights from uniform ones below which they hardly vary

# in order; a check that is not named may have any value
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


@dataclass(frozen=True)
class Checks:
    """None: the check could not be made."""

    inside: bool
    enough: bool
    above_chance: bool
    below_chance: bool
    keeps_up: bool | None
    falls_behind: bool | None
    all_weights: bool | None
    moves: bool | None
    still: bool | None
    even: bool | None
    below_neutral: bool | None


@dataclass(frozen=True)
class Judged:
    """The measurements with the checks and the name of the verdict."""

    facts: Measurements
    checks: Checks
    name: str

    @property
    def against_random(self) -> Comparison:
        return against_random(self.facts)

    @property
    def is_slight(self) -> bool:
        """Whether the top words certainly matter hardly more than random ones, so that more texts would not help."""
        return self.name == "inconclusive" and self.checks.enough and is_small(self.against_random.difference)


def judge(facts: Measurements) -> Judged:
    checks = make_checks(facts)
    return Judged(facts, checks, name_of(checks))


def name_of(checks: Checks) -> str:
    return next(name for name, wanted in TABLE if all(getattr(checks, one) is value for one, value in wanted.items()))


def make_checks(facts: Measurements) -> Checks:
    compared = against_random(facts)
    is_significant = compared.holm is not None and compared.holm < SIGNIFICANT
    lead, area, permuted = facts.faithfulness.lead, facts.separation, facts.diagnostics.permutation
    # an alternative that is hardly better than random words is not worth comparing with
    contrast = lead.contrast if lead is not None and above(lead.best_lead, SMALLEST) else None
    return Checks(
        inside=facts.model is not None,
        enough=facts.different >= FEWEST,
        above_chance=is_significant and above(compared.difference, SMALLEST),
        below_chance=is_significant and below(compared.difference, -SMALLEST),
        keeps_up=None if contrast is None else above(contrast, 0, or_equal=True),
        falls_behind=None if contrast is None else below(contrast, 0),
        all_weights=None if permuted is None else permutes_all(facts),
        moves=None if permuted is None else above(permuted.moved, SMALLEST),
        still=None if permuted is None else below(permuted.moved, SMALLEST),
        even=None if permuted is None else below(permuted.uneven, EVEN),
        below_neutral=None if area is None or area.low is None else below(area.area, 0.5 - AREA),
    )


def against_random(facts: Measurements) -> Comparison:
    """The main measure of the focus minus that of random words."""
    return next(one for one in facts.faithfulness.comparisons if one.measure == MAIN and one.other == "random")


def permutes_all(facts: Measurements) -> bool:
    """Whether the weights that are permuted, those of the highest level, are all that the model has."""
    assert facts.model is not None
    return not any(level.attends for level in capabilities(facts.model.pooling, facts.model.levels)[:-1])


def above(one: Interval, edge: float, or_equal: bool = False) -> bool:
    """Whether the whole interval lies above; False without an interval, or with few texts."""
    return one.low is not None and not is_few(one) and (one.low >= edge if or_equal else one.low > edge)


def below(one: Interval, edge: float) -> bool:
    return one.high is not None and not is_few(one) and one.high < edge


def is_small(one: Interval, edge: float = SMALLEST, about: float = 0.0) -> bool:
    """Whether the whole interval lies so near `about` that the difference does not matter."""
    return above(one, about - edge) and below(one, about + edge)


def is_few(one: Interval) -> bool:
    """An area under a curve is over words, and has no number of texts."""
    return one.n is not None and one.n < FEWEST
