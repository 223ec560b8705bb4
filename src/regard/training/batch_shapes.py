"""The few shapes that batches are brought to on a GPU, so that a step captured for one batch can be replayed for others.

Every axis is padded to one of a few widths. With several levels, each level below the top reads its rows in groups of
similar length (`Level`); the number of rows and the widths of the groups are rounded up as well, with rows of padding.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor
from torch.nn import functional

from regard.models.classifier import GROUP, group_by_length, group_levels
from regard.values import Batch, Groups

MIN_WIDTH = 8
WIDTHS = 8  # per power of two: a batch is padded by at most an eighth, and by a sixteenth on average
STACKED_WIDTHS = 4  # the same for batches of several models, whose graphs take longer to capture
LEVEL_WIDTHS = 2  # the same for each axis if there are several levels, of which all combinations may occur
MIN_ROWS = 64

Shape = tuple[tuple[int, ...], ...]


def with_common_shape(batch: Batch, levels: int) -> Batch:
    """More padding, and the groups of rows of the levels below the top. A batch of several models has their axis first."""
    if levels > 1:
        return group_levels(padded(batch, (LEVEL_WIDTHS,) * levels), levels, group_rows)
    return padded(batch, (WIDTHS if batch.ids.ndim == 2 else STACKED_WIDTHS,))


def shape_of(batch: Batch) -> Shape:
    return (tuple(batch.ids.shape), *((*rows.shape, width) for level in batch.groups for rows, width in level))


def padded(batch: Batch, widths: tuple[int, ...]) -> Batch:
    """Each of the last axes padded; `widths` has the number of widths per power of two for each."""
    sizes = batch.ids.shape[-len(widths) :]
    more = [padded_width(size, count) - size for size, count in zip(sizes, widths, strict=True)]
    padding = [value for extra in reversed(more) for value in (0, extra)]
    return batch._replace(ids=functional.pad(batch.ids, padding), mask=functional.pad(batch.mask, padding))


def padded_width(longest: int, widths: int = WIDTHS) -> int:
    """The width that an axis is padded to: a multiple of 8, and above 8 · `widths`, of 2ⁿ / `widths`, 2ⁿ the power below."""
    step = max(1 << max(longest - 1, 1).bit_length() - 1, MIN_WIDTH * widths) // widths
    return -(-longest // step) * step


def group_rows(lengths: Tensor) -> Groups:
    """`group_by_length` with few different shapes."""
    return group_by_length(lengths, GROUP["cuda"], padded_rows, partial(padded_width, widths=LEVEL_WIDTHS))


def padded_rows(most: int) -> int:
    """The number of rows that are read: a multiple of 64, and above 256, of a quarter of the power of two below."""
    step = max((1 << max(most - 1, 1).bit_length() - 1) // 4, MIN_ROWS)
    return -(-most // step) * step
