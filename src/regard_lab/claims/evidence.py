"""The page "Evidence": every claim of the papers, what we measured, and a verdict computed from the results.

`make evidence` writes docs/evidence.md; a test compares the two, so that the page cannot become outdated.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from regard.errors import InputError
from regard.markdown_text import escape
from regard_lab.claims.claims import RULE_TITLES, RULES, Claim, Claims
from regard_lab.claims.verdicts import HOLDS, LATER, VERDICTS, Finding, shown_verdict
from regard_lab.reading.checks import suggestion
from regard_lab.reading.locations import table_names
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.contents import grouped
from regard_lab.results import read_results
from regard_lab.rows import CellKey, Row
from regard_lab.tables.table import Table

HEAD = """# Evidence

What the papers claim, one claim per row, and what regard measured. `make evidence` writes this page from
[experiments/evidence.toml](../experiments/evidence.toml) and the result files next to the tables; a test checks that it is up
to date. `regard reproduce PAPER/TABLE` runs a table again.
"""
READING = """## How to read this page

Means and 95 % intervals are over training seeds, on the same texts. Differences are paired by seed, and their sign is such
that a positive difference favours the claim. "Confirmed" means p < 0.05 in a two-sided paired t-test after Holm's correction
over the comparisons of the claim. Cells with only one seed are left out. The corpora are those available to us, not always
the papers' samples, so a verdict is about the claim on these corpora. "Not here" means that our results do not support the
claim. "So far" marks verdicts for which some cells have fewer seeds than planned.

What each rule requires:
"""


class TableFolder:
    """The tables of a folder and the results next to them, each read at its first use."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.names = table_names(folder)
        self.table = cache(self._table)
        self.rows = cache(self._rows)

    def _table(self, name: str) -> Table:
        if name not in self.names:
            raise InputError(f"{name}: no such table in {self.folder}{suggestion(name, self.names)}")
        return read_table(self.names[name], name)

    def _rows(self, name: str) -> Mapping[CellKey, Sequence[Row]]:
        return grouped(read_results(self.table(name), self.names[name].with_suffix(".jsonl")))


def evaluate_claim(claim: Claim, folder: TableFolder) -> Finding:
    if claim.verdict:
        return Finding(claim.verdict, claim.because)
    if claim.planned:
        return Finding(LATER, "")
    if claim.checked_by:
        return Finding(HOLDS, "a test in the test suite")
    result = RULES[claim.rule](folder.table(claim.table), folder.rows(claim.table), **claim.arguments)
    return result or Finding(LATER, "")


def page(claims: Claims, folder: TableFolder) -> str:
    findings = [(claim, evaluate_claim(claim, folder)) for claim in claims.claims]
    lines = [HEAD, *tally(claims, findings), "", READING]
    lines += [f"- **{RULE_TITLES[name]}**: {escape(one_paragraph(rule.__doc__))}" for name, rule in RULES.items()]
    for source, title in claims.sources.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| claim | where in the paper | tested by | what we measured | verdict |",
            "|---|---|---|---|---|",
        ]
        for claim, finding in findings:
            if claim.source == source:
                verdict = verdict_text(finding, is_complete(claim, folder))
                cells = (
                    escape(claim.claim),
                    escape(claim.where),
                    tested_by(claim, folder),
                    escape(finding.measured),
                    verdict,
                )
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def tally(claims: Claims, findings: Sequence[tuple[Claim, Finding]]) -> Iterator[str]:
    yield "| | " + " | ".join(map(shown_verdict, VERDICTS)) + " |"
    yield "|---|" + "---:|" * len(VERDICTS)
    for source, title in claims.sources.items():
        counts = Counter(finding.verdict for claim, finding in findings if claim.source == source)
        yield f"| {title.partition(' (')[0]} | " + " | ".join(str(counts[name] or "") for name in VERDICTS) + " |"


def tested_by(claim: Claim, folder: TableFolder) -> str:
    """A link to the table or test that tests a claim, or the name of the planned table."""
    if claim.checked_by:
        file, _, name = claim.checked_by.partition("::")
        return f"[{name.removeprefix('test_').replace('_', ' ')}](../{file})"
    if claim.planned:
        return claim.planned
    if not claim.table:
        return ""
    path = folder.names[claim.table]
    shown = path.with_suffix(".md") if path.with_suffix(".md").exists() else path
    link = f"../{folder.folder.name}/{claim.table.partition('/')[0]}/{shown.name}"
    return f"[{claim.table}]({link}), {RULE_TITLES[claim.rule]}"


def verdict_text(finding: Finding, complete: bool) -> str:
    title = shown_verdict(finding.verdict)
    return title if finding.verdict == LATER else f"**{title}**{'' if complete else ' so far'}"


def one_paragraph(docstring: str | None) -> str:
    return " ".join(inspect.cleandoc(docstring or "").split())


class Names(NamedTuple):
    """The cells that a claim's test uses; an empty list means all."""

    methods: list[str]
    corpora: list[str]
    settings: list[str]


def names_of(claim: Claim) -> Names:
    arguments = claim.arguments
    methods = [*flattened(arguments.get("pairs", ())), *arguments.get("methods", ()), arguments.get("method", "")]
    corpora = [
        *arguments.get("corpora", ()),
        *arguments.get("words", ()),
        *flattened(arguments.get("on", ())),
        arguments.get("corpus", ""),
    ]
    at = arguments.get("at", ())
    settings = [
        *arguments.get("settings", ()),
        *arguments.get("only", ()),
        *(flattened(at) if isinstance(at, list) else ()),
    ]
    return Names(list(filter(None, methods)), list(filter(None, corpora)), settings)


def is_complete(claim: Claim, folder: TableFolder) -> bool:
    """Whether every cell that the claim is about has as many results as planned."""
    if not claim.table:
        return True
    named, rows = names_of(claim), folder.rows(claim.table)
    return all(
        len(rows.get(cell.key, ())) >= cell.seeds
        for cell in folder.table(claim.table).cells()
        if all(not names or name in names for names, name in zip(named, cell.key, strict=True))
    )


def flattened(pairs: Iterable[Iterable[str]]) -> Iterator[str]:
    for pair in pairs:
        yield from pair
