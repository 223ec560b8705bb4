from __future__ import annotations

import numpy as np
import pytest

from regard.analysis.token_names import token_names
from regard.analysis.token_scores import global_scores, lead, local_scores, token_scores
from regard.config import Config
from regard.data.reviews import splits
from regard.data.unit_texts import UnitTexts
from regard.explain.explain import explain
from regard.models.trained import Trained
from regard.training.fit import Parts, fit

OPTIONS = {"embedding": 8, "hidden": 8, "query": 8, "epochs": 2, "patience": 0}
FLAT = {"engine": "sparse", "pairs": False, "beginnings": 0, "min_count": 1}


def trained(**options: object) -> Trained:
    reviews = splits()
    return fit(
        Config().override({"members": 1, **OPTIONS, **options}), Parts(reviews["train"][:60], reviews["dev"][:20])
    )


@pytest.mark.parametrize("encoder", ["embedding", "affine"])
@pytest.mark.parametrize("attention", ["dot", "additive"])
def test_scores_of_a_flat_model_add_up_to_its_prediction(encoder: str, attention: str) -> None:
    run = trained(encoder=encoder, attention=attention, **FLAT)
    texts = [example.text for example in splits()["test"][:5]]
    scores = token_scores(run, UnitTexts.of(run.tokenizer, texts, np.zeros(5)))
    bias = run.weights["head.bias"]
    for text in texts:
        ids = run.tokenizer.encode(text).ids
        alpha = np.exp(scores.attention[ids])
        logits = (alpha / alpha.sum()) @ scores.polarity[ids] + bias
        assert run.task.answers(logits[None]) == pytest.approx(run.answers([text]), abs=1e-5)


def test_mean_weights_are_the_means_of_what_explain_shows() -> None:
    run = trained(**FLAT)
    texts = [example.text for example in splits()["test"][:20]]
    scores = token_scores(run, UnitTexts.of(run.tokenizer, texts, np.zeros(20)))
    seen: dict[str, list[float]] = {}
    for one in explain(run, texts):
        for token in one.tokens:
            seen.setdefault(token.text.lower() if token.known else "[unknown]", []).append(token.weight)
    names = token_names(run.tokenizer)
    for unit, name in enumerate(names):
        if name in seen:
            assert scores.weight[unit] == pytest.approx(np.mean(seen[name]), abs=1e-6)
        else:
            assert np.isnan(scores.weight[unit])


def test_local_scores_are_means_over_contexts_whatever_the_batch() -> None:
    run = trained(encoder="bilstm", attention="dot", engine="torch")
    texts = [run.tokenizer.encode(example.text) for example in splits()["test"][:9]]
    together = local_scores(run, texts)
    apart = [local_scores(run, [text]) for text in texts]
    unit = int(texts[0].ids[0])
    counts = [int((text.ids == unit).sum()) for text in texts]
    mean = sum(n * one.attention[unit] for n, one in zip(counts, apart, strict=True) if n) / sum(counts)
    assert together.attention[unit] == pytest.approx(mean, abs=1e-5)
    expected = sum(n * one.polarity[unit] for n, one in zip(counts, apart, strict=True) if n) / sum(counts)
    assert together.polarity[unit] == pytest.approx(expected, abs=1e-5)
    assert np.isnan(together.attention[0])


def test_global_scores_feed_each_token_alone() -> None:
    run = trained(encoder="cnn", attention="dot", engine="torch")
    scores = global_scores(run)
    word = run.tokenizer.vocabulary.words[3]
    logits = scores.polarity[5] + run.weights["head.bias"]
    assert run.task.answers(logits[None]) == pytest.approx(run.answers([word]), abs=1e-5)
    assert scores.weight[5] == pytest.approx(1)


def test_local_and_global_scores_agree_without_context() -> None:
    run = trained(**FLAT)
    texts = [example.text for example in splits()["test"][:20]]
    table = token_scores(run, UnitTexts.of(run.tokenizer, texts, np.zeros(20)))
    local = local_scores(run, [run.tokenizer.encode(text) for text in texts])
    seen = ~np.isnan(local.attention)
    assert local.attention[seen] == pytest.approx(table.attention[seen], abs=1e-5)
    assert local.weight[seen] == pytest.approx(table.weight[seen], abs=1e-5)


def test_the_lead_of_the_strongest_class() -> None:
    assert lead(np.array([[1.5], [-2.0]])).tolist() == [1.5, -2.0]
    assert lead(np.array([[3.0, 1.0, -1.0]])).tolist() == [3.0]


def test_names_of_pairs_beginnings_and_edges() -> None:
    run = trained(engine="sparse", pairs=True, beginnings=3, min_count=1)
    names = token_names(run.tokenizer)
    assert len(names) == len(run.tokenizer)
    assert any(name.startswith("| ") for name in names)
    assert any(name.endswith("…") for name in names)
