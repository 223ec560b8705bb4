"""The generated parts of docs/bottleneck.md: VAT against attention, corrected in the families of the page of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from regard_lab.claims.claims import Claim, Claims
from regard_lab.claims.difference_rules import ERASING, tests_of
from regard_lab.claims.differences import Family, make_family, pooled_words, with_interval
from regard_lab.claims.table_folder import TableFolder, evaluate_claim
from regard_lab.claims.verdicts import several, span
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown, signed
from regard_lab.statistics import mean_interval


class Part(NamedTuple):
    """Columns of one measure: the claim whose family the differences belong to, and the methods."""

    title: str
    claim: str
    means: Sequence[tuple[str, str, str]]  # (head, method, ending of the measure): means in front of the difference
    pair: tuple[str, str]
    head: str = "VAT − ATT"


LSTM = [
    Part("accuracy", "vat-01", [("accuracy of ATT", "att", "")], ("vat", "att")),
    Part("AOPC@5", "vat-07", [("AOPC@5, random", "att", "_random"), ("ATT", "att", "")], ("vat", "att")),
    Part("post-hoc@5", "vat-14", [("post-hoc@5, random", "att", "_random"), ("ATT", "att", "")], ("vat", "att")),
]
HEAD = [
    Part("accuracy", "vat-23", [], ("vat", "att-head"), "accuracy"),
    Part("AOPC@5", "vat-24", [], ("vat", "att-head"), "AOPC@5"),
    Part("post-hoc@5", "vat-25", [], ("vat", "att-head"), "post-hoc@5"),
]
BERT = [
    Part("accuracy", "vat-02", [("accuracy of ATT", "bert-att", "")], ("bert-vat", "bert-att")),
    Part(
        "AOPC@5",
        "vat-08",
        [("AOPC@5, random", "bert-att", "_random"), ("ATT", "bert-att", "")],
        ("bert-vat", "bert-att"),
    ),
    Part(
        "post-hoc@5",
        "vat-16",
        [("post-hoc@5, random", "bert-att", "_random"), ("ATT", "bert-att", "")],
        ("bert-vat", "bert-att"),
    ),
]
NOTE = (
    "Bold: confirmed after Holm's correction over the comparisons of the claim that is named "
    "(on the page [Evidence](evidence.md))."
)


def blocks(claims: Claims, folder: TableFolder) -> dict[str, str]:
    by_id = {claim.id: claim for claim in claims.claims}
    return {
        "vat-lstm": "\n".join(table("LSTM", LSTM, by_id, folder)),
        "vat-head": "\n".join(table("LSTM, same head", HEAD, by_id, folder)),
        "vat-bert": "\n".join(table("MiniLM", BERT, by_id, folder)),
    }


def table(name: str, parts: Sequence[Part], by_id: dict[str, Claim], folder: TableFolder) -> Iterator[str]:
    heads = [head for part in parts for head in (*(head for head, _, _ in part.means), part.head)]
    yield f"| {name} | " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * len(heads)
    first = folder.table(by_id[parts[0].claim].table)
    for corpus in first.corpora.values():
        cells = [cell for part in parts for cell in part_cells(part, by_id[part.claim], corpus.name, folder)]
        yield f"| {corpus.title} | " + " | ".join(cells) + " |"
    yield ""
    for part in parts:
        yield f"- {summary(part, by_id[part.claim], folder)}"
    yield ""
    yield NOTE


def family_of(claim: Claim, folder: TableFolder, ending: str = "", only_with: str = "") -> Family | None:
    """`only_with`: from the rows that have this measure."""
    arguments = dict(claim.arguments)
    measure = arguments.pop("measure")
    arguments.pop("need", None)
    measures = [name + ending for name in ([measure] if isinstance(measure, str) else measure)]
    given = folder.given(claim)
    if only_with:
        having = {key: [row for row in rows if only_with in row["values"]] for key, rows in given.rows.items()}
        given = replace(given, rows=having)
    return make_family(tests_of(given, measures, 0, arguments))  # type: ignore[arg-type]


def part_cells(part: Part, claim: Claim, corpus: str, folder: TableFolder) -> Iterator[str]:
    given, measure = folder.given(claim), claim.arguments["measure"]
    definition = given.table.measure(measure)
    for _, method, ending in part.means:  # random words are erased for the same judges, so they come from the same rows
        values = by_seed(given.rows.get((method, corpus, ""), ()), measure + ending)
        mean = mean_interval(list(values.values()))
        half = f" ± {shown(mean.half, definition)}" if mean is not None and mean.half is not None else ""
        yield "" if mean is None else shown(mean.mean, definition) + half
    family = family_of(claim, folder)
    wanted = tuple((method, corpus, "") for method in part.pair)
    for test, side in zip(family.tests, family.sides, strict=True) if family is not None else ():
        if test.cells == wanted:
            words = with_interval(test, definition)
            yield f"**{words}**" if side else words
            return
    pair = [by_seed(given.rows.get(cell_key, ()), measure) for cell_key in wanted]
    common = sorted(pair[0].keys() & pair[1].keys())
    yield f"{signed(pair[0][common[0]] - pair[1][common[0]], definition)} (one seed)" if common else ""


def summary(part: Part, claim: Claim, folder: TableFolder) -> str:
    """The pooled effect and the verdict of the claim whose family it is."""
    definition = folder.table(claim.table).measure(claim.arguments["measure"])
    result, family = evaluate_claim(claim, folder), family_of(claim, folder)
    if family is None or family.pooled is None:
        return f"*{part.title}* ({claim.id}): {result.verdict}"
    paper = f", paper {signed(family.paper, definition)}" if family.paper is not None else ""
    return (
        f"*{part.title}* ({claim.id}, {len(family.tests)} comparisons): "
        f"pooled {pooled_words(family.pooled, definition)}{paper}; "
        f"{counts(family)}: **{result.verdict}**{without_short_texts(claim, folder, family, definition)}"
    )


def counts(family: Family) -> str:
    against = f" and {family.opposed} in the opposite direction" if family.opposed else ""
    return f"{family.favour} in favour, {family.confirmed} confirmed{against}"


def without_short_texts(claim: Claim, folder: TableFolder, every: Family, definition: Measure) -> str:
    """The result without texts that erasing leaves empty, and that with them in the same rows: older rows have only the latter.
    Once all comparisons have the former, it decides."""
    measure = claim.arguments["measure"]
    longer = family_of(claim, folder, "_long") if measure.startswith(ERASING) else None
    same = family_of(claim, folder, only_with=f"{measure}_long") if longer is not None else None
    if longer is None or longer.pooled is None or same is None or same.pooled is None:
        return ""
    missing = len(longer.tests) < len(every.tests)
    number = f"{len(longer.tests)} of {len(every.tests)}" if missing else str(len(longer.tests))
    seeds = span([test.paired.difference.n for test in longer.tests])
    words = several(int(measure.rpartition("_")[2]), "word")
    return (
        f". Without texts of at most {words} ({number} comparisons, {seeds} seeds{'' if missing else '; this decides'}): "
        f"pooled {pooled_words(longer.pooled, definition)}; {counts(longer)}. "
        f"The same runs with them: pooled {pooled_words(same.pooled, definition)}; {counts(same)}"
    )
