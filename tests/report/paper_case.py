"""Explanations for the tests of heat maps for papers, and programs that read what was written."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from regard.records import Explanation, Prediction, SentenceScore, TokenScore
from regard.report.paper import Paper, paper

HOSTILE = (
    "100% of $x_1$ & #2 {a} ~b~ ^^41 \\input{/etc/passwd} \\write18{touch owned} \\end{document} [c] *d* @e <f> `g` \\",
    '#panic("owned") #read("/etc/passwd") $ 1/0 $ = Title /* c */ // d\n#let x = 1; @BODY@ \\u{41} "q',
    "dashes --- and -- , commas ,,  quotes '' `` \" ?` !` << >> |a| fi ffi\r\nnext\u2028line\u200b\u2066x\u2069\ufeff",
    "control \x1b[31m \x00 \x7f \ud800 and tabs\t\tand  spaces",
)
ARABIC, CHINESE = "أحب New York City (USA) و 2024 كثيرا", "这家酒店很好，房间干净，早餐也不错，但是服务员态度很差。"


def explained(text: str, sentences: bool = False, label: str | None = None, name: str = "negative") -> Explanation:
    """Words for and against by turns, the first the strongest; every fifth is unknown."""
    tokens = tuple(
        TokenScore(word[0], *word.span(), 0.1, index % 5 != 4, 2.0 * (-1) ** index / (index + 1))
        for index, word in enumerate(re.finditer(r"\w+", text))
    )
    found = re.finditer(r"[^.!?]+[.!?]?\s*", text) if sentences else ()
    scores = tuple(SentenceScore(*one.span(), 0.5, (-1.0) ** index) for index, one in enumerate(found))
    prediction = Prediction(name, {name: 0.913, "positive": 0.087})
    return Explanation(text, prediction, tokens, scores, label=label, contribution_method="leave_one_out", target=name)


def papers(*explanations: Explanation) -> Paper:
    """One model, several texts."""
    return paper([[one] for one in explanations], "Title", ["runs/a"])


def beside(explanations: Sequence[Explanation]) -> Paper:
    """One text, several models."""
    return paper([list(explanations)], "Title", [f"runs/{number}" for number in range(len(explanations))])


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def pdf_text(path: Path) -> str:
    done = subprocess.run(["pdftotext", "-raw", path, "-"], capture_output=True, check=True)
    return done.stdout.decode()


def page_boxes(written: bytes) -> list[list[float]]:
    """The sizes of the pages of a PDF by typst."""
    return [[*map(float, box.split())] for box in re.findall(rb"/MediaBox\s*\[([^]]*)\]", written)]


def pixels(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
