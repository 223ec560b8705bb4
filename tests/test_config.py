"""Options: every one is a TOML key, a flag and a parameter; strange ones are refused with what is accepted."""

from __future__ import annotations

import argparse
import inspect
import math
import tomllib
import types
import typing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.cli import make_parser
from regard.config import Config, options, options_in, read_config
from regard.errors import InputError

NAMES = [item.name for _, item, _ in options()]
LARGE = st.integers(1, 10_000)
SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "dev_fraction": st.floats(0, 0.9),
    "levels": st.sampled_from((1, 2, 3)),
    "windows": st.lists(st.integers(1, 100), min_size=1, max_size=4).map(tuple),
    "scale": st.floats(1e-6, 1e6),
    "norm_init": st.none() | st.floats(0.01, 1000),
    "lr": st.none() | st.floats(1e-12, 1e12),
    "dropout": st.floats(0, 0.95),
    "rescale": st.sampled_from(
        ("clip", "normalise")
    ),  # signed, penalties, `record` and what only one engine reads depend on others
    "vtw": st.just(0.0),
    "vtw_mapped": st.just(0.0),
    "beta": st.none(),
    "rounds": st.none(),
    "phase_epochs": st.none(),
    "compressor_lr": st.none(),
    "pretrained": st.none(),
    "frozen_layers": st.just(0),
    "window": st.none(),
    "embedding_range": st.floats(1e-6, 1e6),
    "query_range": st.floats(1e-6, 1e6),
    "record": st.just("no"),
    "pairs": st.just(False),
    "beginnings": st.just(0),
    "decay": st.just(False),
    "seed": st.integers(0, 2**31 - 1),
}
TEXT = st.text(st.characters(exclude_categories=("Cs",)))


def values_of(name: str, kind: Any) -> st.SearchStrategy[Any]:
    if name in SPECIAL:
        return SPECIAL[name]
    inner = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Literal:
        return st.sampled_from(inner)
    if types.NoneType in inner:
        return st.none() | values_of("", next(part for part in inner if part is not types.NoneType))
    return {bool: st.booleans(), int: LARGE, float: st.floats(0, 1e300), str: TEXT}[kind]


@given(st.fixed_dictionaries({}, optional={item.name: values_of(item.name, kind) for _, item, kind in options()}))
@example({"train": "\x00\x7f\x85\u2028\\\"'\r\n", "lr": 1e-05, "l2": 1e300})
@example({"pairs": True, "beginnings": 100, "decay": True, "engine": "sparse", "attention": "dot", "vtw": 0.5})
@example({"encoder": "affine", "attention": "dot", "vtw_mapped": 0.5, "record": "step", "embedding_range": 1.0})
def test_a_config_comes_back_from_its_toml(values: dict[str, Any]) -> None:
    config = Config().override(values)
    found = options_in(tomllib.loads(config.to_toml()), "file")
    assert Config().override(found) == config


def test_the_file_tells_every_option_that_is_set() -> None:
    tables = tomllib.loads(Config().to_toml())
    unset = {item.name for _, item, _ in options() if item.default is None}
    assert {key for table in tables.values() for key in table} == set(NAMES) - unset


def test_no_two_options_share_a_name() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_every_option_is_a_flag_of_train() -> None:
    commands = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    known = {action.dest for action in commands.choices["train"]._actions}
    assert set(NAMES) <= known
    assert known - set(NAMES) == {"help", "out", "resume", "overwrite", "config"}


def test_defaults_in_python_are_those_of_the_config() -> None:
    from regard import TextClassifier, TextRegressor

    defaults = {item.name: item.default for _, item, _ in options()}
    # what names files, columns and the task is what `fit` is given
    elsewhere = {"train", "dev", "test", "text", "label", "task", "skip_bad_rows"}
    for kind in (TextClassifier, TextRegressor):
        own = {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}
        assert own.pop("verbose") is False
        assert own == {name: value for name, value in defaults.items() if name not in elsewhere}


BAD_VALUES = [
    ("dev_fraction", 0.95, "dev_fraction = 0.95: from 0 to 0.9"),
    ("dev_fraction", math.nan, "dev_fraction = nan"),
    ("max_words", 0, "max_words = 0: 1 or more"),
    ("min_count", 0, "min_count = 0: 1 or more"),
    ("hidden", 0, "hidden = 0: from 1 to"),
    ("hidden", 10**30, "hidden = 1"),
    ("norm_init", 0.0, "norm_init = 0.0: from 0.01 to 1000"),
    ("epochs", 0, "epochs = 0: 1 or more"),
    ("patience", -1, "patience = -1: 0 or more"),
    ("norm_lr", -1.0, "norm_lr = -1.0: 0 or more"),
    ("dropout", 1.0, "dropout = 1.0: from 0 to 0.95"),
    ("l2", math.inf, "l2 = inf: 0 or more"),
    ("seed", -1, "seed = -1: from 0"),
    ("lr", 0.0, "lr = 0.0: a number above 0"),
    ("lr", math.nan, "lr = nan: a number above 0"),
    ("scale", -1.0, "scale = -1.0: a number above 0, or auto, is accepted"),
    ("levels", 4, "levels = 4: 1 .words., 2 .sentences. or 3"),
    ("windows", (), r"windows = \[\]: one or more"),
    ("windows", (101,), r"windows = \[101\]: .* from 1 to 100"),
    ("vtw", 1.0, "vtw needs pooling = 'attention' with attention = 'dot'"),
    ("vtw_mapped", -1.0, "vtw_mapped = -1.0: 0 or more"),
    ("vtw_mapped", 1.0, "vtw_mapped needs encoder = 'affine', pooling = 'attention', attention = 'dot' and levels = 1"),
    ("embedding_range", 0.0, "embedding_range = 0.0: a number above 0"),
    ("embedding_range", math.inf, "embedding_range = inf: a number above 0"),
    ("beginnings", 101, "beginnings = 101: from 0 to 100"),
    ("batch_size", 0, "batch_size = 0: 1 or more"),
    ("rounds", 1001, "rounds = 1001: from 1 to 1000"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_VALUES)
def test_values_out_of_range_are_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config().override({name: value})


CONTRADICTIONS = [
    ({"rescale": "signed", "nonnegative": False}, "rescale = 'signed' needs nonnegative and reformulate"),
    ({"rescale": "signed", "reformulate": False}, "rescale = 'signed' needs nonnegative and reformulate"),
    ({"pairs": True, "levels": 2}, "pairs and beginnings need encoder = 'embedding' or 'affine' and levels = 1"),
    ({"pairs": True, "encoder": "cnn"}, "pairs and beginnings need"),
    ({"beginnings": 3, "encoder": "bilstm"}, "pairs and beginnings need"),
    ({"vtw": 1.0, "attention": "dot", "pooling": "max"}, "vtw needs pooling"),
    ({"vtw_mapped": 1.0, "attention": "dot"}, "vtw_mapped needs encoder = 'affine'"),
    ({"vtw_mapped": 1.0, "encoder": "affine"}, "vtw_mapped needs encoder = 'affine'"),
    ({"vtw_mapped": 1.0, "encoder": "affine", "attention": "dot", "pooling": "apln"}, "vtw_mapped needs"),
    ({"vtw_mapped": 1.0, "encoder": "affine", "attention": "dot", "levels": 2}, "vtw_mapped needs"),
    ({"record": "epoch", "levels": 2}, "record = 'epoch' needs pooling = 'attention', levels = 1 and classes"),
    ({"record": "step", "pooling": "average"}, "record = 'step' needs pooling"),
    ({"record": "step", "head_hidden": True}, "without head_hidden: words have no"),
    ({"vtw": 1.0, "attention": "dot", "head_hidden": True}, "without head_hidden: there is no"),
    ({"record": "step", "task": "regression"}, "record = 'step' needs pooling"),
]


@pytest.mark.parametrize(("values", "message"), CONTRADICTIONS)
def test_options_that_contradict_each_other_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config().override(values)


BAD_FILES = [
    ("[model]\nhiden = 3", "unknown key 'hiden' in .model.; did you mean 'hidden' in .model.. known keys are .data."),
    ("[data]\nlr = 0.1", "unknown key 'lr' in .data.; did you mean 'lr' in .training."),
    ("[nodel]\nhidden = 3", "unknown section 'nodel'; known are .data., .model., .training."),
    ("hidden = 3", "unknown section 'hidden'"),
    ("[model]\nhidden = 3.5", r"model.hidden = 3.5: a whole number is accepted"),
    ("[model]\nhidden = true", "model.hidden = True: a whole number is accepted"),
    ("[model]\nhidden = '3'", "model.hidden = '3': a whole number is accepted"),
    ("[model]\nwindows = 3", "model.windows = 3: a list of whole numbers"),
    ("[model]\nnorm = 'none'", "model.norm = 'none': accepted are scalar, sample, feature"),
    ("[training]\nlr = 'fast'", "training.lr = 'fast': a number is accepted"),
    ("[training]\nbf16 = 1", "training.bf16 = 1: true or false is accepted"),
    ("[data", "not a TOML file"),
    (b"\xff\xfe", "not a TOML file"),
]


@pytest.mark.parametrize(("content", "message"), BAD_FILES)
def test_a_strange_file_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "run.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=message) as caught:
        read_config(path)
    assert str(path) in str(caught.value)


def test_an_unknown_key_lists_every_known_one(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("[model]\nzzz = 1")
    with pytest.raises(InputError) as caught:
        read_config(tmp_path / "run.toml")
    assert all(name in str(caught.value) for name in NAMES)


def test_whole_numbers_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("[training]\nlr = 1\n")
    assert read_config(tmp_path / "run.toml") == {"lr": 1.0}
    with pytest.raises(InputError, match="no such file"):
        read_config(tmp_path / "none.toml")
