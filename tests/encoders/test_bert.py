"""The pretrained encoder against the original model; windows; frozen layers; folders that are not models."""

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
from regard.encoders.pretrained import FAMILY, Pretrained, build_from_config, read_pretrained
from regard.errors import InputError
from tiny_bert import PIECES, save_bert

pytest.importorskip("transformers", reason="the extra regard[bert] is not installed")

TEXTS = ("The food was lovely, and so unbelievably good!", "it was bad", "the film", "")
FolderMaker = Callable[..., Path]


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> FolderMaker:
    folders: dict[str, Path] = {}

    def make(kind: str = "bert", **options: Any) -> Path:
        key = json.dumps([kind, options], sort_keys=True)
        if key not in folders:
            folders[key] = save_bert(tmp_path_factory.mktemp(kind), kind, **options)
        return folders[key]

    return make


def reference_states(folder: Path, ids: list[int]) -> Tensor:
    """States of the original model for [CLS] ids [SEP]."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states: Tensor = model(torch.tensor([[2, *ids, 3]])).last_hidden_state[0]
    return states


def encoder_of(pretrained: Pretrained, **options: Any) -> BERT:
    return BERT.from_pretrained(pretrained, Model(**options)).eval()


def batch_of(pretrained: Pretrained, texts: tuple[str, ...] = TEXTS) -> tuple[Tensor, Tensor, list[list[int]]]:
    """Embedded pieces, their mask, and their ids in the original model."""
    tokenizer = WordPieces(pretrained.tokenizer)
    ids = [tokenizer.sources[tokenizer.encode(text).ids].tolist() for text in texts]
    length = max(map(len, ids))
    piece_ids = torch.tensor([row + [7] * (length - len(row)) for row in ids])  # noise on padding
    mask = torch.tensor([[index < len(row) for index in range(length)] for row in ids])
    return pretrained.table[piece_ids], mask, ids


@pytest.mark.parametrize("kind", FAMILY)
def test_states_and_summary_equal_those_of_the_original_model(folder_of: FolderMaker, kind: str) -> None:
    folder = folder_of(kind)
    pretrained = read_pretrained(str(folder))
    embedded, mask, ids = batch_of(pretrained)
    with torch.no_grad():
        encoded = encoder_of(pretrained)(embedded, mask)
    assert encoded.summary is not None
    for row, piece_ids in enumerate(ids[:-1]):
        expected = reference_states(folder, piece_ids)
        torch.testing.assert_close(encoded.states[row, : len(piece_ids)], expected[1:-1], rtol=0, atol=1e-5)
        torch.testing.assert_close(encoded.summary[row], expected[0], rtol=0, atol=1e-5)
    assert (encoded.states[~mask] == 0).all()
    assert (encoded.summary[-1] == 0).all()  # the empty text


@pytest.mark.parametrize("kind", FAMILY)
def test_a_long_text_is_read_in_windows_of_equal_length(folder_of: FolderMaker, kind: str) -> None:
    """14 pieces with a window of 5: 5, 5 and 4, each with its own special tokens."""
    folder = folder_of(kind)
    pretrained = read_pretrained(str(folder))
    piece_ids = [5 + index for index in range(14)]
    embedded = torch.cat((pretrained.table[piece_ids], torch.ones(3, pretrained.table.size(1)))).unsqueeze(0)
    mask = (torch.arange(17) < 14).unsqueeze(0)
    with torch.no_grad():
        encoded = encoder_of(pretrained, window=5)(embedded, mask)
    parts = [reference_states(folder, part) for part in (piece_ids[:5], piece_ids[5:10], piece_ids[10:])]
    torch.testing.assert_close(encoded.states[0, :14], torch.cat([part[1:-1] for part in parts]), rtol=0, atol=1e-5)
    assert encoded.summary is not None
    expected = torch.stack([part[0] for part in parts]).mean(0)
    torch.testing.assert_close(encoded.summary[0], expected, rtol=0, atol=1e-5)
    assert (encoded.states[~mask] == 0).all()


def test_windows_depend_only_on_the_text(folder_of: FolderMaker) -> None:
    """12 pieces with a window of 5 are 4, 4 and 4, in a batch with a longer text and alone."""
    pretrained = read_pretrained(str(folder_of()))
    encoder = encoder_of(pretrained, window=5)
    embedded = pretrained.table[torch.randint(5, len(PIECES), (3, 19), generator=torch.Generator().manual_seed(0))]
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
def test_gradients_equal_finite_differences(folder_of: FolderMaker, window: int | None) -> None:
    pretrained = read_pretrained(str(folder_of(hidden_size=4, intermediate_size=4)))
    encoder = encoder_of(pretrained, window=window).double()
    embedded, mask, _ = batch_of(pretrained, ("it was bad", "good"))

    def read(values: Tensor, special: Tensor) -> tuple[Tensor, ...]:
        encoded = torch.func.functional_call(encoder, {"after": special}, (values, mask))
        assert encoded.summary is not None
        return encoded.states, encoded.summary

    start = (embedded.double().requires_grad_(), encoder.after.detach().clone().requires_grad_())
    assert torch.autograd.gradcheck(read, start)


def test_the_default_window_is_the_limit_of_the_model(folder_of: FolderMaker) -> None:
    assert encoder_of(read_pretrained(str(folder_of()))).window == 18  # of 20 positions, two are special
    assert (
        encoder_of(read_pretrained(str(folder_of("roberta")))).window == 16
    )  # its position ids start after that of padding
    with pytest.raises(
        InputError, match="window: expected at most 18, the pieces that the pretrained model can read together, got 19"
    ):
        encoder_of(read_pretrained(str(folder_of())), window=19)


def test_frozen_layers_have_no_gradient_and_no_dropout(folder_of: FolderMaker) -> None:
    pretrained = read_pretrained(str(folder_of()))
    encoder = encoder_of(pretrained, frozen_layers=1).train()
    embedded, mask, _ = batch_of(pretrained)
    encoder(embedded, mask).states.square().sum().backward()
    learned = {name for name, weight in encoder.named_parameters() if weight.grad is not None}
    assert learned == {name for name, _ in encoder.named_parameters() if name.startswith("model.encoder.layer.1.")}
    whole = encoder_of(pretrained, frozen_layers=2).train()
    torch.testing.assert_close(whole(embedded, mask).states, whole.eval()(embedded, mask).states)
    free = encoder_of(pretrained).train()
    assert not torch.equal(free(embedded, mask).states, free.eval()(embedded, mask).states)
    with pytest.raises(InputError, match="frozen_layers = 3: too many for the pretrained model, expected at most 2"):
        encoder_of(pretrained, frozen_layers=3)
    with pytest.raises(InputError, match="expected 0, because its layers share their weights"):
        encoder_of(read_pretrained(str(folder_of("albert"))), frozen_layers=1)


def test_two_encoders_share_no_weights(folder_of: FolderMaker) -> None:
    pretrained = read_pretrained(str(folder_of()))
    one, other = encoder_of(pretrained), encoder_of(pretrained)
    with torch.no_grad():
        for weight in one.parameters():
            weight.zero_()
    assert all(weight.abs().sum() > 0 for weight in other.parameters())


class Synchronisations(TorchDispatchMode):
    """Records operations whose result Python needs, which would synchronise with a GPU and break CUDA graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        if any(word in name for word in ("_local_scalar_dense", "nonzero", "masked_select", "equal.default")):
            self.names.append(name)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("kind", [kind for kind, whole in FAMILY.items() if whole or kind == "mpnet"])
def test_a_step_does_not_synchronise(folder_of: FolderMaker, kind: str, window: int | None) -> None:
    pretrained = read_pretrained(str(folder_of(kind)))
    encoder = encoder_of(pretrained, window=window).train()
    embedded, mask, _ = batch_of(pretrained)
    with Synchronisations() as synchronisations:
        encoded = encoder(embedded.requires_grad_(), mask)
        assert encoded.summary is not None
        (encoded.states.square().sum() + encoded.summary.sum()).backward()
    assert synchronisations.names == []


def test_loading_is_silent_and_restores_progress_bars(
    folder_of: FolderMaker, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    folder = str(folder_of())
    capfd.readouterr()
    read_pretrained(folder)
    assert capfd.readouterr() == ("", "")
    assert logging.is_progress_bar_enabled()


def test_the_saved_configuration_contains_no_path(folder_of: FolderMaker) -> None:
    folder = folder_of()
    assert str(folder) not in json.dumps(read_pretrained(str(folder)).encoder_config)


def copy_of(folder_of: FolderMaker, tmp_path: Path, kind: str = "bert") -> Path:
    """A copy that a test may damage."""
    for path in folder_of(kind).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_folder_that_is_not_a_model_is_rejected(folder_of: FolderMaker, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a Hugging Face model: config\.json is missing"):
        read_pretrained(str(tmp_path))
    for name in (str(tmp_path / "none"), "", " "):
        with pytest.raises(InputError, match=f"pretrained = {re.escape(repr(name))}: there is no such folder"):
            read_pretrained(name)
    folder = copy_of(folder_of, tmp_path)
    with pytest.raises(InputError, match="expected the folder of a model or its name on the hub, got a file"):
        read_pretrained(str(folder / "config.json"))
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="its configuration cannot be loaded"):
        read_pretrained(str(folder))
    (folder / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"expected a model type of bert, roberta, .*, got 'gpt2'"):
        read_pretrained(str(folder))


def test_a_name_that_is_neither_a_folder_nor_on_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    def nowhere(*_: Any, **__: Any) -> None:
        raise OSError("unreachable")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", nowhere)
    message = "pretrained = 'models/none': there is no such folder, and from the hub its configuration cannot be loaded"
    with pytest.raises(InputError, match=re.escape(f"{message} (OSError: unreachable)")):
        read_pretrained("models/none")


def test_a_name_that_begins_with_an_unknown_user() -> None:
    with pytest.raises(InputError, match=r"pretrained = '~nobody-here/model': there is no such folder"):
        read_pretrained("~nobody-here/model")


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation"])
def test_a_configuration_cannot_name_code_to_download(folder_of: FolderMaker, tmp_path: Path, name: str) -> None:
    folder = copy_of(folder_of, tmp_path)
    change(folder / "config.json", **{name: "somebody/kernels"})
    pretrained = read_pretrained(str(folder))
    again: Any = build_from_config({**pretrained.encoder_config, name: "somebody/kernels"})
    for model in (pretrained.model, again):
        assert model.config._attn_implementation == "sdpa"


def test_return_dict_in_the_configuration_is_ignored(folder_of: FolderMaker, tmp_path: Path) -> None:
    plain, folder = read_pretrained(str(folder_of())), copy_of(folder_of, tmp_path)
    change(folder / "config.json", return_dict=False)
    embedded, mask, _ = batch_of(plain)
    states = [encoder_of(pretrained)(embedded, mask).states for pretrained in (plain, read_pretrained(str(folder)))]
    torch.testing.assert_close(*states, rtol=0, atol=0)


def test_a_tokenizer_without_room_for_a_text_is_rejected(folder_of: FolderMaker, tmp_path: Path) -> None:
    folder = copy_of(folder_of, tmp_path)
    change(folder / "tokenizer_config.json", model_max_length=2)
    with pytest.raises(InputError, match="model_max_length = 2 of its tokenizer leaves no room for a text"):
        read_pretrained(str(folder))
    change(folder / "tokenizer_config.json", model_max_length="many")
    with pytest.raises(InputError, match="model_max_length of its tokenizer: expected a number, got 'many'"):
        read_pretrained(str(folder))


def test_pickles_are_rejected(folder_of: FolderMaker, tmp_path: Path) -> None:
    folder = copy_of(folder_of, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(
        InputError, match=r"expected weights in model\.safetensors, got pytorch_model\.bin; a pickle can run code"
    ):
        read_pretrained(str(folder))
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(InputError, match=r"model\.safetensors, the weights, is missing"):
        read_pretrained(str(folder))


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_more_layers_than_in_the_configuration_are_reported(kind: str, tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "model", kind)
    change(folder / "config.json", **{"n_layers" if kind == "distilbert" else "num_hidden_layers": 1})
    with pytest.raises(
        InputError, match=r"its weights have 2 layers, but its configuration has 1; are these files of two models"
    ):
        read_pretrained(str(folder))


def test_weights_of_another_model_are_rejected(folder_of: FolderMaker, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = copy_of(folder_of, tmp_path)
    weights = load_file(folder / "model.safetensors")
    save_file({name: value / 0 for name, value in weights.items()}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="its weights contain numbers that are not finite"):
        read_pretrained(str(folder))
    weights.pop("encoder.layer.1.output.dense.weight")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"its weights lack 'encoder\.layer\.1\.output\.dense\.weight'"):
        read_pretrained(str(folder))
    (folder / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="its weights cannot be loaded"):
        read_pretrained(str(folder))


def test_weights_of_other_shapes_are_rejected(folder_of: FolderMaker, tmp_path: Path) -> None:
    folder = copy_of(folder_of, tmp_path)
    change(folder / "config.json", intermediate_size=64)
    message = (
        "'encoder.layer.0.intermediate.dense.bias' has the shape (32,) in its weights and (64,) in its configuration"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        read_pretrained(str(folder))


def test_a_folder_without_a_tokenizer_is_rejected(folder_of: FolderMaker, tmp_path: Path) -> None:
    folder = copy_of(folder_of, tmp_path)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"tokenizer\.json is missing"):
        read_pretrained(str(folder))
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="its tokenizer cannot be loaded"):
        read_pretrained(str(folder))


def test_a_tokenizer_without_special_tokens_or_with_too_many_pieces_is_rejected(
    folder_of: FolderMaker, tmp_path: Path
) -> None:
    folder = copy_of(folder_of, tmp_path)
    tokenizer_json = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps({**tokenizer_json, "post_processor": None}), encoding="utf-8")
    with pytest.raises(InputError, match="puts no summary token"):
        read_pretrained(str(folder))
    tokenizer_json["model"]["vocab"]["more"] = len(PIECES)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json), encoding="utf-8")
    with pytest.raises(
        InputError, match=f"its tokenizer has {len(PIECES) + 1} pieces, but its model has {len(PIECES)}"
    ):
        read_pretrained(str(folder))


def test_a_slow_tokenizer_is_rejected(folder_of: FolderMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    class Slow:
        is_fast = False

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(InputError, match="expected a fast tokenizer, which knows the spans of pieces, got a slow one"):
        read_pretrained(str(folder_of()))


def test_a_missing_extra_is_reported(folder_of: FolderMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"needs transformers, which is not installed: pip install 'regard\[bert\]'"):
        read_pretrained(str(folder_of()))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match=r"needs tokenizers, which is not installed: pip install 'regard\[vectors\]'"):
        WordPieces("{}").encode("a")


def test_ids_name_the_same_pieces(folder_of: FolderMaker) -> None:
    """A check of the checks: our ids and those of the original model name the same pieces."""
    pretrained = read_pretrained(str(folder_of()))
    tokenizer = WordPieces(pretrained.tokenizer)
    ids = tokenizer.encode("unbelievably good").ids
    assert [PIECES[number] for number in tokenizer.sources[ids]] == ["un", "##believ", "##ab", "##ly", "good"]
    assert [tokenizer.vocabulary.words[number - 2] for number in ids] == ["un", "##believ", "##ab", "##ly", "good"]
    assert np.array_equal(tokenizer.numbers[tokenizer.sources[2:]], np.arange(2, len(tokenizer)))
