"""Rules on the weights of words in quoted texts, over seeds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from regard_lab.claims.difference_rules import Pairs
from regard_lab.claims.differences import Difference, finding
from regard_lab.claims.verdicts import Finding, Given
from regard_lab.measures import Measure
from regard_lab.rows import Row
from regard_lab.statistics import paired

WEIGHT = Measure("weight", 1, 3)


def heavier(given: Given, corpus: str, methods: Sequence[str], word: str, than: Sequence[str]) -> Finding | None:
    """The weight of one word of a quoted text minus that of other words, over seeds; verdicts as for "better"."""
    tests = []
    for method in methods:
        for other in than:
            cell_key = (method, corpus, "")
            weights = [weights_of(given.rows.get(cell_key, ()), [form]) for form in (word, other)]
            if (test := paired(*weights)) is not None:
                name = f"{given.table.methods[method].title}, “{word}” − “{other}”"
                tests.append(Difference(name, test, (cell_key,)))
    return finding(given, tests, WEIGHT, len(methods) * len(than))


def rests_on(
    given: Given,
    words: Mapping[str, Collection[str]],
    methods: Sequence[str] = (),
    pairs: Pairs = (),
) -> Finding | None:
    """The total weight of some words of a quoted text minus their weight if all words had the same weight; for two methods,
    minus the weight that the other gives them. Over seeds; verdicts as for "better"."""
    table, rows, tests = given.table, given.rows, []
    for corpus, forms in words.items():
        quoted = ", ".join(f"“{word}”" for word in forms)
        for one, other in [*((method, "") for method in methods), *pairs]:
            method_rows = rows.get((one, corpus, ""), ())
            reference = (
                weights_of(rows.get((other, corpus, ""), ()), forms) if other else weights_of(method_rows, forms, True)
            )
            if (test := paired(weights_of(method_rows, forms), reference)) is not None:
                against = table.methods[other].title if other else "uniform weights"
                name = f"{table.methods[one].title} − {against}, {quoted}"
                tests.append(Difference(name, test, ((one, corpus, ""),)))
    return finding(given, tests, WEIGHT, len(words) * (len(methods) + len(pairs)))


def weights_of(rows: Sequence[Row], words: Collection[str], uniform: bool = False) -> dict[int, float]:
    """Total weight of these words by seed; `uniform`: if every word had the same weight."""
    totals = {}
    for row in rows:
        tokens = [token for text in row.get("texts", ()) for token in text["tokens"]]
        matching = [
            1 / len(tokens) if uniform else token["weight"] for token in tokens if token["text"].lower() in words
        ]
        if matching:
            totals[row["seed"]] = sum(matching)
    return totals
