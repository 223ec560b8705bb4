"""Marks: types differ without colours, and colours are visible on both backgrounds."""

from __future__ import annotations

import pytest

from regard.report.colours import DARK, LIGHT, ON_DARK, RGB, contrast
from regard.report.plots.marks import HUES, UNTYPED, pair_marks, type_marks


def rgb(colour: str) -> RGB:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:], 16)


@pytest.mark.parametrize(("light", "dark"), ON_DARK.items())
def test_every_colour_can_be_seen_on_light_and_on_dark_paper(light: str, dark: str) -> None:
    assert contrast(rgb(light), LIGHT.paper) >= 3  # what WCAG 2 asks of graphics
    assert contrast(rgb(dark), DARK.paper) >= 4.5


def test_thirty_five_classes_differ_in_colour_or_shape() -> None:
    marks = type_marks([*(f"class {k}" for k in range(35)), "neutral"])
    assert len({(mark.colour, mark.shape) for mark in marks.values()}) == 36


def test_two_classes_differ_in_shape_and_dashes_too() -> None:
    first, second, neutral = type_marks(["bad", "good", "neutral"]).values()
    assert len({first.shape, second.shape, neutral.shape}) == 3
    assert len({first.dash, second.dash, neutral.dash}) == 3
    assert neutral.colour not in HUES
    assert UNTYPED.colour != neutral.colour


def test_a_pair_of_one_type_is_drawn_as_that_type() -> None:
    types = type_marks(["bad", "good", "neutral"])
    same, mixed = pair_marks([("good", "good"), ("bad", "good")], types)
    assert same == types["good"]
    assert mixed.colour not in {mark.colour for mark in types.values()}


def test_shapes_are_closed_paths_around_their_place() -> None:
    up = type_marks(["a", "b", "neutral"])["b"]
    assert up.path(10, 20, 2) == "M7.9 21.4L12.1 21.4L10.0 17.7z"
