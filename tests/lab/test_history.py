"""Each change of a verdict has one reason: a version of the rules, or new runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import InputError
from regard_lab.claims.history import NEW_RUNS, read_history, steps_of

TOML = """
rows_of_version_0 = "aaa"
[[state]]
rules = 2
rows = "aaa"
[state.changed]
p-1 = "refuted"
[[state]]
rules = 2
rows = "bbb"
[state.changed]
p-2 = "partly"
[[state]]
rules = 3
rows = "bbb"
[state.changed]
p-1 = "partly"
"""


def written(folder: Path, further: str) -> Path:
    first = 'p-1 = "not here"\np-2 = "holds"\np-3 = "cannot be tested with the available data"\n'
    (folder / "verdicts_version_0.toml").write_text(first, encoding="utf-8")
    (folder / "verdict_history.toml").write_text(further, encoding="utf-8")
    return folder


def test_each_change_names_the_rules_or_the_runs(tmp_path: Path) -> None:
    states = read_history(written(tmp_path, TOML))
    assert steps_of("p-1", "partly", states, 3) == [
        ("not here", "refuted", "version 2 of the rules"),
        ("refuted", "partly", "version 3 of the rules"),
    ]
    assert steps_of("p-2", "holds", states, 3) == [("holds", "partly", NEW_RUNS), ("partly", "holds", NEW_RUNS)]
    assert steps_of("p-3", "cannot be tested", states, 3) == [], "renamed, not changed"
    assert steps_of("p-4", "holds", states, 3) == [], "newer than version 0"


def test_rules_and_rows_that_change_together_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\[\[state\]\] 1: expected other rules or other rows .*, got both"):
        read_history(written(tmp_path, TOML.replace('rules = 2\nrows = "aaa"', 'rules = 2\nrows = "ccc"')))
    with pytest.raises(InputError, match="got neither"):
        read_history(written(tmp_path, TOML.replace('rules = 2\nrows = "bbb"', 'rules = 2\nrows = "aaa"')))


def test_a_verdict_of_rules_without_a_state_is_an_error(tmp_path: Path) -> None:
    states = read_history(written(tmp_path, TOML))
    with pytest.raises(InputError, match=r"expected a \[\[state\]\] with the verdicts of version 4 of the rules"):
        steps_of("p-1", "holds", states, 4)


def test_without_version_0_nothing_has_changed(tmp_path: Path) -> None:
    assert read_history(tmp_path) == []
    assert steps_of("p-1", "holds", [], 1) == []
