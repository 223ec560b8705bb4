"""The verdicts as data: one record per claim, with what decided and what an earlier version of the rules said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regard_lab.claims.claims import Claim, Claims
from regard_lab.claims.formula import Judged
from regard_lab.claims.history import State, Step, read_history, steps_of
from regard_lab.claims.table_folder import TableFolder, evaluate_claim
from regard_lab.claims.verdicts import Finding
from regard_lab.rows import CellKey
from regard_lab.tables.table import Cell, Table


@dataclass(frozen=True)
class Record:
    claim: Claim
    finding: Finding
    tiers: Sequence[str]  # of the data that test it
    exploratory: bool  # it rests only on results that are older than the protocol
    runs: int  # finished, of the cells that the claim is about
    asked: int  # by the protocol's plan, or by the table where that asks for more
    previous: str  # the verdict of version 0; "": the claim is newer
    steps: Sequence[Step] = ()  # from that to the present one

    @property
    def changed(self) -> bool:
        return bool(self.steps)

    @property
    def complete(self) -> bool:
        return self.runs >= self.asked

    def as_dict(self) -> dict[str, object]:
        finding, pooled = self.finding, self.finding.pooled
        numbers = None
        if pooled is not None:
            numbers = {name: rounded(value) for name, value in pooled._asdict().items()}
            numbers |= {"low": rounded(pooled.low), "high": rounded(pooled.high)}
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "claim": self.claim.claim,
            "quote": self.claim.quote,
            "page": self.claim.page,
            "where": self.claim.where,
            "reply": self.claim.reply,
            "verdict": finding.verdict,
            "why": finding.why,
            "version_0": self.previous,
            "changed": self.changed,
            "changes": [step._asdict() for step in self.steps],
            "tiers": list(self.tiers),
            "exploratory": self.exploratory,
            "runs": self.runs,
            "asked": self.asked,
            "pooled": numbers,
            "paper": rounded(finding.paper),
            "margin": rounded(finding.margin),
            "seeds_needed": finding.needed,
            "vacuous": vacuous_methods(self.claim),
            "table": self.claim.table,
        }


def vacuous_methods(claim: Claim) -> dict[str, object] | None:
    return None if claim.vacuous is None else {"methods": list(claim.vacuous.methods), "because": claim.vacuous.because}


def rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def make_records(claims: Claims, folder: TableFolder) -> list[Record]:
    states = read_history(folder.folder)
    return [make_record(claim, folder, states) for claim in claims.claims]


def make_record(claim: Claim, folder: TableFolder, states: Sequence[State]) -> Record:
    cells = list(cells_of(claim, folder))
    rows = folder.rows(claim.table) if claim.table else {}
    measured = [cell_key for cell_key, _ in cells if rows.get(cell_key)]
    runs = sum(min(len(rows.get(cell_key, ())), seeds) for cell_key, seeds in cells)
    finding = evaluate_claim(claim, folder)
    return Record(
        claim,
        finding,
        folder.book.tiers_of(claim.table, measured) if folder.book.tiers else (),
        bool(claim.table) and folder.confirmatory(claim.table).isdisjoint(measured),
        runs,
        sum(seeds for _, seeds in cells),
        states[0].verdicts.get(claim.id, "") if states else "",
        steps_of(claim.id, finding.verdict, states, folder.book.version),
    )


def written(
    records: Sequence[Record], version: int, hypotheses: Sequence[Judged] = (), tables: Sequence[object] = ()
) -> str:
    """The file verdicts.json. `tables`: what each of them has and lacks."""
    content = {
        "rules": version,
        "claims": [record.as_dict() for record in records],
        "hypotheses": [one._asdict() for one in hypotheses],
        "tables": list(tables),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


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
    return Names(*(list(dict.fromkeys(filter(None, names))) for names in (methods, corpora, settings)))


def cells_of(claim: Claim, folder: TableFolder) -> Iterator[tuple[CellKey, int]]:
    """The cells that a claim is about, and how many seeds the table or the protocol asks for. Of a claim about printed numbers:
    those with one."""
    if claim.table:
        named, table = names_of(claim), folder.table(claim.table)
        for cell in table.cells():
            if claim.rule == "printed" and not printed_measures(table, cell):
                continue
            if all(not names or name in names for names, name in zip(named, cell.key, strict=True)):
                yield cell.key, max(cell.seeds, folder.book.planned(claim.table, cell.key))


def printed_measures(table: Table, cell: Cell) -> Sequence[str]:
    """The measures of a cell for which the paper prints a number."""
    name = f"{cell.method}/{cell.setting}" if cell.setting else cell.method
    return cell.corpus.measures[: len(table.printed.get(cell.corpus.name, {}).get(name, ()))]


def flattened(pairs: Iterable[Iterable[str]]) -> Iterator[str]:
    for pair in pairs:
        yield from pair
