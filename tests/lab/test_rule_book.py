"""The rule book is read strictly, and says which data are the papers'."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import InputError
from regard_lab.claims.rule_book import RuleBook, read_rule_book

TOML = """
version = 3
[exploratory]
commit = "abc"
[exploratory.rows]
"paper/table" = 12
[[margin]]
measures = ["accuracy", "round_*"]
margin = 0.005
few = 0.01
from = 1500
[[margin]]
measures = ["rmse"]
margin = 0.01
[rmse]
"paper/films" = 0.02
[proxy_methods]
paper = { methods = ["bert-*", "mpnet-*"], because = "another" }
[tiers.paper]
news = { tier = "exact", because = "theirs" }
films = { tier = "proxy", because = "a sample" }
"""


def read(path: Path, content: str = TOML) -> RuleBook:
    file = path / "rules.toml"
    file.write_text(content, encoding="utf-8")
    return read_rule_book(file)


def test_margins_depend_on_the_measure_the_texts_and_the_scale(tmp_path: Path) -> None:
    book = read(tmp_path)
    table = "paper/table"
    assert [book.margin("round_1", table, "news", texts) for texts in (1499, 1500, None)] == [0.01, 0.005, 0.005]
    assert book.margin("spread", table, "news", 100) == 0.0, "none was set"
    assert [book.margin("rmse", table, corpus, 9) for corpus in ("news", "films")] == [0.01, 0.02]
    assert [book.unit("rmse", table, corpus) for corpus in ("news", "films")] == [1.0, 0.5]
    assert book.unit("accuracy", table, "films") == 1.0


def test_a_model_that_stands_for_another_is_a_proxy(tmp_path: Path) -> None:
    book = read(tmp_path)
    assert book.tier("paper/table", ("lstm", "news", "")) == "exact"
    assert book.tier("paper/table", ("bert-vat", "news", "")) == "proxy"
    assert book.tier("paper/table", ("mpnet-vat", "news", "")) == "proxy"
    assert book.tiers_of("paper/table", [("lstm", "films", ""), ("lstm", "news", "")]) == ["exact", "proxy"]
    with pytest.raises(InputError, match=r"expected a tier of 'songs' in \[tiers.paper\], got none"):
        book.tier("paper/table", ("lstm", "songs", ""))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 3", "version = 3\nmargins = 1", "unknown key 'margins'"),
        ('tier = "exact"', 'tier = "near"', "expected a tier of exact, proxy, ours, got 'near'"),
        ('["bert-*", "mpnet-*"]', '"bert-*"', "methods: expected a list of patterns, got 'bert-"),
        ("few = 0.01", "fewer = 0.01", "unknown key 'fewer'"),
        ("version = 3", "version =", "expected a TOML file"),
    ],
)
def test_mistakes_are_errors(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, TOML.replace(old, new, 1))


def test_a_plan_names_lists(tmp_path: Path) -> None:
    plan = '[[planned]]\nrun = "R1"\ntable = "paper/table"\nseeds = 20\nmethods = {}\ncorpora = ["news"]\n'
    book = read(tmp_path, TOML + plan.format('["a", "b"]'))
    assert book.planned("paper/table", ("a", "news", "")) == 20
    assert book.planned("paper/table", ("c", "news", "")) == 0
    assert book.planned("paper/other", ("a", "news", "")) == 0
    with pytest.raises(InputError, match=r"\[\[planned\]\] 1: methods: expected a list of names, got 'ab'"):
        read(tmp_path, TOML + plan.format('"ab"'))
