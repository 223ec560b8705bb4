"""What the jobs of one process share: the device, the recorder, and what is read or trained once for several cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from regard.recorder import Recorder
from regard_lab.tables.corpora import Corpora

if TYPE_CHECKING:
    from regard.errors import InputError
    from regard.faithfulness.judged import Judged
    from regard.models.trained import Trained
    from regard_lab.fit_stacked import EncodedCache
    from regard_lab.rows import Row


class Training(NamedTuple):
    result: Trained | InputError
    facts: Row  # seed, seconds, and number of seeds trained together


@dataclass
class Judges:
    """The base models of one corpus by seed, and their answers with random words removed."""

    key: str = ""
    trained: dict[int, Training] = field(default_factory=dict)
    random: dict[int, Judged] = field(default_factory=dict)


@dataclass
class Context:
    device: str
    recorder: Recorder  # of the current job
    corpora: Corpora = field(default_factory=Corpora)
    judges: Judges = field(default_factory=Judges)  # of the last corpus and options that needed any
    stacked: EncodedCache | None = None  # texts of seeds that are trained together
