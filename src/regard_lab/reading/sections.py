"""The sections of a table's TOML that say what is run: methods, corpora, settings, printed numbers, tuned options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.config import options as config_options
from regard.errors import InputError
from regard_lab.measures import MEASURES
from regard_lab.reading.checks import RESERVED, line, mapping, names, one_of, only_known, value, values_of
from regard_lab.rows import Options
from regard_lab.tables.corpus_makers import CORPUS_MAKERS, SPLITS, keys_of
from regard_lab.tables.table import Corpus, Kind, Method, Setting

CORPUS_KEYS = {
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


@dataclass(frozen=True)
class TableDefaults:
    """What the top of a table says of all its corpora."""

    kind: Kind
    measures: tuple[str, ...]
    seeds: int
    parts: str | None  # "dev": never read test


def read_method(name: str, part: Any, kind: Kind) -> Method:
    where = f"[methods.{name}]"
    part = mapping(part, where)
    seeds = read_seeds(part["seeds"], f"{where} seeds") if "seeds" in part else None
    return Method(name, read_title(part, name, where), read_options(part, kind, where, ["title", "seeds"]), seeds)


def read_setting(name: str, part: Any, kind: Kind) -> Setting:
    where = f"[settings.{name}]"
    part = mapping(part, where)
    return Setting(name, read_title(part, name, where), read_options(part, kind, where, ["title"]))


def read_corpus(name: str, part: Any, whole: TableDefaults, rows: Sequence[str]) -> Corpus:
    """`rows`: methods, settings and METHOD/SETTING, which it may skip."""
    where = f"[corpora.{name}]"
    part = mapping(part, where)
    make = part.get("make")
    if make is not None:
        one_of(make, CORPUS_MAKERS, f"{where} make")
    makes = keys_of(make) if make is not None else {}
    lacking = [name for name, key in makes.items() if key.needed and name not in part]
    if lacking:
        raise InputError(f"{where} make = {make!r} needs {' and '.join(f'`{key}`' for key in lacking)}")
    beside = [*CORPUS_KEYS, "labels", "skip", "measures", "seeds", *makes]
    options = read_options(part, whole.kind, where, beside)
    given = values_of(part, CORPUS_KEYS, where)
    keys = values_of(part, {name: key.type for name, key in makes.items()}, where)
    check_parts(given, whole, where)
    title = read_title(part, name, where)
    given.pop("title", None)
    return Corpus(
        name,
        title,
        options,
        read_measures(part["measures"], whole.kind, f"{where} measures") if "measures" in part else whole.measures,
        read_seeds(part.get("seeds", whole.seeds), f"{where} seeds"),
        **given,
        labels=read_labels(part.get("labels", []), f"{where} labels"),
        keys=keys,
        skip=names(part.get("skip", []), rows, f"{where} skip"),
    )


def check_parts(given: Options, whole: TableDefaults, where: str) -> None:
    """What is read, and how it is divided."""
    if whole.kind.reads and "train" not in given and given.get("make") != "synthetic":
        raise InputError(f"{where} has no `train`; a named corpus or a file is needed")
    empty = [key for key in SPLITS if given.get(key) == ""]
    if empty:
        raise InputError(f"{where} {empty[0]} is empty; a named corpus or a file is needed")
    if whole.parts == "dev" and "test" in given:
        raise InputError(f"{where} test: a table of parts = 'dev' never reads test")
    for key in ("hold_out", "pooled"):
        if not 0 <= given.get(key, 0.0) <= 0.9:
            raise InputError(f"{where} {key} = {given[key]}: from 0 to 0.9 is accepted")
    if given.get("pooled") and ("test" not in given or "hold_out_by" in given):
        raise InputError(f"{where} pooled draws train and test again: it needs `test` and goes without hold_out_by")
    if given.get("hold_out") and "dev" in given:
        raise InputError(f"{where} has both dev and hold_out; give one of them")
    if "hold_out_by" in given and not given.get("hold_out"):
        raise InputError(f"{where} hold_out_by needs hold_out, the part of the texts to hold out")


def read_labels(given: Any, where: str) -> tuple[str, ...]:
    """Labels as they are written in a file: at least two, or there is nothing to tell apart."""
    if not isinstance(given, list) or not all(isinstance(label, str) for label in given):
        raise InputError(f"{where} = {given!r}: a list of labels is accepted, as they are written in the file")
    if (given and len(set(given)) < 2) or len(set(given)) < len(given):
        raise InputError(f"{where} = {given!r}: two or more are accepted, each once")
    return tuple(given)


def read_printed(
    corpus: str, part: Any, corpora: Mapping[str, Corpus], rows: Sequence[str]
) -> dict[str, tuple[float, ...]]:
    where = f"[printed.{corpus}]"
    one_of(corpus, corpora, "[printed]")
    printed = {}
    for key, numbers in mapping(part, where).items():
        one_of(key, rows, where)
        most = len(corpora[corpus].measures)
        if not isinstance(numbers, list) or not 1 <= len(numbers) <= most:
            raise InputError(f"{where} {key} = {numbers!r}: a list of up to {most} numbers is accepted")
        printed[key] = tuple(value(number, float, f"{where} {key}") for number in numbers)
        if not all(map(math.isfinite, printed[key])):
            raise InputError(f"{where} {key} = {numbers!r}: numbers as the paper prints them are accepted")
    return printed


def read_tuned(
    corpus: str, part: Any, corpora: Mapping[str, Corpus], methods: Mapping[str, Method], kind: Kind
) -> dict[str, Options]:
    one_of(corpus, corpora, "[tuned]")
    tuned = {}
    for method, given in mapping(part, f"[tuned.{corpus}]").items():
        one_of(method, methods, f"[tuned.{corpus}]")
        where = f"[tuned.{corpus}.{method}]"
        tuned[method] = read_options(mapping(given, where), kind, where)
    return tuned


def read_options(part: Options, kind: Kind, where: str, beside: Sequence[str] = ()) -> Options:
    """The options of a part, checked; `beside` are keys of another meaning."""
    kinds = {item.name: type_ for _, item, type_ in config_options() if item.name not in RESERVED}
    kinds |= kind.keys
    only_known(part, [*beside, *kinds], where)
    return {key: value(given, kinds[key], f"{where} {key}") for key, given in part.items() if key not in beside}


def read_title(part: Options, name: str, where: str) -> str:
    return line(part.get("title", name), f"{where} title")


def read_seeds(given: Any, where: str) -> int:
    count: int = value(given, int, where)
    if not 1 <= count <= SEEDS:
        raise InputError(f"{where} = {count}: from 1 to {SEEDS} is accepted")
    return count


def read_measures(given: Any, kind: Kind, where: str) -> tuple[str, ...]:
    return names(given, {**MEASURES, **kind.measures}, where)
