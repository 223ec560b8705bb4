"""All options in one table, made from the fields of the sections."""

from __future__ import annotations

import typing
from dataclasses import Field, fields
from functools import cache
from typing import Annotated, Any, NamedTuple

from regard.config.declaring import About
from regard.config.fields import Data, Model, Training


class OptionField(NamedTuple):
    """One option: the section of `Config` that holds it, its dataclass field and its type."""

    section: str
    field: Field[Any]
    kind: Any

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def default(self) -> Any:
        return self.field.default

    @property
    def about(self) -> About:
        about: About = self.field.metadata["about"]
        return about

    @property
    def table(self) -> str:
        """The TOML table that it is written in."""
        return self.about.table or self.section

    @property
    def word(self) -> str | None:
        """What it accepts besides numbers, such as "auto"."""
        return str(typing.get_args(self.kind)[1]) if typing.get_origin(self.kind) is Annotated else None


@cache
def options() -> tuple[OptionField, ...]:
    """All options. Every `Config` is checked against them, and resolving their types takes half a millisecond."""
    every: list[OptionField] = []
    for name, section in (("data", Data), ("model", Model), ("training", Training)):
        hints = typing.get_type_hints(section, include_extras=True)
        every += [OptionField(name, item, hints[item.name]) for item in fields(section)]
    return tuple(every)
