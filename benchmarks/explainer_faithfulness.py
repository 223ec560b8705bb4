"""How faithful explainers are to the models that they explain, and what they cost: `explanations.py faithfulness`.

The judge is the model itself. Comprehensiveness and sufficiency are averaged over ERASER's cut-offs (1, 5, 10, 20 and 50 % of
the words); AOPC@5 is the fall of accuracy without the top five words. Signs are compared with leaving words out. Costs are CPU
time as a multiple of that of predicting the same texts, in the same process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from explained_models import sample, trained_model
from numpy.typing import NDArray
from word_signs import TOP, coloured, cpu_seconds, top_is_against

from regard.explain.attribute import attribute
from regard.explain.explainers import default_contribution, default_method
from regard.explain.word_scores import Attributed
from regard.faithfulness.curves import accuracy_fall, comprehensiveness, sufficiency
from regard.faithfulness.intervals import difference, interval
from regard.faithfulness.judged import Judged, judge_erased
from regard.faithfulness.ranking import SHARES
from regard.faithfulness.scored import Scored
from regard.models.trained import Trained

MOST_WORDS = 150  # of a text
WORDS = 5  # of AOPC@5
REFERENCE = "leave_one_out"
Methods = dict[str, tuple[str, dict[str, Any]]]
CHEAP: Methods = {name: (name, {}) for name in ("gradient_times_input", "two_point_gradients")}
SLOW: Methods = {name: (name, {}) for name in ("integrated_gradients", REFERENCE)}
# also candidates for the default of models that are not flat, on dev
FEW_STEPS: Methods = {
    f"integrated_gradients, steps = {steps}": ("integrated_gradients", {"steps": steps}) for steps in (1, 2)
}

Doubles = NDArray[np.float64]


def measure_faithfulness(corpus: str, model: str, part: str, texts: int, folder: Path | None) -> dict[str, Any]:
    trained = trained_model(model, corpus, folder)
    examples = sample(corpus, part, texts, MOST_WORDS)
    chosen = [one.text for one in examples]
    methods = methods_of(trained, part)
    attributed: dict[str, list[Attributed]] = {}
    costs: dict[str, float] = {}
    for name, (method, options) in methods.items():
        attributed[name], costs[name] = with_cost(trained, chosen, method, options)
    labels = [trained.task.encode(one.label, "label") for one in examples]
    values = judged_values(trained, attributed, [int(label) for label in labels])
    effects = [one.scores for one in attributed[REFERENCE]]
    for name, of_method in attributed.items():
        values[name] |= sign_values([one.scores for one in of_method], effects)
    compared_with = REFERENCE if trained.is_flat else "two_point_gradients"
    return {
        "texts": len(chosen),
        "most_words": MOST_WORDS,
        "accuracy": float(np.mean(trained.answers(chosen).argmax(1) == labels)),
        "weight_is": default_method(trained),
        "contribution_is": default_contribution(trained),
        "methods": {name: {**summary(values[name]), "cost": costs[name]} for name in methods},
        "compared_with": compared_with,
        "differences": {
            name: differences(values[name], values[compared_with]) for name in methods if name != compared_with
        },
    }


def judged_values(
    trained: Trained, attributed: Mapping[str, Sequence[Attributed]], labels: Sequence[int]
) -> dict[str, dict[str, Doubles]]:
    """Per method and measure, one value per text."""
    scored = {
        name: [Scored(*one.scored(label)) for one, label in zip(of_method, labels, strict=True)]
        for name, of_method in attributed.items()
    }
    judged = judge_erased(trained.answers, scored, [*SHARES, WORDS], draws=0)
    return {name: curve_values(one) for name, one in judged.items()}


def curve_values(judged: Judged) -> dict[str, Doubles]:
    return {
        "comprehensiveness": comprehensiveness(judged).values[:, : len(SHARES)].mean(1),
        "sufficiency": sufficiency(judged).values[:, : len(SHARES)].mean(1),
        "aopc_5": accuracy_fall(judged).values[:, len(SHARES)],
    }


def sign_values(scores: Sequence[Doubles], effects: Sequence[Doubles]) -> dict[str, Doubles]:
    pairs = list(zip(scores, effects, strict=True))
    return {
        "top_against": np.array([top_is_against(*pair) for pair in pairs]),
        "wrong_top_ten": np.array([coloured(*pair, TOP).share for pair in pairs]),
    }


def summary(values: Mapping[str, Doubles]) -> dict[str, list[float]]:
    """Mean, and the ends of its 95 % interval over texts."""
    return {measure: list(interval(of_measure)[1:]) for measure, of_measure in values.items()}


def differences(ours: Mapping[str, Doubles], theirs: Mapping[str, Doubles]) -> dict[str, list[float]]:
    """Mean, the ends of its 95 % interval, and p; paired by text."""
    measures = ("comprehensiveness", "sufficiency", "aopc_5")
    return {measure: list(difference(ours[measure], theirs[measure])[1:]) for measure in measures}


def methods_of(trained: Trained, part: str) -> Methods:
    if part == "dev":
        return {**CHEAP, **FEW_STEPS, REFERENCE: SLOW[REFERENCE]}
    return {"weight": (default_method(trained), {}), **CHEAP, **SLOW, "random": ("random", {})}


def with_cost(
    trained: Trained, texts: Sequence[str], method: str, options: Mapping[str, Any]
) -> tuple[list[Attributed], float]:
    """The attributions, and their CPU time in predictions; slow ones are computed once."""
    attribute(trained, texts[:2], method, **options), trained.answers(texts)  # compiles what is not compiled yet
    results: list[list[Attributed]] = []
    repeats = 1 if method in SLOW and not options and not trained.is_flat else 3
    ratios = [
        cpu_seconds(lambda: results.append(attribute(trained, texts, method, **options)))
        / cpu_seconds(lambda: trained.answers(texts))
        for _ in range(repeats)
    ]
    return results[0], float(np.median(ratios))
