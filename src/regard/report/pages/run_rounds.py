"""The rounds of purified attention (VAT) in a run's history: how good both heads are after each, and what passes between them.

Round 0 is plain attention. Of each round it is the best epoch that counts, as training compares them, of those that could
have been kept: in later rounds those of the compressor, which ends them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from regard.report.plots.lines import Curve, Panel, Style, line_plot
from regard.report.text.exported import Figure
from regard.report.text.measures import metric_name, written

Record = Mapping[str, Any]
ENDS = ("attention", "compressor")  # phases whose epochs may be the best of their round
LEARNER, COMPRESSOR = "the learner’s head", "the compressor’s head"
SIZE = (330.0, 190.0)  # of a panel


class Round(NamedTuple):
    number: int
    epoch: int
    learner: float  # score of the head that gives the answer
    compressor: float  # of the head that reads through the channel; in round 0 it has learned nothing yet
    divergence: float  # the same goes for this


class Rounds(NamedTuple):
    listed: list[Round]
    kept: Round
    measure: str  # what the scores are: accuracy or rmse
    held_out: bool  # whether they are those of dev texts; else of the training texts

    @property
    def texts(self) -> str:
        return "dev texts" if self.held_out else "training texts"


def rounds(found: Mapping[str, Any]) -> Rounds | None:
    """None where training had none."""
    ended: dict[int, list[Record]] = {}
    for record in found["history"]:
        if record.get("phase") in ENDS:
            ended.setdefault(record["round"], []).append(record)
    if len(ended) < 2:
        return None
    split = "dev" if "dev" in ended[0][0] else "train"
    measure = "accuracy" if "accuracy" in ended[0][0][split] else "rmse"
    chosen = [min(own, key=fault) if split == "dev" else own[-1] for _, own in sorted(ended.items())]
    listed = [
        Round(one["round"], one["epoch"], one[split][measure], one["heads"]["compressed"][measure], one["terms"]["kl"])
        for one in chosen
    ]
    kept = next(one for one in listed if one.epoch == found["best_epoch"])
    return Rounds(listed, kept, measure, split == "dev")


def fault(record: Record) -> tuple[float, float]:
    """What training compares epochs by, smaller is better: accuracy, of equal ones the log loss; or RMSE."""
    scores = record["dev"]
    return (-scores["accuracy"], scores["log_loss"]) if "accuracy" in scores else (scores["rmse"], 0.0)


def rounds_figure(found: Mapping[str, Any]) -> Figure | None:
    taken = rounds(found)
    if taken is None:
        return None
    first, later, kept = taken.listed, taken.listed[1:], taken.kept.number
    shown = [
        Panel(
            f"{metric_name(taken.measure)} on {taken.texts}",
            (
                curve(LEARNER, first, [one.learner for one in first]),
                curve(COMPRESSOR, later, [one.compressor for one in later]),
            ),
            marked=kept,
        ),
        Panel(f"KL divergence on {taken.texts}", (curve("KL", later, [one.divergence for one in later]),), marked=kept),
    ]
    x_title = f"round (dashed: {kept}, which was kept)"
    svg = line_plot("Round by round", x_title, shown, Style(band=False, whole=True), SIZE)
    return Figure(svg, ("panel", "curve", "round", "epoch", "value", "kept"), rows(shown, taken))


def curve(name: str, own: Sequence[Round], values: Sequence[float]) -> Curve:
    y = tuple(values)
    return Curve(name, tuple(float(one.number) for one in own), y, y, y)


def rows(shown: Sequence[Panel], taken: Rounds) -> list[list[Any]]:
    epochs = {one.number: one.epoch for one in taken.listed}
    return [
        [one.title, own.name, int(x), epochs[int(x)], y, "yes" if x == taken.kept.number else ""]
        for one in shown
        for own in one.curves
        for x, y in zip(own.x, own.y, strict=True)
    ]


def told_rounds(found: Mapping[str, Any]) -> str:
    """What the figure shows, in words; "" without rounds."""
    taken = rounds(found)
    if taken is None:
        return ""
    kept, name = taken.kept, metric_name(taken.measure)
    chosen = (
        f"Round {kept.number} was kept: the best on dev texts of those after round 0."
        if taken.held_out
        else f"Without dev texts nothing chooses among rounds: the last one, {kept.number}, was kept."
    )
    return (
        "Round 0 is plain attention. In every later round the learner is trained with the attention that it finds, and "
        "then the compressor trains the attention anew, by getting the answer through a narrow, noisy channel. "
        f"{chosen} Its answers, by {LEARNER}, have an {name} of {written(kept.learner)} on {taken.texts} (round 0: "
        f"{written(taken.listed[0].learner)}); {COMPRESSOR}, which sees only what passes the channel, has "
        f"{written(kept.compressor)}. The KL divergence is the most that can pass: {written(kept.divergence)} in round "
        f"{kept.number}; 0 would be nothing."
    )
