"""The texts that a run learned from, from the file that its config names."""

from __future__ import annotations

from regard.config import Data
from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import Stream, stream
from regard.errors import InputError


def training_texts(data: Data) -> Stream:
    """One at a time. InputError where none is named, or the file is there no more."""
    if data.train is None:
        raise InputError("the run does not say what it was trained on")
    path = resolve(data.train, "train")
    return stream(path, ReadOptions(data.text, data.label, skip_bad_rows=data.skip_bad_rows))
