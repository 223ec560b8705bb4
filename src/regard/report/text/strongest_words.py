"""The strongest words of an explanation for and against its target, as lists for readers.

Repeated words are one entry with their joint contribution. Punctuation and function words come after a word with a meaning of
its own that contributes about as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from regard.records import Explanation, TokenScore, is_punctuation
from regard.report.text.characters import one_line
from regard.report.text.numbers import contribution_text, figures

ABOUT_AS_MUCH = 0.9  # of a function word's contribution
LEAST = 0.05  # of the scale of the shading; weaker words are not listed
MARKS = {
    "word": "",
    "beginning": "known by its beginning",
    "unknown": "unknown",
    "nothing": "only separates its neighbours",
}


@dataclass(frozen=True, slots=True)
class StrongWord:
    text: str
    contribution: float
    tokens: tuple[int, ...]  # its occurrences in the text
    mark: str = ""  # how the model reads it, if not as a word

    @property
    def number(self) -> str:
        return contribution_text(self.contribution) + (" together" if len(self.tokens) > 1 else "")

    @property
    def name(self) -> str:
        text = f"“{self.text}”" if is_punctuation(self.text) else self.text
        times = f" ×{len(self.tokens)}" if len(self.tokens) > 1 else ""
        return text + times + (f" ({self.mark})" if self.mark else "")


def strongest_words(explanation: Explanation, most: int = 8) -> tuple[list[StrongWord], list[StrongWord]]:
    """The strongest words for the target, and those against it, strongest first; both empty without contributions."""
    entries = list_words(explanation)
    floor = LEAST * max([*(abs(entry.contribution) for entry in entries), explanation.strong])
    listed = sorted((entry for entry in entries if abs(entry.contribution) >= floor), key=rank, reverse=True)
    return [x for x in listed if x.contribution > 0][:most], [x for x in listed if x.contribution < 0][:most]


def list_words(explanation: Explanation) -> list[StrongWord]:
    """Every word once, in reading order."""
    tokens, entries = explanation.tokens, []
    groups = {group.tokens[0]: group for group in explanation.repeated}
    repeated = {index for group in explanation.repeated for index in group.tokens}
    for index, token in enumerate(tokens):
        if index in groups:
            group = groups[index]
            entries.append(entry(tokens, group.tokens, group.contribution))
        elif index not in repeated and token.contribution is not None:
            entries.append(entry(tokens, (index,), token.contribution))
    return entries


def entry(tokens: Sequence[TokenScore], indices: tuple[int, ...], contribution: float) -> StrongWord:
    first = tokens[indices[0]]
    return StrongWord(one_line(first.text), contribution, indices, MARKS[first.read_as])


def rank(word: StrongWord) -> tuple[float, bool]:
    has_meaning = not is_punctuation(word.text) and word.text.lower() not in function_words()
    return abs(word.contribution) * (1 if has_meaning else ABOUT_AS_MUCH), has_meaning


@cache
def function_words() -> frozenset[str]:
    """English words with a grammatical role only. Negations are missing because they change what is said."""
    text = (files("regard.report.text") / "function_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def nothing_strong(explanation: Explanation) -> str:
    """A sentence if there are contributions but none worth listing; otherwise ""."""
    if not explanation.is_signed or not explanation.tokens or any(strongest_words(explanation, 1)):
        return ""
    return f"no word contributes {figures(LEAST * explanation.strong)} or more"


def for_whom(explanation: Explanation) -> tuple[str, str]:
    """The titles of the two lists."""
    if explanation.target is None:
        return "words that raise the number", "words that lower it"
    return f"top words for {one_line(explanation.target)}", "against"
