"""Memory of fine-tuning a BERT-size encoder: weights, gradients and Adam's states, and what a batch keeps for its gradient.

    PYTHONPATH=src python benchmarks/bert_memory.py [--save]

Observed on the CPU in one training step of small transformers with random weights, and computed from that for larger ones: what
is held per weight does not depend on the model. What a batch keeps grows with pieces × width × layers, and, because attention
with dropout keeps its matrices of pieces × pieces, also with the length of the texts; larger models are computed from small ones
with texts as long. One of BERT-base's size is observed too, beside what is computed for its batch; that takes about 6 GB.
`--save` writes results/bert_memory.json; docs/clusters.md quotes it.
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
SPECIAL = 2  # tokens that are added to the pieces of a text


class Case(NamedTuple):
    """A transformer and the batch of its step."""

    layers: int
    width: int
    texts: int = 8
    positions: int = 128  # of each text
    vocabulary: int = 3000

    @property
    def states(self) -> int:
        """What the memory for a gradient is counted by."""
        return self.texts * self.positions * self.width * self.layers


class Size(NamedTuple):
    layers: int
    width: int
    weights: int


LONG = Case(4, 256, texts=2, positions=512)
OBSERVED = (Case(2, 128), Case(4, 128), Case(4, 256), Case(4, 256, texts=4, positions=256), LONG)
BERT_BASE = Case(12, 768, texts=4, positions=512, vocabulary=30522)
LARGER = {  # published numbers of weights
    "BERT-base": Size(12, 768, 110_000_000),
    "BERT-large": Size(24, 1024, 335_000_000),
    "XLM-R XL": Size(36, 2560, 3_500_000_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    observed = [observe_alone(case) for case in OBSERVED]
    per_weight = max(row["bytes_a_weight"] for row in observed)
    per_state = observed[OBSERVED.index(LONG)]["kept_bytes_a_position_width_and_layer"]
    base = observe_alone(BERT_BASE)
    figures = {
        "observed": observed,
        "observed_bert_base": base,
        "computed_bert_base": {
            "bytes": round(base["weights"] * per_weight),
            "bytes_kept_for_the_gradient": round(BERT_BASE.states * per_state),
        },
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


def observe_alone(case: Case) -> dict[str, Any]:
    """In a process of its own, which has had no peak before."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(observe, case).result()


def observe(case: Case) -> dict[str, Any]:
    model, config = make_model(case)
    parameters = list(model.parameters())
    optimizer = make_optimizer(dict(model.named_parameters()), config.training)
    step = Step(model, Binary(("a", "b")), config.training, optimizer)
    rng = np.random.default_rng(0)
    pieces = case.positions - SPECIAL
    texts = [Indexed(rng.integers(2, case.vocabulary, pieces).astype(np.int32)) for _ in range(case.texts)]
    batch = collate(texts, 1, np.zeros(case.texts))
    kept: dict[int, int] = {}
    own = {weight.untyped_storage().data_ptr() for weight in parameters}

    def count(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return value

    model.train()
    before = resident()
    with torch.autograd.graph.saved_tensors_hooks(count, lambda value: value):
        step(batch)
    weights = sum(weight.numel() for weight in parameters)
    held = {
        "weights": size_of(parameters),
        "gradients": size_of([weight.grad for weight in parameters if weight.grad is not None]),
        "adam": size_of([value for state in optimizer.state.values() for value in state.values()]),
    }
    return {
        **case._asdict(),
        "weights": weights,
        "bytes": held,
        "bytes_a_weight": round(sum(held.values()) / weights, 2),
        "bytes_kept_for_the_gradient": sum(kept.values()),
        "kept_bytes_a_position_width_and_layer": round(sum(kept.values()) / case.states, 1),
        "most_in_the_first_step_above_before": peak() - before,
    }


def make_model(case: Case) -> tuple[Classifier, Config]:
    """A transformer of BERT's form with random weights, under attention pooling and a head, as regard fine-tunes it."""
    with tempfile.TemporaryDirectory() as folder:
        save_transformer(Path(folder), case)
        pretrained = read_pretrained(folder)
        options = {"encoder": "bert", "pretrained": folder, "hidden": case.width, "embedding": case.width}
        config = fill_defaults(Config().override({**options, "window": 0, "task": "binary"}), DataSize(1000, 0))
        pieces = WordPieces(pretrained.tokenizer)
        vectors = torch.randn(len(pieces), case.width)
        encoder = BERT.from_pretrained(pretrained, config.model)
        return build(config.model, len(pieces), 1, config.training.dropout, vectors, encoder), config


def save_transformer(folder: Path, case: Case) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    numbers = {
        piece: number
        for number, piece in enumerate([*special, *(f"piece{n}" for n in range(case.vocabulary - len(special)))])
    }
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    around = [(name, numbers[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    sizes = {"hidden_size": case.width, "num_hidden_layers": case.layers, "intermediate_size": 4 * case.width}
    config = AutoConfig.for_model("bert", vocab_size=len(numbers), num_attention_heads=case.width // 64, **sizes)
    AutoModel.from_config(config).save_pretrained(folder)


def size_of(tensors: list[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def resident() -> int:
    """Bytes of resident memory that the process has now."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize()


def peak() -> int:
    """Bytes of resident memory that the process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
