"""A pasted table, each row with what the model says of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from regard.data.columns import guess_columns
from regard.data.decoding import is_blank
from regard.data.examples import make_example
from regard.data.formats import Row, csv_rows, line_rows
from regard.data.wordpieces import AnyTokenizer, WordPieces
from regard.errors import InputError, quoted
from regard.models.tasks import labels_as_shown
from regard.records import Example
from regard.serve import asked
from regard.serve.answering import predictions
from regard.serve.asked import Fields
from regard.serve.refused import Refused
from regard.serve.served import Away, Served

TABLE = ("table", "format", "text_column", "run")
FORMATS = {"csv": csv_rows, "lines": line_rows}
MOST_ROWS = 10_000
SAMPLE = 200  # rows that columns are guessed from
TOGETHER = 128  # texts that are answered before others have their turn
_parsing = threading.Lock()  # the parser's longest field is a setting of the whole process
LONGEST = 60.0  # seconds; what takes longer is a job for `regard predict`


def answer_table(given: Fields, served: Sequence[Served], away: Away) -> dict[str, Any]:
    run = asked.run(given, served)
    rows = rows_of(given)
    columns = list(next((row.fields for row in rows if row.problem is None), {}))
    text, label = columns_of(given, columns, rows, run.trained.config.data.text)
    examples = [example_of(row, text, label, run.trained.tokenizer) for row in rows]
    good = [example for example in examples if isinstance(example, Example)]
    if not good:
        raise InputError(f"table: no row can be used; the first one: {examples[0]}")
    labels = labels_as_shown(run.trained.task, good)
    answers = zip(answered(run, good, away), labels, strict=True)
    told, right, labelled = [], 0, 0
    for row, example in zip(rows, examples, strict=True):
        own: dict[str, Any] = {"row": row.number, "fields": [str(value) for value in row.fields.values()]}
        if isinstance(example, Example):
            said, known = next(answers)
            own |= said
            if known is not None:
                own["label"] = known
                labelled, right = labelled + 1, right + (known == said["prediction"])
        else:
            own["error"] = example
        told.append(own)
    counted = labelled if isinstance(labels[0], str) else 0  # numbers are near or far, never right
    found = {"run": run.name, "columns": columns, "text_column": text, "label_column": label}
    return {
        **found,
        "bad_rows": len(rows) - len(good),
        "labelled": counted,
        "right": right if counted else 0,
        "rows": told,
    }


def rows_of(given: Fields) -> list[Row]:
    table = asked.string(given, "table")
    form = asked.string(given, "format", "csv")
    if table is None:
        raise InputError("table is needed: the text of a CSV file whose first row names the columns")
    if form not in FORMATS:
        raise InputError(f"format: there is no {str(form)[:40]!r}; accepted are {', '.join(FORMATS)}")
    content = partial(iter, [table.removeprefix("\ufeff")])
    if is_blank(content):
        raise InputError("table: it is empty; rows below a row that names the columns are accepted")
    with _parsing:
        found = list(islice(FORMATS[form](content, "table")(), MOST_ROWS + 1))
    if len(found) > MOST_ROWS:
        raise Refused(413, f"table: up to {MOST_ROWS:,} rows are accepted; `regard predict` reads files of any size")
    return found


def columns_of(given: Fields, columns: Sequence[str], rows: Sequence[Row], known: str | None) -> tuple[str, str | None]:
    """Of text and label; `known` is what the run learned from, where it is not said."""
    sample = [row.fields for row in rows if row.problem is None][:SAMPLE]
    if not sample:
        raise InputError(f"table, {rows[0].where()}: {rows[0].problem}")
    text = asked.string(given, "text_column")
    if text is not None and text not in columns:
        raise InputError(f"text_column: there is no {text[:40]!r}; the columns are {quoted(columns)}")
    if text is None and known in columns:
        text = known
    try:
        return guess_columns(columns, sample, text=text, by_name_only=True)
    except InputError as problem:
        raise InputError(f"table: {problem}; text_column names it") from None


def example_of(row: Row, text: str, label: str | None, tokenizer: AnyTokenizer) -> Example | str:
    """Or the sentence that says why there is none: the other rows are answered all the same."""
    try:
        found = make_example(row, "table", text, label, labelled=False)
    except InputError as problem:
        return str(problem)
    if isinstance(tokenizer, WordPieces) and tokenizer.longest is not None:
        try:
            tokenizer.encode(found.text)
        except InputError as problem:
            return f"table, {row.where()}: {problem}"
    return found


def answered(run: Served, examples: Sequence[Example], away: Away) -> Iterator[dict[str, Any]]:
    begun = time.monotonic()
    for start in range(0, len(examples), TOGETHER):
        if time.monotonic() - begun > LONGEST:
            raise Refused(
                503,
                f"table: after {LONGEST:.0f} s {start:,} of {len(examples):,} rows were answered; give fewer at a time",
            )
        part = examples[start : start + TOGETHER]
        yield from (said.as_dict() for said in predictions(run, [example.text for example in part], away))
