"""Open options get defaults, given ones stay, and contradictory ones are refused with a clear message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config import Config, options
from regard.errors import InputError
from regard.training.defaults import DataSize, choose_engine, fill_defaults, provisional_defaults

SIZE = DataSize(1000, 20_000)
SIZES = st.builds(DataSize, st.integers(0, 10**9), st.integers(0, 10**12))
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "engine": st.sampled_from(["auto", "sparse", "torch"]),
        "encoder": st.sampled_from(["embedding", "affine", "cnn"]),
        "attention": st.sampled_from(["dot", "additive"]),
        "min_count": st.integers(1, 50),
        "max_vocabulary": st.integers(1, 10**6),
        "pairs": st.booleans(),
        "beginnings": st.sampled_from([0, 3]),
        "embedding": st.integers(1, 300),
        "scale": st.floats(0.1, 100),
        "epochs": st.integers(1, 100),
        "patience": st.integers(0, 100),
        "batch_size": st.integers(1, 1000),
        "optimizer": st.sampled_from(["adam", "amsgrad", "adagrad", "sgd"]),
        "lr": st.floats(1e-6, 10),
        "decay": st.booleans(),
        "dropout": st.floats(0, 0.9),
        "clip": st.floats(0, 10),
        "deterministic": st.booleans(),
        "device": st.sampled_from(["auto", "cpu", "cuda"]),
    },
)
# None is a value for these: no file, no limit, or a number that defaults.LEARNING_RATES or a pooling supplies; or the model
# has no such part
MAY_BE_NONE = {
    "train", "dev", "test", "text", "label", "max_words", "max_vocabulary", "vectors", "norm_init", "lr",
    "pretrained", "window", "encoding", "beta", "rounds", "phase_epochs", "compressor_lr",
    "weight", "class_weight", "threshold", "positive", "label_separator",
}  # fmt: skip


def flat(config: Config) -> dict[str, Any]:
    return {name: value for _, section in config.sections() for name, value in vars(section).items()}


def filled_in(size: DataSize = SIZE, **values: Any) -> dict[str, Any]:
    return flat(fill_defaults(Config().override(values), size))


@given(GIVEN, SIZES)
def test_options_given_stay_and_all_others_are_filled_in(values: dict[str, Any], size: DataSize) -> None:
    try:
        config = Config().override(values)
        filled = fill_defaults(config, size)
    except InputError:
        return  # contradictory options
    for name, value in flat(config).items():
        if name != "engine" and value is not None:
            assert flat(filled)[name] == value, name
    assert filled.training.engine == choose_engine(config).training.engine
    assert {name for name, value in flat(filled).items() if value is None} <= MAY_BE_NONE
    assert fill_defaults(filled, size) == filled, "a second time changes nothing"


@given(SIZES)
def test_defaults_are_valid_for_any_size(size: DataSize) -> None:
    defaults = filled_in(size)
    assert defaults["engine"] == "sparse"
    assert defaults["lr"] > 0
    assert defaults["epochs"] >= 1
    assert defaults["batch_size"] >= 1
    assert defaults["pairs"]
    torch = filled_in(size, engine="torch")
    assert torch["engine"] == "torch"
    assert torch["epochs"] >= 20
    assert not torch["pairs"]
    assert torch["beginnings"] == 0


def test_more_texts_get_fewer_epochs_and_larger_batches() -> None:
    sizes = [DataSize(10**power, 20 * 10**power) for power in range(1, 9)]
    defaults = [filled_in(size) for size in sizes]
    for name, sign in (("epochs", -1), ("batch_size", 1), ("min_count", 1)):
        values = [sign * each[name] for each in defaults]
        assert values == sorted(values), name
    assert defaults[0]["epochs"] > defaults[-1]["epochs"]
    few, many = filled_in(sizes[0], engine="torch"), filled_in(sizes[-1], engine="torch")
    assert few["epochs"] > many["epochs"] == 20


def test_training_is_deterministic_unless_the_corpus_is_large() -> None:
    assert filled_in(DataSize(1000, 20_000))["deterministic"]
    assert not filled_in(DataSize(10**8, 10**10))["deterministic"]
    assert filled_in(DataSize(10**8, 10**10), deterministic=True)["deterministic"]
    assert filled_in(DataSize(10**8, 10**10), engine="torch")["deterministic"]


def test_defaults_of_pytorch_models() -> None:
    defaults = filled_in(DataSize(1000, 20_000), encoder="bilstm")
    expected = {"min_count": 2, "embedding": 100, "attention": "additive", "scale": 1.0, "batch_size": 64}
    expected |= {"optimizer": "adam", "dropout": 0.2, "clip": 5.0, "lr": None, "max_vocabulary": None}
    assert {name: defaults[name] for name in expected} == expected
    # 1,000 texts in batches of 64 are 16 steps: 500 steps take 32 epochs, and a patience of 100 steps is 7 epochs
    assert (defaults["epochs"], defaults["patience"]) == (32, 7)


def test_patience_without_decay() -> None:
    """With decay a run continues until the rate reaches 0; with a constant rate it may stop early."""
    assert filled_in()["patience"] == 0
    assert filled_in(decay=False)["patience"] > 0


@pytest.mark.parametrize(
    "values",
    [
        {"encoder": "cnn"},
        {"levels": 2},
        {"pooling": "max"},
        {"device": "cuda"},
        {"optimizer": "adam"},
        {"clip": 1.0},
        {"bf16": True},
        {"freeze_embeddings": True},
        {"head_hidden": True},
        {"encoder": "affine", "attention": "dot", "vtw_mapped": 0.1},
    ],
    ids=str,
)
def test_options_that_need_torch(values: dict[str, Any]) -> None:
    assert choose_engine(Config().override(values)).training.engine == "torch"
    assert filled_in(**values)["engine"] == "torch"
    with pytest.raises(InputError, match=r"engine = 'sparse': it .*; use engine = 'auto' or 'torch'"):
        fill_defaults(Config().override({**values, "engine": "sparse"}), DataSize(10, 100))
    with pytest.raises(
        InputError, match="decay needs the sparse engine, which cannot be used with the other options: it "
    ):
        fill_defaults(Config().override({**values, "decay": True}), DataSize(10, 100))


@pytest.mark.parametrize("values", [{}, {"encoder": "affine"}, {"device": "cpu"}, {"clip": 0.0}, {"optimizer": "sgd"}])
def test_options_that_the_sparse_engine_supports(values: dict[str, Any]) -> None:
    assert choose_engine(Config().override(values)).training.engine == "sparse"
    assert choose_engine(Config().override({**values, "engine": "torch"})).training.engine == "torch"


def test_beginnings_depend_on_pairs() -> None:
    assert filled_in()["beginnings"] > 0
    assert filled_in(pairs=False)["beginnings"] == 0
    assert filled_in(pairs=False, beginnings=4)["beginnings"] == 4
    assert filled_in(beginnings=0)["beginnings"] == 0


@pytest.mark.parametrize("values", [{"pairs": True}, {"beginnings": 3}])
@pytest.mark.parametrize("other", [{"engine": "torch"}, {"optimizer": "adam"}, {"device": "cuda"}])
def test_pairs_and_beginnings_need_the_sparse_engine(values: dict[str, Any], other: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"(pairs|beginnings) needs the sparse engine"):
        fill_defaults(Config().override({**values, **other}), DataSize(10, 100))


def test_provisional_defaults_leave_nothing_open() -> None:
    assert {name for name, value in flat(provisional_defaults(Config())).items() if value is None} <= MAY_BE_NONE


def test_every_open_option_has_a_default() -> None:
    open_ones = {item.name for _, item, _ in options() if item.default is None} - MAY_BE_NONE
    assert open_ones == {name for name, value in filled_in().items() if name in open_ones and value is not None}
