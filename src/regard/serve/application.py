"""Which path is answered by what: files of the page, facts, and questions about texts. Nothing here knows sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from regard import __version__
from regard.explain.explainers import EXPLAINERS
from regard.report import colours
from regard.serve import asked
from regard.serve.answering import (
    COMPARE,
    EXPLAIN,
    MOST_EXPLAINED,
    MOST_PREDICTED,
    PREDICT,
    answer_compare,
    answer_explain,
    answer_predict,
)
from regard.serve.methods import as_dict
from regard.serve.refused import Refused
from regard.serve.served import Away, Served
from regard.serve.tables import FORMATS, MOST_ROWS, TABLE, answer_table

JSON = "application/json; charset=utf-8"
HTML, STYLE, SCRIPT = "text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8"
MOST_TEXT, MOST_TABLE = 1_000_000, 5_000_000  # bytes of a body

FILES = {
    "/": ("page.html", HTML),
    "/reference": ("reference.html", HTML),
    "/page.css": ("page.css", STYLE),
    "/page.js": ("page.js", SCRIPT),
    "/asking.js": ("asking.js", SCRIPT),
    "/making.js": ("making.js", SCRIPT),
    "/words.js": ("words.js", SCRIPT),
    "/answer.js": ("answer.js", SCRIPT),
    "/table.js": ("table.js", SCRIPT),
    "/reference.js": ("reference.js", SCRIPT),
}


class Reply(NamedTuple):
    kind: str  # of content
    body: bytes


class Question(NamedTuple):
    """A path that takes a JSON object."""

    answer: Callable[[Mapping[str, Any], Sequence[Served], Away], dict[str, Any]]
    fields: tuple[str, ...]
    most: int  # bytes


QUESTIONS = {
    "/api/predict": Question(answer_predict, PREDICT, MOST_TEXT),
    "/api/explain": Question(answer_explain, EXPLAIN, MOST_TEXT),
    "/api/compare": Question(answer_compare, COMPARE, MOST_TEXT),
    "/api/table": Question(answer_table, TABLE, MOST_TABLE),
}


FACTS = ("/api/runs", "/openapi.json")  # told of the runs that are served


class Application:
    """The page is there at once; facts and answers are from when the runs are."""

    def __init__(self) -> None:
        self.served: list[Served] = []  # none while they are loading
        self.pages = {path: Reply(kind, read(name)) for path, (name, kind) in FILES.items()}
        self.pages["/colours.css"] = Reply(STYLE, colour_style().encode())

    def take(self, served: Sequence[Served]) -> None:
        names = [run.name for run in served]
        facts = {
            "version": __version__,
            "runs": [run.as_dict() for run in served],
            "methods": [as_dict(name) for name in EXPLAINERS],
        }
        self.pages["/api/runs"] = as_json(facts)
        self.pages["/openapi.json"] = as_json(openapi(names))
        self.served = list(served)

    def page(self, path: str) -> Reply:
        if path in FACTS:
            self.check_ready()
        if path not in self.pages:
            known = ", ".join([*QUESTIONS, *FACTS])
            raise Refused(404, f"there is nothing at {path[:80]!r}; accepted are {known}")
        return self.pages[path]

    def answer(self, path: str, body: bytes, away: Away) -> Reply:
        self.check_ready()
        question = QUESTIONS[path]
        return as_json(question.answer(asked.fields(body, question.fields), self.served, away))

    def check_ready(self) -> None:
        if not self.served:
            raise Refused(503, "the model is still loading; try again in a second", {"Retry-After": "1"})


def openapi(runs: Sequence[str]) -> dict[str, Any]:
    """The description of the API, OpenAPI 3.1: openapi.json with what depends on the runs and on limits filled in."""
    source = json.loads(read("openapi.json"))
    values = {
        "version": __version__,
        "runs": list(runs),
        "methods": list(EXPLAINERS),
        "formats": list(FORMATS),
        "most_text": MOST_TEXT,
        "most_table": MOST_TABLE,
        "most_rows": MOST_ROWS,
        "most_predicted": MOST_PREDICTED,
        "most_explained": MOST_EXPLAINED,
    }
    return filled(source["document"], {**source["parts"], **values})  # type: ignore[no-any-return]


def filled(node: Any, parts: Mapping[str, Any]) -> Any:
    """`{"$use": NAME}` stands for a part, also among other keys; `{"$text": …}` for a sentence with parts in it."""
    if isinstance(node, list):
        return [filled(each, parts) for each in node]
    if not isinstance(node, dict):
        return node
    match node:
        case {"$use": name} if len(node) == 1:
            return filled(parts[name], parts)
        case {"$text": text}:
            return text.format_map(parts)
    result: dict[str, Any] = {}
    for key, each in node.items():
        result |= filled(parts[each], parts) if key == "$use" else {key: filled(each, parts)}
    return result


def as_json(value: Mapping[str, Any]) -> Reply:
    """In ASCII, so that half a surrogate pair in a class's name stands in nobody's way."""
    return Reply(JSON, json.dumps(value, allow_nan=False).encode())


def read(name: str) -> bytes:
    return (files("regard.serve") / name).read_bytes()


def colour_style() -> str:
    """The colours of every report, as variables."""

    def ground(own: colours.Ground) -> str:
        named = {"paper": own.paper, "ink": own.ink, "faint": own.faint}
        return "".join(f"--{name}:{colours.hexed(colour)};" for name, colour in named.items())

    hot = " ".join(map(str, colours.ACCENT))
    light, dark = ground(colours.LIGHT), ground(colours.DARK)
    return (
        f":root{{--hot:{hot};--most:{colours.MOST};{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
