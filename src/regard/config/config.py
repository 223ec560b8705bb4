"""All options of one run, checked when they are put together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from regard.config.checks import check
from regard.config.fields import Data, Model, Training


@dataclass(frozen=True)
class Config:
    data: Data = field(default_factory=Data)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        check(self.data, self.model, self.training)

    def override(self, values: Mapping[str, Any]) -> Config:
        """The same with some options replaced, whatever section they are in."""
        sections = {}
        for name, section in self.sections():
            names = {item.name for item in fields(section)}
            sections[name] = replace(section, **{key: value for key, value in values.items() if key in names})
        return Config(**sections)

    def sections(self) -> Iterator[tuple[str, Any]]:
        for item in fields(self):
            yield item.name, getattr(self, item.name)

    def identity_text(self) -> str:
        """All options as text, for fingerprints. Never change its form: checkpoints of older versions are recognised by it.

        A field added later must be left out here while it has its default.
        """
        lines = []
        for name, section in self.sections():
            lines.append(f"[{name}]")
            for key, value in asdict(section).items():
                if value is not None:
                    lines.append(f"{key} = {toml_value(value)}")
            lines.append("")
        return "\n".join(lines)


def toml_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    # a JSON string is a TOML string as long as non-ASCII characters are kept; only DEL must be escaped too
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else repr(value)
