"""Figures of an analysis: each is valid SVG with a title and named axes, and shows the numbers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from typing import Any

import pytest
from analysis_case import analysis, figures

from regard.report.plots.axis import Axis, fitting_ticks
from regard.report.plots.svg import label_width

NAME = "{http://www.w3.org/2000/svg}"
STILL = {"scatter", "polarity", "attention", "weights", "dot_products", "terms"}
ALONG = {f"along_training_{name}" for name in ("polarity", "attention", "dot_products", "vtw", "terms")}
TWO, THREE = analysis(moments=6), analysis(("guns", "med", "motorcycles"))


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{NAME}text")]


def test_a_recorded_analysis_has_every_figure() -> None:
    assert set(figures(TWO)) == STILL | ALONG


def test_without_a_recording_there_is_no_player() -> None:
    assert set(figures(THREE)) == STILL


@pytest.mark.parametrize("name", sorted(STILL | ALONG))
def test_figures_are_self_contained(name: str) -> None:
    svg = figures(TWO)[name]
    root = ElementTree.fromstring(svg)
    title = root.find(f"{NAME}title")
    assert title is not None
    assert title.text
    assert title.text in words(svg)
    assert "nan" not in svg
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    for element in root.iter(f"{NAME}text"):
        assert 0 <= float(element.attrib["x"]) <= width
        assert 0 <= float(element.attrib["y"]) <= height
    for points in re.findall(r'points="([^"]+)"', svg):
        for point in points.split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_axes_are_named() -> None:
    drawn = figures(TWO)
    assert {"polarity score: ← negative, positive →", "attention score"} <= set(words(drawn["scatter"]))
    assert {"epoch", "polarity score"} <= set(words(drawn["along_training_polarity"]))
    assert "mean weight of a token" in words(drawn["weights"])
    assert "polarity score: lead of its strongest class over the others" in words(figures(THREE)["scatter"])


def test_the_scatter_has_a_mark_for_every_token_and_counts_them() -> None:
    svg = figures(TWO)["scatter"]
    assert {"negative (60)", "positive (60)", "neutral (150)", "no type (20)"} <= set(words(svg))
    marks = sorted(path.count("M") for path in re.findall(r' d="([^"]+)" fill="#', svg))
    assert marks == [1, 1, 1, 1, 20, 60, 60, 150]  # the legend, then the clouds


def test_a_type_without_tokens_has_no_box_and_no_curve() -> None:
    facts = analysis(neutral=0, moments=4)
    drawn = figures(facts)
    assert set(drawn) == STILL | ALONG
    for name in ("polarity", "weights", "along_training_attention"):
        assert "neutral" not in words(drawn[name])
        assert "positive" in words(drawn[name])


def test_missing_facts_give_no_figure() -> None:
    facts: dict[str, Any] = analysis(moments=3) | {"flow": None, "dot_products": [], "tokens": [], "words": {}}
    facts["types"] = [kind | {"weight": None} for kind in facts["types"]]
    facts["recording"] |= {"vtw": [], "norm_v": [], "norms_w": [], "terms": {}, "dot_products": []}
    assert set(figures(facts)) == {"polarity", "attention", "along_training_polarity", "along_training_attention"}


def test_one_moment_is_enough() -> None:
    assert set(figures(analysis(moments=1))) == STILL | ALONG


def test_only_pairs_within_a_type_are_drawn_if_there_are_many() -> None:
    names = tuple(f"topic {place}" for place in range(12))
    drawn = words(figures(analysis(names, tied=10, moments=2))["dot_products"])
    assert "topic 3 · topic 3" in drawn
    assert "topic 3 · topic 4" not in drawn


def test_tick_labels_do_not_overlap() -> None:
    axis = Axis(-0.00068, 0.00061, 0, 300)
    places = [axis(tick) for tick in fitting_ticks(axis)]
    assert len(places) >= 2
    assert min(after - before for before, after in pairwise(places)) > 6.3 * len("−0.0005")


def test_names_are_escaped() -> None:
    facts = analysis(("<b>", "a & b"), moments=2)
    for svg in figures(facts).values():
        ElementTree.fromstring(svg)
        assert "<b>" not in svg


def test_long_tails_of_weights_are_drawn_on_a_logarithm() -> None:
    facts = analysis()
    facts["types"][0]["weight"] |= {"max": 100.0}
    assert "mean weight of a token, logarithmic" in words(figures(facts)["weights"])


def test_long_names_of_classes_and_of_the_axis_have_room() -> None:
    classes = ("Mammoth Womanhood Commitment", "exceptionally pleasant guests")
    svg = figures(analysis(classes))["polarity"]
    width = float(ElementTree.fromstring(svg).attrib["width"])
    reach = {"end": (1.0, 0.0), "middle": (0.5, 0.5), "start": (0.0, 1.0)}
    for element in ElementTree.fromstring(svg).iter(f"{NAME}text"):
        words, x = element.text or "", float(element.attrib["x"])
        before, after = (part * label_width(words) for part in reach[element.attrib["text-anchor"]])
        assert x - before >= 0, words
        assert x + after <= width, words


def test_a_very_long_word_is_shortened_next_to_its_mark() -> None:
    facts = analysis()
    word = "donaudampfschifffahrtsgesellschaftskapitaen"
    facts["tokens"][0]["token"] = word
    for listed in facts["words"].values():
        listed[0]["token"] = word
    assert word not in figures(facts)["scatter"]
    assert word[:29] + "…" in figures(facts)["scatter"]
