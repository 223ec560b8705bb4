"""Words in a Markdown document that mean no more than they say: the name of a class, a path, a sentence of a user's."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Words that must not become markup, another column of a table, or another line."""
    return re.sub(r"[\\|<*_`\[\]]|&(?=#?\w+;)", r"\\\g<0>", " ".join(text.splitlines()))
