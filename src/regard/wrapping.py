"""`regard.wrap`: explain, audit, report and serve any text classifier that returns probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.adapters.fast_text import fasttext_predictor
from regard.adapters.model2vec import model2vec_predictor
from regard.adapters.scikit_learn import sklearn_predictor
from regard.adapters.setfit import setfit_predictor
from regard.adapters.transformers import transformers_predictor
from regard.audit.audit import AuditResult
from regard.audit.audit_options import LIMIT, AuditOptions
from regard.audit.audit_run import audit_run
from regard.errors import InputError
from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.targets import Target
from regard.explain.word_scores import Attributed
from regard.models.wrapped import BATCH, PredictProba, WrappedModel
from regard.records import Example, Explanation, Explanations
from regard.report.pages.run import write_report
from regard.run_facts import gather
from regard.text_estimator import strings


class Wrapped(WrappedModel):
    """A classifier of which only predictions are available.

    What needs more than predictions, such as attention weights and gradients, is refused with a sentence that says so.
    """

    @property
    def classes(self) -> tuple[str, ...]:
        return self.task.classes

    def predict_proba(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """(texts, classes)"""
        return self.answers(strings(texts))

    def predict(self, texts: Iterable[str]) -> list[str]:
        return [self.classes[number] for number in self.predict_proba(texts).argmax(1).tolist()]

    def explain(self, text: str, method: str | None = None, target: Target = None) -> Explanation:
        """Show what each word and sentence contributes to the predicted class, or to `target`, in log-odds.

        Parameters
        ----------
        text : str
            One text; `explain_all` takes several.
        method : str, optional
            By default words are left out one by one: one prediction per word, per sentence and per repeated word.
            "sentence_occlusion" takes one prediction per sentence, "surrogate" 500 per text.
        target : str or int, optional
            The class to explain, by default the predicted one.
        """
        if not isinstance(text, str):
            raise InputError(f"explain: expected one text, got a {type(text).__name__} (explain_all takes several)")
        return self.explain_all([text], method, target)[0]

    def explain_all(self, texts: Iterable[str], method: str | None = None, target: Target = None) -> Explanations:
        return Explanations(explain(self, strings(texts), None, method, target))

    def attribute(
        self,
        texts: Iterable[str],
        method: str = "leave_one_out",
        targets: Sequence[Target] | Target = None,
        **options: Any,
    ) -> list[Attributed]:
        """The word scores of one method; `options` are those of the method, such as `samples` of the surrogate."""
        return attribute(self, strings(texts), method, targets, **options)

    def audit(
        self,
        texts: Iterable[str],
        labels: Iterable[object] | None = None,
        methods: Sequence[str] | None = None,
        limit: int = LIMIT,
        seed: int = 0,
    ) -> AuditResult:
        """Measure how faithful explanations of this model are, on at most `limit` of the texts.

        Sections that need attention weights are left out, and named under `left_out`. The result is a dict, as audit.json
        holds it; `.page()` is an HTML document of it, `.save(folder)` writes both.
        """
        options = AuditOptions(methods, limit, seed=seed, run=self.name)
        return audit_run(self, examples(strings(texts), labels), options)

    def report(
        self,
        texts: Iterable[str],
        labels: Iterable[object] | None = None,
        out: str | Path = "report.html",
        where: str = "texts",
    ) -> Path:
        """Write a page of measures, calibration and explained texts, mistakes first; `where` names the texts on it."""
        facts = gather(self, Path(self.name), examples(strings(texts), labels), where)
        write_report(facts, Path(out))
        return Path(out)

    def serve(
        self,
        port: int = 8642,
        show: bool = False,
        host: str = "127.0.0.1",
        allow_hosts: Sequence[str] = (),
        token: str | None = None,
    ) -> None:
        """Serve a page to type texts into, and a JSON API, until Ctrl-C; `show` opens a browser.

        A `host` that other machines can reach needs a `token`, which clients must send; by default it is read from the
        environment variable REGARD_TOKEN. `allow_hosts` are further names under which they reach it, such as that of a proxy.
        """
        # the libraries of the server are imported only when a model is served
        from regard.serve.serve import Address, serve
        from regard.serve.tokens import checked_token, read_token

        token = read_token(None) if token is None else checked_token(token, "token")
        address = Address(host, port, allow_hosts, token)
        serve([self.name], lambda name: self, address, show, check=lambda name: None)


def examples(texts: Sequence[str], labels: Iterable[object] | None) -> list[Example]:
    given = [None] * len(texts) if labels is None else list(labels)
    if len(given) != len(texts):
        raise InputError(f"labels: expected one per text, got {len(given)} for {len(texts)} texts")
    names = [None if label is None else str(label) for label in given]
    return [Example(text, label, row) for row, (text, label) in enumerate(zip(texts, names, strict=True), 1)]


def wrap(
    predict_proba: PredictProba, classes: Sequence[object], name: str = "model", batch_size: int = BATCH
) -> Wrapped:
    """Wrap a classifier that was trained elsewhere.

    Parameters
    ----------
    predict_proba : callable
        Takes a list of texts and returns an array of probabilities, (texts, classes). Explanations call it with the text
        and with versions of it that lack some words, down to the empty text.
    classes : sequence
        The names of the classes, in the order of the columns.
    name : str
        How pages call the model.
    batch_size : int
        Texts per call.
    """
    return Wrapped(predict_proba, classes, name, batch_size)


def wrap_sklearn(pipeline: Any, name: str | None = None, batch_size: int = BATCH) -> Wrapped:
    """A fitted scikit-learn classifier that takes texts, such as a pipeline of TfidfVectorizer and LogisticRegression."""
    return Wrapped(*sklearn_predictor(pipeline, name, batch_size))


def wrap_fasttext(model: Any, name: str | None = None, batch_size: int = BATCH) -> Wrapped:
    """A supervised fastText model: a `.bin` file, or what `fasttext.load_model` returns."""
    return Wrapped(*fasttext_predictor(model, name, batch_size))


def wrap_model2vec(model: Any, name: str | None = None, batch_size: int = 1024) -> Wrapped:
    """A classifier of model2vec, or the folder of a saved one."""
    return Wrapped(*model2vec_predictor(model, name, batch_size))


def wrap_setfit(model: Any, name: str | None = None, batch_size: int = 64) -> Wrapped:
    """A trained SetFitModel."""
    return Wrapped(*setfit_predictor(model, name, batch_size))


def wrap_transformers(
    model: Any, tokenizer: Any = None, name: str | None = None, batch_size: int = 32, device: str = "cpu"
) -> Wrapped:
    """A sequence classifier of transformers: a folder, or a model with its tokenizer."""
    return Wrapped(*transformers_predictor(model, tokenizer, name, batch_size, device))
