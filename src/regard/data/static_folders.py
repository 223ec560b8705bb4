"""Static vectors of word pieces in a folder, as model2vec and sentence-transformers (StaticEmbedding) write them.

A folder holds model.safetensors and tokenizer.json; in a sentence-transformers model they may be in a subfolder. The vector of a
word is the mean of the vectors of its pieces, each times the piece's own weight, if the model has weights. So every word has a
vector that can be spelled with known pieces. Nothing in the folder is executed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from regard.data.words import forms
from regard.errors import InputError
from regard.extras import import_extra

SUBFOLDERS = (".", "0_StaticEmbedding", "0_StaticEmbedding_document")
NAMES = ("embeddings", "embedding.weight")  # of the table, in model2vec and in sentence-transformers
SPACES = "Ġ▁"  # what stands for a space before a word in the vocabularies of byte-level BPE and SentencePiece
CONTINUES = "##"  # WordPiece's mark of a piece that continues a word

Floats = npt.NDArray[np.float32]


class StaticFolder:
    """Vectors of any word, from those of its pieces."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        found = [folder / name for name in SUBFOLDERS if (folder / name / "tokenizer.json").is_file()]
        found = [path for path in found if (path / "model.safetensors").is_file()]
        if not found:
            raise InputError(
                f"{folder}: expected a folder of static vectors with model.safetensors and tokenizer.json, as model2vec and "
                "sentence-transformers write them, got one without; `regard vectors distill` makes such a folder"
            )
        self.tokenizer_path, self.path = found[0] / "tokenizer.json", found[0] / "model.safetensors"
        self.table = self.read_table()

    @property
    def width(self) -> int:
        return int(self.table.shape[1])

    def read_table(self) -> Floats:
        """(pieces, width) the vectors of the pieces, times their weights"""
        try:
            arrays = safetensors.numpy.load_file(self.path)
        except Exception as error:  # safetensors has no public class of its own for damaged files
            raise InputError(f"{self.path}: cannot be read ({' '.join(str(error).split())[:100]})") from None
        name = next((name for name in NAMES if name in arrays), None)
        if name is None or arrays[name].ndim != 2 or not arrays[name].shape[1]:
            raise InputError(
                f"{self.path}: expected static vectors, an array {NAMES[0]!r} or {NAMES[1]!r} of two axes, got "
                f"{', '.join(sorted(arrays)[:5]) or 'none'}; a model with an encoder can be distilled: regard vectors distill"
            )
        table = arrays[name].astype(np.float32)
        if "mapping" in arrays:  # several pieces share a vector
            table = table[self.checked_mapping(arrays["mapping"], len(table))]
        if "weights" in arrays:
            if arrays["weights"].shape != (len(table),):
                raise InputError(
                    f"{self.path}: weights: expected one per piece ({len(table)}), got the shape {arrays['weights'].shape}"
                )
            table = table * arrays["weights"].astype(np.float32)[:, None]
        if not np.isfinite(table).all():
            raise InputError(f"{self.path}: contains numbers that are not finite")
        return table

    def checked_mapping(self, mapping: npt.NDArray[Any], rows: int) -> npt.NDArray[np.int64]:
        if mapping.ndim != 1 or mapping.dtype.kind not in "iu" or not ((mapping >= 0) & (mapping < rows)).all():
            raise InputError(f"{self.path}: mapping: expected rows from 0 to {rows - 1}, one per piece")
        return mapping.astype(np.int64)

    @cached_property
    def backend(self) -> Any:
        tokenizers = import_extra("tokenizers", f"{self.folder}: reading static vectors of word pieces")
        try:
            backend = tokenizers.Tokenizer.from_file(str(self.tokenizer_path))
        except Exception as error:  # nothing narrower: the package raises plain Exception
            reason = " ".join(str(error).split())[:100]
            raise InputError(f"{self.tokenizer_path}: not a tokenizer ({reason})") from None
        backend.no_padding()
        backend.no_truncation()
        if (pieces := 1 + max(backend.get_vocab().values(), default=-1)) > len(self.table):
            raise InputError(f"{self.folder}: expected a vector for each of the {pieces} pieces, got {len(self.table)}")
        return backend

    @cached_property
    def silent(self) -> set[int]:
        """Pieces that stand for nothing in a text: padding, unknown and other special ones."""
        model = json.loads(self.tokenizer_path.read_text(encoding="utf-8")).get("model", {})
        special = {number for number, token in self.backend.get_added_tokens_decoder().items() if token.special}
        unknown = model.get("unk_id")
        if unknown is None and model.get("unk_token") is not None:
            unknown = self.backend.token_to_id(model["unk_token"])
        return special if unknown is None else special | {unknown}

    def words(self) -> list[str]:
        """The words that are pieces by themselves, in the order of the vocabulary. Any other word is composed when asked for."""
        pieces = sorted(self.backend.get_vocab().items(), key=lambda entry: entry[1])
        names = [piece.lstrip(SPACES) for piece, number in pieces if number not in self.silent]
        found = dict.fromkeys(name for name in names if not name.startswith(CONTINUES))
        return [name for name in found if forms(name, False) == [name]]

    def vectors(self, words: Sequence[str]) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """(words, width), zeros where a word has no known piece, and which have one"""
        before = " " if any(piece.startswith(SPACES[0]) for piece in self.backend.get_vocab()) else ""
        readable = [before + word.encode("utf-8", "replace").decode("utf-8") for word in words]
        encoded = self.backend.encode_batch(readable, add_special_tokens=False)
        pieces = [[number for number in encoding.ids if number not in self.silent] for encoding in encoded]
        counts = np.array([len(ids) for ids in pieces], dtype=np.int64)
        table = np.zeros((len(words), self.width), dtype=np.float32)
        for place in range(counts.max(initial=0)):  # the first piece of every word, then the second, …
            rows = np.flatnonzero(counts > place)
            table[rows] += self.table[[pieces[row][place] for row in rows.tolist()]]
        table /= np.maximum(counts, 1).astype(np.float32)[:, None]
        return table, counts > 0
