"""Two towers: predictions for a pair do not depend on its batch, and a side without reviews has no effect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from alike import padded, same
from regard.config import Model
from regard.data.tokenizer import Indexed, Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.errors import InputError
from regard.values import Pair
from regard_lab.towers.two_towers import PairOutput, Readings, TwoTowers, build_towers, collate_pairs, gather, joined

WORDS = 20
# numbers of words per sentence and review, of a user and of an item
PAIRS: list[tuple[list[list[int]], list[list[int]]]] = [
    ([[3, 1], [2]], [[5]]),
    ([[1, 1, 4], [2, 2], [7, 1]], [[2], [3, 3]]),
    ([], [[1], [2, 2]]),
    ([[4]], []),
    ([], []),
]


def make(encoder: str = "cnn,bilstm,embedding", pooling: str = "attention") -> TwoTowers:
    torch.manual_seed(0)
    model = build_towers(Model(encoder=encoder, pooling=pooling, levels=3, embedding=6, hidden=6, query=5), WORDS)
    with torch.no_grad():  # small initial weights would hide differences
        for parameter in model.double().eval().parameters():
            parameter.mul_(2)
        model.embedding.weight.mul_(5)
    return model


def reviews(shape: Sequence[Sequence[int]], rng: np.random.Generator) -> Indexed:
    result = []
    for lengths in shape:
        ids = rng.integers(1, WORDS, sum(lengths)).astype(np.int32)
        result.append(Indexed(ids, (np.array(lengths, dtype=np.int64),)))
    return gather(result)


def rows() -> list[Readings]:
    rng = np.random.default_rng(1)
    return [Readings(reviews(user, rng), reviews(item, rng)) for user, item in PAIRS]


def batch(indices: Sequence[int] = range(len(PAIRS))) -> Pair:
    result = rows()
    return collate_pairs([result[index] for index in indices])


def read(model: TwoTowers, pair: Pair) -> PairOutput:
    with torch.inference_mode():
        met: PairOutput = model(pair)
    return met


@pytest.mark.parametrize("pooling", ["attention", "apln", "max"])
@pytest.mark.parametrize("encoder", ["cnn,bilstm,embedding", "bilstm", "affine"])
def test_padding_other_pairs_and_order_change_nothing(encoder: str, pooling: str) -> None:
    model, pair = make(encoder, pooling), batch()
    whole = read(model, pair)
    assert whole.logits.shape == (len(PAIRS), 1)
    same(read(model, Pair(padded(pair.user), padded(pair.item))).logits, whole.logits)
    order = [3, 0, 4, 2, 1]
    same(read(model, batch(order)).logits, whole.logits[order])
    for row in range(len(PAIRS)):
        alone = read(model, batch([row]))
        same(alone.logits[0], whole.logits[row])
        for one, all_of_them in zip(alone.sides, whole.sides, strict=True):
            weights = one.word_weights[0]
            same(weights, all_of_them.word_weights[row][tuple(slice(size) for size in weights.shape)])


def test_the_weights_of_each_side_are_shares() -> None:
    met, pair = read(make(), batch()), batch()
    for side, texts in zip(met.sides, (pair.user, pair.item), strict=True):
        assert (side.word_weights[~texts.mask] == 0).all()
        same(side.word_weights.flatten(1).sum(1), texts.mask.flatten(1).any(1).double())


@pytest.mark.parametrize("pooling", ["attention", "apln"])
def test_an_unknown_side_is_a_vector_of_zeros(pooling: str) -> None:
    model = make(pooling=pooling)
    met = read(model, batch())
    assert (met.user[-1].pooled.vector[[2, 4]] == 0).all()
    assert (met.item[-1].pooled.vector[[3, 4]] == 0).all()
    same(met.logits[4], model.head.bias.detach())
    width = model.head.in_features // 3
    user = met.user[-1].pooled.vector[3]
    same(met.logits[3], user @ model.head.weight.detach()[0, :width] + model.head.bias.detach())


def test_the_head_by_hand() -> None:
    """u = (1, 2), i = (3, 5), u·i = (3, 10); weights 1, 10 | 100, 1000 | ½, 2 and bias 7: 21 + 5300 + 21.5 + 7."""
    model = build_towers(Model(levels=3, embedding=2), WORDS)
    with torch.no_grad():
        model.head.weight.copy_(torch.tensor([[1.0, 10.0, 100.0, 1000.0, 0.5, 2.0]]))
        model.head.bias.fill_(7.0)
        assert model.rate(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])).tolist() == [5349.5]


def test_towers_share_their_word_vectors_and_nothing_else() -> None:
    model = make()
    names = {name.partition(".")[0] for name, _ in model.named_parameters()}
    assert names == {"embedding", "user", "item", "head"}
    for one, other in zip(model.user.parameters(), model.item.parameters(), strict=True):
        assert one is not other
    before = read(model, batch())
    with torch.no_grad():
        for parameter in model.user.parameters():
            parameter.add_(0.1)
    after = read(model, batch())
    same(after.item[-1].pooled.vector, before.item[-1].pooled.vector)
    assert not torch.allclose(after.user[-1].pooled.vector, before.user[-1].pooled.vector)


@pytest.mark.parametrize("pooling", ["attention", "apln"])
def test_gradients_are_exact(pooling: str) -> None:
    torch.manual_seed(0)
    config = Model(encoder="affine", pooling=pooling, levels=3, embedding=3, hidden=2, query=2)
    model = build_towers(config, WORDS).double().eval()
    with torch.no_grad():
        model.embedding.weight.uniform_(0.2, 1.0)
        for parameter in (*model.user.parameters(), *model.item.parameters()):
            parameter.abs_().add_(0.1)  # away from the kink at 0 where APLN drops what is negative
    pair, names = batch([0, 2, 3]), [name for name, _ in model.named_parameters()]

    def logits(*values: Tensor) -> Tensor:
        given = dict(zip(names, values, strict=True))
        result: PairOutput = torch.func.functional_call(model, given, (pair,))
        return result.logits

    values = tuple(parameter.detach().clone().requires_grad_() for parameter in model.parameters())
    assert torch.autograd.gradcheck(logits, values)


def test_reviews_are_gathered_as_the_tokenizer_would_read_them() -> None:
    """A list of reviews is a text with blank lines between them."""
    texts = ["One cup. Two cups!", "No hat.", "Three."]
    vocabulary = Vocabulary.build([["one", "cup", ".", "two", "no", "hat", "three"]], 1)
    single, whole = Tokenizer(vocabulary, 2), Tokenizer(vocabulary, 3)
    result, expected = gather([single.encode(text) for text in texts]), whole.encode("\n\n".join(texts))
    assert result.ids.tolist() == expected.ids.tolist()
    assert [axis.tolist() for axis in result.shape] == [axis.tolist() for axis in expected.shape]


def test_reviews_without_a_word_leave_nothing() -> None:
    nothing = Indexed(np.zeros(0, dtype=np.int32), (np.zeros(0, dtype=np.int64),))
    some = Indexed(np.array([3, 4], dtype=np.int32), (np.array([2]),))
    assert [axis.tolist() for axis in gather([nothing, some, nothing]).shape] == [[2], [1]]
    assert len(gather([nothing]).ids) == len(gather([]).ids) == 0
    assert [axis.tolist() for axis in joined(Readings(gather([some]), gather([nothing]))).shape] == [[2], [1]]


def test_other_levels_than_three_and_a_hidden_layer_are_refused() -> None:
    with pytest.raises(
        InputError, match="head_hidden: expected False, because the head of two towers has no hidden layer, got True"
    ):
        build_towers(Model(levels=3, head_hidden=True), 10)
    with pytest.raises(InputError, match=r"levels: expected 3 for two towers .*, got 2"):
        build_towers(Model(levels=2), WORDS)
