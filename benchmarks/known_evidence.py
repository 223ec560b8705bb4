"""Attention compared with known evidence: in the built-in reviews, the words that decide the stars are known.

    python benchmarks/known_evidence.py [--seeds 5] [--save]

Models are trained on whole reviews and their stars; they read word vectors alone, or the states of a BiLSTM, which also depend
on other words. Their weights on the words of the test reviews are compared with the deciding words: AUPRC (average
precision), token F of as large a share of the words as decides on average, and the weight on the deciding words, means over
texts. Intervals are 95 %, over seeds (Student's t); reviews are the same for all. Values for random words are exact: F and
AUPRC are expectations over all orders of the words, the base rate is the share of deciding words. AUPRC and F depend on the
ranking only, so APLN's α and α^p get the same. `--save` adds the figures to results/known_evidence.json; the printed table is
in docs/faithfulness.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from figures import machine, save_figures

from regard.config import Config
from regard.data.reviews import splits
from regard.demo import SETTINGS
from regard.explain.attribute import weights_only
from regard.faithfulness.plausibility import against_rationales, plausibility
from regard.faithfulness.scored import from_explanation
from regard.training.fit import Parts, fit
from regard_lab.statistics import mean_interval

RESULTS = Path(__file__).parent / "results" / "known_evidence.json"
PLAIN = {**{name: SETTINGS[name] for name in ("hidden", "query", "embedding", "lr", "dropout")}, "device": "cpu"}
ENCODERS = {"embedding": "word vectors", "bilstm": "BiLSTM"}
POOLINGS: dict[str, dict[str, Any]] = {
    "attention": {"pooling": "attention"},
    "attention, deeper head": {
        "pooling": "attention",
        "head_hidden": True,
    },  # the same head as the bottleneck's learner
    "APLN": {"pooling": "apln"},
    "bottleneck": {"pooling": "bottleneck"},
}
MODELS: dict[str, dict[str, Any]] = {
    "default model": {},
    **{
        f"{encoder_title}, {pooling_title}": {**PLAIN, "encoder": encoder, "engine": "torch", **pooling}
        for encoder, encoder_title in ENCODERS.items()
        for pooling_title, pooling in POOLINGS.items()
    },
}
MEASURES = {"accuracy": "accuracy", "auprc": "AUPRC", "f": "F", "weight": "weight on them"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="models per kind (default: 5)")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {"seeds": arguments.seeds, "models": {}}
    for name, options in MODELS.items():
        rows = [measured(options, seed) for seed in range(arguments.seeds)]
        figures["chance"] = rows[0].pop("chance")
        figures["models"][name] = {measure: [row[measure] for row in rows] for measure in MEASURES}
        print(table_row(name, figures["models"][name]), flush=True)
    print("\n" + table(figures))
    if arguments.save:
        save_figures(RESULTS, {**figures, "machine": machine("numpy", "numba")})


def measured(options: dict[str, Any], seed: int) -> dict[str, Any]:
    corpus = splits()
    test = corpus["test"]
    config = Config().override({"task": "multiclass", "seed": seed, **options})
    trained = fit(config, Parts(corpus["train"], corpus["dev"], test))
    explanations = list(weights_only(trained, [example.text for example in test]))
    evidence = [example.evidence for example in test]
    truth = against_rationales([from_explanation(one) for one in explanations], evidence)
    random = {"auprc": truth.random_auprc, "f": truth.random_tokens.f.mean(), "base_rate": truth.base_rate}
    return {
        "accuracy": float(trained.metrics["test"]["accuracy"]),
        "auprc": float(np.nanmean(truth.auprc)),
        "f": float(truth.tokens.f.mean()[0]),
        "weight": plausibility(explanations, evidence)["weight_on_evidence"],
        "chance": {name: float(np.nanmean(values)) for name, values in random.items()},
    }


def table(figures: dict[str, Any]) -> str:
    random = figures["chance"]
    last = ["random words", "", f"{random['auprc']:.3f}", f"{random['f']:.3f}", f"{random['base_rate']:.3f}"]
    rows = [line(["", *MEASURES.values()]), line(["---"] * (1 + len(MEASURES)))]
    rows += [table_row(name, values) for name, values in figures["models"].items()]
    return "\n".join([*rows, line(last)])


def table_row(name: str, values: dict[str, list[float]]) -> str:
    means = [one for measure in MEASURES if (one := mean_interval(values[measure]))]
    return line([name, *(f"{one.mean:.3f}" + (f" ± {one.half:.3f}" if one.half else "") for one in means)])


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
