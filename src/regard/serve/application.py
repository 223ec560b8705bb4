"""What each path returns: files of the page, facts about the runs, and answers about texts. Independent of sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from regard import __version__
from regard.explain.explainers import EXPLAINERS
from regard.report import colours
from regard.serve.answering import (
    COMPARE,
    EXPLAIN,
    MAX_EXPLAINED,
    MAX_PREDICTED,
    PREDICT,
    answer_compare,
    answer_explain,
    answer_predict,
)
from regard.serve.methods import as_dict
from regard.serve.request_errors import RequestError
from regard.serve.request_fields import Fields, parse_fields
from regard.serve.served_run import IsGone, ServedRun
from regard.serve.tables import FORMATS, MAX_ROWS, TABLE, answer_table

JSON = "application/json; charset=utf-8"
HTML, STYLE, SCRIPT = "text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8"
MAX_TEXT, MAX_TABLE = 1_000_000, 5_000_000  # bytes of a body

FILES = {
    "/": ("page.html", HTML),
    "/reference": ("reference.html", HTML),
    "/page.css": ("page.css", STYLE),
    "/page.js": ("page.js", SCRIPT),
    "/requests.js": ("requests.js", SCRIPT),
    "/elements.js": ("elements.js", SCRIPT),
    "/words.js": ("words.js", SCRIPT),
    "/answer.js": ("answer.js", SCRIPT),
    "/redrawing.js": ("redrawing.js", SCRIPT),
    "/table.js": ("table.js", SCRIPT),
    "/reference.js": ("reference.js", SCRIPT),
}


class Reply(NamedTuple):
    content_type: str
    body: bytes


class Endpoint(NamedTuple):
    """A path of the API that takes a JSON object."""

    answer: Callable[[Fields, Sequence[ServedRun], IsGone], Mapping[str, object]]
    fields: tuple[str, ...]
    max_bytes: int


ENDPOINTS = {
    "/api/predict": Endpoint(answer_predict, PREDICT, MAX_TEXT),
    "/api/explain": Endpoint(answer_explain, EXPLAIN, MAX_TEXT),
    "/api/compare": Endpoint(answer_compare, COMPARE, MAX_TEXT),
    "/api/table": Endpoint(answer_table, TABLE, MAX_TABLE),
}

RUN_FACTS = ("/api/runs", "/openapi.json")  # available once the runs are loaded
HEALTH = "/health"  # the same, but without a token


class Application:
    """The page is available at once; facts and answers follow when the runs are loaded."""

    def __init__(self) -> None:
        self.runs: list[ServedRun] = []  # empty while they are loading
        self.pages = {path: Reply(content_type, read(name)) for path, (name, content_type) in FILES.items()}
        self.pages["/colours.css"] = Reply(STYLE, colour_style().encode())

    def set_runs(self, runs: Sequence[ServedRun], method: str | None = None, target: str | None = None) -> None:
        """`method` and `target` are selected when the page opens."""
        names = [run.name for run in runs]
        facts = {
            "version": __version__,
            "runs": [run.as_dict() for run in runs],
            "methods": [as_dict(name) for name in EXPLAINERS],
            "start": {"method": method, "target": target},
        }
        self.pages["/api/runs"] = as_json(facts)
        self.pages["/openapi.json"] = as_json(openapi(names))
        self.pages[HEALTH] = as_json({"status": "ready"})
        self.runs = list(runs)

    def page(self, path: str) -> Reply:
        if path in (*RUN_FACTS, HEALTH):
            self.check_ready()
        if path not in self.pages:
            paths = ", ".join([*ENDPOINTS, *RUN_FACTS, HEALTH])
            raise RequestError(404, f"path: expected / or one of {paths}, got {path[:80]!r}")
        return self.pages[path]

    def answer(self, path: str, body: bytes, is_gone: IsGone) -> Reply:
        self.check_ready()
        endpoint = ENDPOINTS[path]
        return as_json(endpoint.answer(parse_fields(body, endpoint.fields), self.runs, is_gone))

    def check_ready(self) -> None:
        if not self.runs:
            raise RequestError(503, "the model is still loading; try again in a second", {"Retry-After": "1"})


def openapi(runs: Sequence[str]) -> dict[str, object]:
    """The OpenAPI 3.1 description of the API: openapi.json with the names of runs and explainers and the limits filled in."""
    source = json.loads(read("openapi.json"))
    values = {
        "version": __version__,
        "runs": list(runs),
        "methods": list(EXPLAINERS),
        "formats": list(FORMATS),
        "max_text": MAX_TEXT,
        "max_table": MAX_TABLE,
        "max_rows": MAX_ROWS,
        "max_predicted": MAX_PREDICTED,
        "max_explained": MAX_EXPLAINED,
    }
    return filled(source["document"], {**source["parts"], **values})  # type: ignore[no-any-return]


def filled(node: Any, parts: Mapping[str, object]) -> Any:
    """`{"$use": NAME}` is replaced by a part, also among other keys; `{"$text": …}` is a format string over parts."""
    if isinstance(node, list):
        return [filled(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    match node:
        case {"$use": name} if len(node) == 1:
            return filled(parts[name], parts)
        case {"$text": text}:
            return text.format_map(parts)
    result: dict[str, object] = {}
    for key, value in node.items():
        result |= filled(parts[value], parts) if key == "$use" else {key: filled(value, parts)}
    return result


def as_json(value: Mapping[str, object]) -> Reply:
    """In ASCII, because the name of a class may contain half a surrogate pair, which UTF-8 cannot encode."""
    return Reply(JSON, json.dumps(value, allow_nan=False).encode())


def read(name: str) -> bytes:
    return (files("regard.serve") / name).read_bytes()


def colour_style() -> str:
    """The colours of all reports, as CSS variables."""

    def variables(ground: colours.Ground) -> str:
        named = {"paper": ground.paper, "ink": ground.ink, "faint": ground.faint}
        return "".join(f"--{name}:{colours.hexed(colour)};" for name, colour in named.items())

    hot = " ".join(map(str, colours.ACCENT))
    light, dark = variables(colours.LIGHT), variables(colours.DARK)
    return (
        f":root{{--hot:{hot};--most:{colours.MOST};{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
