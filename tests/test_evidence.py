"""The Evidence page follows from the claims and the results, and every claim names its test."""

from __future__ import annotations

import ast
import importlib.util
import random
import re
from pathlib import Path

import pytest

from regard.errors import InputError
from regard.markdown_text import escape
from regard_lab.claims import debate_blocks
from regard_lab.claims.claims import RULES, Claim, Claims, read_claim, read_claims
from regard_lab.claims.evidence import page
from regard_lab.claims.table_folder import TableFolder, evaluate_claim
from regard_lab.claims.verdict_list import Record, make_record, make_records, names_of
from regard_lab.claims.verdicts import HOLDS, LATER, UNDECIDED, VERDICTS, Given
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


@pytest.fixture(scope="module")
def records(tables: TableFolder) -> list[Record]:
    return make_records(CLAIMS, tables)


def test_what_make_evidence_writes_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("evidence", FOLDER / "evidence.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path, content in module.files().items():
        assert path.read_text(encoding="utf-8") == content, f"{path.name}: run `make evidence`"


def test_every_verdict_has_a_reason(records: list[Record]) -> None:
    for record in records:
        assert record.finding.verdict in VERDICTS
        if record.claim.rule and record.finding.verdict != LATER:
            assert record.finding.why, record.claim.id
    assert len({record.claim.id for record in records}) == len(records)


def test_what_changed_since_version_0_is_marked(records: list[Record], tables: TableFolder) -> None:
    text = page(CLAIMS, tables, records)
    changed = [record for record in records if record.changed]
    assert changed
    for record in changed:
        (line,) = (line for line in text.splitlines() if line.startswith(f"| **{record.claim.id}** "))
        assert f"version 0: {record.previous}; changed by {record.steps[0].reason}" in line
        assert record.steps[0].before == record.previous
        assert record.steps[-1].after == record.finding.verdict


def test_an_undecided_verdict_has_a_number_of_seeds_or_a_reason(records: list[Record]) -> None:
    for record in records:
        if record.finding.verdict == UNDECIDED:
            assert "seeds" in record.finding.needed, record.claim.id


def test_a_claim_whose_quote_says_consistently_is_general() -> None:
    for claim in CLAIMS.claims:
        if re.search(r"consistent(ly)?\b(?! with)", claim.quote):
            assert claim.general, claim.id


def test_normalisation_is_not_called_harmless(records: list[Record]) -> None:
    """Nothing was confirmed against it in one table, while another had −1.49 ± 1.04 and −3.88 ± 2.77."""
    (record,) = (one for one in records if "normalisation instead of clipping" in one.claim.claim)
    assert record.finding.verdict != HOLDS
    assert "−3.88 ± 2.77" in record.finding.measured


def test_results_that_are_older_than_the_protocol_are_marked(records: list[Record]) -> None:
    by_id = {record.claim.id: record for record in records}
    assert not by_id["apln-01"].exploratory, "table2 has rows of the protocol"
    assert by_id["vat-12"].exploratory
    assert not by_id["vat-26"].exploratory, "20 seeds, 15 of them since"
    assert not by_id["apln-33"].exploratory, "arithmetic has no rows"


def test_the_page_of_the_debate_corrects_as_the_claims_do(tables: TableFolder) -> None:
    """It said that one of the four differences survived a correction, where the claim's family has four."""
    of_page = debate_blocks.blocks(CLAIMS, tables)
    assert "(wp-02): 1 of 4 differences confirmed (20News I)" in of_page["debate-guided"]
    assert "(wp-06): 4 of 4 differences confirmed, pooled" in of_page["debate-adversary"]
    assert "over the whole table" not in (ROOT / "docs" / "attention_debate.md").read_text(encoding="utf-8")


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
    result = RULES[claim.rule](Given(table, rows, tables.book), **claim.arguments)  # type: ignore[arg-type]
    assert result is not None
    assert result.verdict != LATER
    assert "so far" not in result.measured


@pytest.mark.parametrize("claim", CLAIMS.claims, ids=lambda claim: claim.id)
def test_every_claim_has_a_quote_and_its_page_or_a_reason(claim: Claim) -> None:
    assert claim.where
    assert bool(claim.quote) != bool(claim.no_quote), "expected a quote, or a reason why there is none"
    if claim.quote:
        assert bool(claim.page) != (claim.source in CLAIMS.no_pages), "expected a page, or a reason in [sources]"
    assert len(claim.quote.split()) <= 40, "a quote is a short phrase"


def test_every_source_says_which_page_numbers_it_has() -> None:
    assert not CLAIMS.pages.keys() & CLAIMS.no_pages.keys()
    assert CLAIMS.pages.keys() | CLAIMS.no_pages.keys() == set(CLAIMS.sources)


@pytest.mark.parametrize("claim", [one for one in CLAIMS.claims if one.page], ids=lambda claim: claim.id)
def test_a_page_is_one_of_the_pages_of_its_source(claim: Claim) -> None:
    first, last = (int(number) for number in re.findall(r"\d+", CLAIMS.pages[claim.source])[:2])
    pages = [int(number) for number in re.findall(r"\d+", claim.page)]
    pages += [int(number) for number in re.findall(r"\(p\. (\d+)\)", claim.where)]
    assert all(first <= page <= last for page in pages)


def test_quotes_and_pages_are_on_the_page(records: list[Record], tables: TableFolder) -> None:
    text = page(CLAIMS, tables, records)
    lines = {line[4:].partition("**")[0]: line for line in text.splitlines() if line.startswith("| **")}
    for claim in CLAIMS.claims:
        if claim.quote:
            expected = f"p. {claim.page}; " if claim.page else ""
            assert f"*“{escape(claim.quote)}”* ({expected}{escape(claim.where)})" in lines[claim.id]
        else:
            assert f"no quote: {escape(claim.no_quote)}" in lines[claim.id]
    assert text.count("\nPage numbers: ") == len(CLAIMS.pages)
    assert text.count("\nNo page numbers: ") == len(CLAIMS.no_pages)


def headings(page_text: str) -> set[str]:
    return {line.lstrip("#").strip() for line in page_text.splitlines() if line.startswith("### ")}


def test_a_claim_links_to_the_reply_of_its_authors(tables: TableFolder) -> None:
    claim = read_claim({**PART, "planned": "a/b", "reply": "Wu et al., 2027: on p"}, SOURCES, "")
    record = make_record(claim, tables, [])
    assert "[The authors' reply](cite.md#wu-et-al-2027-on-p)" in page(Claims(SOURCES, [claim]), tables, [record])


def test_every_reply_is_on_the_page_and_the_other_way_round() -> None:
    text = (ROOT / "docs" / "cite.md").read_text(encoding="utf-8").partition("## Replies by authors")[2]
    assert {claim.reply for claim in CLAIMS.claims if claim.reply} == headings(text)


def test_no_claim_is_repeated() -> None:
    claims = [(claim.source, claim.claim, claim.where) for claim in CLAIMS.claims]
    assert len(set(claims)) == len(claims)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"planed": "a/b"}, "unknown key 'planed'"),
        ({"source": "other", "planned": "a/b"}, "source = 'other'"),
        ({"claim": "", "planned": "a/b"}, "has no `claim`"),
        ({"quote": "so", "no_quote": "why", "planned": "a/b"}, "expected `quote` or `no_quote`, got both"),
        ({"page": "7", "planned": "a/b"}, "expected a `quote` with `page` = '7', got none"),
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
        record = make_record(of_all, tables, [])
        assert (record.complete, record.runs, record.asked) == (whole, 4 if whole else 2, 4)
        assert make_record(of_x, tables, []).complete
        text = page(Claims(SOURCES, [of_all]), tables, [record])
        assert f"**{HOLDS}**{'' if whole else ' so far, 2 of 4 runs'}<br>" in text


def test_a_claim_without_results_is_to_be_measured(tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "paper"
    folder.mkdir(parents=True)
    (folder / "one.toml").write_text('measures = ["norm"]\n[methods.a]\n[corpora.x]\ntrain = "x"\n', encoding="utf-8")
    tables = TableFolder(folder.parent)
    test = {"rule": "below", "table": "paper/one", "measure": "norm", "bound": 1.0}
    claim = read_claim({**PART, "test": test}, SOURCES, "")
    assert evaluate_claim(claim, tables)[:2] == (LATER, "")
    by_hand = read_claim({**PART, "verdict": HOLDS, "because": "it is arithmetic"}, SOURCES, "")
    assert evaluate_claim(by_hand, tables)[:2] == (HOLDS, "it is arithmetic")
