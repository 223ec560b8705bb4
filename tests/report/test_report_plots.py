"""Plots: round ticks, everything inside its panel, labels that don't cover each other."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest

from regard.report.plots.axis import Axis, log_ticks, number, span, spread_labels, ticks
from regard.report.plots.dots import Dot, DotPanel, TypePanel, dots, dots_by_type
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.marks import Mark
from regard.report.plots.scatter import Cross, crosses
from regard.report.plots.svg import label_width

NAME = "{http://www.w3.org/2000/svg}"


def curve(name: str, *values: float) -> Curve:
    x = tuple(float(k) for k in range(1, len(values) + 1))
    return Curve(name, x, values, tuple(value - 0.5 for value in values), tuple(value + 0.5 for value in values))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (61.2, 64.9, [62, 63, 64]),
        (0.981, 1.052, [1, 1.02, 1.04]),
        (-3.0, 12.0, [-2.5, 0, 2.5, 5, 7.5, 10]),
    ],
)
def test_ticks_are_round_and_within_the_range(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_ticks_of_a_logarithm() -> None:
    assert log_ticks(0.1, 5, 7) == pytest.approx([0.1, 0.2, 0.5, 1, 2, 5])
    assert log_ticks(1, 1e6, 7) == pytest.approx([1, 10, 100, 1e3, 1e4, 1e5, 1e6])
    assert Axis(1, 100, 0, 10, log=True)(10) == pytest.approx(5)


def test_a_range_is_never_empty() -> None:
    for values in ([3.0], [0.0, 0.0], [-1.0]):
        low, high = span(values)
        assert low < min(values) <= max(values) < high


def test_labels_are_moved_apart_in_their_order() -> None:
    moved = spread_labels([50, 51, 52, 10], 14, 0, 100)
    assert moved[3] == 10
    assert [moved[0], moved[1], moved[2]] == [50, 64, 78]
    low = spread_labels([95, 96, 97], 14, 0, 100)
    assert low == [72, 86, 100]


def test_lines_stay_inside_and_have_their_names() -> None:
    svg = lines("A & B", "epoch", "p", [Panel("One", (curve("first", 1, 2, 3), curve("<b>", 3, 1, 2)))], band=True)
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    words = [element.text for element in root.iter(f"{NAME}text")]
    assert {"A & B", "One", "first", "<b>", "epoch", "p"} <= set(words)
    for shape in (*root.iter(f"{NAME}polyline"), *root.iter(f"{NAME}polygon")):
        for point in shape.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height
    assert len(list(root.iter(f"{NAME}polygon"))) == 2
    assert next(iter(root.iter(f"{NAME}rect"))).attrib["fill"] == "#ffffff"


def test_a_curve_has_the_same_colour_in_every_panel() -> None:
    shown = [Panel("One", (curve("first", 1, 2), curve("second", 2, 3))), Panel("Two", (curve("second", 1, 2),))]
    root = ElementTree.fromstring(lines("", "epoch", "p", shown, band=True))
    colours = [element.attrib["fill"] for element in root.iter(f"{NAME}text") if element.text == "second"]
    assert len(colours) == 2
    assert len(set(colours)) == 1
    many = [Panel("", (curve(str(n), 1, 2),)) for n in range(9)]
    assert lines("", "epoch", "p", many, band=True).count('stroke="#0072b2"') == 9, "more names than colours"


def test_one_epoch_is_a_dot() -> None:
    svg = lines("t", "epoch", "p", [Panel("", (curve("only", 1.0),))], band=True)
    assert svg.count("<circle") == 1


def test_dots_have_intervals_and_hollow_marks() -> None:
    panel = DotPanel("Films", (Dot("plain", 60.0, 59.0, 61.0, 70.0), Dot("alone", 65.0, 65.0, 65.0)))
    svg = dots("t", "Accuracy", [panel], "the paper's number")
    root = ElementTree.fromstring(svg)
    circles = [element.attrib for element in root.iter(f"{NAME}circle")]
    assert [circle["fill"] for circle in circles] == ["#0072b2", "none", "#0072b2", "none"]  # the last is the legend's
    assert float(circles[1]["cx"]) > float(circles[2]["cx"]) > float(circles[0]["cx"])
    assert "the paper&#x27;s number" in svg


def test_no_space_is_left_below_a_short_last_panel() -> None:
    def height(*counts: int) -> float:
        shown = [DotPanel("", tuple(Dot(f"{n}", 1.0, 0.5, 2.0) for n in range(count))) for count in counts]
        return float(ElementTree.fromstring(dots("", "y", shown, "")).attrib["height"])

    assert height(9) - height(2) == height(9, 9, 9) - height(9, 9, 2) > 0
    assert height(9, 2) == height(9, 9) == height(9)
    assert height(2, 2, 9) == height(9, 9, 9)


@pytest.mark.parametrize("name", ["HAN-APLN", "BiLSTM-APLN", "WWWWWW", "attention", "il", "Ñandú-ÄÖÜ", "注意力"])
def test_names_in_upper_case_are_not_cut_off(name: str) -> None:
    shapes = {
        "dots": dots("", "y", [DotPanel("", (Dot(name, 1, 0.5, 2),))], ""),
        "types": dots_by_type("", [TypePanel("", "x", ((name, {"a": 1.0}),))], {"a": Mark("#000000")}),
    }
    for kind, svg in shapes.items():
        label = next(x for x in ElementTree.fromstring(svg).iter(f"{NAME}text") if x.text == name)
        assert float(label.attrib["x"]) - label_width(name) >= 0, kind
    svg = lines("", "epoch", "y", [Panel("", (curve(name, 1, 2),))], band=True)
    root = ElementTree.fromstring(svg)
    label = next(x for x in root.iter(f"{NAME}text") if x.text == name)
    assert float(label.attrib["x"]) + label_width(name) <= float(root.attrib["width"])


def test_negative_numbers_have_a_minus_sign() -> None:
    assert number(-0.5) == "−0.5"
    assert number(0.30000000000000004) == "0.3"


def test_epochs_are_whole() -> None:
    assert ticks(0.5, 4.5, whole=True) == [1, 2, 3, 4]
    assert ticks(0.2, 15.8, 8, whole=True) == [2, 4, 6, 8, 10, 12, 14]


def test_names_of_points_close_together_do_not_cover_each_other() -> None:
    shown = [Cross(f"λ = {place}", (0.05, 0.04, 0.06), (0.05, 0.03, 0.08)) for place in range(4)]
    svg = crosses("What it costs", "divergence", "distance", shown)
    lines = [float(y) for y in re.findall(r' y="([0-9.]+)"[^>]*>λ = ', svg)]
    assert len(lines) == 4
    assert all(abs(one - other) >= 13 for one, other in combinations(lines, 2))
