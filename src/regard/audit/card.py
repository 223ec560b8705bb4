"""The audit in the model card of a run: its verdict and main numbers, in a section that each audit replaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.errors import InputError
from regard.facts.audit import AuditFacts
from regard.facts.faithfulness import Faithfulness, SignedExplainer
from regard.files import write_all
from regard.markdown_text import escape
from regard.models.run_files import CARD
from regard.models.saving import AUDIT_END, AUDIT_START, audit_section
from regard.report.names import MAIN, explainer_name, measure_name
from regard.report.text.characters import one_line
from regard.report.text.intervals import percent, span

SHOWN = (MAIN, "sufficiency")  # the measures that have limits


def update_card(folder: Path, facts: AuditFacts) -> Path | None:
    """The card with the audit; None, and nothing is written, if the folder has no card. What else is in the card stays."""
    path = folder / CARD
    if not path.is_file():
        return None
    if path.is_symlink():
        raise InputError(f"{path}: expected a plain file, got a symbolic link, which is not written to")
    try:
        content = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"{path}: could not be read ({error.strerror or error})") from None
    section = "\n".join(audit_section(list(summary(facts)))).encode("utf-8", "replace").decode("utf-8")
    write_all(folder, {CARD: with_section(content, section).encode("utf-8", "surrogateescape")})
    return path


def with_section(card: str, section: str) -> str:
    """The section in place of the last complete one; at the end of a card that has none."""
    end = card.rfind(AUDIT_END)
    start = -1 if end < 0 else card.rfind(AUDIT_START, 0, end)
    if start < 0:
        return f"{card.rstrip()}\n\n{section}\n"
    return card[:start] + section + card[end + len(AUDIT_END) :]


def summary(facts: AuditFacts) -> Iterator[str]:
    verdict = facts.verdict
    yield f"**{plain(verdict.title)}** (verdict: {verdict.name})"
    yield ""
    where = f" of {plain(facts.data)}" if facts.data else ""
    yield f"Measured by `regard audit` on {facts.texts:,} texts{where}, seed {facts.seed}. Means with 95 % intervals:"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for name, value in numbers(facts):
        yield f"| {name} | {value} |"
    kinds = {"Can be read as": verdict.may, "Cannot be read as": verdict.may_not, "What to change": verdict.change}
    for heading, reasons in kinds.items():
        if reasons:
            yield from ("", f"{heading}:", "", *(f"- {sentence(reason.text)}" for reason in reasons))


def numbers(facts: AuditFacts) -> Iterator[tuple[str, str]]:
    erased = facts.faithfulness
    yield from measured(erased, facts.focus)
    if erased.lead is not None:
        yield f"lead over random words of {plain(explainer_name(facts.focus))}", span(erased.lead.own_lead)
        yield f"the same of {plain(explainer_name(erased.lead.best))}", span(erased.lead.best_lead)
    if (permuted := facts.diagnostics.permutation) is not None:
        yield "change in predictions with permuted weights", span(permuted.moved)
    for one in () if erased.signs is None else erased.signs.explainers:
        if one.default:
            yield signs_of(one), percent(one.share)
    for texts in () if erased.emptiness is None else erased.emptiness.explainers:
        if texts.name == facts.focus:
            yield "texts without its top words with the prediction of an empty text", percent(texts.deleted)


def measured(facts: Faithfulness, focus: str) -> Iterator[tuple[str, str]]:
    limits = {} if facts.limits is None else {one.measure: one for one in facts.limits.measures}
    for curve in facts.curves:
        if curve.explainer != focus or curve.measure not in SHOWN:
            continue
        name = f"{measure_name(curve.measure)} of {plain(explainer_name(focus))} ({curve.better} is better)"
        value = span(curve.mean)
        if curve.measure in limits and curve.normalised is not None:
            lower, upper = limits[curve.measure].lower, limits[curve.measure].upper
            value += f"; limits {span(lower)} and {span(upper)}; normalised {span(curve.normalised)}"
        yield name, value


def signs_of(one: SignedExplainer) -> str:
    return f"words that {plain(explainer_name(one.name))} marks for the prediction and whose removal strengthens it"


def plain(text: str) -> str:
    return escape(one_line(text))


def sentence(text: str) -> str:
    """Commands in backticks stay commands; backticks without a partner are escaped."""
    parts = one_line(text).split("`")
    if len(parts) % 2 == 0:
        return escape(one_line(text))
    return "".join(f"`{part}`" if place % 2 else escape(part) for place, part in enumerate(parts))
