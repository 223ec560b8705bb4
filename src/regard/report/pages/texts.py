"""Texts of a report as they are drawn: rows of words as everywhere, and which of them speak against the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regard.records import Explanation
from regard.report.colours import RGB
from regard.report.names import explainer_name
from regard.report.text.answers import answer, chances
from regard.report.text.highlights import rows, top_words

COLD: RGB = (0, 114, 178)  # for what speaks against: blue beside orange reads the same with every colour blindness


def text_view(text: Mapping[str, Any], classes: list[str]) -> dict[str, Any]:
    """What the page needs of one text; its answer is that of its first view."""
    found = [Explanation.from_dict({**view, "label": text["label"]}) for view in text["views"]]
    first = found[0]
    listed, more = chances(first)
    said, true = str(first.prediction.value), str(text["label"])
    return {
        "place": text["place"] if "place" in text else f"row {text['row']}",
        "answer": answer(first),
        "chances": listed,
        "more": more,
        "right": {True: "no", False: "yes", None: ""}[text["mistake"]],
        "said": classes.index(said) if said in classes else "",
        "true": classes.index(true) if true in classes else "",
        "views": [one_view(*pair) for pair in zip(found, text["views"], strict=True)],
    }


def one_view(explanation: Explanation, given: Mapping[str, Any]) -> dict[str, Any]:
    against = set(given.get("against", ()))
    return {
        "method": given["method"],
        "name": explainer_name(given["method"]),
        "signed": "against" in given,
        "rows": rows(explanation),
        "against": against,
        "sentences": bool(explanation.sentences),
        "sentences_against": against_rows(explanation, set(given.get("sentences_against", ()))),
        "top": largest(explanation, against),
    }


def largest(explanation: Explanation, against: set[int], count: int = 8) -> list[tuple[str, str]]:
    """The heaviest words with their weights as text, those against the answer with a minus."""
    signs = ["−" if token.start in against else "" for token in explanation.top(count)]
    return [(word, sign + weight) for (word, weight), sign in zip(top_words(explanation, count), signs, strict=False)]


def against_rows(explanation: Explanation, against: set[int]) -> set[int]:
    """The places of rows whose sentence speaks against the answer; rows begin where their sentence does."""
    found, at = set(), 0
    for place, row in enumerate(rows(explanation)):
        length = sum(len(piece.text) for piece in row.pieces) + len(row.tail)
        if row.weight is not None and any(at <= start < at + length for start in against):
            found.add(place)
        at += length
    return found
