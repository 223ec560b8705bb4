"""Training texts that a run keeps for later training (`--keep-texts`): one JSON object per line, with text and label.

They are a random sample of all texts that a model has learned from, also over several runs that continue each other. The file
stays in the run folder: it is never pushed, exported or shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from regard.data.sampling import Reservoir, sample
from regard.errors import InputError
from regard.records import Example


class KeptTexts(NamedTuple):
    examples: list[Example]
    drawn_from: int  # the number of texts that they are a sample of

    def to_bytes(self) -> bytes:
        rows = [{"text": example.text, "label": example.label} for example in self.examples]
        first = json.dumps({"drawn_from": self.drawn_from})
        # half a surrogate pair is not UTF-8, and is written as \ud83d
        lines = [json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") for row in rows]
        return b"".join(line + b"\n" for line in (first.encode(), *lines))


def read_kept(path: Path) -> KeptTexts:
    try:
        first, *rows = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)
        examples = [Example(row["text"], row["label"], number) for number, row in enumerate(rows, 1)]
        kept = KeptTexts(examples, int(first["drawn_from"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path.name}: expected one JSON object with text and label per line ({error})") from None
    if not all(isinstance(example.text, str) for example in kept.examples):
        raise InputError(f"{path.name}: expected texts that are strings")
    return kept


class Keeping:
    """Texts that are read once or more; those of the last complete reading are sampled."""

    def __init__(self, texts: Iterable[Example], most: int, seed: int, earlier: KeptTexts | None = None) -> None:
        self.texts, self.most, self.seed, self.earlier = texts, most, seed, earlier
        self.reservoir: Reservoir[Example] = Reservoir(most, seed)

    def __iter__(self) -> Iterator[Example]:
        reservoir: Reservoir[Example] = Reservoir(self.most, self.seed)
        for example in self.texts:
            reservoir.offer(example)
            yield example
        self.reservoir = reservoir

    @property
    def kept(self) -> KeptTexts:
        """Old and new texts in proportion to how many of both there were."""
        new, seen = self.reservoir.kept, self.reservoir.seen
        if self.earlier is None:
            return KeptTexts(new, seen)
        total = seen + self.earlier.drawn_from
        share = min(len(self.earlier.examples), round(self.most * self.earlier.drawn_from / total))
        old = sample(self.earlier.examples, share, self.seed)
        return KeptTexts([*old, *sample(new, self.most - len(old), self.seed)], total)
