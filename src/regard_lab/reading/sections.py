"""The sections of a table's TOML that define what is run: methods, corpora, settings, printed numbers, tuned options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.config import options as config_options
from regard.errors import InputError
from regard_lab.measures import MEASURES
from regard_lab.reading.checks import RESERVED, check_keys, mapping, names, one_of, single_line, value, values_of
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
SEEDS = 1000  # a larger number is taken for a typo


@dataclass(frozen=True)
class TableDefaults:
    """What the top level of a table sets for all its corpora."""

    kind: Kind
    measures: tuple[str, ...]
    seeds: int
    parts: str | None  # "dev": test is never read


def read_method(name: str, part: Any, kind: Kind) -> Method:
    where = f"[methods.{name}]"
    part = mapping(part, where)
    seeds = read_seeds(part["seeds"], f"{where} seeds") if "seeds" in part else None
    return Method(name, read_title(part, name, where), read_options(part, kind, where, ["title", "seeds"]), seeds)


def read_setting(name: str, part: Any, kind: Kind) -> Setting:
    where = f"[settings.{name}]"
    part = mapping(part, where)
    return Setting(name, read_title(part, name, where), read_options(part, kind, where, ["title"]))


def read_corpus(name: str, part: Any, defaults: TableDefaults, rows: Sequence[str]) -> Corpus:
    """`rows`: the methods, settings and METHOD/SETTING that `skip` may name."""
    where = f"[corpora.{name}]"
    part = mapping(part, where)
    make = part.get("make")
    if make is not None:
        one_of(make, CORPUS_MAKERS, f"{where} make")
    makes = keys_of(make) if make is not None else {}
    missing = [name for name, key in makes.items() if key.required and name not in part]
    if missing:
        raise InputError(f"{where} make = {make!r} needs {' and '.join(f'`{key}`' for key in missing)}")
    known = [*CORPUS_KEYS, "labels", "skip", "measures", "seeds", *makes]
    options = read_options(part, defaults.kind, where, known)
    given = values_of(part, CORPUS_KEYS, where)
    keys = values_of(part, {name: key.type for name, key in makes.items()}, where)
    check_parts(given, defaults, where)
    title = read_title(part, name, where)
    given.pop("title", None)
    return Corpus(
        name,
        title,
        options,
        read_measures(part["measures"], defaults.kind, f"{where} measures")
        if "measures" in part
        else defaults.measures,
        read_seeds(part.get("seeds", defaults.seeds), f"{where} seeds"),
        **given,
        labels=read_labels(part.get("labels", []), f"{where} labels"),
        keys=keys,
        skip=names(part.get("skip", []), rows, f"{where} skip"),
    )


def check_parts(given: Options, defaults: TableDefaults, where: str) -> None:
    """Check the splits: which are read and which are held out."""
    if defaults.kind.reads and "train" not in given and given.get("make") != "synthetic":
        raise InputError(f"{where} train: expected the name of a corpus or a file, got nothing")
    empty = [key for key in SPLITS if given.get(key) == ""]
    if empty:
        raise InputError(f"{where} {empty[0]}: expected the name of a corpus or a file, got an empty string")
    if defaults.parts == "dev" and "test" in given:
        raise InputError(f"{where} test: not allowed in a table with parts = 'dev', which never reads test")
    for key in ("hold_out", "pooled"):
        if not 0 <= given.get(key, 0.0) <= 0.9:
            raise InputError(f"{where} {key}: expected 0 to 0.9, got {given[key]}")
    if given.get("pooled") and ("test" not in given or "hold_out_by" in given):
        raise InputError(f"{where} pooled splits train and test again: it needs `test` and excludes hold_out_by")
    if given.get("hold_out") and "dev" in given:
        raise InputError(f"{where} has both dev and hold_out; remove one of them")
    if "hold_out_by" in given and not given.get("hold_out"):
        raise InputError(f"{where} hold_out_by needs hold_out, the fraction of the texts to hold out")


def read_labels(given: Any, where: str) -> tuple[str, ...]:
    """Labels as written in a file: at least two, or there is nothing to distinguish."""
    if not isinstance(given, list) or not all(isinstance(label, str) for label in given):
        raise InputError(f"{where}: expected a list of labels as written in the file, got {given!r}")
    if (given and len(set(given)) < 2) or len(set(given)) < len(given):
        raise InputError(f"{where}: expected two or more different labels, got {given!r}")
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
            raise InputError(f"{where} {key}: expected a list of up to {most} numbers, got {numbers!r}")
        printed[key] = tuple(value(number, float, f"{where} {key}") for number in numbers)
        if not all(map(math.isfinite, printed[key])):
            raise InputError(f"{where} {key}: expected finite numbers as printed in the paper, got {numbers!r}")
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


def read_options(part: Options, kind: Kind, where: str, others: Sequence[str] = ()) -> Options:
    """The options of a section, checked; `others` are keys that are not options."""
    kinds = {item.name: kind_of_value for _, item, kind_of_value in config_options() if item.name not in RESERVED}
    kinds |= kind.keys
    check_keys(part, [*others, *kinds], where)
    return {key: value(given, kinds[key], f"{where} {key}") for key, given in part.items() if key not in others}


def read_title(part: Options, name: str, where: str) -> str:
    return single_line(part.get("title", name), f"{where} title")


def read_seeds(given: Any, where: str) -> int:
    count: int = value(given, int, where)
    if not 1 <= count <= SEEDS:
        raise InputError(f"{where}: expected 1 to {SEEDS}, got {count}")
    return count


def read_measures(given: Any, kind: Kind, where: str) -> tuple[str, ...]:
    return names(given, {**MEASURES, **kind.measures}, where)
