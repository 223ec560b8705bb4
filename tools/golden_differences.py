"""What differs between two folders of goldens, one line per file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path
from typing import Any

PAGES = (".html", ".md", ".svg", ".txt", ".tex")
NUMBER = re.compile(r"(?<![\w.,])[-+−]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?")  # not the 1 of F1


def compare(a: Path, b: Path, numbers: bool) -> int:
    """Print what differs; 0 if nothing does, else 1."""
    for folder in (a, b):
        if not folder.is_dir():
            raise SystemExit(f"{folder}: expected a folder of goldens")
    files = [{path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} for folder in (a, b)]
    common = sorted(files[0] & files[1])
    changed = {path: where for path in common if (where := difference(a / path, b / path, numbers)) is not None}
    missing = [(a, path) for path in sorted(files[1] - files[0])] + [(b, path) for path in sorted(files[0] - files[1])]
    for path, where in changed.items():
        print(f"differs: {path}: {where}")
    for folder, path in missing:
        print(f"missing in {folder}: {path}")
    print(f"{len(common) - len(changed)} files identical, {len(changed)} differ, {len(missing)} missing on either side")
    return 1 if changed or missing else 0


def difference(a: Path, b: Path, numbers: bool) -> str | None:
    """The first difference between two files, or None."""
    contents = [path.read_bytes() for path in (a, b)]
    if contents[0] == contents[1]:
        return None
    if a.suffix == ".pdf":
        return f"{len(contents[0])} and {len(contents[1])} bytes of PDF"
    return next(differences(contents[0].decode(), contents[1].decode(), a.suffix, numbers), None)


def differences(a: str, b: str, suffix: str, numbers: bool) -> Iterator[str]:
    if suffix == ".json":
        yield from json_differences(parsed(a), parsed(b), "")
    elif suffix == ".jsonl":
        rows = [[parsed(line) for line in text.split("\n") if line] for text in (a, b)]
        yield from json_differences(rows[0], rows[1], "")
    elif numbers and suffix in PAGES:
        pages = [Page(text, suffix in (".html", ".svg")) for text in (a, b)]
        yield from number_differences(pages[0].text, pages[1].text)
        yield from json_differences(pages[0].embedded, pages[1].embedded, "embedded JSON ")
    else:
        yield from line_differences(a, b)


def parsed(text: str) -> Any:
    return json.loads(text, parse_constant=str)  # NaN differs from itself, "NaN" does not


def json_differences(a: Any, b: Any, where: str) -> Iterator[str]:
    if type(a) is not type(b):
        yield f"{where}: {short(a)} != {short(b)}"
    elif isinstance(a, dict):
        for key in a | b:
            if key not in a or key not in b:
                yield f"{where}.{key}: only in {'A' if key in a else 'B'}"
            else:
                yield from json_differences(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        for index, pair in enumerate(zip(a, b, strict=False)):
            yield from json_differences(*pair, f"{where}[{index}]")
        if len(a) != len(b):
            yield f"{where}: {len(a)} != {len(b)} items"
    elif a != b:
        yield f"{where}: {short(a)} != {short(b)}"


def number_differences(a: str, b: str) -> Iterator[str]:
    for index, (one, other) in enumerate(zip_longest(NUMBER.finditer(a), NUMBER.finditer(b)), 1):
        if one is None or other is None or one[0] != other[0]:
            yield f"number {index}: {around(a, one)} != {around(b, other)}"


def around(text: str, number: re.Match[str] | None) -> str:
    if number is None:
        return "nothing"
    return repr(" ".join(text[max(0, number.start() - 25) : number.end() + 10].split()))


def line_differences(a: str, b: str) -> Iterator[str]:
    for number, (one, other) in enumerate(zip_longest(a.split("\n"), b.split("\n")), 1):
        if one is None or other is None:
            yield f"line {number}: {short(one)} != {short(other)}"
        elif one != other:
            same = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
            start = max(0, same - 20)
            yield f"line {number}: {short(one[start:])} != {short(other[start:])}"


def short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


class Page(HTMLParser):
    """What a page shows: its visible text, and the JSON in its script tags."""

    def __init__(self, text: str, is_markup: bool):
        super().__init__()
        self.pieces: dict[str, list[str]] = {"text": [], "JSON": [], "code": []}
        self.inside = "text"
        self.embedded: list[Any] = []
        if is_markup:
            self.feed(text)
            self.close()
        else:
            self.pieces["text"].append(text)
        self.text = " ".join(self.pieces["text"])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self.inside = "JSON" if ("type", "application/json") in attrs else "code"

    def handle_endtag(self, tag: str) -> None:
        if self.inside == "JSON":
            self.embedded.append(parsed("".join(self.pieces["JSON"])))
            self.pieces["JSON"].clear()
        if tag in ("script", "style"):
            self.inside = "text"

    def handle_data(self, data: str) -> None:
        self.pieces[self.inside].append(data)
