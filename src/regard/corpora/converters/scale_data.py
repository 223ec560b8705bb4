"""Scale dataset v1.0 (Pang and Lee 2005): id.C, subj.C, rating.C, label.3class.C and label.4class.C for each critic C."""

from __future__ import annotations

from regard.corpora.source import Source
from regard.corpora.splits import Record, Splits, divided, without_repeats

PATTERN = r"/([^/]+)/(id|subj|rating|label\.3class|label\.4class)\.\1$"
KINDS = ("id", "subj", "rating", "label.3class", "label.4class")


def convert(source: Source) -> Splits:
    critics: dict[str, dict[str, list[str]]] = {}
    for file in source.files(PATTERN):
        lines = [line.strip() for _, line in file.filled_lines(latin=True)]
        critics.setdefault(file.group(1), {})[file.group(2)] = lines
    rows: list[Record] = []
    for critic, columns in critics.items():
        counts = {kind: len(columns.get(kind, ())) for kind in KINDS}
        if len(set(counts.values())) > 1:
            lengths = ", ".join(f"{kind}.{critic} {count}" for kind, count in counts.items())
            raise source.error(f"expected files with the same number of lines for {critic}, got {lengths}")
        rows += [_row(source, critic, *values) for values in zip(*(columns[kind] for kind in KINDS), strict=True)]
    if not rows:
        return {}
    return without_repeats(divided(rows, lambda row: (row["user"], row["label4"]), (0.8, 0.1, 0.1)))


def _row(source: Source, critic: str, id: str, text: str, rating: str, three: str, four: str) -> Record:
    try:
        numbers = {"rating": float(rating), "label3": int(three), "label4": int(four)}
    except ValueError:
        values = f"rating {rating!r}, labels {three!r} and {four!r}"
        raise source.error(f"review {id} by {critic}: expected numbers, got {values}") from None
    return {"id": id, "text": text, **numbers, "user": critic.replace("+", " ")}
