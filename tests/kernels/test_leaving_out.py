"""The closed form of leaving words out of a flat model, against the model reading what is left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.config import Config, Model
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.explain.reading import left, logits_of, read
from regard.explain.targets import explained
from regard.kernels.leaving_out import Groups, effects_of_leaving_out, single_words
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, QUERY
from regard.models.tasks import Binary, Multiclass, Regression, Task
from regard.models.trained import Trained

NAMES = ("not", "good", "bad", "very")  # ids 2 to 5
PAIRS = np.array([[2, 3], [5, 3], [3, 4], [4, 4], [0, 2], [0, 3], [3, 0], [4, 0], [0, 0], [5, 5]])
TOKENIZERS = {
    "words": Tokenizer(Vocabulary(NAMES)),
    "pairs": Tokenizer(Vocabulary(NAMES), pairs=PAIRS),
    "beginnings": Tokenizer(Vocabulary(NAMES), letters=4, beginnings=("movi", "very")),
    "units": Tokenizer(Vocabulary(NAMES), letters=4, beginnings=("movi", "very"), pairs=PAIRS),
}
TASKS: list[Task] = [Binary(("no", "yes")), Multiclass(("a", "b", "c")), Regression(mean=3.0, scale=2.0)]
WORDS = st.lists(st.sampled_from([*NAMES, "movies", "verygood", "odd", "!", ":(", "613"]), max_size=9)


def drawn(tokenizer: Tokenizer, task: Task, seed: int, spread: float) -> Trained:
    """A flat model with random weights; with a large `spread` a single unit holds almost all of the attention.

    Every other seed gives a committee.
    """
    rng = np.random.default_rng(seed)
    members = 1 + 2 * (seed % 2)
    weights = {
        EMBEDDING: rng.normal(size=(len(tokenizer), 3 * members)).astype(np.float32),
        QUERY: (rng.normal(size=3 * members) * spread).astype(np.float32),
        HEAD: rng.normal(size=(task.out_dim, 3 * members)).astype(np.float32),
        HEAD_BIAS: rng.normal(size=task.out_dim).astype(np.float32),
    }
    weights[EMBEDDING][0] = 0
    config = Config(model=Model(embedding=3, attention="dot", scale=1.0, members=members))
    return Trained(config, tokenizer, task, weights=weights)


def by_reading(trained: Trained, text: str, groups: list[list[int]], target: int) -> np.ndarray:
    """The same from the PyTorch model, which reads the text without each group."""
    (reading,) = read(trained, [text])
    kept = np.ones((len(groups), reading.words), dtype=bool)
    for row, group in enumerate(groups):
        kept[row, group] = False
    logits = logits_of(trained, [reading.indexed, *left(trained, reading, kept)])
    values = explained(trained.task, logits, np.full(len(logits), target))
    return np.asarray(values[0] - values[1:])


def by_formula(trained: Trained, text: str, groups: list[list[int]], target: int) -> np.ndarray:
    tokenizer = trained.tokenizer
    assert isinstance(tokenizer, Tokenizer)
    members = np.array([word for group in groups for word in group], dtype=np.int64)
    starts = np.cumsum([0, *map(len, groups)])
    chosen = Groups(np.array([0, len(groups)]), starts, members)
    sizes = len(tokenizer.vocabulary), tokenizer.singles
    aim = np.array([1 if isinstance(trained.task, Regression) else target])
    units = tokenizer.encode_all([text])
    effects = effects_of_leaving_out(units, trained.tables, tokenizer.pair_table, sizes, aim, chosen)
    return effects * (trained.task.scale if isinstance(trained.task, Regression) else 1.0)


@given(WORDS, st.sampled_from(sorted(TOKENIZERS)), st.sampled_from(TASKS), st.integers(0, 99), st.data())
@example(["not"], "units", TASKS[0], 0, None)
@example(["odd", "613"], "units", TASKS[1], 1, None)
@example(["good", "odd"], "pairs", TASKS[1], 1, None)
@example(["very", "very", "very"], "units", TASKS[1], 2, None)
def test_equals_reading_the_text_without_the_words(
    words: list[str], kind: str, task: Task, seed: int, data: st.DataObject | None
) -> None:
    trained = drawn(TOKENIZERS[kind], task, seed, spread=(0.5, 1.0, 6.0)[seed % 3])
    text = " ".join(words)
    (reading,) = read(trained, [text])
    groups = [[index] for index in range(reading.words)]
    if reading.words and data is not None:
        groups.append(sorted(data.draw(st.sets(st.integers(0, reading.words - 1), min_size=1))))
    target = seed % 2 if task.kind != "regression" else 0
    assert by_formula(trained, text, groups, target) == pytest.approx(
        by_reading(trained, text, groups, target), abs=2e-5
    )


def test_by_hand() -> None:
    """ "not good": units not, good, (not, good), (edge, not); without "good" only "not" and its pair with the edge."""
    tokenizer = Tokenizer(Vocabulary(NAMES[:2]), pairs=np.array([[2, 3], [0, 2]]))
    scores = np.log(
        np.array([1, 1, 1, 2, 4, 6], dtype=np.float32)
    )  # padding, unknown, not, good, (not, good), (edge, not)
    polarity = np.array([[0], [0], [-1], [3], [0.5], [0.25]], dtype=np.float32)
    units = tokenizer.encode_all(["not good"])
    groups = single_words(units.words)
    sizes = len(tokenizer.vocabulary), tokenizer.singles
    tables = scores[:, None], polarity[:, None], np.zeros(1, dtype=np.float32)
    effects = effects_of_leaving_out(units, tables, tokenizer.pair_table, sizes, np.array([1]), groups)
    whole = (-1 + 2 * 3 + 4 * 0.5 + 6 * 0.25) / 13
    assert effects == pytest.approx([whole - 3.0, whole - (-1 + 6 * 0.25) / 7])


def test_texts_do_not_influence_each_other() -> None:
    trained = drawn(TOKENIZERS["units"], TASKS[1], 3, 1.0)
    texts = ["", "not good", "odd", "very very bad movies", ""]
    units = TOKENIZERS["units"].encode_all(texts)
    sizes = len(TOKENIZERS["units"].vocabulary), TOKENIZERS["units"].singles
    groups = single_words(units.words)
    together = effects_of_leaving_out(
        units, trained.tables, TOKENIZERS["units"].pair_table, sizes, np.zeros(5, dtype=np.int64), groups
    )
    alone = [by_formula(trained, text, [[k] for k in range(len(text.split()))], 0) for text in texts]
    assert together == pytest.approx(np.concatenate(alone), abs=1e-12)
