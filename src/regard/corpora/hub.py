"""Corpora of the Hugging Face hub, through its library `datasets`, which is loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from regard.corpora.catalogue import Original
from regard.corpora.converters.yelp_amazon import drawn
from regard.corpora.forms import SAMPLES
from regard.corpora.splits import Record, Splits, dealt, with_dev
from regard.corpora.user_table import PARTS
from regard.data.columns import find_columns
from regard.errors import InputError

PREFIX = "hub:"
COLUMNS = {"trec": ("text", "coarse_label")}  # where a guess would go wrong
NAMES = "label_text"  # the column in which some give the names of the labels
OTHER_NAMES = {"neg": "negative", "pos": "positive"}
UNKNOWN = -1  # the hub's label of a text whose label is kept secret
SAMPLE = 200  # rows that the columns are guessed from


class HubRows:
    """The rows of one part with the labels that we give them, read anew at every iteration."""

    def __init__(self, where: str, data: Any, text: str, label: str, classes: tuple[str, ...]) -> None:
        self.where, self.data, self.text, self.label = where, data, text, label
        self.names = getattr(dict(data.features).get(label), "names", None)  # of a ClassLabel
        self.places = {name.casefold(): place for place, name in enumerate(classes)}
        self.without = 0  # texts without a label, in the last iteration

    def __iter__(self) -> Iterator[Record]:
        self.without = 0
        for number, row in enumerate(self.data, 1):
            value = row[self.label]
            if value is None or value == UNKNOWN:
                self.without += 1
                continue
            if not isinstance(row[self.text], str):
                raise InputError(f"{self.where}, row {number}, column {self.text!r}: a text is expected")
            yield {"text": row[self.text], "label": self._label(number, value, row)}

    def _label(self, number: int, value: Any, row: Mapping[str, Any]) -> Any:
        name = row.get(NAMES) or value
        if name == value and self.names and type(value) is int and value < len(self.names):
            name = self.names[value]
        if not self.places:
            return name
        known = str(name).casefold()
        place = self.places.get(OTHER_NAMES.get(known, known))
        if place is None and type(value) is int and 0 <= value < len(self.places):
            place = value  # names that we do not know, in an order that we must trust
        if place is None:
            accepted = ", ".join(self.places)
            raise InputError(
                f"{self.where}, row {number}, column {self.label!r}: {name!r} is found; one of {accepted} is expected"
            )
        return place


def hub_splits(
    name: str, address: str, original: Original | None, text: str | None, label: str | None, note: Callable[[str], None]
) -> Splits:
    """The parts of `hub:ORG/NAME` or `hub:ORG/NAME:CONFIG`, with the labels of the original where it is a known one."""
    if original is not None and not original.classes:
        raise InputError(f"{name}: what is on the hub has not what makes this corpus; {original.form} is accepted")
    data = _load(address)
    parts = {PARTS[str(split).lower()]: split for split in data if str(split).lower() in PARTS}
    left_out = [str(split) for split in data if split not in parts.values()]
    if not parts:
        raise InputError(
            f"{address}: its parts are {', '.join(left_out) or 'none'}; train, validation or test is expected"
        )
    if left_out:
        note(f"{address}: {', '.join(left_out)} left out")
    known = COLUMNS.get(name, (None, None)) if text is None and label is None else (text, label)
    rows: dict[str, HubRows] = {}
    for part in ("train", "dev", "test"):
        if part in parts:
            rows[part] = _rows(
                f"{address} ({parts[part]})", data[parts[part]], known, original, note if not rows else None
            )
    for part in list(rows):
        held = sum(1 for _ in islice(rows[part], 1))
        if not held:
            note(f"{address}: {parts[part]} has no labels; left out")
            del rows[part]
    return _divided(name, original, rows)


def _divided(name: str, original: Original | None, rows: dict[str, HubRows]) -> Splits:
    if name in SAMPLES:
        both = (row for part in rows.values() for row in part)
        return drawn(({**row, "rating": row["label"] + 1.0} for row in both), SAMPLES[name])
    counts = original.counts if original else {}
    if "train" in rows and "dev" not in rows and "dev" in counts:
        held = with_dev(list(rows["train"]), counts["dev"], counts["train"] + counts["dev"])
        return {**held, **{part: own for part, own in rows.items() if part != "train"}}
    if list(rows) == ["train"] and original is None:
        return dealt(lambda: rows["train"])
    return rows


def _rows(
    where: str,
    data: Any,
    known: tuple[str | None, str | None],
    original: Original | None,
    note: Callable[[str], None] | None,
) -> HubRows:
    columns = find_columns(where, list(data.column_names), list(islice(iter(data), SAMPLE)), *known, labelled=True)
    if note is not None:
        for sentence in columns.guessed:
            note(sentence)
    return HubRows(where, data, columns.text, str(columns.label), original.classes if original else ())


def _load(address: str) -> Mapping[Any, Any]:
    where, _, config = address.removeprefix(PREFIX).partition(":")
    if not where or where.count("/") > 1:
        raise InputError(f"--from {address}: hub:ORG/NAME, or hub:ORG/NAME:CONFIG, is accepted")
    try:
        library = importlib.import_module("datasets")
    except ImportError:
        raise InputError(
            f"--from {address}: the library datasets is needed, and not installed: pip install 'regard[hub]'"
        ) from None
    try:
        found = library.load_dataset(where, *([config] if config else []))
    except Exception as problem:  # whatever the library, the network or the hub come up with
        first = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise InputError(f"--from {address}: could not be had from the hub ({first})") from None
    if not isinstance(found, Mapping):
        raise InputError(f"--from {address}: one table is found; parts such as train and test are expected")
    return found
