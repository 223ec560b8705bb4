"""Models for each verdict: flat models with weights set by hand, and texts in which one word decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from regard.config import Config
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import SPECIALS, Vocabulary
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, QUERY
from regard.models.tasks import Binary, Multiclass, Task
from regard.models.trained import Trained
from regard.records import Example

FILLERS = tuple(f"o{number}" for number in range(20))
GOOD, BAD = tuple(f"p{number}" for number in range(6)), tuple(f"n{number}" for number in range(6))
LOUD = ("loud",)  # a neutral word that is in every text


def model_by_hand(scores: Mapping[str, float], polarity: Mapping[str, Sequence[float]], outputs: int = 1) -> Trained:
    """Dot attention with λ = 1: a word's vector is its attention score and its logit for each output."""
    words = tuple(dict.fromkeys((*scores, *polarity)))
    tokenizer = Tokenizer(Vocabulary(words))
    table = np.zeros((len(tokenizer), 1 + outputs), dtype=np.float32)
    for row, word in enumerate(words, SPECIALS):
        table[row] = (scores.get(word, 0.0), *polarity.get(word, (0.0,) * outputs))
    head = np.concatenate([np.zeros((outputs, 1)), np.eye(outputs)], axis=1).astype(np.float32)
    weights = {
        EMBEDDING: table,
        QUERY: np.eye(1 + outputs, dtype=np.float32)[0],
        HEAD: head,
        HEAD_BIAS: np.zeros(outputs, dtype=np.float32),
    }
    classes = ("negative", "positive") if outputs == 1 else tuple(map(str, range(outputs)))
    task: Task = Binary(classes) if outputs == 1 else Multiclass(classes)
    options = {"embedding": 1 + outputs, "attention": "dot", "scale": 1.0, "engine": "sparse", "task": task.kind}
    sizes = {"epochs": 3, "batch_size": 8, "patience": 0, "min_count": 1, "pairs": False, "beginnings": 0}
    return Trained(Config().override({**options, **sizes}), tokenizer, task, weights=weights)


def one_decides(texts: int, seed: int = 0, loud: bool = False) -> list[Example]:
    """Texts of eight words, one of which decides; if `loud`, another one is always the same."""
    rng = np.random.default_rng(seed)
    examples = []
    for number in range(texts):
        side, label = ((BAD, "negative"), (GOOD, "positive"))[number % 2]
        words = [str(rng.choice(side)), *(LOUD if loud else ())]
        words += [str(word) for word in rng.choice(FILLERS, 8 - len(words), replace=False)]
        rng.shuffle(words)
        text = " ".join(words)
        start = next(at for at in range(len(text)) if text[at] in "pn" and (at == 0 or text[at - 1] == " "))
        examples.append(Example(text, label, number + 1, ((start, start + 2),)))
    return examples


def polarity(size: float) -> dict[str, tuple[float]]:
    return {**dict.fromkeys(GOOD, (size,)), **dict.fromkeys(BAD, (-size,)), **dict.fromkeys((*FILLERS, *LOUD), (0.0,))}


def the_cause() -> Trained:
    """Attention is on the word that decides."""
    return model_by_hand(dict.fromkeys((*GOOD, *BAD), 3.0), polarity(3.0))


def hardly_varies() -> Trained:
    """As with a very large λ: scores hardly differ, so that weights are nearly uniform."""
    return model_by_hand(dict.fromkeys((*GOOD, *BAD), 1e-3), polarity(20.0))


def points_elsewhere() -> Trained:
    """Half of the attention is on a neutral word; the answer comes from the others."""
    return model_by_hand({**dict.fromkeys((*GOOD, *BAD), -0.5), "loud": 2.0}, polarity(20.0))
