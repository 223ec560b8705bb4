"""Predictions in every format, one row per text: which columns there are, and how the values are written."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from regard.errors import InputError
from regard.extras import require
from regard.files import write
from regard.records import FASTTEXT_PREFIX, Example, Prediction, json_label
from regard.report.text.characters import one_line
from regard.report.text.formulas import Formulas
from regard.report.text.prediction_files import Cell, parquet_pieces, xlsx_pieces
from regard.report.text.writing import as_csv, check_escaping, choose_format, emit, lines, to_console

Predicted = tuple[Example, Prediction | None]  # None: the example has an error instead
FORMATS = ("terminal", "jsonl", "csv", "fasttext", "parquet", "xlsx")
BINARY = {"parquet": "pyarrow", "xlsx": "xlsxwriter"}  # formats and the packages that write them


@dataclass(frozen=True)
class Layout:
    """What is written about every text.

    Parameters
    ----------
    classes : tuple of str
        The classes of the model; empty for numbers.
    kept : tuple of str
        Columns of the source that are copied.
    errors : bool, default True
        Whether rows may have an error instead of a prediction.
    top : int, optional
        Write only the most probable classes, this many, in order.
    digits : int, optional
        Round probabilities and predicted numbers to this many decimals.
    novelty : bool, default False
        Write how little each text resembles the training texts.
    joiner : str, optional
        What is written between the labels of a text that may have several; None if it has one class.
    """

    classes: tuple[str, ...]
    kept: tuple[str, ...] = ()
    errors: bool = True
    top: int | None = None
    digits: int | None = None
    novelty: bool = False
    joiner: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether a row has all probabilities, in full, and nothing else that depends on the text."""
        return not self.kept and self.top is None and self.digits is None and not self.novelty

    def answer_columns(self) -> list[str]:
        """The columns besides those that are copied from the source."""
        if not self.classes:
            columns = ["prediction"]
        else:
            columns = ["prediction", *["confidence"] * (self.joiner is None)]
            if self.top is None:
                columns += [f"p({name})" for name in self.classes]
            else:
                places = range(1, min(self.top, len(self.classes)) + 1)
                columns += [f"{kind}_{k}" for k in places for kind in ("class", "probability")]
        return [*columns, *["novelty"] * self.novelty, *["error"] * self.errors]

    def columns(self) -> list[str]:
        return ["row", *self.kept, "text", *self.answer_columns()]

    def rounded(self, number: float) -> float:
        return number if self.digits is None else round(number, self.digits)

    def probabilities(self, prediction: Prediction) -> dict[str, float]:
        """Of all classes in their order, or of the most probable ones, the highest first."""
        items: Iterable[tuple[str, float]] = prediction.probabilities.items()
        if self.top is not None:
            items = heapq.nlargest(self.top, items, key=lambda item: item[1])
        return {name: self.rounded(probability) for name, probability in items}

    def cells(self, example: Example, prediction: Prediction | None) -> list[Cell]:
        """The values of `columns`."""
        kept = example.kept or {}
        cells: list[Cell] = [example.row, *(plain(kept.get(column)) for column in self.kept), example.text]
        if prediction is None:
            answer: list[Cell] = [None] * (len(self.answer_columns()) - self.errors)
        elif not self.classes:
            answer = [self.number(prediction)]
        else:
            shown = self.probabilities(prediction)
            pairs = shown.values() if self.top is None else (x for pair in shown.items() for x in pair)
            answer = [self.named(prediction), *self.confidence(prediction), *pairs]
        if self.novelty and prediction is not None:
            answer.append(None if prediction.novelty is None else self.rounded(prediction.novelty))
        return [*cells, *answer, *[example.error] * self.errors]

    def number(self, prediction: Prediction) -> float:
        assert not isinstance(prediction.value, tuple)
        return self.rounded(float(prediction.value))

    def named(self, prediction: Prediction) -> str:
        """The class that is predicted, or the labels in one string."""
        named = prediction.named
        return named if isinstance(named, str) else (self.joiner or ", ").join(named)

    def confidence(self, prediction: Prediction) -> list[float]:
        """The probability of the class that is predicted; nothing for several labels, of which each has its own."""
        return [] if self.joiner is not None else [self.rounded(prediction.probabilities[str(prediction.value)])]


def plain(value: object) -> Cell:
    return value if isinstance(value, str | int | float | None) else str(value)


def prediction_format(requested: str | None, out: Path | None, layout: Layout, escape: bool = False) -> str:
    """The format, which is refused now if it could not be written later."""
    default = "terminal" if out is None and sys.stdout.isatty() else "jsonl"
    kind = choose_format(requested, out, FORMATS, default)
    check_escaping(escape, kind)
    if kind in BINARY:
        require(BINARY[kind], f"the format {kind}")
        if out is None and sys.stdout.isatty():
            raise InputError(f"--format {kind}: expected --out FILE or a pipe, got a terminal")
    if kind == "fasttext":
        fasttext_names(layout)
    return kind


def write_predictions(
    predictions: Iterable[Predicted],
    kind: str,
    out: Path | None,
    layout: Layout,
    note: Callable[[str], None],
    escape: bool = False,
) -> None:
    """Written as they arrive; only the terminal's table and a spreadsheet wait for all. `escape`: formulas in CSV."""
    if kind == "terminal":
        to_console(out, prediction_table(predictions, layout))
    elif kind == "csv":
        formulas = Formulas(escape)
        emit(out, as_csv(csv_rows(predictions, layout), formulas))
        formulas.report(note)
    elif kind == "fasttext":
        emit(out, fasttext_output(predictions, layout))
    elif kind in BINARY:
        rows = (layout.cells(example, prediction) for example, prediction in predictions)
        head = layout.columns()
        texts = {*layout.kept, "text", "error", *(["prediction"] if layout.classes else [])}
        texts |= {column for column in layout.answer_columns() if column.startswith("class_")}
        pieces = parquet_pieces(head, rows, texts) if kind == "parquet" else xlsx_pieces(head, rows, note)
        write_pieces(pieces, out)
    else:
        emit(out, lines(prediction_json(example, prediction, layout) for example, prediction in predictions))


def write_pieces(pieces: Iterable[bytes], out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.writelines(pieces)
    else:
        write(out, pieces)


def prediction_json(example: Example, prediction: Prediction | None, layout: Layout) -> dict[str, object]:
    row: dict[str, object] = {"row": example.row, **(example.kept or {}), "text": example.text}
    if prediction is None:
        return row | {"prediction": None, "error": example.error}
    new = {} if prediction.novelty is None else {"novelty": layout.rounded(prediction.novelty)}
    if not prediction.probabilities:
        return row | {"prediction": layout.number(prediction)} | new
    confidence = dict(zip(("confidence",), layout.confidence(prediction), strict=False))
    shown = {**confidence, "probabilities": layout.probabilities(prediction)}
    return row | {"prediction": json_label(prediction.named)} | shown | new


def csv_rows(pairs: Iterable[Predicted], layout: Layout) -> Iterator[list[str]]:
    """With the header only before the first row, so that bad input gives no output."""
    for number, (example, prediction) in enumerate(pairs):
        if number == 0:
            yield layout.columns()
        yield ["" if cell is None else str(cell) for cell in layout.cells(example, prediction)]


def fasttext_names(layout: Layout) -> Mapping[str, str]:
    """The classes as fastText writes them: without white space, which ends a label."""
    if not layout.classes:
        raise InputError("--format fasttext: expected a model of classes, got one that predicts numbers")
    names = {name: FASTTEXT_PREFIX + "_".join(name.split()) for name in layout.classes}
    if len({*names.values()}) < len(names):
        raise InputError(
            "--format fasttext: several classes have the same name without white space; use another format"
        )
    return names


def fasttext_output(pairs: Iterable[Predicted], layout: Layout) -> Iterator[str]:
    """As `fasttext predict-prob` writes: the most probable labels with their probabilities; a line per text, perhaps empty.

    Of several labels per text, those that are predicted, unless `--top` says how many.
    """
    names = fasttext_names(layout)
    predicted_only = layout.joiner is not None and layout.top is None
    ranked = Layout(
        layout.classes, top=len(layout.classes) if predicted_only else layout.top or 1, digits=layout.digits
    )
    for _, prediction in pairs:
        shown = {} if prediction is None else ranked.probabilities(prediction)
        if predicted_only and prediction is not None:
            shown = {name: shown[name] for name in shown if name in prediction.named}
        yield " ".join(f"{names[name]} {probability}" for name, probability in shown.items()) + "\n"


def prediction_table(pairs: Iterable[Predicted], layout: Layout) -> Table:
    table = Table(
        box=None, pad_edge=False, expand=True
    )  # without `expand` a long text would push out the other columns
    for heading in ("row", "prediction", "probability", *["novelty"] * layout.novelty):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", max_width=24 if layout.top is None else 60)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    places = 3 if layout.digits is None else layout.digits
    for example, prediction in pairs:
        if prediction is None:
            dashes = ["–"] * (2 + layout.novelty)
            table.add_row(str(example.row), *dashes, Text(one_line(f"error: {example.error}"), style="red"))
            continue
        value, probability = prediction.value, ""
        if prediction.probabilities and layout.top is None:
            shown_names = value if isinstance(value, tuple) else (str(value),)
            probability = ", ".join(f"{prediction.probabilities[name]:.{places}f}" for name in shown_names)
        elif prediction.probabilities:
            shown = heapq.nlargest(layout.top or 1, prediction.probabilities.items(), key=lambda item: item[1])
            probability = ", ".join(f"{one_line(name)} {number:.{places}f}" for name, number in shown)
        if isinstance(value, tuple):
            answer = ", ".join(value) or "(none)"
        else:
            answer = value if isinstance(value, str) else f"{value:z.{places}f}".replace("-", "−")
        cells = [Text(one_line(answer)), Text(probability)]
        if layout.novelty:
            cells.append(Text("" if prediction.novelty is None else f"{prediction.novelty:.{places}f}"))
        table.add_row(str(example.row), *cells, Text(one_line(example.text[:300])))
    return table
