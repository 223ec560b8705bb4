"""`regard reproduce --check`: whether a rerun agrees with the published rows within noise."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from claimed import table
from scipy import stats

from command import Regard
from regard_lab.results import Results
from regard_lab.running.check import DIFFERS, IDENTICAL, UNKNOWN, WITHIN, Check, compare, noise_test, report
from regard_lab.tables.table import Table

PUBLISHED = [0.80, 0.81, 0.79, 0.82, 0.80]


def results(values: Sequence[float], method: str = "new", checksum: str = "a") -> Results:
    rows = {
        (method, "one", "", seed): {
            "method": method,
            "corpus": "one",
            "setting": "",
            "seed": seed,
            "values": {"accuracy": value},
            "data": {"one.csv": checksum},
        }
        for seed, value in enumerate(values)
    }
    return Results(rows, 0, [])  # type: ignore[arg-type]


@pytest.fixture
def toy(tmp_path: Path) -> Table:
    return table(tmp_path)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (PUBLISHED[:3], IDENTICAL),
        ([0.805, 0.79, 0.81], WITHIN),
        ([0.70, 0.71, 0.69], DIFFERS),
        ([0.805], WITHIN),
        ([0.60], DIFFERS),
    ],
)
def test_a_number_is_identical_within_noise_or_different(toy: Table, values: list[float], expected: str) -> None:
    result = compare(toy, results(values), results(PUBLISHED))
    assert [one.result for one in result.compared] == [expected]
    assert result.agrees is (expected != DIFFERS)


def test_one_published_seed_can_only_be_repeated(toy: Table) -> None:
    assert [one.result for one in compare(toy, results([0.8, 0.9]), results([0.7])).compared] == [UNKNOWN]
    assert [one.result for one in compare(toy, results([0.7]), results([0.7])).compared] == [IDENTICAL]


def test_the_noise_is_welchs_test() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 1, 4), rng.normal(0.5, 2, 9)
    p, half = noise_test(first.tolist(), second.tolist(), float(first.mean() - second.mean()))
    test = stats.ttest_ind(first, second, equal_var=False)
    low, high = test.confidence_interval(0.95)
    assert p == pytest.approx(test.pvalue)
    assert half == pytest.approx((high - low) / 2)


def test_many_numbers_are_corrected_together(toy: Table) -> None:
    """0.763 alone would differ (p = 0.03); among forty numbers it is to be expected."""
    alone = compare(toy, results([0.763]), results(PUBLISHED))
    assert alone.compared[0].p is not None
    assert 0.01 < alone.compared[0].p < 0.05
    assert not alone.agrees
    ours, theirs = {}, {}
    for corpus in ("one", "two"):
        for method in ("new", "old"):
            for target, values in (
                (ours, [0.763] if (method, corpus) == ("new", "one") else [0.805]),
                (theirs, PUBLISHED),
            ):
                for key, row in results(values, method).rows.items():
                    target[method, corpus, "", key[3]] = {**row, "corpus": corpus}
    together = compare(toy, Results(ours, 0, []), Results(theirs, 0, []))  # type: ignore[arg-type]
    assert len(together.compared) == 4
    assert together.agrees


def test_the_report_ends_with_a_conclusion(toy: Table) -> None:
    theirs = results(PUBLISHED)
    theirs.rows.update(results(PUBLISHED, "old").rows)
    result = compare(toy, results([0.70, 0.71, 0.69], checksum="b"), theirs)
    lines = list(report(result))
    assert lines[0].startswith("differs: One, New, Accuracy: 70.00 (3 seeds) against 80.40 (5 seeds), −10.40 ± ")
    assert lines[1] == "one.csv: not the file of the published results"
    conclusion = (
        "paper/table: differs from the published rows (1 number in 1 cell: 1 differs; 1 published cell not run again)"
    )
    assert lines[-1] == conclusion
    empty = Check(toy, [], 3, [])
    assert list(report(empty)) == ["paper/table: nothing to compare; 3 published cells not run again"]


def test_the_command(regard: Regard, experiments: Path, corpora: Path, tmp_path: Path) -> None:
    """Published rows that are made up; the rerun is trained."""
    here = ("--jobs", "0", "--device", "cpu", "--seeds", "2", "--only", "films/plain")
    assert regard("reproduce", "toy/table", "--check").code == 2
    assert regard("reproduce", "toy/table", *here).code == 0
    published = experiments / "table.jsonl"
    lines = (tmp_path / "reproduced" / "toy" / "table.jsonl").read_text(encoding="utf-8").splitlines()
    published.write_text("\n".join(lines) + "\n", encoding="utf-8")
    same = regard("reproduce", "toy/table", "--check")
    assert same.code == 0
    conclusion = same.out.splitlines()[-1]
    assert re.match(r"toy/table: agrees with the published rows within noise \(\d+ numbers? in 1 cell: ", conclusion)
    moved = []
    for line in lines:
        row = json.loads(line)
        row["values"] = {name: value + 10 + row["seed"] / 1000 for name, value in row["values"].items()}
        moved.append(json.dumps(row))
    published.write_text("\n".join(moved) + "\n", encoding="utf-8")
    other = regard("reproduce", "toy/table", "--check")
    assert other.code == 1
    assert "toy/table: differs from the published rows" in other.out
    assert "cannot be combined with --check" in regard("reproduce", "toy/table", "--check", "--seeds", "1").error
