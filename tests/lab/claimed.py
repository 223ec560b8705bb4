"""A table of two methods on two corpora, an axis of settings, and rows for them, for tests of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard_lab.claims.rule_book import Margin, RuleBook, Tier
from regard_lab.claims.verdicts import Given
from regard_lab.reading.table_file import read_table
from regard_lab.tables.table import Table

TOML = """
seeds = 4
measures = ["accuracy", "rmse", "norm"]
[methods.new]
title = "New"
[methods.old]
title = "Old"
[corpora.one]
title = "One"
train = "one"
[corpora.two]
title = "Two"
train = "two"
[printed.one]
new = [90.0]
old = [80.0]
[printed.two]
new = [70.0]
old = [75.0]
"""
AXIS = """
seeds = 4
measures = ["accuracy"]
[methods.m]
[corpora.one]
title = "One"
train = "one"
[settings.low]
title = "p = 0.5"
norm_init = 0.5
[settings.middle]
title = "p = 1"
norm_init = 1.0
[settings.high]
title = "p = 2"
norm_init = 2.0
"""
Rows = dict[tuple[str, str, str], list[dict[str, Any]]]


def table(path: Path, content: str = TOML) -> Table:
    file = path / "table.toml"
    file.write_text(content, encoding="utf-8")
    return read_table(file, "paper/table")


def rows(**values: Sequence[float]) -> Rows:
    """new_one=[…]: the values of `new` on `one` by seed, the same for all measures."""
    result: Rows = {}
    for name, several in values.items():
        method, corpus = name.split("_")
        result[method, corpus, ""] = [
            {"seed": seed, "values": {"accuracy": value, "rmse": value, "norm": value}}
            for seed, value in enumerate(several)
        ]
    return result


BASE = [0.50, 0.51, 0.49, 0.50]
FAR, SAME = (
    [0.60, 0.61, 0.59, 0.601],
    [0.51, 0.50, 0.50, 0.49],
)  # a tenth more, apart from 0.001; and no difference on average

EXACT, PROXY = Tier("exact", ""), Tier("proxy", "")
BOOK = RuleBook(
    margins=[Margin(("accuracy", "rmse"), 0.02, 0.02, 0)],
    tiers={"paper": {"one": EXACT, "two": PROXY, "small": PROXY, "large": PROXY}},
)


def facts(of: Table, of_rows: Rows, **further: Any) -> Given:
    """What a rule is given: `one` has the paper's data, `two` does not; the margin of accuracy and RMSE is 0.02."""
    return Given(of, of_rows, **{"book": BOOK, **further})  # type: ignore[arg-type]
