"""The scores of every explainer for the audited texts. One that needs a forward pass per word skips very long texts.

**Choice**: if these are at most half of the texts, the explainer is kept, and every number that involves it is over the other
texts; otherwise it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.explain.attribute import attribute
from regard.explain.explainers import EXPLAINERS, default_contribution, is_fast
from regard.explain.word_scores import Attributed
from regard.models.model import Model
from regard.recorder import Recorder
from regard.report.names import explainer_name

Bools = NDArray[np.bool_]
FOCUS = "attention"


class Explanations(NamedTuple):
    focus: str  # the explainer that the audit is about
    scores: dict[str, list[Attributed]]  # by explainer, one per text
    lacking: dict[str, Bools]  # (texts,) True where an explainer skipped a text, and the focus's scores fill the gap
    refused: list[dict[str, str]]  # explainers without any scores, and why

    def complete(self, name: str, other: str | None = None) -> list[Attributed]:
        """The scores of an explainer, without the texts that it (or `other`) skipped."""
        scores, lacks = self.scores[name], self.lacking.get(other or name)
        return scores if lacks is None else [scores[row] for row in np.flatnonzero(~lacks).tolist()]

    def notes(self) -> list[str]:
        """Restrictions of the numbers: skipped texts, unknown words, a single prediction."""
        scores = self.scores[self.focus]
        unknown, answers = sum(not any(one.known) for one in scores), {one.prediction.value for one in scores}
        notes = [
            f"{explainer_name(name)}: {lacks.sum():,} of {len(lacks):,} texts {'has' if lacks.sum() == 1 else 'have'} more "
            f"than {EXPLAINERS[name].most_words:,} words, each of which would take a forward pass, and no scores; its numbers "
            "are over the others"
            for name, lacks in self.lacking.items()
        ]
        if unknown:
            have = f"text{'s' * (len(scores) > 1)} {'has' if unknown == 1 else 'have'}"
            notes.append(f"{unknown:,} of {len(scores):,} {have} no word that the model knows")
        if len(scores) > 1 and len(answers) == 1:
            (answer,) = answers
            notes.append(
                f"all {len(scores):,} texts get the same prediction, {answer!r}: the audit is only about this prediction"
            )
        return notes


def explain_all(
    trained: Model, texts: Sequence[str], names: Sequence[str], asked: bool, recorder: Recorder
) -> Explanations:
    """The audit is about the first of `names`. If they were `asked` for, an explainer that cannot be used is an error."""
    focus = names[0]
    explanations = Explanations(focus, {}, {}, [])
    for name in names:
        recorder.note(f"{name} of {len(texts)} texts")
        long = too_long(trained, name, explanations.scores.get(focus, []))
        try:
            if long.any():
                rest = iter(attribute(trained, [texts[row] for row in np.flatnonzero(~long).tolist()], name))
                pairs = zip(explanations.scores[focus], long, strict=True)
                explanations.scores[name] = [one if is_long else next(rest) for one, is_long in pairs]
                explanations.lacking[name] = long
            else:
                explanations.scores[name] = attribute(trained, texts, name)
        except InputError as error:
            if name == focus or asked:
                raise
            explanations.refused.append({"what": name, "why": str(error).removeprefix(f"{name}, ")})
    return explanations


def too_long(trained: Model, name: str, scores: Sequence[Attributed]) -> Bools:
    """(texts,) those that an explainer skips; none if they are the majority, so that the explainer itself refuses them."""
    most = EXPLAINERS[name].most_words
    if most is None or is_fast(trained, name):
        return np.zeros(0, dtype=bool)
    long = np.array([len(one.spans) > most for one in scores], dtype=bool)
    return long if 2 * long.sum() <= len(long) else np.zeros_like(long)


def signed_scores(trained: Model, texts: Sequence[str], explanations: Explanations) -> dict[str, Sequence[Attributed]]:
    """Of the signed explainers, and of what the model's explanations show even if it is not compared."""
    signed: dict[str, Sequence[Attributed]] = {
        name: scores for name, scores in explanations.scores.items() if EXPLAINERS[name].signed
    }
    default = default_contribution(trained)
    return signed if default in signed else {**signed, default: attribute(trained, texts, default)}
