"""What explainers and measures of a report are called, and which measures it compares."""

from __future__ import annotations

from regard.explain.explainers import EXPLAINERS
from regard.report.text.characters import one_line

MEASURES = {
    "comprehensiveness": "comprehensiveness: the fall without the top words",
    "sufficiency": "sufficiency: the fall with the top words alone",
    "flipped": "flips: decisions that change without the top words",
    "accuracy_fall": "fall of accuracy: without the top words",
    "accuracy_after": "accuracy without the top words",
    "post_hoc": "post-hoc accuracy: with the top words alone",
}
COMPARED = (
    "comprehensiveness",
    "sufficiency",
    "flipped",
    "accuracy_fall",
    "post_hoc",
)  # in the order that they are shown
MAIN = COMPARED[0]  # the measure that the verdict is by


def explainer_name(name: str) -> str:
    """The title of an explainer; of scores that somebody else made, the name they came under."""
    return EXPLAINERS[name].title if name in EXPLAINERS else one_line(name).replace("_", " ")


def measure_title(name: str) -> str:
    return MEASURES.get(name, one_line(name).replace("_", " "))


def measure_name(name: str) -> str:
    """Without what it means."""
    return measure_title(name).partition(":")[0]
