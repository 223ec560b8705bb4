"""Names of explainers, measures and diagnostics for reports, and the measures that are compared."""

from __future__ import annotations

from regard.explain.explainers import explainer_title
from regard.report.text.characters import one_line

MEASURES = {
    "comprehensiveness": "comprehensiveness: the drop without the top words",
    "sufficiency": "sufficiency: the drop with only the top words",
    "flipped": "flips: decisions that change without the top words",
    "accuracy_fall": "drop in accuracy: without the top words",
    "accuracy_after": "accuracy without the top words",
    "post_hoc": "post-hoc accuracy: with only the top words",
}
COMPARED = (
    "comprehensiveness",
    "sufficiency",
    "flipped",
    "accuracy_fall",
    "post_hoc",
)  # in the order in which they are shown
MAIN = COMPARED[0]  # the measure that decides the verdict
DIAGNOSTICS = {
    "correlation": "rank correlation",
    "permutation": "permuted weights",
    "adversary": "adversarial weights",
    "even": "uniform weights",
    "seeds": "other seeds",
    "guided": "guiding another model",
    "trained_adversary": "trained adversary",
    "word_dropout": "word dropout",
}

# of erased texts
JUDGES = {"audited": "audited model", "plain": "retrained model", "dropout": "retrained with word dropout"}


def explainer_name(name: str) -> str:
    return one_line(explainer_title(name))


def measure_title(name: str) -> str:
    return MEASURES.get(name, one_line(name).replace("_", " "))


def measure_name(name: str) -> str:
    """The name without its explanation."""
    return measure_title(name).partition(":")[0]


def audited_name(name: str) -> str:
    """The name of anything that an audit can leave out: a diagnostic, a measure or an explainer."""
    if name in MEASURES:
        return measure_name(name)
    return DIAGNOSTICS[name] if name in DIAGNOSTICS else explainer_name(name)
