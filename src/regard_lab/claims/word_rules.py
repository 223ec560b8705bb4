"""Rules about the words of a drawn text: what they weigh, over seeds. Their docstrings stand on the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from regard_lab.claims.rules import Pairs, Rows, of_differences
from regard_lab.claims.verdicts import Difference, Finding
from regard_lab.measures import Measure
from regard_lab.running.results import Row
from regard_lab.statistics import paired
from regard_lab.tables.table import Table

WEIGHT = Measure("weight", 1, 3)


def heavier(
    table: Table, rows: Rows, corpus: str, methods: Sequence[str], word: str, than: Sequence[str]
) -> Finding | None:
    """The weight of one word of a drawn text minus that of others, over seeds: as for "better"."""
    tests = []
    for method in methods:
        for other in than:
            weights = [weights_of(rows.get((method, corpus, ""), ()), [form]) for form in (word, other)]
            if (found := paired(*weights)) is not None:
                tests.append(Difference(f"{table.methods[method].title}, “{word}” − “{other}”", found))
    return of_differences(tests, WEIGHT, len(methods) * len(than))


def rests_on(
    table: Table,
    rows: Rows,
    words: Mapping[str, Collection[str]],
    methods: Sequence[str] = (),
    pairs: Pairs = (),
) -> Finding | None:
    """The weight of some words of a corpus' drawn text, taken together, minus what they would have if all its words
    weighed alike; of two methods, minus what the other gives them. Over seeds, as for "better"."""
    tests = []
    for corpus, several in words.items():
        said = ", ".join(f"“{word}”" for word in several)
        for one, other in [*((method, "") for method in methods), *pairs]:
            own = rows.get((one, corpus, ""), ())
            beside = weights_of(rows.get((other, corpus, ""), ()), several) if other else weights_of(own, several, True)
            if (found := paired(weights_of(own, several), beside)) is not None:
                against = table.methods[other].title if other else "all alike"
                tests.append(Difference(f"{table.methods[one].title} − {against}, {said}", found))
    return of_differences(tests, WEIGHT, len(words) * (len(methods) + len(pairs)))


def weights_of(rows: Sequence[Row], words: Collection[str], alike: bool = False) -> dict[int, float]:
    """By seed; `alike`: if every word weighed the same."""
    found = {}
    for row in rows:
        tokens = [token for text in row.get("texts", ()) for token in text["tokens"]]
        own = [1 / len(tokens) if alike else token["weight"] for token in tokens if token["text"].lower() in words]
        if own:
            found[row["seed"]] = sum(own)
    return found
