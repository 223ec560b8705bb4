"""The figures of the kind "debate": how texts lie by τ and what permuting weights does by the largest weight (Jain &
Wallace), and answers against weights of adversaries (Wiegreffe & Pinter). Means over seeds, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from regard.report.plots.lines import Panel, lines
from regard_lab.measures import value_of
from regard_lab.rendering.seed_curve import over_seeds
from regard_lab.statistics import interval

if TYPE_CHECKING:
    from regard_lab.running.results import Row
    from regard_lab.tables.table import Place, Table

PAIRS = {  # the gradient is that of Jain & Wallace, the weights held
    "held": "attention, gradient",
    "leave_one_out": "attention, leaving out",
    "between": "gradient, leaving out",
    "random": "attention, chance",
}
FEWEST = 5  # texts of a group whose mean is drawn


def draw(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    by_place = table.by_place(rows)
    found = {"tau": taus(table, by_place), "permuted": permuted(table, by_place), "adversaries": apart(table, by_place)}
    return {name: svg for name, svg in found.items() if svg}


def taus(table: Table, by_place: Mapping[Place, Sequence[Row]]) -> str:
    """A panel a model: the share of texts in each bin of τ, for attention with each measure, and of two measures."""
    drawn = []
    for place, rows in by_place.items():
        curves = []
        for name, title in PAIRS.items():
            counts = [row["histograms"][name] for row in rows if name in row.get("histograms", {})]
            if counts:
                bins = len(counts[0])
                middles = [(2 * k + 1) / bins - 1 for k in range(bins)]
                shares = [[100 * n / max(sum(own), 1) for n in own] for own in counts]
                curves.append(over_seeds(title, middles, list(zip(*shares, strict=True))))
        if curves:
            drawn.append(Panel(f"{table.corpora[place[1]].title}, {table.title_of(place)}", tuple(curves)))
    return lines("Kendall's τ, text by text", "τ", "% of texts", drawn, band=True) if drawn else ""


def permuted(table: Table, by_place: Mapping[Place, Sequence[Row]]) -> str:
    """A panel a corpus, a line a model: the mean over a group of texts, by the middle of the group's largest weights."""
    drawn = []
    for corpus in table.corpora.values():
        curves = []
        for place, rows in by_place.items():
            groups: dict[float, list[float]] = {}
            for group in (group for row in rows if place[1] == corpus.name for group in row.get("by_largest", ())):
                if group["n"] >= FEWEST:
                    groups.setdefault((group["from"] + group["to"]) / 2, []).append(group["moved"])
            if groups:
                x = sorted(groups)
                curves.append(over_seeds(table.title_of(place), x, [groups[middle] for middle in x]))
        drawn += [Panel(corpus.title, tuple(curves))] if curves else []
    title = "Weights permuted: how far answers move (TVD, median of a text)"
    return lines(title, "largest weight of a text", "TVD", drawn, band=False) if drawn else ""


def apart(table: Table, by_place: Mapping[Place, Sequence[Row]]) -> str:
    """A panel a corpus: trained adversaries as one line along λ, everything else that has both as a point."""
    drawn = []
    for corpus in table.corpora.values():
        line: list[tuple[float, list[float]]] = []
        points = []
        for place, rows in by_place.items():
            of_both = ((value_of(row, "jsd"), value_of(row, "tvd")) for row in rows if place[1] == corpus.name)
            known = [(jsd, tvd) for jsd, tvd in of_both if jsd is not None and tvd is not None]
            mean = interval([jsd for jsd, _ in known])
            if mean is None:
                continue
            answers = [tvd for _, tvd in known]
            if "factor" in rows[0]["options"]:
                line.append((mean.mean, answers))
            else:
                points.append(over_seeds(table.title_of(place), [mean.mean], [answers]))
        line.sort(key=lambda point: point[0])
        if line:
            points.insert(0, over_seeds("trained adversaries", [x for x, _ in line], [several for _, several in line]))
        drawn += [Panel(corpus.title, tuple(points))] if points else []
    title = "How far answers lie apart where weights do, from the model of the same seed"
    return lines(title, "JSD of weights", "TVD of answers", drawn, band=False) if drawn else ""
