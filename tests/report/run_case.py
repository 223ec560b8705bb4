"""A handmade report, to test pages without a model."""

from __future__ import annotations

import re
from typing import Any

from analysis_case import analysis

from regard.facts.analysis import AnalysisFacts
from regard.facts.audit import AuditFacts
from regard.facts.history import history as epochs
from regard.facts.measures import Measures
from regard.facts.run import Calibration, CalibrationBin, Mean, RunFacts, ShownText, TextView
from regard.records import Explanation, Prediction, SentenceScore, TokenScore
from regard.report.pages import run as pages
from regard.report.pages import run_figures as drawings
from regard.report.text.exported import Figure, Table

HOSTILE = "He said <script>alert(\"x\")</script> & 'left' \x1b[31mred\x00\r\nend\ud800 "

ARABIC, CHINESE = "فيلم رائع جدا", "这家酒店很好，房间干净。"
INTERVAL = {"n": 40, "mean": 0.3, "low": 0.2, "high": 0.4}
DIFFERENCE = {**INTERVAL, "p": 0.01}


def shown(text: str, label: str | None = "positive", mistake: bool | None = False, views: int = 2) -> dict[str, Any]:
    """Words weigh more along the text; a text that ends in a point is read as a sentence."""
    sentences = (SentenceScore(0, len(text), 1.0),) if text.endswith(".") else ()
    words = list(re.finditer(r"\w+", text))
    total = len(words) * (len(words) + 1) / 2
    tokens = tuple(TokenScore(word[0], *word.span(), place / total) for place, word in enumerate(words, 1))
    prediction = Prediction("positive", {"positive": 0.75, "negative": 0.25})
    one = Explanation(text, prediction, tokens, sentences).as_dict()
    other = {**one, "method": "gradient_times_input", "against": [0], "sentences_against": [0] if sentences else []}
    return {"row": 1, "mistake": mistake, "label": label, "views": [one, other][:views]}


def detail(place: int, text: str, label: int | None) -> dict[str, Any]:
    """A text of an audit: attention on its first word, gradients against its last."""
    spans = [list(word.span()) for word in re.finditer(r"\w+", text)]
    scores = {"attention": [1.0] + [0.0] * (len(spans) - 1), "gradient_times_input": [0.5] * (len(spans) - 1) + [-0.5]}
    facts = {"place": place, "text": text, "label": label, "decided": 1, "probabilities": [0.25, 0.75]}
    return {**facts, "spans": spans, "scores": scores}


def diagnostics() -> dict[str, Any]:
    learned = {"learned_from": 100, "judged_on": 40, "epochs": 2}
    apart = {"by_text": {"divergence": [0.1, None, 0.6]}, "divergence": INTERVAL}
    tau = {"tau": INTERVAL, "deviation": 0.2, "significant": INTERVAL, "histogram": [1] * 20}
    moved = {"draws": 100, **dict.fromkeys(("moved", "largest", "evened", "uneven"), INTERVAL)}
    points = [{"factor": x, "distance": INTERVAL, "divergence": INTERVAL, "accuracy": None} for x in (0.0, 0.1)]
    return {
        "correlation": {"gradient": tau},
        "permutation": {
            **moved,
            "by_largest": [{"from": 0.0, "to": 0.25, "n": 0, "moved": None}],
            "by_text": {"moved": [0.1, None], "largest": [0.5, None]},
        },
        "adversary": {
            "epsilon": 0.01,
            "exact": True,
            "largest": 0.693147,
            "distance": INTERVAL,
            "far": INTERVAL,
            "far_of_possible": INTERVAL,
            **apart,
        },
        "even": {**learned, "attention": INTERVAL, "even": INTERVAL, "difference": DIFFERENCE},
        "seeds": {**learned, **apart, "seeds": 2, "by_seed": [INTERVAL] * 2, "accuracy": [0.8, 0.7, 0.75]},
        "guided": {
            **learned,
            **dict.fromkeys(("guided", "even", "learned"), INTERVAL),
            **dict.fromkeys(("guided_less_even", "guided_less_learned"), DIFFERENCE),
        },
        "trained_adversary": {"learned_from": 100, "epochs": 5, "points": points},
        "word_dropout": word_dropout(learned),
    }


def word_dropout(learned: dict[str, int]) -> dict[str, Any]:
    measured = [
        {"measure": measure, "explainer": name, "mean": INTERVAL}
        | ({} if name == "random" else {"less_random": DIFFERENCE})
        for measure in ("comprehensiveness", "sufficiency")
        for name in ("attention", "gradient", "random")
    ]
    right = {"plain": INTERVAL, "dropout": INTERVAL, "difference": DIFFERENCE}
    return {
        **learned,
        "copies": 99,
        "accuracies": [{"texts": texts, **right} for texts in ("whole", "erased")],
        "judges": [{"name": name, "same": INTERVAL, "measured": measured} for name in ("audited", "plain", "dropout")],
    }


def erasure_checks() -> dict[str, Any]:
    measures = [
        {"measure": name, "lower": INTERVAL, "upper": INTERVAL} for name in ("comprehensiveness", "sufficiency")
    ]
    signed = {
        "name": "gradient_times_input",
        "default": True,
        "marked": 30,
        "raised": 3,
        "share": INTERVAL,
        "top": INTERVAL,
    }
    return {
        "limits": {"texts": 40, "exact": 9, "exact_words": 10, "width": 3, "questions": 900, "measures": measures},
        "emptiness": {
            "tolerance": 0.05,
            "whole": INTERVAL,
            "explainers": [{"name": "attention", "deleted": INTERVAL, "kept": INTERVAL}],
        },
        "signs": {"texts": 40, "words": 200, "tolerance": 1e-6, "explainers": [signed]},
    }


def erasure() -> dict[str, Any]:
    """What puts the measures of erased texts into perspective, which older audits lack."""
    limits = [{"measure": name, "lower": INTERVAL, "upper": INTERVAL} for name in ("comprehensiveness", "sufficiency")]
    signed = {"name": "leave_one_out", "default": True, "marked": 9, "raised": 1, "share": INTERVAL, "top": INTERVAL}
    return {
        "limits": {"texts": 40, "exact": 30, "exact_words": 5, "width": 3, "questions": 999, "measures": limits},
        "emptiness": {
            "tolerance": 0.01,
            "whole": INTERVAL,
            "explainers": [{"name": "attention", "deleted": INTERVAL, "kept": INTERVAL}],
        },
        "signs": {"texts": 40, "words": 200, "tolerance": 0.01, "explainers": [signed]},
    }


def audit() -> dict[str, Any]:
    curves = [
        {"measure": measure, "explainer": name, "better": "larger", "values": [INTERVAL, INTERVAL]}
        | {"mean": INTERVAL, "normalised": INTERVAL}
        for measure in ("comprehensiveness", "sufficiency")
        for name in ("attention", "random")
    ]
    less = {"measure": "comprehensiveness", "one": "attention", "other": "random", **INTERVAL, "p": 0.01, "holm": 0.02}
    return {
        "format": "regard audit 1",
        "run": "runs/reviews",
        "data": "held_out.csv",
        "texts": 40,
        "seed": 0,
        "classes": ["negative", "positive"],
        "model": {
            "encoder": "bilstm",
            "pooling": "attention",
            "levels": 1,
            "attention": "dot",
            "scale": 1.0,
            "head_hidden": False,
        },
        "focus": "attention",
        "explainers": [{"name": "attention", "forward": 1.0, "backward": 0.0}, {"name": "random", "control": True}],
        "faithfulness": {"how": "deletion", "cuts": ["10 %", "20 %"], "curves": curves, "comparisons": [less]}
        | erasure_checks(),
        "agreement": [
            {"one": "attention", "other": "gradient"}
            | dict.fromkeys(("tau", "divergence", "overlap", "overlap_by_chance"), INTERVAL)
        ],
        "plausibility": {
            "texts": 9,
            "share": 0.2,
            "base_rate": INTERVAL,
            "explainers": [{"name": name, "auprc": INTERVAL, "f": INTERVAL} for name in ("attention", "random")],
            "above_chance": DIFFERENCE,
        },
        "diagnostics": diagnostics(),
        "separation": {
            "auc": 0.7,
            "low": 0.6,
            "high": 0.8,
            "tied": 10,
            "neutral": 20,
            "meaning": "",
            "by_type": [{"name": "negative", "auc": 0.7, "low": 0.6, "high": 0.8}],
        },
        "verdict": {
            "name": "partial",
            "title": "Attention points at words that matter, with reservations",
            "checks": {"enough": True, "above_chance": True, "keeps_up": False, "moves": None},
            "may": [{"kind": "may", "text": "As a hint <b>at</b> words.", "evidence": "faithfulness"}],
            "may_not": [{"kind": "may_not", "text": "Not as the only ones.", "evidence": "adversary"}],
            "change": [{"kind": "change", "text": "Try another pooling.", "evidence": "model"}],
        },
        "details": [detail(*given) for given in ((0, "A dull film", 0), (1, ARABIC, 1), (2, CHINESE, None))],
        "left_out": [{"what": "seeds", "why": "it trains models"}],
        "notes": [],
    }


def report(**other: Any) -> dict[str, Any]:
    """Two classes, with all facts."""
    counts = [[30, 10], [5, 55]]
    classes = ["negative", "positive"]
    bins = [{"from": 0.5, "to": 0.75, "n": 40, "said": 0.6, "found": 0.7, "low": 0.55, "high": 0.8}]
    history = [
        {"epoch": k, "loss": 1 / k, "dev": {"accuracy": 0.5 + k / 10}, "norms": {"words": {"mean": k, "std": 0.1}}}
        for k in (1, 2, 3)
    ]
    metrics = {
        "n": 100,
        "accuracy": 0.85,
        "accuracy_interval": [0.77, 0.91],
        "per_class": {
            name: {"precision": 0.8, "recall": 0.8, "f": 0.8, "n": 50, "f_interval": [0.7, 0.9]} for name in classes
        },
        "confusion": {"labels": classes, "counts": counts},
    }
    facts = {
        "run": "runs/reviews",
        "data": "held_out.csv",
        "facts": {"model": "bilstm"},
        "task": "binary",
        "classes": classes,
        "metrics": metrics,
        "measured_on": "held_out.csv",
        "caution": "",
        "calibration": {
            "kind": "classes",
            "bins": bins,
            "error": 0.1,
            "excess": {"mean": 0.1, "low": 0.05, "high": 0.15},
        },
        "history": history,
        "analysis": analysis(),
        "audit": AuditFacts.from_json(audit()),
        "no_audit": "",
        "texts": [
            shown("A dull film", "negative", True),
            shown("A lovely film"),
            shown(ARABIC, "negative", True),
            shown(CHINESE),
            shown("One sentence here.", views=1),
        ],
        "texts_in_all": 100,
        "notes": [],
    }
    return facts | other


def facts_of(facts: dict[str, Any]) -> RunFacts:
    """From the output of `report`."""
    given = {key: value for key, value in facts.items() if key not in ("metrics", "texts", "notes", "classes")}
    given["measures"] = None if facts["metrics"] is None else Measures.of(facts["metrics"])
    given["calibration"] = None if facts["calibration"] is None else calibration_of(facts["calibration"])
    given["history"] = epochs(facts["history"])
    given["analysis"] = None if facts["analysis"] is None else AnalysisFacts.from_json(facts["analysis"])
    texts = tuple(text_of(text) for text in facts["texts"])
    return RunFacts(**given, texts=texts, notes=tuple(facts["notes"]), classes=tuple(facts["classes"]))


def calibration_of(given: dict[str, Any]) -> Calibration:
    bins = tuple(CalibrationBin(*one.values()) for one in given["bins"])
    return Calibration(given["kind"], bins, given["error"], Mean(**given["excess"]))


def text_of(text: dict[str, Any]) -> ShownText:
    views = []
    for view in text["views"]:
        against = tuple(view["against"]) if "against" in view else None
        views.append(TextView(Explanation.from_dict(view), against, tuple(view.get("sentences_against", ()))))
    return ShownText(f"row {text['row']}", text["mistake"], text["label"], tuple(views))


def run_figures(facts: dict[str, Any]) -> dict[str, Figure]:
    return drawings.run_figures(facts_of(facts))


def run_tables(facts: dict[str, Any]) -> dict[str, Table]:
    return pages.run_tables(facts_of(facts))


def run_page(values: dict[str, Any]) -> str:
    facts = facts_of(values)
    return pages.run_page(facts, drawings.run_figures(facts), pages.run_tables(facts))
