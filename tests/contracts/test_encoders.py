"""The contract of every encoder in ENCODERS: a new encoder is tested by being listed."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest
import torch
from torch import nn

from regard.config import Model
from regard.encoders import ENCODERS, Encoder
from regard.errors import InputError
from tiny_bert import save_bert

E, D = 5, 12
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]).bool()
VARIANTS: dict[str, tuple[str, Model]] = {
    **{name: (name, Model(hidden=D)) for name in ENCODERS},
    "cnn of Kim": ("cnn", Model(hidden=D, windows=(3, 4, 5))),
    "cnn of one word": ("cnn", Model(hidden=D, windows=(1,))),
    "cnn wider than the text": ("cnn", Model(hidden=D, windows=(9,))),
    "bert in windows": ("bert", Model(window=2)),
}
PRETRAINED: list[str] = []


@pytest.fixture(scope="module", autouse=True)
def _pretrained(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A tiny model for encoders that start from a pretrained one, as wide as the vectors here."""
    if importlib.util.find_spec("transformers"):
        folder = save_bert(tmp_path_factory.mktemp("bert"), hidden_size=E, num_attention_heads=1)
        PRETRAINED.append(str(folder))


def make(variant: str) -> Encoder:
    torch.manual_seed(0)
    name, config = VARIANTS[variant]
    if ENCODERS[name].summarises:
        if not PRETRAINED:
            pytest.skip("the extra regard[bert] is not installed")
        config = replace(config, pretrained=PRETRAINED[-1])
    return ENCODERS[name].configured(E, config).double().eval()


def make_embedded() -> torch.Tensor:
    return torch.randn(4, 5, E, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("variant", VARIANTS)
def test_states_have_the_declared_width_and_are_zero_on_padding(variant: str) -> None:
    encoder = make(variant)
    states = encoder(make_embedded(), MASK).states
    assert states.shape == (4, 5, encoder.dim)
    assert (states[~MASK] == 0).all()
    assert states[MASK].abs().sum() > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_other_rows_and_their_order_change_nothing(variant: str) -> None:
    encoder, embedded = make(variant), make_embedded()
    whole = encoder(embedded, MASK).states
    noise = torch.full((4, 3, E), 7.0, dtype=torch.float64)
    wide = encoder(torch.cat((embedded, noise), 1), nn.functional.pad(MASK, (0, 3))).states
    torch.testing.assert_close(wide[:, :5], whole, rtol=0, atol=1e-9)
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(encoder(embedded[order], MASK[order]).states, whole[order], rtol=0, atol=1e-9)
    for row, length in enumerate(MASK.sum(1).tolist()):
        alone = encoder(embedded[row : row + 1, : max(length, 1)], MASK[row : row + 1, : max(length, 1)]).states
        torch.testing.assert_close(alone[0, :length], whole[row, :length], rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_summary_is_returned_if_declared(variant: str) -> None:
    encoder, embedded = make(variant), make_embedded()
    summary = encoder(embedded, MASK).summary
    assert (summary is not None) == encoder.summarises
    if summary is not None:
        assert summary.shape == (4, encoder.dim)
        assert (summary[3] == 0).all()
        wide = encoder(nn.functional.pad(embedded, (0, 0, 0, 3), value=7.0), nn.functional.pad(MASK, (0, 3))).summary
        torch.testing.assert_close(wide, summary, rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_gets_no_gradient(variant: str) -> None:
    embedded = make_embedded().requires_grad_()
    make(variant)(embedded, MASK).states.sum().backward()
    assert embedded.grad is not None
    assert (embedded.grad[~MASK] == 0).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_are_those_of_finite_differences(variant: str) -> None:
    encoder, embedded = make(variant), make_embedded().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: encoder(x, MASK).states, embedded)


@pytest.mark.parametrize(("name", "network"), [("bilstm", nn.LSTM), ("bigru", nn.GRU)])
def test_two_directions_equal_packed_sequences(name: str, network: type[nn.LSTM | nn.GRU]) -> None:
    """Our length-aware reversal against PyTorch's bidirectional networks over packed sequences."""
    encoder, embedded = make(name), make_embedded()[:3]
    reference = network(E, D // 2, batch_first=True, bidirectional=True).double()
    weights = {}
    for name, value in encoder.state_dict().items():
        direction, kind = name.split(".")
        weights[kind + ("_reverse" if direction == "backwards" else "")] = value
    reference.load_state_dict(weights)
    packed = nn.utils.rnn.pack_padded_sequence(embedded, MASK[:3].sum(1), batch_first=True, enforce_sorted=False)
    expected = nn.utils.rnn.pad_packed_sequence(reference(packed)[0], batch_first=True, total_length=5)[0]
    torch.testing.assert_close(encoder(embedded, MASK[:3]).states, expected)


def test_cnn_by_hand() -> None:
    """One filter of window 3 that sums its words: 1, 2, 3 | padding gives 3, 6, 5."""
    from regard.encoders import CNN

    encoder = CNN(1, 1)
    with torch.no_grad():
        encoder.windows[0].weight.fill_(1)
        encoder.windows[0].bias.fill_(0)
    words = torch.tensor([[[1.0], [2.0], [3.0], [9.0]]])
    states = encoder(words, torch.tensor([[True, True, True, False]])).states
    assert states[0, :, 0].tolist() == [3.0, 6.0, 5.0, 0.0]


def test_gru_by_hand() -> None:
    """Weights 0, biases 0, so r = z = ½; only n reads: n = tanh(x + ½ h), h = ½ n + ½ h.

    x = 2, 1: h = ½ tanh 2 = 0.4820, then ½ tanh(1 + 0.2410) + 0.2410 = 0.6638."""
    from regard.encoders import GRU

    encoder = GRU(1, 1)
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.zero_()
        encoder.forwards.weight_ih_l0[2] = encoder.forwards.weight_hh_l0[2] = 1
    states = encoder(torch.tensor([[[2.0], [1.0], [9.0]]]), torch.tensor([[True, True, False]])).states
    assert states[0, :, 0].tolist() == pytest.approx([0.4820, 0.6638, 0], abs=1e-4)


def test_widths_that_cannot_be_divided_are_rejected() -> None:
    for name in ("bilstm", "bigru"):
        message = f"hidden: expected an even number for the two directions of a {name}, got 7"
        with pytest.raises(InputError, match=message):
            ENCODERS[name].configured(E, Model(hidden=7))
    with pytest.raises(
        InputError, match=r"hidden: expected a multiple of 3, the number of windows \[3, 4, 5\], got 10"
    ):
        ENCODERS["cnn"].configured(E, Model(hidden=10, windows=(3, 4, 5)))
