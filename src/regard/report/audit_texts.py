"""The texts that an audit holds, as the reader of a page takes them: mistakes first, all explainers side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

WORDS = 40_000  # of all texts and explainers together: more would make the page slow to open


def audit_texts(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The surest mistakes, then right answers, the least sure first; of texts without labels as they come."""
    details = sorted(found["details"], key=rank)
    kept: list[dict[str, Any]] = []
    words = 0
    for one in details:
        words += len(one["spans"]) * len(one["scores"])
        if kept and words > WORDS:
            break
        kept.append(shown(one, found["classes"]))
    return kept


def rank(one: Mapping[str, Any]) -> tuple[bool, float, int]:
    if one["label"] is None:
        return False, 0.0, one["place"]
    right, sure = one["label"] == one["decided"], max(one["probabilities"])
    return right, sure if right else -sure, one["place"]


def shown(one: Mapping[str, Any], classes: list[str]) -> dict[str, Any]:
    known = one["label"] is not None
    label = classes[one["label"]] if known else None
    mistake = one["label"] != one["decided"] if known else None
    return {"place": f"text {one['place'] + 1}", "mistake": mistake, "label": label, "views": list(views(one, classes))}


def views(one: Mapping[str, Any], classes: list[str]) -> Iterator[dict[str, Any]]:
    """Sizes as weights that sum to 1; where a score is below 0, which words speak against the answer."""
    text = one["text"]
    said = {
        "prediction": classes[one["decided"]],
        "probabilities": dict(zip(classes, one["probabilities"], strict=True)),
    }
    for method, scores in one["scores"].items():
        total = sum(map(abs, scores)) or 1.0
        tokens = [
            {"text": text[a:b], "start": a, "end": b, "weight": abs(score) / total}
            for (a, b), score in zip(one["spans"], scores, strict=True)
        ]
        against = [a for (a, _), score in zip(one["spans"], scores, strict=True) if score < 0]
        yield {"text": text, **said, "method": method, "tokens": tokens, **({"against": against} if against else {})}
