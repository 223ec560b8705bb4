"""Neural models of the leaderboard: regard, fastText, spaCy's text categoriser, and SetFit."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from embeddings import minilm_folder
from system import Diverged, Fit, Fitted, Options, Texts

sys.path.insert(0, str(Path(__file__).parents[1]))  # peers.py


def fit_regard(options: Options) -> Fit:
    def fit(texts: Texts, labels: Texts, seed: int) -> Fitted:
        import regard

        model = regard.TextClassifier(seed=seed, **options).fit(list(texts), list(labels))
        return Fitted(
            lambda others: [str(label) for label in model.predict(list(others))],
            lambda folder: model.save(folder / "run"),
        )

    return fit


def fit_regard_static(others: str) -> Fit:
    def fit(texts: Texts, labels: Texts, seed: int) -> Fitted:
        return fit_regard({"vectors": os.environ["REGARD_STATIC"] + others})(texts, labels, seed)

    return fit


def fit_fasttext(options: Options | None = None) -> Fit:
    """`options`: epochs, ngrams and lr."""
    given = {"epochs": 25, "ngrams": 2, "lr": 0.5, **(options or {})}

    def fit(texts: Texts, labels: Texts, seed: int) -> Fitted:
        import peers

        peer, reading = peers.Peer("fasttext", given["ngrams"], given["epochs"]), peers.READINGS["words"]
        codes = {label: str(number) for number, label in enumerate(sorted(set(labels)))}  # labels may have spaces
        names = {code: label for label, code in codes.items()}
        lines = [reading(text) for text in texts]
        model = peers.fit(peer, {"lr": given["lr"]}, lines, [codes[label] for label in labels], seed)
        if model is None:
            raise Diverged("fastText diverged")
        fallback = names[max(names, key=list(map(codes.get, labels)).count)]  # for texts without a known word
        return Fitted(
            lambda others: [
                names.get(code, fallback) for code in peers.answers(peer, model, [reading(text) for text in others])
            ],
            lambda folder: model.save_model(str(folder / "model.bin")),
        )

    return fit


def fit_spacy(texts: Texts, labels: Texts, seed: int) -> Fitted:
    """A blank English pipeline with a text categoriser, spaCy's ensemble of a network and a bag of words; 20 epochs."""
    import spacy
    from spacy.training import Example

    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank("en")
    categoriser = nlp.add_pipe("textcat")
    names = sorted(set(labels))
    for name in names:
        categoriser.add_label(name)
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {name: float(name == label) for name in names}})
        for text, label in zip(texts, labels, strict=True)
    ]
    optimizer = nlp.initialize(lambda: examples)
    for epoch in range(20):
        random.Random(seed * 1000 + epoch).shuffle(examples)
        for batch in spacy.util.minibatch(examples, size=32):
            nlp.update(batch, sgd=optimizer, drop=0.2)

    def predict(others: Texts) -> list[str]:
        return [max(doc.cats, key=doc.cats.__getitem__) for doc in nlp.pipe(others)]

    return Fitted(predict, lambda folder: nlp.to_disk(folder / "pipeline"))


def fit_setfit(texts: Texts, labels: Texts, seed: int) -> Fitted:
    """Tunstall et al. 2022 on MiniLM, with the library's defaults."""
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    names = sorted(set(labels))
    model = SetFitModel.from_pretrained(str(minilm_folder()), labels=names)
    rows = Dataset.from_dict({"text": list(texts), "label": [names.index(label) for label in labels]})
    Trainer(model, TrainingArguments(seed=seed, report_to="none"), train_dataset=rows).train()
    return Fitted(
        lambda others: [str(label) for label in model.predict(list(others))],
        lambda folder: model.save_pretrained(str(folder / "model")),
    )
