"""Neural models of the leaderboard: regard, fastText, spaCy's text categoriser, torchTextClassifiers, and MiniLM's two.

MiniLM is SetFit (Tunstall et al. 2022), and fine-tuned with the recipe of Mosbach et al. 2021, "On the Stability of Fine-tuning
BERT": 20 epochs of AdamW with bias correction, warming up over the first tenth of the steps and then decaying to 0.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from embeddings import minilm_folder
from system import Diverged, Fit, Fitted, Options, Texts

sys.path.insert(0, str(Path(__file__).parents[1]))  # peers.py

Item = TypeVar("Item")
# the best of 2e-5 (that of the paper, for a larger model), 1e-4 and 3e-4, on the dev texts of trec, sst2 and subj
FINE_TUNING_RATE = 1e-4


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


def fit_torch_text_classifiers(texts: Texts, labels: Texts, seed: int) -> Fitted:
    """The settings of the library's own multiclass example; a fifth of the texts chooses the epoch, as its example has it."""
    from pytorch_lightning import seed_everything
    from torchTextClassifiers import ModelConfig, TrainingConfig, torchTextClassifiers
    from torchTextClassifiers.tokenizers import WordPieceTokenizer

    seed_everything(seed, verbose=False)
    names = sorted(set(labels))
    given, true = np.array(texts, dtype=object), np.array([names.index(label) for label in labels])
    order = np.random.default_rng(seed).permutation(len(given))
    held_out, kept = order[: len(order) // 5], order[len(order) // 5 :]
    tokenizer = WordPieceTokenizer(vocab_size=5000, output_dim=128)
    tokenizer.train(list(given[kept]))
    model = torchTextClassifiers(tokenizer, ModelConfig(embedding_dim=64, num_classes=len(names)))
    with tempfile.TemporaryDirectory() as folder:  # for its checkpoints and its log
        config = TrainingConfig(
            num_epochs=30,
            batch_size=8,
            lr=1e-3,
            patience_early_stopping=7,
            num_workers=0,
            accelerator="cpu",
            trainer_params={"deterministic": True, "default_root_dir": folder, "enable_progress_bar": False},
            save_path=f"{folder}/model",
            raw_labels=False,
        )
        model.train(given[kept], true[kept], config, given[held_out], true[held_out])

    def predict(others: Texts) -> list[str]:
        codes = [
            np.asarray(model.predict(np.array(batch, dtype=object))["prediction"]) for batch in batches(others, 256)
        ]
        return [names[code] for code in np.concatenate([one.reshape(-1) for one in codes])]

    return Fitted(predict, lambda folder: model.save(folder / "model"))


def fit_finetuned(texts: Texts, labels: Texts, seed: int) -> Fitted:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup

    torch.manual_seed(seed)
    names = sorted(set(labels))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(minilm_folder())
    model = AutoModelForSequenceClassification.from_pretrained(minilm_folder(), num_labels=len(names)).to(device)

    def logits(batch: Texts) -> torch.Tensor:
        read = tokenizer(list(batch), padding=True, truncation=True, max_length=256, return_tensors="pt")
        answer: torch.Tensor = model(**read.to(device)).logits
        return answer

    epochs, size = 20, 16
    steps = epochs * -(-len(texts) // size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=FINE_TUNING_RATE, weight_decay=0.01)
    schedule = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
    rng = random.Random(seed)
    model.train()
    for _ in range(epochs):
        for rows in batches(rng.sample(range(len(texts)), len(texts)), size):
            true = torch.tensor([names.index(labels[row]) for row in rows], device=device)
            loss = torch.nn.functional.cross_entropy(logits([texts[row] for row in rows]), true)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    model.eval()

    def predict(others: Texts) -> list[str]:
        with torch.inference_mode():
            return [names[code] for batch in batches(others, 64) for code in logits(batch).argmax(1).tolist()]

    return Fitted(predict, lambda folder: model.save_pretrained(folder / "model"))


def batches(rows: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


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
