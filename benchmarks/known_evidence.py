"""Attention beside the truth: on the built-in reviews, the words that decide a text's stars are known.

    python benchmarks/known_evidence.py [--seeds 5] [--save]

Models learn from whole reviews and their stars; each reads word vectors alone, or the states of a BiLSTM, which know of
other words, too. The weights that they give to the words of the test reviews are set against the deciding words: AUPRC
(average precision), token F of as large a share of the words as decides on average, and the weight that lies on them,
means over texts. Intervals are 95 %, over seeds (Student's t); reviews are the same for all. Chance is calculated: F and
AUPRC are expectations over all orders of the words, the base rate is the share of words that decide. A rank is all that
AUPRC and F see, so APLN's α and α^p get the same. `--save` puts the figures into results/known_evidence.json; the table that
is printed stands in docs/faithfulness.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from keeping import keep, machine

from regard.config import Config
from regard.data.reviews import splits
from regard.demo import SETTINGS
from regard.explain.explain import explain
from regard.faithfulness.plausibility import against_rationales, plausibility
from regard.faithfulness.scored import from_explanation
from regard.training.fit import Parts, fit
from regard_lab.statistics import interval

RESULTS = Path(__file__).parent / "results" / "known_evidence.json"
PLAIN = {**{name: SETTINGS[name] for name in ("hidden", "query", "embedding", "lr", "dropout")}, "device": "cpu"}
ENCODERS = {"embedding": "word vectors", "bilstm": "BiLSTM"}
POOLINGS: dict[str, dict[str, Any]] = {
    "attention": {"pooling": "attention"},
    "attention, deeper head": {"pooling": "attention", "head_hidden": True},  # the head of the bottleneck's learner
    "APLN": {"pooling": "apln"},
    "bottleneck": {"pooling": "bottleneck"},
}
MODELS: dict[str, dict[str, Any]] = {
    "default model": {},
    **{
        f"{read}, {pooled}": {**PLAIN, "encoder": encoder, "engine": "torch", **pooling}
        for encoder, read in ENCODERS.items()
        for pooled, pooling in POOLINGS.items()
    },
}
MEASURES = {"accuracy": "accuracy", "auprc": "AUPRC", "f": "F", "weight": "weight on them"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="models of each kind (default: 5)")
    parser.add_argument("--save", action="store_true", help=f"keep the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    found: dict[str, Any] = {"seeds": arguments.seeds, "models": {}}
    for name, options in MODELS.items():
        rows = [measured(options, seed) for seed in range(arguments.seeds)]
        found["chance"] = rows[0].pop("chance")
        found["models"][name] = {measure: [row[measure] for row in rows] for measure in MEASURES}
        print(table_row(name, found["models"][name]), flush=True)
    print("\n" + table(found))
    if arguments.save:
        keep(RESULTS, {**found, "machine": machine("numpy", "numba")})


def measured(options: dict[str, Any], seed: int) -> dict[str, Any]:
    corpus = splits()
    test = corpus["test"]
    config = Config().override({"task": "multiclass", "seed": seed, **options})
    trained = fit(config, Parts(corpus["train"], corpus["dev"], test))
    explanations = list(explain(trained, [example.text for example in test]))
    evidence = [example.evidence for example in test]
    truth = against_rationales([from_explanation(one) for one in explanations], evidence)
    chance = {"auprc": truth.random_auprc, "f": truth.random_tokens.f.mean(), "base_rate": truth.base_rate}
    return {
        "accuracy": float(trained.metrics["test"]["accuracy"]),
        "auprc": float(np.nanmean(truth.auprc)),
        "f": float(truth.tokens.f.mean()[0]),
        "weight": plausibility(explanations, evidence)["weight_on_evidence"],
        "chance": {name: float(np.nanmean(values)) for name, values in chance.items()},
    }


def table(found: dict[str, Any]) -> str:
    chance = found["chance"]
    by_chance = ["words by chance", "", f"{chance['auprc']:.3f}", f"{chance['f']:.3f}", f"{chance['base_rate']:.3f}"]
    rows = [line(["", *MEASURES.values()]), line(["---"] * (1 + len(MEASURES)))]
    rows += [table_row(name, own) for name, own in found["models"].items()]
    return "\n".join([*rows, line(by_chance)])


def table_row(name: str, own: dict[str, list[float]]) -> str:
    means = [one for measure in MEASURES if (one := interval(own[measure]))]
    return line([name, *(f"{one.mean:.3f}" + (f" ± {one.half:.3f}" if one.half else "") for one in means)])


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
