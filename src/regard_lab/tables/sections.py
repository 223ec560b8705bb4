"""The sections of a table's TOML that say what is run: methods, settings, corpora, options, and what the paper prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from regard.config import options
from regard_lab.kinds.kinds import KINDS, Kind
from regard_lab.measures import MEASURES
from regard_lab.tables.checks import RESERVED, Checks
from regard_lab.tables.makers import CORPUS_MAKERS, SPLITS, keys_of, needed_by
from regard_lab.tables.table import Corpus, Method, Setting

OF_A_CORPUS = {
    "title": str,
    "train": str,
    "dev": str,
    "test": str,
    "pooled": float,
    "hold_out": float,
    "hold_out_by": str,
    "make": str,
}
SEEDS = 1000  # more than this many is a slip of the finger


class Sections(Checks):
    """Each section by itself, beside the names that it may refer to."""

    kind: Kind = KINDS["train"]

    def method(self, name: str, part: Any) -> Method:
        where = f"[methods.{name}]"
        part = self.mapping(part, where)
        seeds = self.seeds(part["seeds"], f"{where} seeds") if "seeds" in part else None
        return Method(name, self.title(part, name, where), self.options(part, where, ["title", "seeds"]), seeds)

    def seeds(self, given: Any, where: str) -> int:
        count: int = self.value(given, int, where)
        if not 1 <= count <= SEEDS:
            raise self.wrong(f"{where} = {count}: from 1 to {SEEDS} is accepted")
        return count

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
        own = [*OF_A_CORPUS, "labels", "skip", "measures", "seeds", *makes]
        given = self.options(part, where, own)
        told = {key: self.value(part[key], kind, f"{where} {key}") for key, kind in OF_A_CORPUS.items() if key in part}
        keys = {key: self.value(part[key], kind, f"{where} {key}") for key, kind in makes.items() if key in part}
        self.check_parts(told, parts, where)
        title = self.title(part, name, where)
        told.pop("title", None)
        return Corpus(
            name,
            title,
            given,
            self.measures(part["measures"], f"{where} measures") if "measures" in part else measures,
            self.seeds(part.get("seeds", seeds), f"{where} seeds"),
            **told,
            labels=self.labels(part.get("labels", []), f"{where} labels"),
            keys=keys,
            skip=self.names(part.get("skip", []), names, f"{where} skip"),
        )

    def check_parts(self, told: Mapping[str, Any], parts: str | None, where: str) -> None:
        """What is read, and how it is divided."""
        if self.kind.reads and "train" not in told and told.get("make") != "synthetic":
            raise self.wrong(f"{where} has no `train`; a named corpus or a file is needed")
        empty = [key for key in SPLITS if told.get(key) == ""]
        if empty:
            raise self.wrong(f"{where} {empty[0]} is empty; a named corpus or a file is needed")
        if parts == "dev" and "test" in told:
            raise self.wrong(f"{where} test: a table of parts = 'dev' never reads test")
        for key in ("hold_out", "pooled"):
            if not 0 <= told.get(key, 0.0) <= 0.9:
                raise self.wrong(f"{where} {key} = {told[key]}: from 0 to 0.9 is accepted")
        if told.get("pooled") and ("test" not in told or "hold_out_by" in told):
            raise self.wrong(f"{where} pooled draws train and test again: it needs `test` and goes without hold_out_by")
        if told.get("hold_out") and "dev" in told:
            raise self.wrong(f"{where} has both dev and hold_out; give one of them")
        if "hold_out_by" in told and not told.get("hold_out"):
            raise self.wrong(f"{where} hold_out_by needs hold_out, the part of the texts to hold out")

    def labels(self, given: Any, where: str) -> tuple[str, ...]:
        """Labels as they are written in a file: at least two, or there is nothing to tell apart."""
        if not isinstance(given, list) or not all(isinstance(label, str) for label in given):
            raise self.wrong(f"{where} = {given!r}: a list of labels is accepted, as they are written in the file")
        if (given and len(set(given)) < 2) or len(set(given)) < len(given):
            raise self.wrong(f"{where} = {given!r}: two or more are accepted, each once")
        return tuple(given)

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
            if not all(map(math.isfinite, found[key])):
                raise self.wrong(f"{where} {key} = {numbers!r}: numbers as the paper prints them are accepted")
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

    def options(self, part: Mapping[str, Any], where: str, beside: Sequence[str] = ()) -> dict[str, Any]:
        """The options of a part, checked; `beside` are keys of another meaning."""
        kinds = {item.name: kind for _, item, kind in options() if item.name not in RESERVED}
        kinds |= self.kind.keys
        self.known(part, [*beside, *kinds], where)
        return {
            key: self.value(value, kinds[key], f"{where} {key}") for key, value in part.items() if key not in beside
        }

    def title(self, part: Mapping[str, Any], name: str, where: str) -> str:
        return self.line(part.get("title", name), f"{where} title")

    def measures(self, given: Any, where: str) -> tuple[str, ...]:
        return self.names(given, {**MEASURES, **self.kind.measures}, where)
