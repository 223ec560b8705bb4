"""What each verdict was before, and what changed it: verdicts_version_0.toml and verdict_history.toml.

The history is a list of states. Two states that follow each other differ in the version of the rules or in the rows, never in
both, so that each change of a verdict has one reason.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from regard.errors import InputError
from regard.markdown_text import escape

if TYPE_CHECKING:
    from regard_lab.claims.verdict_list import Record

FIRST, FURTHER = "verdicts_version_0.toml", "verdict_history.toml"
NEW_RUNS = "new runs"
EARLIER_WORDS = {"cannot be tested with the available data": "cannot be tested"}  # renamed, not changed


class State(NamedTuple):
    rules: int  # the version
    rows: str  # the commit
    verdicts: Mapping[str, str]  # by claim; after the first state, those that differ from the state before


class Step(NamedTuple):
    """A change of a verdict."""

    before: str
    after: str
    reason: str


def read_history(folder: Path) -> list[State]:
    """Empty without the file of version 0."""
    if not (folder / FIRST).exists():
        return []
    verdicts = {
        name: EARLIER_WORDS.get(word, word)
        for name, word in tomllib.loads((folder / FIRST).read_text(encoding="utf-8")).items()
    }
    content = tomllib.loads((folder / FURTHER).read_text(encoding="utf-8")) if (folder / FURTHER).exists() else {}
    states = [State(0, content.get("rows_of_version_0", ""), verdicts)]
    for number, part in enumerate(content.get("state", ()), 1):
        state, last = State(part["rules"], part["rows"], part.get("changed", {})), states[-1]
        if (state.rules != last.rules) == (state.rows != last.rows):
            raise InputError(
                f"{FURTHER}: [[state]] {number}: expected other rules or other rows than before, got "
                f"{'both' if state.rules != last.rules else 'neither'}; add a state between them"
            )
        states.append(state)
    return states


def steps_of(claim: str, verdict: str, states: Sequence[State], rules: int) -> list[Step]:
    """The changes of a verdict up to now; empty if it is as it was, or if version 0 did not have the claim."""
    if not states or claim not in states[0].verdicts:
        return []
    known, steps = states[0].verdicts[claim], []
    for last, state in pairwise(states):
        after = state.verdicts.get(claim, known)
        if after != known:
            reason = f"version {state.rules} of the rules" if state.rules != last.rules else NEW_RUNS
            steps.append(Step(known, after, reason))
        known = after
    if known != verdict:
        if states[-1].rules != rules:
            raise InputError(
                f"{FURTHER}: expected a [[state]] with the verdicts of version {rules} of the rules, got none; add it"
            )
        steps.append(Step(known, verdict, NEW_RUNS))
    return steps


def section(records: Sequence[Record], states: Sequence[State]) -> Iterator[str]:
    """The part of the page that lists every changed verdict."""
    changed = [record for record in records if record.steps]
    if not changed:
        return
    reasons = Counter(step.reason for record in changed for step in record.steps)
    counts = ", ".join(f"{count} by {reason}" for reason, count in sorted(reasons.items()))
    yield "## Verdicts that changed, and why"
    yield ""
    yield (
        f"{len(changed)} of the {len(records)} verdicts are not those of version 0 of the rules ({counts}). "
        f"{'Some of the changes are' if reasons[NEW_RUNS] else 'None of the changes is'} due to new runs: "
        "a change of the rules and a change of the "
        f"rows are recorded one after the other, in [{FURTHER}](../experiments/{FURTHER}). Version 0 called “not here” whatever "
        "was not confirmed, also where the runs could not have shown it. The last column says which condition decides now."
    )
    yield ""
    yield "| claim | version 0 | now | changed by | why it is so now |"
    yield "|---|---|---|---|---|"
    for record in changed:
        reason = "; ".join(step.reason + (f" ({step.after})" if len(record.steps) > 1 else "") for step in record.steps)
        why = record.finding.why or record.finding.measured
        cells = (record.claim.id, record.steps[0].before, record.finding.verdict, reason, why)
        yield "| " + " | ".join(map(escape, cells)) + " |"
    yield ""
