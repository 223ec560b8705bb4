"""Load a pretrained transformer of the BERT family from a folder or the Hugging Face Hub: layers, embeddings and tokenizer.

Weights are read only from safetensors, never from pickles, and no code that a model ships is run. This is the only module
that uses the package transformers, which is imported when a model is requested.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.encoders.pretrained_sizes import check_files, check_memory, check_sizes
from regard.errors import InputError
from regard.extras import failure, import_extra
from regard.piece_ids import check_ids

# model types that were tested; True: attention accepts a full (N, 1, T, T) mask, which skips a look at its values
FAMILY = {
    "bert": True,
    "roberta": True,
    "xlm-roberta": True,
    "camembert": True,
    "distilbert": True,
    "electra": True,
    "albert": True,
    "mpnet": False,
    "deberta-v2": False,
}
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
LAYER = re.compile(r"\blayer\.(\d+)\.")  # in the name of a weight
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


@dataclass(frozen=True)
class Pretrained:
    encoder_config: dict[str, Any]  # its configuration as JSON: all that a saved run needs besides the weights
    model: nn.Module  # the layers, without the embedding table
    table: Tensor  # (pieces, E)
    tokenizer: str  # JSON of the package tokenizers
    before: tuple[int, ...]  # special pieces before each text: [CLS]
    after: tuple[int, ...]  # and after it: [SEP]
    longest: int  # most pieces of a text that can be read together
    version: str  # of the package transformers


def read_pretrained(name: str) -> Pretrained:
    """Load a model from a folder or by its name on the hub."""
    library = load_library()
    where, is_folder = locate(name)
    options = {"local_files_only": is_folder, "trust_remote_code": False}
    prefix = "its" if is_folder else "there is no such folder, and from the hub its"
    with quiet(library):
        with loading(name, f"{prefix} configuration"):
            config = check_config(library.AutoConfig.from_pretrained(where, **options), name)
            if is_folder:
                check_memory(library, config, Path(where), name)
        with loading(name, f"{prefix} tokenizer"):
            tokenizer = library.AutoTokenizer.from_pretrained(where, **options)
        if not tokenizer.is_fast:
            raise InputError(
                f"pretrained = {name!r}: expected a fast tokenizer, which knows the spans of pieces, got a slow one"
            )
        options |= {"use_safetensors": True, "output_loading_info": True}
        options |= {"ignore_mismatched_sizes": True}  # check_weights reports them
        with loading(name, f"{prefix} weights"):
            model, loading_info = library.AutoModel.from_pretrained(
                where, config=config, dtype=torch.float32, **options
            )
    check_weights(model, loading_info, name)
    table = strip(model)
    backend = tokenizer.backend_tokenizer
    check_ids(backend)
    if backend.get_vocab_size() > len(table):
        raise InputError(
            f"pretrained = {name!r}: its tokenizer has {backend.get_vocab_size()} pieces, but its model has {len(table)}"
        )
    before, after = special_tokens(backend, name)
    longest = longest_text(model, tokenizer.model_max_length, len(before) + len(after), name)
    encoder_config = {
        key: value for key, value in json.loads(config.to_json_string()).items() if key != "_name_or_path"
    }
    return Pretrained(encoder_config, model, table, backend.to_str(), before, after, longest, library.__version__)


def locate(name: str) -> tuple[str, bool]:
    """Where transformers should look for a model, and whether that is a folder."""
    folder = Path(os.path.expanduser(name))
    if name.strip() and folder.is_dir():  # an empty path would be the current folder
        check_folder(folder)
        return str(folder), True
    if name.strip() and folder.exists():  # transformers would read a single file as weights, even a pickle
        raise InputError(f"pretrained = {name!r}: expected the folder of a model or its name on the hub, got a file")
    if not HUB_NAME.fullmatch(name):
        raise InputError(f"pretrained = {name!r}: there is no such folder, and this is not a valid name on the hub")
    return name, False


def build_from_config(encoder_config: Mapping[str, Any]) -> nn.Module:
    """Layers with this configuration, whose weights are loaded later."""
    library = load_library()
    with quiet(library), loading("the run's own", "its configuration"):
        config = check_config(library.AutoConfig.for_model(**encoder_config), "the run's own")
        config.vocab_size = (config.pad_token_id or 0) + 1  # the table of pieces is not needed
        model: nn.Module = library.AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False)
    strip(model)
    return model


def load_library() -> Any:
    return import_extra("transformers", "encoder = 'bert'")


def check_folder(folder: Path) -> None:
    check_files(folder)
    if not (folder / "config.json").is_file():
        raise InputError(f"pretrained = {str(folder)!r}: not a Hugging Face model: config.json is missing")
    if not list(folder.glob("*.safetensors")):
        pickles = [path.name for path in sorted((*folder.glob("*.bin"), *folder.glob("*.pt")))]
        raise InputError(
            f"pretrained = {str(folder)!r}: expected weights in model.safetensors, got {pickles[0]}; a pickle can run code"
            if pickles
            else f"pretrained = {str(folder)!r}: model.safetensors, the weights, is missing"
        )
    if not any(list(folder.glob(pattern)) for pattern in TOKENIZER_FILES):
        raise InputError(f"pretrained = {str(folder)!r}: tokenizer.json is missing")


def check_config(config: Any, name: str) -> Any:
    """Check the model type, and remove what could name code to run."""
    if config.model_type not in FAMILY:
        expected = ", ".join(FAMILY)
        raise InputError(f"pretrained = {name!r}: expected a model type of {expected}, got {config.model_type!r}")
    config._attn_implementation = None  # the default: "owner/kernel" would be downloaded from the hub and run
    config.chunk_size_feed_forward = 0  # parts of the same result, and an error for texts of other lengths
    check_sizes(config, name)
    return config


def check_weights(model: nn.Module, loading_info: Mapping[str, Any], name: str) -> None:
    """`loading_info`: what transformers reports about loading the weights."""
    for key, actual, expected in sorted(loading_info["mismatched_keys"]):
        raise InputError(
            f"pretrained = {name!r}: {key!r} has the shape {tuple(actual)} in its weights and {tuple(expected)} in its "
            "configuration; are these files of two models?"
        )
    missing = sorted(key for key in loading_info["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise InputError(f"pretrained = {name!r}: its weights lack {missing[0]!r}; is this the file of another model?")
    # a pretraining head may be dropped silently, but layers may not
    layers = max(
        (int(match[1]) + 1 for match in map(LAYER.search, loading_info["unexpected_keys"]) if match), default=0
    )
    expected_layers: Any = model.config.num_hidden_layers  # type: ignore[union-attr]
    if layers > expected_layers:
        raise InputError(
            f"pretrained = {name!r}: its weights have {layers} layers, but its configuration has {expected_layers}; are these "
            "files of two models? To use fewer layers, save a model without the upper ones"
        )
    if not all(bool(value.isfinite().all()) for value in model.state_dict().values()):
        raise InputError(f"pretrained = {name!r}: its weights contain numbers that are not finite")


def strip(model: Any) -> Tensor:
    """Remove the pooler and the embedding table; return the table."""
    table: Tensor = model.get_input_embeddings().weight.detach().clone()
    model.set_input_embeddings(nn.Identity())
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return table


def special_tokens(backend: Any, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens that the tokenizer puts before and after a text."""
    backend.no_padding()
    backend.no_truncation()
    encoding = backend.encode("a")
    real = [index for index, special in enumerate(encoding.special_tokens_mask) if not special]
    if not real or real[0] == 0 or any(encoding.type_ids):
        raise InputError(f"pretrained = {name!r}: its tokenizer puts no summary token, such as [CLS], before a text")
    return tuple(encoding.ids[: real[0]]), tuple(encoding.ids[real[-1] + 1 :])


def positions(model: Any) -> int:
    """The maximum length of a row. RoBERTa's position ids start after that of padding."""
    table = getattr(model.embeddings, "position_embeddings", None)
    if table is None or table.padding_idx is None:
        return int(model.config.max_position_embeddings)
    return int(table.num_embeddings) - int(table.padding_idx) - 1


def longest_text(model: nn.Module, limit: Any, special: int, name: str) -> int:
    """The most pieces of a text, besides the special ones, by the model's positions and the tokenizer's limit."""
    if not isinstance(limit, int | float):
        raise InputError(f"pretrained = {name!r}: model_max_length of its tokenizer: expected a number, got {limit!r}")
    longest = int(min(positions(model), limit)) - special
    if longest < 1:
        raise InputError(
            f"pretrained = {name!r}: model_max_length = {limit} of its tokenizer leaves no room for a text"
        )
    return longest


@contextmanager
def quiet(library: Any) -> Iterator[None]:
    """Silence progress bars and reports while loading; what matters in them is checked here."""
    logging = library.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # raised by one dependency about another on import
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def loading(name: str, part: str) -> Iterator[None]:
    """Report any failure to load as one sentence."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        raise InputError(f"pretrained = {name!r}: {part} cannot be loaded ({failure(error)})") from None
