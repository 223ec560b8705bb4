"""A table's TOML, read strictly: every key is known, every name that is referred to exists, every value is of its kind."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from regard.config import Config, options
from regard.errors import InputError
from regard.reproduce.checks import RESERVED, Checks
from regard.reproduce.kinds import KINDS, Kind
from regard.reproduce.makers import CORPUS_MAKERS, keys_of, needed_by
from regard.reproduce.measures import MEASURES
from regard.reproduce.tables import Compare, Corpus, Figure, Method, Setting, Table

SCALARS = {"title": str, "where": str, "kind": str, "seeds": int, "note": str, "parts": Literal["test", "dev"]}
TABLES = ("options", "methods", "corpora", "settings", "printed", "tuned")
LISTS = ("measures", "first")
OF_A_CORPUS = {"title": str, "train": str, "dev": str, "test": str, "hold_out": float, "hold_out_by": str, "make": str}
FIGURES = ("path", "settings", "intervals", "bars")
OF_A_FIGURE = {
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
SEEDS = 1000  # more than this many is a slip of the finger


def read_table(path: Path, name: str) -> Table:
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise InputError(f"{path}: not a TOML file that can be read ({error})") from None
    return Reader(path).table(content, name)


class Reader(Checks):
    """Makes a table of one file's parts."""

    kind: Kind = KINDS["train"]

    def table(self, content: Mapping[str, Any], name: str) -> Table:
        self.known(content, [*SCALARS, *TABLES, *LISTS, "compare", "figure"], "at the top")
        told = {key: self.value(content[key], kind, key) for key, kind in SCALARS.items() if key in content}
        kind = told.get("kind", "train")
        self.one_of(kind, KINDS, "kind")
        self.kind = KINDS[kind]
        seeds = told.get("seeds", 1)
        if not 1 <= seeds <= SEEDS:
            raise self.wrong(f"seeds = {seeds}: from 1 to {SEEDS} is accepted")
        parts = {key: self.mapping(content.get(key, {}), f"[{key}]") for key in TABLES}
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
            compare=tuple(
                self.compare(part, methods, corpora, settings, f"[[compare]] {place}")
                for place, part in enumerate(self.items(content, "compare"), 1)
            ),
            figures=tuple(
                self.figure(part, methods, corpora, settings, f"[[figure]] {place}")
                for place, part in enumerate(self.items(content, "figure"), 1)
            ),
        )
        self.check_cells(table)
        return table

    def check_cells(self, table: Table) -> None:
        cells = list(table.cells())
        if not cells:
            raise self.wrong("every cell is skipped; at least one is needed")
        for cell in cells:
            own = {key: value for key, value in cell.options.items() if key not in self.kind.keys}
            try:
                Config().override(own)
            except InputError as error:
                raise self.wrong(f"{cell.name}: {error}") from None

    def method(self, name: str, part: Any) -> Method:
        where = f"[methods.{name}]"
        part = self.mapping(part, where)
        return Method(name, self.title(part, name, where), self.options(part, where, ["title"]))

    def setting(self, name: str, part: Any) -> Setting:
        where = f"[settings.{name}]"
        part = self.mapping(part, where)
        return Setting(name, self.title(part, name, where), self.options(part, where, ["title"]))

    def corpus(
        self,
        name: str,
        part: Any,
        measures: tuple[str, ...],
        seeds: int,
        parts: str | None,
        names: Sequence[str],
    ) -> Corpus:
        where = f"[corpora.{name}]"
        part = self.mapping(part, where)
        make = part.get("make")
        if make is not None:
            self.one_of(make, CORPUS_MAKERS, f"{where} make")
        makes = keys_of(make) if make is not None else {}
        lacking = [key for key in makes if key not in part and key in needed_by(make)]
        if lacking:
            raise self.wrong(f"{where} make = {make!r} needs {' and '.join(f'`{key}`' for key in lacking)}")
        own = [*OF_A_CORPUS, "skip", "measures", "seeds", *makes]
        given = self.options(part, where, own)
        told = {key: self.value(part[key], kind, f"{where} {key}") for key, kind in OF_A_CORPUS.items() if key in part}
        keys = {key: self.value(part[key], kind, f"{where} {key}") for key, kind in makes.items() if key in part}
        if self.kind.reads and "train" not in told and make != "synthetic":
            raise self.wrong(f"{where} has no `train`; a named corpus or a file is needed")
        if parts == "dev" and "test" in told:
            raise self.wrong(f"{where} test: a table of parts = 'dev' never reads test")
        if not 0 <= told.get("hold_out", 0.0) <= 0.9:
            raise self.wrong(f"{where} hold_out = {told['hold_out']}: from 0 to 0.9 is accepted")
        if told.get("hold_out") and "dev" in told:
            raise self.wrong(f"{where} has both dev and hold_out; give one of them")
        if "hold_out_by" in told and not told.get("hold_out"):
            raise self.wrong(f"{where} hold_out_by needs hold_out, the part of the texts to hold out")
        count = self.value(part.get("seeds", seeds), int, f"{where} seeds")
        if not 1 <= count <= SEEDS:
            raise self.wrong(f"{where} seeds = {count}: from 1 to {SEEDS} is accepted")
        return Corpus(
            name,
            told.pop("title", name),
            given,
            self.measures(part["measures"], f"{where} measures") if "measures" in part else measures,
            count,
            **told,
            keys=keys,
            skip=self.names(part.get("skip", []), names, f"{where} skip"),
        )

    def printed(
        self, corpus: str, part: Any, corpora: Mapping[str, Corpus], names: Sequence[str]
    ) -> dict[str, tuple[float, ...]]:
        where = f"[printed.{corpus}]"
        self.one_of(corpus, corpora, "[printed]")
        found = {}
        for key, numbers in self.mapping(part, where).items():
            self.one_of(key, names, where)
            most = len(corpora[corpus].measures)
            if not isinstance(numbers, list) or not 1 <= len(numbers) <= most:
                raise self.wrong(f"{where} {key} = {numbers!r}: a list of up to {most} numbers is accepted")
            found[key] = tuple(self.value(number, float, f"{where} {key}") for number in numbers)
        return found

    def tuned(
        self, corpus: str, part: Any, corpora: Mapping[str, Corpus], methods: Mapping[str, Method]
    ) -> dict[str, dict[str, Any]]:
        self.one_of(corpus, corpora, "[tuned]")
        found = {}
        for method, given in self.mapping(part, f"[tuned.{corpus}]").items():
            self.one_of(method, methods, f"[tuned.{corpus}]")
            where = f"[tuned.{corpus}.{method}]"
            found[method] = self.options(self.mapping(given, where), where)
        return found

    def compare(
        self,
        part: Mapping[str, Any],
        methods: Mapping[str, Method],
        corpora: Mapping[str, Corpus],
        settings: Mapping[str, Setting],
        where: str,
    ) -> Compare:
        self.known(part, ["method", "against", "setting", "against_setting", "corpora", "measures"], where)
        if "method" not in part:
            raise self.wrong(f"{where} has no `method`")
        method = part["method"]
        against = part.get("against", method)
        for name, key in ((method, "method"), (against, "against")):
            self.one_of(name, methods, f"{where} {key}")
        setting = part.get("setting")
        against_setting = part.get("against_setting", setting)
        for name, key in ((setting, "setting"), (against_setting, "against_setting")):
            if name is not None:
                self.one_of(name, settings, f"{where} {key}")
        if (method, setting) == (against, against_setting) or (setting is None) != (against_setting is None):
            raise self.wrong(f"{where} compares {method!r} with itself; give another `against`, or two settings")
        return Compare(
            method,
            against,
            setting,
            against_setting,
            self.names(part.get("corpora", []), corpora, f"{where} corpora"),
            self.measures(part.get("measures", []), f"{where} measures"),
        )

    def figure(
        self,
        part: Mapping[str, Any],
        methods: Mapping[str, Method],
        corpora: Mapping[str, Corpus],
        settings: Mapping[str, Setting],
        where: str,
    ) -> Figure:
        self.known(part, [*OF_A_FIGURE, "corpora", "methods", "settings"], where)
        told = {key: self.value(part[key], kind, f"{where} {key}") for key, kind in OF_A_FIGURE.items() if key in part}
        for key in ("name", "kind"):
            if not told.get(key):
                raise self.wrong(f"{where} has no `{key}`")
        if not told["name"].replace("-", "").replace("_", "").isalnum():
            raise self.wrong(
                f"{where} name = {told['name']!r}: letters, digits and - are accepted, for it names a file"
            )
        for key, kind in (("value", "path"), ("option", "settings")):
            if told["kind"] == kind and key not in told:
                raise self.wrong(f"{where} of kind {kind!r} needs `{key}`")
        if "measure" in told:
            self.measures([told["measure"]], f"{where} measure")
        return Figure(
            **told,
            corpora=self.names(part.get("corpora", []), corpora, f"{where} corpora"),
            methods=self.names(part.get("methods", []), methods, f"{where} methods"),
            settings=self.names(part.get("settings", []), settings, f"{where} settings"),
        )

    def options(self, part: Mapping[str, Any], where: str, beside: Sequence[str] = ()) -> dict[str, Any]:
        """The options of a part, checked; `beside` are keys of another meaning."""
        kinds = {item.name: kind for _, item, kind in options() if item.name not in RESERVED}
        kinds |= self.kind.keys
        self.known(part, [*beside, *kinds], where)
        return {
            key: self.value(value, kinds[key], f"{where} {key}") for key, value in part.items() if key not in beside
        }

    def title(self, part: Mapping[str, Any], name: str, where: str) -> str:
        return str(self.value(part.get("title", name), str, f"{where} title"))

    def measures(self, given: Any, where: str) -> tuple[str, ...]:
        return self.names(given, {**MEASURES, **self.kind.measures}, where)
