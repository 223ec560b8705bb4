"""The OpenAPI 3.1 description of the API, made by msgspec from the types of requests and answers."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from regard import __version__
from regard.serve.answers import FactsAnswer, HealthAnswer

REFERENCE = "#/components/schemas/{name}"
ABOUT = "JSON in, JSON out. An error is an object with one sentence, error. No text is stored or logged."
ERROR = {
    "application/json": {
        "schema": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
    },
}
REFUSALS = {
    "400": "A field is missing, has the wrong type, or names something unknown.",
    "401": "The server asks for a token, and the request has none or another one.",
    "413": "The body or the table is too large.",
    "415": "The content type is not application/json.",
    "503": "The model is still loading (Retry-After says when to try again) or busy, or the request would take too long.",
}
# of fields whose type is declared in `records`, which other parts of the program use without msgspec
DESCRIPTIONS = {
    "prediction": "The predicted class, the predicted number of a regression, or the list of predicted labels.",
    "probabilities": "The probability of every class, or of every label; those of labels do not sum to 1.",
    "novelty": "How little the text resembles the training texts, from 0 to 1.",
}
BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "Only if the server was started with a token.",
}


class Operation(NamedTuple):
    """What a path of the API takes and returns. One of several fields may be needed, so that `required` is listed here."""

    summary: str
    request: type[msgspec.Struct]
    answer: Any  # a TypedDict
    max_bytes: int
    example: Mapping[str, str]
    required: tuple[str, ...] = ()


def openapi(operations: Mapping[str, Operation], runs: Sequence[str], methods: Sequence[str]) -> dict[str, object]:
    """`runs` and `methods` are the names that requests may use."""
    declared = [FactsAnswer, HealthAnswer, *(x for one in operations.values() for x in (one.request, one.answer))]
    schemas, components = msgspec.json.schema_components(declared, ref_template=REFERENCE)
    facts, health, *others = (inlined(schema, components) for schema in schemas)
    paths: dict[str, object] = {
        "/api/runs": {"get": described("The runs that are served, and the explainers", "runs", facts, ("401", "503"))},
    }
    for (path, operation), request, answer in zip(operations.items(), others[::2], others[1::2], strict=True):
        paths[path] = {"post": posted(path, operation, with_names(request, runs, methods), answer)}
    checked = described("Whether the models are loaded", "health", health, ("503",))
    paths["/health"] = {"get": {**checked, "security": []}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "regard serve", "version": __version__, "description": ABOUT},
        "paths": paths,
        "components": {"securitySchemes": {"token": BEARER}},
        "security": [{}, {"token": []}],
    }


def posted(path: str, operation: Operation, request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    del request["required"]  # msgspec's list is empty, since every field may be null
    if operation.required:
        request["required"] = list(operation.required)
    body = {"application/json": {"schema": request, "example": dict(operation.example)}}
    return {
        **described(operation.summary, path.rpartition("/")[2], answer, REFUSALS),
        "description": f"The body may have up to {operation.max_bytes:,} bytes.",
        "requestBody": {"required": True, "content": body},
    }


def described(
    summary: str, name: str, answer: dict[str, Any], refusals: Sequence[str] | Mapping[str, str]
) -> dict[str, Any]:
    success = {"description": "Success.", "content": {"application/json": {"schema": answer}}}
    refused = {status: {"description": REFUSALS[status], "content": ERROR} for status in refusals}
    return {"summary": summary, "operationId": name, "responses": {"200": success, **refused}}


def with_names(request: dict[str, Any], runs: Sequence[str], methods: Sequence[str]) -> dict[str, Any]:
    """List the possible values of fields that name a run or an explainer."""
    named = copy.deepcopy(request)
    fields = named["properties"]
    for name, values in (("run", runs), ("method", methods)):
        if name in fields:
            fields[name]["enum"] = list(values)
    if "runs" in fields:
        fields["runs"]["items"]["enum"] = list(runs)
    return named


def inlined(node: Any, components: Mapping[str, Any]) -> Any:
    """The schema without references, so that readers need not follow them; a choice of simple types is a list of types."""
    if isinstance(node, list):
        return [inlined(item, components) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = components[node["$ref"].rpartition("/")[2]]
        return inlined({**target, **{key: value for key, value in node.items() if key != "$ref"}}, components)
    schema = {key: inlined(value, components) for key, value in node.items() if key not in ("title", "default")}
    if isinstance(properties := schema.get("properties"), dict):
        for name in DESCRIPTIONS.keys() & properties.keys():
            properties[name].setdefault("description", DESCRIPTIONS[name])
    # a field of a request is null by default, which means that it is missing: not worth mentioning
    return merged(schema, with_null="default" not in node) if "anyOf" in schema else schema


def merged(schema: dict[str, Any], with_null: bool) -> dict[str, Any]:
    """A choice between simple types as one schema, as OpenAPI 3.1 allows."""
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    options = [option for option in schema["anyOf"] if with_null or option != {"type": "null"}]
    if len(options) == 1:
        return {**options[0], **rest}
    if names := next((option["enum"] for option in options if "enum" in option), None):
        return {"type": ["string", "null"], "enum": [*names, None], **rest}
    return {"type": [option["type"] for option in options], **rest}
