"""How a file is read: the options of `readers.read`, `stream` and `read_lines`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.data.rationales import Rationales

ColumnPair = tuple[str | None, str | None]  # the columns of text and label


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading.

    Parameters
    ----------
    text, label : str, optional
        The columns of texts and labels; guessed if None.
    labelled : bool, default True
        Whether every text must have a label. If not, labels are read where there are some.
    skip_bad_rows : bool, default False
        Leave out rows that cannot be used instead of raising an error.
    mark_bad_rows : bool, default False
        Return them as examples with an `error` and no text instead.
    advice : str
        The end of an error about a bad row: which option of the command avoids it.
    at_least : int, optional
        The number of usable rows that are required: by default 2 with labels, 1 without.
    rationales : Rationales, optional
        The column with the marked words. By default those of a field `evidence`, if it has spans.
    known : pair of str or None
        Columns of text and label that are preferred to guesses if the file has them, such as those of a run.
    keep : sequence of str
        Other columns to keep with each example.
    weight : str, optional
        The column with the weights of the texts; rows with weight 0 are left out.
    encoding : str, optional
        The encoding of text files, as Python names it; by default UTF-8, or what a byte order mark says.
    several : bool, default False
        Whether a text may have several labels, so that a single value is a set of one label.
    label_separator : str, optional
        What separates the labels of a string.
    """

    text: str | None = None
    label: str | None = None
    labelled: bool = True
    skip_bad_rows: bool = False
    at_least: int | None = None
    rationales: Rationales | None = None
    known: ColumnPair = (None, None)
    keep: Sequence[str] = ()
    mark_bad_rows: bool = False
    advice: str = "--skip-bad-rows skips such rows"
    encoding: str | None = None
    weight: str | None = None
    several: bool = False
    label_separator: str | None = None

    @property
    def tolerant(self) -> bool:
        """Whether reading goes on after a bad row."""
        return self.skip_bad_rows or self.mark_bad_rows

    @property
    def required(self) -> int:
        """The number of usable rows that are required."""
        return self.at_least if self.at_least is not None else 2 if self.labelled else 1
