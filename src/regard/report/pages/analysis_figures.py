"""The figures of an analysis as SVG, each readable alone: scores, weights and dot products by type, and during training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from regard.facts.analysis import AnalysisFacts, DotProducts, Path, Recording, Token
from regard.facts.analysis import Box as Quartiles
from regard.report.plots.axis import span
from regard.report.plots.boxes import Box, boxes
from regard.report.plots.dots import TypePanel, dots_by_type
from regard.report.plots.lines import Curve, Panel, training_lines
from regard.report.plots.marks import HUES, UNTYPED, Mark, pair_marks, type_marks
from regard.report.plots.scatter import Cloud, Point, Span, scatter
from regard.report.plots.svg import DASHES
from regard.report.text.characters import one_line

PAIRS = 21  # with more pairs of types than this, only those of a type with itself are drawn
LINES = 10  # the same for the lines of a panel
NAMED = 12  # words of each class that the scatter plot may label
NO_TYPE = "no type"
EPOCH = "epoch"
ATTENTION_TITLE = "attention score"

Marked = tuple[Curve | None, Mark]


def figures(facts: AnalysisFacts) -> dict[str, str]:
    """SVG by name, of what the analysis contains."""
    drawn = {name: draw(facts) for name, draw in FIGURES.items()}
    if (recording := facts.recorded) is not None:
        drawn |= {f"along_training_{name}": draw(facts, recording) for name, draw in ALONG.items()}
    return {name: svg for name, svg in drawn.items() if svg}


def marks_of(facts: AnalysisFacts) -> dict[str, Mark]:
    return type_marks([kind.name for kind in facts.types])


def polarity_title(facts: AnalysisFacts) -> str:
    """The title of the polarity axis: two classes share it, more cannot."""
    if facts.task == "binary":
        first, second = (one_line(name) for name in facts.classes)
        return f"polarity score: ← {first}, {second} →"
    return "polarity score: lead of its strongest class over the others"


def named_words(facts: AnalysisFacts) -> Iterator[Token]:
    """The strongest words, alternating between classes, so that each class gets labels."""
    for rank in range(NAMED):
        for words in facts.words.values():
            if rank < len(words):
                yield words[rank]


def point_of(token: Token) -> Point:
    return token.polarity or 0.0, token.attention or 0.0


def score_spans(facts: AnalysisFacts, recording: Recording | None = None) -> tuple[Span, Span]:
    """The ranges of both scores: of the saved model, and of a recording too."""
    polarity, attention = ([point_of(token)[side] for token in facts.tokens] for side in (0, 1))
    if recording is not None:
        polarity += [value or 0.0 for moment in recording.polarity for value in moment]
        attention += [value or 0.0 for moment in recording.attention for value in moment]
    return span(polarity or [0.0]), span(attention or [0.0])


def scores_figure(facts: AnalysisFacts) -> str:
    """From back to front: tokens without a type, neutral ones, classes."""
    marks: dict[str | None, Mark] = {None: UNTYPED, **dict(reversed(marks_of(facts).items()))}
    points: dict[str | None, list[Point]] = {}
    for token in facts.tokens:
        points.setdefault(token.type, []).append(point_of(token))
    clouds = [
        Cloud(NO_TYPE if name is None else name, mark, tuple(points[name]))
        for name, mark in marks.items()
        if name in points
    ]
    if not clouds:
        return ""
    words = [(word.token, point_of(word)) for word in named_words(facts)]
    title = f"Polarity and attention of {len(facts.tokens):,} tokens: {one_line(facts.run or facts.data)}"
    return scatter(title, polarity_title(facts), ATTENTION_TITLE, clouds, score_spans(facts), words)


def types_figure(facts: AnalysisFacts, scores: Sequence[Quartiles | None], title: str, x_title: str) -> str:
    """`scores`: one per type; None leaves no box."""
    marks = marks_of(facts).items()
    shown = [as_box(name, mark, box) for (name, mark), box in zip(marks, scores, strict=True) if box is not None]
    return boxes(title, x_title, shown) if shown else ""


def polarity_figure(facts: AnalysisFacts) -> str:
    scores = [kind.polarity for kind in facts.types]
    return types_figure(facts, scores, "Polarity scores by type", polarity_title(facts))


def attention_figure(facts: AnalysisFacts) -> str:
    return types_figure(facts, [kind.attention for kind in facts.types], "Attention scores by type", ATTENTION_TITLE)


def weights_figure(facts: AnalysisFacts) -> str:
    scores = [kind.weight for kind in facts.types]
    return types_figure(facts, scores, "Mean attention weights by type", "mean weight of a token")


def as_box(name: str, mark: Mark, scores: Quartiles | DotProducts) -> Box:
    return Box(name, mark, scores.min, scores.q1, scores.median, scores.q3, scores.max, scores.mean)


def pairs_figure(facts: AnalysisFacts) -> str:
    pairs = [pair for pair in facts.dot_products if len(facts.dot_products) <= PAIRS or pair.pair[0] == pair.pair[1]]
    marks = pair_marks([pair.pair for pair in pairs], marks_of(facts))
    shown = [as_box(" · ".join(pair.pair), mark, pair) for pair, mark in zip(pairs, marks, strict=True)]
    title = "Dot products of word vectors by pair of types"
    return boxes(title, "Ω: dot product of two different tokens", shown) if shown else ""


def terms_figure(facts: AnalysisFacts) -> str:
    marks = marks_of(facts)
    shown = []
    for score, terms in (facts.flow.by_score if facts.flow else {}).items():
        rows = tuple(
            (name, {kind: value for kind, value in values.items() if value is not None and kind in marks})
            for name, values in terms.items()
        )
        if rows:
            shown.append(TypePanel(f"Terms that change {score}", f"mean change of {score}", rows))
    return dots_by_type("Terms of the gradient flow by type", shown, marks) if shown else ""


def polarity_along(facts: AnalysisFacts, recording: Recording) -> str:
    paths = {name: one.polarity for name, one in recording.by_type.items()}
    return scores_along(facts, recording, "polarity", paths)


def attention_along(facts: AnalysisFacts, recording: Recording) -> str:
    paths = {name: one.attention for name, one in recording.by_type.items()}
    return scores_along(facts, recording, "attention", paths)


def scores_along(
    facts: AnalysisFacts, recording: Recording, score: str, paths: Mapping[str, Sequence[Path | None]]
) -> str:
    curves = [
        (banded_curve(name, recording.moments, paths.get(name, ())), mark) for name, mark in marks_of(facts).items()
    ]
    title = f"{score.capitalize()} scores during training: mean and quartiles by type"
    return one_panel(title, f"{score} score", curves)


def dot_products_along(facts: AnalysisFacts, recording: Recording) -> str:
    pairs = recording.dot_products
    shown = [pair for pair in pairs if len(pairs) <= LINES or pair.pair[0] == pair.pair[1]]
    marks = pair_marks([pair.pair for pair in shown], marks_of(facts))
    curves = [
        (plain_curve(" · ".join(pair.pair), recording.moments, pair.mean), mark)
        for pair, mark in zip(shown, marks, strict=True)
    ]
    return one_panel("Dot products of word vectors during training", "mean Ω", curves)


def head_along(facts: AnalysisFacts, recording: Recording) -> str:
    """V and W: how aligned they are, and their norms."""
    moments = recording.moments
    angle = known(by_output(facts, "VᵀW", moments, recording.vtw))
    norm_v = plain_curve("‖V‖", moments, recording.norm_v)
    norms = known([(norm_v, Mark(HUES[-1])), *by_output(facts, "‖W‖", moments, recording.norms_w)])
    shown = [
        Panel(title, curves, name)
        for title, name, curves in (("VᵀW", "VᵀW", angle), ("Norms", "norm", norms))
        if curves
    ]
    return training_lines("V and W during training", EPOCH, shown, stacked=True) if shown else ""


def terms_along(facts: AnalysisFacts, recording: Recording) -> str:
    marks, shown = marks_of(facts), []
    for term, by_type in recording.terms.items():
        curves = known((plain_curve(name, recording.moments, by_type.get(name, ())), marks[name]) for name in marks)
        if curves:
            shown.append(Panel(f"Term {term}", curves, "mean by type"))
    return training_lines("Terms of the gradient flow during training", EPOCH, shown) if shown else ""


def by_output(facts: AnalysisFacts, name: str, moments: Sequence[float], rows: Sequence[Path]) -> list[Marked]:
    """A curve per output of the head: one for two classes, otherwise one per class."""
    columns = list(zip(*rows, strict=True))
    if len(columns) == 1:
        return [(plain_curve(name, moments, columns[0]), Mark(HUES[4], dash=DASHES[1]))]
    marks = marks_of(facts).items()
    pairs = zip(marks, columns, strict=False)  # the neutral type has no output
    return [(plain_curve(f"{name} {kind}", moments, column), mark) for (kind, mark), column in pairs]


def plain_curve(name: str, moments: Sequence[float], values: Path) -> Curve | None:
    points = [(x, y) for x, y in zip(moments, values, strict=False) if y is not None and isfinite(y)]
    if not points:
        return None
    x, y = zip(*points, strict=True)
    return Curve(name, x, y, y, y)


def banded_curve(name: str, moments: Sequence[float], rows: Sequence[Path | None]) -> Curve | None:
    """From mean, first and third quartile at each moment; a type without tokens has none."""
    points = [(x, *row) for x, row in zip(moments, rows, strict=False) if row is not None and None not in row]
    if not points:
        return None
    x, mean, low, high = zip(*points, strict=True)
    return Curve(name, x, mean, low, high)


def one_panel(title: str, y_title: str, curves: Iterable[Marked]) -> str:
    drawn = known(curves)
    return training_lines(title, EPOCH, [Panel("", drawn, y_title)]) if drawn else ""


def known(curves: Iterable[Marked]) -> tuple[Curve, ...]:
    return tuple(replace(curve, mark=mark) for curve, mark in curves if curve is not None)


FIGURES: Mapping[str, Callable[[AnalysisFacts], str]] = {
    "scatter": scores_figure,
    "polarity": polarity_figure,
    "attention": attention_figure,
    "weights": weights_figure,
    "dot_products": pairs_figure,
    "terms": terms_figure,
}
ALONG: Mapping[str, Callable[[AnalysisFacts, Recording], str]] = {
    "polarity": polarity_along,
    "attention": attention_along,
    "dot_products": dot_products_along,
    "vtw": head_along,
    "terms": terms_along,
}
