"""`LearnedPooling` inside real models of sentence-transformers: a small transformer with random weights."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sentence_transformers")
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # raised by one dependency about another on import
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

from regard.adapters.sentence_transformers import LearnedPooling, learned_poolings, word_weights
from regard.errors import InputError
from regard.poolings import POOLINGS
from tiny_bert import save_bert

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
TEXTS = ["the film was unbelievably good", "bad", "the food was lovely , and the service was not rude !", ""]
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("attention", {"query": 8}),
    ("attention", {"attention": "dot"}),
    ("apln", {"query": 8, "norm_init": 1.7}),
    ("apln", {"query": 8, "norm": "feature", "rescale": "clip"}),
    ("apln", {"query": 8, "norm": "sample", "unit_length": True}),
    ("norm_unit", {"norm_init": 3.0}),
]
every_kind = pytest.mark.parametrize(("pooling", "options"), KINDS, ids=lambda value: str(value))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("bert"))


def make(
    bert: Path, pooling: str = "apln", options: dict[str, Any] | None = None, **others: Any
) -> SentenceTransformer:
    torch.manual_seed(1)
    transformer = Transformer(str(bert))
    learned = LearnedPooling(transformer.get_embedding_dimension(), pooling, options, **others)
    with torch.no_grad():  # norms of all features equal would hide mistakes
        for parameter in learned.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return SentenceTransformer(modules=[transformer, learned], device="cpu")


def test_the_poolings_that_learn_are_offered() -> None:
    assert {"attention", "apln", "norm_unit"} <= set(learned_poolings())
    assert not {"average", "max", "last", "bottleneck", "summary"} & set(learned_poolings())


@every_kind
def test_the_embedding_is_that_of_the_pooling(bert: Path, pooling: str, options: dict[str, Any]) -> None:
    """One text at a time, without padding, straight through regard's module."""
    model = make(bert, pooling, options)
    for text, embedding in zip(TEXTS, model.encode(TEXTS), strict=True):
        with torch.inference_mode():
            states = model[0](model.preprocess([text]))["token_embeddings"]
            expected = model[1].pool(states, torch.ones(states.shape[:2], dtype=torch.bool)).vector[0]
        np.testing.assert_allclose(embedding, expected.numpy(), atol=2e-6, rtol=1e-5)


def test_attention_is_a_mean_with_the_returned_weights(bert: Path) -> None:
    model = make(bert, "attention", {"query": 8})
    with torch.inference_mode():
        features = model(model.preprocess(TEXTS))
    weights, mask = features["pooling_weights"], features["attention_mask"]
    assert torch.allclose(weights.sum(1), torch.ones(len(TEXTS)))
    assert (weights[mask == 0] == 0).all()
    mean = (weights.unsqueeze(-1) * features["token_embeddings"]).sum(1)
    assert torch.allclose(mean, features["sentence_embedding"], atol=1e-6)


@every_kind
def test_padding_and_batches_change_nothing(bert: Path, pooling: str, options: dict[str, Any]) -> None:
    model = make(bert, pooling, options)
    alone = np.stack([model.encode([text])[0] for text in TEXTS])
    for size in (2, 4):
        np.testing.assert_allclose(model.encode(TEXTS, batch_size=size), alone, atol=1e-5, rtol=1e-5)


@every_kind
@pytest.mark.parametrize("side", ["right", "left"])
def test_what_stands_on_padding_has_no_influence(bert: Path, pooling: str, options: dict[str, Any], side: str) -> None:
    learned = make(bert, pooling, options)[1]
    states, mask = torch.randn(1, 3, 16), torch.tensor([[1, 1, 1]])
    short = learned({"token_embeddings": states, "attention_mask": mask})
    parts = [(states, mask), (torch.full((1, 2, 16), 1e4), torch.zeros(1, 2, dtype=mask.dtype))]
    padded_states, padded_mask = zip(*(parts if side == "right" else parts[::-1]), strict=True)
    long = learned({"token_embeddings": torch.cat(padded_states, 1), "attention_mask": torch.cat(padded_mask, 1)})
    torch.testing.assert_close(long["sentence_embedding"], short["sentence_embedding"])
    kept, dropped = long["pooling_weights"].split([3, 2] if side == "right" else [2, 3], 1)[
        :: 1 if side == "right" else -1
    ]
    torch.testing.assert_close(kept, short["pooling_weights"])
    assert not dropped.any()


def test_rows_without_padding_of_flash_attention_are_separated(bert: Path) -> None:
    learned = make(bert, "apln", {"query": 8})[1]
    first, second = torch.randn(1, 4, 16), torch.randn(1, 2, 16)
    flat = {"token_embeddings": torch.cat([first, second], 1), "cu_seq_lens_q": torch.tensor([0, 4, 6])}
    together = learned(flat)["sentence_embedding"]
    for row, states in enumerate((first, second)):
        alone = learned({"token_embeddings": states})["sentence_embedding"][0]
        torch.testing.assert_close(together[row], alone)


def test_a_prompt_can_be_left_out(bert: Path) -> None:
    states, mask = torch.randn(2, 5, 16), torch.tensor([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]])
    learned = make(bert, "attention", {"query": 8}, include_prompt=False)[1]
    features = {"token_embeddings": states, "attention_mask": mask, "prompt_length": 2}
    weights = learned(dict(features))["pooling_weights"]
    assert (weights > 0).tolist() == [[False, False, True, True, True], [False, False, False, False, True]]
    # the same tokens that sentence-transformers leaves out
    theirs = Pooling(16, "mean", include_prompt=False)(dict(features))["sentence_embedding"]
    torch.testing.assert_close(theirs, torch.stack([states[0, 2:].mean(0), states[1, 4]]))
    everything = make(bert, "attention", {"query": 8})[1](dict(features))["pooling_weights"]
    assert (everything > 0).tolist() == mask.bool().tolist()


@every_kind
def test_a_saved_model_comes_back_exactly(bert: Path, tmp_path: Path, pooling: str, options: dict[str, Any]) -> None:
    model = make(bert, pooling, options)
    model.save(str(tmp_path / "saved"), safe_serialization=False)  # which would mean a pickle
    folder = tmp_path / "saved" / "1_LearnedPooling"
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]
    saved = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert saved["pooling"] == pooling
    assert saved["options"].keys() == set(POOLINGS[pooling].options), "all of them, given or not"
    loaded = SentenceTransformer(str(tmp_path / "saved"), device="cpu", trust_remote_code=True)
    assert isinstance(loaded[1], LearnedPooling)
    assert (loaded.encode(TEXTS) == model.encode(TEXTS)).all()
    assert loaded.get_embedding_dimension() == 16
    with pytest.raises(ValueError, match="trust_remote_code=True"):
        SentenceTransformer(str(tmp_path / "saved"), device="cpu")


def test_pickled_weights_are_not_loaded(bert: Path, tmp_path: Path) -> None:
    model = make(bert)
    model.save(str(tmp_path / "saved"))
    folder = tmp_path / "saved" / "1_LearnedPooling"
    torch.save(model[1].state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"expected model\.safetensors in 1_LearnedPooling"):
        SentenceTransformer(str(tmp_path / "saved"), device="cpu", trust_remote_code=True)


@every_kind
def test_all_parameters_learn(bert: Path, pooling: str, options: dict[str, Any]) -> None:
    model = make(bert, pooling, options)
    head = torch.nn.Linear(16, 2)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], 0.01)
    before = {name: value.detach().clone() for name, value in model[1].named_parameters()}
    losses = []
    for _ in range(8):
        found = head(model(model.preprocess(TEXTS[:3]))["sentence_embedding"])
        loss = torch.nn.functional.cross_entropy(found, torch.tensor([0, 1, 0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    still = [name for name, value in model[1].named_parameters() if torch.equal(value, before[name])]
    assert not still


def test_the_trainer_of_sentence_transformers_trains_it(bert: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate")
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    model = make(bert, "apln", {"query": 8})
    pairs = [("good film", "great film", 1.0), ("good film", "rude service", 0.0)] * 4
    columns = dict(zip(("sentence1", "sentence2", "score"), map(list, zip(*pairs, strict=True)), strict=True))
    norm = model[1].pool.log_norm.item()
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path / "training"),
        num_train_epochs=3,
        per_device_train_batch_size=4,
        learning_rate=0.01,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
    )
    data = datasets.Dataset.from_dict(columns)
    trainer = SentenceTransformerTrainer(model, arguments, train_dataset=data, loss=CosineSimilarityLoss(model))
    before = similarity(model)
    trainer.train()
    assert similarity(model) < before, "the pair that should be different"
    assert model[1].pool.log_norm.item() != norm
    model.save(str(tmp_path / "trained"))
    loaded = SentenceTransformer(str(tmp_path / "trained"), device="cpu", trust_remote_code=True)
    assert (loaded.encode(TEXTS) == model.encode(TEXTS)).all()


def similarity(model: SentenceTransformer) -> float:
    first, second = model.encode(["good film", "rude service"], normalize_embeddings=True)
    return float(first @ second)


def test_words_get_the_weights_of_their_tokens(bert: Path) -> None:
    model = make(bert, "attention", {"query": 8})
    text = "The film was unbelievably good"
    with torch.inference_mode():
        features = model(model.preprocess([text]))
    tokens = model.tokenizer.convert_ids_to_tokens(features["input_ids"][0])
    weights = dict(zip(tokens, features["pooling_weights"][0].tolist(), strict=True))
    assert {"un", "##believ", "##ab", "##ly"} <= set(tokens)
    (words,) = word_weights(model, [text])
    assert [word.text for word in words] == ["[CLS]", "The", "film", "was", "unbelievably", "good", "[SEP]"]
    assert sum(word.weight for word in words) == pytest.approx(1)
    assert words[2].weight == pytest.approx(weights["film"])
    assert words[4].weight == pytest.approx(sum(weights[piece] for piece in ("un", "##believ", "##ab", "##ly")))


def test_words_of_long_and_empty_texts(bert: Path) -> None:
    model = make(bert, "norm_unit")
    long, empty = word_weights(model, ["good film " * 30, ""])
    assert len(long) == model.max_seq_length
    assert sum(word.weight for word in long) == pytest.approx(1)
    assert [word.text for word in empty] == ["[CLS]", "[SEP]"]
    with pytest.raises(InputError, match="put it in a list"):
        word_weights(model, "good film")
    transformer = Transformer(str(bert))
    other = SentenceTransformer(modules=[transformer, Pooling(16)], device="cpu")
    with pytest.raises(InputError, match="expected a SentenceTransformer with a LearnedPooling"):
        word_weights(other, ["good film"])


def test_encode_returns_the_weights_of_tokens(bert: Path) -> None:
    model = make(bert, "attention")
    (features,) = model.encode(["good film"], output_value=None)
    assert float(features["pooling_weights"].sum()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((16, "mean"), "pooling: expected one of attention, apln, norm_unit, got 'mean'"),
        ((0, "attention"), "embedding_dimension: expected a whole number of at least 1, got 0"),
        (
            (16, "attention", {"norm": "scalar"}),
            "options: attention has attention, query, scale, query_range, members, got 'norm'",
        ),
        ((16, "attention", {"scale": "auto"}), "options: scale: expected a number above 0, got 'auto'"),
        ((16, "attention", {"scale": -1}), "scale: expected a number above 0"),
        ((16, "apln", {"rescale": "log"}), "rescale: expected one of clip, normalise, signed, got 'log'"),
        ((16, "norm_unit", {"norm_init": 0.5}), "norm_init: expected a finite number above 1"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        LearnedPooling(*arguments)
    assert str(caught.value).startswith(sentence)
