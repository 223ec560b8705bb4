"""docs/audit.md is correct: its examples run, its numbers are those of the rule, and its schema is that of the file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from audited import one_decides, the_cause

from regard.audit import adversarial_weights, guided, measuring, permutation, retraining, trained_adversary
from regard.audit.audit_run import TRAINING, AuditOptions, audit_run
from regard.audit.rule import AREA, EVEN, FEWEST, SMALLEST, TABLE
from regard.faithfulness import emptiness, limits, signs
from regard.faithfulness.judging import LONGEST
from regard.faithfulness.scored import Scored

PAGE = (Path(__file__).parent.parent.parent / "docs" / "audit.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.split("\n")[0])
def test_examples_run(code: str, tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = "mine points to words that matter" if "audit(" in code else "((2, 6),)\n((2, 6),)\n"
    assert expected in done.stdout


def test_the_table_of_verdicts_is_the_rule() -> None:
    part = PAGE.partition("The first row that matches is the verdict:")[2].partition("\n\n- **Faithful is relative")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.strip().splitlines()[2:]]
    table = []
    for when, name, _ in rows:
        wants = {check: not before for before, check in re.findall(r"(not )?`(\w+)`", when)}
        table.append((name, wants))
    assert table == list(TABLE)


def test_numbers_are_those_of_the_code() -> None:
    for words in (
        f"there are at least {FEWEST} different texts",
        f"counts only if it is larger than {SMALLEST:g}",
        f"more than {AREA:g} away from 0.5",
        f"by less, than {SMALLEST:g}",
        f"is above {SMALLEST:g}, or below −{SMALLEST:g}",
        f"is below {0.5 - AREA:g}.",
        f"less than {EVEN:g} from uniform",
        f"minus {measuring.KEPT:.0%}".replace("%", " %"),
        f"median of {permutation.DRAWS} seeded permutations",
        f"within {adversarial_weights.EPSILON:g} in total variation",
        f"at most {adversarial_weights.SEARCHED} texts are searched",
        f"texts of more than {adversarial_weights.LONGEST:,} words (or pairs",
        f"on at most {retraining.TEXTS:,} of the run's\ntraining texts for at most {retraining.EPOCHS} epochs",
        f"helps another model. {guided.EPOCHS} epochs",
        f"At most {trained_adversary.TEXTS:,} texts, {trained_adversary.EPOCHS} epochs",
        f"at most {limits.EXACT} words are searched exactly; longer ones by a beam search of\nwidth {limits.WIDTH},",
        f"At most {limits.TEXTS}\nrandom texts (of at most {LONGEST:,} words)",
        f"at most {limits.QUESTIONS} predictions per audited text and {limits.MOST_QUESTIONS:,} in all",
        f"of an empty text, within {emptiness.TOLERANCE:g} in total variation",
        f"Up to {signs.MOST_WORDS:,} words are removed",
        f"by more than {signs.TOLERANCE:g}, and the texts",
        f"for λ = {', '.join(f'{one:g}' for one in trained_adversary.FACTORS[:-1])} and",
        f"at {', '.join(f'{100 * cut.amount:g}' for cut in measuring.CUTS[:-1])} and 50 %",
    ):
        assert words in PAGE, words


def test_every_key_of_the_file_is_in_the_schema() -> None:
    facts = audit_run(the_cause(), one_decides(40), AuditOptions(retrain=True), learned_from=one_decides(60, seed=1))
    schema = PAGE.partition("## audit.json")[2]
    names = {"attention", "tfidf", *Scored._fields, *TRAINING}

    def check(value: object, above: str) -> None:
        if isinstance(value, list):
            for one in value[:1]:
                check(one, above)
        elif isinstance(value, dict):
            for key, entry in value.items():
                known = f'"{key}"' in schema or above in ("correlation", "scores", "checks") or key in names
                assert known, f"{above}.{key}"
                check(entry, key)

    check(facts | {"separation": None}, "")


def test_checks_are_explained() -> None:
    facts = audit_run(the_cause(), one_decides(4), AuditOptions(retrain=True), learned_from=one_decides(40))
    for name in facts["verdict"]["checks"]:
        assert f"`{name}`" in PAGE
