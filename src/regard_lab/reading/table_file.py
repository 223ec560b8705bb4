"""A table's TOML, read strictly: unknown keys, references to unknown names and values of a wrong type are errors."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from regard.config import Config
from regard.errors import InputError
from regard_lab.kinds.kinds import KINDS
from regard_lab.reading.checks import (
    array_of_tables,
    check_keys,
    mapping,
    named_sections,
    names,
    one_of,
    single_line,
    suggestion,
    values_of,
)
from regard_lab.reading.sections import (
    TableDefaults,
    read_corpus,
    read_measures,
    read_method,
    read_options,
    read_printed,
    read_seeds,
    read_setting,
    read_tuned,
)
from regard_lab.rows import Options
from regard_lab.tables.table import Compare, Corpus, Figure, Kind, Method, Setting, Table

SCALARS = {"title": str, "where": str, "kind": str, "seeds": int, "note": str, "parts": Literal["test", "dev"]}
TABLES = ("options", "methods", "corpora", "settings", "printed", "tuned")
NAMED = ("methods", "corpora", "settings")  # sections with names for --only
LISTS = ("measures", "first", "compare", "figure")
LINES = ("title", "where", "note")
FIGURES = ("path", "along", "pairs", "settings", "intervals")
FIGURE_KEYS = {
    "name": str,
    "kind": Literal[FIGURES],
    "title": str,
    "value": str,
    "measure": str,
    "option": str,
    "axis": str,
    "panels": Literal["corpora", "none"],
    "log": bool,
}


@dataclass(frozen=True)
class Axes:
    """The axes that comparisons, figures and printed numbers refer to."""

    methods: Mapping[str, Method]
    corpora: Mapping[str, Corpus]
    settings: Mapping[str, Setting]

    @property
    def measures(self) -> dict[str, None]:
        """Measures that are a column of some corpus, in order."""
        return dict.fromkeys(name for corpus in self.corpora.values() for name in corpus.measures)


def read_table(path: Path, name: str) -> Table:
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (
        ValueError,
        RecursionError,
        OSError,
    ) as error:  # ValueError: not TOML, not UTF-8, or a number of 5,000 digits
        raise InputError(f"{path}: expected a TOML file ({error})") from None
    try:
        table = make_table(content, path, name)
        check_cells(table)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return table


def make_table(content: Options, path: Path, name: str) -> Table:
    check_keys(content, [*SCALARS, *TABLES, *LISTS], "at the top")
    top = values_of(content, SCALARS, "")
    top |= {key: single_line(top[key], key) for key in LINES if key in top}
    one_of(top.get("kind", "train"), KINDS, "kind")
    kind = KINDS[top.get("kind", "train")]
    seeds = read_seeds(top.get("seeds", 1), "seeds")
    axes, rows = read_axes(content, kind, seeds, top.get("parts"))
    parts = {key: mapping(content.get(key, {}), f"[{key}]") for key in TABLES if key not in NAMED}
    table = Table(
        name=name,
        path=path,
        title=top.get("title", name),
        where=top.get("where", ""),
        kind=top.get("kind", "train"),
        implementation=kind,
        seeds=seeds,
        measures=read_measures(content["measures"], kind, "measures"),
        first=names(content.get("first", []), axes.methods, "first"),
        note=top.get("note", ""),
        options=read_options(parts["options"], kind, "[options]"),
        methods=axes.methods,
        corpora=axes.corpora,
        settings=axes.settings,
        printed={key: read_printed(key, part, axes.corpora, rows) for key, part in parts["printed"].items()},
        tuned={key: read_tuned(key, part, axes.corpora, axes.methods, kind) for key, part in parts["tuned"].items()},
        compare=tuple(
            read_compare(part, axes, f"[[compare]] {number}")
            for number, part in enumerate(array_of_tables(content, "compare"), 1)
        ),
        figures=tuple(
            read_figure(part, axes, kind, f"[[figure]] {number}")
            for number, part in enumerate(array_of_tables(content, "figure"), 1)
        ),
    )
    check_repetitions(table.compare, table.figures)
    return table


def read_axes(content: Options, kind: Kind, seeds: int, parts: str | None) -> tuple[Axes, list[str]]:
    """Methods, corpora and settings, and the names of rows: METHOD, SETTING and METHOD/SETTING."""
    sections = {key: named_sections(content, key) for key in NAMED}
    for key in ("methods", "corpora"):
        if not sections[key]:
            raise InputError(f"expected at least one [{key}.NAME], got none")
    measures = read_measures(content.get("measures", []), kind, "measures")
    if not measures:
        raise InputError("measures: expected at least one, such as accuracy or rmse, got none")
    methods = {key: read_method(key, part, kind) for key, part in sections["methods"].items()}
    settings = {key: read_setting(key, part, kind) for key, part in sections["settings"].items()} or {"": Setting()}
    rows = [*methods, *filter(None, settings), *(f"{one}/{other}" for one in methods for other in settings)]
    defaults = TableDefaults(kind, measures, seeds, parts)
    corpora = {key: read_corpus(key, part, defaults, rows) for key, part in sections["corpora"].items()}
    return Axes(methods, corpora, settings), rows


def read_compare(part: Options, axes: Axes, where: str) -> Compare:
    check_keys(part, ["method", "against", "setting", "against_setting", "corpora", "measures"], where)
    if "method" not in part:
        raise InputError(f"{where} has no `method`")
    method = part["method"]
    against = part.get("against", method)
    for name, key in ((method, "method"), (against, "against")):
        one_of(name, axes.methods, f"{where} {key}")
    setting = part.get("setting")
    against_setting = part.get("against_setting", setting)
    for name, key in ((setting, "setting"), (against_setting, "against_setting")):
        if name is not None:
            one_of(name, axes.settings, f"{where} {key}")
    if (method, setting) == (against, against_setting) or (setting is None) != (against_setting is None):
        raise InputError(f"{where} compares {method!r} with itself; set another `against`, or two settings")
    return Compare(
        method,
        against,
        setting,
        against_setting,
        names(part.get("corpora", []), axes.corpora, f"{where} corpora"),
        names(part.get("measures", []), axes.measures, f"{where} measures"),
    )


def read_figure(part: Options, axes: Axes, kind: Kind, where: str) -> Figure:
    check_keys(part, [*FIGURE_KEYS, "values", "corpora", "methods", "settings"], where)
    given = values_of(part, FIGURE_KEYS, where)
    check_figure(given, part.get("values", []), where)
    given |= {key: single_line(given[key], f"{where} {key}") for key in ("title", "axis") if key in given}
    if "measure" in given:
        read_measures([given["measure"]], kind, f"{where} measure")
        if given["kind"] == "intervals":
            one_of(given["measure"], axes.measures, f"{where} measure")
    if given["kind"] == "settings":
        check_option(given["option"], axes.settings.values(), where)
    return Figure(
        **given,
        values=tuple(part.get("values", ())),
        corpora=names(part.get("corpora", []), axes.corpora, f"{where} corpora"),
        methods=names(part.get("methods", []), axes.methods, f"{where} methods"),
        settings=names(part.get("settings", []), axes.settings, f"{where} settings"),
    )


def check_figure(given: Options, values: object, where: str) -> None:
    for key in ("name", "kind"):
        if not given.get(key):
            raise InputError(f"{where} has no `{key}`")
    if not given["name"].replace("-", "").replace("_", "").isalnum():
        raise InputError(
            f"{where} name: expected letters, digits and -, because it names a file, got {given['name']!r}"
        )
    for key, kind in (("value", "path"), ("option", "settings")):
        if given["kind"] == kind and key not in given:
            raise InputError(f"{where} of kind {kind!r} needs `{key}`")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{where} values: expected a list of names in a row's history, got {values!r}")
    if (given["kind"] == "along") != bool(values):
        raise InputError(
            f"{where} of kind {given['kind']!r}: `values` is required for kind 'along' and allowed only there"
        )


def check_option(option: str, settings: Iterable[Setting], where: str) -> None:
    """An option that can be the axis of a figure."""
    options = dict.fromkeys(
        name for setting in settings for name, value in setting.options.items() if isinstance(value, (int, float))
    )
    if option not in options:
        raise InputError(
            f"{where} option: expected a numeric option of a [settings.NAME], got {option!r}{suggestion(option, options)}"
        )


def check_repetitions(compare: Sequence[Compare], figures: Sequence[Figure]) -> None:
    """A repeated comparison would count twice in Holm's correction, and a figure would replace one of the same name."""
    for index, spec in enumerate(compare):
        if spec in compare[:index]:
            raise InputError(f"[[compare]] {index + 1} repeats an earlier one; remove it")
    titles = [figure.name for figure in figures]
    for index, name in enumerate(titles):
        if name in titles[:index]:
            raise InputError(f"[[figure]] {index + 1} name = {name!r}: an earlier figure has this name")


def check_cells(table: Table) -> None:
    cells = list(table.cells())
    if not cells:
        raise InputError("every cell is skipped; expected at least one")
    for corpus, printed in table.printed.items():
        rows = [cell.name.partition("/")[2] for cell in cells if cell.corpus.name == corpus]
        for key in printed:
            if key not in rows:
                raise InputError(f"[printed.{corpus}] {key}: no such row{suggestion(key, rows)}")
    for cell in cells:
        options = {key: value for key, value in cell.options.items() if key not in table.implementation.keys}
        try:
            Config().override(options)
        except InputError as error:
            raise InputError(f"{cell.name}: {error}") from None
