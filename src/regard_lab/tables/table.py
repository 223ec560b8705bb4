"""A table to reproduce: methods × corpora × settings, the printed numbers, comparisons and figures.

Options override each other in the order [options] < corpus < method < tuned (for one corpus and method) < setting.
`reading/table_file.py` reads a table from its TOML.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from regard.config import Config
from regard_lab.measures import MEASURES, Measure
from regard_lab.rows import CellKey, Options, Row

if TYPE_CHECKING:
    from regard_lab.tables.context import Context


@dataclass(frozen=True)
class Method:
    """A row of the table."""

    name: str
    title: str
    options: Options
    seeds: int | None = None  # None: those of the corpus


@dataclass(frozen=True)
class Corpus:
    """Columns of the table, one per measure."""

    name: str
    title: str
    options: Options
    measures: tuple[str, ...]
    seeds: int
    train: str | None = None
    dev: str | None = None
    test: str | None = None
    labels: tuple[str, ...] = ()  # only texts with one of these; empty: all
    pooled: float = 0.0  # train and test are joined and split again at random, with this fraction as test
    hold_out: float = 0.0  # fraction of the training texts that serves as dev, the same for all seeds and methods
    hold_out_by: str | None = None  # whole groups of this column, such as all reviews of a movie
    make: str | None = None  # the function that changes or generates the texts: CORPUS_MAKERS
    keys: Options = field(default_factory=dict)  # its arguments
    skip: tuple[str, ...] = ()  # methods, settings or METHOD/SETTING without a cell here

    def definition(self) -> dict[str, object]:
        """The fields that decide which texts are read."""
        names = ("train", "dev", "test", "labels", "pooled", "hold_out", "hold_out_by", "make")
        fields = {name: getattr(self, name) for name in names if getattr(self, name)}
        return {**fields, **({"keys": dict(self.keys)} if self.keys else {})}


@dataclass(frozen=True)
class Setting:
    """The third axis of a table; without one, a single setting that has neither a name nor options."""

    name: str = ""
    title: str = ""
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class Compare:
    """`method` (at `setting`) is tested against `against` (at `against_setting`), paired by seed."""

    method: str
    against: str
    setting: str | None = None  # None: at every setting
    against_setting: str | None = None
    corpora: tuple[str, ...] = ()  # empty: all
    measures: tuple[str, ...] = ()  # empty: all that have a better direction


@dataclass(frozen=True)
class Figure:
    name: str
    kind: str
    title: str = ""
    value: str = ""  # path: its name in a row's history
    values: tuple[str, ...] = ()  # along: several of them in one panel
    measure: str = ""
    option: str = ""  # settings: the option along the axis
    axis: str = ""  # settings: title of the axis
    corpora: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    panels: str = ""  # corpora or none
    log: bool = False  # whether the axis of the option is logarithmic


@dataclass(frozen=True)
class Cell:
    """One method on one corpus at one setting, with all that a worker needs."""

    kind: str
    method: str
    corpus: Corpus
    setting: str
    options: Options
    seeds: int = 1  # number of seeds to run

    @property
    def key(self) -> CellKey:
        return self.method, self.corpus.name, self.setting

    def without(self, keys: Collection[str]) -> Cell:
        """The same cell without these keys of its kind, so that only options of the config are left."""
        return replace(self, options={key: value for key, value in self.options.items() if key not in keys})

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self.corpus.name, self.method, self.setting)))

    @property
    def fingerprint(self) -> str:
        """Whether a result belongs to this definition: a hash of the kind, all options and the texts."""
        definition = json.dumps([self.kind, dict(self.options), self.corpus.definition()], sort_keys=True)
        return hashlib.sha256(definition.encode()).hexdigest()[:16]


def training_config(options: Options, **further: object) -> Config:
    """The config of a training in a table. As in the papers: one model, and numbers may leave the range of the labels."""
    return single_model({"within_range": False, **options, **further})


def single_model(options: Options) -> Config:
    """The papers train one model, where `regard train` may choose a committee, and do not calibrate it."""
    return Config().override({"members": 1, "calibrate": False, **options})


@dataclass(frozen=True)
class Kind:
    """What a cell does; the table of kinds is in `kinds/kinds.py`."""

    run: Callable[[Cell, Sequence[int], Context], Iterator[Row]]
    check: Callable[[Cell], None] | None = None  # rejects options before anything runs
    keys: Options = field(default_factory=dict)  # options in addition to the config's, and their types
    measures: Mapping[str, Measure] = field(default_factory=dict)  # in addition to MEASURES
    draw: Callable[[Table, Sequence[Row]], dict[str, str]] | None = None  # further figures: name -> SVG
    reads: bool = True  # whether a corpus must name its training texts


@dataclass(frozen=True)
class Table:
    name: str  # PAPER/TABLE
    path: Path
    title: str
    where: str  # section, table or figure of the paper
    kind: str
    implementation: Kind
    seeds: int
    measures: tuple[str, ...]
    first: tuple[str, ...]
    note: str
    options: Options
    methods: Mapping[str, Method]
    corpora: Mapping[str, Corpus]
    settings: Mapping[str, Setting]
    printed: Mapping[str, Mapping[str, tuple[float, ...]]]  # corpus -> METHOD or METHOD/SETTING -> numbers
    tuned: Mapping[str, Mapping[str, Options]]  # corpus -> method -> options
    compare: tuple[Compare, ...]
    figures: tuple[Figure, ...]
    path_argument: str = ""  # the path given on the command line, if the table is not found by its name

    @property
    def stem(self) -> str:
        return self.path.stem

    def cells(self) -> Iterator[Cell]:
        """All cells, corpus by corpus, so that texts are read once."""
        for corpus in self.corpora.values():
            for method in self.methods.values():
                for setting in self.settings.values():
                    if not {method.name, setting.name, f"{method.name}/{setting.name}"} & set(corpus.skip):
                        options = self.options_of(corpus, method, setting)
                        seeds = corpus.seeds if method.seeds is None else method.seeds
                        yield Cell(self.kind, method.name, corpus, setting.name, options, seeds)

    def by_cell(self, rows: Iterable[Row]) -> dict[CellKey, list[Row]]:
        """The rows of successful runs by cell, in the order of the cells; cells without rows are left out."""
        groups: dict[CellKey, list[Row]] = {cell.key: [] for cell in self.cells()}
        for row in rows:
            if "error" not in row:
                groups[row["method"], row["corpus"], row["setting"]].append(row)
        return {cell_key: group for cell_key, group in groups.items() if group}

    def options_of(self, corpus: Corpus, method: Method, setting: Setting) -> Options:
        tuned = self.tuned.get(corpus.name, {}).get(method.name, {})
        return {**self.options, **corpus.options, **method.options, **tuned, **setting.options}

    def measure(self, name: str) -> Measure:
        return {**MEASURES, **self.implementation.measures}[name]

    def title_of(self, cell_key: CellKey) -> str:
        """The title of a row of the table."""
        method, _, setting = cell_key
        return " · ".join(filter(None, (self.methods[method].title, self.settings[setting].title)))

    def printed_value(self, cell_key: CellKey, measure: str) -> float | None:
        """The number printed in the paper, in our units (shares from 0 to 1)."""
        method, corpus, setting = cell_key
        by_row = self.printed.get(corpus, {})
        numbers = by_row.get(f"{method}/{setting}" if setting else method, ())
        index = self.corpora[corpus].measures.index(measure)
        return numbers[index] / self.measure(measure).factor if index < len(numbers) else None
