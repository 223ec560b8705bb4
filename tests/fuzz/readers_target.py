"""Any bytes as a file of any format: read, or refused with one sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path

from regard.data.read_options import ReadOptions
from regard.data.readers import stream
from regard.errors import InputError

FORMS = ("csv", "tsv", "jsonl", "json", "txt", "parquet", "xlsx", "csv.gz", "jsonl.gz", "zip", "tsv.gz", "ods")
OPTIONS = (
    ReadOptions(labelled=False, mark_bad_rows=True),
    ReadOptions(),
    ReadOptions(skip_bad_rows=True),
    ReadOptions(text="text", label="label", keep=("id",), skip_bad_rows=True),
    ReadOptions(several=True, label_separator=";", skip_bad_rows=True),
    ReadOptions(label="a,b", skip_bad_rows=True),
    ReadOptions(encoding="utf-16-le", skip_bad_rows=True),
    ReadOptions(weight="weight", mark_bad_rows=True),
)
FOLDER = tempfile.TemporaryDirectory(prefix="regard-fuzz-")


def run(data: bytes) -> None:
    """The first two bytes choose the format and the options."""
    if len(data) < 2:
        return
    path = Path(FOLDER.name) / f"a.{FORMS[data[0] % len(FORMS)]}"
    path.write_bytes(data[2:])
    options = OPTIONS[data[1] % len(OPTIONS)]
    try:
        reading = stream(path, options)
        examples = list(reading)
    except InputError as error:
        if not str(error).startswith(str(path)):
            raise  # it must say where
        return
    for example in examples:
        assert example.error is not None or example.text.strip()
        example.text.encode()  # no lone surrogates
    assert [example.text for example in reading] == [example.text for example in examples], "the same at every reading"
