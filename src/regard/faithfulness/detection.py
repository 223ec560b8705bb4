"""The top K words against words that people marked: precision, recall and F.

From Attending via both Fine-tuning and Compressing (Findings of ACL 2021), §5.3 and Table 5:

    precision = hits / K        recall = hits / marked        F = 2 hits / (K + marked)

A value a text, so that means are over texts (**choice**). A text of fewer than K words gives all of them, and
K is their number. Texts without a marked word are left out and counted. All three are linear in the hits, so that what K
words by chance get is known exactly: K · marked / words hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.faithfulness.curves import Curve
from regard.faithfulness.marking import marked
from regard.faithfulness.ranking import Cut, Cuts, counts, cut_offs, ranking
from regard.faithfulness.scored import Doubles, Numbers, Scored
from regard.records import Span


class Rates(NamedTuple):
    precision: Curve
    recall: Curve
    f: Curve

    def of(self, texts: Sequence[bool]) -> Rates:
        """Of some of the texts, such as those of one class."""
        return Rates(*(curve.of(np.asarray(texts, dtype=bool)) for curve in self))


class Detection(NamedTuple):
    found: Rates
    random: Rates  # what words by chance get on average, exactly
    left_out: int  # texts without a marked word


def detection(scored: Sequence[Scored], evidence: Sequence[Sequence[Span]], cuts: Cuts = (1, 5)) -> Detection:
    """At each cut-off. Which spans are evidence is for the caller to say: the paper's are of the text's own polarity."""
    cuts = cut_offs(cuts)
    gold = marked(scored, evidence)
    lengths = np.array([len(one.spans) for one in scored], dtype=np.int64)
    marks = np.array([own.sum() for own in gold], dtype=np.int64)
    taken = counts(lengths.tolist(), cuts)  # (texts, cuts)
    hits = np.zeros(taken.shape)
    for row, (one, own) in enumerate(zip(scored, gold, strict=True)):
        among = np.concatenate([[0], np.cumsum(own[ranking(one.scores)])])  # marked words among the top 0, 1, 2, …
        hits[row] = among[taken[row]]
    chance = taken * (marks / np.maximum(lengths, 1))[:, None]
    return Detection(rates(hits, taken, marks, cuts), rates(chance, taken, marks, cuts), int((marks == 0).sum()))


def rates(hits: Doubles, taken: Numbers, marks: Numbers, cuts: tuple[Cut, ...]) -> Rates:
    """NaN of texts without a marked word; of no words taken, none is right."""
    gold = np.where(marks > 0, marks, np.nan)[:, None]
    precision = np.where(np.isnan(gold), np.nan, hits / np.maximum(taken, 1))
    values = {"precision": precision, "recall": hits / gold, "F": 2 * hits / (taken + gold)}
    return Rates(*(Curve(name, "", cuts, each) for name, each in values.items()))
