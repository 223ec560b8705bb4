"""A pretrained encoder in complete runs: trained, saved, loaded and explained, in Python and on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from command import Regard, write_csv
from regard.config import Config
from regard.data.collate import collate
from regard.data.splitting import hold_out
from regard.data.wordpieces import WordPieces
from regard.encoders import BERT
from regard.encoders.pretrained import read_pretrained
from regard.errors import InputError
from regard.explain.explain import explain
from regard.models.build import build
from regard.models.folder import load
from regard.models.saving import save
from regard.models.tasks import Binary
from regard.models.trained import Trained
from regard.recorder import Silent
from regard.records import Example
from regard.training.cuda_graphs import GraphedStep, make_step
from regard.training.defaults import DataSize, fill_defaults
from regard.training.fine_tuning import digest_pretrained
from regard.training.fit import Parts, Run, fit
from regard.training.optimizers import make_optimizer
from regard.training.step import Step
from regard_lab.fit_stacked import fit_stacked
from tiny_bert import save_bert

pytest.importorskip("transformers", reason="the extra regard[bert] is not installed")

WORDS = (("good", "yes"), ("lovely", "yes"), ("wonderful", "yes"), ("bad", "no"), ("rude", "no"), ("poor", "no"))
ROWS = [
    (f"The {thing} was {end} {word}. It was so unbelievably {word}, and not one {thing}!", label)
    for word, label in WORDS
    for thing in ("food", "film", "service")
    for end in ("very", "so")
]
TEXTS = [
    "It wasn't good. The film was unbelievably bad, so bad!",
    "",
    "lovely \ufffd",
    "two\n\nthree and the rude service.",
]
FAST = {"lr": 3e-3, "epochs": 3, "batch_size": 9, "device": "cpu"}


class Notes(Silent):
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def note(self, sentence: str) -> None:
        self.sentences.append(sentence)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("table") / "films.csv", ROWS)


def trained_with(folder: Path, recorder: Silent | None = None, **options: Any) -> Trained:
    config = Config().override({"encoder": "bert", "pretrained": str(folder), **FAST, **options})
    examples = [Example(text, label, row) for row, (text, label) in enumerate(ROWS)]
    return fit(config, Parts(examples), Run(recorder or Silent()))


FORMS: dict[str, dict[str, Any]] = {
    "attention": {},
    "summary": {"pooling": "summary"},
    "apln in windows": {"pooling": "apln", "window": 7},
    "frozen": {"frozen_layers": 1},
    "bf16": {"bf16": True},
    "two levels": {"encoder": "bert,bilstm", "levels": 2, "hidden": 6},
    "three levels": {"encoder": "bert,cnn,embedding", "levels": 3, "hidden": 6, "pooling": "summary,max,attention"},
}


@pytest.fixture(scope="module", params=FORMS)
def trained(request: pytest.FixtureRequest, folder: Path) -> Trained:
    return trained_with(folder, **FORMS[request.param])


def test_a_run_does_not_need_the_pretrained_folder(trained: Trained, tmp_path: Path) -> None:
    save(trained, tmp_path)
    again = load(tmp_path)
    assert str(trained.config.model.pretrained) not in (tmp_path / "encoder.json").read_text(encoding="utf-8")
    np.testing.assert_allclose(again.answers(TEXTS), trained.answers(TEXTS), rtol=0, atol=1e-6)
    for name, value in again.weights.items():
        np.testing.assert_array_equal(value, trained.weights[name])


def test_predictions_do_not_depend_on_batch_and_order(trained: Trained) -> None:
    together = trained.answers(TEXTS)
    for row, text in enumerate(TEXTS):
        np.testing.assert_allclose(trained.answers([text])[0], together[row], rtol=0, atol=1e-6)
    np.testing.assert_allclose(trained.answers(TEXTS[::-1])[::-1], together, rtol=0, atol=1e-6)


def test_weights_of_words_sum_to_one(trained: Trained) -> None:
    for explanation, text in zip(explain(trained, TEXTS), TEXTS, strict=True):
        outline = trained.tokenizer.outline(text)
        assert [(token.start, token.end) for token in explanation.tokens] == outline.words
        assert sum(token.weight for token in explanation.tokens) == pytest.approx(1 if outline.words else 0, abs=1e-5)
        assert all(text[token.start : token.end] == token.text for token in explanation.tokens)
        assert [(unit.start, unit.end) for unit in explanation.sentences] == outline.sentences
        assert [(unit.start, unit.end) for unit in explanation.parts] == outline.parts


def test_embeddings_can_be_passed_in_and_get_a_gradient(trained: Trained) -> None:
    model = trained.model.eval()
    batch = collate([trained.tokenizer.encode(text) for text in TEXTS], trained.config.model.levels)
    embedded = model.embedding(batch.ids).detach().requires_grad_()
    output = model(batch, embedded)
    torch.testing.assert_close(output.logits, model(batch).logits)
    output.logits.square().sum().backward()
    assert embedded.grad is not None
    assert (embedded.grad[~batch.mask] == 0).all()
    lengths = embedded.grad.norm(dim=-1)[batch.mask]
    assert (lengths > 0).all()


def test_it_learns(folder: Path) -> None:
    trained = trained_with(folder, epochs=15, dev_fraction=0.2)
    answers = trained.answers([text for text, _ in ROWS])
    assert trained.task.kind == "binary"
    assert ((answers[:, 1] > 0.5) == [label == "yes" for _, label in ROWS]).mean() > 0.9


def test_a_seed_reproduces_its_weights(folder: Path) -> None:
    first, second = trained_with(folder).weights, trained_with(folder).weights
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])


def test_frozen_layers_do_not_change(folder: Path) -> None:
    from safetensors.numpy import load_file

    before, trained = load_file(folder / "model.safetensors"), trained_with(folder, frozen_layers=1)
    prefix = "levels.0.encoder.model."
    same = {name for name, value in before.items() if np.array_equal(trained.weights.get(prefix + name, -1), value)}
    assert {name for name in before if name.startswith("encoder.layer.0.")} <= same
    assert {name for name in same if name.startswith("encoder.layer.1.")} == set()
    sources = trained.tokenizer.sources  # type: ignore[union-attr]
    table = before["embeddings.word_embeddings.weight"]
    np.testing.assert_array_equal(trained.weights["embedding.weight"][1:], table[sources[1:]])


def test_options_that_the_model_determines_are_saved(folder: Path) -> None:
    model, data = (getattr(trained_with(folder, epochs=1).config, name) for name in ("model", "data"))
    assert (model.embedding, model.hidden, model.window) == (16, 16, 18)
    assert data.lowercase
    assert data.min_count is None
    with pytest.raises(InputError, match="embedding: expected 16, as in the pretrained model, got 9"):
        trained_with(folder, embedding=9)


def test_case_and_windows_are_reported(tmp_path: Path) -> None:
    notes = Notes()
    cased = trained_with(save_bert(tmp_path, lowercase=False), notes, window=9)
    assert not cased.config.data.lowercase
    assert "the pretrained model does not lowercase texts" in notes.sentences
    assert any(
        "texts have a sequence of more than 9 word pieces and are read in windows" in note for note in notes.sentences
    )


def test_default_hyperparameters_for_pretrained_encoders() -> None:
    config = Config().override({"encoder": "bert", "pretrained": "somewhere"})
    training = fill_defaults(config, DataSize(6000, 0)).training
    assert (training.lr, training.batch_size, training.dropout, training.clip) == (3e-5, 32, 0.1, 1.0)
    assert (training.epochs, training.patience) == (4, 2)


@pytest.mark.parametrize("window", [None, 7])
def test_seeds_can_be_stacked(tmp_path: Path, window: int | None) -> None:
    folder = save_bert(tmp_path, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    options = {"encoder": "bert", "pretrained": str(folder), "window": window, "dropout": 0.0}
    config = Config().override({**FAST, "calibrate": False, **options})
    examples = [Example(text, label, row) for row, (text, label) in enumerate(ROWS)]
    parts = Parts(examples, examples)
    for seed, stacked in zip((0, 1), fit_stacked(config, parts, (0, 1), Silent()), strict=True):
        assert isinstance(stacked, Trained)
        alone = fit(config.override({"seed": seed}), parts)
        np.testing.assert_allclose(stacked.answers(TEXTS), alone.answers(TEXTS), rtol=0, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("window", [None, 7])
def test_steps_are_captured_as_graphs(folder: Path, window: int | None) -> None:
    pretrained = read_pretrained(str(folder))
    options = {"encoder": "bert", "pretrained": str(folder), "window": window, "device": "cuda"}
    config = fill_defaults(Config().override(options), DataSize(100, 0))
    tokenizer = WordPieces(pretrained.tokenizer)
    model = (
        build(config.model, len(tokenizer), 1, 0.1, reader=BERT.from_pretrained(pretrained, config.model))
        .to("cuda")
        .train()
    )
    optimizer = make_optimizer(model.named_parameters(), config.training)
    take = make_step(Step(model, Binary(("no", "yes")), config.training, optimizer))
    assert isinstance(take, GraphedStep)
    batch = collate(
        [tokenizer.encode(text) for text, _ in ROWS], 1, np.array([label == "yes" for _, label in ROWS], float)
    )
    losses = [float(take(batch)) for _ in range(4)]
    assert not take.cannot_capture
    assert len(take.graphs) == 1
    assert np.isfinite(losses).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": "bert"}, "encoder = 'bert' needs pretrained"),
        ({"pretrained": "x"}, "pretrained = 'x' needs encoder = 'bert', got 'embedding'"),
        ({"encoder": "lstm", "window": 0}, "window = 0 needs encoder = 'bert'"),
        ({"encoder": "cnn", "frozen_layers": 2}, "frozen_layers = 2 needs encoder = 'bert'"),
        ({"encoder": "bert", "pretrained": "x", "levels": 2}, "can only be on the lowest level"),
        ({"encoder": "lstm,bert", "pretrained": "x", "levels": 2}, "can only be on the lowest level"),
        ({"encoder": "bert", "pretrained": "x", "vectors": "glove"}, "has its own vectors"),
        ({"encoder": "bert", "pretrained": "x", "max_vocabulary": 9}, "has its own vocabulary"),
        ({"encoder": "bert", "pretrained": "x", "record": "epoch"}, "cannot be recorded; expected 'no'"),
        ({"encoder": "bert", "pretrained": "x", "window": -1}, "window: expected a number of at least 0, got -1"),
    ],
)
def test_contradictions_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config().override(options)


def test_a_summary_needs_an_encoder_that_gives_one() -> None:
    with pytest.raises(
        InputError, match="pooling = 'summary': expected encoder 'bert', which summarises texts, got 'lstm'"
    ):
        build(Config().override({"encoder": "lstm", "pooling": "summary"}).model, 5, 1)


def test_a_long_text_is_refused_where_windows_are_not_allowed(folder: Path) -> None:
    with pytest.raises(
        InputError,
        match="expected a text of up to 18 word pieces, the most that the pretrained model reads at once, got 20",
    ):
        trained_with(folder, window=0)
    short = trained_with(folder, window=0, max_words=8)
    with pytest.raises(InputError, match="got 32; without window = 0 longer texts are read in several windows"):
        short.answers(["unbelievably " * 8])


@pytest.mark.parametrize("part", ["train", "dev", "test", "held out"])
def test_a_text_that_is_too_long_is_named_before_training(
    regard: Regard, folder: Path, tmp_path: Path, part: str
) -> None:
    rows = [(f"it was {word}", word) for word in ("good", "bad") * 10]
    examples = [Example(*fields, row) for row, fields in enumerate(rows, 1)]
    where, row = (part, 5) if part != "held out" else ("train", hold_out(examples, 0.1, 0, True)[1][0].row)
    long = ("good " * 19, rows[row - 1][1])
    for name in ("train", "dev", "test"):
        write_csv(tmp_path / f"{name}.csv", [*rows[: row - 1], long, *rows[row:]] if name == where else rows)
    splits = () if part == "held out" else ("--dev", tmp_path / "dev.csv", "--test", tmp_path / "test.csv")
    options = ("--encoder", "bert", "--pretrained", folder, "--window", 0, "--epochs", 1, "--device", "cpu")
    result = regard("train", tmp_path / "train.csv", *options, *splits, "--out", tmp_path / "run")
    assert f"{where}.csv, row {row}: expected a text of up to 18 word pieces, the most" in result.error
    assert "reads at once, got 19;" in result.error
    assert "epoch" not in result.err
    assert not (tmp_path / "run").exists()


def test_the_command_line(regard: Regard, folder: Path, table: Path, tmp_path: Path) -> None:
    out, moved = tmp_path / "run", tmp_path / "moved"
    shutil.copytree(folder, moved)
    options = ("--encoder", "bert", "--pretrained", moved, "--epochs", "2", "--lr", "0.003", "--device", "cpu")
    assert regard("train", table, *options, "--out", out).code == 0
    shutil.rmtree(moved)
    result = regard("predict", out, "it was good")
    assert json.loads(result.out)["prediction"] in ("yes", "no")
    result = regard("explain", out, "It wasn't good.", "--format", "jsonl")
    tokens = json.loads(result.out)["tokens"]
    assert [token["text"] for token in tokens] == ["It", "was", "n't", "good", "."]
    assert sum(token["weight"] for token in tokens) == pytest.approx(1, abs=1e-5)
    assert "word pieces of" in (out / "README.md").read_text(encoding="utf-8")
    assert json.loads((out / "metrics.json").read_text(encoding="utf-8"))["environment"]["transformers"]
    assert regard("evaluate", out, table, "--json").code == 0


def test_the_command_line_rejects_folders_that_are_not_models(regard: Regard, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = ("train", table, "--encoder", "bert", "--out", out)
    assert "needs pretrained" in regard(*arguments).error
    assert "config.json is missing" in regard(*arguments, "--pretrained", tmp_path).error
    assert "there is no such folder" in regard(*arguments, "--pretrained", tmp_path / "none").error
    assert not out.exists()


def test_a_run_without_its_encoder_is_damaged(folder: Path, tmp_path: Path) -> None:
    save(trained_with(folder, epochs=1), tmp_path)
    (tmp_path / "manifest.json").unlink()
    pieces = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    for change in ({"pieces": {}}, {"longest": "long"}):
        (tmp_path / "tokenizer.json").write_text(json.dumps({**pieces, **change}), encoding="utf-8")
        with pytest.raises(InputError, match="damaged run"):
            load(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps(pieces), encoding="utf-8")
    load(tmp_path)
    (tmp_path / "encoder.json").unlink()
    with pytest.raises(InputError, match="damaged run"):
        load(tmp_path)


def test_other_layers_are_another_run(folder: Path) -> None:
    given = read_pretrained(str(folder))
    before = digest_pretrained(given)
    next(given.model.parameters()).data[0] += 1
    assert digest_pretrained(given) != before


def test_the_estimator(folder: Path, tmp_path: Path) -> None:
    model = regard.TextClassifier(encoder="bert", pretrained=str(folder), pooling="summary", **FAST)
    model.fit([text for text, _ in ROWS], [label for _, label in ROWS])
    model.save(tmp_path / "run")
    again = regard.load(tmp_path / "run")
    assert again.predict(TEXTS).tolist() == model.predict(TEXTS).tolist()
    assert again.explain("it was good").tokens[0].weight == pytest.approx(1 / 3)


def test_a_killed_run_resumes(folder: Path, tmp_path: Path) -> None:
    class Killed(Silent):
        def end(self, record: Any) -> None:
            if record["epoch"] == 2:
                raise KeyboardInterrupt

    config = Config().override({"encoder": "bert", "pretrained": str(folder), **FAST})
    parts = Parts([Example(text, label, row) for row, (text, label) in enumerate(ROWS)])
    whole = fit(config, parts)
    with pytest.raises(KeyboardInterrupt):
        fit(config, parts, Run(Killed(), tmp_path / "checkpoint.safetensors"))
    again = fit(config, parts, Run(Silent(), tmp_path / "checkpoint.safetensors"))
    for name, value in whole.weights.items():
        np.testing.assert_array_equal(again.weights[name], value)
