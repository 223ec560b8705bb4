"""A pasted table: one prediction per row."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import cast

from regard.data.characters import Characters
from regard.data.columns import form_of, guess_columns, has_columns, indicators_of
from regard.data.decoding import is_blank
from regard.data.delimited import csv_rows
from regard.data.examples import make_example
from regard.data.formats import Row, line_rows
from regard.data.label_sets import ONE_LABEL, LabelForm
from regard.data.read_options import ColumnPair, ReadOptions
from regard.data.wordpieces import AnyTokenizer, WordPieces
from regard.errors import InputError, quoted
from regard.models.tasks import MultiLabel, Named, labels_as_shown
from regard.records import Example, PredictionRow, json_label
from regard.serve import request_fields
from regard.serve.answering import check_waiting, predictions
from regard.serve.answers import TableAnswer, TableRow
from regard.serve.request_errors import RequestError
from regard.serve.request_types import MAX_ROWS, TableRequest
from regard.serve.served_run import IsGone, ServedRun

FORMATS = {"csv": csv_rows, "lines": line_rows}
MAX_COLUMNS = 1_000
SAMPLE = 200  # rows from which columns are guessed
BATCH = 128  # texts predicted at once, between which other requests may use the model
MAX_SECONDS = 60.0  # tables that take longer are for `regard predict`
_parsing = threading.Lock()  # the parser's field size limit is global


def answer_table(fields: TableRequest, runs: Sequence[ServedRun], is_gone: IsGone) -> TableAnswer:
    run = request_fields.selected_run(fields.run, runs)
    rows = parse_rows(fields)
    columns = list(next((row.fields for row in rows if row.problem is None), {}))
    if len(columns) > MAX_COLUMNS:
        raise RequestError(413, f"table: expected at most {MAX_COLUMNS:,} columns, got {len(columns):,}")
    data = run.trained.data
    text, label = select_columns(fields, columns, rows, (data.text, data.label))
    several = isinstance(run.trained.task, MultiLabel)
    form = form_of(ReadOptions(several=several, label_separator=data.label_separator), indicators_of(label, columns))
    examples = []
    for start in range(0, len(rows), BATCH):
        check_waiting(is_gone)
        examples += [example_of(row, text, label, run.trained.tokenizer, form) for row in rows[start : start + BATCH]]
    usable = [example for example in examples if isinstance(example, Example)]
    if not usable:
        raise InputError(f"table: expected at least one row that can be used, got none; the first: {examples[0]}")
    labels = labels_as_shown(run.trained.task, usable)
    answers = zip(predict(run, usable, is_gone), labels, strict=True)
    results: list[TableRow] = []
    right, labelled = 0, 0
    for row, example in zip(rows, examples, strict=True):
        result: TableRow = {"row": row.number, "fields": [str(value) for value in row.fields.values()]}
        if isinstance(example, Example):
            prediction, true_label = next(answers)
            result = cast(TableRow, {**result, **prediction})
            if true_label is not None:
                result["label"] = json_label(true_label)
                labelled, right = labelled + 1, right + (result["label"] == prediction["prediction"])
        else:
            result["error"] = example
        results.append(result)
    counted = labelled if isinstance(run.trained.task, Named) else 0  # a regression has no right and wrong
    return {
        "run": run.name,
        "columns": columns,
        "text_column": text,
        "label_column": label,
        "bad_rows": len(rows) - len(usable),
        "labelled": counted,
        "right": right if counted else 0,
        "rows": results,
    }


def parse_rows(fields: TableRequest) -> list[Row]:
    table, form = fields.table, fields.format or "csv"
    if table is None:
        raise InputError("table: expected the text of a CSV file whose first row names the columns, got none")
    if form not in FORMATS:
        raise InputError(f"format: expected one of {', '.join(FORMATS)}, got {form[:40]!r}")
    content = partial(iter, [table.removeprefix("\ufeff")])
    if is_blank(content):
        raise InputError("table: expected rows below a row that names the columns, got an empty table")
    with _parsing:
        rows = list(islice(FORMATS[form](content, "table")(), MAX_ROWS + 1))
    if len(rows) > MAX_ROWS:
        raise RequestError(413, f"table: expected at most {MAX_ROWS:,} rows; `regard predict` reads files of any size")
    return rows


def select_columns(
    fields: TableRequest, columns: Sequence[str], rows: Sequence[Row], trained_on: ColumnPair
) -> tuple[str, str | None]:
    """The columns of text and label: if none is named, those that the run was trained on, or guesses."""
    sample = [row.fields for row in rows if row.problem is None][:SAMPLE]
    if not sample:
        raise InputError(f"table, {rows[0].where()}: {rows[0].problem}")
    text = fields.text_column
    if text is not None and text not in columns:
        raise InputError(f"text_column: expected one of {quoted(columns)}, got {text[:40]!r}")
    trained_text, trained_label = (column if has_columns(column, columns) else None for column in trained_on)
    text = trained_text if text is None else text
    try:
        others = [column for column in columns if column == text or column != trained_label]
        text, label = guess_columns(others, sample, text=text, by_name_only=True)
    except InputError as error:
        raise InputError(f"table: {error}; name it with text_column") from None
    return text, label if trained_label in (None, text) else trained_label


def example_of(
    row: Row, text: str, label: str | None, tokenizer: AnyTokenizer | Characters, form: LabelForm = ONE_LABEL
) -> Example | str:
    """The example, or a sentence that says what is wrong with the row; other rows are still answered."""
    try:
        example = make_example(row, "table", text, label, labelled=False, form=form)
    except InputError as error:
        return str(error)
    if isinstance(tokenizer, WordPieces) and tokenizer.longest is not None:
        try:
            tokenizer.encode(example.text)
        except InputError as error:
            return f"table, {row.where()}: {error}"
    return example


def predict(run: ServedRun, examples: Sequence[Example], is_gone: IsGone) -> Iterator[PredictionRow]:
    begin = time.monotonic()
    for start in range(0, len(examples), BATCH):
        if time.monotonic() - begin > MAX_SECONDS:
            done = f"{start:,} of {len(examples):,} rows in {MAX_SECONDS:.0f} s"
            raise RequestError(503, f"table: too slow ({done}); send fewer rows at a time")
        texts = [example.text for example in examples[start : start + BATCH]]
        yield from (prediction.as_dict() for prediction in predictions(run, texts, is_gone))
