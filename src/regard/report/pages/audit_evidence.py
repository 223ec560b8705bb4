"""The evidence below the verdict of an audit: one part for each kind of evidence that its sentences refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup

from regard.facts.audit import AuditFacts
from regard.facts.faithfulness import Lead
from regard.report.names import audited_name, explainer_name, measure_name
from regard.report.text.exported import Figure, Table
from regard.report.text.intervals import span_or_dash

JAIN, WIEGREFFE = "Jain & Wallace 2019", "Wiegreffe & Pinter 2019"


class Part(NamedTuple):
    title: str
    question: str  # and how it is answered
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


# by the name with which a sentence refers to its evidence
PARTS = {
    "faithfulness": Part(
        "Removing the top words",
        "Are the words with the highest scores the ones that the model relies on? They are deleted, or all others are, "
        "and the model predicts again; random words show how much any deletion lowers the probability.",
        ("faithfulness", "differences"),
        ("explainers", "comparisons"),
    ),
    "limits": Part(
        "Limits of these measures",
        "How far could any ranking of the words get? A drop of 0.2 is little if some words lower the probability by 0.8, and "
        "the most there is if none do; so models are compared by the normalised values (Edin et al. 2025).",
        ("normalised",),
        ("limits_comprehensiveness", "limits_sufficiency"),
    ),
    "emptiness": Part(
        "Is anything left to read?",
        "Do erased texts still get predictions of their own, or that of an empty text? Where they get the latter, drops show how "
        "far a prediction is from the model’s default and not which words matter.",
        (),
        ("emptiness",),
    ),
    "word_dropout": Part(
        "A judge that has seen erased texts",
        "Does it still beat random words when the judge was trained on texts with words removed, too? If so, the lead is hardly "
        "an artefact of texts unlike any that the model has seen (Hooker et al. 2019; Hase, Xie & Bansal 2021). The verdict "
        "does not depend on it.",
        ("word_dropout",),
        ("word_dropout",),
    ),
    "signs": Part(
        "Words for the prediction",
        "If a word is marked as evidence for the prediction, does removing it ever make the prediction stronger?",
        (),
        ("signs",),
    ),
    "permutation": Part(
        "Permuted weights",
        f"Do the weights affect the prediction? They are permuted, and the states stay as they are ({JAIN}).",
        ("permutation",),
        ("permutation",),
    ),
    "separation": Part(
        "Words of a class and neutral words",
        "Do scores distinguish words of a class from words that are equally frequent in all classes? Random scores have an area "
        "of 0.5 (Sun & Lu 2020).",
        ("separation",),
        ("separation",),
    ),
    "adversary": Part(
        "Other weights, the same prediction",
        f"Do very different weights give the same prediction? ({JAIN})",
        ("adversary",),
        ("adversary",),
    ),
    "seeds": Part(
        "Other seeds",
        f"Does attention stay similar when only the random seed differs? ({WIEGREFFE})",
        ("seeds",),
        ("seeds",),
    ),
    "even": Part(
        "Uniform weights",
        f"Does attention help in this task at all? The same model is trained with uniform weights ({WIEGREFFE}).",
        ("even",),
        ("even",),
    ),
    "guided": Part(
        "Guiding another model",
        f"Does this attention help a model that sees each word alone? ({WIEGREFFE})",
        ("guided",),
        ("guided",),
    ),
    "trained_adversary": Part(
        "A model trained to attend elsewhere",
        f"Can another model make the same predictions and attend elsewhere? It can if the TVD–JSD curve ({WIEGREFFE}) has "
        "points at the bottom right.",
        ("trained_adversary",),
        ("trained_adversary",),
    ),
    "plausibility": Part(
        "Words that people marked",
        "Does it point to the words that people marked? That is a different question from what the model relies on.",
        ("plausibility",),
        ("plausibility",),
    ),
    "correlation": Part(
        "Agreement with gradients and leave-one-out",
        f"Do they rank the words of a text alike? By absolute values, because attention has no sign ({JAIN}). Kendall’s τ is "
        "shown for information: no verdict depends on it, since two rankings may differ mostly in words that hardly matter.",
        ("correlation",),
        ("correlation",),
    ),
    "agreement": Part(
        "Pairwise agreement",
        "How similar are the explainers to each other? The verdict does not depend on it.",
        (),
        ("agreement",),
    ),
    "model": Part("What was audited", "The audited model, and the cost of explaining a text.", (), ("model",)),
    "checks": Part("The rule behind the verdict", "What was checked; docs/audit.md has the table.", (), ("checks",)),
}


class Shown(NamedTuple):
    """A part with its figures and tables."""

    title: str
    question: str
    how: str  # it is answered, if the part says so
    figures: list[Markup]
    tables: list[Table]


def evidence(facts: AuditFacts, figures: Mapping[str, Figure], tables: Mapping[str, Table]) -> dict[str, Shown]:
    """The parts that have a figure or a table, by name."""
    lead = facts.faithfulness.lead
    further = {} if lead is None else {"faithfulness": [lead_table(lead, facts.focus)]}
    shown: dict[str, Shown] = {}
    for name, part in PARTS.items():
        drawn = [Markup(figures[one].svg) for one in part.figures if one in figures]
        listed = [*further.get(name, []), *(tables[one] for one in part.tables if one in tables)]
        if drawn or listed:
            question, mark, how = part.question.partition("?")
            shown[name] = Shown(part.title, question + mark, how.strip(), drawn, listed)
    return shown


def lead_table(lead: Lead, focus: str) -> Table:
    """Only on the page: what the verdict compares with the best alternative."""
    own, best, kept = explainer_name(focus), explainer_name(lead.best), f"{100 * lead.kept:.0f} %"
    rows = [
        (f"{own} minus random words", span_or_dash(lead.own_lead)),
        (f"{best} minus random words", span_or_dash(lead.best_lead)),
        (f"the first minus {kept} of the second", span_or_dash(lead.contrast)),
    ]
    caption = f"{own.capitalize()} keeps up with {best} if the last row is not below 0"
    return Table(caption, (f"{measure_name(lead.measure)}, mean over cut-offs", "mean with its 95 % interval"), rows)


def left_out(facts: AuditFacts) -> list[tuple[str, str]]:
    """The name of everything that was not measured, and the reason."""
    return [(audited_name(one.what), one.why) for one in facts.left_out]
