"""What it costs that NaN on padding does not spoil a pooling: nothing is done, states are set to 0, or the result is checked.

    python benchmarks/padding.py [--save]

A step is forward and backward of the pooling alone, on the CPU with one thread, for a training batch (64 texts of up to 100
tokens, 200 wide) and for one text of 20 tokens. "checked" is what poolings do, "filled" would be `masking.fill` before each, and
the time is relative to a pooling that does neither. The three take turns, and each CPU time is the least of all repetitions.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from unittest import mock

import torch
from figures import machine, save_figures
from torch import Tensor

from regard.masking import fill
from regard.poolings import APLN, Attention, Average, Bottleneck, Last, Pooling
from regard.poolings import pooling as pooling_module

RESULTS = Path(__file__).parent / "results" / "padding.json"
WIDTH = 200
SHAPES = {"batch": (64, 100), "one text": (1, 20)}
POOLINGS: dict[str, Pooling] = {
    "average": Average(),
    "last": Last(2),
    "attention": Attention(WIDTH),
    "attention dot": Attention(WIDTH, "dot"),
    "bottleneck": Bottleneck(WIDTH),
    "apln sample": APLN(WIDTH, norm="sample"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="steps of each kind")
    parser.add_argument("--save", action="store_true", help=f"save the figures in {RESULTS.name}")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    times: dict[str, dict[str, dict[str, float]]] = {}
    for shape, (rows, length) in SHAPES.items():
        states = torch.randn(rows, length, WIDTH, requires_grad=True)
        mask = torch.arange(length) < torch.randint(length // 4, length + 1, (rows, 1))
        times[shape] = {name: compared(pooling, states, mask, arguments.repeats) for name, pooling in POOLINGS.items()}
        for name, one in times[shape].items():
            print(f"{shape:9} {name:14} " + "  ".join(f"{kind} {ratio:.3f}" for kind, ratio in one.items()))
    if arguments.save:
        save_figures(RESULTS, {"relative_time": times, "machine": machine("torch")})
    else:
        print(json.dumps(times))


def compared(pooling: Pooling, states: Tensor, mask: Tensor, repeats: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {"plain": [], "checked": [], "filled": []}
    for _ in range(repeats):
        for kind, measured in seconds.items():
            with mock.patch.object(pooling_module, "can_look", lambda _, looks=kind == "checked": looks):
                begin = time.process_time()
                given = fill(states, mask) if kind == "filled" else states
                pooling(given, mask).vector.sum().backward()
                measured.append(time.process_time() - begin)
    least = {kind: min(measured) for kind, measured in seconds.items()}
    return {kind: least[kind] / least["plain"] for kind in ("checked", "filled")}


if __name__ == "__main__":
    main()
