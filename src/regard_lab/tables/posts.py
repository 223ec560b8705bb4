"""Newsgroup posts without what others wrote: quoted lines and signatures say who discusses, not what is said.

The rules are those of scikit-learn's `fetch_20newsgroups(remove=("footers", "quotes"))`, which Jain & Wallace, and after them
Sun & Lu, prepared their corpora with. Headers are no part of the stored texts.
"""

from __future__ import annotations

import re
from dataclasses import replace

from regard.data.words import forms
from regard.errors import InputError
from regard.records import Example

QUOTED = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")


def unquoted(examples: list[Example], split: str, *, least: int = 1) -> list[Example]:
    """Posts without quoted lines and signatures; those with fewer than `least` words left are left out."""
    if least < 1:
        raise InputError(f"unquoted: least = {least}; 1 or more is accepted")
    made = [replace(example, text=without_signature(without_quotes(example.text))) for example in examples]
    return [example for example in made if len(forms(example.text)) >= least]


def without_quotes(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not QUOTED.search(line))


def without_signature(text: str) -> str:
    """Cut at the last line that is empty or a rule of hyphens; a post of one paragraph stays."""
    lines = text.strip().split("\n")
    rules = [place for place, line in enumerate(lines) if not line.strip().strip("-")]
    return "\n".join(lines[: rules[-1]]) if rules and rules[-1] > 0 else text
