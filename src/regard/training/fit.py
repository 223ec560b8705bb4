"""From examples to a trained model: choose the engine, read the texts, train."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice

from regard.config import Config
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.training.choices import with_engine
from regard.training.preparation import Parts, Prepared, Run

__all__ = ["Parts", "Prepared", "Run", "fit", "prepare"]


def fit(config: Config, parts: Parts, run: Run | None = None) -> Trained:
    """Train a model; some of the training texts are held out for early stopping if no dev examples are given."""
    run = run or Run()
    return prepare(config, parts, run.recorder).fit(run)


def prepare(config: Config, parts: Parts, recorder: Recorder) -> Prepared:
    """Read all parts, fill in the options that are open, and refuse what cannot be trained or scored."""
    if config.model.is_scale_open:
        config = with_scale(config, parts, recorder)
    config = with_engine(config)
    return ENGINES[config.training.engine](config, parts, recorder)


def prepare_sparse(config: Config, parts: Parts, recorder: Recorder) -> Prepared:
    from regard.training.fit_sparse import gather

    return gather(config, parts, recorder)


def prepare_torch(config: Config, parts: Parts, recorder: Recorder) -> Prepared:
    from regard.training.fit_torch import gather  # PyTorch takes a second to import

    return gather(config, parts, recorder)


ENGINES: Mapping[str, Callable[[Config, Parts, Recorder], Prepared]] = {
    "sparse": prepare_sparse,
    "torch": prepare_torch,
}


def with_scale(config: Config, parts: Parts, recorder: Recorder) -> Config:
    """The options with a number for λ, the best of those that are tried (`training/scale`)."""
    from regard.training import scale

    scale.check(config)
    train = list(islice(parts.train, scale.MOST))
    dev = None if parts.dev is None else list(islice(parts.dev, scale.MOST))
    if len(train) == scale.MOST:
        recorder.note(f"λ is chosen on the first {scale.MOST:,} texts")
    trials = []
    for value in scale.GRID:
        recorder.note(f"trying λ = {value:g}")
        options = config.override({"scale": value, "record": "no"})
        trained = fit(options, Parts(train, dev, None, parts.names, parts.column))
        trials.append(scale.measure(trained, value, train))
    best = scale.pick(trials, len(dev) if dev is not None else round(len(train) * config.data.dev_fraction))
    recorder.note(scale.summary(best, trials))
    return config.override({"scale": best.scale})
