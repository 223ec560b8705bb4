"""Heat maps of plain words and weights."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import InputError
from regard.report.heatmap import SvgHeatmap, heatmap


def test_heavier_words_are_darker_and_the_sign_is_seen() -> None:
    drawn = heatmap(["a", "good", "film"], [0.0, 0.9, -0.1], title="mine")
    assert "rgba(213,80,0,0.6)" in drawn
    assert "rgba(213,80,0,0.0)" in drawn
    assert 'title="-0.1"' in drawn
    assert "rgba(0,114,178," in drawn
    assert "underline" in drawn
    assert "<strong>mine</strong>" in drawn


def test_an_svg_contains_every_word() -> None:
    drawn = heatmap(["a", "good"], np.array([0.25, 0.75]), kind="svg")
    assert drawn.startswith("<svg ")
    assert ">good</text>" in drawn


def test_notebooks_show_it_drawn_and_it_is_still_a_string() -> None:
    html, svg = heatmap(["a"], [1.0]), heatmap(["a"], [1.0], kind="svg")
    assert isinstance(html, str)
    assert isinstance(svg, SvgHeatmap)
    assert json.loads(json.dumps(html)) == html == html._repr_html_()
    assert type(html._repr_html_()) is str
    assert svg == svg._repr_html_() == svg._repr_svg_()
    assert not hasattr(html, "_repr_svg_")


def test_weights_may_be_a_tensor_with_its_gradient() -> None:
    weights = torch.tensor([0.25, 0.75], requires_grad=True)
    assert heatmap(["a", "good"], weights) == heatmap(["a", "good"], [0.25, 0.75]) == heatmap(["a", "good"], [*weights])
    with pytest.raises(InputError, match="weights: expected finite numbers, got tensor"):
        heatmap(["a"], torch.ones(1, 2))


def test_words_are_escaped_and_joined_as_asked() -> None:
    assert "<b>" not in heatmap(["<b>", "&"], [1, 2], title="<i>")
    assert "</span><span" in heatmap(["很", "好"], [1, 2], joined="")


@pytest.mark.parametrize("kind", ["html", "svg"])
def test_empty_texts_and_zero_weights_are_drawn(kind: Any) -> None:
    assert heatmap([], [], kind)
    assert heatmap(["a"], [0.0], kind)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((["a", "b"], [1.0]), "2 tokens and 1 weights"),
        ((["a", "b"], [1.0, math.nan]), "weights: expected finite numbers, got nan as number 2"),
        ((["a"], [math.inf]), "weights: expected finite numbers, got inf as number 1"),
        ((["a"], ["much"]), "weights: expected finite numbers, got 'much' as number 1"),
        (("ab", [1.0, 2.0]), "tokens: expected a list of words, got a single string"),
        (([3], [1.0]), "tokens: expected str, got int as number 1"),
        ((["a"], [1.0], "png"), "kind: expected one of html, svg, got 'png'"),
        ((["a"], [-1.0], "svg"), "weights: expected 0 or more for an SVG, got -1 as number 1"),
    ],
)
def test_bad_input_is_rejected_by_name(given: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        heatmap(*given)
