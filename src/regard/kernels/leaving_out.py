"""What leaving words out does to the answer of a flat attention model: exact, without reading the text again.

With weights α_j over the units j, polarities s_j (C,) and s̄ = Σ_j α_j s_j, the logits are z = s̄ + b; those of a committee are the
sum over its members. Without a set of words

    z' = b + (Σ_{j kept} e^{a_j} s_j + Σ_{k new} e^{a_k} s_k) / (Σ_{j kept} e^{a_j} + Σ_{k new} e^{a_k})

Every unit that covers one of these words is gone: the words themselves, their beginnings and their pairs. New are the pairs of
words that become neighbours, of each other or of the edge. The sums over the kept units are differences from the sums over all
of them, so a word costs O(C) per member, whatever the length of its text. The effect is the drop of the target's log-odds,

    m(z) − m(z'),   m(z) = z_c − log Σ_{k≠c} e^{z_k};   for a single logit ± z;   for independent labels z_c

and the target's probability without the words is σ(logit p − effect). Effects of different words do not add up to anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.pairs import EDGE, UNKNOWN, PairTable, find_pair, prefetch_pair

compiled = compiling.compiled(error_model="numpy")
inner = compiling.inner()

# Where the words hold more than this share of the sum, what is left is summed anew: a difference of almost equal numbers has
# few correct digits. At most one group of a text in ten is that heavy on average, so the cost per word stays constant.
HEAVY = 0.9

Ids = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


class Groups(NamedTuple):
    """Sets of words that are left out together, text by text."""

    bounds: Ints  # (texts + 1,) the groups of a text are [bounds[i], bounds[i + 1])
    starts: Ints  # (groups + 1,) the members of a group, in `words`
    words: Ints  # positions of words within their text, ascending within a group


def single_words(counts: Ints) -> Groups:
    """Each word of each text alone. `counts`: words per text."""
    bounds = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=bounds[1:])
    positions = np.arange(bounds[-1]) - np.repeat(bounds[:-1], counts)
    return Groups(bounds, np.arange(bounds[-1] + 1), positions)


def effects_of_leaving_out(
    units: tuple[Ids, Ids, Ids, Ints, Ints],  # `Units`
    tables: tuple[Floats, Floats, Floats],  # `Tables`: (U, M), (U, M, C), (C,)
    pairs: PairTable,
    sizes: tuple[int, int],  # the number of ids of words, and of words and beginnings
    targets: Ints,  # (texts,) a class; for a regression 1
    groups: Groups,
    independent: bool = False,  # whether every output is the log-odds of its own label
) -> Doubles:
    """(groups,)"""
    effects = np.empty(int(groups.bounds[-1]))
    _leave_out(*units, *tables, pairs.keys, pairs.ids, *sizes, targets, *groups, independent, effects)
    return effects


@compiled
def _leave_out(
    ids: Ids,
    first: Ids,
    last: Ids,
    offsets: Ints,
    words: Ints,
    scores: Floats,
    polarity: Floats,
    bias: Floats,
    keys: Ints,
    pair_ids: Ids,
    word_ids: int,
    single_ids: int,
    targets: Ints,
    group_bounds: Ints,
    member_starts: Ints,
    members: Ints,
    independent: bool,
    effects: Doubles,
) -> None:
    longest = 0
    for text in range(len(words)):
        longest = max(longest, words[text])
    outputs, committee = len(bias), scores.shape[1]
    size = committee * (outputs + 1) + 1
    own = np.empty(longest, dtype=np.int32)  # the id of each word
    # for each member of the committee Σ e^a s for each output, then Σ e^a; at the end the number of units:
    single = np.empty((longest, size))  # of the units that cover one word
    double = np.empty((longest + 1, size))  # of the pair before each word, and of the one after the last
    whole, rest, term = np.empty(size), np.empty(size), np.empty(size)
    highest, logits = np.empty(committee, dtype=scores.dtype), np.empty(outputs)
    for text in range(len(words)):
        low, high, count = offsets[text], offsets[text + 1], words[text]
        for word in range(count + 1):
            for c in range(size):
                double[word, c] = 0.0
                if word < count:
                    single[word, c] = 0.0
        for c in range(size):
            whole[c] = 0.0
        for m in range(committee):
            highest[m] = scores[ids[low], m] if high > low else np.float32(0)
            for j in range(low, high):
                highest[m] = max(highest[m], scores[ids[j], m])
        own[:count] = UNKNOWN
        for j in range(low, high):
            _weigh(term, scores, highest, polarity, ids[j])
            if ids[j] >= single_ids:
                # a pair with an edge covers one word: the first, or the last
                position = last[j] if last[j] > first[j] or first[j] == 0 else count
                for c in range(size):
                    whole[c] += term[c]
                    double[position, c] += term[c]
            else:
                for c in range(size):
                    whole[c] += term[c]
                    single[first[j], c] += term[c]
                if ids[j] < word_ids:
                    own[first[j]] = ids[j]
        for word in range(count):  # words that become neighbours when the one between them is left out
            before = own[word - 1] if word > 0 else EDGE
            prefetch_pair(keys, pair_ids, before, own[word + 1] if word + 1 < count else EDGE)
        here = log_odds(whole, bias, targets[text], independent, logits)
        for group in range(group_bounds[text], group_bounds[text + 1]):
            begin, end = member_starts[group], member_starts[group + 1]
            if end - begin == count:  # an empty text: the bias alone
                rest[:] = 0.0
                effects[group] = here - log_odds(rest, bias, targets[text], independent, logits)
                continue
            if end - begin == 1:
                word = members[begin]
                for c in range(size):
                    rest[c] = whole[c] - (single[word, c] + double[word + 1, c]) - double[word, c]
            else:
                _take_out(rest, whole, single, double, members[begin:end])
            if _is_heavy(rest, whole, outputs):
                _sum_others(rest, single, double, members[begin:end], count)
            for k in range(begin, end):
                word = members[k]
                if k == begin or members[k - 1] < word - 1:
                    before = int(own[word - 1]) if word > 0 else EDGE
                if k == end - 1 or members[k + 1] > word + 1:
                    after = int(own[word + 1]) if word + 1 < count else EDGE
                    pair = find_pair(keys, pair_ids, before, after)
                    if pair > 0:
                        _weigh(term, scores, highest, polarity, pair)
                        for c in range(size):
                            rest[c] += term[c]
            if rest[size - 1] < 0.5:  # words are left but no unit is: they are read as unknown words
                _weigh(rest, scores, scores[UNKNOWN], polarity, UNKNOWN)
            effects[group] = here - log_odds(rest, bias, targets[text], independent, logits)


@inner
def _weigh(term: Doubles, scores: Floats, highest: Floats, polarity: Floats, unit: int) -> None:
    """What one unit adds to the sums. Indices instead of rows: numba counts references to every row."""
    at = 0
    for m in range(scores.shape[1]):
        weight = np.exp(np.float64(scores[unit, m] - highest[m]))
        for c in range(polarity.shape[2]):
            term[at] = weight * polarity[unit, m, c]
            at += 1
        term[at] = weight
        at += 1
    term[at] = 1.0


@inner
def _is_heavy(rest: Doubles, whole: Doubles, outputs: int) -> bool:
    """Whether the words hold most of the sum in any member."""
    for at in range(outputs, len(rest) - 1, outputs + 1):  # noqa: SIM110 (numba compiles no generators)
        if rest[at] < (1 - HEAVY) * whole[at]:
            return True
    return False


@inner
def _take_out(rest: Doubles, whole: Doubles, single: Doubles, double: Doubles, chosen: Ints) -> None:
    for c in range(len(rest)):
        value = whole[c]
        for k in range(len(chosen)):
            word = chosen[k]
            value -= single[word, c] + double[word + 1, c]
            if k == 0 or chosen[k - 1] < word - 1:  # else it is the pair after the word before
                value -= double[word, c]
        rest[c] = value


@inner
def _sum_others(rest: Doubles, single: Doubles, double: Doubles, chosen: Ints, count: int) -> None:
    rest[:] = 0.0
    k = 0
    was_chosen = False
    for word in range(count + 1):
        is_chosen = k < len(chosen) and chosen[k] == word
        if not is_chosen and not was_chosen:
            rest += double[word]
        if word < count and not is_chosen:
            rest += single[word]
        if is_chosen:
            k += 1
        was_chosen = is_chosen


@inner
def log_odds(total: Doubles, bias: Floats, target: int, independent: bool, logits: Doubles) -> float:
    outputs = len(bias)
    for c in range(outputs):
        logits[c] = bias[c]
    for start in range(0, len(total) - 1, outputs + 1):
        if total[start + outputs] > 0:
            inverse = 1 / total[start + outputs]
            for c in range(outputs):
                logits[c] += total[start + c] * inverse
    if independent:
        return float(logits[target])
    if outputs == 1:
        return float(logits[0] if target == 1 else -logits[0])
    highest = -np.inf
    for c in range(outputs):
        if c != target:
            highest = max(highest, logits[c])
    others = 0.0
    for c in range(outputs):
        if c != target:
            others += np.exp(logits[c] - highest)
    return float(logits[target] - highest - np.log(others))
