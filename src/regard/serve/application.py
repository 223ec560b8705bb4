"""What each path returns: files of the page, facts about the runs, and answers about texts. Independent of sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from regard import __version__
from regard.explain.explainers import EXPLAINERS
from regard.report import colours
from regard.serve.answering import answer_compare, answer_explain, answer_predict
from regard.serve.answers import CompareAnswer, ExplainAnswer, FactsAnswer, PredictAnswer, TableAnswer
from regard.serve.methods import as_dict
from regard.serve.openapi import Operation, openapi
from regard.serve.parsing import parse
from regard.serve.request_errors import RequestError
from regard.serve.request_types import CompareRequest, ExplainRequest, PredictRequest, TableRequest
from regard.serve.served_run import IsGone, ServedRun
from regard.serve.tables import answer_table

JSON = "application/json; charset=utf-8"
HTML, STYLE, SCRIPT = "text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8"
MAX_TEXT, MAX_TABLE = 1_000_000, 5_000_000  # bytes of a body
QUICK_BYTES = 1_000  # of a request about a short text

FILES = {
    "/": ("page.html", HTML),
    "/reference": ("reference.html", HTML),
    "/page.css": ("page.css", STYLE),
    "/page.js": ("page.js", SCRIPT),
    "/requests.js": ("requests.js", SCRIPT),
    "/token.js": ("token.js", SCRIPT),
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

    answer: Callable[[Any, Sequence[ServedRun], IsGone], Mapping[str, object]]
    operation: Operation

    @property
    def fields(self) -> tuple[str, ...]:
        return self.operation.request.__struct_fields__

    @property
    def max_bytes(self) -> int:
        return self.operation.max_bytes


ENDPOINTS = {
    "/api/predict": Endpoint(
        answer_predict,
        Operation("Predictions for texts", PredictRequest, PredictAnswer, MAX_TEXT, {"text": "The room was clean."}),
    ),
    "/api/explain": Endpoint(
        answer_explain,
        Operation(
            "Predictions, and the words they are based on",
            ExplainRequest,
            ExplainAnswer,
            MAX_TEXT,
            {"text": "The room was clean.", "method": "leave_one_out"},
        ),
    ),
    "/api/compare": Endpoint(
        answer_compare,
        Operation(
            "Two runs compared on the same text",
            CompareRequest,
            CompareAnswer,
            MAX_TEXT,
            {"text": "The room was clean."},
            required=("text",),
        ),
    ),
    "/api/table": Endpoint(
        answer_table,
        Operation(
            "One prediction per row of a table",
            TableRequest,
            TableAnswer,
            MAX_TABLE,
            {"table": "text\nThe room was clean.\nThe bed was hard.\n"},
            required=("table",),
        ),
    ),
}

OPERATIONS = {path: endpoint.operation for path, endpoint in ENDPOINTS.items()}
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
        facts: FactsAnswer = {
            "version": __version__,
            "runs": [run.as_dict() for run in runs],
            "methods": [as_dict(name) for name in EXPLAINERS],
            "start": {"method": method, "target": target},
        }
        self.pages["/api/runs"] = as_json(facts)
        self.pages["/openapi.json"] = as_json(openapi(OPERATIONS, names, list(EXPLAINERS)))
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
        return as_json(endpoint.answer(parse(body, endpoint.operation.request), self.runs, is_gone))

    def is_quick(self, path: str, body: bytes) -> bool:
        """Whether the answer takes less time than handing the request to a thread and back: a short text, from tables."""
        request = ENDPOINTS[path].operation.request
        if len(body) > QUICK_BYTES or request not in (PredictRequest, ExplainRequest):
            return False
        if not self.runs or not all(run.is_warm and run.trained.is_flat for run in self.runs):
            return False
        fields = parse(body, request)
        method = fields.method if isinstance(fields, ExplainRequest) else None
        return method is None or method in self.runs[0].fast_methods

    def check_ready(self) -> None:
        if not self.runs:
            raise RequestError(503, "the model is still loading; try again in a second", {"Retry-After": "1"})


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
