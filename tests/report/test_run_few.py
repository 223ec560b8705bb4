"""`regard report` and the audit's page with little to show: few texts, one class, no labels, every kind of run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import TINY, Regard, write_csv
from regard.cli import main
from regard.data.reviews import reviews
from regard.facts.history import history as epochs
from regard.report.pages.run_figures import history_panels
from regard.report.plots.lines import training_lines
from tiny_bert import save_bert

LIKED = {"1": "bad", "2": "bad", "4": "good", "5": "good"}
SMALL = ("--hidden", 6, "--query", 6, "--epochs", 1, "--device", "cpu")  # vectors are as long as the pretrained ones
TEXTS = [one.text for one in reviews(30)]
KINDS = ("two classes", "five classes", "levels", "bilstm", "no attention", "numbers", "bert")
AUDITED = ("two classes", "five classes", "levels", "bilstm", "bert")
DATA = ("one text", "two texts", "one word", "unknown words", "one class", "no labels", "some labels", "one text often")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each kind, trained on first use."""
    place = tmp_path_factory.mktemp("few")
    write_csv(place / "two.csv", [(one.text, LIKED[str(one.label)]) for one in reviews(90) if str(one.label) in LIKED])
    write_csv(place / "five.csv", [(one.text, one.label) for one in reviews(60)])
    return place


def trained(runs: Path, kind: str) -> Path:
    folder = runs / kind.replace(" ", "-")
    if folder.exists():
        return folder
    if kind == "bert":
        pytest.importorskip("transformers", reason="the extra regard[bert] is not installed")
        save_bert(runs / "tiny")
    options: dict[str, tuple[object, ...]] = {
        "two classes": ("two.csv", "--epochs", 2),
        "five classes": ("five.csv", "--epochs", 2, "--task", "multiclass"),
        "levels": ("five.csv", *TINY, "--levels", 2, "--pooling", "apln", "--task", "multiclass"),
        "bilstm": ("two.csv", *TINY, "--encoder", "bilstm"),
        "no attention": ("two.csv", *TINY, "--encoder", "cnn", "--pooling", "max"),
        "numbers": ("five.csv", *TINY, "--task", "regression"),
        "bert": ("two.csv", *SMALL, "--encoder", "bert", "--pretrained", runs / "tiny"),
    }
    name, *given = options[kind]
    assert main(["train", str(runs / str(name)), *map(str, given), "--out", str(folder)]) == 0
    return folder


def texts(place: Path, kind: str, data: str) -> Path:
    one, other = ("1", "5") if kind in ("five classes", "levels", "numbers") else ("bad", "good")
    rows: dict[str, list[tuple[str, ...]]] = {
        "one text": [(TEXTS[0], one)],
        "two texts": [(TEXTS[0], one), (TEXTS[1], other)],
        "one word": [("room", one)],
        "unknown words": [("zzz qqq", one)],
        "one class": [(text, one) for text in TEXTS],
        "no labels": [(text,) for text in TEXTS[:4]],
        "some labels": [(text, one if place % 2 else "") for place, text in enumerate(TEXTS[:8])],
        "one text often": [("the room was fine", (one, other)[place % 2]) for place in range(24)],
    }
    return write_csv(place / "texts.csv", rows[data], ("text", "label")[: len(rows[data][0])])


def check_page(path: Path) -> str:
    """Its links lead somewhere, and no number is missing in it."""
    page = path.read_text(encoding="utf-8")
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r' id="([^"]+)"', page))
    assert not re.search(r">\s*(nan|None|inf)\s*<", page)
    assert ('id="scatter"' in page) == ('id="page-data"' in page), (
        "the scatter's script finds its canvas and its numbers"
    )
    return page


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_contains_what_is_available(kind: str, data: str, runs: Path, regard: Regard, tmp_path: Path) -> None:
    places = ("--out", tmp_path / "page.html", "--figures", tmp_path / "figures")
    result = regard("report", trained(runs, kind), "--data", texts(tmp_path, kind, data), *places)
    assert result.code == 0, result.err
    page = check_page(tmp_path / "page.html")
    assert '<h2 id="texts">' in page
    if kind == "bert" and '<h2 id="words">' in page:
        assert "Polarity and attention of word pieces" in page


def test_without_a_word_to_draw_there_is_a_note(runs: Path, regard: Regard, tmp_path: Path) -> None:
    given = texts(tmp_path, "two classes", "one word")
    result = regard("report", trained(runs, "two classes"), "--data", given, "--out", tmp_path / "page.html")
    assert result.code == 0, result.err
    page = check_page(tmp_path / "page.html")
    assert "No word is frequent enough in these texts to be drawn." in page
    assert 'id="scatter"' not in page


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kind", AUDITED)
def test_an_audit_page_contains_what_is_available(
    kind: str, data: str, runs: Path, regard: Regard, tmp_path: Path
) -> None:
    given = texts(tmp_path, kind, data)
    result = regard("audit", trained(runs, kind), "--data", given, "--out", tmp_path / "audit")
    assert result.code == 0, result.err
    page = check_page(tmp_path / "audit" / "audit.html")
    assert "The verdict" in page
    assert "##" not in page  # of BERT too, all is in words


def test_an_accuracy_has_no_ticks_above_one() -> None:
    history = [{"epoch": k, "loss": 1.0, "dev": {"accuracy": 1.0, "macro_f": 1.0}} for k in (1, 2, 3)]
    for panel in history_panels(epochs(history)):
        ticks = [
            float(tick)
            for tick in re.findall(r'text-anchor="end"[^>]*>([0-9.]+)<', training_lines("", "epoch", [panel]))
        ]
        assert max(ticks) == 1
        assert (min(ticks) == 0) == (panel.title == "loss")
