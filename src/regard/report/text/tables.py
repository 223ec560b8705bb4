"""Tables for the terminal, and the metrics of an evaluation as one: the numbers, a row per class, the confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from regard.facts.measures import Confusion, Matrix, Measures
from regard.report.text.characters import one_line
from regard.report.text.numbers import interval, metric_name, written
from regard.run_metrics import CrossValidation

NARROWEST = 80  # columns of a terminal
CLASSES = 20  # with more than this many, only so many are shown, weakest first
MATRIX = 8  # classes; a larger confusion matrix becomes a list of its most frequent mistakes
MISTAKES = 10  # in that list
COLUMNS = ("class", "precision", "recall", "F1", "texts")


def plain_table(title: str | None = None) -> Table:
    """A table without columns yet, with a line below its head. User text must be a Text made with `one_line`, because
    a class may be called "[bold]"."""
    # a title above a narrow table would wrap after every word; one longer than the terminal has to wrap
    fits = title is not None and len(title) < NARROWEST
    heading = None if title is None else Text(title, no_wrap=fits, overflow="ignore" if fits else None)
    table = Table(title=heading, title_justify="left", title_style="dim", box=box.SIMPLE_HEAD)
    table.show_edge = table.pad_edge = False
    table.padding = (0, 1, 0, 0)
    return table


def metrics_table(metrics: Mapping[str, object]) -> Table:
    """All metrics as one printable object. Missing keys are left out."""
    measures = Measures.of(metrics)
    small = small_matrix(measures)
    mistakes = frequent_mistakes(measures)
    parts = [
        _numbers(summary(measures)) if measures.numbers else None,
        _sentence(sentence) if (sentence := absent(measures)) else None,
        _sentence(sentence) if (sentence := never_predicted(measures)) else None,
        _classes(measures) if measures.classes else None,
        _matrix(small) if small is not None else None,
        _confusions(mistakes) if mistakes else None,
    ]
    table = Table.grid()
    for part in filter(None, parts):
        if table.row_count:
            table.add_row()
        table.add_row(part)
    return table


def folds_table(validated: CrossValidation) -> Table:
    """The scores of each fold, and their mean with its interval."""
    names = [*validated["mean"]]
    table = plain_table()
    table.add_column("fold")
    for name in ("texts", *map(metric_name, names)):
        table.add_column(name, justify="right", no_wrap=True)
    for number, (texts, scores) in enumerate(zip(validated["texts"], validated["scores"], strict=True), start=1):
        table.add_row(str(number), written(texts), *(written(scores[name]) for name in names))
    intervals = validated["interval"]
    halves = {name: (high - low) / 2 for name, (low, high) in intervals.items()}
    means = (f"{written(validated['mean'][name])} ± {written(halves[name])}" for name in names)
    table.add_row("mean", "", *means, style="bold")
    return table


def summary(measures: Measures) -> list[tuple[str, str]]:
    """Name and value of every single number, with its interval."""
    return [(metric_name(one.key), written(one.value) + interval(one.interval)) for one in measures.numbers]


def class_columns(measures: Measures) -> tuple[str, ...]:
    """The columns of `class_rows`."""
    return ("label", *COLUMNS[1:], "threshold") if measures.has_thresholds else COLUMNS


def class_rows(measures: Measures, with_interval: bool = False, most: int = CLASSES) -> list[tuple[str, ...]]:
    """At most so many, weakest first if there are more than `CLASSES`. Dashes for a class that is neither a label nor a
    prediction: the macro F1 leaves it out, too."""
    rows = []
    for one in measures.weakest(CLASSES, most):
        precision, recall, f = map(
            written, (one.precision, one.recall, one.f) if measures.has_scores(one) else [None] * 3
        )
        f += interval(one.f_interval) if with_interval else ""
        threshold = [written(one.threshold)] if measures.has_thresholds else []
        rows.append((one_line(one.name), precision, recall, f, written(one.n), *threshold))
    return rows


def classes_shown(measures: Measures) -> str:
    """Which classes a table has, if not all; "" otherwise."""
    count = len(measures.classes)
    return f"{CLASSES} of {count} classes, weakest first" if count > CLASSES else ""


def absent(measures: Measures) -> str:
    """A sentence about classes without texts, to which the scores do not apply; "" if there are none."""
    names = [one_line(name) for name in measures.absent]
    if not names:
        return ""
    more = f" and {len(names) - CLASSES} more" if len(names) > CLASSES else ""
    which = "that class" if len(names) == 1 else "those classes"
    return f"No text is labelled {', '.join(map(repr, names[:CLASSES]))}{more}; the scores do not apply to {which}."


def never_predicted(measures: Measures) -> str:
    """A sentence about classes that the model overlooks, and what to do; "" if there are none."""
    names = [one_line(name) for name in measures.never_predicted]
    if not names:
        return ""
    more = f" and {len(names) - CLASSES} more" if len(names) > CLASSES else ""
    return (
        f"Never predicted: {', '.join(map(repr, names[:CLASSES]))}{more}. Training with --class-weight balanced or "
        "--select macro_f may change that, or more texts of such classes."
    )


def small_matrix(measures: Measures) -> Matrix | None:
    """The whole confusion matrix, if it is small enough to read."""
    return measures.matrix if measures.matrix is not None and len(measures.matrix.labels) <= MATRIX else None


def frequent_mistakes(measures: Measures) -> list[Confusion]:
    """Instead of a matrix that is too large to read."""
    if measures.matrix is None or len(measures.matrix.labels) <= MATRIX:
        return []
    return measures.matrix.mistakes[:MISTAKES]


def _numbers(numbers: Sequence[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in numbers:
        table.add_row(Text(name), Text(value, style="bold"))
    return table


def _sentence(sentence: str) -> Table:
    table = Table.grid()
    table.add_row(Text(sentence))
    return table


def _classes(measures: Measures) -> Table:
    table = plain_table(classes_shown(measures) or None)
    first, *others = class_columns(measures)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    for row in class_rows(measures):
        table.add_row(*map(Text, row))
    return table


def _matrix(whole: Matrix) -> Table:
    table = plain_table("rows: actual, columns: predicted")
    table.add_column("", overflow="fold")
    for label in whole.labels:
        table.add_column(Text(one_line(label)), justify="right", overflow="ellipsis", max_width=12)
    for row, (label, counts) in enumerate(zip(whole.labels, whole.counts, strict=True)):
        numbers = (Text(f"{n:,}", style="bold" if row == column else "") for column, n in enumerate(counts))
        table.add_row(Text(one_line(label)), *numbers)
    return table


def _confusions(mistakes: Sequence[Confusion]) -> Table:
    table = plain_table("most frequent mistakes")
    table.add_column("actual", overflow="fold")
    table.add_column("predicted", overflow="fold")
    table.add_column("texts", justify="right", no_wrap=True)
    for mistake in mistakes:
        table.add_row(*map(Text, (one_line(mistake.actual), one_line(mistake.predicted), f"{mistake.count:,}")))
    return table
