"""What the authors' code of the three-tier paper does with the vectors of both towers: ids, the product, a ReLU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from alike import padded, same
from regard.config import Config, Model
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.recorder import Silent
from regard.values import Pair
from regard_lab.towers.fit_pairs import fit_pairs
from regard_lab.towers.ids import UNKNOWN, Ids, IdVectors
from regard_lab.towers.ratings import Rating
from regard_lab.towers.synthetic_ratings import WorldOptions, world
from regard_lab.towers.trained_towers import predicted_effects
from regard_lab.towers.two_towers import Form, Readings, TwoTowers, build_towers, collate_pairs, gather

WORDS = 20
AUTHORS = Form(ids=2, head="product", relu=True)
IDS = Ids(("ann", "bob", "eve"), ("cup", "hat"))


def vectors(*rows: Sequence[float]) -> IdVectors:
    table = IdVectors(len(rows), len(rows[0]))
    with torch.no_grad():
        table.weight.copy_(torch.tensor(rows))
    return table


def make(form: Form) -> TwoTowers:
    torch.manual_seed(0)
    config = Model(encoder="cnn,bilstm,embedding", pooling="attention", levels=3, embedding=6, hidden=6, query=5)
    model = build_towers(config, WORDS, form=form, ids=IDS)
    with torch.no_grad():  # small initial weights would hide differences
        for parameter in model.double().eval().parameters():
            parameter.mul_(2)
        model.embedding.weight.mul_(5)
        if form.relu:
            model.head.bias.fill_(1.0)
    return model


def reviews(rng: np.random.Generator, *shape: Sequence[int]) -> Indexed:
    ids = [rng.integers(1, WORDS, sum(lengths)).astype(np.int32) for lengths in shape]
    return gather([Indexed(one, (np.array(lengths),)) for one, lengths in zip(ids, shape, strict=True)])


def pair(*rows: int) -> Pair:
    """Known and unknown names, padding, and sides without reviews."""
    rng = np.random.default_rng(1)
    every = [
        Readings(reviews(rng, [3, 1], [2]), reviews(rng, [5]), (0, 1)),
        Readings(reviews(rng, [1, 1, 4], [2, 2]), reviews(rng, [2], [3, 3]), (UNKNOWN, 0)),
        Readings(reviews(rng), reviews(rng, [1], [2, 2]), (2, UNKNOWN)),
        Readings(reviews(rng), reviews(rng), (UNKNOWN, UNKNOWN)),
    ]
    return collate_pairs([every[row] for row in rows or range(len(every))])


def rated(model: TwoTowers, given: Pair) -> Tensor:
    with torch.inference_mode():
        logits: Tensor = model(given).logits
    return logits


def test_the_product_head_by_hand() -> None:
    """u = (1, 2), i = (3, 5): weights 10 and 100 of the products 3 and 10, and bias 7, are 30 + 1000 + 7."""
    model = build_towers(Model(levels=3, embedding=2), WORDS, form=Form(head="product"))
    user, item = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    with torch.no_grad():
        model.head.weight.copy_(torch.tensor([[10.0, 100.0]]))
        model.head.bias.fill_(7.0)
        assert model.rate(user, item).tolist() == [1037.0]
        assert model.rate(user, -item).tolist() == [-1023.0]


def test_a_relu_keeps_a_rating_from_being_negative() -> None:
    model = build_towers(Model(levels=3, embedding=2), WORDS, form=Form(head="product", relu=True))
    with torch.no_grad():
        model.head.weight.copy_(torch.tensor([[10.0, 100.0]]))
        model.head.bias.fill_(7.0)
        assert model.rate(torch.tensor([[1.0, 2.0], [1.0, -2.0]]), torch.tensor([3.0, 5.0])).tolist() == [
            [1037.0],
            [0.0],
        ]


def test_the_vector_of_an_id_follows_that_of_the_reviews() -> None:
    """Of users (1, 4), (2, 6) and (3, 2), an unknown one has the mean, (2, 4)."""
    users, items = vectors([1.0, 4.0], [2.0, 6.0], [3.0, 2.0]), vectors([5.0, 7.0], [6.0, 9.0])
    assert users(torch.tensor([1, UNKNOWN, 0])).tolist() == [[2.0, 6.0], [2.0, 4.0], [1.0, 4.0]]
    model = make(AUTHORS)
    model.user_ids, model.item_ids = users.double(), items.double()
    output = model(pair())
    user, item = model.vectors(output.user, output.item, pair().ids)
    width = output.user[-1].pooled.vector.size(-1)
    assert user.shape == item.shape == (4, width + 2)
    same(user[:, :width], output.user[-1].pooled.vector)
    assert user[:, width:].tolist() == [[1, 4], [2, 4], [3, 2], [2, 4]]
    assert item[:, width:].tolist() == [[6, 9], [5, 7], [5.5, 8], [5.5, 8]]


def test_without_any_known_id_the_vector_is_zero() -> None:
    assert IdVectors(0, 3)(torch.tensor([UNKNOWN, UNKNOWN])).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_an_unknown_user_gets_the_mean_rating_of_all_users() -> None:
    model = make(Form(ids=2, head="product"))
    (row,) = [Readings(reviews(np.random.default_rng(2), [3, 1]), reviews(np.random.default_rng(3), [2, 2]), (0, 1))]
    every = rated(model, collate_pairs([row._replace(ids=(user, 1)) for user in range(3)]))
    unknown = rated(model, collate_pairs([row._replace(ids=(UNKNOWN, 1))]))
    assert every.std() > 1e-3
    same(unknown[0], every.mean(0))


@pytest.mark.parametrize("form", [AUTHORS, Form(ids=2), Form(head="product")], ids=str)
def test_padding_other_pairs_and_order_change_nothing(form: Form) -> None:
    model, given = make(form), pair()
    whole = rated(model, given)
    same(rated(model, Pair(padded(given.user), padded(given.item), ids=given.ids)), whole)
    same(rated(model, pair(3, 0, 2, 1)), whole[[3, 0, 2, 1]])
    for row in range(4):
        same(rated(model, pair(row)), whole[[row]])


def test_gradients_of_ids_and_the_product_are_exact() -> None:
    model, given = make(AUTHORS), pair(0, 1)
    names = ["user_ids.weight", "item_ids.weight", "head.weight"]
    values = tuple(model.get_parameter(name).detach().clone().requires_grad_() for name in names)
    with torch.no_grad():
        model.head.bias.fill_(50.0)  # away from the kink of the ReLU

    def logits(*changed: Tensor) -> Tensor:
        called: Tensor = torch.func.functional_call(model, dict(zip(names, changed, strict=True)), (given,)).logits
        return called

    assert torch.autograd.gradcheck(logits, values)


def test_rows_of_names() -> None:
    found = Ids.of([Rating("bob", "cup", 1, ""), Rating(None, "hat", 2, ""), Rating("bob", None, 3, "")])
    assert found == Ids(("bob",), ("cup", "hat"))
    assert found.rows(("bob", "hat")) == (0, 1)
    assert found.rows(("cup", "bob")) == (UNKNOWN, UNKNOWN), "users and items have separate tables"
    assert found.rows((None, None)) == (UNKNOWN, UNKNOWN)


OPTIONS: dict[str, Any] = {
    "levels": 3,
    "encoder": "embedding",
    "embedding": 8,
    "hidden": 8,
    "query": 8,
    "lr": 0.01,
    "epochs": 3,
    "patience": 0,
    "batch_size": 32,
    "min_count": 1,
    "device": "cpu",
}
WORLD = world(WorldOptions(30, 20, 6, sentences=2, length=4, evidence=3, silent=0.1))
TRAIN, DEV = WORLD.ratings[:140], WORLD.ratings[140:]


def test_a_model_of_ids_knows_its_users_and_not_those_of_others() -> None:
    """Two users whose reviews are the same differ by their ids only."""
    trained = fit_pairs(Config().override(OPTIONS), TRAIN, DEV, Silent(), 5, "both", Form(ids=4))
    alike = [Rating(user, "i1", 3, "g1 m1.") for user in ("u1", "u2", "new")]
    named = trained.with_reviews([*alike, *alike], same_names=True).answers(
        [Rating(x.user, "i0", 0, "") for x in alike]
    )
    assert len({round(value, 5) for value in named}) == 3
    others = trained.with_reviews([*alike, *alike]).answers([Rating(x.user, "i0", 0, "") for x in alike])
    assert len({round(value, 5) for value in others}) == 1
    users, _ = predicted_effects(trained)
    assert set(users) == {rating.user for rating in TRAIN}


def test_the_left_out_side_has_no_id_either() -> None:
    trained = fit_pairs(Config().override({**OPTIONS, "epochs": 1}), TRAIN, DEV, Silent(), 5, "user", Form(ids=4))
    first, second = trained.answers([Rating("u1", "i0", 0, ""), Rating("u1", "new", 0, "")])
    assert first == pytest.approx(second, abs=1e-6)
    assert first != pytest.approx(trained.answers([Rating("new", "i0", 0, "")])[0], abs=1e-4)


def test_with_a_relu_ratings_are_learned_in_their_own_unit_from_their_mean() -> None:
    trained = fit_pairs(
        Config().override({**OPTIONS, "lr": 1e-12, "epochs": 1}), TRAIN, DEV, Silent(), 5, "both", AUTHORS
    )
    assert (trained.task.mean, trained.task.scale) == (0, 1)
    assert trained.model.head.bias.item() == pytest.approx(np.mean([rating.value for rating in TRAIN]), abs=1e-5)


@pytest.mark.parametrize(
    ("form", "options", "message"),
    [
        (Form(ids=-1), {}, "ids: expected a width of 0 .* or more, got -1"),
        (Form(head="sum"), {}, "head: expected concat or product, got 'sum'"),  # type: ignore[arg-type]
        (Form(relu=True), {"head_bias": False}, "head_bias: expected True with relu"),
        (Form(head="product"), {"side": "item"}, "side: expected both with head = product, .*, got item"),
    ],
)
def test_impossible_forms_are_refused(form: Form, options: dict[str, Any], message: str) -> None:
    side = options.pop("side", "both")
    with pytest.raises(InputError, match=message):
        fit_pairs(Config().override({**OPTIONS, **options}), TRAIN, DEV, Silent(), 5, side, form)


def test_a_relu_needs_positive_ratings() -> None:
    lower = [Rating(x.user, x.item, x.value - 10, x.text, x.row) for x in TRAIN]
    with pytest.raises(InputError, match=r"relu: expected ratings with a mean above 0, .*; leave out relu"):
        fit_pairs(Config().override(OPTIONS), lower, DEV, Silent(), 5, "both", AUTHORS)
