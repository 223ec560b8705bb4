"""What leaving out each word of many texts does to their answers, from the sums of `answering`: exact, like `leaving_out`.

There every unit costs an exponential and is listed with the words that it covers. Here all terms are known in advance, so a
word costs the additions of its own units and pairs, one lookup of the new pair of its neighbours, and the log-odds of what
remains. Sums are float64 of float32 terms; a word that holds most of a sum is left out by adding up the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.answering import TINY, Answering, Sums
from regard.kernels.leaving_out import HEAVY, log_odds
from regard.kernels.pairs import EDGE, UNKNOWN, find_pair, prefetch_pair
from regard.kernels.prefetching import prefetch

compiled = compiling.compiled(error_model="numpy")

Ids = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def effects_from_sums(
    answering: Answering,
    sums: Sums,
    counts: Ints,  # (texts,) words per text
    targets: Ints,  # (texts,) a class; for a regression 1
    reads_unknown: bool,  # whether an unknown word is a unit like any other
    independent: bool = False,  # whether every output is the log-odds of its own label
) -> Doubles:
    """(words,) the drop of the target's log-odds. Those of texts in `sums.left`, which may become more, are not meaningful."""
    effects = np.empty(len(sums.ids))
    tables = (answering.words, answering.units, answering.pairs.keys, answering.pairs.ids, answering.bias)
    _leave_each_out(*sums, counts, targets, *tables, reads_unknown, independent, effects)
    return effects


@compiled
def _leave_each_out(
    ids: Ids, rows: Ids, pairs: Ids, totals: Doubles, left: NDArray[np.bool_], counts: Ints, targets: Ints,
    words: Floats, units: Floats, pair_keys: Ints, pair_ids: Ids, bias: Floats,
    reads_unknown: bool, independent: bool, effects: Doubles,
) -> None:  # fmt: skip
    outputs, size = len(bias), units.shape[1]
    longest = 0
    for text in range(len(counts)):
        longest = max(longest, counts[text])
    new = np.empty(longest, dtype=np.int64)  # the unit of the pair that a word's neighbours become, or 0
    rest, logits = np.empty(size + 1), np.empty(outputs)  # `log_odds` expects one number more than there are sums
    low = 0
    for text in range(len(counts)):
        count, shift = counts[text], low + text  # where its words and its pairs begin
        if not count or left[text]:
            low += count
            continue
        # First all slots, then all rows: memory answers several requests at a time.
        covered = 0  # words and pairs that are units
        before = EDGE
        for word in range(count):
            own = int(ids[low + word])
            after = int(ids[low + word + 1]) if word + 1 < count else EDGE
            prefetch_pair(pair_keys, pair_ids, before, after)
            covered += own != UNKNOWN or reads_unknown or rows[low + word] > 0
            covered += pairs[shift + word] > 0
            before = own
        covered += pairs[shift + count] > 0
        for word in range(count):
            before = int(ids[low + word - 1]) if word > 0 else EDGE
            after = int(ids[low + word + 1]) if word + 1 < count else EDGE
            new[word] = find_pair(pair_keys, pair_ids, before, after)
            prefetch(units, new[word])
        for k in range(size):
            rest[k] = totals[text, k]
        rest[size] = 0.0
        here = log_odds(rest, bias, targets[text], independent, logits)
        for word in range(count):
            own, row = int(ids[low + word]), int(rows[low + word])
            first, last = int(pairs[shift + word]), int(pairs[shift + word + 1])
            remaining = covered - (own != UNKNOWN or reads_unknown or row > 0) - (first > 0) - (last > 0)
            is_heavy = False
            for k in range(size):  # row 0 of `units` stands for none
                taken = np.float64(words[own, k]) + units[row, k] + units[first, k] + units[last, k]
                rest[k] = totals[text, k] - taken
            for k in range(outputs, size, outputs + 1):
                is_heavy |= rest[k] < (1 - HEAVY) * totals[text, k]
            if is_heavy:
                for k in range(size):
                    rest[k] = 0.0
                for other in range(count):
                    if other != word:
                        for k in range(size):
                            rest[k] += words[ids[low + other], k]
                            rest[k] += units[rows[low + other], k]
                for other in range(count + 1):
                    if other != word and other != word + 1:
                        for k in range(size):
                            rest[k] += units[pairs[shift + other], k]
            if new[word] > 0:
                remaining += 1
                for k in range(size):
                    rest[k] += units[new[word], k]
            if count == 1:  # an empty text: the bias alone
                for k in range(size):
                    rest[k] = 0.0
            else:
                if not remaining:  # words are left but no unit is: they are read as unknown words
                    for k in range(size):
                        rest[k] = units[UNKNOWN, k]
                for k in range(outputs, size, outputs + 1):
                    if not rest[k] > TINY:
                        left[text] = True
            if left[text]:
                break
            effects[low + word] = here - log_odds(rest, bias, targets[text], independent, logits)
        low += count
