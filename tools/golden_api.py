"""The answers of `regard serve` about one text, for goldens.py."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from typing import Any

TEXT = "The soup was terrible today. The waiter was pleasant again. We came on Monday."
METHODS = (
    *("attention", "attention_norm", "weighted_norm", "gradient", "gradient_times_input", "integrated_gradients"),
    *("leave_one_out", "surrogate", "random", "tfidf"),
)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def ask_everything(address: str, server: subprocess.Popen[str]) -> dict[str, Any]:
    """The answers of a server that is starting: name -> status and body, one per explanation method and a few more."""
    while (answer := ask(f"{address}/api/predict", {"text": TEXT}))["status"] in (0, 503):
        if server.poll() is not None:
            raise SystemExit(server.communicate()[1])
        time.sleep(0.2)
    answers = {"predict": answer, "openapi": ask(f"{address}/openapi.json"), "runs": ask(f"{address}/api/runs")}
    answers["explain_default"] = ask(f"{address}/api/explain", {"text": TEXT})
    answers["explain_without"] = ask(f"{address}/api/explain", {"text": TEXT, "without": [3]})
    for method in METHODS:
        answers[f"explain_{method}"] = ask(f"{address}/api/explain", {"text": TEXT, "method": method})
    return answers


def ask(address: str, fields: dict[str, Any] | None = None) -> dict[str, Any]:
    """The status and the body of an answer; status 0 if no server listens yet."""
    body = None if fields is None else json.dumps(fields).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return {"status": answer.status, "body": json.load(answer)}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "body": json.loads(error.read())}
    except urllib.error.URLError:
        return {"status": 0, "body": None}
