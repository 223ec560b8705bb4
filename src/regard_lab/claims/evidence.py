"""The page "Evidence": every claim of the papers, what we measured, and a verdict that is computed from the results.

`make evidence` writes docs/evidence.md; a test of the suite compares the two, so that the page cannot go stale.
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
from regard_lab.claims.claims import RULES, Claim, Claims
from regard_lab.claims.verdicts import HOLDS, LATER, VERDICTS, Finding
from regard_lab.reading.checks import near
from regard_lab.reading.locations import table_names
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.contents import grouped
from regard_lab.results import read_results
from regard_lab.rows import Place, Row
from regard_lab.tables.table import Table

HEAD = """# Evidence

What the papers claim, row by row, and what regard measured. This page is written by `make evidence` from
[experiments/evidence.toml](../experiments/evidence.toml) and the result files beside the tables; a test checks that it is up
to date. `regard reproduce PAPER/TABLE` runs a table again.
"""
READING = """## How to read it

Means and 95 % intervals are over seeds of training, on the same texts. Differences are paired by seed and written so that a
positive one favours the claim; "confirmed" is a two-sided paired t-test with p below 0.05 after Holm's correction over the
comparisons of the claim. A place with one seed only is left out. The corpora are those at hand, not the papers' samples, so
that a verdict is about the claim on these corpora. "So far": some cells of the table have fewer seeds than it asks for.

What each rule asks for:
"""


class TableFolder:
    """The tables of a folder and the results beside them, read when they are asked for."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.names = table_names(folder)
        self.table = cache(self._table)
        self.rows = cache(self._rows)

    def _table(self, name: str) -> Table:
        if name not in self.names:
            raise InputError(f"{name}: there is no such table in {self.folder}{near(name, self.names)}")
        return read_table(self.names[name], name)

    def _rows(self, name: str) -> Mapping[Place, Sequence[Row]]:
        return grouped(read_results(self.table(name), self.names[name].with_suffix(".jsonl")))


def finding(claim: Claim, book: TableFolder) -> Finding:
    if claim.verdict:
        return Finding(claim.verdict, claim.because)
    if claim.planned:
        return Finding(LATER, "")
    if claim.checked_by:
        return Finding(HOLDS, "a test of the suite")
    found = RULES[claim.rule](book.table(claim.table), book.rows(claim.table), **claim.arguments)
    return found or Finding(LATER, "")


def page(claims: Claims, book: TableFolder) -> str:
    found = [(claim, finding(claim, book)) for claim in claims.claims]
    lines = [HEAD, *tally(claims, found), "", READING]
    lines += [f"- **{name.replace('_', ' ')}**: {escape(words(rule.__doc__))}" for name, rule in RULES.items()]
    for source, title in claims.sources.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| claim | where | how | what we measured | verdict |",
            "|---|---|---|---|---|",
        ]
        for claim, one in found:
            if claim.source == source:
                said = verdict(one, is_whole(claim, book))
                cells = (escape(claim.claim), escape(claim.where), how(claim, book), escape(one.measured), said)
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def tally(claims: Claims, found: Sequence[tuple[Claim, Finding]]) -> Iterator[str]:
    yield "| | " + " | ".join(VERDICTS) + " |"
    yield "|---|" + "---:|" * len(VERDICTS)
    for source, title in claims.sources.items():
        counts = Counter(one.verdict for claim, one in found if claim.source == source)
        yield f"| {title.partition(' (')[0]} | " + " | ".join(str(counts[name] or "") for name in VERDICTS) + " |"


def how(claim: Claim, book: TableFolder) -> str:
    """A link to what tests it, or the name of what will."""
    if claim.checked_by:
        file, _, name = claim.checked_by.partition("::")
        return f"[{name.removeprefix('test_').replace('_', ' ')}](../{file})"
    if claim.planned:
        return f"{claim.planned}"
    if not claim.table:
        return ""
    path = book.names[claim.table]
    shown = path.with_suffix(".md") if path.with_suffix(".md").exists() else path
    return f"[{claim.table}](../{book.folder.name}/{claim.table.partition('/')[0]}/{shown.name}), {claim.rule.replace('_', ' ')}"


def verdict(found: Finding, whole: bool) -> str:
    return found.verdict if found.verdict == LATER else f"**{found.verdict}**{'' if whole else ' so far'}"


def words(docstring: str | None) -> str:
    return " ".join(inspect.cleandoc(docstring or "").split())


class Names(NamedTuple):
    """What a claim's test speaks of; where nothing is said, all."""

    methods: list[str]
    corpora: list[str]
    settings: list[str]


def names_of(claim: Claim) -> Names:
    given = claim.arguments
    methods = [*flat(given.get("pairs", ())), *given.get("methods", ()), given.get("method", "")]
    corpora = [*given.get("corpora", ()), *given.get("words", ()), *flat(given.get("on", ())), given.get("corpus", "")]
    at = given.get("at", ())
    settings = [*given.get("settings", ()), *given.get("only", ()), *(flat(at) if isinstance(at, list) else ())]
    return Names(list(filter(None, methods)), list(filter(None, corpora)), settings)


def is_whole(claim: Claim, book: TableFolder) -> bool:
    """Whether every cell that the claim speaks of has as many results as its table asks for."""
    if not claim.table:
        return True
    named, rows = names_of(claim), book.rows(claim.table)
    return all(
        len(rows.get(cell.key, ())) >= cell.seeds
        for cell in book.table(claim.table).cells()
        if all(not names or name in names for names, name in zip(named, cell.key, strict=True))
    )


def flat(pairs: Iterable[Iterable[str]]) -> Iterator[str]:
    for pair in pairs:
        yield from pair
