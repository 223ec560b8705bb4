"""The Evidence page follows from the claims and the results, and every claim names its test."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from regard.errors import InputError
from regard_lab.claims.claims import RULES, Claim, Claims, read_claim, read_claims
from regard_lab.claims.evidence import TableFolder, evaluate_claim, is_complete, names_of, page
from regard_lab.claims.verdicts import HOLDS, LATER, VERDICTS
from regard_lab.measures import MEASURES
from regard_lab.results import Row, append, complete
from regard_lab.tables.table import Cell

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "experiments"
CLAIMS = read_claims(FOLDER / "evidence.toml")
SOURCES = {"paper": "A paper"}
PART = {"source": "paper", "claim": "It is so", "where": "§1"}


@pytest.fixture(scope="module")
def tables() -> TableFolder:
    return TableFolder(FOLDER)


def test_the_page_is_up_to_date(tables: TableFolder) -> None:
    committed = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    assert committed == page(CLAIMS, tables), "run `make evidence`"


def test_a_missing_table_is_an_error_with_a_suggestion(tables: TableFolder) -> None:
    with pytest.raises(InputError, match=r"apln/tabel2: no such table in .*; did you mean 'apln/table2'"):
        tables.table("apln/tabel2")


def test_every_source_has_claims() -> None:
    assert {claim.source for claim in CLAIMS.claims} == set(CLAIMS.sources)
    assert {"apln", "talk", "sun_lu", "supplement", "vat"} <= set(CLAIMS.sources)


@pytest.mark.parametrize("claim", CLAIMS.claims, ids=lambda claim: f"{claim.source}: {claim.claim[:40]}")
def test_every_claim_names_what_tests_it(claim: Claim, tables: TableFolder) -> None:
    if claim.table:
        assert claim.table in tables.names
        table = tables.table(claim.table)
        for names, known in zip(names_of(claim), (table.methods, table.corpora, table.settings), strict=True):
            assert set(names) <= set(known)
        assert evaluate_claim(claim, tables).verdict in VERDICTS
    elif claim.checked_by:
        file, _, name = claim.checked_by.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    else:
        assert claim.because or claim.planned.count("/") == 1
        measured = ("apln", "sun_lu", "supplement", "vat")
        assert claim.source not in measured or not claim.planned, "these papers' claims are measured here"


@pytest.mark.parametrize("claim", [one for one in CLAIMS.claims if one.source == "vat"], ids=lambda one: one.claim[:40])
def test_a_claim_of_vat_gets_its_verdict_as_soon_as_there_are_results(claim: Claim, tables: TableFolder) -> None:
    """With random numbers in every cell of its table: its measures and words must exist in rows."""
    table, rng = tables.table(claim.table), random.Random(0)

    def row(cell: Cell, seed: int) -> Row:
        values = {name: rng.random() for name in (*MEASURES, *table.implementation.measures)}
        words = str(cell.options.get("quoted", "")).replace(".", " .").split()
        tokens = [{"text": word, "weight": rng.random()} for word in words]
        return {"seed": seed, "values": values, "texts": [{"tokens": tokens}]}

    rows = {cell.key: [row(cell, seed) for seed in range(3)] for cell in table.cells()}
    result = RULES[claim.rule](table, rows, **claim.arguments)
    assert result is not None
    assert result.verdict != LATER
    assert "so far" not in result.measured


def test_no_claim_is_repeated() -> None:
    claims = [(claim.source, claim.claim, claim.where) for claim in CLAIMS.claims]
    assert len(set(claims)) == len(claims)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"planed": "a/b"}, "unknown key 'planed'"),
        ({"source": "other", "planned": "a/b"}, "source = 'other'"),
        ({"claim": "", "planned": "a/b"}, "has no `claim`"),
        ({}, "expected exactly one of test, planned, checked_by, verdict"),
        ({"planned": "a/b", "checked_by": "c"}, "expected exactly one of test, planned, checked_by, verdict"),
        ({"verdict": "holds"}, "with `because`, got 'holds'"),
        ({"verdict": "true", "because": "so"}, "expected one of holds, .*, got 'true'"),
        ({"test": {"rule": "beter", "table": "a/b"}}, "did you mean 'better'"),
        ({"test": {"rule": "below", "table": "a/b", "limit": 1}}, "the rule below has no argument 'limit'"),
    ],
)
def test_an_invalid_claim_is_an_error(part: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_claim({**PART, **part}, SOURCES, "claims.toml: [[claim]] 1")


def test_a_verdict_on_incomplete_results_is_marked(tmp_path: Path) -> None:
    """Two seeds are planned on two corpora; cells that the claim is not about may be missing."""
    folder = tmp_path / "experiments" / "paper"
    folder.mkdir(parents=True)
    toml = 'seeds = 2\nmeasures = ["norm"]\n[methods.a]\n[corpora.x]\ntrain = "x"\n[corpora.y]\ntrain = "y"\n'
    (folder / "one.toml").write_text(toml, encoding="utf-8")
    test = {"rule": "below", "table": "paper/one", "measure": "norm", "bound": 1.0}
    of_all = read_claim({**PART, "test": test}, SOURCES, "")
    near = {"rule": "near", "table": "paper/one", "method": "a", "corpora": ["x"], "measure": "norm"}
    of_x = read_claim({**PART, "test": {**near, "value": 0.5, "within": 0.1}}, SOURCES, "")
    for corpus, whole in (("x", False), ("y", True)):
        table = TableFolder(folder.parent).table("paper/one")
        cell = next(cell for cell in table.cells() if cell.corpus.name == corpus)
        for seed, norm in enumerate((0.50, 0.51)):  # ± 0.06
            append(folder / "one.jsonl", complete(cell, table.name, "cpu", {"seed": seed, "values": {"norm": norm}}))
        tables = TableFolder(folder.parent)
        assert is_complete(of_all, tables) is whole
        assert is_complete(of_x, tables)
        text = page(Claims(SOURCES, [of_all]), tables)
        assert f"**{HOLDS}**{'' if whole else ' so far'} |" in text


def test_a_claim_without_results_is_to_be_measured(tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "paper"
    folder.mkdir(parents=True)
    (folder / "one.toml").write_text('measures = ["norm"]\n[methods.a]\n[corpora.x]\ntrain = "x"\n', encoding="utf-8")
    tables = TableFolder(folder.parent)
    test = {"rule": "below", "table": "paper/one", "measure": "norm", "bound": 1.0}
    claim = read_claim({**PART, "test": test}, SOURCES, "")
    assert evaluate_claim(claim, tables) == (LATER, "")
    by_hand = read_claim({**PART, "verdict": HOLDS, "because": "it is arithmetic"}, SOURCES, "")
    assert evaluate_claim(by_hand, tables) == (HOLDS, "it is arithmetic")
