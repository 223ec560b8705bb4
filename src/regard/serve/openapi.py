"""The API, described in its own words: OpenAPI 3.1, and what each request may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regard import __version__
from regard.explain.attribute import EXPLAINERS
from regard.serve.answering import MOST_EXPLAINED, MOST_PREDICTED
from regard.serve.tables import FORMATS, MOST_ROWS

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "description": "A text with at least one word."}
WITHOUT: Schema = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0},
    "description": "Numbers of words, from 0, that are erased as if they had never been written.",
}
TARGET: Schema = {"type": "string", "description": "The class that scores are about; by default the predicted one."}
METHOD: Schema = {
    "type": "string",
    "enum": list(EXPLAINERS),
    "description": "The explainer; by default the weights that words have in the model's sum.",
}
PREDICTED: Schema = {
    "prediction": {"type": ["string", "number"], "description": "The class, or the number of a regression."},
    "probabilities": {"type": "object", "additionalProperties": {"type": "number"}, "description": "Of every class."},
}
UNIT: Schema = {
    "start": {"type": "integer"},
    "end": {"type": "integer"},
    "score": {"type": ["number", "null"]},
}
TOKEN: Schema = {
    "text": {"type": "string"},
    "start": {"type": "integer", "description": "Counted in characters (code points) of the text."},
    "end": {"type": "integer"},
    "score": {"type": ["number", "null"], "description": "null: crossed out, or beyond what the model reads."},
    "known": {"type": "boolean", "description": "false: the model has no vector of this word's own."},
}


def some(properties: Mapping[str, Any]) -> Schema:
    return {"type": "object", "properties": dict(properties)}


def several(properties: Mapping[str, Any]) -> Schema:
    return {"type": "array", "items": some(properties)}


EXPLAINED: Schema = {
    **PREDICTED,
    "before": {**some(PREDICTED), "description": "The answer to the whole text, where words are crossed out."},
    "target": {"type": ["string", "null"]},
    "tokens": several(TOKEN),
    "without": WITHOUT,
    "unread": {"type": "integer", "description": "Words beyond the first ones that the model reads."},
    "sentences": several(UNIT),
    "parts": several(UNIT),
    "cost": some({"forward": {"type": "number"}, "backward": {"type": "number"}, "seconds": {"type": "number"}}),
    "facts": {"type": "object", "description": "What the explainer knows of its own work."},
}
ABOUT: Schema = {"method": METHOD, "signed": {"type": "boolean", "description": "Scores below 0 speak against."}}


def openapi(runs: Sequence[str], limits: Mapping[str, int]) -> dict[str, Any]:
    run: Schema = {"type": "string", "enum": list(runs), "description": "The run that is asked; by default the first."}
    named: Schema = {"type": "string"}
    texts = {"type": "array", "items": TEXT, "minItems": 1}
    asked: dict[str, tuple[str, Schema, list[str], Schema, Schema]] = {
        "/api/predict": (
            "What a run makes of texts",
            {"text": TEXT, "texts": {**texts, "maxItems": MOST_PREDICTED}, "run": run},
            [],
            {"run": named, "results": several(PREDICTED)},
            {"text": "The room was clean."},
        ),
        "/api/explain": (
            "And which words it said it by",
            {
                "text": TEXT,
                "texts": {**texts, "maxItems": MOST_EXPLAINED},
                "method": METHOD,
                "target": TARGET,
                "without": WITHOUT,
                "run": run,
            },
            [],
            {"run": named, **ABOUT, "results": several(EXPLAINED)},
            {"text": "The room was clean.", "method": "leave_one_out"},
        ),
        "/api/compare": (
            "Two runs on the same text",
            {
                "text": TEXT,
                "method": METHOD,
                "target": TARGET,
                "without": WITHOUT,
                "runs": {"type": "array", "items": run, "minItems": 2, "maxItems": 2},
            },
            ["text"],
            {
                **ABOUT,
                "agreement": {
                    **some({"tau": {"type": ["number", "null"]}, "divergence": {"type": ["number", "null"]}}),
                    "description": "Kendall's τ-b, and the Jensen–Shannon divergence of the shares.",
                },
                "results": several({"run": named, **EXPLAINED}),
            },
            {"text": "The room was clean."},
        ),
        "/api/table": (
            "A pasted table, row by row",
            {
                "table": {
                    "type": "string",
                    "description": f"A CSV file whose first row names the columns; up to {MOST_ROWS:,} rows.",
                },
                "format": {"type": "string", "enum": list(FORMATS), "description": "lines: a text a line, no header."},
                "text_column": {"type": "string", "description": "The column of the texts; by default guessed."},
                "run": run,
            },
            ["table"],
            {
                "run": named,
                "columns": {"type": "array", "items": named},
                "text_column": named,
                "label_column": {"type": ["string", "null"]},
                "bad_rows": {"type": "integer"},
                "labelled": {"type": "integer"},
                "right": {"type": "integer"},
                "rows": several(
                    {
                        "row": {"type": "integer"},
                        "fields": {"type": "array", "items": named},
                        **PREDICTED,
                        "label": {"type": ["string", "number"]},
                        "error": {"type": "string", "description": "Why this row has no answer."},
                    }
                ),
            },
            {"table": "text\nThe room was clean.\nThe bed was hard.\n"},
        ),
    }
    found: dict[str, Any] = {
        "/api/runs": {
            "get": {
                "summary": "The runs that are served, and the explainers",
                "operationId": "runs",
                "responses": replies(
                    {
                        "version": named,
                        "runs": {"type": "array", "items": {"type": "object"}},
                        "methods": {"type": "array", "items": {"type": "object"}},
                    },
                    (),
                ),
            }
        }
    }
    for path, (summary, fields, needed, result, example) in asked.items():
        schema = {**some(fields), "additionalProperties": False, **({"required": needed} if needed else {})}
        content = {"application/json": {"schema": schema, "example": example}}
        found[path] = {
            "post": {
                "summary": summary,
                "operationId": path.rpartition("/")[2],
                "description": f"Bodies up to {limits[path]:,} bytes are accepted.",
                "requestBody": {"required": True, "content": content},
                "responses": replies(result, ("400", "413", "415", "503")),
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "regard serve",
            "version": __version__,
            "description": "JSON in, JSON out. An error is an object with one sentence, error. No text is kept or logged.",
        },
        "paths": found,
    }


REASONS = {
    "400": "A field is missing, of another kind, or names what there is not.",
    "413": "The body or the table is too large.",
    "415": "The body is not said to be application/json.",
    "503": "The model is still loading (Retry-After says when to ask again) or busy, or the answer would take too long.",
}


def replies(result: Mapping[str, Any], refusals: Sequence[str]) -> dict[str, Any]:
    error = {"application/json": {"schema": {**some({"error": {"type": "string"}}), "required": ["error"]}}}
    good = {"200": {"description": "The answer.", "content": {"application/json": {"schema": some(result)}}}}
    return good | {status: {"description": REASONS[status], "content": error} for status in refusals}
