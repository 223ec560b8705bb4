"""From examples to a trained model: choose the engine, read the texts, train."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from regard.config import Config
from regard.data.kept_texts import Keeping
from regard.errors import InputError
from regard.models.trained import Trained
from regard.process_group import ALONE, ProcessGroup
from regard.recorder import Recorder
from regard.training.defaults import choose_engine
from regard.training.preparation import Parts, Prepared, Run

__all__ = ["Parts", "Prepared", "Run", "fit", "prepare"]


def fit(config: Config, parts: Parts, run: Run | None = None) -> Trained:
    """Train a model; some of the training texts are held out for early stopping if no dev examples are given."""
    run = run or Run()
    return prepare(config, parts, run.recorder).fit(run)


def prepare(config: Config, parts: Parts, recorder: Recorder, group: ProcessGroup = ALONE) -> Prepared:
    """Read all parts, choose the engine and all open options, and refuse what cannot be trained or scored."""
    if config.data.keep_texts:
        return prepare_keeping(config, parts, recorder, group)
    if config.model.is_scale_open:
        config = choose_scale(config, parts, recorder)
    config = choose_engine(config)
    if config.training.engine == "sparse":
        if group.size > 1:
            raise InputError(
                "torchrun: expected a PyTorch model, got the fast engine, which uses the cores of one machine; "
                "run `regard train` without torchrun, or choose an --encoder"
            )
        from regard.training.fit_sparse import prepare_sparse

        return prepare_sparse(config, parts, recorder)
    from regard.training.fit_torch import prepare_torch  # PyTorch takes a second to import

    return prepare_torch(config, parts, recorder, group)


class PreparedKeeping(NamedTuple):
    """A prepared run that keeps some of its training texts."""

    prepared: Prepared
    texts: Keeping

    @property
    def config(self) -> Config:
        return self.prepared.config.override({"keep_texts": self.texts.most})

    @property
    def identity(self) -> str:
        return self.prepared.identity

    def fit(self, run: Run) -> Trained:
        trained = self.prepared.fit(run)
        trained.config, trained.kept = trained.config.override({"keep_texts": self.texts.most}), self.texts.kept
        run.recorder.note(
            f"keeping {len(trained.kept.examples):,} of {trained.kept.drawn_from:,} training texts in the run folder, "
            "because of --keep-texts; they are never pushed or exported"
        )
        return trained


def prepare_keeping(config: Config, parts: Parts, recorder: Recorder, group: ProcessGroup) -> Prepared:
    """Draw texts while they are read; a run that continues another keeps some of both."""
    earlier = None if parts.origin is None else parts.origin.trained.kept
    texts = Keeping(parts.train, config.data.keep_texts, config.training.seed, earlier)
    return PreparedKeeping(
        prepare(config.override({"keep_texts": 0}), parts._replace(train=texts), recorder, group),
        texts,
    )


def choose_scale(config: Config, parts: Parts, recorder: Recorder) -> Config:
    """The options with a number for λ: the best of those that are tried (`training/scale`)."""
    from regard.training import scale

    scale.check(config)
    train = list(islice(parts.train, scale.MAX_TEXTS))
    dev = None if parts.dev is None else list(islice(parts.dev, scale.MAX_TEXTS))
    if len(train) == scale.MAX_TEXTS:
        recorder.note(f"choosing λ on the first {scale.MAX_TEXTS:,} texts")
    trials = []
    for value in scale.GRID:
        recorder.note(f"trying λ = {value:g}")
        options = config.override({"scale": value, "record": "no", "members": 1, "spelling": False, "linear": False})
        trained = fit(options, Parts(train, dev, None, parts.names, parts.column))
        trials.append(scale.measure_trial(trained, value, train))
    best = scale.pick(trials, len(dev) if dev is not None else round(len(train) * config.data.dev_fraction))
    recorder.note(scale.summary(best, trials))
    return config.override({"scale": best.scale})
