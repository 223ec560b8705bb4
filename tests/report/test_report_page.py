"""The page and the fragment as a browser would read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.records import Explanation, Prediction, SentenceScore, TokenScore
from regard.report.pages.explanations import fragment, page
from regard.report.text.characters import visible

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """Collects the tags, the attributes and the text inside the elements that contain the user's text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.all = ""
        self._open: list[str] = []
        self._inside: int | None = None
        self.feed(html)
        self.close()
        assert self._open == [], "an element was left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag in VOID:
            return
        self._open.append(tag)
        if self._inside is None and dict(attrs).get("class") in ("text", "regard-text"):
            self._inside = len(self._open)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if self._inside is not None and len(self._open) < self._inside:
            self._inside = None

    def handle_data(self, data: str) -> None:
        self.all += data
        if self._inside is not None:
            self.text += data


def whole(explanation: Explanation) -> str:
    return page([explanation], "A title")


FORMS = pytest.mark.parametrize("form", [whole, fragment])
Form = Callable[[Explanation], str]


@FORMS
@pytest.mark.parametrize("name", ["flat", "hierarchical", "hostile", "empty"])
def test_the_whole_text_can_be_read_back(form: Form, name: str, request: pytest.FixtureRequest) -> None:
    explanation = request.getfixturevalue(name)
    assert Reader(form(explanation)).text == visible(explanation.text)


@FORMS
@settings(suppress_health_check=[HealthCheck.differing_executors], deadline=None)
@given(text=st.text(st.characters(exclude_categories=()), max_size=30), cut=st.integers(0, 30), nested=st.booleans())
def test_any_text_can_be_read_back(form: Form, text: str, cut: int, nested: bool) -> None:
    tokens = (TokenScore(text[:cut], 0, cut, 1.0, known=False),)
    sentences = (SentenceScore(0, cut, 1.0),) if nested else ()
    html = form(Explanation(text, Prediction(text, {text: 1.0}), tokens, sentences, label=text))
    html.encode()
    assert Reader(html).text == visible(text)


@FORMS
def test_markup_in_texts_and_labels_stays_text(form: Form, hostile: Explanation) -> None:
    name = '"><img src=x onerror=alert(1)>'
    html = form(replace(hostile, prediction=Prediction(name, {name: 1.0}), label=name + "'", method=name))
    read = Reader(html)
    assert not {"script", "img"} & set(read.tags)
    assert not [key for key, _ in read.attributes if key.startswith("on")]
    assert name in read.all


def test_markup_in_the_title_stays_text(flat: Explanation) -> None:
    evil = "<script>'\"&"
    read = Reader(page([flat], evil))
    assert "script" not in read.tags
    assert read.all.count(evil) == 2


def test_the_page_loads_nothing_from_the_network(flat: Explanation, hierarchical: Explanation) -> None:
    html = page([flat, hierarchical], "A title")
    assert "://" not in html
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_the_exact_weight_is_in_the_tooltip_and_the_unknown_word_is_marked(hierarchical: Explanation) -> None:
    for form in (whole, fragment):
        assert ("title", "0.7") in Reader(form(hierarchical)).attributes
        assert ("title", "0.1, unknown word") in Reader(form(hierarchical)).attributes
    assert ("class", "w8 unknown") in Reader(whole(hierarchical)).attributes  # sqrt(0.1 / 0.7) of 20 steps
    assert "underline dotted" in fragment(hierarchical)


def test_the_heaviest_word_has_the_last_step_of_the_ramp(flat: Explanation) -> None:
    assert '<span class="w20" title="0.761905">slow</span>' in whole(flat)
    assert "background:rgba(213,80,0,0.6)" in fragment(flat)


def test_right_and_wrong_are_shown_as_words_and_linked(flat: Explanation, hierarchical: Explanation) -> None:
    read = Reader(page([flat, hierarchical, replace(flat, label=None)], "A title"))
    assert "1 of 2 correct. Wrong: 2" in read.all
    assert ("href", "#text-2") in read.attributes
    assert "wrong, actual: negative" in read.all


def test_a_regression_shows_its_error(price: Explanation) -> None:
    for form in (whole, fragment):
        assert "actual: 4, off by −0.5" in Reader(form(price)).all


def test_parts_are_named(hierarchical: Explanation) -> None:
    for form in (whole, fragment):
        read = Reader(form(replace(hierarchical, parts=(SentenceScore(0, 23, 1.0),))))
        assert "part 1 of 1, weight 1.000" in read.all
        assert read.text == hierarchical.text


def test_the_direction_is_that_of_the_text(flat: Explanation) -> None:
    assert ("dir", "auto") in Reader(whole(flat)).attributes
    assert ("dir", "auto") in Reader(fragment(flat)).attributes


def test_the_most_likely_and_the_true_class_are_shown_of_many(flat: Explanation) -> None:
    chances = {f"class{place}.": (50 - place) / 1275 for place in range(50)}
    text = Reader(whole(replace(flat, prediction=Prediction("class0.", chances), label="class40."))).all
    assert "class40." in text
    assert "class6." not in text
    assert "and 43 less likely" in text


def test_a_page_without_texts() -> None:
    assert "0 texts" in Reader(page([], "Nothing")).all
