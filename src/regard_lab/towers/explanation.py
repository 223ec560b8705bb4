"""What two towers read to predict a rating: the words, sentences and reviews of both sides with their weights, and the terms that
the rating is the sum of.

A weight is a share of everything that was read on its side: a review has its own weight, a sentence its weight within the
review times that of the review, and likewise for words. The terms are exact, because the head is linear: they sum to the
rating before a ReLU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.collate import in_order
from regard.explain.attention_weights import down, without_padding
from regard.models.trained import BATCH
from regard.records import Explanation, Prediction, SentenceScore, Span, TokenScore
from regard.training.divergence import checked_answers
from regard.values import Trace
from regard_lab.towers.ids import UNKNOWN
from regard_lab.towers.ratings import Rating
from regard_lab.towers.trained_towers import TrainedTowers, pair_to_device
from regard_lab.towers.two_towers import collate_pairs, joined

GAP = "\n\n"  # between two reviews in the text of a side
TERMS = {  # in the order in which they are shown
    "bias": "the same for all",
    "user_reviews": "the user’s reviews",
    "user_ids": "the user’s id",
    "item_reviews": "the item’s reviews",
    "item_ids": "the item’s id",
    "together_reviews": "both sides’ reviews together",
    "together_ids": "both ids together",
}


@dataclass(frozen=True)
class ExplainedSide:
    """What was read of a user or of an item."""

    name: str | None
    known_id: bool | None  # whether the id was in training; None if the model has no ids
    reviews: list[Rating]  # those that were read
    explanation: Explanation  # of all of them, whose parts are the reviews


@dataclass(frozen=True)
class ExplainedPair:
    rating: float  # predicted
    actual: float | None
    row: int
    terms: dict[str, float]  # by the names in TERMS, in the unit of ratings
    user: ExplainedSide
    item: ExplainedSide

    def as_dict(self) -> dict[str, Any]:
        """One line of JSON."""
        sides = {"user": self.user, "item": self.item}
        return {
            **({"row": self.row} if self.row else {}),
            **{name: side.name for name, side in sides.items()},
            "prediction": self.rating,
            **({} if self.actual is None else {"rating": self.actual}),
            "terms": self.terms,
            **{f"{name}_reviews": side_row(side) for name, side in sides.items()},
        }


def side_row(side: ExplainedSide) -> dict[str, Any]:
    explanation = side.explanation.as_dict()
    reviews = [
        {"user": review.user, "item": review.item, "rating": review.value, **part}
        for review, part in zip(side.reviews, explanation.get("parts", ()), strict=True)
    ]
    row = {"method": explanation["method"], "text": explanation["text"], "reviews": reviews}
    known = {} if side.known_id is None else {"known_id": side.known_id}
    return {**known, **row, "sentences": explanation.get("sentences", []), "tokens": explanation["tokens"]}


def explain(trained: TrainedTowers, ratings: Sequence[Rating]) -> list[ExplainedPair]:
    """One explanation per pair, in order; the texts of these ratings are never read."""
    model = trained.model.eval()
    device = model.embedding.weight.device
    contexts = trained.contexts(ratings)
    rows = trained.readings(contexts)
    explained: dict[int, ExplainedPair] = {}
    for indices in in_order([joined(row) for row in rows], BATCH):
        with torch.inference_mode():
            pair = pair_to_device(collate_pairs([rows[index] for index in indices]), device)
            output = model(pair)
            terms = model.terms(*model.vectors(output.user, output.item, pair.ids))
        answers = checked_answers(trained.task.answers(output.logits.double().cpu()))[:, 0]
        for place, index in enumerate(indices.tolist()):
            rating, value = ratings[index], float(answers[place])
            sides = [
                explain_side(trained, context, weights_of(traces, place), value)
                for context, traces in zip(contexts[index][:2], (output.user, output.item), strict=True)
            ]
            known = [None if not model.form.ids else row != UNKNOWN for row in rows[index].ids]
            user, item = (
                ExplainedSide(name, is_known, *side)
                for name, is_known, side in zip((rating.user, rating.item), known, sides, strict=True)
            )
            numbers = {name: terms[name][place].item() * trained.task.scale for name in TERMS if name in terms}
            numbers["bias"] += trained.task.mean
            actual = rating.value if math.isfinite(rating.value) else None
            explained[index] = ExplainedPair(value, actual, rating.row, numbers, user, item)
    return [explained[index] for index in range(len(ratings))]


def weights_of(traces: Sequence[Trace], place: int) -> tuple[list[NDArray[np.float64]], str]:
    """The shares of the words, sentences and reviews of one pair, and the name of what they are."""
    products = [values[place].double().cpu().numpy() for values in down([trace.pooled.weights for trace in traces])]
    has_norm = any(trace.pooled.norm is not None for trace in traces)
    shares = without_padding(products, traces[0].mask[place].cpu().numpy())
    return shares, "attention_norm" if has_norm else "attention"


def explain_side(
    trained: TrainedTowers, indices: Sequence[int], weights: tuple[list[NDArray[np.float64]], str], rating: float
) -> tuple[list[Rating], Explanation]:
    """The reviews that were read, and their words, sentences and reviews with their shares."""
    (words, sentences, reviews), method = weights
    read = [trained.known.ratings[index] for index in indices if len(trained.reviews[index].ids)]
    spans: tuple[list[Span], list[Span], list[Span]] = ([], [], [])
    known: list[bool] = []
    texts = [review.text for review in read]
    start = 0
    for text in texts:
        outline = trained.tokenizer.outline(text)
        known += trained.tokenizer.known(text, outline.words)
        whole = [(outline.sentences[0][0], outline.sentences[-1][1])]
        for listed, new in zip(spans, (outline.words, outline.sentences, whole), strict=True):
            listed += [(start + first, start + last) for first, last in new]
        start += len(text) + len(GAP)
    joined_text = GAP.join(texts)
    tokens = tuple(
        TokenScore(joined_text[a:b], a, b, weight, is_known, None, "word" if is_known else "unknown")
        for (a, b), weight, is_known in zip(spans[0], words.tolist(), known, strict=True)
    )
    above = [
        tuple(SentenceScore(a, b, weight) for (a, b), weight in zip(listed, shares.tolist(), strict=True))
        for listed, shares in ((spans[1], sentences), (spans[2], reviews))
    ]
    return read, Explanation(joined_text, Prediction(rating, {}), tokens, above[0], method, parts=above[1])
