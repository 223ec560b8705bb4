"""Synthetic analyses in the form of analysis.json: tokens of two or more classes, with or without a recording."""

from __future__ import annotations

import math
import random
from statistics import fmean, pstdev, quantiles
from typing import Any

from regard.facts.analysis import AnalysisFacts
from regard.report.pages import analysis as analysis_pages
from regard.report.pages.analysis_figures import figures as figures_of

Analysis = dict[str, Any]  # what analysis.json holds
SYLLABLES = (
    "ba",
    "co",
    "du",
    "fe",
    "gi",
    "ho",
    "ka",
    "lu",
    "me",
    "ni",
    "po",
    "ra",
    "si",
    "tu",
    "ve",
    "bran",
    "dri",
    "flu",
)
TERMS = ("A", "B", "C", "D", "E", "F")


def analysis(
    classes: tuple[str, ...] = ("negative", "positive"),
    tied: int = 60,
    neutral: int = 150,
    untyped: int = 20,
    moments: int = 0,
    seed: int = 0,
) -> Analysis:
    """`tied` tokens of each class; `moments` of a recording, 0 for none."""
    rng = random.Random(seed)
    names = [*classes, "neutral"]
    tokens = [
        token(rng, kind, classes)
        for kind, count in [*((name, tied) for name in classes), ("neutral", neutral), (None, untyped)]
        for _ in range(count)
    ]
    distinct(tokens, rng)
    return {
        "run": "runs/films",
        "data": "films.csv",
        "texts": 12345,
        "task": "binary" if len(classes) == 2 else "multiclass",
        "classes": list(classes),
        "model": {"form": "DP", "encoder": "embedding", "attention": "dot", "scale": 10.0},
        "scores": "global",
        "types": [one_type(name, [t for t in tokens if t["type"] == name]) for name in names],
        "separation": {
            "auc": 0.912,
            "low": 0.887,
            "high": 0.937,
            "tied": tied * len(classes),
            "neutral": neutral,
            "by_type": [{"name": name, "auc": 0.9, "low": 0.86, "high": 0.94} for name in classes],
            "meaning": "Attention tells the words of a class from neutral ones well.",
        },
        "vtw": vtw(len(classes)),
        "flow": {
            "polarity": {term: {name: rng.gauss(0, 1e-3) for name in names} for term in "ABC"},
            "attention": {term: {name: rng.gauss(0, 1e-4) for name in names} for term in "DEF"},
        },
        "dot_products": [
            {"pair": pair, **box([rng.gauss(1.5 if pair[0] == pair[1] else -0.5, 0.6) for _ in range(80)])}
            for pair in pairs(names)
        ],
        "words": {
            name: sorted((t for t in tokens if t["type"] == name), key=lambda t: -abs(t["polarity"]))[:20]
            for name in classes
        },
        "tokens": tokens,
        "recording": recording(tokens, names, moments, rng) if moments else None,
        "notes": ["Types come from the training texts.", "Weights are means over the texts of films.csv."],
    }


def without_interval(facts: Analysis) -> Analysis:
    """As with too few words of a kind."""
    unknown = {"low": None, "high": None}
    by_type = [one | unknown for one in facts["separation"]["by_type"]]
    return facts | {"separation": facts["separation"] | unknown | {"by_type": by_type, "meaning": "Too few words."}}


def token(rng: random.Random, kind: str | None, classes: tuple[str, ...]) -> Analysis:
    strength = abs(rng.gauss(2.2, 1.0)) if kind in classes else abs(rng.gauss(0, 0.35))
    sign = -1 if (kind == classes[0] if kind in classes else rng.random() < 0.5) else 1
    by_class = None
    if len(classes) > 2:
        index = classes.index(kind) if kind in classes else 0
        by_class = [strength if k == index else rng.gauss(-0.3, 0.2) for k in range(len(classes))]
        strength, sign = strength - fmean(value for k, value in enumerate(by_class) if k != index), 1
    attention = 0.55 * strength + rng.gauss(-0.4, 0.45)
    return {
        "token": "".join(rng.choices(SYLLABLES, k=rng.randint(2, 3))),
        "type": kind,
        "polarity": sign * strength,
        "by_class": by_class,
        "attention": attention,
        "weight": None if kind is None else 0.05 * math.exp(attention) / 3,
        "count": int(6 + rng.expovariate(0.01)),
        "gamma": sign * (0.9 if kind in classes else 0.02),
    }


def distinct(tokens: list[Analysis], rng: random.Random) -> None:
    seen: set[str] = set()
    for one in tokens:
        while one["token"] in seen:
            one["token"] += rng.choice(SYLLABLES)
        seen.add(one["token"])


def box(values: list[float]) -> dict[str, float] | None:
    if len(values) < 2:
        return None
    q1, median, q3 = quantiles(values, n=4)
    ends = {"min": min(values), "q1": q1, "median": median, "q3": q3, "max": max(values)}
    return {"mean": fmean(values), "std": pstdev(values), **ends}


def one_type(name: str, tokens: list[Analysis]) -> Analysis:
    scores = {key: box([t[key] for t in tokens]) for key in ("polarity", "attention", "weight")}
    return {"name": name, "count": len(tokens), **scores}


def vtw(classes: int) -> Analysis:
    outputs = 1 if classes == 2 else classes
    return {
        "values": [-0.21] * outputs,
        "products": [-2.1] * outputs,
        "cosines": [-0.04] * outputs,
        "norm_v": 3.5,
        "norms_w": [4.25] * outputs,
        "meaning": "V and W stand almost at right angles: attention favours no class.",
    }


def pairs(names: list[str]) -> list[list[str]]:
    return [[one, other] for place, one in enumerate(names) for other in names[place:]]


def recording(tokens: list[Analysis], names: list[str], moments: int, rng: random.Random) -> Analysis:
    """Scores that grow from about nothing to what the tokens have, each at a different rate."""
    kept = [t for name in names for t in [t for t in tokens if t["type"] == name][: 600 // len(names)]]
    growth = [1 - math.exp(-4 * place / max(moments - 1, 1)) for place in range(moments)]
    wobble = [rng.uniform(0.5, 1.5) for _ in kept]
    polarity = [[t["polarity"] * g**w for t, w in zip(kept, wobble, strict=True)] for g in growth]
    attention = [[t["attention"] * g ** (1 / w) for t, w in zip(kept, wobble, strict=True)] for g in growth]
    outputs = 1 if len(names) == 3 else len(names) - 1
    return {
        "moments": [round(0.25 * place, 2) for place in range(moments)],
        "tokens": [t["token"] for t in kept],
        "types": [t["type"] for t in kept],
        "polarity": polarity,
        "attention": attention,
        "by_type": {
            name: {"polarity": bands(polarity, kept, name), "attention": bands(attention, kept, name)}
            for name in dict.fromkeys(t["type"] for t in kept)
        },
        "dot_products": [
            {"pair": pair, "mean": [g * (2 if pair[0] == pair[1] else -1) for g in growth]} for pair in pairs(names)
        ],
        "vtw": [[-0.2 * g] * outputs for g in growth],
        "norm_v": [1 + 2.5 * g for g in growth],
        "norms_w": [[1 + 3.25 * g] * outputs for g in growth],
        "terms": {term: {name: [rng.gauss(0, 1e-3) * (1 - g) for g in growth] for name in names} for term in TERMS},
    }


def bands(scores: list[list[float]], kept: list[Analysis], name: str) -> list[list[float]] | None:
    indices = [index for index, t in enumerate(kept) if t["type"] == name]
    if len(indices) < 2:
        return None
    result = []
    for moment in scores:
        q1, _, q3 = quantiles([moment[index] for index in indices], n=4)
        result.append([fmean(moment[index] for index in indices), q1, q3])
    return result


def figures(facts: Analysis) -> dict[str, str]:
    return figures_of(AnalysisFacts.from_json(facts))


def analysis_page(facts: Analysis) -> str:
    return analysis_pages.analysis_page(AnalysisFacts.from_json(facts), figures(facts))
