"""What the scikit-learn estimators share: parameters, training, explanations, saving."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from regard.config import Config, continued, converted, options
from regard.data.label_types import in_type
from regard.data.labels import Task
from regard.errors import InputError
from regard.explain.explain import explain
from regard.models.run_files import check_run_folder
from regard.models.saving import save
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example, Explanation, Explanations
from regard.report.text.progress import ConsoleRecorder
from regard.sklearn_base import BaseEstimator, check_is_fitted
from regard.tracking.addresses import parse_addresses
from regard.tracking.tracked import TrackedRun, tracked
from regard.training.continuation import Origin, check_origin
from regard.training.data_files import check_named, data_digests
from regard.training.fit import Parts, Run, fit


class TextEstimator(BaseEstimator):  # type: ignore[misc]
    """Common part of classifier and regressor. The parameters are the options of `regard train`, under the same names."""

    trained_: Trained
    class_weight: str | Mapping[Any, float] | None
    positive: Any
    verbose: bool
    log: str | Sequence[str] | None

    def __init__(
        self,
        *,
        encoder: str = "embedding",
        pooling: str = "attention",
        levels: int = 1,
        embedding: int | None = None,
        hidden: int = 200,
        windows: tuple[int, ...] = (3,),
        members: int | None = None,
        spelling: bool | None = None,
        linear: bool | None = None,
        attention: str | None = None,
        query: int = 200,
        scale: float | str | None = None,
        norm: str = "scalar",
        norm_init: float | None = None,
        rescale: str = "clip",
        nonnegative: bool = True,
        bounded: bool = True,
        reformulate: bool = True,
        unit_length: bool = False,
        form: str = "printed",
        attention_heads: int = 1,
        head_bias: bool = True,
        head_hidden: bool = False,
        query_range: float = 0.1,
        embedding_range: float = 0.1,
        freeze_embeddings: bool = False,
        pretrained: str | None = None,
        frozen_layers: int = 0,
        window: int | None = None,
        positive: Any = None,
        dev_fraction: float = 0.1,
        within_range: bool = True,
        max_words: int | None = None,
        min_count: int | None = None,
        max_vocabulary: int | None = None,
        pairs: bool | None = None,
        beginnings: int | None = None,
        lowercase: bool = True,
        vectors: str | None = None,
        keep_texts: int = 0,
        engine: str = "auto",
        epochs: int | None = None,
        patience: int | None = None,
        select: str | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        threshold: float | str | None = None,
        calibrate: bool | None = None,
        batch_size: int | None = None,
        optimizer: str | None = None,
        lr: float | None = None,
        decay: bool | None = None,
        norm_lr: float = 1.0,
        dropout: float | None = None,
        l2: float = 0.0,
        vtw: float = 0.0,
        vtw_mapped: float = 0.0,
        beta: float | None = None,
        rounds: int | None = None,
        phase_epochs: int | None = None,
        compressor_lr: float | None = None,
        clip: float | None = None,
        seed: int = 0,
        device: str = "auto",
        bf16: bool = False,
        deterministic: bool | None = None,
        record: str = "no",
        verbose: bool = False,
        log: str | Sequence[str] | None = None,
    ):
        # scikit-learn expects every parameter as an attribute, unchanged; a test compares them with the options
        for name, value in list(locals().items()):
            if name != "self":
                setattr(self, name, value)

    def explain(self, text: str, method: str | None = None, target: Any = None) -> Explanation:
        """Show which words, and sentences in a hierarchical model, speak for and against the prediction.

        `prediction.value` is what `predict` returns; the keys of `prediction.probabilities` are strings, as in JSON.

        Parameters
        ----------
        text : str
            One text; `explain_all` takes several.
        method : str, optional
            The name of an explainer, by default the model's.
        target : label, optional
            The class to explain, by default the predicted one.
        """
        if not isinstance(text, str):
            raise InputError(f"explain: expected one text, got a {type(text).__name__} (explain_all takes several)")
        return self.explain_all([text], method, target)[0]

    def explain_all(self, texts: Iterable[str], method: str | None = None, target: Any = None) -> Explanations:
        """One explanation per text, with the parameters of `explain`: a list that draws itself in a notebook."""
        check_is_fitted(self, "trained_")
        labels = {str(value): value for value in getattr(self, "classes_", np.empty(0)).tolist()}
        named = (name for name, value in labels.items() if value == target)
        label = None if target is None else next(named, str(target))
        explained = explain(self.trained_, strings(texts), method=method, target=label)
        return Explanations(replace(item, prediction=in_type(item.prediction, labels)) for item in explained)

    def save(self, folder: str | Path) -> None:
        """Write the fitted model as a run folder, for `regard.load` and the command line."""
        check_is_fitted(self, "trained_")
        check_run_folder(Path(folder))
        if self.trained_.digests is None:
            self.trained_.digests = data_digests(self.trained_.config)
        save(self.trained_, folder)

    def config(self, task: Task) -> Config:
        parameters = self.get_params(deep=False)
        if isinstance(self.class_weight, Mapping):
            parameters["class_weight"] = json.dumps({str(name): value for name, value in self.class_weight.items()})
        if self.positive is not None:
            parameters["positive"] = str(self.positive)
        values = {
            item.name: converted(parameters[item.name], kind, item.name)
            for _, item, kind in options()
            if item.name in parameters and not (parameters[item.name] is None and item.default is None)
        }
        return Config().override({**values, "task": task})

    def learn(
        self, texts: Any, labels: Sequence[Any], task: Task, weights: Sequence[float], classes: Sequence[str] = ()
    ) -> None:
        """Train a new model. `weights`: how much each text counts. `classes`: labels that may not occur."""
        examples = self.examples(texts, labels, weights, 2)
        self.train(self.config(task), Parts(examples, classes=tuple(classes)))

    def learn_more(
        self, texts: Any, labels: Sequence[Any], weights: Sequence[float], classes: Sequence[str] = ()
    ) -> None:
        """Continue training the fitted model, also on texts that it keeps.

        Parameters that were not changed since are those of the fitted model, unless they depend on the number of texts.
        """
        old = self.trained_
        check_origin(old, "the fitted model")
        asked, known = self.config(cast(Task, old.config.data.task)), dict(each_option(old.config))
        parameters = self.get_params(deep=False)
        given = {name: value for name, value in each_option(asked) if name in parameters and value != known[name]}
        given = {name: value for name, value in given.items() if parameters[name] is not None}
        check_named(old, given)
        config = continued(old.config, given, "the fitted model")
        origin = Origin(old, replay=None if old.kept is None else old.kept.examples)
        examples = self.examples(texts, labels, weights, 1)
        self.train(config, Parts(examples, origin=origin, classes=tuple(classes)))

    def examples(self, texts: Any, labels: Sequence[Any], weights: Sequence[float], least: int) -> list[Example]:
        """Texts with weight 0 are left out."""
        checked = strings(texts)
        if len(checked) != len(labels):
            raise InputError(f"expected one label per text, got {len(checked)} texts and {len(labels)} labels")
        rows = zip(checked, labels, weights, strict=True)
        examples = [
            Example(text, label, row, weight=weight) for row, (text, label, weight) in enumerate(rows) if weight > 0
        ]
        if len(examples) < least:
            counting = " whose weight is above 0" if len(checked) >= least else ""
            expected = ("one text", "two texts")[least - 1]
            raise InputError(f"expected at least {expected}{counting}, got {len(examples)}")
        return examples

    def train(self, config: Config, parts: Parts) -> None:
        logs = parse_addresses([self.log] if isinstance(self.log, str) else self.log or ())
        shown, run = ConsoleRecorder() if self.verbose else Silent(), TrackedRun(type(self).__name__)
        with shown as recorder, tracked(recorder, logs, run, warnings.warn) as tracking:
            self.trained_ = fit(config, parts, Run(tracking))
            tracking.finish(self.trained_.config, self.trained_.metrics)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.target_tags.required = True
        return tags


def sample_weights(given: Any, texts: int) -> list[float]:
    """One weight per text, 1 for each if none are given."""
    if given is None:
        return [1.0] * texts
    try:
        weights = np.asarray(given, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError("sample_weight: expected one number per text, got values that are not numbers") from None
    if len(weights) != texts:
        raise InputError(f"sample_weight: expected one number per text, {texts}, got {len(weights)}")
    for row in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0))).tolist():
        raise InputError(f"sample_weight {row}: expected a number of at least 0, got {weights[row]:g}")
    return [float(weight) for weight in weights]


def each_option(config: Config) -> Iterator[tuple[str, object]]:
    yield from ((option.name, getattr(getattr(config, option.section), option.name)) for option in options())


def strings(texts: Any) -> list[str]:
    """Texts from a list, an array, or a column of pandas or polars."""
    if isinstance(texts, str):
        raise InputError("expected several texts, got one str: put it in a list")
    array = np.asarray(list(texts) if isinstance(texts, (list, tuple)) else texts, dtype=object)
    if array.ndim > 1 and array.size != len(array):
        raise InputError(f"expected one column of texts, got a table of {array.shape[1]} columns")
    values: list[Any] = array.ravel().tolist()
    for row, text in enumerate(values):
        if not isinstance(text, str):
            raise InputError(f"text {row}: expected str, got {text!r}, a {type(text).__name__}")
    return values
