"""The contents of a rendered table, independent of its format: means with intervals, printed numbers, sources."""

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
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import Interval, mean_interval
from regard_lab.tables.table import Table


@dataclass(frozen=True)
class Column:
    corpus: str
    measure: str
    corpus_title: str
    measure_title: str
    printed: bool  # whether the paper prints numbers for it
    published: bool  # whether the published results have numbers for it

    def width(self) -> int:
        """The number of rendered columns."""
        return 1 + self.printed + self.published


@dataclass(frozen=True)
class Entry:
    """The content of one cell."""

    ours: str  # "62.96 ± 0.80", or "" without a number
    note: str = ""  # about failures, or fewer seeds than elsewhere
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
    sources: tuple[tuple[str, str], ...]  # (name, text)
    remarks: tuple[str, ...]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """The titles of corpora, and the number of columns below each."""
        several = (list(group) for _, group in groupby(self.columns, key=lambda column: column.corpus))
        return [(group[0].corpus_title, sum(map(Column.width, group))) for group in several]


def make_contents(table: Table, results: Results, published: Results | None) -> Contents:
    rows = grouped(results)
    published_rows = grouped(published) if published is not None else {}
    columns = make_columns(table, rows, published_rows)
    seeds = [len(successful(cell_rows)) for cell_rows in rows.values()]
    most = max(seeds, default=0)
    best = {(column.corpus, column.measure): best_cells(table, column, rows) for column in columns}
    cells, cells_run = {cell.key for cell in table.cells()}, {*rows, *published_rows}
    lines, kept = [], []
    for method in table.methods.values():
        for setting in table.settings.values():
            cell_keys = [(method.name, corpus, setting.name) for corpus in table.corpora]
            if cells.isdisjoint(cell_keys):
                continue
            entries, noted = [], set()
            for column in columns:
                cell_key = (method.name, column.corpus, setting.name)
                is_best = cell_key in best[column.corpus, column.measure]
                entry = make_entry(table, column, cell_key, rows, published_rows, most, is_best)
                same = (column.corpus, entry.note) in noted  # once per cell is enough
                noted.add((column.corpus, entry.note))
                entries.append(replace(entry, note="") if same else entry)
            lines.append(Line(table.title_of((method.name, "", setting.name)), tuple(entries)))
            # an empty row shows that a method is still to be run; rows of methods without any of the measures would stay
            # empty, and a search over settings need not try every pair
            to_run = cells_run.isdisjoint(cell_keys) and len(table.settings) == 1
            kept.append(to_run or any(entry != Entry("") for entry in entries))
    if not cells_run or not any(kept):
        kept = [True] * len(lines)
    return Contents(
        table.name,
        table.title,
        table.where,
        make_caption(table, seeds, columns, any(best.values())),
        table.note,
        columns,
        tuple(compress(lines, kept)),
        compare_all(table, rows),
        sources(table, list(results.rows.values())),
        remarks(results, published),
    )


def remarks(results: Results, published: Results | None) -> tuple[str, ...]:
    texts = []
    if results.others:
        texts.append(
            f"{results.others} rows are outdated (their cells were removed from the table or have other options now); "
            "they are not counted."
        )
    files, published_files = checksums(results.good), checksums(published.good) if published is not None else {}
    changed = [file for file in files if file in published_files and files[file] != published_files[file]]
    if changed:
        texts.append(f"These files differ from those of the published results: {', '.join(sorted(changed))}.")
    return tuple(texts)


def grouped(results: Results) -> dict[CellKey, list[Row]]:
    by_cell: dict[CellKey, list[Row]] = {}
    for (method, corpus, setting, _), row in sorted(results.rows.items()):
        by_cell.setdefault((method, corpus, setting), []).append(row)
    return by_cell


def successful(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if "error" not in row]


def make_columns(
    table: Table, rows: Mapping[CellKey, Sequence[Row]], published_rows: Mapping[CellKey, Sequence[Row]]
) -> tuple[Column, ...]:
    """One column per corpus and measure, without measures that no result has."""
    columns = []
    for corpus in table.corpora.values():
        cell_keys = [cell.key for cell in table.cells() if cell.corpus.name == corpus.name]
        for name in corpus.measures:
            printed = any(table.printed_value(cell_key, name) is not None for cell_key in cell_keys)
            published = any(mean_of(published_rows.get(cell_key, ()), name) is not None for cell_key in cell_keys)
            with_rows = [row for cell_key in cell_keys for row in successful(rows.get(cell_key, ()))]
            if with_rows and not printed and not published and all(value_of(row, name) is None for row in with_rows):
                continue
            columns.append(Column(corpus.name, name, corpus.title, table.measure(name).title, printed, published))
    return tuple(columns)


def mean_of(rows: Sequence[Row], measure: str) -> Interval | None:
    values = [value_of(row, measure) for row in rows]
    return mean_interval([value for value in values if value is not None])


def best_cells(table: Table, column: Column, rows: Mapping[CellKey, Sequence[Row]]) -> set[CellKey]:
    """The cell_keys of the best mean of a column; none if the measure has no better direction or there is only one mean."""
    side = table.measure(column.measure).better
    means = {
        cell_key: interval.mean
        for cell_key, cell_rows in rows.items()
        if cell_key[1] == column.corpus and (interval := mean_of(cell_rows, column.measure)) is not None
    }
    best = max((side * mean for mean in means.values()), default=0.0)
    return (
        {cell_key for cell_key, mean in means.items() if math.isclose(side * mean, best)}
        if side and len(means) > 1
        else set()
    )


def make_entry(
    table: Table,
    column: Column,
    cell_key: CellKey,
    rows: Mapping[CellKey, Sequence[Row]],
    published_rows: Mapping[CellKey, Sequence[Row]],
    most: int,
    best: bool,
) -> Entry:
    measure = table.measure(column.measure)
    printed = table.printed_value(cell_key, column.measure)
    cell_rows = rows.get(cell_key, ())
    mean = mean_of(cell_rows, column.measure)
    return Entry(
        with_interval(mean, measure) if mean is not None else "",
        make_note(cell_rows, most, column.measure),
        shown(printed, measure) if printed is not None else "",
        with_interval(published, measure)
        if (published := mean_of(published_rows.get(cell_key, ()), column.measure))
        else "",
        best,
    )


def with_interval(interval: Interval, measure: Measure) -> str:
    half = f" ± {shown(interval.half, measure)}" if interval.half is not None else ""
    return shown(interval.mean, measure) + half


def make_note(rows: Sequence[Row], most: int, measure: str) -> str:
    """A note on a cell: runs that failed or gave no number, or a mean over fewer seeds."""
    failed = len(rows) - len(successful(rows))
    without_number = sum(measure in row["values"] and value_of(row, measure) is None for row in successful(rows))
    if failed or without_number:
        problems = ((failed, "failed"), (without_number, "without a number"))
        return ", ".join(f"{count} of {len(rows)} {what}" for count, what in problems if count)
    if len(rows) < most and mean_of(rows, measure) is not None:
        return f"{len(rows)} seed{'s' if len(rows) > 1 else ''}"
    return ""


def make_caption(table: Table, seeds: Sequence[int], columns: Sequence[Column], marked: bool) -> str:
    """`seeds`: the number of successful runs of each cell that was run."""
    most, fewest = max(seeds, default=0), min(filter(None, seeds), default=0)
    if most > 1:
        count = f"{most} seeds" if fewest == most else f"up to {most} seeds per cell"
        text = f"Means over {count} ± half of the 95 % interval"
    else:
        text = "One seed" if most else "Every run failed" if seeds else "No results yet"
    planned = f" ({table.seeds} planned)" if most and most < table.seeds else ""
    printed = "; the paper's numbers are next to them" if any(column.printed for column in columns) else ""
    bold = "; the best mean of each column is bold" if marked else ""
    return f"{text}{planned}{printed}{bold}."


def sources(table: Table, rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    finished = successful(rows)
    seeds = sorted({row["seed"] for row in rows})
    failed = len(rows) - len(finished)
    lines = [("Command", f"regard reproduce {shlex.quote(table.path_argument or table.name)}")]
    lines.append(("Runs", f"{len(rows)}" + (f", {failed} of them failed" if failed else "")))
    if seeds:
        lines.append(("Seeds", ranges(seeds)))
    if rows:
        lines.append(("Time", f"{hours(sum(row['seconds'] for row in rows))} in total"))
    for name in ("device", "versions"):
        counts = Counter(text for row in finished if (text := devices(row) if name == "device" else versions(row)))
        for text, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            lines.append((name.capitalize(), f"{text} ({count} runs)" if len(counts) > 1 else text))
    for file, sums in sorted(checksums(finished).items()):
        lines.append(
            ("Data", f"{file} {' and '.join(sorted(sums))}" + (" (differs between runs)" if len(sums) > 1 else ""))
        )
    return tuple(lines)


def checksums(rows: Sequence[Row]) -> dict[str, set[str]]:
    sums: dict[str, set[str]] = {}
    for row in rows:
        for file, checksum in row.get("data", {}).items():
            sums.setdefault(file, set()).add(str(checksum))
    return sums


def on_gpu(row: Row) -> bool:
    return "cuda" in row.get("environment", {}) or str(row.get("device", "")).startswith("cuda")


def devices(row: Row) -> str:
    environment = row.get("environment", {})
    name = environment.get("cuda") or environment.get("cpu", "")
    name = "1 thread" if name == "1 threads" else name  # as earlier versions wrote it
    together = f", {row['stacked']} seeds at once" if row.get("stacked", 1) > 1 else ""
    kind = "CUDA" if "cuda" in environment else "CPU" if "cpu" in environment else str(row.get("device", ""))
    return (f"{kind}: {name}" if name else kind) + together


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
