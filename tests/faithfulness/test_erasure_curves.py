from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import dictionary, linear, linear_corpus, scored

from regard.errors import InputError
from regard.faithfulness import judging
from regard.faithfulness.curves import (
    MEASURES,
    Curve,
    accuracy_after,
    accuracy_fall,
    comprehensiveness,
    flipped,
    post_hoc,
    sufficiency,
)
from regard.faithfulness.judged import Judged, judge_erased
from regard.faithfulness.random_choice import backwards
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Doubles, Scored

FILM = "good bad film"


def judged(scores: Sequence[float], label: int | None = 1, cuts: Sequence[int | Cut] = (1, 2, 3)) -> Judged:
    return judge_erased(dictionary(), {"a": [scored(FILM, scores, label)]}, cuts)["a"]


def test_probability_curves_by_hand() -> None:
    # top words: good, then film, then bad; P(1) of the whole is 0.75
    result = judged([3.0, 1.0, 2.0])
    without = [0.75 - 0.25, 0.75 - 0.125, 0.75 - 0.375]  # "bad film", "bad", ""
    alone = [0.75 - 1.0, 0.75 - 0.875, 0.75 - 0.75]  # "good", "good film", all
    assert comprehensiveness(result).values.tolist() == [without]
    assert sufficiency(result).values.tolist() == [alone]
    averages = [without[0], sum(without[:2]) / 2, sum(without) / 3]
    assert comprehensiveness(result).averaged().values[0] == pytest.approx(averages)
    assert result.how == "deletion"


def test_probability_curves_follow_the_predicted_class() -> None:
    # "bad film" is judged 0.25, so class 0 with 0.75; without "bad" 0.5, with "bad" alone 0.875
    result = judge_erased(dictionary(), {"a": [scored("bad film", [1.0, 0.0])]}, [1])["a"]
    assert comprehensiveness(result).values.tolist() == [[0.75 - 0.5]]
    assert sufficiency(result).values.tolist() == [[0.75 - 0.875]]


def test_accuracy_curves_by_hand() -> None:
    result = judged([3.0, 1.0, 2.0])
    assert accuracy_after(result).values.tolist() == [[0, 0, 0]]  # "bad film" and all after it are judged 0
    assert accuracy_fall(result).values.tolist() == [[1, 1, 1]]
    assert post_hoc(result).values.tolist() == [[1, 1, 1]]
    assert flipped(result).values.tolist() == [[1, 1, 1]]
    wrong = judged([3.0, 1.0, 2.0], label=0)  # deleting corrects a wrong prediction
    assert accuracy_fall(wrong).values.tolist() == [[-1, -1, -1]]
    other = judged([1.0, 3.0, 2.0])  # bad, film, good
    assert accuracy_fall(other).values.tolist() == [[0, 0, 1]]  # "good film", "good", ""
    assert post_hoc(other).values.tolist() == [[0, 0, 1]]  # "bad", "bad film", all


def test_means_are_over_texts_and_random_over_draws() -> None:
    both = [scored(FILM, [3.0, 1.0, 2.0], 1), scored(FILM, [1.0, 3.0, 2.0], 1)]
    result = judge_erased(dictionary(), {"a": both}, [1], draws=400)
    assert accuracy_fall(result["a"]).mean().tolist() == [0.5]
    assert result["random"].deleted.shape == (400, 2, 1, 2)
    # one random word: "bad film" 0.25, "good film" 0.875, "good bad" 0.625
    expected = 0.75 - (0.25 + 0.875 + 0.625) / 3
    assert comprehensiveness(result["random"]).mean()[0] == pytest.approx(expected, abs=0.05)
    assert accuracy_fall(result["random"]).mean()[0] == pytest.approx(1 / 3, abs=0.1)


def test_words_are_replaced_and_the_result_says_so() -> None:
    answers = {FILM: 0.75, "UNK bad film": 0.5, "good UNK UNK": 0.875}
    texts = {"a": [scored(FILM, [3.0, 1.0, 2.0], 1)]}
    result = judge_erased(dictionary(answers), texts, [1], replacement="UNK", draws=0)["a"]
    assert comprehensiveness(result).values.tolist() == [[0.25]]
    assert sufficiency(result).values.tolist() == [[-0.125]]
    assert comprehensiveness(result).how == "replacement by 'UNK'"


def test_no_words_one_word_and_more_cuts_than_words() -> None:
    texts = [scored("", [], 0), scored("bad", [1.0], 0), scored(FILM, [1.0, 1.0, 1.0], 1)]
    result = judge_erased(dictionary(), {"a": texts}, [0, 1, 99])["a"]
    empty, one, ties = comprehensiveness(result).values.tolist()
    assert empty == [0, 0, 0]
    assert one == [0, 0.875 - 0.625, 0.875 - 0.625]
    assert ties == [0, 0.75 - 0.25, 0.75 - 0.375]  # of three equal scores the first is taken
    assert sufficiency(result).values[:, 2].tolist() == [0, 0, 0]  # all words are the text


def test_shares_of_words() -> None:
    result = judged([3.0, 1.0, 2.0], cuts=[Cut(0.01, True), Cut(0.5, True), Cut(1.0, True)])
    assert comprehensiveness(result).values.tolist() == [[0.5, 0.625, 0.375]]


def test_several_classes() -> None:
    def judge(texts: Sequence[str]) -> Doubles:
        return np.array([[0.2, 0.3, 0.5] if "x" in text else [0.6, 0.3, 0.1] for text in texts])

    result = judge_erased(judge, {"a": [scored("x y", [1.0, 0.0], 2)]}, [1])["a"]
    assert comprehensiveness(result).values.tolist() == [[0.4]]
    assert accuracy_fall(result).values.tolist() == [[1]]
    assert flipped(result).values.tolist() == [[1]]


def test_true_contributions_beat_random_words_which_beat_the_reverse_ranking() -> None:
    judge, weights, texts = linear_corpus()
    truth = [scored(text, [abs(weights.get(word, 0.0)) for word in text.split()]) for text in texts]
    labels = judge(texts).argmax(1)
    truth = [one._replace(label=int(label)) for one, label in zip(truth, labels, strict=True)]
    result = judge_erased(judge, {"truth": truth, "reverse": backwards(truth)}, [1, 2, 4])
    for measure in (comprehensiveness, accuracy_fall, post_hoc):
        top, random, bottom = (measure(result[name]) for name in ("truth", "random", "reverse"))
        assert all(each.low > 0 for each in top.minus(random)) or measure is accuracy_fall
        assert (top.mean() >= random.mean()).all()
        assert (random.mean() >= bottom.mean()).all()
    assert all(each.high < 0 for each in sufficiency(result["truth"]).minus(sufficiency(result["random"])))
    assert comprehensiveness(result["reverse"]).mean() == pytest.approx([0, 0, 0])  # 8 of 12 words have no weight
    assert post_hoc(result["truth"]).mean().tolist() == [1, 1, 1]


def test_every_measure_gives_one_value_per_text_and_cut() -> None:
    result = judged([3.0, 1.0, 2.0])
    for measure in MEASURES.values():
        assert measure(result).values.shape == (1, 3)


def test_identical_texts_are_asked_once_in_large_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def judge(texts: Sequence[str]) -> Doubles:
        asked.append(list(texts))
        return dictionary()(texts)

    texts = [scored(FILM, scores, 1) for scores in ([3.0, 1.0, 2.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0])]
    whole = judge_erased(judge, {"a": texts, "b": backwards(texts)}, [1, 2, 3])
    assert len(asked) == 1
    assert len(asked[0]) == len(set(asked[0])) <= 8
    assert [len(text) for text in asked[0]] == sorted(len(text) for text in asked[0])
    monkeypatch.setattr(judging, "CHARACTERS", 1)  # one text at a time gives the same answers
    apart = judge_erased(judge, {"a": texts, "b": backwards(texts)}, [1, 2, 3])
    assert len(asked) == 1 + len(texts)
    for name in ("a", "b", "random"):
        assert whole[name].deleted.tolist() == apart[name].deleted.tolist()
        assert whole[name].kept.tolist() == apart[name].kept.tolist()


def test_answers_come_back_in_order_from_small_batches() -> None:
    questions = judging.Questions()
    texts = ["film", "", "good bad", "bad"]
    numbers = [questions.add(text) for text in [*texts, "film"]]
    assert numbers == [0, 1, 2, 3, 0]
    assert questions.put(dictionary(), batch=2)[:, 1].tolist() == [0.5, 0.375, 0.625, 0.125]


def test_accuracy_needs_labels_and_probabilities_do_not() -> None:
    result = judged([3.0, 1.0, 2.0], label=None)
    assert comprehensiveness(result).values.shape == (1, 3)
    with pytest.raises(
        InputError, match="label: expected one for every text to measure accuracy, got none for 1 of 1 texts"
    ):
        accuracy_fall(result)


def test_invalid_input_is_refused() -> None:
    one = {"a": [scored(FILM, [3.0, 1.0, 2.0], 1)]}
    for answers in (np.zeros(1), np.zeros((1, 1)), np.zeros((7, 2)), np.full((1, 2), np.nan)):
        with pytest.raises(InputError, match="judge:"):
            judge_erased(lambda texts, answers=answers: answers, one, [0], draws=0)  # type: ignore[misc]
    with pytest.raises(InputError, match="label: expected 0 to 1, since the judge has 2 classes, got 2"):
        judged([3.0, 1.0, 2.0], label=2)
    with pytest.raises(InputError, match="attributions: 'random' is the name of the random words"):
        judge_erased(dictionary(), {"random": one["a"]}, [1])
    with pytest.raises(InputError, match=r"draws: expected at least 0 .* got -1"):
        judge_erased(dictionary(), one, [1], draws=-1)
    with pytest.raises(InputError, match="attributions: expected at least one text, got none"):
        judge_erased(dictionary(), {"a": []}, [1])


def test_only_curves_of_the_same_kind_can_be_compared() -> None:
    result = judged([3.0, 1.0, 2.0])
    with pytest.raises(InputError, match="expected the same measures"):
        comprehensiveness(result).minus(sufficiency(result))
    with pytest.raises(InputError, match="expected the same cut-offs"):
        comprehensiveness(result).minus(comprehensiveness(judged([3.0, 1.0, 2.0], cuts=[1, 2, Cut(0.5, True)])))


def test_a_curve_of_some_texts() -> None:
    curve = Curve("m", "deletion", (Cut(1),), np.array([[1.0], [2.0], [np.nan], [6.0]]))
    assert curve.mean().tolist() == [3.0]  # a text without a value is left out
    assert curve.of(np.array([True, True, True, False])).mean().tolist() == [1.5]


@given(
    st.lists(st.tuples(st.sampled_from(["up", "down", "plain"]), st.integers(-4, 4)), max_size=7), st.integers(-9, 9)
)
def test_invariants_of_a_linear_judge(words: list[tuple[str, int]], offset: int) -> None:
    judge, text = linear({"up": 1.0, "down": -1.0}), " ".join(word for word, _ in words)
    scores = [float(score) for _, score in words]
    raised: list[Scored] = [scored(text, [score + offset for score in scores])]
    result = judge_erased(judge, {"a": [scored(text, scores)], "raised": raised}, [0, 1, 3, 99])
    for measure in (comprehensiveness, sufficiency, flipped):
        assert measure(result["a"]).values.tolist() == measure(result["raised"]).values.tolist()
        assert measure(result["a"]).values[0, 0] == 0 or measure is sufficiency
    assert sufficiency(result["a"]).values[0, 3] == 0
    # with all words erased, every attribution is the same, random words too
    assert comprehensiveness(result["a"]).values[0, 3] == pytest.approx(
        comprehensiveness(result["random"]).values[0, 3]
    )
