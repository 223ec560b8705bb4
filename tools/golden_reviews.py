"""Synthetic reviews with known evidence, for goldens.py; independent of regard."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

OPINIONS = {
    -2: ("awful", "terrible", "dreadful", "disgusting", "horrible"),
    -1: ("dull", "weak", "cold", "slow", "noisy"),
    1: ("good", "pleasant", "warm", "tidy", "friendly"),
    2: ("superb", "wonderful", "perfect", "delightful", "brilliant"),
}
SUBJECTS = ("soup", "waiter", "room", "music", "coffee", "garden", "service", "bread", "terrace", "kitchen")
ENDINGS = ("today", "again", "indeed", "overall", "yesterday")
DEEDS = ("came", "left", "ordered", "stayed", "called")
DAYS = ("Monday", "Tuesday", "Friday", "Saturday", "Sunday")


def write_reviews(folder: Path) -> None:
    """Three splits, each as CSV and as JSON lines: a label, whole stars, a rating, and the deciding tokens."""
    rng = random.Random(17)
    folder.mkdir(parents=True)
    for part, count in (("train", 400), ("dev", 80), ("test", 40)):
        rows = [write_review(rng) for _ in range(count)]
        with open(folder / f"{part}.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        with open(folder / f"{part}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def write_review(rng: random.Random) -> dict[str, Any]:
    tokens: list[str] = []
    marked = []
    strengths = []
    for _ in range(pick((1, 3, 5), rng)):  # odd numbers, so that there is always a majority
        if rng.random() < 0.4:
            tokens += ["We", pick(DEEDS, rng), "on", f"{pick(DAYS, rng)}."]
        strengths.append(pick(tuple(OPINIONS), rng))
        tokens += ["The", pick(SUBJECTS, rng), "was", pick(OPINIONS[strengths[-1]], rng), f"{pick(ENDINGS, rng)}."]
        marked.append([len(tokens) - 2, len(tokens) - 1])
    rating = round(3 + sum(strengths) / len(strengths), 2)
    is_good = 2 * sum(strength > 0 for strength in strengths) > len(strengths)
    label = "good" if is_good == (rng.random() < 0.9) else "poor"  # one in ten is wrong, so that models err
    return {"text": " ".join(tokens), "label": label, "stars": round(rating), "rating": rating, "rationales": marked}


def pick(items: tuple[Any, ...], rng: random.Random) -> Any:
    """Uses only random(), which is guaranteed to give the same numbers in every version of Python."""
    return items[int(rng.random() * len(items))]
