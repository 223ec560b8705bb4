"""Every encoder with every pooling at one, two and three levels: padding and other texts in the batch change nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from alike import padded, same
from regard.config import Model
from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.encoders import ENCODERS
from regard.errors import InputError
from regard.models import classifier
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.poolings import POOLINGS
from regard.values import Batch, Output

WORDS, CLASSES = 20, 3
# words per sentence, per part; one level reads the words alone, two levels the sentences of all parts
TEXTS: list[list[list[int]]] = [[[3, 1], [2]], [[5]], [[1, 1, 4], [2, 2], [7, 1]], [[1]], [[2, 3, 1]], []]
EMPTY = len(TEXTS) - 1

# pretrained encoders, and poolings of their summary, are tested separately
FRESH = [name for name, kind in ENCODERS.items() if not kind.summarises]
PLAIN = [name for name, kind in POOLINGS.items() if not kind.reads_summary]
everything = pytest.mark.parametrize(("encoder", "pooling", "levels"), list(itertools.product(FRESH, PLAIN, (1, 2, 3))))


def make(encoder: str, pooling: str, levels: int, **options: object) -> Classifier:
    torch.manual_seed(0)
    config = Model(encoder=encoder, pooling=pooling, levels=levels, embedding=6, hidden=6, query=5, **options)  # type: ignore[arg-type]
    model = build(config, WORDS, CLASSES).double().eval()
    with torch.no_grad():  # small initial weights would hide differences
        for parameter in model.parameters():
            parameter.mul_(2)
        model.embedding.weight.mul_(5)
    return model


def indexed(levels: int) -> list[Indexed]:
    rng, texts = np.random.default_rng(1), []
    for parts in TEXTS:
        lengths = np.array([words for part in parts for words in part], dtype=np.int64)
        counts = np.array([len(part) for part in parts], dtype=np.int64)
        ids = rng.integers(1, WORDS, int(lengths.sum())).astype(np.int32)
        texts.append(Indexed(ids, ((), (lengths,), (lengths, counts))[levels - 1]))
    return texts


def together(levels: int, rows: Sequence[int] = range(len(TEXTS))) -> Batch:
    texts = indexed(levels)
    return collate([texts[row] for row in rows], levels)


def cropped(weights: Tensor, shape: Sequence[int]) -> Tensor:
    return weights[tuple(slice(size) for size in shape)]


def read(model: Classifier, batch: Batch) -> Output:
    with torch.inference_mode():
        output: Output = model(batch)
    return output


@everything
def test_padding_other_texts_and_order_change_nothing(encoder: str, pooling: str, levels: int) -> None:
    model, batch = make(encoder, pooling, levels), together(levels)
    whole = read(model, batch)
    wide = read(model, padded(batch))
    same(wide.logits, whole.logits)
    same(cropped(wide.word_weights, whole.word_weights.shape), whole.word_weights)
    same(wide.word_weights.sum(), whole.word_weights.sum())
    order = [3, 0, 5, 2, 4, 1]
    turned = read(model, together(levels, order))
    same(turned.logits, whole.logits[order])
    same(turned.word_weights, whole.word_weights[order])
    for row in range(len(TEXTS)):
        alone = read(model, together(levels, [row]))
        same(alone.logits[0], whole.logits[row])
        same(alone.word_weights[0], cropped(whole.word_weights[row], alone.word_weights.shape[1:]))


@everything
def test_the_weights_of_a_text_sum_to_one(encoder: str, pooling: str, levels: int) -> None:
    model, batch = make(encoder, pooling, levels), together(levels)
    weights = read(model, batch).word_weights
    assert weights.shape == batch.ids.shape
    assert (weights >= 0).all()
    assert (weights[~batch.mask] == 0).all()
    some = batch.mask.flatten(1).any(1)
    assert some.tolist() == [True] * EMPTY + [False]
    same(weights.flatten(1).sum(1), some.double())


@everything
def test_the_logits_of_a_text_without_words_are_the_bias(encoder: str, pooling: str, levels: int) -> None:
    model = make(encoder, pooling, levels)
    for batch in (together(levels, [EMPTY]), together(levels, [EMPTY, EMPTY]), padded(together(levels, [EMPTY]))):
        output = read(model, batch)
        same(output.logits, model.head(torch.zeros(1, 6, dtype=torch.float64)).expand_as(output.logits))
        assert (output.word_weights == 0).all()


def gradients(model: Classifier, batch: Batch) -> Iterator[Tensor]:
    model.zero_grad()
    output = model(batch)
    (output.logits.square().sum() + output.word_weights.square().sum()).backward()
    for parameter in model.parameters():
        yield torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("pooling", PLAIN)
@pytest.mark.parametrize("group", [1, 2, 1000])
def test_reading_in_groups_of_similar_length_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, pooling: str, levels: int, group: int
) -> None:
    model, batch = make("bilstm", pooling, levels), together(levels)
    plain, slopes = read(model, batch), list(gradients(model, batch))
    monkeypatch.setattr(classifier, "GROUP", {"cpu": group})
    grouped = read(model, batch)
    same(grouped.logits, plain.logits)
    same(grouped.word_weights, plain.word_weights)
    for actual, expected in zip(gradients(model, batch), slopes, strict=True):
        same(actual, expected)


@pytest.mark.parametrize("levels", [2, 3])
def test_padding_of_whole_sentences_is_not_embedded(levels: int) -> None:
    """One text has many sentences, the others one each: nearly all of the batch is padding."""
    lengths = [np.array([3] * 40), *[np.array([3])] * 9]
    texts = [
        Indexed(np.full(each.sum(), 2, dtype=np.int32), ((each,), (each, np.array([len(each)])))[levels - 2])
        for each in lengths
    ]
    model, batch, read_words = make("bilstm", "attention", levels), collate(texts, levels), []
    model.embedding.register_forward_hook(lambda _, inputs, __: read_words.append(inputs[0].numel()))
    output = read(model, batch)
    assert read_words == [49 * 3]
    assert batch.ids.numel() == 10 * 40 * 3
    assert output.traces[0].states.shape[:-1] == batch.ids.shape
    alone = read(model, collate(texts[:1], levels))
    same(output.logits[0], alone.logits[0])
    same(output.traces[0].states[0], alone.traces[0].states[0])


def test_groups_are_sorted_by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "GROUP", {"cpu": 2})
    groups = classifier.group_by_length(torch.tensor([3, 0, 1, 2, 0, 3]))
    assert [(rows.tolist(), width) for rows, width in groups] == [([2, 3], 2), ([0, 5], 3)]
    (only,) = classifier.group_by_length(torch.tensor([0, 0, 0]))
    assert (only[0].tolist(), only[1]) == ([2], 1)


def test_two_levels_by_hand() -> None:
    """Averages of averages: (1 + 3) / 2 and 5 give 3.5, and the weights of the words are 1/4, 1/4 and 1/2."""
    model = make("embedding", "average", 2)
    with torch.no_grad():
        model.embedding.weight.copy_(torch.arange(WORDS).unsqueeze(1).expand(-1, 6))
    batch = Batch(torch.tensor([[[1, 3], [5, 0]]]), torch.tensor([[[True, True], [True, False]]]))
    output = read(model, batch)
    same(output.traces[-1].pooled.vector, torch.full((1, 6), 3.5, dtype=torch.float64))
    same(output.word_weights, torch.tensor([[[0.25, 0.25], [0.5, 0.0]]], dtype=torch.float64))


def test_the_vtw_penalty_by_hand() -> None:
    """W = [[1, 2], [3, 4]], V = [1, −2]: W V = [−3, −5], and the squares sum to 34."""
    config = Model(pooling="attention", attention="dot", embedding=2)
    model = build(config, WORDS, 2)
    with torch.no_grad():
        model.head.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        model.levels[0].pooling.scorer.query.copy_(torch.tensor([1.0, -2.0]))
    assert model(together(1)).terms["vtw"].item() == 34


def test_the_mapped_penalty_by_hand() -> None:
    """W = [[1, 0], [0, 1]], V = [1, 2], M = [[1, 1], [0, 3]]: MᵀV = [1, 7], MᵀW has the rows [1, 1] and [0, 3] by output,
    their products are 8 and 21, and the squares sum to 505."""
    model = build(Model(encoder="affine", attention="dot", embedding=2, hidden=2), WORDS, 2)
    with torch.no_grad():
        model.head.weight.copy_(torch.eye(2))
        model.levels[0].pooling.scorer.query.copy_(torch.tensor([1.0, 2.0]))
        model.levels[0].encoder.map.weight.copy_(torch.tensor([[1.0, 1.0], [0.0, 3.0]]))
    assert model(together(1)).terms["vtw_mapped"].item() == 505


@pytest.mark.parametrize(("encoder", "levels"), [("embedding", 1), ("cnn", 1), ("affine", 2)])
def test_the_mapped_penalty_needs_a_single_affine_layer(encoder: str, levels: int) -> None:
    model = make(encoder, "attention", levels, attention="dot")
    assert set(read(model, together(levels)).terms) == {"vtw"}


@pytest.mark.parametrize(("pooling", "attention"), [("attention", "additive"), ("apln", "dot"), ("max", "dot")])
def test_the_penalty_needs_a_plain_dot_product(pooling: str, attention: str) -> None:
    assert read(make("affine", pooling, 1, attention=attention), together(1)).terms == {}


def test_the_penalty_is_that_of_the_top_level() -> None:
    model = make("embedding", "attention", 2, attention="dot")
    top = model.levels[1].pooling.scorer.query
    expected = (model.head.weight @ top).square().sum()
    same(read(model, together(2)).terms["vtw"], expected.detach())


def test_embeddings_can_be_passed_in() -> None:
    model, batch = make("cnn", "attention", 2), together(2)
    with torch.inference_mode():
        same(model(batch, embedded=model.embedding(batch.ids)).logits, model(batch).logits)


def test_names_per_level() -> None:
    model = build(Model(encoder="cnn,bilstm", pooling="max,apln", levels=2, hidden=6), WORDS, 2)
    assert [type(level.encoder).__name__ for level in model.levels] == ["CNN", "BiLSTM"]  # type: ignore[union-attr]
    assert [type(level.pooling).__name__ for level in model.levels] == ["Maximum", "APLN"]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="one name, or one for each of the 3 levels"):
        build(Model(encoder="cnn,bilstm", levels=3), WORDS, 2)


def test_embeddings_start_from_vectors() -> None:
    vectors = torch.full((4, 3), torch.nan)
    vectors[2] = torch.tensor([1.0, 2.0, 3.0])
    vectors[0] = 9.0
    model = build(Model(freeze_embeddings=True), 4, 2, vectors=vectors)
    assert model.embedding.weight[2].tolist() == [1, 2, 3]
    assert model.embedding.weight[0].tolist() == [0, 0, 0], "padding is zero"
    assert (model.embedding.weight[[1, 3]].abs() <= 0.1).all()
    assert not model.embedding.weight.requires_grad


def test_attention_with_a_hidden_layer_equals_the_learner_of_a_bottleneck() -> None:
    """The fair baseline for a bottleneck: with the same weights, it gives the same logits."""
    learner, plain = make("lstm", "bottleneck", 1), make("lstm", "attention", 1, head_hidden=True)
    names = plain.state_dict().keys()
    plain.load_state_dict({name: weight for name, weight in learner.state_dict().items() if name in names})
    batch = together(1)
    assert torch.equal(plain(batch).logits, learner(batch).logits)
    assert {name for name in names if name.startswith("head.")} == {
        f"head.{layer}.{part}" for layer in ("hidden", "out") for part in ("weight", "bias")
    }
