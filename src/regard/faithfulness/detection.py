"""The top K words against words that people marked: precision, recall and F.

From Attending via both Fine-tuning and Compressing (Findings of ACL 2021), §5.3 and Table 5:

    precision = hits / K        recall = hits / marked        F = 2 hits / (K + marked)

One value per text, so that means are over texts (**choice**). For a text with fewer than K words all of them are taken, and
K is their number. Texts without a marked word are left out and counted. All three are linear in the hits, so their
expectation for K random words is exact: K · marked / words hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.faithfulness.curves import Curve
from regard.faithfulness.marking import marked
from regard.faithfulness.ranking import Cut, Cuts, counts, cut_offs, ranking
from regard.faithfulness.scored import Doubles, Ints, Scored
from regard.records import Span


class Rates(NamedTuple):
    precision: Curve
    recall: Curve
    f: Curve

    def of(self, texts: Sequence[bool]) -> Rates:
        """The rates of some of the texts, such as those of one class."""
        return Rates(*(curve.of(np.asarray(texts, dtype=bool)) for curve in self))


class Detection(NamedTuple):
    found: Rates  # of the top words
    random: Rates  # expectation for random words, exact
    left_out: int  # texts without a marked word


def detection(scored: Sequence[Scored], evidence: Sequence[Sequence[Span]], cuts: Cuts = (1, 5)) -> Detection:
    """Precision, recall and F at each cut-off. The caller selects the evidence: in the paper, spans of the text's class."""
    cuts = cut_offs(cuts)
    gold = marked(scored, evidence)
    lengths = np.array([len(one.spans) for one in scored], dtype=np.int64)
    marks = np.array([words.sum() for words in gold], dtype=np.int64)
    taken = counts(lengths.tolist(), cuts)  # (texts, cuts)
    hits = np.zeros(taken.shape)
    for row, (one, words) in enumerate(zip(scored, gold, strict=True)):
        among = np.concatenate([[0], np.cumsum(words[ranking(one.scores)])])  # marked words among the top 0, 1, 2, …
        hits[row] = among[taken[row]]
    expected = taken * (marks / np.maximum(lengths, 1))[:, None]
    return Detection(rates(hits, taken, marks, cuts), rates(expected, taken, marks, cuts), int((marks == 0).sum()))


def rates(hits: Doubles, taken: Ints, marks: Ints, cuts: tuple[Cut, ...]) -> Rates:
    """NaN for texts without a marked word; the precision of no words is 0."""
    gold = np.where(marks > 0, marks, np.nan)[:, None]
    precision = np.where(np.isnan(gold), np.nan, hits / np.maximum(taken, 1))
    values = {"precision": precision, "recall": hits / gold, "F": 2 * hits / (taken + gold)}
    return Rates(*(Curve(name, "", cuts, rate) for name, rate in values.items()))
