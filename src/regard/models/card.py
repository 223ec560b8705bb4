"""The card of a run: what it is, what it learned from, how well, and how to use it."""

from __future__ import annotations

from typing import Any

from regard.markdown_text import escape
from regard.models.tasks import Classes, Regression
from regard.models.trained import Trained


def card(trained: Trained) -> str:
    config, metrics = trained.config, trained.metrics
    model, training = config.model, config.training
    lines = [
        f"# {model.encoder}-{model.pooling}"
        + (f", {model.levels} levels" if model.levels > 1 else "")
        + (", a hidden layer in its head" if model.head_hidden else ""),
        "",
        "A text classifier that shows its work, trained by regard."
        if isinstance(trained.task, Classes)
        else "A text rater that shows its work, trained by regard.",
        "",
        "| | |",
        "|---|---|",
        f"| task | {describe(trained)} |",
        f"| learned from | {escape(config.data.train or 'texts given in Python')}, {metrics.get('texts', '?')} texts |",
        f"| looks at | {units(trained)} |",
        f"| vectors | {escape(config.data.vectors or model.pretrained or 'none: learned from scratch')} |",
        f"| training | {training.optimizer}, seed {training.seed}, {chosen(metrics)} |",
        f"| engine | {engine(metrics)} |",
        f"| environment | {escape(', '.join(f'{k} {v}' for k, v in metrics.get('environment', {}).items()))} |",
    ]
    for split in ("dev", "test"):
        if split in metrics:
            lines.append(f"| {split} | {scores(metrics[split])} |")
    lines += [
        "",
        'Use it with `regard predict FOLDER texts.csv`, `regard explain FOLDER "a text"`, or in Python:',
        "",
        "```python",
        "import regard",
        "",
        "model = regard.load(FOLDER)",
        'model.explain("a text")',
        "```",
        "",
        "A weight says how much of a word went into the decision's vector, not whether the word spoke for or against it.",
        "",
    ]
    return "\n".join(lines)


def describe(trained: Trained) -> str:
    task = trained.task
    if isinstance(task, Classes):
        shown = ", ".join(escape(name) for name in task.classes[:20]) + (", …" if len(task.classes) > 20 else "")
        return f"{len(task.classes)} classes: {shown}"
    assert isinstance(task, Regression)
    return f"a number (training mean {task.mean:.4g}, standard deviation {task.scale:.4g})"


def units(trained: Trained) -> str:
    tokenizer = trained.tokenizer
    if trained.config.model.reads_pieces:
        return f"{len(tokenizer.vocabulary) - 2} word pieces of {escape(trained.config.model.pretrained or '')}"
    others = ((len(tokenizer.beginnings), "beginnings of words"), (len(tokenizer.pairs), "pairs of words"))
    return ", ".join(
        [f"{len(tokenizer.vocabulary) - 2} words", *(f"{count} {what}" for count, what in others if count)]
    )


def chosen(metrics: dict[str, Any]) -> str:
    """Which epoch it is."""
    epochs, best = metrics.get("epochs", "?"), metrics.get("best_epoch", "?")
    told = f"best of {epochs} epochs on dev: {best}" if "dev" in metrics else f"the last of {epochs} epochs"
    return told + (f", of round {metrics['best_round']}" if "best_round" in metrics else "")


def engine(metrics: dict[str, Any]) -> str:
    """Which one trained it, and what can be had again."""
    name = str(metrics.get("engine", "torch"))
    if name.endswith("lock-free"):
        return f"{name}: another run with the same seed gives nearly, but not exactly, the same weights"
    return f"{name}: the same seed gives the same weights" + (", whatever the threads" if "sparse" in name else "")


def scores(metrics: dict[str, Any]) -> str:
    shown = ("accuracy", "macro_f", "log_loss", "rmse", "mae", "r2")
    return ", ".join(f"{name} {metrics[name]:.4f}" for name in shown if name in metrics) + f" ({metrics['n']} texts)"
