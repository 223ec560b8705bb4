"""Ratings as two sides: few stars against many, those in between left out (VAT's Yelp, two classes of 1–2 and 4–5 stars)."""

from __future__ import annotations

from dataclasses import replace

from regard.errors import InputError
from regard.records import Example


def sided(examples: list[Example], split: str, *, low: float, high: float) -> list[Example]:
    """Labels of up to `low` become 0, those of `high` or more become 1."""
    if not low < high:
        raise InputError(f"sided: low = {low} and high = {high}; a low below the high is accepted")
    made = []
    for example in examples:
        try:
            rating = float(str(example.label))
        except ValueError:
            raise InputError(f"sided: the label {example.label!r} is no number, as ratings are") from None
        if rating <= low or rating >= high:
            made.append(replace(example, label="1" if rating >= high else "0"))
    return made
