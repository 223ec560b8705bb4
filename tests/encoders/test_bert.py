"""The pretrained encoder against its own model run alone; windows; what is frozen; folders that are no model."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from regard.config import Model
from regard.data.wordpieces import WordPieces
from regard.encoders import BERT
from regard.encoders.pretrained import FAMILY, Pretrained, read_pretrained, remade
from regard.errors import InputError
from tiny_bert import PIECES, save_bert

pytest.importorskip("transformers", reason="the extra regard[bert] is not installed")

TEXTS = ("The food was lovely, and so unbelievably good!", "it was bad", "the film", "")
Maker = Callable[..., Path]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    kept: dict[str, Path] = {}

    def make(kind: str = "bert", **options: Any) -> Path:
        key = json.dumps([kind, options], sort_keys=True)
        if key not in kept:
            kept[key] = save_bert(tmp_path_factory.mktemp(kind), kind, **options)
        return kept[key]

    return make


def own_states(folder: Path, ids: list[int]) -> Tensor:
    """What the model itself says of [CLS] ids [SEP]."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states: Tensor = model(torch.tensor([[2, *ids, 3]])).last_hidden_state[0]
    return states


def encoder_of(given: Pretrained, **options: Any) -> BERT:
    return BERT.of(given, Model(**options)).eval()


def batch_of(given: Pretrained, texts: tuple[str, ...] = TEXTS) -> tuple[Tensor, Tensor, list[list[int]]]:
    """Embedded pieces, their mask, and the model's own numbers of them."""
    tokenizer = WordPieces(given.tokenizer)
    ids = [tokenizer.sources[tokenizer.encode(text).ids].tolist() for text in texts]
    length = max(map(len, ids))
    numbers = torch.tensor([row + [7] * (length - len(row)) for row in ids])  # what stands on padding is noise
    mask = torch.tensor([[place < len(row) for place in range(length)] for row in ids])
    return given.table[numbers], mask, ids


@pytest.mark.parametrize("kind", FAMILY)
def test_states_and_summary_are_those_of_the_model_itself(made: Maker, kind: str) -> None:
    folder = made(kind)
    given = read_pretrained(str(folder))
    embedded, mask, ids = batch_of(given)
    with torch.no_grad():
        found = encoder_of(given)(embedded, mask)
    assert found.summary is not None
    for row, numbers in enumerate(ids[:-1]):
        expected = own_states(folder, numbers)
        torch.testing.assert_close(found.states[row, : len(numbers)], expected[1:-1], rtol=0, atol=1e-5)
        torch.testing.assert_close(found.summary[row], expected[0], rtol=0, atol=1e-5)
    assert (found.states[~mask] == 0).all()
    assert (found.summary[-1] == 0).all()  # nothing was written


@pytest.mark.parametrize("kind", FAMILY)
def test_a_long_text_is_read_whole_in_windows_of_one_length(made: Maker, kind: str) -> None:
    """14 pieces through a window of 5: 5, 5 and 4, each between special tokens of its own."""
    folder = made(kind)
    given = read_pretrained(str(folder))
    numbers = [5 + place for place in range(14)]
    embedded = torch.cat((given.table[numbers], torch.ones(3, given.table.size(1)))).unsqueeze(0)
    mask = (torch.arange(17) < 14).unsqueeze(0)
    with torch.no_grad():
        found = encoder_of(given, window=5)(embedded, mask)
    parts = [own_states(folder, part) for part in (numbers[:5], numbers[5:10], numbers[10:])]
    torch.testing.assert_close(found.states[0, :14], torch.cat([part[1:-1] for part in parts]), rtol=0, atol=1e-5)
    assert found.summary is not None
    expected = torch.stack([part[0] for part in parts]).mean(0)
    torch.testing.assert_close(found.summary[0], expected, rtol=0, atol=1e-5)
    assert (found.states[~mask] == 0).all()


def test_windows_follow_from_a_text_alone(made: Maker) -> None:
    """12 pieces through a window of 5 are 4, 4 and 4, beside a longer text and beside none."""
    given = read_pretrained(str(made()))
    encoder = encoder_of(given, window=5)
    embedded = given.table[torch.randint(5, len(PIECES), (3, 19), generator=torch.Generator().manual_seed(0))]
    lengths = torch.tensor([12, 19, 3])
    mask = torch.arange(19) < lengths.unsqueeze(1)
    with torch.no_grad():
        together = encoder(embedded, mask)
        for row, length in enumerate(lengths.tolist()):
            alone = encoder(embedded[row : row + 1, :length], mask[row : row + 1, :length])
            torch.testing.assert_close(alone.states[0], together.states[row, :length], rtol=0, atol=1e-5)
            torch.testing.assert_close(alone.summary[0], together.summary[row], rtol=0, atol=1e-5)
        parts = [encoder(embedded[:1, start : start + 4], mask[:1, :4]) for start in (0, 4, 8)]
    torch.testing.assert_close(
        together.states[:1, :12], torch.cat([part.states for part in parts], 1), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("window", [None, 2])
def test_gradients_are_those_of_finite_differences(made: Maker, window: int | None) -> None:
    given = read_pretrained(str(made(hidden_size=4, intermediate_size=4)))
    encoder = encoder_of(given, window=window).double()
    embedded, mask, _ = batch_of(given, ("it was bad", "good"))

    def read(values: Tensor, special: Tensor) -> tuple[Tensor, ...]:
        found = torch.func.functional_call(encoder, {"after": special}, (values, mask))
        assert found.summary is not None
        return found.states, found.summary

    start = (embedded.double().requires_grad_(), encoder.after.detach().clone().requires_grad_())
    assert torch.autograd.gradcheck(read, start)


def test_the_limit_of_the_model_is_the_window(made: Maker) -> None:
    assert encoder_of(read_pretrained(str(made()))).window == 18  # of 20 places, two are special
    assert encoder_of(read_pretrained(str(made("roberta")))).window == 16  # whose numbers begin behind that of padding
    with pytest.raises(InputError, match="window = 19: the pretrained model reads at most 18 pieces together"):
        encoder_of(read_pretrained(str(made())), window=19)


def test_frozen_layers_get_no_gradient_and_drop_nothing(made: Maker) -> None:
    given = read_pretrained(str(made()))
    encoder = encoder_of(given, frozen_layers=1).train()
    embedded, mask, _ = batch_of(given)
    encoder(embedded, mask).states.square().sum().backward()
    learned = {name for name, weight in encoder.named_parameters() if weight.grad is not None}
    assert learned == {name for name, _ in encoder.named_parameters() if name.startswith("model.encoder.layer.1.")}
    whole = encoder_of(given, frozen_layers=2).train()
    torch.testing.assert_close(whole(embedded, mask).states, whole.eval()(embedded, mask).states)
    free = encoder_of(given).train()
    assert not torch.equal(free(embedded, mask).states, free.eval()(embedded, mask).states)
    with pytest.raises(InputError, match="frozen_layers = 3: too many for the pretrained model, which has 2 layers"):
        encoder_of(given, frozen_layers=3)
    with pytest.raises(InputError, match="share their weights"):
        encoder_of(read_pretrained(str(made("albert"))), frozen_layers=1)


def test_two_encoders_share_no_weights(made: Maker) -> None:
    given = read_pretrained(str(made()))
    one, other = encoder_of(given), encoder_of(given)
    with torch.no_grad():
        for weight in one.parameters():
            weight.zero_()
    assert all(weight.abs().sum() > 0 for weight in other.parameters())


class Waits(TorchDispatchMode):
    """Gathers operations whose result Python must know, for which it would wait for a GPU; no CUDA graph holds them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        if any(word in name for word in ("_local_scalar_dense", "nonzero", "masked_select", "equal.default")):
            self.found.append(name)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("kind", [kind for kind, whole in FAMILY.items() if whole])
def test_a_step_waits_for_nothing(made: Maker, kind: str, window: int | None) -> None:
    given = read_pretrained(str(made(kind)))
    encoder = encoder_of(given, window=window).train()
    embedded, mask, _ = batch_of(given)
    with Waits() as waits:
        found = encoder(embedded.requires_grad_(), mask)
        assert found.summary is not None
        (found.states.square().sum() + found.summary.sum()).backward()
    assert waits.found == []


def test_loading_says_nothing_and_leaves_the_bars_as_they_were(made: Maker, capfd: pytest.CaptureFixture[str]) -> None:
    from transformers.utils import logging

    folder = str(made())
    capfd.readouterr()
    read_pretrained(folder)
    assert capfd.readouterr() == ("", "")
    assert logging.is_progress_bar_enabled()


def test_the_make_holds_no_path(made: Maker) -> None:
    folder = made()
    assert str(folder) not in json.dumps(read_pretrained(str(folder)).make)


def spoilt(made: Maker, tmp_path: Path, kind: str = "bert") -> Path:
    """A copy to break."""
    for path in made(kind).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_folder_that_is_no_model_is_refused(made: Maker, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no model of Hugging Face: config\.json is missing"):
        read_pretrained(str(tmp_path))
    for name in (str(tmp_path / "none"), "", " "):
        with pytest.raises(InputError, match=f"pretrained = {re.escape(repr(name))}: there is no such folder"):
            read_pretrained(name)
    folder = spoilt(made, tmp_path)
    with pytest.raises(InputError, match="a file; the folder of a model, or its name on the hub, is accepted"):
        read_pretrained(str(folder / "config.json"))
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="its configuration cannot be loaded"):
        read_pretrained(str(folder))
    (folder / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    with pytest.raises(InputError, match="a model of the type 'gpt2'; accepted are bert, roberta"):
        read_pretrained(str(folder))


def test_a_name_that_neither_a_folder_nor_the_hub_has(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    def nowhere(*_: Any, **__: Any) -> None:
        raise OSError("not to be reached")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", nowhere)
    told = "pretrained = 'models/none': there is no such folder, and from the hub its configuration cannot be loaded"
    with pytest.raises(InputError, match=re.escape(f"{told} (OSError: not to be reached)")):
        read_pretrained("models/none")


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation"])
def test_a_configuration_cannot_name_code_to_be_fetched(made: Maker, tmp_path: Path, name: str) -> None:
    folder = spoilt(made, tmp_path)
    change(folder / "config.json", **{name: "somebody/kernels"})
    given = read_pretrained(str(folder))
    again: Any = remade({**given.make, name: "somebody/kernels"})
    for model in (given.model, again):
        assert model.config._attn_implementation == "sdpa"


def test_a_configuration_that_asks_for_tuples_changes_nothing(made: Maker, tmp_path: Path) -> None:
    plain, folder = read_pretrained(str(made())), spoilt(made, tmp_path)
    change(folder / "config.json", return_dict=False)
    embedded, mask, _ = batch_of(plain)
    states = [encoder_of(given)(embedded, mask).states for given in (plain, read_pretrained(str(folder)))]
    torch.testing.assert_close(*states, rtol=0, atol=0)


def test_a_tokenizer_without_room_for_a_text_is_refused(made: Maker, tmp_path: Path) -> None:
    folder = spoilt(made, tmp_path)
    change(folder / "tokenizer_config.json", model_max_length=2)
    with pytest.raises(InputError, match="model_max_length = 2 of its tokenizer leaves no room for a text"):
        read_pretrained(str(folder))
    change(folder / "tokenizer_config.json", model_max_length="many")
    with pytest.raises(InputError, match="model_max_length = 'many' of its tokenizer: a number is accepted"):
        read_pretrained(str(folder))


def test_pickles_are_refused(made: Maker, tmp_path: Path) -> None:
    folder = spoilt(made, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"its weights are in pytorch_model\.bin, and a pickle can run code"):
        read_pretrained(str(folder))
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(InputError, match=r"there are no weights: model\.safetensors is missing"):
        read_pretrained(str(folder))


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_layers_beyond_those_of_the_configuration_are_told(kind: str, tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "model", kind)
    change(folder / "config.json", **{"n_layers" if kind == "distilbert" else "num_hidden_layers": 1})
    with pytest.raises(InputError, match=r"its weights have 2 layers and its configuration says 1; the files of two "):
        read_pretrained(str(folder))


def test_weights_of_another_model_are_refused(made: Maker, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = spoilt(made, tmp_path)
    weights = load_file(folder / "model.safetensors")
    save_file({name: value / 0 for name, value in weights.items()}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="its weights hold numbers that are not finite"):
        read_pretrained(str(folder))
    weights.pop("encoder.layer.1.output.dense.weight")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"its weights lack 'encoder\.layer\.1\.output\.dense\.weight'"):
        read_pretrained(str(folder))
    (folder / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="its weights cannot be loaded"):
        read_pretrained(str(folder))


def test_weights_of_other_shapes_are_named(made: Maker, tmp_path: Path) -> None:
    folder = spoilt(made, tmp_path)
    change(folder / "config.json", intermediate_size=64)
    named = (
        "'encoder.layer.0.intermediate.dense.bias' has the shape (32,) in its weights and (64,) by its configuration"
    )
    with pytest.raises(InputError, match=re.escape(named)):
        read_pretrained(str(folder))


def test_a_folder_without_a_tokenizer_is_refused(made: Maker, tmp_path: Path) -> None:
    folder = spoilt(made, tmp_path)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="there is no tokenizer"):
        read_pretrained(str(folder))
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="its tokenizer cannot be loaded"):
        read_pretrained(str(folder))


def test_a_tokenizer_without_special_tokens_or_with_too_many_pieces_is_refused(made: Maker, tmp_path: Path) -> None:
    folder = spoilt(made, tmp_path)
    told = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps({**told, "post_processor": None}), encoding="utf-8")
    with pytest.raises(InputError, match="puts no summary token"):
        read_pretrained(str(folder))
    told["model"]["vocab"]["more"] = len(PIECES)
    (folder / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(InputError, match=f"its tokenizer knows {len(PIECES) + 1} pieces and its model {len(PIECES)}"):
        read_pretrained(str(folder))


def test_a_tokenizer_without_a_fast_form_is_refused(made: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    class Slow:
        is_fast = False

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(InputError, match="its tokenizer has no fast form, which alone knows where pieces stand"):
        read_pretrained(str(made()))


def test_a_missing_extra_is_one_sentence(made: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"needs the package transformers: pip install 'regard\[bert\]'"):
        read_pretrained(str(made()))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match=r"need the package tokenizers: pip install 'regard\[bert\]'"):
        WordPieces("{}").encode("a")


def test_states_of_numbers_are_those_of_words(made: Maker) -> None:
    """A check of the checks: our numbers and the model's own name the same pieces."""
    given = read_pretrained(str(made()))
    tokenizer = WordPieces(given.tokenizer)
    ids = tokenizer.encode("unbelievably good").ids
    assert [PIECES[number] for number in tokenizer.sources[ids]] == ["un", "##believ", "##ab", "##ly", "good"]
    assert [tokenizer.vocabulary.words[number - 2] for number in ids] == ["un", "##believ", "##ab", "##ly", "good"]
    assert np.array_equal(tokenizer.numbers[tokenizer.sources[2:]], np.arange(2, len(tokenizer)))
