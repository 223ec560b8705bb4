"""The numbers of an analysis as words: what the terminal and the page say alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regard.report.pages.analysis_scores import Found
from regard.report.text.characters import one_line

CLASSES = 6  # more than this are counted instead of named
SCORES = {"global": "of each token alone", "local": "means over the places where a token stands"}


def unit_name(found: Found) -> str:
    """What has a vector and scores of its own."""
    return "word piece" if found["model"]["encoder"] == "bert" else "word"


def facts(found: Found) -> dict[str, str]:
    """What was analysed."""
    model, classes = found["model"], found["classes"]
    read = f"{one_line(model['encoder'])}, {one_line(model['attention'])} attention"
    return {
        "run": one_line(found["run"]),
        "data": one_line(found["data"]),
        "texts": f"{found['texts']:,}",
        "classes": ", ".join(map(one_line, classes)) if len(classes) <= CLASSES else f"{len(classes)}",
        "model": read if model["form"] == read else f"{one_line(model['form'])} ({read})",
        "λ": f"{model['scale']:g}",
        "scores": SCORES.get(found["scores"], one_line(found["scores"])),
    }


def numbers_of_types(found: Found) -> list[dict[str, str]]:
    """For each type its size and means; a dash where it has no tokens or no weights."""
    return [
        {
            "name": one_line(kind["name"]),
            "count": f"{kind['count']:,}",
            "polarity": signed(mean(kind["polarity"])),
            "attention": signed(mean(kind["attention"])),
            "weight": weight(mean(kind["weight"])),
        }
        for kind in found["types"]
    ]


def strongest(found: Found, most: int) -> dict[str, list[dict[str, str]]]:
    """The first words of each class with their numbers."""
    return {
        name: [
            {
                "token": one_line(word["token"]),
                "polarity": signed(word["polarity"]),
                "attention": signed(word["attention"]),
                "weight": weight(word["weight"]),
                "count": f"{word['count']:,}",
            }
            for word in words[:most]
        ]
        for name, words in found["words"].items()
    }


def outputs(found: Found) -> list[dict[str, str]]:
    """VᵀW and what belongs to it for each output: one of two classes, else one a class."""
    vtw = found["vtw"]
    if vtw is None:
        return []
    names = (
        [f"{first} → {second}" for first, second in [found["classes"]]] if len(vtw["values"]) == 1 else found["classes"]
    )
    columns = zip(names, vtw["values"], vtw["products"], vtw["cosines"], vtw["norms_w"], strict=True)
    return [
        {
            "name": one_line(name),
            "vtw": signed(value),
            "product": signed(product),
            "cosine": signed(cosine),
            "norm": f"{norm:.3g}",
        }
        for name, value, product, cosine, norm in columns
    ]


def mean(box: Mapping[str, Any] | None) -> float | None:
    return None if box is None else box.get("mean")


def signed(value: float | None) -> str:
    """Two digits after the point, or two that count where it is small, with the sign; a dash where there is nothing to say."""
    if value is None:
        return "–"
    return (f"{value:+.2f}" if abs(value) >= 1 else f"{value:+z.2g}").replace("-", "−")


def weight(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def share(value: float) -> str:
    return f"{value:.3f}"


def between(one: Mapping[str, Any]) -> str:
    """The ends of an interval, where there is one."""
    return "no interval" if one["low"] is None else f"{share(one['low'])} to {share(one['high'])}"
