"""What verdicts take as given: experiments/rules.toml, read strictly.

Margins by measure, the tier of each corpus (exact: the paper's own; proxy: the same source or task; ours: added by us), models
that stand for others, the number of rows that existed before the protocol, and the versions of the rules.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import InputError
from regard_lab.rows import CellKey

TIERS = ("exact", "proxy", "ours")
KEYS = ("version", "change", "exploratory", "margin", "rmse", "proxy_methods", "tiers", "planned")


class Tier(NamedTuple):
    tier: str
    because: str


class StandIn(NamedTuple):
    """Methods whose model stands for another."""

    methods: tuple[str, ...]  # patterns
    because: str


NO_STAND_IN = StandIn((), "")


class Margin(NamedTuple):
    """What is too small to matter; `few` with fewer test texts than `least`."""

    measures: tuple[str, ...]  # patterns
    margin: float
    few: float
    least: int


class Change(NamedTuple):
    version: int
    date: str
    known: str  # the results that were known
    what: str


class Plan(NamedTuple):
    """Runs that the protocol plans: of the cells with one of these names; an empty tuple means all."""

    run: str  # R1, R2, …
    table: str
    seeds: int
    methods: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    same_runs_as: str = ""  # a table that shows other measures of the same runs

    def has(self, table: str, cell_key: CellKey) -> bool:
        names = (self.methods, self.corpora, self.settings)
        return table == self.table and all(
            not known or name in known for known, name in zip(names, cell_key, strict=True)
        )


@dataclass(frozen=True)
class RuleBook:
    version: int = 1
    margins: Sequence[Margin] = ()
    scales: Mapping[str, float] = field(default_factory=dict)  # PAPER/CORPUS -> margin of RMSE
    tiers: Mapping[str, Mapping[str, Tier]] = field(default_factory=dict)  # paper -> corpus
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)  # by paper
    exploratory: Mapping[str, int] = field(default_factory=dict)  # table -> rows before the protocol; others: all
    commit: str = ""
    changes: Sequence[Change] = ()
    plans: Sequence[Plan] = ()

    def planned(self, table: str, cell_key: CellKey) -> int:
        """The seeds that the protocol plans for a cell; 0 if it does not name the cell."""
        return max((plan.seeds for plan in self.plans if plan.has(table, cell_key)), default=0)

    def shows_runs_of_another(self, table: str) -> bool:
        """Its rows are those of another table, of which it shows other measures."""
        return any(plan.table == table and plan.same_runs_as for plan in self.plans)

    def margin(self, measure: str, table: str, corpus: str, texts: int | None) -> float:
        """0.0 if none was set in advance. `texts`: the number of test texts, if known."""
        scaled = self.scales.get(f"{table.partition('/')[0]}/{corpus}")
        if measure == "rmse" and scaled is not None:
            return scaled
        found = find_margin(self.margins, measure)
        if found is None:
            return 0.0
        return found.few if texts is not None and texts < found.least else found.margin

    def unit(self, measure: str, table: str, corpus: str) -> float:
        """What a difference is multiplied by before it is pooled: an RMSE is brought to a five-star scale."""
        scaled, usual = self.scales.get(f"{table.partition('/')[0]}/{corpus}"), find_margin(self.margins, measure)
        return 1.0 if measure != "rmse" or scaled is None or usual is None else usual.margin / scaled

    def tier(self, table: str, cell_key: CellKey) -> str:
        """Of a cell: that of its corpus, and proxy if the model stands for another."""
        paper = table.partition("/")[0]
        method, corpus, _ = cell_key
        known = self.tiers.get(paper, {})
        if corpus not in known:
            raise InputError(f"rules.toml: expected a tier of {corpus!r} in [tiers.{paper}], got none; add it")
        patterns, _ = self.stand_ins.get(paper, NO_STAND_IN)
        stands_in = any(fnmatchcase(method, pattern) for pattern in patterns)
        return "proxy" if known[corpus].tier == "exact" and stands_in else known[corpus].tier

    def tiers_of(self, table: str, cell_keys: Iterable[CellKey]) -> list[str]:
        """The tiers among cells, the closest first."""
        among = {self.tier(table, cell_key) for cell_key in cell_keys}
        return [tier for tier in TIERS if tier in among]


def find_margin(margins: Sequence[Margin], measure: str) -> Margin | None:
    matching = (one for one in margins if any(fnmatchcase(measure, pattern) for pattern in one.measures))
    return next(matching, None)


def read_rule_book(path: Path) -> RuleBook:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: expected a TOML file ({error})") from None
    check_keys(content, KEYS, str(path))
    margins = []
    for number, part in enumerate(content.get("margin", ()), 1):
        check_keys(part, ("measures", "margin", "few", "from"), f"{path}: [[margin]] {number}")
        margins.append(
            Margin(tuple(part["measures"]), part["margin"], part.get("few", part["margin"]), part.get("from", 0))
        )
    tiers = {
        paper: {name: read_tier(part, f"{path}: [tiers.{paper}] {name}") for name, part in corpora.items()}
        for paper, corpora in content.get("tiers", {}).items()
    }
    exploratory = content.get("exploratory", {})
    return RuleBook(
        version=content["version"],
        margins=margins,
        scales=content.get("rmse", {}),
        tiers=tiers,
        stand_ins={
            name: read_stand_in(part, f"{path}: [proxy_methods] {name}")
            for name, part in content.get("proxy_methods", {}).items()
        },
        exploratory=exploratory.get("rows", {}),
        commit=exploratory.get("commit", ""),
        changes=[Change(**part) for part in content.get("change", ())],
        plans=[
            read_plan(part, f"{path}: [[planned]] {number}")
            for number, part in enumerate(content.get("planned", ()), 1)
        ],
    )


def read_plan(part: Mapping[str, Any], where: str) -> Plan:
    check_keys(part, Plan._fields, where)
    for key in ("methods", "corpora", "settings"):
        if not isinstance(part.get(key, []), list):  # a string would be read as names of one letter
            raise InputError(f"{where}: {key}: expected a list of names, got {part[key]!r}")
    return Plan(
        part["run"],
        part["table"],
        part["seeds"],
        tuple(part.get("methods", ())),
        tuple(part.get("corpora", ())),
        tuple(part.get("settings", ())),
        part.get("same_runs_as", ""),
    )


def read_stand_in(part: Mapping[str, Any], where: str) -> StandIn:
    check_keys(part, ("methods", "because"), where)
    if not isinstance(part.get("methods"), list):  # a string would be read as patterns of one letter
        raise InputError(f"{where}: methods: expected a list of patterns, got {part.get('methods')!r}")
    return StandIn(tuple(part["methods"]), part["because"])


def read_tier(part: Mapping[str, str], where: str) -> Tier:
    check_keys(part, ("tier", "because"), where)
    if part.get("tier") not in TIERS:
        raise InputError(f"{where}: expected a tier of {', '.join(TIERS)}, got {part.get('tier')!r}")
    return Tier(part["tier"], part["because"])


def check_keys(part: Mapping[str, object], known: Collection[str], where: str) -> None:
    for key in part:
        if key not in known:
            raise InputError(f"{where}: unknown key {key!r}; expected one of {', '.join(known)}")
