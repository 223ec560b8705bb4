"""The kind "speed": how fast poolings are beside APLN's own form (Table 4), and x^p beside exp(p·log(x + ε)) (footnote 4).

A cell times one form by turns with the form that it is compared to, on the same made-up states, after a warm-up: `speed` is the
median time of the other over its own, so that APLN has 1.000 as in the paper. Seeds are repetitions with other states.
Scores that attention is made of are given: every form shares them. With `layer = true` they are taken too.
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
    "beside": str,  # the form whose time is 1.000
    "shape": tuple[int, ...],  # of a corpus: texts, words, features
    "machine": Literal["cpu", "cuda"],  # of a setting: it, and not the command line, says where
    "backward": bool,  # of a setting: gradients too
    "layer": bool,  # of a setting: the scores of attention too
    "threads": int,  # of a CPU
}
MEASURES = {"speed": Measure("Speed", 1, 3, 1), "ms": Measure("ms", 1, 3, -1)}
NORM = 0.9  # p near what the paper learns; at 1 a power could be skipped
ROUNDS, SECONDS = 9, 0.5  # turns at least, and time to spend on more of them
SAMPLE = 0.005  # seconds that one reading of the clock should cover


def forms() -> dict[str, Form]:
    """The ways to take one vector of states, and the two ways to take a power."""
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
    known = forms()
    for key in ("form", "beside"):
        if cell.options.get(key) not in known:
            raise InputError(f"{cell.name}: {key} = {cell.options.get(key)!r}; known are {', '.join(known)}")
    shape = cell.options.get("shape", ())
    if len(shape) != 3 or min(shape) < 1:
        raise InputError(f"{cell.name}: shape = {list(shape)}; texts, words and features are needed, 1 or more of each")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    import torch

    from regard import __version__
    from regard.training.device import choose_device
    from regard.training.fit_torch import environment

    own = cell.options
    if own["machine"] == "cuda" and not torch.cuda.is_available():
        context.recorder.note(f"{cell.name} is left: there is no CUDA device here")  # no failure: somebody else's turn
        return
    place, threads = choose_device(own["machine"]), torch.get_num_threads()
    torch.set_num_threads(own.get("threads", 2))
    try:
        for seed in seeds:
            begun = time.perf_counter()
            steps = {name: step(own, name, place, seed) for name in dict.fromkeys((own["form"], own["beside"]))}
            times = by_turns(steps, lambda: torch.cuda.synchronize() if place.type == "cuda" else None)
            ours, theirs = (statistics.median(times[own[key]]) for key in ("form", "beside"))
            yield {
                "seed": seed,
                "values": {"speed": theirs / ours, "ms": 1000 * ours, "turns": len(times[own["form"]])},
                "seconds": time.perf_counter() - begun,
                "data": {},  # made up
                "environment": {**environment(place), "regard": __version__},
            }
    finally:
        torch.set_num_threads(threads)


def step(options: Options, name: str, device: Any, seed: int) -> Callable[[], None]:
    """One pass of a form over states like an LSTM's, or of a power over numbers from 0 to 1."""
    import torch

    from regard.masking import masked_softmax
    from regard.poolings.scorer import Scorer

    texts, words, features = options["shape"]
    made = {"generator": torch.Generator(device).manual_seed(seed), "device": device}
    states = torch.randn(texts, words, features, **made).tanh_()
    states = (states.abs_() if name.startswith("power") else states).requires_grad_()
    scores = torch.randn(texts, words, **made)
    mask = torch.ones(texts, words, dtype=torch.bool, device=device)
    weights = masked_softmax(scores, mask).requires_grad_()
    norm = torch.tensor(NORM, device=device, requires_grad=True)
    scorer = Scorer(features).to(device)
    form, layer, backward = forms()[name], options.get("layer", False), options.get("backward", True)
    leaves = [states, norm, *(scorer.parameters() if layer else [weights])]

    def once() -> None:
        with torch.set_grad_enabled(backward):
            given = masked_softmax(scorer(states), mask) if layer else weights
            vector = form(states, given, norm, mask)
        if backward:
            torch.autograd.grad(vector.sum(), leaves, allow_unused=True)

    return once


def by_turns(steps: Mapping[str, Callable[[], None]], wait: Callable[[], None]) -> dict[str, list[float]]:
    """Seconds a pass, each reading long enough for the clock; the forms take turns, so that what else happens hits both."""

    def read(once: Callable[[], None], passes: int) -> float:
        wait()
        begun = time.perf_counter()
        for _ in range(passes):
            once()
        wait()
        return (time.perf_counter() - begun) / passes

    passes: dict[str, int] = {}
    for name, once in steps.items():
        read(once, 2)  # warm-up: memory, compilation
        passes[name] = max(1, round(SAMPLE / read(once, 1)))
    times: dict[str, list[float]] = {name: [] for name in steps}
    begun = time.perf_counter()
    while len(next(iter(times.values()))) < ROUNDS or time.perf_counter() - begun < SECONDS:
        for name, once in steps.items():
            times[name].append(read(once, passes[name]))
    return times
