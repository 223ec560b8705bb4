"""Memory of fine-tuning a BERT-size encoder: weights, gradients and Adam's states, and what a batch keeps for its gradient.

    PYTHONPATH=src python benchmarks/bert_memory.py [--save]

Observed on the CPU in one training step of small transformers with random weights, and computed from that for larger ones: what
is held per weight does not depend on the model, and what a batch keeps grows with pieces × width × layers (the attention kernel
keeps no matrix of pieces × pieces). `--save` writes results/bert_memory.json; docs/clusters.md quotes it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from figures import machine, save_figures
from torch import Tensor

from regard.config import Config
from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.data.wordpieces import WordPieces
from regard.encoders import BERT
from regard.encoders.pretrained import read_pretrained
from regard.models.build import build
from regard.models.classifier import Classifier
from regard.models.tasks import Binary
from regard.training.defaults import DataSize, fill_defaults
from regard.training.optimizers import make_optimizer
from regard.training.step import Step

RESULTS = Path(__file__).parent / "results" / "bert_memory.json"
TEXTS, PIECES, VOCABULARY = 8, 126, 3000  # two special tokens are added: 128 positions


class Size(NamedTuple):
    layers: int
    width: int
    weights: int


OBSERVED = ((2, 128), (4, 128), (4, 256))
LARGER = {  # published numbers of weights
    "BERT-base": Size(12, 768, 110_000_000),
    "BERT-large": Size(24, 1024, 335_000_000),
    "XLM-R XL": Size(36, 2560, 3_500_000_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    observed = []
    for layers, width in OBSERVED:  # each in a process of its own, which has had no peak before
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            observed.append(pool.submit(observe, layers, width).result())
    per_weight = max(row["bytes_a_weight"] for row in observed)
    per_state = max(row["kept_bytes_a_position_width_and_layer"] for row in observed)
    figures = {
        "batch": {"texts": TEXTS, "positions_a_text": PIECES + 2},
        "observed": observed,
        "computed": {name: compute(size, per_weight, per_state) for name, size in LARGER.items()},
    }
    print(json.dumps(figures, indent=1))
    if arguments.save:
        save_figures(RESULTS, {**figures, "machine": machine("torch", "transformers")})


def compute(size: Size, per_weight: float, per_state: float) -> dict[str, float]:
    batch = 32 * 512 * size.width * size.layers * per_state
    return {
        "weights_millions": size.weights / 1e6,
        "gb_of_weights_gradients_and_adam": round(size.weights * per_weight / 1e9, 2),
        "gb_kept_for_32_texts_of_512_pieces": round(batch / 1e9, 2),
        "gb_kept_for_1_text_of_512_pieces": round(batch / 32e9, 2),
    }


def observe(layers: int, width: int) -> dict[str, Any]:
    model, config = make_model(layers, width)
    parameters = list(model.parameters())
    optimizer = make_optimizer(dict(model.named_parameters()), config.training)
    step = Step(model, Binary(("a", "b")), config.training, optimizer)
    rng = np.random.default_rng(0)
    texts = [Indexed(rng.integers(2, VOCABULARY, PIECES).astype(np.int32)) for _ in range(TEXTS)]
    batch = collate(texts, 1, np.zeros(TEXTS))
    kept: dict[int, int] = {}
    own = {weight.untyped_storage().data_ptr() for weight in parameters}

    def count(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return value

    model.train()
    before = peak()
    with torch.autograd.graph.saved_tensors_hooks(count, lambda value: value):
        step(batch)
    weights = sum(weight.numel() for weight in parameters)
    held = {
        "weights": size_of(parameters),
        "gradients": size_of([weight.grad for weight in parameters if weight.grad is not None]),
        "adam": size_of([value for state in optimizer.state.values() for value in state.values()]),
    }
    positions = TEXTS * (PIECES + 2)
    return {
        "layers": layers,
        "width": width,
        "weights": weights,
        "bytes": held,
        "bytes_a_weight": round(sum(held.values()) / weights, 2),
        "bytes_kept_for_the_gradient": sum(kept.values()),
        "kept_bytes_a_position_width_and_layer": round(sum(kept.values()) / (positions * width * layers), 1),
        "growth_of_the_peak_in_the_first_step": peak() - before,
    }


def make_model(layers: int, width: int) -> tuple[Classifier, Config]:
    """A transformer of BERT's form with random weights, under attention pooling and a head, as regard fine-tunes it."""
    with tempfile.TemporaryDirectory() as folder:
        save_transformer(Path(folder), layers, width)
        pretrained = read_pretrained(folder)
        options = {"encoder": "bert", "pretrained": folder, "hidden": width, "embedding": width}
        config = fill_defaults(Config().override({**options, "window": 0, "task": "binary"}), DataSize(1000, 0))
        pieces = WordPieces(pretrained.tokenizer)
        vectors = torch.randn(len(pieces), width)
        encoder = BERT.from_pretrained(pretrained, config.model)
        return build(config.model, len(pieces), 1, config.training.dropout, vectors, encoder), config


def save_transformer(folder: Path, layers: int, width: int) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    numbers = {piece: number for number, piece in enumerate([*special, *(f"piece{n}" for n in range(VOCABULARY))])}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    around = [(name, numbers[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": 4 * width}
    config = AutoConfig.for_model("bert", vocab_size=len(numbers), num_attention_heads=width // 64, **sizes)
    AutoModel.from_config(config).save_pretrained(folder)


def size_of(tensors: list[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def peak() -> int:
    """Bytes of resident memory that the process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
