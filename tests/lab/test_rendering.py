"""Rendered tables: means and printed numbers, marks, comparisons, sources; no text breaks the format."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from toys import TOML, UNPRINTED

from regard_lab.measures import Measure, shown, signed
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.contents import make_contents
from regard_lab.rendering.render import rendered
from regard_lab.results import match
from regard_lab.tables.table import Table

Make = Callable[[Table, int], list[dict[str, Any]]]


def test_means_intervals_the_paper_and_the_best(toy: Table, rows_of: Make) -> None:
    """films/plain: 50 and 51 %, mean 50.5, half 12.706 · 0.7071 / √2 = 6.35. films/affine has the highest, 52.5."""
    shown = rendered(toy, match(toy, rows_of(toy, 2)))["table.md"].splitlines()
    assert "# A toy (Table 9)" in shown
    plain = next(line for line in shown if line.startswith("| Plain | "))
    assert plain.startswith("| Plain | 50.50 ± 6.35 | 80.25 | 39.00 ± 12.71 | 79.50 | 53.50 ± 6.35 |")
    affine = next(line for line in shown if line.startswith("| Affine | "))
    assert affine.startswith("| Affine | **52.50 ± 6.35** |  | **41.00 ± 12.71** |  |  |")


def test_failures_and_fewer_seeds_are_marked(toy: Table, rows_of: Make) -> None:
    rows = rows_of(toy, 3)
    rows = [row for row in rows if not (row["method"] == "plain" and row["seed"] == 2)]
    broken = next(row for row in rows if row["method"] == "affine")
    del broken["values"]
    broken["error"] = "it broke"
    shown = rendered(toy, match(toy, rows))["table.md"]
    assert "| Plain | 50.50 ± 6.35 (2 seeds) |" in shown
    assert "(1 of 3 failed)" in shown
    assert "- Runs: 13, 1 of them failed" in shown
    for row in rows:
        row["error"] = "it broke"
    shown = rendered(toy, match(toy, rows))["table.md"]
    assert "Every run failed; the paper's numbers are next to them." in shown
    assert "| Plain | (2 of 2 failed) | 80.25 |  | 79.50 | (2 of 2 failed) |" in shown


def test_comparisons_are_paired_and_corrected(toy: Table, rows_of: Make) -> None:
    rows = rows_of(toy, 3)
    rows[0]["values"]["accuracy"] -= 0.003
    rows[1]["values"]["accuracy"] += 0.003
    contents = make_contents(toy, match(toy, rows), None)
    assert len(contents.comparisons) == 4  # two corpora, two measures
    one = contents.comparisons[0]
    assert (one.method, one.against, one.corpus, one.measure) == ("plain", "shallow", "films", "accuracy")
    assert one.test.difference.mean == pytest.approx(-0.01)
    assert one.words[5] == "−1.00 ± 0.75"  # 4.303 · 0.3 / √3
    assert one.words[9] == "+10.25"  # 80.25 − 70
    assert one.holm == one.test.p == pytest.approx(0.02871, abs=1e-5)  # t² = 3 · (1 / 0.3)² = 33.3; 1 − √(33.3 / 35.3)
    assert contents.comparisons[1].words[6:8] == (
        "–",
        "–",
    )  # the same difference three times: no test, and none counted
    page = rendered(toy, match(toy, rows))["table.md"]
    assert "with Holm's correction over the one comparison of this table" in page
    assert "This correction decides no verdict on a claim" in page


def test_figures_show_existing_results(toy: Table, rows_of: Make) -> None:
    files = rendered(toy, match(toy, rows_of(toy, 2)))
    assert set(files) == {"table-means.svg", "table-loss.svg", "table.tex", "table.html", "table.md"}
    for name in ("table-means.svg", "table-loss.svg"):
        root = ElementTree.fromstring(files[name])
        assert root.find("{http://www.w3.org/2000/svg}title") is not None
    assert "![A toy: loss](table-loss.svg)" in files["table.md"]
    without = [{**row, "history": {}} for row in rows_of(toy, 2)]
    assert "table-loss.svg" not in rendered(toy, match(toy, without))


def test_a_setting_along_an_axis(tmp_path: Path, rows_of: Make) -> None:
    text = UNPRINTED + "".join(f"[settings.l{k}]\nlr = 0.{k}\n" for k in (1, 2, 4))
    text += '[[figure]]\nname = "rates"\nkind = "settings"\noption = "lr"\n'
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    table = read_table(path, "toy/table")
    drawn = rendered(table, match(table, rows_of(table, 2)))["table-rates.svg"]
    assert drawn.count("<polyline") == 5  # three methods on films, two on meals
    assert drawn.count(">Films<") == 1


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [
            value or ""
            for name, value in attrs
            if name in ("src", "href") and value and value[0] != "#" and value != "data:,"
        ]


def test_names_are_escaped_in_every_format(toy: Table, rows_of: Make) -> None:
    nasty = "<script>alert(1)</script> 100% | a_b & #1 \\end"
    method = replace(toy.methods["plain"], title=nasty)
    table = replace(toy, methods={**toy.methods, "plain": method}, title=nasty, note=nasty)
    files = rendered(table, match(table, rows_of(table, 2)))
    page = Tags()
    page.feed(files["table.html"])
    assert "script" not in page.tags
    assert not page.outside, "the page needs nothing but itself"
    assert len(files["table.html"]) < 60_000
    line = next(line for line in files["table.md"].splitlines() if "script" in line and line.startswith("|"))
    assert len(re.findall(r"(?<!\\)\|", line)) == 1 + 1 + 6  # the edge, the name, four of films and two of meals
    assert r"100\% | a\_b \& \#1 \textbackslash{}end" in files["table.tex"]
    for name in ("table-means.svg", "table-loss.svg"):
        ElementTree.fromstring(files[name])


def test_latex_rows_have_equally_many_cells(toy: Table, rows_of: Make) -> None:
    text = rendered(toy, match(toy, rows_of(toy, 2)))["table.tex"]
    rows = [line for line in text.split(r"\midrule")[1].split(r"\bottomrule")[0].splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {6}
    assert r"\begin{tabular}{lrrrrrr}" in text
    assert r"Shallow \& quick" in text


def test_the_sources_list_versions_data_and_time(toy: Table, rows_of: Make) -> None:
    rows = rows_of(toy, 2)
    rows[0]["data"] = {"films/train.jsonl": "other"}
    page = rendered(toy, match(toy, rows))["table.md"]
    assert "- Command: `regard reproduce toy/table`" in page
    assert "- Seeds: 0–1" in page
    assert "- Time: 20 s in total" in page
    assert "`films/train.jsonl abc and other (differs between runs)`" in page


def test_a_table_without_rows_is_a_table_of_the_papers_numbers(toy: Table) -> None:
    shown = rendered(toy, match(toy, []))["table.md"]
    assert "No results yet" in shown
    assert "| Plain |  | 80.25 |  | 79.50 |" in shown


def test_data_that_differ_from_the_published_are_reported(toy: Table, rows_of: Make) -> None:
    rows, published = rows_of(toy, 1), rows_of(toy, 1)
    for row in rows:
        row["data"] = {"films/train.jsonl": "other", "films/dev.jsonl": "new"}
    page = rendered(toy, match(toy, rows), match(toy, published))["table.md"]
    assert "These files differ from those of the published results: films/train.jsonl." in page
    assert "not those of" not in rendered(toy, match(toy, rows))["table.md"]


def test_figures_of_a_kind_use_the_title_in_the_svg(toy: Table) -> None:
    drawn = {"own": "<svg><title>A &amp; B</title></svg>"}
    table = replace(toy, implementation=replace(toy.implementation, draw=lambda table, rows: drawn))
    files = rendered(table, match(table, []))
    assert files["table-own.svg"] == drawn["own"]
    assert "![A & B](table-own.svg)" in files["table.md"]


def test_equal_best_means_are_all_marked(toy: Table, rows_of: Make) -> None:
    rows = [{**row, "values": {"accuracy": 0.5, "macro_f": 0.4}} for row in rows_of(toy, 2)]
    shown = rendered(toy, match(toy, rows))["table.md"]
    assert shown.count("**50.00 ± 0.00**") == 5


def test_infinite_values_are_left_out_and_reported(toy: Table, rows_of: Make) -> None:
    rows = rows_of(toy, 3)
    rows[0]["values"]["accuracy"] = None  # as NaN is kept
    rows[1]["values"]["accuracy"] = 1e300
    rows[2]["values"]["accuracy"] = 10**400
    rows[3]["values"]["macro_f"] = float("inf")
    shown = rendered(toy, match(toy, rows))["table.md"]
    assert "| Plain | (3 of 3 without a number) | 80.25 | 38.00 ± 4.97 | 79.50 |" in shown
    assert re.search(r"\| Shallow & quick \| [^|(]+ \| 70.00 \| [^|(]+ \(1 of 3 without a number\) \|", shown)


def test_a_path_is_drawn_up_to_its_first_missing_number(toy: Table, rows_of: Make) -> None:
    rows = rows_of(toy, 2)
    for row in rows:
        row["history"] = {"loss": [1.0, 0.5, None, 0.2]}
    rows[0]["history"] = {"loss": [None]}
    whole = [{**row, "history": {"loss": [1.0, 0.5]}} for row in rows]
    drawn, expected = (rendered(toy, match(toy, several))["table-loss.svg"] for several in (rows, whole))
    assert drawn == expected


def test_figures_with_the_same_title_both_appear_on_the_page(toy: Table, rows_of: Make) -> None:
    table = replace(toy, figures=tuple(replace(figure, title="Twice") for figure in toy.figures))
    assert rendered(table, match(table, rows_of(table, 2)))["table.html"].count("<svg") == 2


def test_brackets_and_entities_are_escaped(toy: Table, rows_of: Make) -> None:
    methods = {name: replace(method, title="[x](y) &lt; & *") for name, method in toy.methods.items()}
    table = replace(toy, methods=methods)
    files = rendered(table, match(table, rows_of(table, 2)))
    assert r"| \[x\](y) \&lt; & \* | 50.50" in files["table.md"]
    assert not re.search(r"\\\\\s*[\[*]", files["table.tex"]), "a bracket after a row's end would be its argument"


def titles(files: dict[str, str]) -> list[str]:
    """What the rows of the table are called, which are the same in every format."""
    body = files["table.md"].split("|---", 1)[1].split("\n\n")[0].splitlines()[1:]
    result = [line.split(" | ")[0].removeprefix("| ") for line in body]
    page = files["table.html"].split("<tbody>")[1].split("</tbody>")[0]
    assert [html.unescape(name) for name in re.findall(r'<th scope="row">(.*?)</th>', page)] == result
    tex = files["table.tex"].split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert [line.split(" & ")[0].replace(r"\&", "&").replace(r"$\cdot$", "·") for line in tex] == result
    return result


def test_a_method_with_other_measures_only_has_no_row(toy: Table, rows_of: Make) -> None:
    rows = [{**row, "values": {"n": 20}} if row["method"] == "affine" else row for row in rows_of(toy, 2)]
    assert titles(rendered(toy, match(toy, rows))) == ["Plain", "Shallow & quick"]
    others = [row for row in rows if row["method"] != "affine"]
    assert titles(rendered(toy, match(toy, others), match(toy, rows))) == ["Plain", "Shallow & quick"]


def test_a_method_that_is_still_to_be_run_keeps_its_row(toy: Table, rows_of: Make) -> None:
    rows = [row for row in rows_of(toy, 2) if row["method"] != "affine"]
    files = rendered(toy, match(toy, rows))
    assert titles(files) == ["Plain", "Shallow & quick", "Affine"]
    assert "| Affine |  |  |  |  |  |  |" in files["table.md"]


def test_failed_methods_and_printed_methods_keep_their_rows(toy: Table, rows_of: Make) -> None:
    rows = [{**row, "values": {"n": 20}} if row["method"] == "plain" else row for row in rows_of(toy, 2)]
    rows = [{**row, "error": "it broke"} if row["method"] == "affine" else row for row in rows]
    files = rendered(toy, match(toy, rows))
    assert titles(files) == ["Plain", "Shallow & quick", "Affine"]
    assert "| Plain |  | 80.25 |  | 79.50 |  |  |" in files["table.md"]
    assert "| Affine | (2 of 2 failed) |" in files["table.md"]


def test_the_number_of_seeds_is_shown_once_per_corpus(toy: Table, rows_of: Make) -> None:
    rows = [row for row in rows_of(toy, 3) if row["method"] != "plain" or row["seed"] < 2]
    for row in rows:
        if row["method"] == "plain":
            del row["values"]["accuracy"]
    files = rendered(toy, match(toy, rows))
    assert (
        "| Plain |  | 80.25 | 39.00 ± 12.71 (2 seeds) | 79.50 |  | **42.00 ± 12.71** (2 seeds) |" in files["table.md"]
    )
    assert files["table.tex"].count(r"{\scriptsize(2 seeds)}") == files["table.html"].count(">2 seeds<") == 2
    for row in rows:
        if row["method"] == "plain" and row["corpus"] == "films":
            row["values"] = {}
    shown = rendered(toy, match(toy, rows))["table.md"]
    assert "| Plain |  | 80.25 |  | 79.50 |  | **42.00 ± 12.71** (2 seeds) |" in shown


def test_a_count_of_seeds_does_not_hide_numbers_that_are_missing(toy: Table, rows_of: Make) -> None:
    rows = [row for row in rows_of(toy, 3) if row["method"] != "plain" or row["seed"] < 2]
    first = next(row for row in rows if row["method"] == "plain")
    first["values"]["macro_f"] = None
    shown = rendered(toy, match(toy, rows))["table.md"]
    assert "| Plain | 50.50 ± 6.35 (2 seeds) | 80.25 | 38.00 (1 of 2 without a number) |" in shown


def test_pairs_of_method_and_setting_without_runs_have_no_row(tmp_path: Path, rows_of: Make) -> None:
    path = tmp_path / "table.toml"
    printed = TOML.replace("plain = [80.25, 79.5]\nshallow = [70.0, 69.0]", '"plain/l2" = [80.25]')
    path.write_text(printed + "".join(f"[settings.l{k}]\nlr = 0.{k}\n" for k in (1, 2)), encoding="utf-8")
    table = read_table(path, "toy/table")
    every = ["Plain · l1", "Plain · l2", "Shallow & quick · l1", "Shallow & quick · l2", "Affine · l1", "Affine · l2"]
    assert titles(rendered(table, match(table, []))) == every
    rows = rows_of(table, 1)
    assert titles(rendered(table, match(table, rows))) == every
    few = [row for row in rows if (row["method"], row["corpus"], row["setting"]) == ("shallow", "meals", "l1")]
    assert titles(rendered(table, match(table, few))) == [
        "Plain · l2",
        "Shallow & quick · l1",
    ]  # the paper has the first


@pytest.mark.parametrize(
    ("value", "written"),
    [(-0.0004, "0.000"), (-0.0, "0.000"), (-0.0006, "−0.001"), (0.0004, "0.000"), (-12.5, "−12.500")],
)
def test_values_that_round_to_zero_have_no_minus(value: float, written: str) -> None:
    assert shown(value, Measure("R²")) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0004, "0.000"), (0.0, "0.000"), (-0.0004, "0.000"), (0.0006, "+0.001"), (-0.0006, "−0.001"), (12.5, "+12.500")],
)
def test_values_that_round_to_zero_have_no_plus(value: float, written: str) -> None:
    assert signed(value, Measure("R²")) == written
