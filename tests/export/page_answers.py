"""What an exported page answers, under node and in Chromium, and the comparison with regard."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from browser import Browser
from regard.explain.explain import explain
from regard.models.trained import Trained
from regard.records import Explanation

TOOL = Path(__file__).parent.parent.parent / "tools" / "page_answers.js"
CHUNK = 250  # texts per message to the browser


def under_node(page: Path, texts: Sequence[str]) -> list[dict[str, Any]]:
    source = page.with_suffix(".texts.json")
    source.write_text(json.dumps(texts), encoding="utf-8")
    done = subprocess.run(["node", str(TOOL), str(page), str(source)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    answers: list[dict[str, Any]] = json.loads(done.stdout)["answers"]
    return answers


def in_browser(browser: Browser, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Of the page that is open."""
    answers: list[dict[str, Any]] = []
    for low in range(0, len(texts), CHUNK):
        texts_json = json.dumps(json.dumps(texts[low : low + CHUNK]))
        answers += json.loads(
            browser.evaluate(f"JSON.stringify(JSON.parse({texts_json}).map((text) => regard.answer(text)))")
        )
    return answers


def assert_agrees(trained: Trained, texts: Sequence[str], answers: Sequence[dict[str, Any]]) -> None:
    """The same words and classes, and probabilities within 1e-3; contributions as far as the precision of the tables goes."""
    for one, answer in zip(explain(trained, texts), answers, strict=True):
        expected = [(token.text, token.start, token.end, token.known, token.read_as) for token in one.tokens]
        drawn = answer["tokens"]
        assert [(x["text"], x["start"], x["end"], x["known"], x["read_as"]) for x in drawn] == expected, repr(one.text)
        assert answer["target"] == one.target
        assert answer["note"] == one.note
        if one.prediction.probabilities:
            assert_same_answer(answer, one)
        else:
            assert abs(answer["prediction"] - float(one.prediction.value)) < 1e-3
        for word, token in zip(drawn, one.tokens, strict=True):
            assert abs(word["weight"] - token.weight) < 1e-3
            assert token.contribution is not None
            assert abs(word["contribution"] - token.contribution) < 5e-3 * max(1.0, abs(token.contribution))


def assert_same_answer(answer: dict[str, Any], one: Explanation) -> None:
    for name, probability in one.prediction.probabilities.items():
        assert abs(answer["probabilities"][name] - probability) < 1e-3, repr(one.text)
    assert answer["prediction"] == one.prediction.as_dict()["prediction"], repr(one.text)
