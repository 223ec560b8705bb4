"""The kind "speed": speed of poolings relative to APLN (Table 4), and of x^p relative to exp(p·log(x + ε)) (footnote 4).

A cell times one form alternately with the form that it is compared to, on the same random states, after a warm-up: `speed` is
the median time of the other form divided by that of this form, so that APLN has 1.000 as in the paper. Seeds are repetitions
with other states. Attention weights are given, because all forms need them; with `layer = true` they are computed too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from regard.errors import InputError
from regard_lab.measures import Measure
from regard_lab.rows import Options, Row
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    from torch import Tensor

    from regard_lab.tables.table import Cell

Form = Callable[..., "Tensor"]  # (states, weights, norm, mask) -> (N, D)

KEYS: Options = {
    "form": str,  # of a method: a name in `forms`
    "beside": str,  # the form whose speed is 1.000
    "shape": tuple[int, ...],  # of a corpus: texts, words, features
    "machine": Literal["cpu", "cuda"],  # of a setting: the device, instead of that of the command line
    "backward": bool,  # of a setting: with gradients
    "layer": bool,  # of a setting: with attention scores
    "threads": int,  # on a CPU
}
MEASURES = {"speed": Measure("Speed", 1, 3, 1), "ms": Measure("ms", 1, 3, -1)}
NORM = 0.9  # near the p learned in the paper; a power of 1 could be skipped
ROUNDS, SECONDS = 9, 0.5  # at least this many measurements, and this much time
SAMPLE = 0.005  # seconds per measurement


def forms() -> dict[str, Form]:
    """The forms of pooling, and two ways to compute a power."""
    import torch
    from torch.nn import functional

    from regard.kernels.attended_power_mean import attended_power_mean
    from regard.kernels.power_mean import EPSILON, direct_power_mean, power_mean
    from regard.masking import weighted_sum
    from regard.poolings.apln import normalise

    def limited(limit: Callable[[Tensor], Tensor], mean: Form) -> Form:
        def form(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
            return mean(limit(weights.unsqueeze(-1) * states), weights, norm, mask)

        return form

    def normalised(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
        return power_mean(normalise(weights.unsqueeze(-1) * states, mask), weights, norm, mask)

    both = partial(functional.hardtanh, min_val=0.0, max_val=1.0)
    return {
        "apln": limited(both, power_mean),
        "unsigned": limited(partial(torch.clamp, max=1), power_mean),
        "unbounded": limited(partial(torch.clamp, min=0), power_mean),
        "pow": limited(both, direct_power_mean),
        "normalise": normalised,
        "kernel": attended_power_mean,
        "attention": lambda states, weights, norm, mask: weighted_sum(weights, states),
        "average": lambda states, weights, norm, mask: states.mean(1),
        "maximum": lambda states, weights, norm, mask: states.amax(1),
        "power by log": lambda states, weights, norm, mask: (norm * (states + EPSILON).log()).exp(),
        "power by pow": lambda states, weights, norm, mask: torch.pow(states, norm),
    }


def check(cell: Cell) -> None:
    names = forms()
    for key in ("form", "beside"):
        if cell.options.get(key) not in names:
            raise InputError(f"{cell.name}: {key}: expected one of {', '.join(names)}, got {cell.options.get(key)!r}")
    shape = cell.options.get("shape", ())
    if len(shape) != 3 or min(shape) < 1:
        raise InputError(
            f"{cell.name}: shape: expected numbers of texts, words and features, 1 or more each, got {list(shape)}"
        )


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    import torch

    from regard import __version__
    from regard.models.device import choose_device
    from regard.training.fit_torch import environment

    options = cell.options
    if options["machine"] == "cuda" and not torch.cuda.is_available():
        context.recorder.note(f"{cell.name} is skipped: no CUDA device")  # not a failure: another machine may run it
        return
    device, threads = choose_device(options["machine"]), torch.get_num_threads()
    torch.set_num_threads(options.get("threads", 2))
    try:
        for seed in seeds:
            start = time.perf_counter()
            steps = {
                name: step(options, name, device, seed) for name in dict.fromkeys((options["form"], options["beside"]))
            }
            times = alternating_times(steps, lambda: torch.cuda.synchronize() if device.type == "cuda" else None)
            ours, theirs = (statistics.median(times[options[key]]) for key in ("form", "beside"))
            yield {
                "seed": seed,
                "values": {"speed": theirs / ours, "ms": 1000 * ours, "turns": len(times[options["form"]])},
                "seconds": time.perf_counter() - start,
                "data": {},  # random states
                "environment": {**environment(device), "regard": __version__},
            }
    finally:
        torch.set_num_threads(threads)


def step(options: Options, name: str, device: Any, seed: int) -> Callable[[], None]:
    """One pass of a form over states like those of an LSTM, or of a power over numbers from 0 to 1."""
    import torch

    from regard.masking import masked_softmax
    from regard.poolings.scorer import Scorer

    texts, words, features = options["shape"]
    sampling = {"generator": torch.Generator(device).manual_seed(seed), "device": device}
    states = torch.randn(texts, words, features, **sampling).tanh_()
    states = (states.abs_() if name.startswith("power") else states).requires_grad_()
    scores = torch.randn(texts, words, **sampling)
    mask = torch.ones(texts, words, dtype=torch.bool, device=device)
    weights = masked_softmax(scores, mask).requires_grad_()
    norm = torch.tensor(NORM, device=device, requires_grad=True)
    scorer = Scorer(features).to(device)
    form, layer, backward = forms()[name], options.get("layer", False), options.get("backward", True)
    leaves = [states, norm, *(scorer.parameters() if layer else [weights])]

    def once() -> None:
        with torch.set_grad_enabled(backward):
            pooling_weights = masked_softmax(scorer(states), mask) if layer else weights
            vector = form(states, pooling_weights, norm, mask)
        if backward:
            torch.autograd.grad(vector.sum(), leaves, allow_unused=True)

    return once


def alternating_times(steps: Mapping[str, Callable[[], None]], wait: Callable[[], None]) -> dict[str, list[float]]:
    """Seconds per pass, each measured over enough passes; the forms alternate, so that other load affects both."""

    def seconds_per_pass(once: Callable[[], None], passes: int) -> float:
        wait()
        start = time.perf_counter()
        for _ in range(passes):
            once()
        wait()
        return (time.perf_counter() - start) / passes

    passes: dict[str, int] = {}
    for name, once in steps.items():
        seconds_per_pass(once, 2)  # warm-up: memory, compilation
        passes[name] = max(1, round(SAMPLE / seconds_per_pass(once, 1)))
    times: dict[str, list[float]] = {name: [] for name in steps}
    start = time.perf_counter()
    while len(next(iter(times.values()))) < ROUNDS or time.perf_counter() - start < SECONDS:
        for name, once in steps.items():
            times[name].append(seconds_per_pass(once, passes[name]))
    return times
