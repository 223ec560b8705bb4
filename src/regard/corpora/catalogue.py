"""What is known about public corpora: the entries of `catalogue.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PublicCorpus:
    """An entry; the fields are explained at the top of the file."""

    title: str
    origin: str
    licence: str
    citation: str
    split: str
    labels: str
    accepts: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    random: bool = False
    published: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@cache
def catalogue() -> Mapping[str, PublicCorpus]:
    """Every corpus by name, in alphabetical order."""
    entries = tomllib.loads(files("regard.corpora").joinpath("catalogue.toml").read_text(encoding="utf-8"))
    return {
        name: PublicCorpus(**{**entry, "classes": tuple(entry.get("classes", ()))}) for name, entry in entries.items()
    }
