"""What every explainer says of the texts audited. One that takes a pass for every word says nothing of very long ones.

**Choice**: where these are no more than half of the texts, it is kept for the others, and every number that it has part in is
of these; where they are most, it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.explain.attribute import attribute
from regard.explain.explainers import EXPLAINERS
from regard.explain.word_scores import Attributed
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.report.names import explainer_name

Bools = NDArray[np.bool_]
FOCUS = "attention"


class Explained(NamedTuple):
    given: dict[str, list[Attributed]]  # by name, one a text
    lacking: dict[str, Bools]  # (texts,) True where attention's scores only stand in for those of this explainer
    refused: list[dict[str, str]]  # what has none at all, and why

    def own(self, name: str, where: str | None = None) -> list[Attributed]:
        """Of those texts that it has scores for, or another one has."""
        given, lacks = self.given[name], self.lacking.get(where or name)
        return given if lacks is None else [given[place] for place in np.flatnonzero(~lacks).tolist()]

    def notes(self) -> list[str]:
        """What keeps numbers from being of all texts, or of any words and answers."""
        own = self.given[FOCUS]
        strange, answers = sum(not any(one.known) for one in own), {one.prediction.value for one in own}
        found = [
            f"{explainer_name(name)}: {lacks.sum():,} of {len(lacks):,} texts {'has' if lacks.sum() == 1 else 'have'} more "
            f"than {EXPLAINERS[name].most_words:,} words, each of which would take a pass, and no scores by it; what is said of "
            "it is of the others"
            for name, lacks in self.lacking.items()
        ]
        if strange:
            have = f"text{'s' * (len(own) > 1)} {'has' if strange == 1 else 'have'}"
            found.append(f"{strange:,} of {len(own):,} {have} no word that the model knows")
        if len(own) > 1 and len(answers) == 1:
            (answer,) = answers
            found.append(
                f"all {len(own):,} texts get the same answer, {answer!r}: what is said is of this answer alone"
            )
        return found


def explained(
    trained: Trained, texts: Sequence[str], names: Sequence[str], asked: bool, recorder: Recorder
) -> Explained:
    """Attention is the first of `names`. What refuses most texts is an error where the names were `asked` for."""
    found = Explained({}, {}, [])
    for name in names:
        recorder.note(f"{name} of {len(texts)} texts")
        long = too_long(name, found.given)
        try:
            if long.any():
                rest = iter(attribute(trained, [texts[place] for place in np.flatnonzero(~long).tolist()], name))
                pairs = zip(found.given[FOCUS], long, strict=True)
                found.given[name] = [one if is_long else next(rest) for one, is_long in pairs]
                found.lacking[name] = long
            else:
                found.given[name] = attribute(trained, texts, name)
        except InputError as error:
            if name == FOCUS or asked:
                raise
            found.refused.append({"what": name, "why": str(error).removeprefix(f"{name}, ")})
    return found


def too_long(name: str, given: Mapping[str, Sequence[Attributed]]) -> Bools:
    """(texts,) those that this explainer is spared; none where they are most, so that it refuses them itself."""
    most = EXPLAINERS[name].most_words
    if most is None:
        return np.zeros(0, dtype=bool)
    found = np.array([len(one.spans) > most for one in given[FOCUS]], dtype=bool)
    return found if 2 * found.sum() <= len(found) else np.zeros_like(found)
