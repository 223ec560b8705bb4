"""A pretrained transformer of the BERT family, from a folder or the hub of Hugging Face: its layers, vectors and tokenizer.

Weights are read from safetensors alone, never from pickles, and no code of a model's own is run. The only file that knows
the package transformers; it is imported when a model is asked for.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import InputError

# model types that were tried; True: attention takes a mask of its own form, so that nobody looks into it on the way
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
EXTRA = "encoder = 'bert' needs the package transformers: pip install 'regard[bert]'"
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
LAYER = re.compile(r"\blayer\.(\d+)\.")  # in the name of a weight
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


@dataclass(frozen=True)
class Pretrained:
    make: dict[str, Any]  # its configuration as JSON: all that a saved run needs beside the weights
    model: nn.Module  # the layers, without the table of word pieces
    table: Tensor  # (pieces, E)
    tokenizer: str  # JSON of the package tokenizers
    before: tuple[int, ...]  # the pieces that stand around each text: [CLS]
    after: tuple[int, ...]  # [SEP]
    longest: int  # pieces of a text that can be read together
    version: str  # of the package that read it


def read_pretrained(name: str) -> Pretrained:
    """From a folder, or by the name that the hub knows it under."""
    library = load_library()
    folder = Path(name).expanduser()
    is_folder = bool(name.strip()) and folder.is_dir()  # nothing at all would be the folder one stands in
    where = str(folder) if is_folder else name
    if is_folder:
        check_folder(folder)
    elif name.strip() and folder.exists():  # transformers would read a single file as weights, pickled ones too
        raise InputError(f"pretrained = {name!r}: a file; the folder of a model, or its name on the hub, is accepted")
    elif not HUB_NAME.fullmatch(name):
        raise InputError(f"pretrained = {name!r}: there is no such folder, and no model on the hub has such a name")
    how = {"local_files_only": is_folder, "trust_remote_code": False}
    its = "its" if is_folder else "there is no such folder, and from the hub its"
    with quiet(library):
        with told(name, f"{its} configuration"):
            config = checked(library.AutoConfig.from_pretrained(where, **how), name)
        with told(name, f"{its} tokenizer"):
            tokenizer = library.AutoTokenizer.from_pretrained(where, **how)
        if not tokenizer.is_fast:
            raise InputError(
                f"pretrained = {name!r}: its tokenizer has no fast form, which alone knows where pieces stand"
            )
        how |= {"use_safetensors": True, "output_loading_info": True, "ignore_mismatched_sizes": True}  # told below
        with told(name, f"{its} weights"):
            model, found = library.AutoModel.from_pretrained(where, config=config, dtype=torch.float32, **how)
    check_weights(model, found, name)
    table = bared(model)
    backend = tokenizer.backend_tokenizer
    if backend.get_vocab_size() > len(table):
        raise InputError(
            f"pretrained = {name!r}: its tokenizer knows {backend.get_vocab_size()} pieces and its model {len(table)}"
        )
    before, after = around(backend, name)
    most = tokenizer.model_max_length
    if not isinstance(most, int | float):
        raise InputError(f"pretrained = {name!r}: model_max_length = {most!r} of its tokenizer: a number is accepted")
    longest = int(min(positions(model), most)) - len(before) - len(after)
    if longest < 1:
        raise InputError(f"pretrained = {name!r}: model_max_length = {most} of its tokenizer leaves no room for a text")
    make = {key: value for key, value in json.loads(config.to_json_string()).items() if key != "_name_or_path"}
    return Pretrained(make, model, table, backend.to_str(), before, after, longest, library.__version__)


def remade(make: Mapping[str, Any]) -> nn.Module:
    """Layers of this make, whose weights are still to come."""
    library = load_library()
    with quiet(library), told("the run's own", "its configuration"):
        config = checked(library.AutoConfig.for_model(**make), "the run's own")
        model: nn.Module = library.AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False)
    bared(model)
    return model


def load_library() -> Any:
    try:
        import transformers
    except ImportError:
        raise InputError(EXTRA) from None
    return transformers


def check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise InputError(f"pretrained = {str(folder)!r}: no model of Hugging Face: config.json is missing")
    if not list(folder.glob("*.safetensors")):
        pickles = [path.name for path in sorted((*folder.glob("*.bin"), *folder.glob("*.pt")))]
        raise InputError(
            f"pretrained = {str(folder)!r}: its weights are in {pickles[0]}, and a pickle can run code; "
            "a folder with model.safetensors is accepted"
            if pickles
            else f"pretrained = {str(folder)!r}: there are no weights: model.safetensors is missing"
        )
    if not any(list(folder.glob(pattern)) for pattern in TOKENIZER_FILES):
        raise InputError(f"pretrained = {str(folder)!r}: there is no tokenizer: tokenizer.json is missing")


def checked(config: Any, name: str) -> Any:
    """Of the family, and with nothing in it that names code."""
    if config.model_type not in FAMILY:
        known = ", ".join(FAMILY)
        raise InputError(f"pretrained = {name!r}: a model of the type {config.model_type!r}; accepted are {known}")
    config._attn_implementation = None  # the library's choice: "owner/kernel" would be fetched from the hub and run
    return config


def check_weights(model: nn.Module, found: Mapping[str, Any], name: str) -> None:
    """`found`: what transformers has to tell of their loading."""
    for key, own, expected in sorted(found["mismatched_keys"]):
        raise InputError(
            f"pretrained = {name!r}: {key!r} has the shape {tuple(own)} in its weights and {tuple(expected)} by its "
            "configuration; the files of two models?"
        )
    missing = sorted(key for key in found["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise InputError(f"pretrained = {name!r}: its weights lack {missing[0]!r}; the file of another model?")
    # a head that the model was pretrained with is left out without a word, but not layers
    layers = max((int(match[1]) + 1 for match in map(LAYER.search, found["unexpected_keys"]) if match), default=0)
    most: Any = model.config.num_hidden_layers  # type: ignore[union-attr]
    if layers > most:
        raise InputError(
            f"pretrained = {name!r}: its weights have {layers} layers and its configuration says {most}; the files of two "
            "models? To do without the upper layers, save a model that has none of them"
        )
    if not all(bool(value.isfinite().all()) for value in model.state_dict().values()):
        raise InputError(f"pretrained = {name!r}: its weights hold numbers that are not finite")


def bared(model: Any) -> Tensor:
    """Take away what stands in for the pooling, and the table of pieces, which is returned."""
    table: Tensor = model.get_input_embeddings().weight.detach().clone()
    model.set_input_embeddings(nn.Identity())
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return table


def around(backend: Any, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the tokenizer puts before and after a text."""
    backend.no_padding()
    backend.no_truncation()
    found = backend.encode("a")
    marks = found.special_tokens_mask
    own = [place for place, special in enumerate(marks) if not special]
    if not own or own[0] == 0 or any(found.type_ids):
        raise InputError(f"pretrained = {name!r}: its tokenizer puts no summary token, such as [CLS], before a text")
    return tuple(found.ids[: own[0]]), tuple(found.ids[own[-1] + 1 :])


def positions(model: Any) -> int:
    """How many places a row may have. RoBERTa's numbers begin behind that of padding."""
    table = getattr(model.embeddings, "position_embeddings", None)
    if table is None or table.padding_idx is None:
        return int(model.config.max_position_embeddings)
    return int(table.num_embeddings) - int(table.padding_idx) - 1


@contextmanager
def quiet(library: Any) -> Iterator[None]:
    """No bars and reports of its own while it loads; what matters in them is checked here."""
    logging = library.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of one package about another, at their import
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def told(name: str, part: str) -> Iterator[None]:
    """The many ways in which loading fails as one sentence."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"pretrained = {name!r}: {part} cannot be loaded ({type(error).__name__}: {reason})") from None
