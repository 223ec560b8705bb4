"""One result: what a kind measures for one seed of a cell, written as one line of TABLE.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Required, TypedDict

from regard.records import ExplanationRow

Options = Mapping[str, Any]  # as in a table's TOML; `config` defines the types of most of them
CellKey = tuple[str, str, str]  # method, corpus, setting
RunKey = tuple[str, str, str, int]  # and the seed

History = dict[str, list[float | None]]  # values by epoch; None for NaN and infinity


class Map(TypedDict):
    """Texts in the plane."""

    labels: list[int]
    points: dict[str, list[list[float]]]  # by round


class PackedPredictions(TypedDict, total=False):
    """Labels and predictions on the test split, compressed (`predictions.pack`)."""

    n: Required[int]  # texts
    texts: Required[str]  # a checksum of the test texts and labels in their order
    codes: Required[str]
    classes: list[str]  # of a classification: what class numbers mean
    step: float  # of a regression: numbers are rounded to multiples of this


class Row(TypedDict, total=False):
    """A kind fills in what it measures and `results.complete` adds the rest; either `values` or `error` is present."""

    form: int  # the version of the format
    table: str
    method: str
    corpus: str
    setting: str
    seed: int
    fingerprint: str
    options: Options
    error: str
    values: dict[str, float]  # the measures
    dev: dict[str, float]
    predictions: PackedPredictions  # absent in rows of earlier versions, and without a test split
    history: History
    best_epoch: int
    epochs: int
    stacked: int  # number of seeds trained together
    data: dict[str, str]  # file -> checksum
    environment: dict[str, str]  # versions and devices
    seconds: float
    device: str
    # for figures
    types: list[str]  # of tokens
    tokens: list[list[float | None]]
    boxes: dict[str, dict[str, float]]
    pairs: dict[str, dict[str, float]]
    texts: list[ExplanationRow]
    cuts: list[int]
    curves: dict[str, list[float]]  # along the cuts
    intervals: dict[str, list[float]]  # over texts
    map: Map
    histograms: dict[str, list[int]]
    by_largest: list[dict[str, float]]
