"""The weight and the signed contribution of every word, which a response has besides the scores of the requested method."""

from __future__ import annotations

from dataclasses import replace

from regard.explain.attribute import attribute
from regard.explain.explain import explain
from regard.explain.explainers import EXPLAINERS
from regard.explain.scored_text import word_strength
from regard.explain.word_scores import Attributed, shares
from regard.records import Explanation, TokenScore
from regard.report.text.strongest_words import strongest_words
from regard.serve.answers import StrongestRow
from regard.serve.served_run import ServedRun


def signed_words(run: ServedRun, one: Attributed, target: str | None) -> Explanation:
    """The words of `one` with weights and contributions: its scores where its method gives them, else the run's defaults."""
    explanation = from_tables(run, one, target) if run.trained.is_flat else from_model(run, one, target)
    if not EXPLAINERS[one.method].signed:
        return explanation
    pairs = zip(explanation.tokens, one.scores.tolist(), strict=True)
    tokens = tuple(replace(token, contribution=score) for token, score in pairs)
    repeated = explanation.repeated if one.method == explanation.contribution_method else ()
    return replace(explanation, tokens=tokens, contribution_method=one.method, repeated=repeated)


def strongest_rows(explanation: Explanation) -> StrongestRow:
    lists = strongest_words(explanation)
    return {
        side: [{"text": x.text, "tokens": [*x.tokens], "contribution": x.contribution, "mark": x.mark} for x in words]
        for side, words in zip(("for", "against"), lists, strict=True)
    }


def from_tables(run: ServedRun, one: Attributed, target: str | None) -> Explanation:
    """For a flat model, where both cost little more than a prediction."""
    return next(explain(run.trained, [one.text], target=target))


def from_model(run: ServedRun, one: Attributed, target: str | None) -> Explanation:
    """For other models: as few passes as possible."""
    trained, text = run.trained, one.text
    signed = one if EXPLAINERS[one.method].signed else attribute(trained, [text], run.default_contribution, target)[0]
    if trained.is_opaque or one.method == run.default_method:
        weighed = signed if trained.is_opaque else one
    else:
        weighed = attribute(trained, [text], run.default_method, target)[0]
    weights = weighed.scores if weighed.are_weights else shares(weighed.scores, "for")
    rows = zip(one.spans, weights.tolist(), signed.scores.tolist(), one.known, strict=True)
    tokens = tuple(
        TokenScore(text[a:b], a, b, weight, known, score, "word" if known else "unknown")
        for (a, b), weight, score, known in rows
    )
    strong = word_strength(trained.task)
    return Explanation(text, one.prediction, tokens, contribution_method=signed.method, strong=strong)
