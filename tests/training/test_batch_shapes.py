"""The few shapes of batches on a GPU: more padding and other groups of rows give the same results."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.config import Model
from regard.data.collate import collate, shuffled, shuffled_together
from regard.data.tokenizer import Indexed
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.training import cuda_graphs
from regard.training.batch_shapes import group_rows, padded_rows, padded_width, shape_of, with_common_shape
from regard.training.torch_engine import Texts
from regard_lab.fit_stacked import side_by_side
from regard_lab.stack import Stack


def make_texts(count: int, levels: int, longest: int = 20) -> list[Indexed]:
    """Texts of several sentences in up to three parts; the last text is empty."""
    rng = np.random.default_rng(0)
    texts = []
    for number in range(count):
        sentences = rng.integers(1, 6) if levels > 1 else 1
        lengths = rng.integers(1, longest + 1, sentences) * (number < count - 1)
        lengths = lengths[lengths > 0]
        parts = np.array([len(lengths) // 2, len(lengths) - len(lengths) // 2])
        shape = ((), (lengths,), (lengths, parts[parts > 0]))[levels - 1]
        texts.append(Indexed(rng.integers(2, 50, lengths.sum()).astype(np.int32), shape))
    return texts


def make_model(levels: int, encoder: str = "bilstm") -> Classifier:
    torch.manual_seed(3)
    return build(
        Model(embedding=8, hidden=8, query=8, levels=levels, encoder=encoder, pooling="apln"), 50, 1, 0.0
    ).double()


@pytest.mark.parametrize(
    ("longest", "expected"),
    [(1, 8), (8, 8), (9, 16), (40, 40), (64, 64), (65, 72), (129, 144), (256, 256), (257, 288), (2000, 2048)],
)
def test_widths(longest: int, expected: int) -> None:
    assert padded_width(longest) == expected


@pytest.mark.parametrize(("most", "expected"), [(1, 64), (64, 64), (65, 128), (257, 320), (513, 640), (1025, 1280)])
def test_numbers_of_rows(most: int, expected: int) -> None:
    assert padded_rows(most) == expected


def test_there_are_few_widths_with_little_padding() -> None:
    assert len({padded_width(longest) for longest in range(1, 2049)}) <= cuda_graphs.MAX_GRAPHS
    assert max(padded_width(longest) / longest for longest in range(64, 10_000)) < 1.125
    assert max(padded_rows(most) / most for most in range(256, 10_000)) < 1.25


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
def test_a_common_shape_changes_neither_logits_nor_gradients(levels: int, encoder: str) -> None:
    batch, model = collate(make_texts(9, levels), levels), make_model(levels, encoder)
    wide = with_common_shape(batch, levels)
    assert all(size % 8 == 0 for size in wide.ids.shape[1:])
    assert len(wide.groups) == levels - 1
    slopes = []
    for one in (batch, wide):
        model.zero_grad()
        logits = model(one).logits
        logits.square().sum().backward()
        slopes.append([logits.detach(), *(weight.grad for weight in model.parameters())])
    for expected, actual in zip(*slopes, strict=True):
        torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_common_shape_of_several_models_changes_no_logits(levels: int) -> None:
    indexed = make_texts(12, levels)
    models = [make_model(levels), make_model(levels, "bilstm")]
    stack = Stack(models, torch.device("cpu"))
    texts = Texts(indexed, np.zeros(len(indexed)))
    rows = shuffled_together(indexed, 6, (0, 1), 1)[0]
    batch = with_common_shape(side_by_side(texts, rows, levels), levels)
    assert shape_of(batch) == shape_of(with_common_shape(side_by_side(texts, rows[::-1], levels), levels))
    logits = stack.apply(batch, lambda output, _: output.logits)
    for model, own, actual in zip(models, rows, logits, strict=True):
        expected = model(collate([indexed[row] for row in own], levels)).logits
        torch.testing.assert_close(actual, expected)


def test_every_row_with_words_is_in_one_group() -> None:
    lengths = torch.tensor([0, 9, 3, 0, 0, 70] * 300)
    groups = group_rows(lengths)
    assert [(len(rows), width) for rows, width in groups] == [(512, 16), (512, 96)]
    together = torch.cat([rows for rows, _ in groups])
    assert sorted(together[lengths[together] > 0].tolist()) == (lengths > 0).nonzero().flatten().tolist()
    assert len(set(together.tolist())) == len(together)
    assert all(int(lengths[rows].max()) <= width for rows, width in groups)


def test_batches_of_two_levels_have_few_shapes() -> None:
    indexed = make_texts(6400, 2, 60)
    batches = [collate([indexed[row] for row in rows], 2) for rows in shuffled(indexed, 64, 0, 1)]
    shapes = {shape_of(with_common_shape(batch, 2)) for batch in batches}
    assert len({batch.ids.shape for batch in batches}) > 20
    assert len(shapes) <= 15
