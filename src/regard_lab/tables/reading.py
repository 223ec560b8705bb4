"""A table's TOML, read strictly: every key is known, every name that is referred to exists, every value is of its kind."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from regard.config import Config
from regard.errors import InputError
from regard_lab.kinds.kinds import KINDS
from regard_lab.tables.checks import near
from regard_lab.tables.outcomes import Outcomes
from regard_lab.tables.table import Setting, Table

SCALARS = {"title": str, "where": str, "kind": str, "seeds": int, "note": str, "parts": Literal["test", "dev"]}
TABLES = ("options", "methods", "corpora", "settings", "printed", "tuned")
NAMED = ("methods", "corpora", "settings")  # whose names --only asks for
LISTS = ("measures", "first")
LINES = ("title", "where", "note")


def read_table(path: Path, name: str) -> Table:
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (ValueError, RecursionError, OSError) as error:  # ValueError: no TOML, no UTF-8, or a number of 5,000 digits
        raise InputError(f"{path}: not a TOML file that can be read ({error})") from None
    return Reader(path).table(content, name)


class Reader(Outcomes):
    """Makes a table of one file's parts."""

    def table(self, content: Mapping[str, Any], name: str) -> Table:
        self.known(content, [*SCALARS, *TABLES, *LISTS, "compare", "figure"], "at the top")
        told = {key: self.value(content[key], kind, key) for key, kind in SCALARS.items() if key in content}
        told |= {key: self.line(told[key], key) for key in LINES if key in told}
        kind = told.get("kind", "train")
        self.one_of(kind, KINDS, "kind")
        self.kind = KINDS[kind]
        seeds = self.seeds(told.get("seeds", 1), "seeds")
        parts = {key: self.sections(content, key) for key in NAMED}
        parts |= {key: self.mapping(content.get(key, {}), f"[{key}]") for key in TABLES if key not in NAMED}
        for key in ("methods", "corpora"):
            if not parts[key]:
                raise self.wrong(f"there is no [{key}.NAME]; a table needs at least one")
        measures = self.measures(content.get("measures", []), "measures")
        if not measures:
            raise self.wrong("measures is missing or empty; a table needs at least one, such as accuracy or rmse")
        methods = {key: self.method(key, part) for key, part in parts["methods"].items()}
        settings = {key: self.setting(key, part) for key, part in parts["settings"].items()} or {"": Setting()}
        names = [*methods, *filter(None, settings), *(f"{one}/{other}" for one in methods for other in settings)]
        corpora = {
            key: self.corpus(key, part, measures, seeds, told.get("parts"), names)
            for key, part in parts["corpora"].items()
        }
        compare = tuple(
            self.compare(part, methods, corpora, settings, f"[[compare]] {place}")
            for place, part in enumerate(self.items(content, "compare"), 1)
        )
        figures = tuple(
            self.figure(part, methods, corpora, settings, f"[[figure]] {place}")
            for place, part in enumerate(self.items(content, "figure"), 1)
        )
        self.check_twice(compare, figures)
        table = Table(
            name=name,
            path=self.path,
            title=told.get("title", name),
            where=told.get("where", ""),
            kind=kind,
            seeds=seeds,
            measures=measures,
            first=self.names(content.get("first", []), methods, "first"),
            note=told.get("note", ""),
            options=self.options(parts["options"], "[options]"),
            methods=methods,
            corpora=corpora,
            settings=settings,
            printed={key: self.printed(key, part, corpora, names) for key, part in parts["printed"].items()},
            tuned={key: self.tuned(key, part, corpora, methods) for key, part in parts["tuned"].items()},
            compare=compare,
            figures=figures,
        )
        self.check_cells(table)
        return table

    def check_cells(self, table: Table) -> None:
        cells = list(table.cells())
        if not cells:
            raise self.wrong("every cell is skipped; at least one is needed")
        for corpus, told in table.printed.items():
            rows = [cell.name.partition("/")[2] for cell in cells if cell.corpus.name == corpus]
            for key in told:
                if key not in rows:
                    raise self.wrong(f"[printed.{corpus}] {key}: there is no such row{near(key, rows)}")
        for cell in cells:
            own = {key: value for key, value in cell.options.items() if key not in self.kind.keys}
            try:
                Config().override(own)
            except InputError as error:
                raise self.wrong(f"{cell.name}: {error}") from None
