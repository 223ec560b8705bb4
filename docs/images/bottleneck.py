"""The pictures of docs/bottleneck.md that are no results of a table: `python docs/images/bottleneck.py`, some three minutes.

But for the scheme they come from the built-in reviews, whose deciding words are known, in two classes (1–2 and 4–5 stars): an
LSTM with a bottleneck, looked at after each round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.config import Config
from regard.data.reviews import splits
from regard.explain.explain import explain
from regard.faithfulness.plausibility import plausibility
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.svg import COLOURS, EDGE, FAINT, INK, LEFT, document, panels, text
from regard.training.fit import Parts
from regard.training.fit_torch import encode_texts, make_inputs, make_model, prepare_torch
from regard.training.loop import train
from regard.training.torch_engine import TorchEngine
from regard_lab.kinds.drawings import WIDE, cloud
from regard_lab.kinds.purified import round_paths
from regard_lab.kinds.rounds import FIRST_ROUND, RoundRecorder, tsne
from regard_lab.kinds.weights import side_by_side
from regard_lab.statistics import mean_interval

FOLDER = Path(__file__).parent
SENTENCE = "We came on a Tuesday, the soup was wonderful, and I paid myself."
SIDES = {"1": "negative", "2": "negative", "4": "positive", "5": "positive"}
SEEDS, ROUNDS, BETA, BETAS = range(5), 5, 0.1, (0.0, 0.01, 0.1, 1.0)
OPTIONS: dict[str, Any] = {
    "encoder": "lstm",
    "pooling": "bottleneck",
    "embedding": 50,
    "hidden": 50,
    "query": 50,
    "task": "binary",
    "epochs": 12,
    "patience": 3,
    "rounds": ROUNDS,
    "device": "cpu",
}


class Weights(Silent):
    """The attention weights after each round, recorded when `RoundRecorder` evaluates the model."""

    trained: Trained

    def __init__(self, examples: Sequence[Example]):
        self.examples = examples
        self.deciding: dict[int, float] = {}  # by round: the weight on deciding words
        self.alike = 0.0  # … if all words weighed alike
        self.sentence: dict[int, dict[str, Any]] = {}

    def enter(self, phase: str) -> None:
        if phase.startswith(FIRST_ROUND):
            self.look(0)

    def end(self, record: Mapping[str, Any]) -> None:
        if record.get("phase") == "compressor":
            self.look(record["round"])

    def look(self, number: int) -> None:
        found = list(explain(self.trained, [example.text for example in self.examples]))
        known = plausibility(found, [example.evidence for example in self.examples])
        self.deciding[number], self.alike = known["weight_on_evidence"], known["random"]
        self.sentence[number] = next(iter(explain(self.trained, [SENTENCE]))).as_dict()


class Seen(NamedTuple):
    """One run, looked at after each round."""

    weights: Weights
    looks: RoundRecorder
    paths: dict[str, list[float]]


def run(texts: Mapping[str, list[Example]], beta: float, seed: int) -> Seen:
    weights = Weights(texts["test"])
    config = Config().override({**OPTIONS, "beta": beta, "seed": seed})
    given = prepare_torch(config, Parts(texts["train"], texts["dev"]), weights)
    learned = make_inputs(given, weights)
    model = make_model(given, learned, seed)
    weights.trained = Trained(
        given.config, learned.tokenizer, given.task, {}, model=model, encoder_config=given.encoder_config
    )
    tested = encode_texts(learned.tokenizer, given.task, texts["test"], "texts")
    looks = RoundRecorder(weights, model, given.task, tested, len(texts["test"]))
    with TorchEngine(model, given.task, learned.texts, learned.dev, given.config.training) as engine:
        progress = train(engine, looks)
    return Seen(weights, looks, round_paths(progress.history))


def along(name: str, first: int, paths: Sequence[Sequence[float]]) -> Curve:
    """Means over seeds with 95 % intervals, from round `first` on."""
    means = [one for several in zip(*paths, strict=True) if (one := mean_interval(several)) is not None]
    y, low, high = (tuple(getattr(one, part) for one in means) for part in ("mean", "low", "high"))
    return Curve(name, tuple(map(float, range(first, first + len(means)))), y, low, high)


def rounds(seen: Mapping[float, Sequence[Seen]]) -> str:
    def per_cent(runs: Sequence[Seen], of: str) -> list[list[float]]:
        found = [run.weights.deciding if of == "deciding" else getattr(run.looks, of) for run in runs]
        return [[100 * own[number] for number in sorted(own)] for own in found]

    heads = (
        along("the learner's head", 0, per_cent(seen[BETA], "accuracy")),
        along("the compressor's", 1, per_cent(seen[BETA], "compressed")),
    )
    kept = tuple(
        along(f"β = {beta:g}", 1, [run.paths["rounds.kl"] for run in runs]) for beta, runs in seen.items() if beta
    )
    found = [along(f"β = {beta:g}", 0, per_cent(runs, "deciding")) for beta, runs in seen.items()]
    alike = [[100 * run.weights.alike] * (ROUNDS + 1) for run in seen[BETA]]
    shown = [
        Panel(f"Accuracy on test texts, %; β = {BETA:g}", heads),
        Panel("KL divergence on dev texts", kept),
        Panel("Weight on the deciding words, %", (*found, along("all words alike", 0, alike))),
    ]
    return lines("What the rounds do to one small model", "round", "", shown, band=True, whole=True)


def sentence(seen: Seen) -> str:
    shown = {str(number): f"after round {number}" if number else "round 0: plain attention" for number in (0, 1, 3, 5)}
    texts = {name: {"values": {}, "texts": [seen.weights.sentence[int(name)]]} for name in shown}
    return side_by_side("The weights of one sentence", shown, texts)


def maps(seen: Seen, labels: Sequence[str]) -> str:
    codes = np.unique(labels, return_inverse=True)[1].tolist()
    drawn = [
        partial(cloud, f"after round {number}" if number else "round 0: plain attention", tsne(vectors), codes)
        for number, vectors in seen.looks.vectors_by_round.items()
        if number in (0, ROUNDS)
    ]
    return panels("Test texts in the plane (t-SNE), two classes", drawn, (WIDE, WIDE), (LEFT, 20), headed=True)


PARTS = {  # x, y and width
    "encoder": (92, 0, 158),
    "attention": (276, 0, 86),
    "R": (388, 0, 92),
    "head": (726, -34, 108),
    "u, σ": (508, 34, 58),
    "z": (592, 34, 108),
    "other head": (726, 34, 108),
}
NAMES = {"encoder": "word vectors, encoder", "R": "R = Σ αᵢ hᵢ", "z": "z = u + σ ⊙ ε"}
NAMES |= {"head": "learner's head", "other head": "its own head"}
FLOWS = (("encoder", "attention"), ("attention", "R"), ("R", "head"), ("R", "u, σ"), ("u, σ", "z"), ("z", "other head"))
ABOVE, BELOW = {"head"}, {"u, σ", "z", "other head"}
PHASES = (
    ("Round 0: plain attention", {"encoder", "attention", "head"}, BELOW),
    ("Every round, first the learner", {"encoder", "head"}, BELOW),
    ("… and then the compressor", {"attention", "u, σ", "other head"}, ABOVE),
)
HIGH, STEP = 30, 168


def scheme() -> str:
    body = [shape for place, phase in enumerate(PHASES) for shape in drawn(*phase, 62.0 + place * STEP)]
    return document("Learner and compressor: what learns in which phase", 920, 62 + STEP * len(PHASES), body)


def drawn(title: str, learns: set[str], idle: set[str], top: float) -> Iterator[str]:
    middle = top + 76
    yield text(12, top + 6, title, weight="600")
    yield text(20, middle + 4, "words")
    yield arrow(62, middle, PARTS["encoder"][0], middle, INK)
    for one, other in FLOWS:
        (x, y, width), (end, low, _) = PARTS[one], PARTS[other]
        yield arrow(x + width, middle + y, end, middle + low, EDGE if other in idle else INK)
    for name, (x, y, width) in PARTS.items():
        yield from box(name, x, middle + y, width, name in learns, name in idle)
    for name, loss in (("head", "cross-entropy"), ("other head", "cross-entropy + β · KL(N(u, σ²) ‖ N(0, I))")):
        if name not in idle:
            x, y, width = PARTS[name]
            yield arrow(x + width, middle + y, x + width + 26, middle + y, INK)
            yield text(x + width + 32, middle + y + 4, "label")
            yield text(x + width, middle + y + (-40 if y < 0 else 48), f"loss: {loss}", "end", COLOURS[1])


def box(name: str, x: float, y: float, width: float, learns: bool, idle: bool) -> Iterator[str]:
    """What learns is blue and has a solid edge, what stays a grey and dashed one; R and z have nothing to learn."""
    made = name in ("R", "z")
    edge = EDGE if idle else INK if made else COLOURS[0] if learns else FAINT
    fill = "#d9eaf5" if learns else "none" if made or idle else "#eeeeec"
    dash = "" if learns or made else ' stroke-dasharray="4 3"'
    place = f'x="{x}" y="{y - HIGH / 2}" width="{width}" height="{HIGH}" rx="{HIGH / 2 if made else 4}"'
    yield f'<rect {place} fill="{fill}" stroke="{edge}" stroke-width="{1.8 if learns else 1.2}"{dash}/>'
    yield text(x + width / 2, y + 4, NAMES.get(name, name), anchor="middle", colour="#a5a8ae" if idle else INK)
    if not made and not idle:
        said, colour = ("learns", COLOURS[0]) if learns else ("stays", FAINT)
        yield text(x + width / 2, y + (HIGH / 2 + 14 if name != "head" else -HIGH / 2 - 6), said, "middle", colour)


def arrow(x: float, y: float, end: float, low: float, colour: str) -> str:
    bend, tip = f"C{x + 24:.0f} {y:.0f} {end - 40:.0f} {low:.0f}", f"{end - 8:.0f} {low:.0f}"
    way = f"M{x:.0f} {y:.0f}{'L' if y == low else bend} {tip}"
    point = f'<path d="M{tip}m0 -4l8 4l-8 4z" fill="{colour}"/>'
    return f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="1.4"/>{point}'


def main() -> None:
    texts = {
        name: [replace(one, label=SIDES[str(one.label)]) for one in part if str(one.label) in SIDES]
        for name, part in splits().items()
    }
    seen = {beta: [run(texts, beta, seed) for seed in SEEDS] for beta in BETAS}
    first = seen[BETA][0]
    made = {
        "scheme": scheme(),
        "rounds": rounds(seen),
        "sentence": sentence(first),
        "maps": maps(first, [str(example.label) for example in texts["test"]]),
    }
    for name, svg in made.items():
        (FOLDER / f"bottleneck-{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
