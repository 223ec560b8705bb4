"""ONNX graphs equal PyTorch for every encoder, pooling and number of levels, on texts of any length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from onnx_packages import MISSING

from regard.config import Config
from regard.data.tokenizer import Indexed, Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.encoders import ENCODERS
from regard.export import verification
from regard.export.onnx_graph import make_graph
from regard.export.samples import sample_texts
from regard.export.verification import verify
from regard.models.build import build
from regard.models.tasks import Multiclass
from regard.models.trained import Trained
from regard.poolings import POOLINGS

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
SIZES = {"embedding": 12, "hidden": 12, "query": 8}
GRID = [
    (encoder, pooling, levels)
    for encoder in ENCODERS
    for pooling in POOLINGS
    for levels in (1, 2)
    if encoder != "bert" and not POOLINGS[pooling].reads_summary
]
FEW = {
    ("bilstm", "apln", 2),
    ("bigru", "attention", 2),
    ("cnn", "max", 1),
    ("embedding", "attention", 1),
    ("lstm", "last", 1),
}
VARIANTS: list[dict[str, Any]] = [
    {"norm": "sample"},
    {"norm": "feature"},
    {"rescale": "normalise"},
    {"rescale": "signed"},
    {"unit_length": True},
    {"reformulate": False},
    {"form": "no_root"},
    {"attention": "dot"},
    {"pooling": "bottleneck", "attention_heads": 3},
]


def made(levels: int = 1, **options: Any) -> Trained:
    """A model with random weights: large enough that logits are not all the same."""
    torch.manual_seed(5)
    config = Config().override({**SIZES, "levels": levels, **options})
    tokenizer, task = Tokenizer(Vocabulary(tuple(f"w{n}" for n in range(900))), levels), Multiclass(("a", "b", "c"))
    model = build(config.model, len(tokenizer), task.out_dim)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("weight", "query")):
                parameter.mul_(3)
    return Trained(config, tokenizer, task, model=model.eval())


def session_of(trained: Trained) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(make_graph(trained).SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(
    ("encoder", "pooling", "levels"),
    [pytest.param(*case, marks=() if case in FEW else pytest.mark.slow) for case in GRID],
)
def test_onnx_equals_pytorch(encoder: str, pooling: str, levels: int) -> None:
    names = f"attention,{pooling}" if POOLINGS[pooling].compresses and levels > 1 else pooling
    trained = made(levels, encoder=encoder, pooling=names)
    verified = verify(trained, session_of(trained))
    assert verified.texts == 200
    assert verified.longest > 100
    assert verified.logits <= 1e-5
    assert verified.weights <= 1e-5
    assert (verified.contributions is not None) == trained.is_flat


@pytest.mark.slow
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_variants_of_poolings_equal_pytorch(options: dict[str, Any]) -> None:
    trained = made(**{"encoder": "cnn", "pooling": "apln", **options})
    assert verify(trained, session_of(trained)).logits <= 1e-5


@pytest.mark.slow
def test_three_levels_equal_pytorch() -> None:
    trained = made(3, encoder="bilstm", pooling="attention")
    session = session_of(trained)
    assert [one.name for one in session.get_outputs()] == ["logits", "words", "sentences", "parts"]
    assert verify(trained, session).weights <= 1e-5


def test_made_up_texts_have_any_length() -> None:
    flat = sample_texts(900, 1)
    lengths = [len(text.ids) for text in flat]
    assert lengths[:2] == [0, 1]
    assert flat[1].ids.tolist() == [1], "an unknown word"
    assert max(lengths) > 400
    assert len({*lengths}) > 50
    assert all(text.ids.min(initial=1) >= 1 and text.ids.max(initial=1) < 900 for text in flat)
    deep = sample_texts(900, 3)
    assert all(text.shape[0].sum() == len(text.ids) and text.shape[1].sum() == len(text.shape[0]) for text in deep)


def test_numbers_that_are_not_finite_are_a_difference() -> None:
    assert verification.difference(np.array([np.nan]), np.array([1.0])) == float("inf")
    assert verification.difference(np.array([200.0]), np.array([100.0]), relative=True) == 1


def test_texts_read_together_have_little_padding() -> None:
    from regard.runtime.onnx_model import MOST_PADDING, batches, extent, size

    texts = [text for levels in (1, 2) for text in sample_texts(900, levels)]
    for levels in (1, 2):
        same = [text for text in texts if len(text.shape) == levels - 1]
        rows = [*batches(same)]
        assert sorted(row for batch in rows for row in batch) == [*range(len(same))]
        assert any(len(batch) > 1 for batch in rows)
        for batch in rows:
            positions = len(batch) * int(np.max([extent(same[row]) for row in batch], 0).prod())
            assert len(batch) == 1 or positions <= MOST_PADDING * sum(size(same[row]) for row in batch)
    assert [*batches([Indexed(np.empty(0, dtype=np.int32))])] == [[0]]


def test_contributions_of_large_logits_may_differ_in_the_last_digits() -> None:
    """They are differences of two logits, so the rounding of a logit of 40 is in them, however small they are."""
    trained = made(encoder="embedding", attention="dot")
    with torch.no_grad():
        for parameter in trained.model.head.parameters():
            parameter *= 30
    text = Indexed(np.array([5, 9, 7, 300, 5], dtype=np.int32))
    batch = verification.collate([text], 1)
    with torch.inference_mode():
        largest = float(trained.model(batch).logits.abs().max())
        left_out = [trained.model(verification.collate([Indexed(np.delete(text.ids, i))], 1)).logits for i in range(5)]
        exact = (trained.model(batch).logits - torch.cat(left_out)).double().numpy()
    assert largest > 8

    class Session:
        def __init__(self, by: float) -> None:
            self.by = by

        def run(self, names: object, inputs: object) -> list[np.ndarray]:
            return [exact[None] + self.by]

    rounding = 5e-7 * largest
    assert verification.compare_contributions(trained.model, Session(rounding), 0, text) < verification.LOGITS
    assert verification.compare_contributions(trained.model, Session(0.01), 0, text) > verification.LOGITS
