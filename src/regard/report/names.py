"""What explainers and measures of a report are called, and which measures it compares."""

from __future__ import annotations

from regard.report.text.characters import one_line

EXPLAINERS = {
    "gradient_times_input": "gradient × input",
    "attention_norm": "attention and norm",
    "weighted_norm": "weight × length",
    "leave_one_out": "leave one out",
    "tfidf": "word counts",
    "random": "chance",
}
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
    return EXPLAINERS.get(name, one_line(name).replace("_", " "))


def measure_title(name: str) -> str:
    return MEASURES.get(name, one_line(name).replace("_", " "))


def measure_name(name: str) -> str:
    """Without what it means."""
    return measure_title(name).partition(":")[0]
