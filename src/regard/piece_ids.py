"""The largest id that a tokenizer of word pieces may have: tables have a row for every id, also for those that are left out."""

from __future__ import annotations

from typing import Any

from regard.errors import InputError

MOST_IDS = 1 << 24  # sixty times those of the largest models


def check_ids(backend: Any) -> None:
    """Reject a tokenizer whose ids are far apart; the package tokenizers allocates the gaps, too, when it saves one."""
    largest = max(backend.get_vocab().values(), default=0)
    if largest >= MOST_IDS:
        raise InputError(f"word pieces: expected ids below {MOST_IDS:,}, got {largest:,}")
