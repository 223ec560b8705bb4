"""The folder of two towers: the same answers bit for bit, and one sentence about anything that is wrong with it."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from small_towers import AUTHORS, FORMS, TEST, TRAIN, fitted

from mutations import json_mutations
from regard.errors import InputError
from regard.models.folder import load as load_run
from regard_lab.towers import folder as folder_module
from regard_lab.towers.folder import FILES, MANIFEST, PAGE, check_free, load, rating_formula, save
from regard_lab.towers.ratings import Rating
from regard_lab.towers.two_towers import Form

HALF = "half \ud83d of a pair"  # not UTF-8


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("towers") / "run"
    save(fitted(AUTHORS), folder)
    return folder


@pytest.fixture
def copied(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "run"))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("pooling", ["attention", "apln"])
def test_a_model_is_the_same_after_saving_and_loading(form: Form, pooling: str, tmp_path: Path) -> None:
    reviews = [*TRAIN, Rating(None, "i1", 2.5, f"Nobody’s “words”.\n\nTwo blocks, {HALF}", 121)]
    trained = fitted(form, reviews, pooling=pooling, max_words=9)
    save(trained, tmp_path / "run")
    loaded = load(tmp_path / "run")
    others = [Rating("new", "i1", 0, ""), Rating(None, None, 0, "")]
    assert loaded.answers([*TEST, *others]).tobytes() == trained.answers([*TEST, *others]).tobytes()
    assert loaded.known.ratings == trained.known.ratings
    assert (loaded.most, loaded.side, loaded.ids, loaded.model.form) == (5, "both", trained.ids, form)
    assert (loaded.config, loaded.task, loaded.metrics) == (trained.config, trained.task, trained.metrics)
    for name, value in trained.model.state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], value), name


def test_saving_twice_writes_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    save(load(saved), tmp_path / "again")
    for name in (*FILES, MANIFEST):
        assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes(), name


def test_other_reviews_can_be_read_by_the_same_names(saved: Path) -> None:
    loaded = load(saved)
    u1 = [Rating("u1", "i0", 0, ""), Rating("u2", "i0", 0, "")]
    emptied = loaded.with_reviews([Rating("u9", "i9", 3, "g1 b1.")], same_names=True)
    assert len({*emptied.answers(u1)}) == 2, "ids are known, though nothing of them can be read"
    assert len({*loaded.with_reviews([Rating("u9", "i9", 3, "g1 b1.")]).answers(u1)}) == 1


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_a_missing_file_is_named(copied: Path, name: str) -> None:
    (copied / name).unlink()
    with pytest.raises(InputError, match=f"run: not a finished run of two towers: {name} missing"):
        load(copied)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_noticed(copied: Path, name: str) -> None:
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    with pytest.raises(InputError, match=f"damaged run of two towers \\({name} has changed since it was saved"):
        load(copied)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("towers.json", lambda row: {**row, "format": "other"}, "expected the format 'regard towers 1', got 'other'"),
        ("towers.json", lambda row: {**row, "head": "sum"}, "head: expected concat or product, got 'sum'"),
        ("towers.json", lambda row: {**row, "ids": 5}, "head.weight: expected ((1, 11)"),
        ("towers.json", lambda row: {**row, "ids": True}, "towers.json: ids: expected a whole number, got True"),
        ("towers.json", lambda row: {**row, "side": "left"}, "side: expected one of both, user, item, got 'left'"),
        ("towers.json", lambda row: {**row, "max_reviews": 0}, "max_reviews: expected 1 or more, got 0"),
        ("towers.json", lambda row: {**row, "users": ["a", "a"]}, "users: expected a list of different names"),
        ("towers.json", lambda row: {**row, "users": row["users"][1:]}, "user_ids.weight: expected"),
        (
            "towers.json",
            lambda row: {**row, "task": {"kind": "multiclass", "classes": ["a", "b"]}},
            "task: expected regression, got multiclass",
        ),
        ("tokenizer.json", lambda row: {**row, "levels": 3}, "expected words in sentences of one review at a time"),
        (
            "tokenizer.json",
            lambda row: {**row, "words": row["words"][1:]},
            "embedding.weight: expected a table with a row for each of 91 word ids",
        ),
        ("metrics.json", lambda row: {**row, "epochs": "many"}, "metrics.json: epochs: expected a whole number"),
    ],
)
def test_files_that_do_not_fit_together_give_one_sentence(
    copied: Path, name: str, change: object, message: str
) -> None:
    assert callable(change)
    (copied / name).write_text(json.dumps(change(json.loads((copied / name).read_text()))))
    with pytest.raises(InputError, match=r"^.*run: damaged run of two towers") as raised:
        load(copied, verify=False)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"user": "a"}', "line 1: expected an object with user, item, a finite value, text and row"),
        ("[1]", "line 1: expected an object"),
        ('{"user": "a", "item": "b", "value": NaN, "text": "x", "row": 1}', "a finite value"),
        ("", "expected at least one review, got none"),
    ],
)
def test_damaged_reviews_give_one_sentence(copied: Path, line: str, message: str) -> None:
    (copied / "reviews.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=message):
        load(copied, verify=False)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(copied: Path, value: float) -> None:
    weights = safetensors.numpy.load_file(copied / "weights.safetensors")
    weights["head.weight"][0, 0] = value
    safetensors.numpy.save_file(weights, copied / "weights.safetensors")
    with pytest.raises(InputError, match="contains numbers that are not finite"):
        load(copied, verify=False)


@pytest.mark.parametrize("name", ["towers.json", "tokenizer.json"])
def test_odd_values_never_end_in_a_traceback(saved: Path, tmp_path: Path, name: str) -> None:
    accepted = 0
    for number, mutation in enumerate(json_mutations(name, (saved / name).read_bytes(), most=60)):
        folder = Path(shutil.copytree(saved, tmp_path / str(number)))
        mutation.apply(folder)
        with suppress(InputError):
            load(folder, verify=False)
            accepted += 1
        shutil.rmtree(folder)
    assert accepted < 30, "most odd values are refused"


def test_a_folder_of_something_else_is_never_written_into(copied: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary.txt").write_text("mine")
    with pytest.raises(InputError, match=r"not a run of two towers \(it contains 'diary.txt'\); nothing was written"):
        check_free(tmp_path / "notes", overwrite=True)
    with pytest.raises(InputError, match="already exists; use another --out, or --overwrite"):
        check_free(copied, overwrite=False)
    (copied / PAGE).write_text("a page")
    check_free(copied, overwrite=True)
    check_free(tmp_path / "new", overwrite=False)


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / f".weights.safetensors.{'0' * 16}.partial"
    left.write_bytes(b"half")
    check_free(tmp_path, overwrite=False)
    assert not left.exists()


def test_links_are_refused(copied: Path, tmp_path: Path) -> None:
    (copied / "reviews.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (copied / "reviews.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(InputError, match="expected a plain file, got a symbolic link"):
        load(copied)


def test_commands_for_text_models_refuse_the_folder(saved: Path) -> None:
    with pytest.raises(InputError, match=r"not a finished run of regard: config.toml, task.json missing"):
        load_run(saved)


def test_the_card_says_that_the_reviews_are_in_the_folder(saved: Path) -> None:
    card = (saved / "README.md").read_text(encoding="utf-8")
    assert "**The training reviews are in this folder**" in card
    assert "120 reviews of 20 items by 30 users" in card
    assert rating_formula(AUTHORS) == "max(0, w · (u · i) + b), of vectors of reviews and ids"
    assert rating_formula(Form()) == "w · [u, i, u · i] + b, of vectors of reviews"


def test_an_error_while_writing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    trained = fitted(Form())
    monkeypatch.setattr("regard.files.os.fsync", full)
    with pytest.raises(InputError, match="could not be written"):
        folder_module.save(trained, tmp_path / "run")
    assert not (tmp_path / "run").exists()
