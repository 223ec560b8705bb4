"""Escaping of user-supplied text, such as class names and paths, for Markdown documents."""

from __future__ import annotations

import re


def escape(text: str) -> str:
    """Escape text so that it cannot become markup, another table column or another line."""
    return re.sub(r"[\\|<*_`\[\]]|&(?=#?\w+;)", r"\\\g<0>", " ".join(text.splitlines()))
