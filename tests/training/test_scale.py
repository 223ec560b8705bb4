from __future__ import annotations

import math

import pytest

from regard.config import Config
from regard.data.reviews import splits
from regard.data.synthetic import TwoClasses, data_one
from regard.errors import InputError
from regard.recorder import Silent
from regard.training.fit import Parts, Run, fit
from regard.training.scale import GRID, Trial, pick


class Notes(Silent):
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def note(self, sentence: str) -> None:
        self.sentences.append(sentence)


def test_the_most_readable_among_the_accurate_ones() -> None:
    # the standard error of 0.80 on 100 texts is 0.04
    trials = [Trial(1, 0.75, 0.99), Trial(3, 0.77, 0.90), Trial(10, 0.80, 0.80), Trial(100, 0.79, 0.40)]
    assert pick(trials, 100).scale == 3
    assert pick(trials, 10_000).scale == 10  # now 0.77 is significantly worse


def test_without_token_types_the_most_accurate_is_chosen() -> None:
    trials = [Trial(1, 0.75, math.nan), Trial(3, 0.80, math.nan), Trial(10, 0.79, math.nan)]
    assert pick(trials, 50).scale == 3


def test_auto_trains_with_the_scale_it_chooses() -> None:
    examples = data_one(400, 1, TwoClasses(10, 10, 30))
    options = {"engine": "sparse", "pairs": False, "beginnings": 0, "embedding": 8, "epochs": 3}
    notes = Notes()
    parts = Parts(examples[:300], examples[300:])
    auto = fit(Config().override({**options, "scale": "auto"}), parts, Run(notes))
    assert auto.config.model.scale in GRID
    assert any(sentence.startswith(f"λ = {auto.config.model.scale:g} chosen") for sentence in notes.sentences)
    plain = fit(Config().override({**options, "scale": auto.config.model.scale}), parts)
    assert all((auto.weights[name] == plain.weights[name]).all() for name in plain.weights)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pooling": "max"}, r"pooling: expected 'attention', got 'max', whose words have no attention score"),
        ({"levels": 2}, r"levels: expected a model with one level of attention, got 2"),
        ({"head_hidden": True}, r"head_hidden: expected a head without a hidden layer, .*, got True"),
        ({"task": "regression"}, r"task: expected a classifier, because token types need classes, got 'regression'"),
    ],
)
def test_models_without_comparable_attention_scores_are_refused(options: dict[str, object], sentence: str) -> None:
    examples = splits()
    with pytest.raises(InputError, match=sentence):
        fit(Config().override({**options, "scale": "auto"}), Parts(examples["train"][:40], examples["dev"][:20]))


def test_unknown_words_are_refused() -> None:
    with pytest.raises(InputError, match=r"scale: expected a number above 0, or auto, got 'large'"):
        Config().override({"scale": "large"})
