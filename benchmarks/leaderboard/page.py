"""The leaderboard as one self-contained HTML document, docs/leaderboard.html: everything on it comes from the cells."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from board import Board, Comparison, Reached, Timed, left_out
from cells import SIZES
from jinja2 import ChoiceLoader, FileSystemLoader
from markupsafe import Markup
from page_tables import (
    corpus_table,
    machine_table,
    not_run,
    partly_run,
    rank_table,
    reached_table,
    span_of,
    system_table,
    texts_of,
)
from score_tables import ScoreTable, part_tables, score_table
from storage import read_results
from time_plot import marks_of, time_plot

from regard.files import write
from regard.report.pages.templates import FOLDING, SORTING, page_values, script_text, templates
from regard.report.pages.tiles import Tile
from regard.report.plots.dots import Dot, DotPanel, dots
from regard.report.plots.marks import Mark
from regard.report.text.exported import Table

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "docs" / "leaderboard.html"
TIMED_SIZES = (100, 1000, 0)
GOAL, GOAL_CORPUS = 91.0, "imdb"


class Plot(NamedTuple):
    title: str
    svg: Markup


class TimeSection(NamedTuple):
    title: str
    note: str
    plots: tuple[Plot, ...]
    table: Table


class Key(NamedTuple):
    """An entry of the legend of all time plots."""

    number: int
    name: str
    swatch: Markup


@dataclass(frozen=True)
class BoardView:
    title: str
    facts: dict[str, str]
    tiles: list[Tile]
    sections: dict[str, str]
    scores: ScoreTable
    parts: list[ScoreTable]
    by_corpus: list[ScoreTable]
    tuned: ScoreTable | None
    keys: list[Key]
    times: list[TimeSection]
    other_times: list[TimeSection]
    times_left_out: list[str]
    rank_plots: list[Plot]
    ranks: Table
    reached: Table
    tried: list[dict[str, str]]
    absent: list[dict[str, str]]
    tables: dict[str, Table]
    commits: dict[str, str]


def write_page(out: Path = OUT) -> None:
    write(out, page(Board(read_results())))
    print(out)


def page(board: Board) -> str:
    """The whole document; write it as UTF-8."""
    environment = templates().overlay(loader=ChoiceLoader([FileSystemLoader(HERE), templates().loader]))
    script = "\n".join([script_text(FOLDING), script_text(SORTING), (HERE / "leaderboard.js").read_text("utf-8")])
    return environment.get_template("leaderboard.html").render(page_values(view_of(board), script))


def view_of(board: Board) -> BoardView:
    lists: dict[str, Any] = {
        name: tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8")) for name in ("tried", "absent")
    }
    why = lists["absent"]["why"]
    tuned = [name for name in board.systems if name not in board.untuned]
    comparisons = [board.comparisons(size) for size in TIMED_SIZES]
    marks = marks_of(list(dict.fromkeys(one.system for each in comparisons for c in each for one in c.systems)))
    reached = board.reached(GOAL_CORPUS, GOAL)
    sections = {
        "scores": "Accuracy",
        "times": "Time",
        "ranks": "Ranks",
        "goal": f"{GOAL:g} % on {GOAL_CORPUS}",
        "tried": "What did not help",
        "about": "How it was measured",
    }
    return BoardView(
        "Leaderboard of text classifiers",
        facts_of(board),
        tiles_of(board, reached),
        sections,
        score_table(board, board.untuned, board.corpora, f"Mean over {len(board.corpora)} corpora"),
        part_tables(board),
        [score_table(board, board.systems, [corpus], corpus) for corpus in board.corpora],
        score_table(board, tuned, board.corpora, "Tuned settings") if tuned else None,
        [Key(number, name, swatch(mark)) for number, (name, mark) in enumerate(marks.items())],
        [time_section(each[0], marks) for each in comparisons if each],
        [time_section(one, marks) for each in comparisons for one in each[1:]],
        sorted({f"{row['system']}: without {left_out(row)}" for row in board.rows if left_out(row)}),
        [plot for size in SIZES if (plot := rank_plot(board, size))],
        rank_table(board),
        reached_table(reached, GOAL_CORPUS, GOAL),
        lists["tried"]["tried"],
        [*not_run(board, why), *partly_run(board, why), *lists["absent"]["absent"]],
        {"systems": system_table(board), "corpora": corpus_table(board), "machines": machine_table(board)},
        {
            name: why
            for name, why in lists["absent"]["commits"].items()
            if any(row["commit"] == name for row in board.rows)
        },
    )


def facts_of(board: Board) -> dict[str, str]:
    dates = sorted({row["date"] for row in board.rows})
    return {
        "systems": str(len(board.systems)),
        "corpora": str(len(board.corpora)),
        "cells": f"{len(board.groups):,}, with {len(board.rows):,} draws",
        "test texts read": span_of(dates),
    }


def tiles_of(board: Board, reached: Sequence[Reached]) -> list[Tile]:
    tiles = []
    for size in SIZES:
        best = [
            (mean.value, name) for name in board.untuned if (mean := board.mean(name, board.corpora, size, "accuracy"))
        ]
        if best:
            value, name = max(best)
            tiles.append(Tile(f"best mean accuracy, {texts_of(size)}", f"{value:.1f} %", name))
    if reached:
        first = min(reached, key=lambda one: one.seconds)
        meaning = f"{first.system}, {first.setting}; {first.machine}; commit {first.commit[:7]}"
        tiles.append(Tile(f"time to {GOAL:g} % on {GOAL_CORPUS}", f"{first.seconds:.1f} s", meaning))
    return tiles


def swatch(mark: Mark) -> Markup:
    return Markup(
        '<svg class="swatch" width="16" height="16" aria-hidden="true"><path d="{}" fill="{}"/></svg>'
    ).format(mark.path(8, 8, 5.5), mark.colour)


def time_section(one: Comparison, marks: dict[str, Mark]) -> TimeSection:
    title = f"{texts_of(one.size).capitalize()}, {one.machine}"
    draw = partial(time_plot, shown=one.systems, marks=marks, words=words_about)
    plots = (
        Plot(
            "Training time",
            Markup(
                draw(f"{title}: accuracy and training time", "seconds to train, log scale", value=lambda t: t.train)
            ),
        ),
        Plot(
            "Prediction speed",
            Markup(
                draw(
                    f"{title}: accuracy and prediction speed",
                    "texts predicted per second, log scale",
                    value=lambda t: t.speed,
                )
            ),
        ),
    )
    head = ("system", "accuracy", "training, s", "CPU, s", "texts/s", "peak MB")
    rows = [
        (
            t.system,
            f"{t.accuracy:.1f}",
            duration(t.train),
            duration(t.train_cpu),
            f"{t.speed:,.0f}",
            f"{t.megabytes:,}" if t.megabytes else "–",
        )
        for t in sorted(one.systems, key=lambda t: t.train)
    ]
    return TimeSection(
        title,
        f"{len(one.corpora)} corp{'us' if len(one.corpora) == 1 else 'ora'}: {', '.join(one.corpora)}",
        plots,
        Table(f"{title}, in numbers", head, rows),
    )


def words_about(one: Timed) -> str:
    memory = f", {one.megabytes:,} MB at most" if one.megabytes else ""
    return (
        f"accuracy {one.accuracy:.1f} %, trained in {duration(one.train)} s ({duration(one.train_cpu)} s of CPU time), "
        f"{one.speed:,.0f} texts per second{memory}"
    )


def duration(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"


def rank_plot(board: Board, size: int) -> Plot | None:
    ranks = board.ranks(size)
    if not ranks:
        return None
    drawn = tuple(Dot(name, one.mean, one.low, one.high) for name, one in ranks.items())
    title = f"Mean rank, {texts_of(size)}"
    svg = dots(title, "mean rank, 1 is the best", [DotPanel("", drawn, (1.0,))], "")
    return Plot(title, Markup(svg))
