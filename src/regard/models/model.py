"""What explainers, audit, report and server need of a model: ours (`Trained`) and other people's (`WrappedModel`) alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regard.config import Data
from regard.data.characters import Characters
from regard.data.tokenizer import Indexed
from regard.data.wordpieces import AnyTokenizer
from regard.models.capabilities import Capabilities
from regard.models.tasks import Task
from regard.run_metrics import RunMetrics


class Model(Protocol):
    @property
    def task(self) -> Task: ...

    @property
    def tokenizer(self) -> AnyTokenizer | Characters: ...

    @property
    def capabilities(self) -> list[Capabilities]:
        """What the pooling of each level can do, words first; empty if the model cannot be looked into."""

    @property
    def is_flat(self) -> bool:
        """Whether predictions can be looked up in tables."""

    @property
    def is_opaque(self) -> bool:
        """Whether there are only predictions: neither attention weights nor gradients."""

    @property
    def title(self) -> str:
        """What kind of model it is, in a few words."""

    @property
    def description(self) -> str:
        """The same for the head of a report."""

    @property
    def metrics(self) -> RunMetrics:
        """What training measured; empty if it took place elsewhere."""

    @property
    def levels(self) -> int:
        """1: words; 2: words in sentences; 3: words in sentences in parts."""

    @property
    def data(self) -> Data:
        """What is known about the texts that it was trained on."""

    @property
    def digests(self) -> Mapping[str, str] | None:
        """SHA-256 of the files that a run names, by option, as far as they are known; None: it was not loaded from a folder."""

    @property
    def encoder_weights(self) -> int:
        """The number of weights of a pretrained encoder, which determines its cost; 0 if there is none."""

    def answers(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities (texts, classes), or values (texts, 1), in the order of the texts."""

    def logits(self, texts: Sequence[Indexed]) -> NDArray[np.float64]:
        """(texts, outputs), in the order of the texts."""
