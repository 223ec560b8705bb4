"""What a page shows of an audit below its verdict: a part for every piece of evidence that a sentence can rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup

from regard.report.text.exported import Figure, Table

JAIN, WIEGREFFE = "Jain & Wallace 2019", "Wiegreffe & Pinter 2019"


class Part(NamedTuple):
    title: str
    asks: str  # and how
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


# by the name that a sentence gives its evidence
PARTS = {
    "faithfulness": Part(
        "Without the top words",
        "Are the words that weigh most the words that the model decides by? They are deleted, or all others are, and the "
        "model is asked again; words drawn by chance show how much of a fall comes from any hole.",
        ("faithfulness", "differences"),
        ("explainers", "comparisons"),
    ),
    "permutation": Part(
        "Permuted weights",
        f"Do the weights take part in the answer? They change places, and the states stay ({JAIN}).",
        ("permutation",),
        ("permutation",),
    ),
    "separation": Part(
        "Words of a class and neutral words",
        "Do scores tell words of a class from words that stand evenly in all? 0.5 is chance (Sun & Lu 2020).",
        ("separation",),
        ("separation",),
    ),
    "adversary": Part(
        "Other weights, the same answer",
        f"Are there weights far from these that give the same answer? ({JAIN})",
        ("adversary",),
        ("adversary",),
    ),
    "seeds": Part(
        "Other seeds",
        f"Does attention look alike when only chance differs? ({WIEGREFFE})",
        ("seeds",),
        ("seeds",),
    ),
    "even": Part(
        "Even weights",
        f"Has the task a use for attention at all? The same model is trained with even weights ({WIEGREFFE}).",
        ("even",),
        ("even",),
    ),
    "guided": Part(
        "A guide for another model",
        f"Does this attention help a model that sees each word alone? ({WIEGREFFE})",
        ("guided",),
        ("guided",),
    ),
    "trained_adversary": Part(
        "A model trained to look elsewhere",
        f"Can a whole model answer alike and look elsewhere? The TVD–JSD curve ({WIEGREFFE}): far to the right and low "
        "down, it can.",
        ("trained_adversary",),
        ("trained_adversary",),
    ),
    "plausibility": Part(
        "Words that people marked",
        "Does it point where people do? That is another question than what the model decides by.",
        ("plausibility",),
        ("plausibility",),
    ),
    "correlation": Part(
        "Agreement with gradients and leave-one-out",
        f"Do their orders of a text’s words agree? By the sizes of the scores, for attention has no sign ({JAIN}).",
        ("correlation",),
        ("correlation",),
    ),
    "agreement": Part("Agreement of every two", "How alike explainers are to each other.", (), ("agreement",)),
    "model": Part("What was audited", "And what it costs to explain a text.", (), ("model",)),
    "checks": Part("The rule behind the verdict", "What was looked at; docs/audit.md has the table.", (), ("checks",)),
}


class Shown(NamedTuple):
    """A part with what there is to show of it."""

    title: str
    asks: str
    figures: list[Markup]
    tables: list[Table]


def evidence(figures: Mapping[str, Figure], tables: Mapping[str, Table]) -> dict[str, Shown]:
    """By name the parts that there is something for, of the figures and tables that were made."""
    shown: dict[str, Shown] = {}
    for name, part in PARTS.items():
        drawn = [Markup(figures[one].svg) for one in part.figures if one in figures]
        listed = [tables[one] for one in part.tables if one in tables]
        if drawn or listed:
            shown[name] = Shown(part.title, part.asks, drawn, listed)
    return shown
