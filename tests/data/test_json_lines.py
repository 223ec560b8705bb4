"""JSON lines that are parsed many at once are the rows, numbers and problems that the standard parser gives line by line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.data import formats
from regard.data.formats import Row
from regard.data.nesting import DEEPEST

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.sampled_from(["text", "label", "a\n", "é"]), VALUES, max_size=3)
LINES = st.builds(lambda value, ascii_only: json.dumps(value, ensure_ascii=ascii_only), OBJECTS, st.booleans())
DEEP = "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)
ODD = st.sampled_from(
    ["", " ", "\r", "\t", "\x0b", "\xa0", "{", "}", '{"a":1}{"b":2}', '{"a":1}{"b":', "2}", '{"a":', '"x"}', '"', "[", "]",
     "null", "1 2", '{"a":"\t"}', '{"a":"\x00"}', '{"a":"\\ud800"}', '{"a":1e400}', '{"a":NaN}', '{"a":1,"a":2}', '{"a":01}',
     '{"a":-0}', '{"a":18446744073709551616}', '{"a":1,}', "\ufeff{}", '{"a":"\\x"}', "{}", f'{{"a":{DEEP}}}',
     '{"a":' + "9" * 5000 + "}", '{"a":' * 1500 + "1" + "}" * 1500]
)  # fmt: skip


def rows(pieces: Sequence[str]) -> list[tuple[Row, str]]:
    read = list(formats.jsonl_rows(lambda: iter(pieces), "x")())
    return [(row, repr([(type(value), value) for value in row.fields.values()])) for row in read]  # NaN is not NaN


@given(
    st.lists(st.lists(LINES | ODD, max_size=3).map("".join), max_size=6), st.sampled_from(["\n", "\n", "\r\n", "\r"])
)
@example(['{"a":1}{"b":', "2}"], "\n")
@example(['{"a":1}', "{}"], "\n")
@example(['{"a":1} ', "{}"], "\n")
@example(["{}", "", "{}", "[]", "{}"], "\n")
@example([f'{{"a":{DEEP}}}', "{}"], "\n")
def test_rows_are_those_of_the_standard_parser(lines: list[str], end: str) -> None:
    text = end.join(lines)
    for whole in (text, text + end):
        for pieces in ([whole], [whole[:7], whole[7:20], whole[20:]]):
            together = rows(pieces)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(formats, "_ordinary_objects", lambda block: [])
                apart = rows(pieces)
            assert [read for _, read in together] == [read for _, read in apart]
            assert [row._replace(fields={}) for row, _ in together] == [row._replace(fields={}) for row, _ in apart]


def test_ordinary_lines_are_parsed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a line was parsed alone")

    monkeypatch.setattr(formats, "_parse_json", refuse)
    lines = [json.dumps({"text": f"a \N{SNOWMAN} line\n{number}", "label": number}) for number in range(5)]
    assert [row.fields["label"] for row, _ in rows(["\n".join(lines)])] == [0, 1, 2, 3, 4]
    assert [row.number for row, _ in rows(["\n".join(lines[:2]) + "\n", "\n".join(lines[2:])])] == [1, 2, 3, 4, 5]
