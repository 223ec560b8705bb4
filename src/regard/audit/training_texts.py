"""The training texts of a run, and how many of some other texts are among them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from regard.corpora.lookup import resolve
from regard.data.read_options import ReadOptions
from regard.data.readers import Stream, stream
from regard.errors import InputError
from regard.files import is_same_file
from regard.models.model import Model
from regard.records import Example
from regard.training.data_files import verified

LARGEST = 50_000_000  # bytes of a training file that is read again to look for texts, which takes some seconds


def training_texts(trained: Model) -> Stream:
    """One at a time, from the file that the run's config names. InputError if it names none, or one that no longer exists or
    that is not the file that it was trained on."""
    data, path = trained.data, verified(trained, "train")
    options = ReadOptions(
        data.text,
        data.label,
        skip_bad_rows=data.skip_bad_rows,
        encoding=data.encoding,
        weight=data.weight,
        several=data.task == "multilabel",
        label_separator=data.label_separator,
    )
    return stream(path, options)


def training_overlap(
    trained: Model, texts: Sequence[str], where: str, examples: Iterable[Example] | None = None
) -> str:
    """How many texts are training texts, as half a sentence; "" if none are. `where` names the texts; `examples` replace the
    training texts that the run names."""
    # the name of a corpus means its test part here, and its training part there
    if os.path.exists(where) and is_same_file(where, trained.data.train):
        return "the run was trained on these texts"
    wanted = Counter(filter(None, map(flattened, texts)))
    try:
        shared = wanted.keys() & (flattened(one.text) for one in (reread(trained) if examples is None else examples))
    except (InputError, OSError):  # moved, or another file by now
        return ""
    count = sum(wanted[text] for text in shared)
    if not count:
        return ""
    are = f"text{'s' * (len(texts) > 1)} {'is' if count == 1 else 'are'}"
    return f"{count:,} of these {len(texts):,} {are} word for word among the training texts of the run"


def reread(trained: Model) -> Iterable[Example]:
    """The training texts, if there is a file of them that is not too large."""
    name = trained.data.train
    path = None if name is None else resolve(name, "train")
    if path is None or not path.is_file() or path.stat().st_size > LARGEST:
        return ()
    return training_texts(trained)


def flattened(text: str) -> str:
    return " ".join(text.split())
