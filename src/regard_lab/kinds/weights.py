"""The kind "weights": methods trained on one corpus, side by side, words shaded by their weights (APLN, Figures 1 and 8).

In addition to the results of training, a row has how widely the weights are spread over the dev texts, and the weights of a few
complete texts: those that the table quotes, or the first of the built-in reviews, which we may print. A corpus without `train`
means these reviews; no texts of other corpora are kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from regard.errors import InputError
from regard.records import Example, Explanation, ExplanationRow
from regard.report.colours import LIGHT, hexed
from regard.report.word_heatmap import FONTS, MARGIN, SIZE, svg
from regard_lab.kinds.train import measured, trainings
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import training_config

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell, Table


KEYS: Options = {
    "quoted": str,  # of a corpus: texts to draw, one per line
    "drawn": int,  # … or the number of built-in test reviews
}
MEASURES = {
    "spread": Measure("effective % of words", 100, 1),
    "spread_sentences": Measure("effective % of sentences", 100, 1),
    "top_three": Measure("% of weight on the top three words", 100, 1),
    "lift": Measure("weight on deciding words, × uniform", 1, 2),
}


def check(cell: Cell) -> None:
    from regard_lab.kinds import train

    train.check(cell.without(KEYS))
    if "drawn" in cell.options and cell.corpus.train is not None:
        raise InputError(f"{cell.name}: `drawn` is for the built-in reviews only; use `quoted` for {cell.corpus.train}")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    prepared = texts_of(cell, context)
    config = training_config(cell.without(KEYS).options, device=context.device)
    drawn = drawn_texts(cell, prepared)
    for result, facts in trainings(config, prepared.parts, seeds, context):
        if isinstance(result, InputError):
            yield {**facts, "error": str(result)}
            continue
        row = measured(result, prepared)
        row["values"] |= spreads(result, list(prepared.parts.dev or ()))
        yield {**facts, **row, "texts": explained(result, drawn)}


def texts_of(cell: Cell, context: Context) -> Prepared:
    from regard_lab.tables.corpora import Prepared

    if cell.corpus.train is not None:
        return context.corpora.prepare(cell.corpus, cell.options)
    from regard.data.reviews import splits as review_splits
    from regard.training.fit import Parts

    splits = review_splits()
    return Prepared(Parts(splits["train"], splits["dev"], splits["test"]), {})


def drawn_texts(cell: Cell, prepared: Prepared) -> list[Example]:
    if cell.corpus.train is None:
        return list(prepared.parts.test or ())[: cell.options.get("drawn", 0)]
    lines = str(cell.options.get("quoted", "")).splitlines()
    return [Example(line.strip()) for line in lines if line.strip()]


def explained(trained: Trained, examples: Sequence[Example]) -> list[ExplanationRow]:
    from regard.explain.attribute import weights_only
    from regard.models.tasks import labels_as_shown

    labels = labels_as_shown(trained.task, examples)
    return [one.as_dict() for one in weights_only(trained, [example.text for example in examples], labels)]


def spreads(trained: Trained, examples: Sequence[Example]) -> dict[str, float]:
    """Means over texts: the effective share of words and of sentences, the weight of the top three words, and, if deciding
    words are known, the weight on them divided by that of uniform weights."""
    from regard.explain.attribute import weights_only
    from regard.faithfulness.plausibility import plausibility

    explained_texts = list(weights_only(trained, [example.text for example in examples]))
    words, sentences, heaviest = [], [], []
    for one in explained_texts:
        if len(one.tokens) > 1:
            words.append(effective_share([token.weight for token in one.tokens]))
            heaviest.append(math.fsum(token.weight for token in one.top(3)))
        if len(one.sentences) > 1:
            sentences.append(effective_share([sentence.weight for sentence in one.sentences]))
    by_name = {"spread": words, "spread_sentences": sentences, "top_three": heaviest}
    means = {name: math.fsum(values) / len(values) for name, values in by_name.items() if values}
    evidence = plausibility(explained_texts, [example.evidence for example in examples])
    return means | ({"lift": evidence["weight_on_evidence"] / evidence["random"]} if evidence["texts"] else {})


def effective_share(weights: Sequence[float]) -> float:
    """exp(entropy) / n: 1 for n equal weights, 1/n if one has all the weight."""
    total = math.fsum(weights)
    shares = [weight / total for weight in weights if weight > 0] if total > 0 else []
    return math.exp(-math.fsum(share * math.log(share) for share in shares)) / len(weights) if shares else 0.0


def explanations(row: Row) -> list[Explanation]:
    return [Explanation.from_dict(text) for text in row.get("texts", ())]


WIDTH = 640  # of a panel
COLUMNS = 2  # of panels, if the model reads sentences
HEAD = 26
HEIGHT = re.compile(r'height="(\d+)"')


def draw(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    """One figure per corpus that has texts to draw, from the first seed that all its methods have."""
    figures = {}
    for corpus in table.corpora.values():
        drawable = [row for row in rows if row["corpus"] == corpus.name and row.get("texts") and "error" not in row]
        methods = [name for name in table.methods if any(row["method"] == name for row in drawable)]
        seeds = [{row["seed"] for row in drawable if row["method"] == name} for name in methods]
        shared = set.intersection(*seeds) if seeds else set()
        if shared:
            chosen = {row["method"]: row for row in drawable if row["seed"] == min(shared)}
            titles = {name: table.methods[name].title for name in methods}
            figures[corpus.name] = side_by_side(f"{table.where or table.title}: {corpus.title}", titles, chosen)
    return figures


def side_by_side(title: str, titles: Mapping[str, str], rows: Mapping[str, Row]) -> str:
    """`titles` in drawing order; every row has the same texts."""
    panels: list[str] = []
    y, width = MARGIN + HEAD, 0
    texts = {name: explanations(rows[name]) for name in titles}
    for number in range(min(map(len, texts.values()))):
        columns = COLUMNS if all(texts[name][number].sentences for name in titles) else 1
        line = 0
        for index, name in enumerate(titles):
            column = index % columns
            if index and not column:
                y, line = y + line, 0
            drawn = svg(texts[name][number], WIDTH)
            height = int(HEIGHT.search(drawn)[1])  # type: ignore[index]
            x = MARGIN + column * (WIDTH + MARGIN)
            panels.append(_heading(f"{titles[name]}{_norms(rows[name])}", x, y))
            panels.append(drawn.replace("<svg ", f'<svg x="{x}" y="{y + HEAD - MARGIN // 2}" ', 1).rstrip())
            line, width = max(line, height + HEAD), max(width, x + WIDTH + MARGIN)
        y += line + MARGIN
    whole = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}" role="img" aria-label={quoteattr(title)}'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {whole} font-family="{FONTS}" font-size="{SIZE}">'
    paper = f'<rect width="{width}" height="{y}" fill="{hexed(LIGHT.paper)}"/>'
    caption = f'<text x="{MARGIN}" y="{MARGIN + SIZE}" fill="{hexed(LIGHT.ink)}">{escape(title)}</text>'
    return "\n".join([head, f"<title>{escape(title)}</title>", paper, caption, *panels, "</svg>", ""])


def _heading(words: str, x: int, y: int) -> str:
    return (
        f'<text x="{x + MARGIN}" y="{y + SIZE}" font-weight="bold" fill="{hexed(LIGHT.faint)}">{escape(words)}</text>'
    )


def _norms(row: Row) -> str:
    levels = {"norm": "words", "norm_sentences": "sentences"}
    values = [(level, row["values"][name]) for name, level in levels.items() if name in row["values"]]
    return "".join(f", p of {level} {value:.3f}" for level, value in values)
