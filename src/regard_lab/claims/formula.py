"""The formula question: hypotheses H1 to H6 of PROTOCOL.md, section 5, judged from the rows of apln/norm_form.

The measure is log p after a fixed number of updates, against 0. The intervals of H1 to H3 are one family for Holm's correction;
H4, H5 and H6 are one each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from regard_lab.claims.difference_rules import differences
from regard_lab.claims.differences import effect_of
from regard_lab.claims.verdicts import ALPHA, HOLDS, PARTLY, REFUTED, UNDECIDED, Given
from regard_lab.comparisons import by_seed
from regard_lab.pooled_effect import Pooled, pool
from regard_lab.power import seeds_for, t_test_power
from regard_lab.statistics import Interval, holm, mean_interval, standard_error, t_test

TABLE = "apln/norm_form"
CORPORA = ("sst2", "trec", "ag_news", "yelp_small")
EXTRA_CORPORA = ("sst2", "trec")
FORMS = ("printed", "no-root", "no-normaliser", "neither", "divided")
ENCODERS = ("lstm", "cnn", "han")
HALF = 0.5  # of the rise as printed: H4
GAIN = 0.005  # accuracy: H6
MEASURE, END = "log_norm", "log_norm_end"


class Level(NamedTuple):
    """A value against 0 in one cell."""

    method: str
    corpus: str
    interval: Interval
    p: float
    corrected: float = 1.0  # p after Holm's correction

    @property
    def side(self) -> int:
        """1: confirmed above 0; −1: below; 0: neither."""
        return 0 if self.corrected >= ALPHA else 1 if self.interval.mean > 0 else -1


class Judged(NamedTuple):
    name: str
    hypothesis: str
    verdict: str
    why: str


HYPOTHESES = {
    "H1": "as printed, p rises above 1 (LSTM, CNN)",
    "H2": "without the normaliser, p falls below 1 (LSTM, CNN)",
    "H3": "without the root, p falls for the LSTM and not for the CNN",
    "H4": "p changes in the direction in which the pooled vector grows: label smoothing or capped logits at least halve its rise",
    "H5": "the authors' usual implementation, with the printed form, does not make p fall",
    "H6": "no form gains accuracy over plain attention",
}


def values_of(given: Given, method: str, corpus: str, measure: str) -> dict[int, float]:
    return by_seed(given.rows.get((method, corpus, ""), ()), measure)


def make_levels(values: Mapping[tuple[str, str], Sequence[float]]) -> dict[tuple[str, str], Level]:
    """Each mean against 0, corrected together. Cells with fewer than two seeds are left out."""
    levels = {}
    for (method, corpus), cell_values in values.items():
        interval, p = mean_interval(cell_values), t_test(cell_values)
        if interval is not None and interval.half is not None and p is not None:
            levels[method, corpus] = Level(method, corpus, interval, p)
    corrected = holm([level.p for level in levels.values()])
    return {
        cell: level._replace(corrected=1.0 if p is None else p)
        for (cell, level), p in zip(levels.items(), corrected, strict=True)
    }


def first_family(given: Given) -> dict[tuple[str, str], Level]:
    """The intervals of H1 to H3."""
    methods = [f"{encoder}-{form}" for form in ("printed", "no-normaliser", "no-root") for encoder in ("lstm", "cnn")]
    cells = [(method, corpus) for method in methods for corpus in CORPORA]
    return make_levels({cell: list(values_of(given, *cell, MEASURE).values()) for cell in cells})


def judge_all(given: Given) -> list[Judged]:
    family = first_family(given)
    judged = {
        "H1": judge_direction(family, "printed", 1),
        "H2": judge_direction(family, "no-normaliser", -1),
        "H3": judge_root(family),
        "H4": judge_growth(given),
        "H5": judge_replica(given),
        "H6": judge_gain(given),
    }
    return [Judged(name, HYPOTHESES[name], *both) for name, both in judged.items()]


def judge_direction(family: Mapping[tuple[str, str], Level], form: str, sign: int) -> tuple[str, str]:
    """Refuted if p moves the other way on half of the corpora or more, with either encoder; holds if it is confirmed on all."""
    counts = {}
    for encoder in ("lstm", "cnn"):
        levels = [level for (method, _), level in family.items() if method == f"{encoder}-{form}"]
        counts[encoder] = [sum(level.side == side * sign for level in levels) for side in (1, -1)] + [len(levels)]
    words = "; ".join(
        f"{encoder.upper()}: {right} of {total} confirmed" + (f", {wrong} the other way" if wrong else "")
        for encoder, (right, wrong, total) in counts.items()
    )
    if any(total and 2 * wrong >= total for _, wrong, total in counts.values()):
        return REFUTED, words
    rights, totals = (sum(count[at] for count in counts.values()) for at in (0, 2))
    return (HOLDS if totals and rights == totals else PARTLY if rights else UNDECIDED), words


def judge_root(family: Mapping[tuple[str, str], Level]) -> tuple[str, str]:
    """The half of the LSTM fails on a corpus if p is not confirmed to fall there, that of the CNN if it is."""
    lstm, cnn = (
        [level for (method, _), level in family.items() if method == f"{encoder}-no-root"]
        for encoder in ("lstm", "cnn")
    )
    failed = [sum(level.side >= 0 for level in lstm), sum(level.side < 0 for level in cnn)]
    words = f"LSTM: falls on {len(lstm) - failed[0]} of {len(lstm)}; CNN: falls on {failed[1]} of {len(cnn)}"
    if any(levels and 2 * count >= len(levels) for levels, count in zip((lstm, cnn), failed, strict=True)):
        return REFUTED, words
    if not lstm or not cnn:
        return UNDECIDED, words
    return (PARTLY if any(failed) else HOLDS), words


class Ratio(NamedTuple):
    """A rise as a share of the rise as printed, with Fieller's 95 % interval."""

    variant: str
    corpus: str
    ratio: float
    low: float
    high: float
    level: Level  # rise − half of the rise as printed, against 0


def ratios(given: Given) -> list[Ratio]:
    pairs, values = {}, {}
    for variant in ("lstm-smoothed", "lstm-capped"):
        for corpus in EXTRA_CORPORA:
            changed, printed = (values_of(given, method, corpus, END) for method in (variant, "lstm-printed"))
            seeds = sorted(changed.keys() & printed.keys())
            if len(seeds) > 2:
                pairs[variant, corpus] = [(changed[seed], printed[seed]) for seed in seeds]
                values[variant, corpus] = [changed[seed] - HALF * printed[seed] for seed in seeds]
    levels = make_levels(values)
    return [Ratio(*cell, *fieller(pairs[cell]), level) for cell, level in levels.items()]


def fieller(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The ratio of two means of paired values and its 95 % interval: the ratios that a paired t-test does not reject."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    n = len(pairs)
    one, other = (math.fsum(pair[at] for pair in pairs) / n for at in (0, 1))

    def covariance(first: int, second: int) -> float:
        means = (one, other)
        products = ((pair[first] - means[first]) * (pair[second] - means[second]) for pair in pairs)
        return math.fsum(products) / (n - 1) / n

    edge = float(stdtrit(n - 1, 0.975)) ** 2
    a, b, c = (
        other**2 - edge * covariance(1, 1),
        one * other - edge * covariance(0, 1),
        one**2 - edge * covariance(0, 0),
    )
    if a <= 0:  # the denominator is not significantly different from 0
        return one / other, -math.inf, math.inf
    root = math.sqrt(max(b**2 - a * c, 0.0))
    return one / other, (b - root) / a, (b + root) / a


def judge_growth(given: Given) -> tuple[str, str]:
    found = ratios(given)
    words = "; ".join(
        f"{one.variant.partition('-')[2]}, {one.corpus}: {one.ratio:.2f} ({one.low:.2f} to {one.high:.2f})"
        for one in found
    )
    if not found:
        return UNDECIDED, ""
    sides = [one.level.side for one in found]
    if all(side > 0 for side in sides):
        return REFUTED, f"rise as a share of the printed form's: {words}"
    verdict = HOLDS if all(side < 0 for side in sides) else PARTLY if any(side < 0 for side in sides) else UNDECIDED
    return verdict, f"rise as a share of the printed form's: {words}"


def judge_replica(given: Given) -> tuple[str, str]:
    cells = {
        ("lstm-replica", corpus): list(values_of(given, "lstm-replica", corpus, MEASURE).values())
        for corpus in EXTRA_CORPORA
    }
    levels = make_levels(cells)
    words = "; ".join(f"{level.corpus}: log p {number(level.interval)}" for level in levels.values())
    sides = [level.side for level in levels.values()]
    if len(sides) == len(EXTRA_CORPORA) and all(side < 0 for side in sides):
        return REFUTED, words
    if len(sides) == len(EXTRA_CORPORA) and all(side > 0 for side in sides):
        return HOLDS, words
    return UNDECIDED, words


class FormGain(NamedTuple):
    form: str
    pooled: Pooled
    p: float
    corrected: float
    needed: str  # seeds


def gains(given: Given) -> list[FormGain]:
    """The accuracy of each form minus that of attention, pooled over encoders and corpora."""
    found = {}
    for form in FORMS:
        pairs = [
            ((f"{encoder}-{form}", corpus, ""), (f"{encoder}-attention", corpus, ""))
            for encoder in ENCODERS
            for corpus in CORPORA
        ]
        tests = [test for test in differences(given, pairs, "accuracy", 1) if test.paired.p is not None]
        pooled = pool([effect_of(test) for test in tests])
        if pooled is not None:
            spreads = [standard_error(test.paired.difference) * test.paired.difference.n**0.5 for test in tests]
            needed = [seeds_for(partial(t_test_power, GAIN, spread)) or math.inf for spread in spreads if spread]
            found[form] = (pooled, two_sided(pooled), f"{min(needed):g} to {max(needed):g}")
    corrected = holm([p for _, p, _ in found.values()])
    return [
        FormGain(form, pooled, p, 1.0 if value is None else value, needed)
        for (form, (pooled, p, needed)), value in zip(found.items(), corrected, strict=True)
    ]


def two_sided(pooled: Pooled) -> float:
    from scipy.special import stdtr

    if not pooled.error:
        return 0.0 if pooled.mean else 1.0
    return float(2 * stdtr(pooled.freedom, -abs(pooled.mean) / pooled.error))


def judge_gain(given: Given) -> tuple[str, str]:
    """Refuted if a pooled gain is confirmed and at least half a point; holds if all are shown to be smaller than that."""
    found = gains(given)
    words = "; ".join(
        f"{one.form.replace('-', ' ')} {100 * one.pooled.mean:+.2f} ± {100 * one.pooled.half():.2f}" for one in found
    ).replace("-", "−")
    if any(one.corrected < ALPHA and one.pooled.mean >= GAIN for one in found):
        return REFUTED, f"pooled gain in points: {words}"
    if found and all(one.pooled.is_below(GAIN) for one in found):
        return HOLDS, f"pooled gain in points, all below 0.5 (one-sided tests): {words}"
    open_forms = [one for one in found if not one.pooled.is_below(GAIN)]
    needed = ", ".join(f"{one.form}: {one.needed}" for one in open_forms)
    return UNDECIDED, f"pooled gain in points: {words}; seeds for 80 % power at 0.5 points: {needed}"


def number(interval: Interval) -> str:
    half = f" ± {interval.half:.3f}" if interval.half is not None else ""
    return f"{interval.mean:+.3f}{half}".replace("-", "−")
