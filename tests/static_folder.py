"""A tiny folder of static vectors, in the layouts of model2vec and sentence-transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

PIECES = ["[PAD]", "[UNK]", "good", "bad", "film", "##s", "un", "##like", "##ly", "dull", "!", "not"]


def vectors_of(pieces: int = len(PIECES), width: int = 3) -> Any:
    return np.random.default_rng(7).normal(size=(pieces, width)).astype(np.float16)


def write_static(folder: Path, layout: str = "model2vec", **arrays: Any) -> Path:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    inner = folder / "0_StaticEmbedding" if layout == "sentence-transformers" else folder
    inner.mkdir(parents=True)
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.enable_truncation(1)  # models are saved with a limit, which must not cut words
    tokenizer.enable_padding(length=4)
    tokenizer.save(str(inner / "tokenizer.json"))
    name = "embedding.weight" if layout == "sentence-transformers" else "embeddings"
    save_file({name: vectors_of(), **arrays}, inner / "model.safetensors")
    return folder
