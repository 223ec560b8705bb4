"""Options: each is a TOML key, a flag and a parameter; invalid ones are refused with what is expected."""

from __future__ import annotations

import argparse
import ast
import inspect
import math
import re
import tomllib
import types
import typing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.cli import make_parser
from regard.config import Config, config_toml, options, options_in, read_config
from regard.errors import InputError

NAMES = [item.name for _, item, _ in options()]
LARGE = st.integers(1, 10_000)
SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "dev_fraction": st.floats(0, 0.9),
    "levels": st.sampled_from((1, 2, 3)),
    "windows": st.lists(st.integers(1, 100), min_size=1, max_size=4).map(tuple),
    "members": st.none(),
    "label_separator": st.none(),  # it needs a task that it fits
    "scale": st.floats(1e-6, 1e6),
    "norm_init": st.none() | st.floats(0.01, 1000),
    "lr": st.none() | st.floats(1e-12, 1e12),
    "dropout": st.floats(0, 0.95),
    # they depend on the task
    "positive": st.none(),
    "class_weight": st.none(),
    "threshold": st.none(),
    # signed powers, penalties, `record` and options of one engine depend on other options
    "rescale": st.sampled_from(("clip", "normalise")),
    "reformulate": st.just(True),
    "vtw": st.just(0.0),
    "vtw_mapped": st.just(0.0),
    "beta": st.none(),
    "rounds": st.none(),
    "phase_epochs": st.none(),
    "compressor_lr": st.none(),
    "attention_heads": st.just(1),  # more of them need pooling = bottleneck
    "pretrained": st.none(),
    "frozen_layers": st.just(0),
    "window": st.none(),
    "embedding_range": st.floats(1e-6, 1e6),
    "query_range": st.floats(1e-6, 1e6),
    "record": st.just("no"),
    "spelling": st.just(False),
    "linear": st.just(False),
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
@example({"label_separator": "; ", "task": "multilabel"})
@example({"pairs": True, "beginnings": 100, "decay": True, "engine": "sparse", "attention": "dot", "vtw": 0.5})
@example({"encoder": "affine", "attention": "dot", "vtw_mapped": 0.5, "record": "step", "embedding_range": 1.0})
def test_a_config_can_be_restored_from_its_toml(values: dict[str, Any]) -> None:
    config = Config().override(values)
    restored = options_in(tomllib.loads(config_toml(config)), "file", pytest.fail)
    assert Config().override(restored) == config


def test_the_file_has_every_option_that_is_set() -> None:
    tables = tomllib.loads(config_toml(Config()))
    unset = {item.name for _, item, _ in options() if item.default is None}
    assert {key for table in tables.values() for key in table} == set(NAMES) - unset


def test_no_two_options_share_a_name() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_every_option_is_a_flag_of_train() -> None:
    commands = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    known = {action.dest for action in commands.choices["train"]._actions}
    assert set(NAMES) <= known
    assert known - set(NAMES) == {
        "help",
        "help_all",
        "out",
        "resume",
        "overwrite",
        "config",
        "log",
        "cv",
        "source",
        "replay",
        "no_verify",
    }


def test_defaults_in_python_are_those_of_the_config() -> None:
    from regard import TextClassifier, TextRegressor

    defaults = {item.name: item.default for _, item, _ in options()}
    # files, columns and the task are arguments of `fit` instead
    elsewhere = {
        "train",
        "dev",
        "test",
        "text",
        "label",
        "label_separator",
        "task",
        "weight",
        "skip_bad_rows",
        "encoding",
    }
    for kind in (TextClassifier, TextRegressor):
        parameters = {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}
        assert parameters.pop("verbose") is False
        assert parameters.pop("log") is None
        assert parameters == {name: value for name, value in defaults.items() if name not in elsewhere}


def test_every_parameter_is_documented_with_its_default() -> None:
    from regard import TextClassifier, TextRegressor

    for kind in (TextClassifier, TextRegressor):
        entries = re.findall(r"^(\w+) : (.+), default=(.+)\n    \S", kind.__doc__ or "", re.MULTILINE)
        parameters = inspect.signature(kind).parameters
        assert {name for name, _, _ in entries} == set(parameters)
        for name, kinds, default in entries:
            assert ast.literal_eval(default) == parameters[name].default
            assert kinds


BAD_VALUES = [
    ("dev_fraction", 0.95, "dev_fraction: expected a number from 0 to 0.9, got 0.95"),
    ("dev_fraction", math.nan, "dev_fraction: expected .*, got nan"),
    ("max_words", 0, "max_words: expected a number of at least 1, got 0"),
    ("min_count", 0, "min_count: expected a number of at least 1, got 0"),
    ("hidden", 0, "hidden: expected a number from 1 to 100000, got 0"),
    ("hidden", 10**30, "hidden: expected .*, got 1"),
    ("norm_init", 0.0, "norm_init: expected a number from 0.01 to 1000, got 0.0"),
    ("epochs", 0, "epochs: expected a number of at least 1, got 0"),
    ("patience", -1, "patience: expected a number of at least 0, got -1"),
    ("norm_lr", -1.0, "norm_lr: expected a number of at least 0, got -1.0"),
    ("dropout", 1.0, "dropout: expected a number from 0 to 0.95, got 1.0"),
    ("l2", math.inf, "l2: expected a number of at least 0, got inf"),
    ("seed", -1, "seed: expected a number from 0 to .*, got -1"),
    ("lr", 0.0, "lr: expected a number above 0, got 0.0"),
    ("lr", math.nan, "lr: expected a number above 0, got nan"),
    ("scale", -1.0, "scale: expected a number above 0, or auto, got -1.0"),
    ("threshold", 1.5, "threshold: expected a number from 0.001 to 0.999, or best-f1, got 1.5"),
    ("threshold", "best", "threshold: expected .*, or best-f1, got 'best'"),
    ("levels", 4, "levels: expected 1 .words., 2 .sentences. or 3 .parts., got 4"),
    ("windows", (), r"windows: expected one or more whole numbers .*, got \[\]"),
    ("windows", (101,), r"windows: .* from 1 to 100, got \[101\]"),
    ("vtw", 1.0, "vtw needs pooling = 'attention' with attention = 'dot'"),
    ("vtw_mapped", -1.0, "vtw_mapped: expected a number of at least 0, got -1.0"),
    ("vtw_mapped", 1.0, "vtw_mapped needs encoder = 'affine', pooling = 'attention', attention = 'dot' and levels = 1"),
    ("embedding_range", 0.0, "embedding_range: expected a number above 0, got 0.0"),
    ("embedding_range", math.inf, "embedding_range: expected a number above 0, got inf"),
    ("beginnings", 101, "beginnings: expected a number from 0 to 100, got 101"),
    ("batch_size", 0, "batch_size: expected a number of at least 1, got 0"),
    ("label_separator", "", "label_separator: expected characters such as ';', got nothing"),
    ("rounds", 1001, "rounds: expected a number from 1 to 1000, got 1001"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_VALUES)
def test_values_out_of_range_are_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Config().override({name: value})


CONTRADICTIONS = [
    ({"rescale": "signed", "nonnegative": False}, "rescale = 'signed' needs nonnegative and reformulate"),
    ({"rescale": "signed", "reformulate": False}, "rescale = 'signed' needs nonnegative and reformulate"),
    (
        {"form": "no_root", "rescale": "signed"},
        "form = 'no_root' needs rescale = 'clip' or 'normalise' and reformulate",
    ),
    (
        {"form": "neither", "reformulate": False},
        "form = 'neither' needs rescale = 'clip' or 'normalise' and reformulate",
    ),
    ({"pairs": True, "levels": 2}, "pairs and beginnings need encoder = 'embedding' or 'affine' and levels = 1"),
    ({"pairs": True, "encoder": "cnn"}, "pairs and beginnings need"),
    ({"beginnings": 3, "encoder": "bilstm"}, "pairs and beginnings need"),
    ({"vtw": 1.0, "attention": "dot", "pooling": "max"}, "vtw needs pooling"),
    ({"vtw_mapped": 1.0, "attention": "dot"}, "vtw_mapped needs encoder = 'affine'"),
    ({"vtw_mapped": 1.0, "encoder": "affine"}, "vtw_mapped needs encoder = 'affine'"),
    ({"vtw_mapped": 1.0, "encoder": "affine", "attention": "dot", "pooling": "apln"}, "vtw_mapped needs"),
    ({"vtw_mapped": 1.0, "encoder": "affine", "attention": "dot", "levels": 2}, "vtw_mapped needs"),
    ({"record": "epoch", "levels": 2}, "record = 'epoch' needs pooling = 'attention', levels = 1 and a classification"),
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
    (
        "[nodel]\nhidden = 3",
        "expected the tables .data., .model., .apln., .bottleneck., .sun_lu., .training., got 'nodel'",
    ),
    ("hidden = 3", "expected the tables .*, got 'hidden'"),
    ("[model]\nhidden = 3.5", "model.hidden: expected a whole number, got 3.5"),
    ("[model]\nhidden = true", "model.hidden: expected a whole number, got True"),
    ("[model]\nhidden = '3'", "model.hidden: expected a whole number, got '3'"),
    ("[model]\nwindows = 3", "model.windows: expected a list of whole numbers, got 3"),
    ("[apln]\nnorm = 'none'", "apln.norm: expected one of scalar, sample, feature, got 'none'"),
    ("[training]\nlr = 'fast'", "training.lr: expected a number, got 'fast'"),
    ("[training]\nbf16 = 1", "training.bf16: expected true or false, got 1"),
    ("[apln]\nhidden = 3", "unknown key 'hidden' in .apln.; did you mean 'hidden' in .model."),
    ("[data", "not a readable TOML file"),
    (b"\xff\xfe", "not a readable TOML file"),
    ("[model]\nhidden = 1" + "0" * 5000, "not a readable TOML file"),
    (
        "[model]\nhidden = 0x1" + "0" * 5000,
        "model.hidden: expected a whole number of at most 19 digits, got a larger one",
    ),
    ("[model]\nwindows = [0x1" + "0" * 5000 + "]", "model.windows: expected a whole number of at most 19 digits"),
    ("[model]\nencoder = {a = 0x1" + "0" * 5000 + "}", "model.encoder: expected a whole number of at most 19 digits"),
    ("[training]\nlr = 1" + "0" * 400, "training.lr: expected a whole number of at most 19 digits"),
]


@pytest.mark.parametrize(("content", "message"), BAD_FILES)
def test_an_invalid_file_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
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


def test_a_whole_number_is_a_valid_float(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("[training]\nlr = 1\n")
    assert read_config(tmp_path / "run.toml") == {"lr": 1.0}
    with pytest.raises(InputError, match="no such file"):
        read_config(tmp_path / "none.toml")


def test_keys_in_their_old_table_are_read_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(
        "[model]\nnorm_init = 2.0\nhidden = 8\n[training]\nbeta = 0.5\n[apln]\nnorm_lr = 0.1\n"
    )
    sentences: list[str] = []
    assert read_config(tmp_path / "run.toml", sentences.append) == {
        "norm_init": 2.0,
        "hidden": 8,
        "beta": 0.5,
        "norm_lr": 0.1,
    }
    assert [sentence.partition(": ")[2].partition(";")[0] for sentence in sentences] == [
        "norm_init has moved from [model] to [apln]",
        "beta has moved from [training] to [bottleneck]",
    ]


def test_the_text_behind_fingerprints_never_changes() -> None:
    # checkpoints of version 0.1 are recognised by it
    text = Config().override({"encoder": "bilstm", "pooling": "apln", "norm_init": 2.0, "lr": 0.01}).identity_text()
    assert sha256(text.encode()).hexdigest() == "5d0b33fd04532c4c6f8166468a8faa34d88a9f4af22a2cf3eb6c36173d78dbd4"


def shown_by(*words: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    with pytest.raises(SystemExit):
        make_parser(words).parse_args(words)
    return set(re.findall(r"^  (-h|--[a-z0-9-]+|FILE)\b", capsys.readouterr().out, re.MULTILINE))


def test_help_of_train_has_two_layers(capsys: pytest.CaptureFixture[str]) -> None:
    basic = shown_by("train", "--help", capsys=capsys)
    assert len(basic) <= 25
    assert {"FILE", "--label", "--encoder", "--epochs", "--out", "--help-all"} <= basic
    everything = shown_by("train", "--help-all", capsys=capsys)
    assert basic < everything
    assert {"--" + name.replace("_", "-") for name in NAMES if name != "train"} <= everything


def test_an_unknown_option_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        make_parser(["train"]).parse_args(["train", "x.csv", "--epoch", "3"])
    assert "unknown option --epoch; did you mean --epochs?" in capsys.readouterr().err
