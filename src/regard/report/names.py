"""Names of explainers and measures for reports, and the measures that are compared."""

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


def explainer_name(name: str) -> str:
    return one_line(explainer_title(name))


def measure_title(name: str) -> str:
    return MEASURES.get(name, one_line(name).replace("_", " "))


def measure_name(name: str) -> str:
    """The name without its explanation."""
    return measure_title(name).partition(":")[0]
