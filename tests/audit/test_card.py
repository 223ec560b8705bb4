"""The model card carries the verdict of the latest audit, and everything else that is in it stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audited import one_decides, the_cause

from command import Regard, write_csv
from regard.audit.audit_run import AuditOptions, run_facts
from regard.audit.card import sentence, update_card, with_section
from regard.errors import InputError
from regard.facts.audit import AuditFacts
from regard.models.saving import AUDIT_END, AUDIT_START, save


@pytest.fixture(scope="module")
def facts() -> AuditFacts:
    return run_facts(the_cause(), one_decides(40), AuditOptions(run="run", data="a|b.csv"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(the_cause(), tmp_path / "run")
    return tmp_path / "run"


def card_of(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def test_a_new_run_is_not_audited(folder: Path) -> None:
    card = card_of(folder)
    assert "Not audited" in card
    assert "regard audit FOLDER --data FILE" in card
    assert card.count(AUDIT_START) == card.count(AUDIT_END) == 1


def test_an_audit_replaces_the_section_and_keeps_the_rest(folder: Path, facts: AuditFacts) -> None:
    path = folder / "README.md"
    path.write_text(
        card_of(folder).replace("# embedding", "# My model, embedding") + "\r\nOur own notes ∞\n", newline=""
    )
    before = path.read_bytes().decode()
    assert update_card(folder, facts) == path
    card = path.read_bytes().decode()
    start, end = card.index(AUDIT_START), card.index(AUDIT_END)
    assert card[:start] == before[: before.index(AUDIT_START)]
    assert card[end:] == before[before.index(AUDIT_END) :]
    section = card[start:end]
    assert "Not audited" not in card
    assert f"**{facts.verdict.title}** (verdict: faithful)" in section
    assert r"40 texts of a\|b.csv, seed 0" in section
    assert "| comprehensiveness of attention (larger is better) | 0.402 (0.402 to 0.402); limits " in section
    assert "normalised 1.000" in section
    assert (
        "leave-one-out marks for the prediction and whose removal strengthens it | 0.0 % (0.0 % to 8.8 %) |" in section
    )
    for reason in (*facts.verdict.may, *facts.verdict.may_not):
        assert reason.text.split(":")[0] in section
    advice = "(`regard explain RUN TEXT --method integrated_gradients`)"
    assert sentence(f"a_b {advice}") == rf"a\_b {advice}", "a command stays one that can be copied"
    assert sentence("a`b") == r"a\`b"
    update_card(folder, facts)
    assert path.read_bytes().decode() == card, "the same audit again changes nothing"


def test_cards_without_a_section_get_one_at_the_end() -> None:
    section = f"{AUDIT_START}\nnew\n{AUDIT_END}"
    assert with_section("# Old card\n\n", section) == f"# Old card\n\n{section}\n"
    broken = f"# Card\n{AUDIT_START}\nsomebody deleted the end\n"
    once = with_section(broken, section)
    assert once == f"{broken.rstrip()}\n\n{section}\n"
    assert with_section(once, section) == once
    assert with_section(f"{AUDIT_END} {section}", section) == f"{AUDIT_END} {section}"


def test_a_run_without_a_card_stays_without_one(tmp_path: Path, facts: AuditFacts) -> None:
    assert update_card(tmp_path, facts) is None
    assert not any(tmp_path.iterdir())


def test_a_linked_card_is_refused_and_odd_bytes_stay(folder: Path, tmp_path: Path, facts: AuditFacts) -> None:
    card, target = folder / "README.md", tmp_path / "card.md"
    target.write_bytes(b"# \xff card\n")
    card.unlink()
    card.symlink_to(target)
    with pytest.raises(InputError, match="got a symbolic link"):
        update_card(folder, facts)
    assert target.read_bytes() == b"# \xff card\n"
    card.unlink()
    card.write_bytes(target.read_bytes())
    update_card(folder, facts)
    assert card.read_bytes().startswith(b"# \xff card\n\n" + AUDIT_START.encode())


def test_the_command_writes_the_card(regard: Regard, folder: Path, tmp_path: Path) -> None:
    texts = write_csv(tmp_path / "texts.csv", [(example.text, example.label) for example in one_decides(40)])
    before = card_of(folder)
    methods = ("--method", "gradient", "--method", "leave_one_out")
    printed = json.loads(regard("audit", folder, "--data", texts, "--json", *methods).out)
    assert [one["name"] for one in printed["explainers"]] == ["attention", "gradient", "leave_one_out", "random"]
    assert card_of(folder) == before, "--json writes nothing"
    done = regard(
        "audit", folder, "--data", texts, "--method", "gradient", "leave_one_out", "--out", tmp_path / "audit"
    )
    assert done.code == 0, done.err
    assert f"the verdict is in the model card {folder / 'README.md'}" in done.out
    assert "(verdict: faithful)" in card_of(folder)
    old = json.loads(
        regard("audit", folder, "--data", texts, "--json", "--explainers", "gradient", "leave_one_out").out
    )
    assert old == printed, "the old name of the option"
    assert "--explainers" not in regard("audit", "--help").out
