"""The tables of the leaderboard page that are not about scores: ranks, the goal, what was not run, and how it was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from board import Board, Machine, Reached, machine_of
from cells import DRAWS, OTHERS, SIZES
from ranking import Rank
from systems import SYSTEMS

from regard.report.text.exported import Table

NAMES = {"cpu": "CPU"}


def rank_table(board: Board) -> Table:
    ranks = [board.ranks(size) for size in SIZES]
    rows = [
        (name, *(rank_text(each.get(name)) for each in ranks))
        for name in board.systems
        if any(name in each for each in ranks)
    ]
    return Table("Mean rank in accuracy (95 % interval)", ("system", *map(texts_of, SIZES)), rows)


def rank_text(one: Rank | None) -> str:
    return "–" if one is None else f"{one.mean:.1f} ({one.low:.1f} to {one.high:.1f})"


def reached_table(reached: Sequence[Reached], corpus: str, goal: float) -> Table:
    head = ("machine", "system", "setting", "texts", "seconds", "accuracy", "draws", "commit", "date")
    rows = [
        (
            str(one.machine),
            one.system,
            one.setting,
            f"{one.texts:,}",
            f"{one.seconds:.1f}",
            f"{one.accuracy:.1f}",
            str(one.draws),
            one.commit[:7],
            one.date,
        )
        for one in reached
    ]
    return Table(f"Mean accuracy of at least {goal:g} % on {corpus}, machine by machine, the fastest first", head, rows)


def not_run(board: Board, why: Mapping[str, str]) -> list[dict[str, str]]:
    """Systems without a cell: what they need, and `why`, by the name of the system."""
    return [
        {"name": name, "reason": "; ".join([reason(name), *([why[name]] if name in why else [])])}
        for name in SYSTEMS
        if name not in board.systems
    ]


def partly_run(board: Board, why: Mapping[str, str]) -> list[dict[str, str]]:
    """Systems with some cells: which cells and draws are missing, and `why`, by the name of the system."""
    found = {name: gaps(board, name) for name in board.systems}
    return [
        {"name": name, "reason": "; ".join([*words, *([why[name]] if name in why else [])])}
        for name, words in found.items()
        if words
    ]


def gaps(board: Board, name: str) -> list[str]:
    """What a system lacks, in words: sizes, or corpora and draws of a size."""
    missing, partial = [], []
    for size in SIZES:
        counts = {corpus: len(board.values(name, corpus, size, "accuracy")) for corpus in board.corpora}
        without = [corpus for corpus, count in counts.items() if not count]
        few = {
            count: [corpus for corpus, other in counts.items() if other == count]
            for count in range(1, DRAWS)
            if size and count in counts.values()
        }
        if len(without) == len(counts):
            missing.append(texts_of(size))
        elif without or few:
            words = [f"without {', '.join(without)}"] if without else []
            words += [f"{count} of {DRAWS} draws on {', '.join(names)}" for count, names in few.items()]
            partial.append(f"{texts_of(size)}: {', and '.join(words)}")
    return [*partial, *([f"not run with {', '.join(missing)}"] if missing else [])]


def reason(name: str) -> str:
    system = SYSTEMS[name]
    needs = [
        *(f"the package {package}" for package in system.needs),
        *([system.preparation] if system.preparation else []),
    ]
    words = "registered, not run yet"
    words += f"; needs {' and '.join(needs)}" if needs else ""
    if system.most_on_cpu:
        limit = f"{system.most_on_cpu:,} texts"
        words += f"; above {limit} also a GPU" if system.uses_gpu else f"; at most {limit}"
    return words + (f"; {system.trials} trials per cell" if system.trials else "")


def system_table(board: Board) -> Table:
    rows = []
    for name in board.systems:
        cells = [row for row in board.rows if row["system"] == name]
        sizes = [row["model_bytes"] for row in cells if row.get("model_bytes") and row["size"] == 0]
        rows.append(
            (
                name,
                ", ".join(sorted({row["setting"] for row in cells})),
                f"{trials(board, name)} trials" if trials(board, name) else "no",
                ", ".join(sorted({NAMES.get(device, device) for device in (machine_of(row).device for row in cells)})),
                f"{max(sizes) / 1e6:.1f}" if sizes else "–",
                str(len(cells)),
            )
        )
    return Table("Systems", ("system", "setting", "tuned", "device", "largest model, MB", "draws"), rows)


def corpus_table(board: Board) -> Table:
    rows = []
    for name in board.corpora:
        cells = [row for row in board.rows if row["corpus"] == name]
        whole = max((row["texts"] for row in cells if row["size"] == 0), default=0)
        rows.append(
            (
                name,
                "held back" if name in OTHERS else "development",
                f"{whole:,}" if whole else "–",
                f"{cells[0]['scored_texts']:,}",
                span_of(sorted({row["date"] for row in cells})),
                ", ".join(sorted({row["data"] for row in cells})),
            )
        )
    head = ("corpus", "role", "texts to train on", "test texts", "test texts read", "checksum of the training texts")
    return Table("Corpora, and when their test texts were read", head, rows)


def machine_table(board: Board) -> Table:
    counts: Counter[tuple[Machine, str, str]] = Counter()
    for row in board.rows:
        packages = {name: version for name, version in row["environment"].items() if name not in ("cpu", "threads")}
        versions = ", ".join(f"{name} {version}" for name, version in packages.items())
        counts[machine_of(row), row["commit"], versions] += 1
    rows = [
        (str(machine), NAMES.get(machine.device, machine.device), commit[:7], versions, f"{count:,}")
        for (machine, commit, versions), count in sorted(counts.items())
    ]
    return Table("Environments", ("machine", "device", "commit", "versions", "draws"), rows)


def trials(board: Board, system: str) -> int:
    """Of the search for its options: as its cells say, or cells of the first version, which were never tuned."""
    rows = [row for row in board.rows if row["system"] == system]
    return max((row["tuned"]["trials"] for row in rows if row.get("tuned")), default=0)


def texts_of(size: int) -> str:
    return f"{size:,} texts" if size else "all texts"


def span_of(dates: Sequence[str]) -> str:
    if not dates:
        return "–"
    return dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
