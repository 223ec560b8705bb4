"""More seeds at once than a GPU has room for."""

from __future__ import annotations


class TooMany(Exception):
    """Whoever runs a job cuts it in two, and begins each half in a fresh process: the memory of this one is full, and what a
    broken-off CUDA graph left behind cannot be told from here."""
