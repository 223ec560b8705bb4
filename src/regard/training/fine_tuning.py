"""Fine-tuning a pretrained encoder: the options that it determines, its word pieces and their vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256

import torch
from torch import Tensor

from regard.config import Config
from regard.data.tokenizer import Indexed
from regard.data.wordpieces import WordPieces
from regard.data.words import spans
from regard.encoders.pretrained import Pretrained
from regard.errors import InputError
from regard.recorder import Recorder
from regard.records import Example
from regard.training.preparation import note_truncated


def apply_pretrained(config: Config, pretrained: Pretrained, recorder: Recorder) -> Config:
    """The options with those that the pretrained model determines: widths, lowercasing, and the length of a window."""
    width, hidden = pretrained.table.size(1), int(pretrained.model.config.hidden_size)  # type: ignore[union-attr, arg-type]
    if config.model.embedding not in (None, width):
        raise InputError(f"embedding: expected {width}, as in the pretrained model, got {config.model.embedding}")
    lowercase = WordPieces(pretrained.tokenizer).lowercase
    if lowercase != config.data.lowercase:
        recorder.note("the pretrained model " + ("lowercases texts" if lowercase else "does not lowercase texts"))
    values = {"embedding": width, "lowercase": lowercase}
    if config.model.levels == 1:
        values["hidden"] = hidden
    if config.model.window is None:
        values["window"] = pretrained.longest
    return config.override(values)


def load_word_pieces(
    config: Config, pretrained: Pretrained, examples: Sequence[Example], recorder: Recorder
) -> tuple[WordPieces, Tensor]:
    """The tokenizer, and one vector per id, NaN for ids without one in the pretrained model."""
    max_words = config.data.max_words
    if max_words is not None:
        truncated = sum(len(spans(example.text)) > max_words for example in examples)
        note_truncated(truncated, len(examples), max_words, recorder)
    longest = None if config.model.window else pretrained.longest
    tokenizer = WordPieces(pretrained.tokenizer, config.model.levels, max_words, longest)
    sources = torch.from_numpy(tokenizer.sources)
    if int(sources.max()) >= len(pretrained.table):
        raise InputError(
            f"pretrained = {config.model.pretrained!r}: its tokenizer has a piece with the id {int(sources.max())}, "
            f"but its model has {len(pretrained.table)} pieces"
        )
    vectors = pretrained.table[sources.clamp(min=0)].masked_fill((sources < 0).unsqueeze(1), torch.nan)
    return tokenizer, vectors


def note_windows(texts: Iterable[Indexed], window: int, recorder: Recorder) -> None:
    """Report how many texts are too long to be read at once."""
    counts = [int(text.shape[0].max(initial=0)) if text.shape else len(text.ids) for text in texts]
    more = sum(count > window for count in counts)
    if more:
        recorder.note(
            f"{more} of {len(counts)} texts have a sequence of more than {window} word pieces and are read in windows"
        )


def digest_pretrained(pretrained: Pretrained) -> str:
    digest = sha256(json.dumps(pretrained.encoder_config, sort_keys=True).encode())
    digest.update(pretrained.tokenizer.encode("utf-8", "replace"))
    for value in (pretrained.table, *pretrained.model.state_dict().values()):
        digest.update(value.numpy().tobytes())
    return digest.hexdigest()
