"""A trained PyTorch model, made larger for new words and new classes, so that training can continue with new texts.

The weights continue; the state of the optimiser starts again, because a run does not keep it.
"""

from __future__ import annotations

import torch

from regard.data.vocabulary import Vocabulary
from regard.models.classifier import Classifier
from regard.models.flat import EMBEDDING, output_layer
from regard.models.tasks import Task
from regard.models.trained import Trained
from regard.training.growth import grown_head


def grown_vocabulary(known: Vocabulary, found: Vocabulary, most: int | None) -> Vocabulary:
    """Known words keep their ids; words found in new texts follow, up to `most` in all."""
    new = [word for word in found.words if word not in known]
    return Vocabulary((*known.words, *(new if most is None else new[: max(0, most - len(known.words))])))


@torch.no_grad()
def grow(model: Classifier, old: Trained, task: Task) -> None:
    """Copy the weights of the old model into a new one, which has more words or classes."""
    temperature = old.metrics.get("temperature", 1.0)
    state = model.state_dict()
    last = output_layer(state)  # which calibration has divided
    for name, value in old.weights.items():
        if name == EMBEDDING:
            state[name][: len(value)] = torch.from_numpy(value)
        elif name in last:
            initial = state[name].cpu().numpy()
            state[name].copy_(torch.from_numpy(grown_head(value * temperature, old.task, task, initial)))
        else:
            state[name].copy_(torch.from_numpy(value))
