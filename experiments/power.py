"""How many seeds would decide a comparison: a power calculation from the committed rows, for PROTOCOL.md.

    python experiments/power.py

For each comparison of a learned norm (or of VAT) with its baseline: the mean and standard deviation of the paired differences
so far; the difference printed in the paper; the seeds that a two-sided paired t-test at 5 % needs to detect that difference
with 80 % power; and the seeds that two one-sided tests need to show equivalence within the margin if the true difference is 0.
Accuracies are in points. A standard deviation from few seeds is itself uncertain: the numbers of seeds are orders of magnitude.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

from regard_lab.power import MOST, equivalence_power, seeds_for, t_test_power

HERE = Path(__file__).parent
COMPARISONS = {
    "apln/table2": (
        "accuracy",
        100,
        0.5,
        [("cnn-apln", "cnn-attention"), ("lstm-apln", "lstm-attention"), ("han-apln", "han")],
    ),
    "apln/table3": (
        "rmse",
        -1,
        0.01,
        [("cnn-apln", "cnn-attention"), ("lstm-apln", "lstm-attention"), ("han-apln", "han")],
    ),
    "vat/table2": ("accuracy", 100, 0.5, [("vat", "att"), ("bert-vat", "bert-att")]),
}


def shown_seeds(power_of: Callable[[int], float]) -> str:
    seeds = seeds_for(power_of)
    return f"> {MOST}" if seeds is None else str(seeds)


def main() -> None:
    print(
        "| table | corpus | comparison | seeds | difference | SD | paper | seeds for it | margin | seeds for equivalence |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for table, (measure, sign, margin, pairs) in COMPARISONS.items():
        plan = tomllib.loads((HERE / f"{table}.toml").read_text(encoding="utf-8"))
        index = plan["measures"].index(measure)
        values = {}
        for line in (HERE / f"{table}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if measure in row.get("values", {}):
                values[row["corpus"], row["method"], row["seed"]] = row["values"][measure]
        for corpus in plan["corpora"]:
            for first, second in pairs:
                seeds = [s for c, m, s in values if c == corpus and m == first and (corpus, second, s) in values]
                if len(seeds) < 3:
                    continue
                differences = [sign * (values[corpus, first, s] - values[corpus, second, s]) for s in seeds]
                spread = stdev(differences)
                printed = plan.get("printed", {}).get(corpus, {})
                effect = None
                if first in printed and second in printed:
                    effect = (printed[first][index] - printed[second][index]) * (1 if sign > 0 else -1)
                needed = shown_seeds(lambda n, e=effect, d=spread: t_test_power(e, d, n)) if effect else "–"
                shown = shown_seeds(lambda n, m=margin, d=spread: equivalence_power(m, d, n))
                effect_text = f"{effect:+.3g}" if effect is not None else "–"
                print(
                    f"| {table} | {corpus} | {first} − {second} | {len(seeds)} | {mean(differences):+.3f} | {spread:.3f} "
                    f"| {effect_text} | {needed} | {margin:g} | {shown} |"
                )


if __name__ == "__main__":
    main()
