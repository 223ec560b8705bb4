"""Small texts with several labels each, or none, for tests."""

from __future__ import annotations

import json
import random
from pathlib import Path

from regard.records import Example

TOPICS = {
    "food": ("the soup was cold", "dinner tasted great", "breakfast had fresh bread", "a salty menu"),
    "room": ("the bed was soft", "a tiny bathroom", "curtains smelled of smoke", "the window faced a garden"),
    "staff": ("the waiter smiled", "reception was rude", "a helpful porter", "nobody answered the bell"),
}
NOTHING = ("we stayed two nights", "it rained", "in June with friends", "the flight was late")


def several(count: int, seed: int = 0) -> list[Example]:
    rng = random.Random(seed)
    examples = []
    for row in range(1, count + 1):
        labels = tuple(sorted(topic for topic in TOPICS if rng.random() < 0.4))
        parts = [rng.choice(TOPICS[topic]) for topic in labels] + [rng.choice(NOTHING)]
        rng.shuffle(parts)
        examples.append(Example(", ".join(parts), labels, row))
    return examples


def write_jsonl(path: Path, examples: list[Example]) -> Path:
    rows = [json.dumps({"text": one.text, "label": one.label}) for one in examples]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
