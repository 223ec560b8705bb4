"""The page "Evidence": every claim of the papers, what we measured, and a verdict computed from the results.

`make evidence` writes docs/evidence.md; a test compares the two, so that the page cannot become outdated.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from regard.markdown_text import escape
from regard_lab.claims.claims import RULE_TITLES, RULES, Claim, Claims
from regard_lab.claims.history import Step
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdict_list import Record, names_of
from regard_lab.claims.verdicts import LATER, VERDICTS

HEAD = """# Evidence

What the papers claim, one claim per row, and what regard measured. The rules are fixed in the
[protocol](../experiments/PROTOCOL.md). `make evidence` writes this page and
[experiments/verdicts.json](../experiments/verdicts.json), the same as data, from
[evidence.toml](../experiments/evidence.toml), [rules.toml](../experiments/rules.toml) and the results next to the tables; a test
checks that it is up to date. `regard reproduce PAPER/TABLE` runs a table again; [how to cite and how to disagree](cite.md).
"""
READING = """## How to read this page

**Verdicts.**

- *holds*: the pooled interval lies above 0, the pooled mean is at least the margin, and no single comparison is
  confirmed in the opposite direction. If the claim says “all” or “consistently”, also every mean favours it and at
  least half are confirmed.
- *partly*: at least one comparison is confirmed in favour, but the rest of “holds” fails.
- *refuted*: the pooled interval excludes the paper's effect, and either the opposite is confirmed or equivalence is
  shown. Only on the paper's own data, in mathematics, or if a claim of generality meets the opposite effect;
  otherwise the word is *not found on proxy data*.
  The conditions are tried in this order; where a later one applies as well, the row says so.
- *undecided*: neither; with the number of seeds that would decide, or why none can be given.
- *cannot be tested*: data or models are not public.

**Numbers.** Means and 95 % intervals are over training seeds, on the same texts. Differences are paired by seed, and
positive if they favour the claim. *Pooled*: random effects over the comparisons of the claim (DerSimonian & Laird,
with Hartung & Knapp's interval), next to the paper's mean difference over the same cells; RMSE is brought to a
five-star scale before. Comparisons of one claim often share runs, so they are not independent, and the pooled
interval is somewhat too narrow. *Margin*: what is too small to matter, fixed in the protocol; *equivalence*: two
one-sided tests at 5 %. *Confirmed*: p < 0.05 in a two-sided paired t-test after Holm's correction over the
comparisons of the claim, one family per claim. Cells with one seed are left out.

**Marks.** *Exploratory*: the verdict rests only on results that are older than the protocol (commit {commit}). *So
far*: some cells have fewer seeds than their table asks for or the protocol plans. *Version 0*: the verdict before the
protocol, on the results of commit
3e68c85, and what changed it: a version of the rules (the results above were known when the rules changed) or new runs;
[all changes](#verdicts-that-changed-and-why). *Vacuous*: the design cannot show the effect; the test is shown and not
counted. Tier of the data: *exact*, *proxy* or *ours* ([which corpus is what](../experiments/rules.toml)).

**Quotes** are the papers' words; three dots mark what is left out. *p.* is the page of the quote, and, in parentheses, that
of a table or figure; section, table and figure follow. Which page numbers these are stands below each heading. The
command of a claim names the cells that are compared.

**Versions of the rules.**
"""
RULES_HEAD = """
**What each rule requires.** Where a rule has conditions, each is satisfied if the whole interval is on the claimed
side and contradicted if it is on the other. The claim holds if all are satisfied; after Holm's correction, partly if
some are, and refuted if none is and half or more are contradicted.
"""


def page(claims: Claims, folder: TableFolder, records: Sequence[Record], missing: Iterable[str] = ()) -> str:
    """`missing`: the lines that say what is not measured yet."""
    lines = [HEAD, *tally(claims, records), "", *changes(records), *missing]
    lines.append(READING.format(commit=folder.book.commit))
    lines += [f"- Version {one.version}, {one.date}; known: {one.known}. {one.what}." for one in folder.book.changes]
    lines.append(RULES_HEAD)
    lines += [f"- **{RULE_TITLES[name]}**: {escape(one_paragraph(rule.__doc__))}" for name, rule in RULES.items()]
    for source, title in claims.sources.items():
        lines += ["", f"## {title}", "", *about_pages(claims, source)]
        lines += ["| claim | tested by | what we measured | verdict |", "|---|---|---|---|"]
        for record in records:
            if record.claim.source == source:
                cells = (
                    claim_text(record.claim),
                    tested_by(record.claim, folder),
                    measured_text(record),
                    verdict_text(record),
                )
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def tally(claims: Claims, records: Sequence[Record]) -> Iterator[str]:
    """The number of claims by source and verdict, without verdicts that none has."""
    totals = Counter(record.finding.verdict for record in records)
    shown = [verdict for verdict in VERDICTS if totals[verdict]]
    yield "| | " + " | ".join(shown) + " | claims |"
    yield "|---|" + "---:|" * (len(shown) + 1)
    for source, title in claims.sources.items():
        counts = Counter(record.finding.verdict for record in records if record.claim.source == source)
        numbers = [str(counts[name] or "") for name in shown]
        yield f"| {title.partition(' (')[0]} | " + " | ".join(numbers) + f" | {counts.total()} |"
    yield "| **all** | " + " | ".join(f"**{totals[name]}**" for name in shown) + f" | **{totals.total()}** |"


def changes(records: Sequence[Record]) -> Iterator[str]:
    """What the rules of the protocol changed: the verdicts of version 0 by those of now."""
    compared = [record for record in records if record.previous]
    if not compared:
        return
    pairs = Counter((record.previous, record.finding.verdict) for record in compared)
    before = list(dict.fromkeys(sorted((record.previous for record in compared), key=lambda word: word)))
    after = [verdict for verdict in VERDICTS if any(pair[1] == verdict for pair in pairs)]
    yield f"The rules of the protocol against those before it (version 0), {len(compared)} claims that both have:"
    yield ""
    yield "| version 0 ↓, now → | " + " | ".join(after) + " |"
    yield "|---|" + "---:|" * len(after)
    for word in before:
        yield f"| {word} | " + " | ".join(str(pairs[word, verdict] or "") for verdict in after) + " |"
    yield ""


def claim_text(claim: Claim) -> str:
    parts = [f"**{claim.id}** {escape(claim.claim)}" if claim.id else escape(claim.claim)]
    where = escape(f"p. {claim.page}; {claim.where}" if claim.page else claim.where)
    if claim.quote:
        parts.append(f"*“{escape(claim.quote)}”* ({where})")
    else:
        parts.append(where + (f"; no quote: {escape(claim.no_quote)}" if claim.no_quote else ""))
    if claim.reply:
        parts.append(f"[The authors' reply](cite.md#{anchor(claim.reply)})")
    return "<br>".join(parts)


def anchor(title: str) -> str:
    """The link target of a heading, as GitHub and the documentation site make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def about_pages(claims: Claims, source: str) -> Iterator[str]:
    """Which page numbers the claims of a source have, or why they have none."""
    if source in claims.pages:
        yield from (f"Page numbers: {claims.pages[source]}.", "")
    elif source in claims.no_pages:
        yield from (f"No page numbers: {claims.no_pages[source]}.", "")


def tested_by(claim: Claim, folder: TableFolder) -> str:
    """A link to the table or test that tests a claim, to its rows, and the command that runs its cells."""
    if claim.checked_by:
        file, _, name = claim.checked_by.partition("::")
        return f"[{name.removeprefix('test_').replace('_', ' ')}](../{file})"
    if claim.planned:
        return claim.planned
    if not claim.table:
        return ""
    path = folder.names[claim.table]
    shown = path.with_suffix(".md") if path.with_suffix(".md").exists() else path
    place = f"../{folder.folder.name}/{claim.table.partition('/')[0]}"
    parts = [f"[{claim.table}]({place}/{shown.name}), {RULE_TITLES[claim.rule]}"]
    if folder.results(claim.table).exists():
        parts.append(f"[rows]({place}/{folder.results(claim.table).name})")
    parts.append(f"`{command_of(claim)}`")
    return "<br>".join(parts)


def command_of(claim: Claim) -> str:
    """The command that runs the cells of a claim."""
    named = names_of(claim)
    chosen = named.methods or named.settings or named.corpora
    return f"regard reproduce {claim.table}" + (f" --only {' '.join(chosen)}" if chosen else "")


def measured_text(record: Record) -> str:
    parts = [record.finding.measured, record.finding.over_texts]
    if record.claim.vacuous is not None:
        parts.append(f"Vacuous: {record.claim.vacuous.because}.")
    if record.claim.note:
        parts.append(f"Note: {record.claim.note}.")
    return "<br>".join(escape(part) for part in parts if part)


def verdict_text(record: Record) -> str:
    finding = record.finding
    if finding.verdict == LATER:
        return finding.verdict
    marks = []
    if finding.needed:
        marks.append(finding.needed)
    if record.tiers:
        marks.append(f"data: {', '.join(record.tiers)}")
    if record.exploratory:
        marks.append("exploratory")
    if record.changed:
        marks.append("; ".join([f"version 0: {record.previous}", *(step_words(record.steps))]))
    so_far = "" if record.complete else f" so far, {record.runs} of {record.asked} runs"
    return "<br>".join([f"**{finding.verdict}**{so_far}", *(escape(part) for part in (finding.why, *marks) if part)])


def step_words(steps: Sequence[Step]) -> Iterator[str]:
    """The reason of each change; the verdict in between, if there are several."""
    for number, step in enumerate(steps, 1):
        yield f"changed by {step.reason}" + (f" to “{step.after}”" if number < len(steps) else "")


def one_paragraph(docstring: str | None) -> str:
    return " ".join(inspect.cleandoc(docstring or "").split())
