"""A table as words, before any format, filled from results: means with intervals, the best, what the paper prints."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby

from regard_lab.comparisons import Comparison, compare_all
from regard_lab.measures import Measure, shown, value_of
from regard_lab.results import Results
from regard_lab.rows import Place, Row
from regard_lab.statistics import Interval, interval
from regard_lab.tables.table import Table


@dataclass(frozen=True)
class Column:
    corpus: str
    measure: str
    corpus_title: str
    measure_title: str
    printed: bool  # whether the paper prints some number of it
    published: bool  # whether published results have some

    def width(self) -> int:
        """How many columns of a format it takes."""
        return 1 + self.printed + self.published


@dataclass(frozen=True)
class Entry:
    """What stands in one place of the table."""

    ours: str  # "62.96 ± 0.80", or "" where there is no cell
    note: str = ""  # fewer seeds than elsewhere, failures
    paper: str = ""
    published: str = ""
    best: bool = False


@dataclass(frozen=True)
class Line:
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Contents:
    name: str
    title: str
    where: str
    caption: str
    note: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    comparisons: tuple[Comparison, ...]
    sources: tuple[tuple[str, str], ...]  # what, and of it
    remarks: tuple[str, ...]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """The heads of corpora, and how many columns each stands over."""
        several = (list(group) for _, group in groupby(self.columns, key=lambda column: column.corpus))
        return [(group[0].corpus_title, sum(map(Column.width, group))) for group in several]


def make_contents(table: Table, results: Results, published: Results | None) -> Contents:
    rows = grouped(results)
    before = grouped(published) if published is not None else {}
    columns = make_columns(table, rows, before)
    most = max((len(good(found)) for found in rows.values()), default=0)
    best = {(column.corpus, column.measure): best_places(table, column, rows) for column in columns}
    cells, ran = {cell.key for cell in table.cells()}, {*rows, *before}
    lines, kept = [], []
    for method in table.methods.values():
        for setting in table.settings.values():
            places = [(method.name, corpus, setting.name) for corpus in table.corpora]
            if cells.isdisjoint(places):
                continue
            entries, told = [], set()
            for column in columns:
                place = (method.name, column.corpus, setting.name)
                is_best = place in best[column.corpus, column.measure]
                entry = make_entry(table, column, place, rows, before, most, is_best)
                same = (column.corpus, entry.note) in told  # once a cell is enough
                told.add((column.corpus, entry.note))
                entries.append(replace(entry, note="") if same else entry)
            lines.append(Line(table.title_of((method.name, "", setting.name)), tuple(entries)))
            # an empty row says that a method is still to be run. One that was run and has none of the measures would stay
            # empty, and a search over settings need not try every pair
            to_run = ran.isdisjoint(places) and len(table.settings) == 1
            kept.append(to_run or any(entry != Entry("") for entry in entries))
    if not ran or not any(kept):
        kept = [True] * len(lines)
    return Contents(
        table.name,
        table.title,
        table.where,
        make_caption(table, most, bool(rows), columns, any(best.values())),
        table.note,
        columns,
        tuple(compress(lines, kept)),
        compare_all(table, rows),
        sources(table, list(results.rows.values())),
        remarks(results, published),
    )


def remarks(results: Results, published: Results | None) -> tuple[str, ...]:
    found = []
    if results.others:
        found.append(
            f"{results.others} rows of cells that the table no longer has, or has with other options, are not counted."
        )
    own, theirs = checksums(results.good), checksums(published.good) if published is not None else {}
    other = [file for file in own if file in theirs and own[file] != theirs[file]]
    if other:
        found.append(f"These files are not those of the published results: {', '.join(sorted(other))}.")
    return tuple(found)


def grouped(results: Results) -> dict[Place, list[Row]]:
    found: dict[Place, list[Row]] = {}
    for (method, corpus, setting, _), row in sorted(results.rows.items()):
        found.setdefault((method, corpus, setting), []).append(row)
    return found


def good(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if "error" not in row]


def make_columns(
    table: Table, rows: Mapping[Place, Sequence[Row]], before: Mapping[Place, Sequence[Row]]
) -> tuple[Column, ...]:
    """A column for each measure of a corpus; none where there are results and not one has the measure."""
    found = []
    for corpus in table.corpora.values():
        places = [cell.key for cell in table.cells() if cell.corpus.name == corpus.name]
        for name in corpus.measures:
            printed = any(table.printed_value(place, name) is not None for place in places)
            published = any(mean_of(before.get(place, ()), name) is not None for place in places)
            there = [row for place in places for row in good(rows.get(place, ()))]
            if there and not printed and not published and all(value_of(row, name) is None for row in there):
                continue
            found.append(Column(corpus.name, name, corpus.title, table.measure(name).title, printed, published))
    return tuple(found)


def mean_of(rows: Sequence[Row], measure: str) -> Interval | None:
    values = [value_of(row, measure) for row in rows]
    return interval([value for value in values if value is not None])


def best_places(table: Table, column: Column, rows: Mapping[Place, Sequence[Row]]) -> set[Place]:
    """Where the best mean of a column stands; nowhere if no side is better, or there is nothing to be better than."""
    side = table.measure(column.measure).better
    means = {
        place: found.mean
        for place, several in rows.items()
        if place[1] == column.corpus and (found := mean_of(several, column.measure)) is not None
    }
    best = max((side * mean for mean in means.values()), default=0.0)
    return (
        {place for place, mean in means.items() if math.isclose(side * mean, best)}
        if side and len(means) > 1
        else set()
    )


def make_entry(
    table: Table,
    column: Column,
    place: Place,
    rows: Mapping[Place, Sequence[Row]],
    before: Mapping[Place, Sequence[Row]],
    most: int,
    best: bool,
) -> Entry:
    measure = table.measure(column.measure)
    printed = table.printed_value(place, column.measure)
    own = rows.get(place, ())
    found = mean_of(own, column.measure)
    return Entry(
        written(found, measure) if found is not None else "",
        told_of(own, most, column.measure),
        shown(printed, measure) if printed is not None else "",
        written(there, measure) if (there := mean_of(before.get(place, ()), column.measure)) else "",
        best,
    )


def written(found: Interval, measure: Measure) -> str:
    half = f" ± {shown(found.half, measure)}" if found.half is not None else ""
    return shown(found.mean, measure) + half


def told_of(rows: Sequence[Row], most: int, measure: str) -> str:
    """What a reader must know of a cell: that some of its runs failed or gave no number, or that its mean is of fewer."""
    failed = len(rows) - len(good(rows))
    endless = sum(measure in row["values"] and value_of(row, measure) is None for row in good(rows))
    if failed or endless:
        told = ((failed, "failed"), (endless, "without a number"))
        return ", ".join(f"{count} of {len(rows)} {what}" for count, what in told if count)
    if len(rows) < most and mean_of(rows, measure) is not None:
        return f"{len(rows)} seed{'s' if len(rows) > 1 else ''}"
    return ""


def make_caption(table: Table, most: int, tried: bool, columns: Sequence[Column], marked: bool) -> str:
    none = "every run failed" if tried else "no results yet"
    over = f"means over {most} seeds ± half of the 95 % interval" if most > 1 else "one seed" if most else none
    asked = f" ({table.seeds} are asked for)" if most and most < table.seeds else ""
    beside = "; beside them what the paper prints" if any(column.printed for column in columns) else ""
    bold = "; the best mean of a column is bold" if marked else ""
    return f"{over[0].upper()}{over[1:]}{asked}{beside}{bold}."


def sources(table: Table, rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    good = [row for row in rows if "error" not in row]
    seeds = sorted({row["seed"] for row in rows})
    failed = len(rows) - len(good)
    found = [("Command", f"regard reproduce {shlex.quote(table.asked or table.name)}")]
    found.append(("Runs", f"{len(rows)}" + (f", of which {failed} failed" if failed else "")))
    if seeds:
        found.append(("Seeds", ranges(seeds)))
    if rows:
        found.append(("Time", f"{hours(sum(row['seconds'] for row in rows))} of runs in all"))
    for name in ("device", "versions"):
        counts = Counter(told for row in good if (told := devices(row) if name == "device" else versions(row)))
        for told, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            found.append((name.capitalize(), f"{told} ({count} runs)" if len(counts) > 1 else told))
    for file, sums in sorted(checksums(good).items()):
        found.append(("Data", f"{file} {' and '.join(sorted(sums))}" + (" (runs differ!)" if len(sums) > 1 else "")))
    return tuple(found)


def checksums(rows: Sequence[Row]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        for file, told in row.get("data", {}).items():
            found.setdefault(file, set()).add(str(told))
    return found


def devices(row: Row) -> str:
    environment = row.get("environment", {})
    name = environment.get("cuda") or environment.get("cpu", "")
    beside = f", {row['stacked']} seeds at once" if row.get("stacked", 1) > 1 else ""
    kind = "CUDA" if "cuda" in environment else "CPU" if "cpu" in environment else str(row.get("device", ""))
    return (f"{kind}: {name}" if name else kind) + beside


def versions(row: Row) -> str:
    environment = row.get("environment", {})
    return ", ".join(
        f"{name} {environment[name]}" for name in ("regard", "python", "torch", "numba") if name in environment
    )


def hours(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def ranges(numbers: Sequence[int]) -> str:
    """0–4, 7"""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)
