"""A table to reproduce: methods × corpora × settings, what the paper prints, what is compared and what is drawn.

Options go [options] < corpus < method < tuned (of one corpus and method) < setting. `reading.py` makes these of a TOML.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from regard_lab.measures import MEASURES, Measure
from regard_lab.rows import Options, Place, Row

if TYPE_CHECKING:
    from regard_lab.tables.context import Context


@dataclass(frozen=True)
class Method:
    """A row of the table."""

    name: str
    title: str
    options: Options
    seeds: int | None = None  # None: as many as its corpora say


@dataclass(frozen=True)
class Corpus:
    """Columns of the table, one for each of its measures."""

    name: str
    title: str
    options: Options
    measures: tuple[str, ...]
    seeds: int
    train: str | None = None
    dev: str | None = None
    test: str | None = None
    labels: tuple[str, ...] = ()  # only texts of these; none: of all
    pooled: float = 0.0  # train and test are put together and drawn again by chance, this part of them as test
    hold_out: float = 0.0  # the part of the training texts that serves as dev, the same for all seeds and methods
    hold_out_by: str | None = None  # whole groups of this column, such as all reviews of a film
    make: str | None = None  # how the texts are changed, or made up
    keys: Options = field(default_factory=dict)  # of what changes them
    skip: tuple[str, ...] = ()  # methods, settings or METHOD/SETTING without a cell here

    def definition(self) -> dict[str, object]:
        """What decides which texts are read."""
        names = ("train", "dev", "test", "labels", "pooled", "hold_out", "hold_out_by", "make")
        told = {name: getattr(self, name) for name in names if getattr(self, name)}
        return {**told, **({"keys": dict(self.keys)} if self.keys else {})}


@dataclass(frozen=True)
class Setting:
    """The third axis, where there is one; else a single setting without name or options."""

    name: str = ""
    title: str = ""
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class Compare:
    """`method` (at `setting`) is tested against `against` (at `against_setting`), paired by seed."""

    method: str
    against: str
    setting: str | None = None  # None: every setting against itself
    against_setting: str | None = None
    corpora: tuple[str, ...] = ()  # none: all
    measures: tuple[str, ...] = ()  # none: all that have a better side


@dataclass(frozen=True)
class Figure:
    name: str
    kind: str
    title: str = ""
    value: str = ""  # path: what a row's history calls it
    values: tuple[str, ...] = ()  # along: the same, several in a panel
    measure: str = ""
    option: str = ""  # settings: the option along the axis
    axis: str = ""  # settings: what to call it
    corpora: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    panels: str = ""  # corpora or none
    log: bool = False  # the axis of the option by its logarithm


@dataclass(frozen=True)
class Cell:
    """One method on one corpus at one setting; what a worker needs to know of it."""

    kind: str
    method: str
    corpus: Corpus
    setting: str
    options: Options
    seeds: int = 1  # as many as are asked for

    @property
    def key(self) -> Place:
        return self.method, self.corpus.name, self.setting

    def without(self, keys: Collection[str]) -> Cell:
        """The same with the config's options alone: a kind has keys of its own beside them."""
        return replace(self, options={key: value for key, value in self.options.items() if key not in keys})

    @property
    def name(self) -> str:
        return "/".join(filter(None, (self.corpus.name, self.method, self.setting)))

    @property
    def fingerprint(self) -> str:
        """Tells whether a result belongs to this definition: the kind, all options and what is read."""
        told = json.dumps([self.kind, dict(self.options), self.corpus.definition()], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Kind:
    """What a cell does; `kinds/kinds.py` has the table of them."""

    run: Callable[[Cell, Sequence[int], Context], Iterator[Row]]
    check: Callable[[Cell], None] | None = None  # refuses options before anything runs
    keys: Options = field(default_factory=dict)  # options beside the config's, and their types
    measures: Mapping[str, Measure] = field(default_factory=dict)  # beside MEASURES
    draw: Callable[[Table, Sequence[Row]], dict[str, str]] | None = None  # figures of its own: name -> SVG
    reads: bool = True  # whether a corpus must say what to learn from


@dataclass(frozen=True)
class Table:
    name: str  # PAPER/TABLE
    path: Path
    title: str
    where: str  # in the paper
    kind: str
    does: Kind
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
    asked: str = ""  # the path that the command line asks for it by, where its name does not lead there

    @property
    def stem(self) -> str:
        return self.path.stem

    def cells(self) -> Iterator[Cell]:
        """In the order of corpora, so that texts are read once."""
        for corpus in self.corpora.values():
            for method in self.methods.values():
                for setting in self.settings.values():
                    if not {method.name, setting.name, f"{method.name}/{setting.name}"} & set(corpus.skip):
                        options = self.options_of(corpus, method, setting)
                        seeds = corpus.seeds if method.seeds is None else method.seeds
                        yield Cell(self.kind, method.name, corpus, setting.name, options, seeds)

    def by_place(self, rows: Iterable[Row]) -> dict[Place, list[Row]]:
        """The rows that did not fail, at the places that have any, in the order of the cells."""
        found: dict[Place, list[Row]] = {cell.key: [] for cell in self.cells()}
        for row in rows:
            if "error" not in row:
                found[row["method"], row["corpus"], row["setting"]].append(row)
        return {place: several for place, several in found.items() if several}

    def options_of(self, corpus: Corpus, method: Method, setting: Setting) -> Options:
        tuned = self.tuned.get(corpus.name, {}).get(method.name, {})
        return {**self.options, **corpus.options, **method.options, **tuned, **setting.options}

    def measure(self, name: str) -> Measure:
        return {**MEASURES, **self.does.measures}[name]

    def title_of(self, place: Place) -> str:
        """What a row of the table is called."""
        method, _, setting = place
        return " · ".join(filter(None, (self.methods[method].title, self.settings[setting].title)))

    def printed_value(self, place: Place, measure: str) -> float | None:
        """What the paper prints, in our units (shares from 0 to 1)."""
        method, corpus, setting = place
        told = self.printed.get(corpus, {})
        numbers = told.get(f"{method}/{setting}" if setting else method, ())
        number = self.corpora[corpus].measures.index(measure)
        return numbers[number] / self.measure(measure).factor if number < len(numbers) else None
