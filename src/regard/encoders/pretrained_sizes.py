"""Checks of a pretrained model's folder and configuration before anything is read or allocated by them."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import torch

from regard.errors import InputError

LARGEST_TEXT, LARGEST_WEIGHTS = 1 << 30, 64 << 30  # bytes
SLACK = 1_000_000  # numbers that a model may have without weights in the file, such as those of a pooler
SIZES = {  # the largest that are accepted, well beyond those of any model of the family
    "num_hidden_layers": 1000,
    "num_attention_heads": 1000,
    "hidden_size": 100_000,
    "embedding_size": 100_000,
    "intermediate_size": 1_000_000,
    "max_position_embeddings": 10_000_000,
    "vocab_size": 10_000_000,
    "num_hidden_groups": 1000,
    "inner_group_num": 1000,
}


def check_files(folder: Path) -> None:
    """Refuse pipes and devices, which may hang or never end, and files that are too large; links to files are common here."""
    for path in sorted(folder.iterdir()):
        try:
            facts = path.stat()
        except OSError as error:
            raise InputError(f"pretrained = {str(folder)!r}: {path.name} cannot be read ({error.strerror})") from None
        most = LARGEST_WEIGHTS if path.suffix == ".safetensors" else LARGEST_TEXT
        if (
            stat.S_ISREG(facts.st_mode)
            and facts.st_size > most
            and path.suffix in (".safetensors", ".json", ".txt", ".model")
        ):
            raise InputError(
                f"pretrained = {str(folder)!r}: {path.name}: expected at most {most >> 20:,} MB, got {facts.st_size >> 20:,}"
            )
        if not stat.S_ISREG(facts.st_mode) and not stat.S_ISDIR(facts.st_mode):
            raise InputError(f"pretrained = {str(folder)!r}: {path.name}: expected a file, got a pipe or a device")


def check_memory(library: Any, config: Any, folder: Path, name: str) -> None:
    """Refuse a configuration of a far larger model than its weights, before that is allocated."""
    with torch.device("meta"):
        form = library.AutoModel.from_config(config, trust_remote_code=False)
    needed = sum(value.numel() for value in form.state_dict().values())
    there = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if needed > 2 * there + SLACK:  # a number has at least one byte
        raise InputError(
            f"pretrained = {name!r}: its configuration describes a model of {needed:,} numbers, but its weights have "
            f"{there:,} bytes; are these files of two models?"
        )


def check_sizes(config: Any, name: str) -> None:
    """Refuse numbers that no model has, before anything is built from them."""
    for key, most in SIZES.items():
        value = getattr(config, key, None)
        if value is not None and (type(value) is not int or not 0 < value <= most):
            raise InputError(
                f"pretrained = {name!r}: {key}: expected a whole number from 1 to {most}, got {str(value)[:40]}"
            )
    padding = config.pad_token_id
    if padding is not None and (type(padding) is not int or not 0 <= padding < config.vocab_size):
        raise InputError(f"pretrained = {name!r}: pad_token_id: expected a piece, got {str(padding)[:40]}")
    if config.hidden_size % config.num_attention_heads:
        raise InputError(
            f"pretrained = {name!r}: num_attention_heads: expected a divisor of {config.hidden_size}, "
            f"got {config.num_attention_heads}"
        )
