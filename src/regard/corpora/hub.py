"""Corpora from the Hugging Face hub, through its library `datasets`, which is imported only when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from regard.corpora.catalogue import PublicCorpus
from regard.corpora.converters.yelp_amazon import SAMPLES, drawn
from regard.corpora.splits import SPLIT_NAMES, Record, Splits, dealt, with_dev
from regard.data.columns import find_columns
from regard.data.read_options import ColumnPair, ReadOptions
from regard.errors import InputError
from regard.extras import import_extra

PREFIX = "hub:"
COLUMNS: dict[str, ColumnPair] = {"trec": ("text", "coarse_label")}  # if guessing would go wrong
LABEL_NAMES = "label_text"  # the column in which some corpora have the names of the labels
SYNONYMS = {"neg": "negative", "pos": "positive"}
UNKNOWN = -1  # the hub's label for texts whose label is secret
SAMPLE = 200  # rows that the columns are guessed from


class HubRows:
    """The rows of one split with our numbering of the labels, read again at every iteration."""

    def __init__(self, where: str, data: Any, text: str, label: str, classes: tuple[str, ...]) -> None:
        self.where, self.data, self.text, self.label = where, data, text, label
        self.names = getattr(dict(data.features).get(label), "names", None)  # of a ClassLabel
        self.codes = {name.casefold(): code for code, name in enumerate(classes)}

    def __iter__(self) -> Iterator[Record]:
        for number, row in enumerate(self.data, 1):
            value = row[self.label]
            if value is None or value == UNKNOWN:
                continue
            if not isinstance(row[self.text], str):
                kind = type(row[self.text]).__name__
                raise InputError(f"{self.where}, row {number}, column {self.text!r}: expected a text, got {kind}")
            yield {"text": row[self.text], "label": self._label(number, value, row)}

    def _label(self, number: int, value: Any, row: Mapping[str, object]) -> Any:
        name = row.get(LABEL_NAMES) or value
        if name == value and self.names and type(value) is int and value < len(self.names):
            name = self.names[value]
        if not self.codes:
            return name
        folded = str(name).casefold()
        code = self.codes.get(SYNONYMS.get(folded, folded))
        if code is None and type(value) is int and 0 <= value < len(self.codes):
            code = value  # the names are unknown; trust their order
        if code is None:
            names = ", ".join(self.codes)
            raise InputError(
                f"{self.where}, row {number}, column {self.label!r}: expected one of {names}, got {name!r}"
            )
        return code


def hub_splits(
    name: str, address: str, known: PublicCorpus | None, columns: ColumnPair, note: Callable[[str], None]
) -> Splits:
    """The splits of `hub:ORG/NAME` or `hub:ORG/NAME:CONFIG`, with the labels of the catalogue if `name` is in it.

    `columns` are those of text and label; both None to guess them.
    """
    if known is not None and not known.classes:
        raise InputError(f"{name}: the hub does not have all fields of this corpus; expected {known.accepts}")
    data = _load(address)
    sources = {SPLIT_NAMES[str(split).lower()]: split for split in data if str(split).lower() in SPLIT_NAMES}
    left_out = [str(split) for split in data if split not in sources.values()]
    if not sources:
        raise InputError(
            f"{address}: expected splits such as train, validation or test, got {', '.join(left_out) or 'none'}"
        )
    if left_out:
        note(f"{address}: skipped {', '.join(left_out)}")
    if columns == (None, None):
        columns = COLUMNS.get(name, columns)
    classes = known.classes if known else ()
    rows: dict[str, HubRows] = {}
    for split in ("train", "dev", "test"):
        if split in sources:
            where = f"{address} ({sources[split]})"
            rows[split] = _rows(where, data[sources[split]], columns, classes, note if not rows else None)
    for split in list(rows):
        if next(iter(rows[split]), None) is None:
            note(f"{address}: {sources[split]} has no labels; skipped")
            del rows[split]
    return _divided(name, known, rows)


def _divided(name: str, known: PublicCorpus | None, rows: dict[str, HubRows]) -> Splits:
    if name in SAMPLES:
        every = (row for split in rows.values() for row in split)
        return drawn(({**row, "rating": row["label"] + 1.0} for row in every), name)
    counts = known.counts if known else {}
    if "train" in rows and "dev" not in rows and "dev" in counts:
        held_out = with_dev(list(rows["train"]), counts["dev"], counts["train"] + counts["dev"])
        return {**held_out, **{split: others for split, others in rows.items() if split != "train"}}
    if list(rows) == ["train"] and known is None:
        return dealt(lambda: rows["train"])
    return rows


def _rows(
    where: str, data: Any, wanted: ColumnPair, classes: tuple[str, ...], note: Callable[[str], None] | None
) -> HubRows:
    sample = list(islice(iter(data), SAMPLE))
    columns = find_columns(where, list(data.column_names), sample, ReadOptions(*wanted))
    if note is not None:
        for sentence in columns.guessed:
            note(sentence)
    return HubRows(where, data, columns.text, str(columns.label), classes)


def _load(address: str) -> Mapping[Any, Any]:
    where, _, config = address.removeprefix(PREFIX).partition(":")
    if not where or where.count("/") > 1:
        raise InputError(f"--from: expected hub:ORG/NAME or hub:ORG/NAME:CONFIG, got {address}")
    library = import_extra("datasets", f"--from {address}")
    try:
        data = library.load_dataset(where, *([config] if config else []))
    except Exception as problem:  # anything the library, the network or the hub may raise
        first = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise InputError(f"--from {address}: could not be loaded from the hub ({first})") from None
    if not isinstance(data, Mapping):
        raise InputError(f"--from {address}: expected splits such as train and test, got one table")
    return data
