"""The terminal table of an analysis."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from analysis_case import analysis, analysis_page, without_interval
from rich.console import Console

from regard.facts.analysis import AnalysisFacts
from regard.report.text.analysis import print_analysis, strongest_words


def printed(facts: dict[str, Any], width: int = 100) -> str:
    sheet = io.StringIO()
    print_analysis(AnalysisFacts.from_json(facts), Console(file=sheet, width=width))
    return re.sub(r"[ ─]+", " ", sheet.getvalue())


def test_it_shows_what_was_analysed_and_the_results() -> None:
    out = printed(analysis(), 200)
    assert "runs/films on films.csv, 12,345 texts; DP (embedding, dot attention), λ = 10" in out
    assert "separation AUC 0.912 (0.887 to 0.937): attention of 120 tokens of a class against 150 neutral ones" in out
    assert "Attention tells the words of a class from neutral ones well." in out
    assert "VᵀW·λ −2.10 (VᵀW −0.21, cosine −0.04)" in out
    assert "V and W stand almost at right angles" in out
    assert "note: Types come from the training texts." in out


def test_types_have_counts_and_means() -> None:
    facts = analysis()
    kind = facts["types"][1]
    kind |= {"count": 1384, "weight": None}
    kind["polarity"] |= {"mean": 2.345}
    kind["attention"] |= {"mean": -0.0123}
    assert "positive 1,384 +2.35 −0.012 –" in printed(facts)


def test_eight_words_of_each_class_have_polarity_and_attention() -> None:
    facts = analysis()
    out = printed(facts)
    for words in facts["words"].values():
        for word in words[:8]:
            polarity = f"{word['polarity']:+.2f}".replace("-", "−")
            assert f"{word['token']} {polarity}" in out
        assert words[8]["token"] not in out.split()


def test_a_word_has_its_score_for_the_class_it_is_listed_under() -> None:
    """Not that for its strongest class: "love" has 20 − (6 − 8) / 2 = 21 for five stars and 6 − (20 − 8) / 2 = 0 for three."""
    facts = analysis(("1", "3", "5"))
    word = facts["words"]["5"][0] | {"token": "love", "by_class": [-8.0, 6.0, 20.0], "polarity": 21.0}
    facts["words"] = {"1": [], "3": [word], "5": [word]}
    rows = strongest_words(AnalysisFacts.from_json(facts), 8)
    assert [(row.token, row.polarity) for row in rows["3"]] == [("love", "+0")]
    assert [(row.token, row.polarity) for row in rows["5"]] == [("love", "+21.00")]
    assert "love +21.00" in printed(facts)
    assert "love +0 " in printed(facts)
    facts["words"]["3"] = [word | {"by_class": [-8.0, 10.5, 20.0], "polarity": 18.75}]
    assert "love +4.50" in printed(facts)
    page = analysis_page(facts)
    assert '<th scope="row"><bdi>love</bdi></th><td>+4.50</td>' in page
    assert '<th scope="row"><bdi>love</bdi></th><td>+21.00</td>' in page
    assert "+18.75</td>" not in page


def test_many_classes_get_a_line_each() -> None:
    out = printed(analysis(tuple(f"topic{place}" for place in range(20)), tied=10), 120)
    assert len(out.splitlines()) < 90
    assert re.search(r"topic19 \w+ \+", out)


@pytest.mark.parametrize("width", [30, 40, 46, 200])
def test_narrow_terminals_keep_the_types_and_their_numbers(width: int) -> None:
    sheet = io.StringIO()
    print_analysis(AnalysisFacts.from_json(analysis()), Console(file=sheet, width=width))
    lines = sheet.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    if width >= 40:
        assert any(re.match(r"positiv\w* +60 +\+2\.\d\d +\+0\.\d\d +0\.\d{3}", line) for line in lines)


def test_names_and_words_are_escaped() -> None:
    facts = analysis(("[bold]", "[/red]"))
    facts["run"] = "[blink]run"
    facts["words"]["[bold]"][0] = facts["words"]["[bold]"][0] | {"token": "[link=x]\x1b[31m"}
    out = printed(facts)
    for name in ("[bold]", "[/red]", "[blink]run", "[link=x]␛[31m"):
        assert name in out


def test_few_words_have_no_interval() -> None:
    assert "separation AUC 0.912 (no interval): attention of" in printed(without_interval(analysis()))


def test_missing_facts_are_left_out() -> None:
    facts = analysis() | {"separation": None, "vtw": None, "flow": None, "notes": [], "words": {}}
    facts["types"][2] = {"name": "neutral", "count": 0, "polarity": None, "attention": None, "weight": None}
    out = printed(facts)
    assert "neutral 0 – – –" in out
    for word in ("AUC", "VᵀW", "note", "strongest"):
        assert word not in out
