"""Explainers against values computed by hand, and against their documented properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from drawn_models import TEXTS, VARIANTS, make

from regard.config import Config, Model
from regard.data.reviews import reviews
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.explain.attribute import attribute
from regard.explain.explainers import EXPLAINERS
from regard.explain.reading import batches, read, to_words
from regard.explain.surrogate import draw, proximity, regression
from regard.explain.word_scores import Attributed
from regard.faithfulness.plausibility import average_precision
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, QUERY
from regard.models.tasks import Binary
from regard.models.trained import Trained
from regard.training.fit import Parts, fit

VALUES = {"good": 2.0, "bad": -3.0, "film": 0.5}  # contribution of each word; unknown words contribute 0


def linear(bias: float = 0.25) -> Trained:
    """f = the mean of the words' values + a bias: one-dimensional vectors, averaged, times 1."""
    config = Config(model=Model(embedding=1, pooling="average"))
    table = np.array([[0], [0], *([value] for value in VALUES.values())], dtype=np.float32)
    weights = {EMBEDDING: table, HEAD: np.ones((1, 1), np.float32), HEAD_BIAS: np.array([bias], np.float32)}
    return Trained(config, Tokenizer(Vocabulary(tuple(VALUES))), Binary(("no", "yes")), weights=weights)


def one(trained: Trained, text: str, method: str, **options: object) -> Attributed:
    (result,) = attribute(trained, [text], method, **options)  # type: ignore[arg-type]
    return result


def test_gradient_times_input_and_integrated_gradients_of_a_linear_model_are_the_contributions() -> None:
    """ "good bad film": each contributes its value / 3, and these add up to f without the bias."""
    for method in ("gradient_times_input", "two_point_gradients", "integrated_gradients"):
        result = one(linear(), "good bad film", method, targets="yes")
        assert result.scores == pytest.approx([2 / 3, -3 / 3, 0.5 / 3])
    assert result.facts["value"] == pytest.approx((2 - 3 + 0.5) / 3 + 0.25)
    assert result.facts["start"] == pytest.approx(0.25)
    assert result.facts["convergence"] == pytest.approx(0, abs=1e-6)
    assert one(linear(), "good bad film", "gradient", targets="yes").scores == pytest.approx([1 / 3] * 3)


def test_leave_one_out_of_a_linear_model_is_the_distance_from_the_mean() -> None:
    """f − f without i = (v_i − mean) / (n − 1): mean −0.5 / 3, n − 1 = 2. Without its only word a text has the bias alone."""
    mean = -0.5 / 3
    result = one(linear(), "good bad film", "leave_one_out", targets="yes")
    assert result.scores == pytest.approx([(2 - mean) / 2, (-3 - mean) / 2, (0.5 - mean) / 2])
    whole, left = 1 / (1 + math.exp(-(mean + 0.25))), 1 / (1 + math.exp(-(-2.5 / 2 + 0.25)))
    assert result.facts["probability"][0] == pytest.approx(whole - left)
    assert one(linear(), "good", "leave_one_out", targets="yes").scores == pytest.approx([2.0])


def test_known_evidence_is_ranked_first_and_random_scores_get_the_expected_precision() -> None:
    """8 of the 40 words of a text are evidence for yes: every faithful method ranks them first."""
    words = np.random.default_rng(0).permutation(["good"] * 8 + ["film"] * 16 + ["bad"] * 16)
    marked = words == "good"
    trained = linear()
    for method in ("gradient_times_input", "two_point_gradients", "integrated_gradients", "leave_one_out"):
        scores = one(trained, " ".join(words), method, targets="yes").scores
        assert average_precision(scores, marked) == pytest.approx(1.0)
    precisions = [
        average_precision(one(trained, " ".join(words), "random", seed=seed).scores, marked) for seed in range(200)
    ]
    harmonic = sum(1 / rank for rank in range(1, 41))
    expected = (harmonic + (8 - 1) / (40 - 1) * (40 - harmonic)) / 40  # of a random order: above the base rate, 8 / 40
    assert np.mean(precisions) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_integrated_gradients_sum_to_the_difference_that_they_explain(variant: str, task: str) -> None:
    """Up to the reported error, which shrinks with more steps (if the model is smooth)."""
    trained = make(variant, task)
    for few, many in zip(attribute(trained, TEXTS, steps=4), attribute(trained, TEXTS, steps=300), strict=True):
        for result in (few, many):
            facts = result.facts
            assert result.scores.sum() - facts["convergence"] == pytest.approx(
                facts["value"] - facts["start"], abs=1e-9
            )
            if task == "regression":
                assert facts["value"] == pytest.approx(result.prediction.value)
        assert abs(many.facts["convergence"]) < 5e-3
    if variant == "bilstm":
        assert max(abs(result.facts["convergence"]) for result in attribute(trained, TEXTS, steps=50)) < 1e-6


@pytest.mark.parametrize("variant", ["bilstm", "apln", "han"])
def test_two_point_gradients_are_the_mean_of_those_at_the_text_and_half_way_to_it(variant: str) -> None:
    trained = make(variant, "binary")
    readings = read(trained, TEXTS)
    results = attribute(trained, TEXTS, "two_point_gradients", "yes")
    for rows, batch in batches(trained, readings):
        embedded = trained.model.embedding(batch.ids).detach()
        mean = torch.zeros_like(embedded)
        for vectors in (embedded, embedded / 2):
            leaf = vectors.clone().requires_grad_()
            trained.model(batch, leaf).logits.sum().backward()
            mean += leaf.grad / 2
        for row, units, mask in zip(rows, (mean * embedded).sum(-1), batch.mask, strict=True):
            assert results[row].scores == pytest.approx(units[mask].numpy(), abs=1e-6)
            assert (results[row].cost["forward"], results[row].cost["backward"]) == (2, 2)


@pytest.mark.parametrize("variant", ["embedding", "units", "cnn", "bilstm", "apln"])
def test_leaving_a_word_out_equals_never_having_written_it(variant: str) -> None:
    trained = make(variant, "binary")
    text = "Four is good. Three is bad, not good"
    words = ["Four", "is", "good", ".", "Three", "is", "bad", ",", "not", "good"]
    versions = [" ".join([*words[:index], *words[index + 1 :]]) for index in range(len(words))]
    result = one(trained, text, "leave_one_out")
    before, after = (attribute(trained, texts, "random", 1) for texts in ([text], versions))
    probabilities = [item.prediction.probabilities["yes"] for item in (*before, *after)]
    logits = np.log(probabilities) - np.log1p(-np.array(probabilities))
    sign = 1 if result.target == 1 else -1
    (passes,) = EXPLAINERS["leave_one_out"].function(trained, read(trained, [text]), np.array([result.target]))
    drops = sign * (probabilities[0] - np.array(probabilities[1:]))
    np.testing.assert_allclose(passes.scores, sign * (logits[0] - logits[1:]), atol=1e-9)
    np.testing.assert_allclose(passes.facts["probability"], drops, atol=1e-12)
    exactness = 2e-5 if trained.is_flat else 1e-12  # the tables of a flat model are float32
    np.testing.assert_allclose(result.scores, passes.scores, atol=exactness)
    np.testing.assert_allclose(result.facts["probability"], drops, atol=exactness)


@pytest.mark.parametrize("variant", ["han", "han-apln", "three"])
def test_leaving_out_words_sentences_and_parts_of_a_hierarchical_text(variant: str) -> None:
    """The remaining text is read as if the rest had never been written."""
    trained = make(variant, "binary")
    text = "One is good. Bad.\n\nThree is not"
    cut = {"words": ["is good. Bad.\n\nThree is not", "One good. Bad.\n\nThree is not"]}
    cut["sentences"] = ["Bad.\n\nThree is not", "One is good.\n\nThree is not", "One is good. Bad."]
    cut["parts"] = ["Three is not", "One is good. Bad."] if variant == "three" else []
    result = one(trained, text, "leave_one_out", targets=1)

    def logit(text: str) -> float:
        p = one(trained, text, "random").prediction.probabilities["yes"]
        return math.log(p) - math.log1p(-p)

    units_by_level = {"words": result.scores[:2], "sentences": result.sentences, "parts": result.parts}
    for name, versions in cut.items():
        scores = [float(unit) if name == "words" else unit.weight for unit in units_by_level[name]]  # type: ignore[union-attr]
        assert scores == pytest.approx([logit(text) - logit(version) for version in versions], abs=1e-9)
    units = 9 + 3 + (2 if variant == "three" else 0)
    assert result.cost["forward"] == units + 1  # and the whole text


def test_the_words_of_a_pair_share_its_signed_score_equally() -> None:
    """not 2, good 3; movi… 4; (not, good) 5, (edge, not) 6. All have the same weight and the values 1, 2, 4, 8, 16."""
    words = Tokenizer(Vocabulary(("not", "good")), letters=4, beginnings=("movi",), pairs=np.array([[2, 3], [0, 2]]))
    table = np.array([[0], [0], [1], [2], [4], [8], [16]], dtype=np.float32)
    weights = {EMBEDDING: table, QUERY: np.zeros(1, np.float32), HEAD: -np.ones((1, 1), np.float32)}
    config = Config(model=Model(embedding=1, attention="dot", scale=1.0, head_bias=False))
    trained = Trained(config, words, Binary(("no", "yes")), weights=weights)
    for method in ("gradient_times_input", "two_point_gradients", "integrated_gradients"):
        result = one(trained, "not good", method, targets="yes")
        assert result.scores == pytest.approx([-(1 + 8 / 2 + 16) / 4, -(2 + 8 / 2) / 4])
        result = one(trained, "odd movies good", method, targets="yes")
        assert result.scores == pytest.approx([0, -4 / 2, -2 / 2])
    assert one(trained, "not good", "attention").scores == pytest.approx([(1 + 1 / 2 + 1) / 4, (1 + 1 / 2) / 4])
    assert one(trained, "not good", "weighted_norm").scores == pytest.approx([21 / 4, 6 / 4])
    # without "not": good alone, whose value is −2; without "good": not and (edge, not)
    whole = -27 / 4
    assert one(trained, "not good", "leave_one_out", targets="yes").scores == pytest.approx(
        [whole + 2, whole + (1 + 16) / 2]
    )


def test_unit_scores_are_split_equally_among_their_words() -> None:
    """Three units over four words: the first two words, the third, and the last three."""
    (reading,) = read(linear(), ["a b c d"])
    covering = reading._replace(first=np.array([0, 2, 1]), last=np.array([1, 2, 3]))
    assert to_words(covering, np.array([1.0, 10.0, -3.0])).tolist() == [0.5, 0.5 - 1, 10 - 1, -1]
    assert to_words(covering._replace(first=np.zeros(0, int), last=np.zeros(0, int)), np.zeros(0)).tolist() == [0] * 4


def test_weights_multiply_down_the_levels_and_a_norm_sharpens_them() -> None:
    """Two sentences with known scores: α = softmax(a), the sharpened weight softmax(p a), p = 3 at both levels."""
    trained = make("han-apln")
    plain, sharpened, with_lengths = (
        one(trained, TEXTS[0], name) for name in ("attention", "attention_norm", "weighted_norm")
    )
    (reading,) = read(trained, [TEXTS[0]])
    from regard.data.collate import collate

    batch = collate([reading.indexed], 2)
    with torch.no_grad():
        low, top = trained.model(batch).traces
    alphas, sharp = low.pooled.scores.exp() * batch.mask, (3 * low.pooled.scores).exp() * batch.mask
    above, above_sharp = top.pooled.scores.exp(), (3 * top.pooled.scores).exp()
    alphas, sharp = alphas / alphas.sum(-1, keepdim=True), sharp / sharp.sum(-1, keepdim=True)
    above, above_sharp = above / above.sum(-1, keepdim=True), above_sharp / above_sharp.sum(-1, keepdim=True)
    lengths = low.states.norm(dim=-1) * top.states.norm(dim=-1).unsqueeze(-1)
    for item, expected in (
        (plain, above.unsqueeze(-1) * alphas),
        (sharpened, above_sharp.unsqueeze(-1) * sharp),
        (with_lengths, above.unsqueeze(-1) * alphas * lengths),
    ):
        np.testing.assert_allclose(item.scores, expected[batch.mask].numpy(), atol=1e-12)
    assert [unit.weight for unit in plain.sentences] == pytest.approx(above[0].tolist())
    assert [unit.weight for unit in sharpened.sentences] == pytest.approx(above_sharp[0].tolist())
    assert plain.scores.sum() == pytest.approx(1)


def test_sentence_scores_are_the_sums_of_their_words_for_additive_methods() -> None:
    trained = make("three")
    for method in ("gradient_times_input", "integrated_gradients", "gradient", "surrogate", "random"):
        for result in attribute(trained, TEXTS, method, **({"samples": 30} if method == "surrogate" else {})):
            for units in (result.sentences, result.parts):
                for unit in units:
                    inside = [unit.start <= start < unit.end for start, _ in result.spans]
                    assert result.scores[inside].sum() == pytest.approx(unit.weight, abs=1e-9)


def test_the_surrogate_recovers_linear_weights() -> None:
    rng = np.random.default_rng(1)
    kept, weights = rng.random((200, 12)) < 0.6, rng.normal(size=12)
    result = regression(kept, kept @ weights + 0.7, ridge=1e-9)
    np.testing.assert_allclose(result.coefficients, weights, atol=1e-8)
    assert result.r2 == pytest.approx(1)
    shrunk = regression(kept, kept @ weights + 0.7, ridge=1.0)
    assert np.corrcoef(shrunk.coefficients, weights)[0, 1] > 0.999
    assert shrunk.r2 < 1


def test_primal_and_dual_solutions_of_the_regression_agree() -> None:
    rng = np.random.default_rng(2)
    kept, values = rng.random((9, 10)) < 0.5, rng.normal(size=9)
    wide = regression(kept, values, 0.5).coefficients
    twice = regression(np.repeat(kept, 2, 0), np.repeat(values, 2), 1.0).coefficients  # now more versions than words
    np.testing.assert_allclose(wide, twice, atol=1e-9)
    assert regression(kept, np.ones(9), 1.0).r2 == 1.0


def test_samples_and_proximity_of_the_surrogate() -> None:
    """The whole text first; then 1 to all words left out, uniformly; proximity depends on the share of words kept."""
    (reading,) = read(linear(), ["good bad film good"])
    kept = draw(reading, 4001, seed=3)
    assert kept[0].all()
    counts = np.bincount((~kept[1:]).sum(1), minlength=5)
    assert counts[0] == 0
    assert counts[1:] == pytest.approx([1000] * 4, abs=100)
    assert (~kept[1:]).mean(0) == pytest.approx([0.625] * 4, abs=0.03)
    half = 1 - math.sqrt(0.5)
    rows = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]], dtype=bool)
    assert proximity(rows) == pytest.approx([1, math.sqrt(math.exp(-((half / 0.25) ** 2))), math.sqrt(math.exp(-16))])


def test_the_surrogate_depends_on_the_seed_only_and_reports_its_fit() -> None:
    trained = make("cnn")
    one_seed, again, other = (attribute(trained, TEXTS, "surrogate", samples=50, seed=seed) for seed in (0, 0, 1))
    for a, b in zip(one_seed, again, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)
    assert any((a.scores != b.scores).any() for a, b in zip(one_seed, other, strict=True))
    for item in one_seed:
        assert 0 <= item.facts["r2"] <= 1
        assert item.facts["samples"] == item.cost["forward"] == (50 if item.spans else 1)
    of_probability = attribute(trained, TEXTS[:1], "surrogate", samples=50, of="probability")[0]
    assert np.abs(of_probability.scores).max() < 1


def test_the_surrogate_orders_the_words_of_a_linear_model() -> None:
    result = one(linear(), "good bad film good bad", "surrogate", targets="yes", samples=2000)
    assert result.scores[0] > result.scores[2] > result.scores[1]
    assert result.scores[[0, 1]] == pytest.approx(result.scores[[3, 4]], abs=0.1)


def test_random_scores_depend_on_text_and_seed_only() -> None:
    trained = linear()
    first, second, third = attribute(trained, ["good bad", "bad good", "good bad"], "random", seed=5)
    np.testing.assert_array_equal(first.scores, third.scores)
    assert (first.scores != second.scores).any()
    assert (one(trained, "good bad", "random", seed=6).scores != first.scores).all()


def test_tfidf_by_hand() -> None:
    """ "good" occurs in both texts, "bad" twice in one of them."""
    result = attribute(linear(), ["good Bad bad", "good"], "tfidf")
    rare, common = math.log(3 / 2) + 1, math.log(3 / 3) + 1
    assert result[0].scores == pytest.approx([common, 2 * rare, 2 * rare])
    assert result[1].scores == pytest.approx([common])
    (among,) = attribute(linear(), ["good bad"], "tfidf", background=["bad", "bad film", "bad"])
    assert among.scores == pytest.approx([math.log(4 / 1) + 1, math.log(4 / 4) + 1])


def test_explainers_find_the_evidence_of_a_trained_model_better_than_random() -> None:
    """On the built-in reviews it is known which words decide."""
    trained = fit(Config().override({"device": "cpu"}), Parts(reviews(300)))
    examples = [example for example in reviews(40, seed=9) if example.evidence]
    means = []
    for method in ("gradient_times_input", "leave_one_out", "random"):
        precisions = []
        for example, result in zip(
            examples, attribute(trained, [example.text for example in examples], method), strict=True
        ):
            marked = np.array([any(a < end and start < b for a, b in example.evidence) for start, end in result.spans])
            precisions.append(average_precision(result.scores, marked))
        means.append(np.mean(precisions))
    assert min(means[:2]) > means[2] + 0.2
