"""CUDA graphs on texts of many lengths: how many steps are replayed, time per step, and memory, beside plain steps.

    PYTHONPATH=src python benchmarks/graph_shapes.py [--save] [--only HAN]

Texts have the lengths of movie reviews (log-normal, 230 words on average, cut after 400; sentences of 20 words). Every cell and
condition is a process of its own. Times are of steps of the last epoch, in which the shapes are known; "all" is the mean over
all epochs, captures included. Memory is the peak that tensors used and the peak that PyTorch reserved.

Conditions: plain steps; graphs; graphs with the widest batches of the first epoch first; graphs with segments of
PyTorch's allocator that can grow.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from figures import gpu_machine, save_figures
from stacked import WORDS, alone, configured, together

from regard.data.collate import collate, shuffled_together
from regard.data.tokenizer import Indexed
from regard.models.device import choose_device
from regard.training.batch_shapes import shape_of, with_common_shape
from regard.training.cuda_graphs import GraphedStep
from regard.training.step import Step
from regard.training.torch_engine import Texts
from regard.values import Batch
from regard_lab.fit_stacked import side_by_side
from regard_lab.stack import StackedStep

RESULTS = Path(__file__).parent / "results" / "graph_shapes.json"
TEXTS = 64 * 60
CELLS: dict[str, tuple[int, int, dict[str, Any]]] = {  # models, epochs, options
    "HAN": (1, 3, {"encoder": "bilstm", "levels": 2}),
    "ten HANs": (10, 3, {"encoder": "bilstm", "levels": 2}),
    "ten BiLSTMs": (10, 3, {"encoder": "bilstm"}),
}
CONDITIONS = ("plain", "graphs", "widest first", "growing segments")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    parser.add_argument("--only", default="", help="only this cell")
    parser.add_argument("--condition", default="", help="one condition in this process")
    arguments = parser.parse_args()
    if arguments.condition:
        print(json.dumps(measure(arguments.only, arguments.condition)))
        return
    figures: dict[str, Any] = {}
    for name in CELLS:
        if arguments.only in ("", name):
            figures[name] = {condition: in_a_process(name, condition) for condition in CONDITIONS}
            print(name, json.dumps(figures[name], indent=1), flush=True)
    figures["machine"] = gpu_machine()
    if arguments.save:
        save_figures(RESULTS, figures)


def in_a_process(name: str, condition: str) -> Any:
    command = [sys.executable, __file__, "--only", name, "--condition", condition]
    growing = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"} if condition == "growing segments" else {}
    result = subprocess.run(command, env=os.environ | growing, capture_output=True, text=True, check=False)
    if result.returncode:
        return {"failed": result.stderr.strip().splitlines()[-1]}
    return json.loads(result.stdout.splitlines()[-1])


def make_texts(levels: int) -> Texts:
    rng = np.random.default_rng(0)
    words = np.clip(rng.lognormal(5.25, 0.6, TEXTS), 10, 400).astype(int)
    indexed = []
    for count in words:
        ids = rng.integers(2, WORDS, count).astype(np.int32)
        lengths = np.clip(rng.lognormal(2.85, 0.6, count), 1, 120).astype(int)
        ends = np.minimum(np.cumsum(lengths), count)
        sentences = np.diff(ends, prepend=0)
        indexed.append(Indexed(ids, (sentences[sentences > 0],) if levels == 2 else ()))
    return Texts(indexed, np.array([float(text.ids[0] % 2) for text in indexed]))


def measure(name: str, condition: str) -> dict[str, float]:
    choose_device("cuda")
    models, epochs, options = CELLS[name]
    config = configured({"embedding": 100, **options})
    levels = config.model.levels
    texts = make_texts(levels)
    step: Step | StackedStep = alone(config) if models == 1 else together(config)
    graphed = GraphedStep(step)
    take = step if condition == "plain" else graphed
    shapes, seconds = set(), []  # seconds per step of each epoch
    for epoch in range(1, epochs + 1):
        batches = [
            make_batch(texts, rows, levels) for rows in shuffled_together(texts.indexed, 64, range(models), epoch)
        ]
        if condition == "widest first" and epoch == 1:
            batches.sort(key=lambda batch: -batch.ids.numel())
        shapes |= {shape_of(with_common_shape(batch, levels)) for batch in batches}
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for batch in batches:
            take(batch)
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - begin) / len(batches))
    return {
        "shapes": len(shapes),
        "graphs": len(graphed.graphs),
        "ms_all": round(np.mean(seconds) * 1000, 2),
        "ms_last": round(seconds[-1] * 1000, 2),
        "gib_used": round(torch.cuda.max_memory_allocated() / 2**30, 2),
        "gib_reserved": round(torch.cuda.max_memory_reserved() / 2**30, 2),
    }


def make_batch(texts: Texts, rows: Any, levels: int) -> Batch:
    if len(rows) > 1:
        return side_by_side(texts, rows, levels)
    return collate([texts.indexed[row] for row in rows[0]], levels, texts.labels[rows[0]])


if __name__ == "__main__":
    main()
