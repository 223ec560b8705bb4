"""The kind "weights": methods trained on one corpus, laid side by side, words shaded by their weights (APLN, Figures 1 and 8).

A row holds, beside what training gives, how far each method spreads its weight over the dev texts, and the weights of a few texts
in full: those that the table quotes, or the first of the built-in reviews, which are ours to print. A corpus without `train`
is these reviews; of other corpora no text is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from regard.config import Config
from regard.errors import InputError
from regard.recording import Recorder
from regard.records import Example, Explanation
from regard_lab.kinds.train import told
from regard_lab.kinds.trainings import trainings
from regard_lab.measures import Measure

if TYPE_CHECKING:
    from regard.models.trained import Trained
    from regard_lab.tables.corpora import Prepared
    from regard_lab.tables.table import Cell

KEYS: Mapping[str, Any] = {
    "quoted": str,  # of a corpus: texts to draw, one a line
    "drawn": int,  # … or how many of the built-in test reviews
}
MEASURES = {
    "spread": Measure("% of words in effect", 100, 1),
    "spread_sentences": Measure("% of sentences in effect", 100, 1),
    "top_three": Measure("% on the three heaviest words", 100, 1),
    "lift": Measure("× chance on deciding words", 1, 2),
}


def check(cell: Cell) -> None:
    from regard_lab.kinds import train

    train.check(cell.without(KEYS))
    if "drawn" in cell.options and cell.corpus.train is not None:
        raise InputError(f"{cell.name}: `drawn` takes from the built-in reviews; quote texts for {cell.corpus.train}")


def run(cell: Cell, seeds: Sequence[int], device: str, recorder: Recorder) -> Iterator[dict[str, Any]]:
    prepared = texts_of(cell)
    config = Config().override({**cell.without(KEYS).options, "device": device})
    drawn = drawn_texts(cell, prepared)
    for result, facts in trainings(config, prepared.parts, seeds, device, recorder):
        if isinstance(result, InputError):
            yield {**facts, "error": str(result)}
            continue
        row = told(result, prepared)
        row["values"] |= spreads(result, list(prepared.parts.dev or ()))
        yield {**facts, **row, "texts": explained(result, drawn)}


def texts_of(cell: Cell) -> Prepared:
    from regard_lab.tables.corpora import Prepared, prepare

    if cell.corpus.train is not None:
        return prepare(cell.corpus, cell.options)
    from regard.data.reviews import splits
    from regard.training.fit import Parts

    made = splits()
    return Prepared(Parts(made["train"], made["dev"], made["test"]), {})


def drawn_texts(cell: Cell, prepared: Prepared) -> list[Example]:
    if cell.corpus.train is None:
        return list(prepared.parts.test or ())[: cell.options.get("drawn", 0)]
    lines = str(cell.options.get("quoted", "")).splitlines()
    return [Example(line.strip()) for line in lines if line.strip()]


def explained(trained: Trained, examples: Sequence[Example]) -> list[dict[str, Any]]:
    from regard.explain.explain import explain
    from regard.models.tasks import labels_as_shown

    labels = labels_as_shown(trained.task, examples)
    return [one.as_dict() for one in explain(trained, [example.text for example in examples], labels)]


def spreads(trained: Trained, examples: Sequence[Example]) -> dict[str, float]:
    """Means over texts: the share of words, and of sentences, in effect; the weight of the three heaviest words; and where
    deciding words are known, the weight on them over that of weights that know nothing."""
    from regard.explain.explain import explain
    from regard.faithfulness.plausibility import plausibility

    drawn = list(explain(trained, [example.text for example in examples]))
    words, sentences, heaviest = [], [], []
    for one in drawn:
        if len(one.tokens) > 1:
            words.append(in_effect([token.weight for token in one.tokens]))
            heaviest.append(math.fsum(token.weight for token in one.top(3)))
        if len(one.sentences) > 1:
            sentences.append(in_effect([sentence.weight for sentence in one.sentences]))
    named = {"spread": words, "spread_sentences": sentences, "top_three": heaviest}
    found = {name: math.fsum(values) / len(values) for name, values in named.items() if values}
    known = plausibility(drawn, [example.evidence for example in examples])
    return found | ({"lift": known["weight_on_evidence"] / known["random"]} if known["texts"] else {})


def in_effect(weights: Sequence[float]) -> float:
    """exp(entropy) / n: 1 where all n weigh alike, 1/n where one has all the weight."""
    total = math.fsum(weights)
    shares = [weight / total for weight in weights if weight > 0] if total > 0 else []
    return math.exp(-math.fsum(share * math.log(share) for share in shares)) / len(weights) if shares else 0.0


def explanations(row: Mapping[str, Any]) -> list[Explanation]:
    return [Explanation.from_dict(text) for text in row.get("texts", ())]
