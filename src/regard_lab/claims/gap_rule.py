"""The rule "gap": one measure of a model less another of the same model. Its docstring stands on the page."""

from __future__ import annotations

from collections.abc import Sequence

from regard_lab.claims.order_rules import places, titled
from regard_lab.claims.rules import Pairs, Rows, minus, named, of_differences, of_pairs, signed_values
from regard_lab.claims.verdicts import Difference, Finding
from regard_lab.statistics import paired
from regard_lab.tables.table import Place, Table


def gap(
    table: Table,
    rows: Rows,
    measure: str,
    less: str,
    methods: Sequence[str] = (),
    pairs: Pairs = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """One measure of a model less another of it, such as accuracy after a round less that before; of two models, the gap
    of the one less that of the other. As for "better"."""
    side = table.measure(measure).better or 1

    def of(place: Place) -> dict[int, float]:
        return minus(*(signed_values(rows, place, name, side) for name in (measure, less)))

    if pairs:
        asked = [(named(table, *both), of(both[0]), of(both[1])) for both in of_pairs(table, pairs, corpora)]
    else:
        gaps = {place: of(place) for place in places(table, methods, corpora, ())}
        asked = [(titled(table, place), own, dict.fromkeys(own, 0.0)) for place, own in gaps.items()]
    tests = [Difference(name, found) for name, one, other in asked if (found := paired(one, other)) is not None]
    return of_differences(tests, table.measure(measure), len(asked))
