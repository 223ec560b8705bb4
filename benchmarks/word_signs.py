"""Words coloured as evidence for or against an answer, compared with what leaving them out does: `explanations.py signs`.

The reference reads every text again without each of its words, with the PyTorch form of the model in double precision: it
shares no arithmetic with the closed form that explanations use, and it has no rounding that could turn a sign. The same in
single precision shows how exact ordinary predictions are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from explained_models import sample, trained_model
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed
from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.flat_texts import leave_out
from regard.explain.leave_one_out import leave_one_out
from regard.explain.reading import read
from regard.explain.targets import PREDICTED, settled
from regard.faithfulness.ranking import ranking
from regard.kernels.leaving_out import single_words
from regard.models.trained import Trained, logits
from regard.wilson import wilson_interval

TOLERANCE = 1e-4  # of log-odds: a smaller effect has no sign
TOP = 10  # words with the strongest colours
MOST_WORDS = 500  # of a text that is read once without each of its words
BLOCK = 50  # texts
REPEATS = 5

Doubles = NDArray[np.float64]


def top_is_against(scores: Doubles, effects: Doubles) -> float:
    """1 if the word with the largest score speaks against the answer, else 0; NaN if no word is shown as evidence for it, or
    if its effect is unknown (NaN)."""
    top = int(scores.argmax())
    return float(effects[top] < -TOLERANCE) if scores[top] > 0 and not np.isnan(effects[top]) else np.nan


class Coloured(NamedTuple):
    words: int  # that have a colour and an effect with a sign
    wrong: int  # whose colour is that of the other side

    @property
    def share(self) -> float:
        return self.wrong / self.words if self.words else np.nan


def coloured(scores: Doubles, effects: Doubles, top: int | None = None) -> Coloured:
    """All words, or those with the largest scores of either sign."""
    chosen = ranking(np.abs(scores))[:top]
    has_sign = (scores[chosen] != 0) & (np.abs(effects[chosen]) > TOLERANCE)
    is_wrong = has_sign & (np.sign(scores[chosen]) != np.sign(effects[chosen]))
    return Coloured(int(has_sign.sum()), int(is_wrong.sum()))


def proportion(wrong: int, total: int) -> dict[str, Any]:
    """A share with Wilson's 95 % interval."""
    if not total:
        return {"wrong": wrong, "of": total}
    share = wrong / total
    return {"wrong": wrong, "of": total, "share": share, "interval": list(wilson_interval(share, total))}


def compare(scores: Sequence[Doubles], effects: Sequence[Doubles]) -> dict[str, Any]:
    pairs = list(zip(scores, effects, strict=True))
    tops = np.array([top_is_against(*pair) for pair in pairs])
    every, strongest = [coloured(*pair) for pair in pairs], [coloured(*pair, TOP) for pair in pairs]
    return {
        "top_against": proportion(int(np.nansum(tops)), int((~np.isnan(tops)).sum())),
        "wrong_top_ten": proportion(sum(one.wrong for one in strongest), sum(one.words for one in strongest)),
        "wrong_all": proportion(sum(one.wrong for one in every), sum(one.words for one in every)),
    }


class PyTorchForm:
    """The same model, whose logits come from its layers instead of its tables."""

    def __init__(self, trained: Trained):
        self.trained, self.task, self.tokenizer = trained, trained.task, trained.tokenizer

    def logits(self, texts: Sequence[Indexed]) -> Doubles:
        return logits(self.trained.model, self.task, texts)


def left_out(trained: Trained, texts: Sequence[str]) -> list[Doubles]:
    """The effect of each word, from predictions of the text without it."""
    effects: list[Doubles] = []
    model: Any = PyTorchForm(trained)
    for start in range(0, len(texts), BLOCK):
        readings = read(model, texts[start : start + BLOCK])
        effects += [one.scores for one in leave_one_out(model, readings, np.full(len(readings), PREDICTED))]
    return effects


def largest_difference(ones: Sequence[Doubles], others: Sequence[Doubles]) -> float:
    return max(float(np.abs(one - other).max()) for one, other in zip(ones, others, strict=True))


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def cost(work: Callable[[], object], predict: Callable[[], object], repeats: int = REPEATS) -> float:
    """CPU time as a multiple of that of predictions: the median of alternating runs, after one to warm up."""
    work(), predict()
    return float(np.median([cpu_seconds(work) / cpu_seconds(predict) for _ in range(repeats)]))


def arrays_only(trained: Trained, texts: Sequence[str]) -> None:
    """Answers and contributions, without the records that hold them text by text."""
    for units, outputs, _ in trained.attended(texts, weighed=False):
        targets = settled(trained.task, outputs.astype(np.float64), np.full(len(outputs), PREDICTED))
        leave_out(trained, units, targets, single_words(units.words))


def measure_signs(corpus: str, texts: int = 2000) -> dict[str, Any]:
    trained = trained_model("fast engine", corpus)
    chosen = [one.text for one in sample(corpus, "test", texts, MOST_WORDS)]
    weights, contributions = (
        [one.scores for one in attribute(trained, chosen, method)] for method in ("attention", "leave_one_out")
    )
    works = {
        "closed_form": lambda: arrays_only(trained, chosen),
        "attribute": lambda: attribute(trained, chosen, "leave_one_out"),
        "explain": lambda: list(explain(trained, chosen)),
    }
    costs = {name: cost(work, lambda: trained.answers(chosen)) for name, work in works.items()}
    single = left_out(trained, chosen)
    trained.model.double()
    effects = left_out(trained, chosen)
    return {
        "texts": len(chosen),
        "words": sum(map(len, effects)),
        "most_words": MOST_WORDS,
        "weight": compare(weights, effects),
        "contribution": compare(contributions, effects),
        "largest_difference": largest_difference(contributions, effects),
        "largest_difference_single_precision": largest_difference(contributions, single),
        "rounding_of_single_precision": largest_difference(single, effects),
        "cost": costs,
    }
