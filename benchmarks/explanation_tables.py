"""The results of explanations.py as the Markdown tables of docs/explanations.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

METHODS = {
    "weight": "weight alone",
    "gradient_times_input": "gradient × input",
    "two_point_gradients": "two-point gradients",
    "integrated_gradients": "integrated gradients",
    "leave_one_out": "leave-one-out",
    "random": "random",
}
NAMES = {"20newsgroups": "20 Newsgroups", "ag_news": "AG News", "sst2": "SST-2", "trec": "TREC", "yelp_small": "Yelp"}


def tables(saved: dict[str, Any]) -> dict[str, str]:
    """By name."""
    return {
        "signs": signs_table(saved["signs"]),
        "shapley": shapley_table(saved["shapley"]),
        "faithfulness": faithfulness_table(saved["faithfulness"]["test"]),
        "candidates": candidates_table(saved["faithfulness"]["dev"]),
    }


def signs_table(corpora: dict[str, Any]) -> str:
    head = (
        "corpus",
        "texts (words)",
        "top word against: weight",
        "contribution",
        "wrong among top ten: weight",
        "contribution",
        "wrong of all words: contribution",
        "largest difference",
        "cost: closed form, `explain`",
    )
    return as_table(head, (signs_row(NAMES[name], row) for name, row in corpora.items()))


def signs_row(name: str, row: dict[str, Any]) -> list[str]:
    weight, contribution = row["weight"], row["contribution"]
    cells = [percent(one[measure]) for measure in ("top_against", "wrong_top_ten") for one in (weight, contribution)]
    every = contribution["wrong_all"]
    return [
        name,
        f"{row['texts']:,} ({row['words']:,})",
        *cells,
        f"{every['wrong']} of {every['of']:,}",
        f"{row['largest_difference']:.1e}",
        f"{row['cost']['closed_form']:.1f}, {row['cost']['explain']:.0f}",
    ]


def shapley_table(corpora: dict[str, Any]) -> str:
    head = (
        "corpus",
        "texts",
        "top word against: weight",
        "contribution",
        "wrong among top ten: weight",
        "contribution",
        "contribution, certain signs only",
        "uncertain signs: all words, top ten",
    )
    return as_table(head, (shapley_row(NAMES[name], row) for name, row in corpora.items()))


def shapley_row(name: str, row: dict[str, Any]) -> list[str]:
    weight, contribution = row["weight"], row["contribution"]
    cells = [
        percent(one["all"][measure]) for measure in ("top_against", "wrong_top_ten") for one in (weight, contribution)
    ]
    uncertain = [f"{100 * one['share']:.1f} %" for one in (row["uncertain"], contribution["uncertain_top_ten"])]
    return [name, str(row["texts"]), *cells, percent(contribution["certain"]["wrong_top_ten"]), ", ".join(uncertain)]


MEASURES = ("comprehensiveness", "sufficiency", "AOPC@5", "top word against", "wrong among top ten", "cost")


def faithfulness_table(corpora: dict[str, Any]) -> str:
    rows = (
        [model, NAMES[corpus], title(method, figures), *measured_cells(figures["methods"][method])]
        for model in next(iter(corpora.values()))
        for corpus, models in corpora.items()
        for figures in (models[model],)
        for method in METHODS
    )
    return as_table(("model", "corpus", "method", *MEASURES), rows)


def title(method: str, figures: dict[str, Any]) -> str:
    """The default is bold."""
    return f"**{METHODS[method]}**" if method == figures["contribution_is"] else METHODS[method]


def candidates_table(corpora: dict[str, Any]) -> str:
    """Methods that could be the default, on dev texts: means over the corpora."""
    by_model = {model: [models[model] for models in corpora.values()] for model in next(iter(corpora.values()))}
    rows = (
        [model, METHODS.get(method, method.replace("_", " ")), *mean_cells([one["methods"][method] for one in figures])]
        for model, figures in by_model.items()
        for method in figures[0]["methods"]
    )
    return as_table(("model", "method", *MEASURES), rows)


def measured_cells(values: dict[str, Any]) -> list[str]:
    curves = [with_interval(values[name]) for name in ("comprehensiveness", "sufficiency")]
    shares = [with_interval(values[name], 100, 1) for name in ("aopc_5", "top_against", "wrong_top_ten")]
    return [*curves, *shares, multiple(values["cost"])]


def mean_cells(rows: Sequence[dict[str, Any]]) -> list[str]:
    def mean(name: str) -> float:
        return sum(row[name][0] for row in rows) / len(rows)

    curves = [f"{mean(name):.3f}".replace("-", "−") for name in ("comprehensiveness", "sufficiency")]
    shares = [f"{100 * mean(name):.1f}" for name in ("aopc_5", "top_against", "wrong_top_ten")]
    return [*curves, *shares, multiple(sum(row["cost"] for row in rows) / len(rows))]


def with_interval(values: Sequence[float], factor: float = 1, decimals: int = 3) -> str:
    mean, low, high = (f"{factor * value:.{decimals}f}".replace("-", "−") for value in values)
    return f"{mean} ({low} to {high})"


def percent(proportion: dict[str, Any]) -> str:
    low, high = (100 * end for end in proportion["interval"])
    return f"{100 * proportion['share']:.1f} ({low:.1f} to {high:.1f})"


def multiple(cost: float) -> str:
    return f"{cost:.1f}" if cost < 10 else f"{cost:.0f}"


def as_table(head: Sequence[str], rows: Iterator[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
