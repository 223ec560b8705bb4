"""results/table.md: accuracy and macro F1 of every system on every corpus, with intervals over the draws."""

from __future__ import annotations

import numpy as np
from cells import DEVELOPMENT, OTHERS, SIZES
from scipy import stats
from storage import RESULTS, Row, read_results
from systems import SYSTEMS


def write_table() -> None:
    results = read_results()
    lines = [
        "# Accuracy and macro F1 by number of training texts",
        "",
        "Written by `python benchmarks/leaderboard table`.",
    ]
    for size in SIZES:
        for measure, title in (("accuracy", "accuracy"), ("macro_f", "macro F1")):
            lines += section(
                [one for one in results if one["size"] == size], measure, f"{size or 'All'} texts: {title}"
            )
    (RESULTS / "table.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))


def section(results: list[Row], measure: str, title: str) -> list[str]:
    """Mean ± half of the 95 % interval over the draws; ± is left out where there is one draw."""
    corpora = [name for name in (*DEVELOPMENT, *OTHERS) if any(one["corpus"] == name for one in results)]
    systems = [name for name in SYSTEMS if any(one["system"] == name for one in results)]
    lines = [
        "",
        f"## {title}",
        "",
        f"| system | {' | '.join(corpora)} | mean |",
        "|---|" + "---:|" * (len(corpora) + 1),
    ]
    for system in systems:
        values = [
            [one[measure] for one in results if (one["system"], one["corpus"]) == (system, corpus)]
            for corpus in corpora
        ]
        means = [np.mean(x) if x else np.nan for x in values]
        mean = f"{np.mean(means):.1f}" if not np.isnan(means).any() else ""
        lines.append(f"| {system} | {' | '.join(map(with_interval, values))} | {mean} |")
    return lines


def with_interval(values: list[float]) -> str:
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.1f} ± {half:.1f}"
