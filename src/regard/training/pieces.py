"""What a pretrained encoder brings to a run: options that follow from it, its word pieces and their vectors."""

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
from regard.training.preparation import tell_cut


def settled(config: Config, given: Pretrained, recorder: Recorder) -> Config:
    """The same with what the pretrained model decides: widths, capitals, and how much is read together."""
    width, hidden = given.table.size(1), int(given.model.config.hidden_size)  # type: ignore[union-attr, arg-type]
    if config.model.embedding not in (None, width):
        raise InputError(f"embedding = {config.model.embedding}: the pretrained model's vectors have {width} numbers")
    lowercase = WordPieces(given.tokenizer).lowercase
    if lowercase != config.data.lowercase:
        recorder.note(f"the pretrained model reads capitals {'as small letters' if lowercase else 'as they are'}")
    values = {"embedding": width, "lowercase": lowercase}
    if config.model.levels == 1:
        values["hidden"] = hidden
    if config.model.window is None:
        values["window"] = given.longest
    return config.override(values)


def learn_pieces(
    config: Config, given: Pretrained, examples: Sequence[Example], recorder: Recorder
) -> tuple[WordPieces, Tensor]:
    """The tokenizer, and a vector for each of its numbers, NaN where the model has none."""
    most = config.data.max_words
    if most is not None:
        tell_cut(sum(len(spans(example.text)) > most for example in examples), len(examples), most, recorder)
    longest = None if config.model.window else given.longest
    tokenizer = WordPieces(given.tokenizer, config.model.levels, most, longest)
    sources = torch.from_numpy(tokenizer.sources)
    vectors = given.table[sources.clamp(min=0)].masked_fill((sources < 0).unsqueeze(1), torch.nan)
    return tokenizer, vectors


def tell_windows(texts: Iterable[Indexed], window: int, recorder: Recorder) -> None:
    """Long texts are read whole, but not all at once: that is said."""
    counts = [int(text.shape[0].max(initial=0)) if text.shape else len(text.ids) for text in texts]
    more = sum(count > window for count in counts)
    if more:
        recorder.note(
            f"{more} of {len(counts)} texts have more than {window} word pieces in a row and are read in windows"
        )


def digest_of(given: Pretrained) -> str:
    told = sha256(json.dumps(given.encoder_config, sort_keys=True).encode())
    told.update(given.tokenizer.encode("utf-8", "replace"))
    for value in (given.table, *given.model.state_dict().values()):
        told.update(value.numpy().tobytes())
    return told.hexdigest()
