from __future__ import annotations

import math

import pytest

from regard.config import Config
from regard.data.reviews import splits
from regard.data.synthetic import TwoClasses, data_one
from regard.errors import InputError
from regard.recorder import Silent
from regard.training.fit import Parts, fit
from regard.training.scale import GRID, Trial, pick


class Notes(Silent):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, sentence: str) -> None:
        self.said.append(sentence)


def test_the_most_readable_of_those_that_are_as_good() -> None:
    # of 100 texts at 0.80 the standard error is 0.04
    tried = [Trial(1, 0.75, 0.99), Trial(3, 0.77, 0.90), Trial(10, 0.80, 0.80), Trial(100, 0.79, 0.40)]
    assert pick(tried, 100).scale == 3
    assert pick(tried, 10_000).scale == 10  # now 0.77 is worse for certain


def test_without_token_types_the_most_accurate() -> None:
    tried = [Trial(1, 0.75, math.nan), Trial(3, 0.80, math.nan), Trial(10, 0.79, math.nan)]
    assert pick(tried, 50).scale == 3


def test_auto_trains_as_the_number_it_chooses() -> None:
    examples = data_one(400, 1, TwoClasses(10, 10, 30))
    options = {"engine": "sparse", "pairs": False, "beginnings": 0, "embedding": 8, "epochs": 3}
    from regard.training.fit import Run

    notes = Notes()
    parts = Parts(examples[:300], examples[300:])
    auto = fit(Config().override({**options, "scale": "auto"}), parts, Run(notes))
    assert auto.config.model.scale in GRID
    assert any(sentence.startswith(f"λ = {auto.config.model.scale:g} chosen") for sentence in notes.said)
    plain = fit(Config().override({**options, "scale": auto.config.model.scale}), parts)
    assert all((auto.weights[name] == plain.weights[name]).all() for name in plain.weights)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pooling": "max"}, r"pooling = 'max': its words have no attention score"),
        ({"levels": 2}, r"levels = 2: a model with one level"),
        ({"head_hidden": True}, r"head_hidden = True: words have no polarity score"),
        ({"task": "regression"}, r"task = 'regression': token types need classes"),
    ],
)
def test_what_has_no_readable_attention_is_refused(options: dict[str, object], sentence: str) -> None:
    made = splits()
    with pytest.raises(InputError, match=sentence):
        fit(Config().override({**options, "scale": "auto"}), Parts(made["train"][:40], made["dev"][:20]))


def test_other_words_than_auto_are_refused() -> None:
    with pytest.raises(InputError, match=r"scale: expected a number above 0, or auto, got 'large'"):
        Config().override({"scale": "large"})
