"""What is left open is chosen, what is given stays, and what cannot go together is refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config import Config, options
from regard.errors import InputError
from regard.training.defaults import DataSize, choose_engine, fill_defaults, provisional_defaults

SOME = DataSize(1000, 20_000)
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
        "optimizer": st.sampled_from(["adam", "adagrad", "sgd"]),
        "lr": st.floats(1e-6, 10),
        "decay": st.booleans(),
        "dropout": st.floats(0, 0.9),
        "clip": st.floats(0, 10),
        "deterministic": st.booleans(),
        "device": st.sampled_from(["auto", "cpu", "cuda"]),
    },
)
# None says something of its own: nothing is read, cut, limited or guessed, and defaults.LEARNING_RATES or poolings know a number;
# or there is nothing that it would say anything of
MAY_BE_NONE = {
    "train", "dev", "test", "text", "label", "max_words", "max_vocabulary", "vectors", "norm_init", "lr",
    "pretrained", "window", "beta", "rounds", "phase_epochs", "compressor_lr",
}  # fmt: skip


def flat(config: Config) -> dict[str, Any]:
    return {name: value for _, section in config.sections() for name, value in vars(section).items()}


def chosen(size: DataSize = SOME, **values: Any) -> dict[str, Any]:
    return flat(fill_defaults(Config().override(values), size))


@given(GIVEN, SIZES)
def test_what_is_given_stays_and_nothing_is_left_open(values: dict[str, Any], size: DataSize) -> None:
    try:
        config = Config().override(values)
        found = fill_defaults(config, size)
    except InputError:
        return  # they contradict each other
    for name, value in flat(config).items():
        if name != "engine" and value is not None:
            assert flat(found)[name] == value, name
    assert found.training.engine == choose_engine(config).training.engine
    assert {name for name, value in flat(found).items() if value is None} <= MAY_BE_NONE
    assert fill_defaults(found, size) == found, "once is enough"


@given(SIZES)
def test_the_defaults_suit_texts_of_any_number_and_length(size: DataSize) -> None:
    found = chosen(size)
    assert found["engine"] == "sparse"
    assert found["lr"] > 0
    assert found["epochs"] >= 1
    assert found["batch_size"] >= 1
    assert found["pairs"]
    torch = chosen(size, engine="torch")
    assert torch["engine"] == "torch"
    assert torch["epochs"] >= 20
    assert not torch["pairs"]
    assert torch["beginnings"] == 0


def test_more_texts_are_read_less_often_in_larger_batches() -> None:
    sizes = [DataSize(10**power, 20 * 10**power) for power in range(1, 9)]
    found = [chosen(size) for size in sizes]
    for name, sign in (("epochs", -1), ("batch_size", 1), ("min_count", 1)):
        values = [sign * each[name] for each in found]
        assert values == sorted(values), name
    assert found[0]["epochs"] > found[-1]["epochs"]
    few, many = chosen(sizes[0], engine="torch"), chosen(sizes[-1], engine="torch")
    assert few["epochs"] > many["epochs"] == 20


def test_few_words_are_trained_the_same_way_every_time_and_very_many_faster() -> None:
    assert chosen(DataSize(1000, 20_000))["deterministic"]
    assert not chosen(DataSize(10**8, 10**10))["deterministic"]
    assert chosen(DataSize(10**8, 10**10), deterministic=True)["deterministic"]
    assert chosen(DataSize(10**8, 10**10), engine="torch")["deterministic"]


def test_what_pytorch_models_had_before() -> None:
    found = chosen(DataSize(1000, 20_000), encoder="bilstm")
    expected = {"min_count": 2, "embedding": 100, "attention": "additive", "scale": 1.0, "batch_size": 64}
    expected |= {"optimizer": "adam", "dropout": 0.2, "clip": 5.0, "lr": None, "max_vocabulary": None}
    assert {name: found[name] for name in expected} == expected
    # 1,000 texts in batches of 64 are 16 steps: 500 of them take 32 epochs, and 100 without a better one 7
    assert (found["epochs"], found["patience"]) == (32, 7)


def test_patience_without_a_falling_rate() -> None:
    """A rate that falls to 0 along the run is to reach 0; one that stays may stop when nothing comes of it."""
    assert chosen()["patience"] == 0
    assert chosen(decay=False)["patience"] > 0


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
def test_what_sparse_cannot_do_goes_to_torch_unless_sparse_was_asked_for(values: dict[str, Any]) -> None:
    assert choose_engine(Config().override(values)).training.engine == "torch"
    assert chosen(**values)["engine"] == "torch"
    with pytest.raises(InputError, match=r"engine = 'sparse': it .*; use engine = 'auto' or 'torch'"):
        fill_defaults(Config().override({**values, "engine": "sparse"}), DataSize(10, 100))
    with pytest.raises(
        InputError, match="decay needs the sparse engine, which cannot be used with the other options: it "
    ):
        fill_defaults(Config().override({**values, "decay": True}), DataSize(10, 100))


@pytest.mark.parametrize("values", [{}, {"encoder": "affine"}, {"device": "cpu"}, {"clip": 0.0}, {"optimizer": "sgd"}])
def test_what_sparse_can_do_goes_there(values: dict[str, Any]) -> None:
    assert choose_engine(Config().override(values)).training.engine == "sparse"
    assert choose_engine(Config().override({**values, "engine": "torch"})).training.engine == "torch"


def test_pairs_bring_beginnings_with_them() -> None:
    assert chosen()["beginnings"] > 0
    assert chosen(pairs=False)["beginnings"] == 0
    assert chosen(pairs=False, beginnings=4)["beginnings"] == 4
    assert chosen(beginnings=0)["beginnings"] == 0


@pytest.mark.parametrize("values", [{"pairs": True}, {"beginnings": 3}])
@pytest.mark.parametrize("other", [{"engine": "torch"}, {"optimizer": "adam"}, {"device": "cuda"}])
def test_pairs_and_beginnings_need_the_sparse_engine(values: dict[str, Any], other: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"(pairs|beginnings) needs the sparse engine"):
        fill_defaults(Config().override({**values, **other}), DataSize(10, 100))


def test_a_config_can_be_built_before_anything_is_read() -> None:
    assert {name for name, value in flat(provisional_defaults(Config())).items() if value is None} <= MAY_BE_NONE


def test_every_open_option_is_one_that_is_chosen() -> None:
    open_ones = {item.name for _, item, _ in options() if item.default is None} - MAY_BE_NONE
    assert open_ones == {name for name, value in chosen().items() if name in open_ones and value is not None}
