"""The offline page: agreement with regard, safety, and what is refused."""

from __future__ import annotations

import re
import shutil
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from page_answers import assert_agrees, in_browser, under_node

from browser import NAMES, Browser, chromium
from command import Regard
from regard.data.reviews import reviews
from regard.errors import InputError
from regard.export.bundle import bundle
from regard.export.page import export_page
from regard.export.page_data import MOST, page_tables
from regard.models.folder import load
from regard.models.tasks import Binary
from regard.models.trained import Trained
from tricky_texts import TRICKY, random_texts

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_browser = pytest.mark.skipif(chromium() is None, reason=f"no browser among {', '.join(NAMES)}")
TEXTS = [*TRICKY, *random_texts(1000), *(example.text for example in reviews(1000))]
RUNS = ("flat_run", "binary_run", "number_run", "labels_run")


@pytest.fixture(scope="module")
def pages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Trained, Path]]:
    written = {}
    for name in RUNS:
        folder = request.getfixturevalue(name)
        trained, out = load(folder), tmp_path_factory.mktemp("pages") / f"{name}.html"
        export_page(trained, folder, out)
        written[name] = trained, out
    return written


@needs_node
@pytest.mark.parametrize("name", RUNS)
def test_the_page_answers_as_regard_does_under_node(name: str, pages: dict[str, tuple[Trained, Path]]) -> None:
    trained, page = pages[name]
    assert len(TEXTS) >= 2000
    assert_agrees(trained, TEXTS, under_node(page, TEXTS))


@needs_node
def test_the_page_applies_a_threshold(binary_run: Path, tmp_path: Path) -> None:
    trained = load(binary_run)
    assert isinstance(trained.task, Binary)
    texts = [example.text for example in reviews(60)]
    middle = (
        float(np.median(trained.answers(texts)[:, 1])) + 1e-4
    )  # not the probability of a text, which the page rounds
    trained.task = replace(trained.task, thresholds=(middle,))
    export_page(trained, binary_run, tmp_path / "page.html")
    answers = under_node(tmp_path / "page.html", texts)
    probabilities = [answer["probabilities"][trained.task.classes[1]] for answer in answers]
    expected = [trained.task.classes[int(one >= middle)] for one in probabilities]
    assert [answer["prediction"] for answer in answers] == expected
    assert len(set(expected)) == 2


@needs_browser
def test_the_page_answers_as_regard_does_in_a_browser(browser: Browser, pages: dict[str, tuple[Trained, Path]]) -> None:
    trained, page = pages["binary_run"]
    browser.open(page)
    assert_agrees(trained, TEXTS, in_browser(browser, TEXTS))


@needs_browser
def test_words_can_be_crossed_out_by_mouse_and_keyboard(
    browser: Browser, pages: dict[str, tuple[Trained, Path]]
) -> None:
    trained, page = pages["flat_run"]
    browser.open(page)
    browser.evaluate("document.querySelector('#text').focus()")
    browser.write("The staff were kind. The room was not clean!")
    words = browser.evaluate("[...document.querySelectorAll('.w')].map((word) => word.textContent)")
    assert words == ["The", "staff", "were", "kind", ".", "The", "room", "was", "not", "clean", "!"]
    browser.click_on(".w[data-index='8']")
    shown = browser.evaluate("document.querySelector('.w[data-index=\"8\"]').getAttribute('aria-pressed')")
    assert shown == "true"
    # without "not", "was" and "clean" are neighbours, as in a text that never had it
    rest = trained.task.predictions(trained.answers(["The staff were kind. The room was clean!"]))[0]
    assert browser.evaluate("document.querySelector('.big').textContent") == rest.value
    assert "with all words" in browser.evaluate("document.querySelector('.before').textContent")
    browser.evaluate("document.querySelector('.w[data-index=\"8\"]').focus()")
    browser.press("ArrowRight")
    browser.press("Enter")
    assert browser.evaluate("[...document.querySelectorAll('.w.out')].map((word) => word.textContent)") == [
        "not",
        "clean",
    ]
    browser.press("Escape")
    assert browser.evaluate("document.querySelectorAll('.w.out').length") == 0
    assert browser.evaluate("document.activeElement.textContent") == "clean", "the keyboard position is kept"


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_markup_stays_text_and_nothing_is_requested(
    browser: Browser, pages: dict[str, tuple[Trained, Path]], scheme: str
) -> None:
    _, page = pages["binary_run"]
    browser.events.clear()
    browser.open(page)
    browser.media(prefers_color_scheme=scheme)
    hostile = "<img src=x onerror=\"document.title='hit'\"> <script>document.title='hit'</script> good"
    browser.evaluate("document.querySelector('#text').focus()")
    browser.write(hostile)
    assert browser.evaluate("document.querySelector('.text').textContent") == hostile
    assert browser.evaluate("document.querySelectorAll('main img, main script, main b').length") == 0
    assert browser.evaluate("document.querySelector('h1').textContent") == "What <b>markup looks at"
    assert browser.evaluate("document.title") == "<b>markup – regard"
    assert browser.console_messages() == [], "in particular, the policy for scripts and styles is kept"
    assert [url for url in browser.requests() if not url.startswith("file:")] == []
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(245, 245, 243)", "dark": "rgb(15, 16, 20)"}[scheme]


def test_the_page_is_one_file_that_runs_only_its_own_script(pages: dict[str, tuple[Trained, Path]]) -> None:
    page = pages["binary_run"][1].read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(scripts) == 1
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    hashes = [b64encode(sha256(part.encode()).digest()).decode() for part in (scripts[0], style)]
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'")
    assert "unsafe" not in policy
    assert page.count("</script>") == 2, "class names and words cannot end the data"
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    labelled = re.findall(r'<label[^>]* for="(\w+)"', page)
    assert "text" in labelled


def test_only_flat_runs_fit_into_a_page(regard: Regard, run: Path, tmp_path: Path) -> None:
    result = regard("export", run, "--format", "page", "--out", tmp_path / "page.html")
    assert result.code == 2
    assert "expected a run of the fast engine (embeddings, attention, one level)" in result.error
    assert "export it with --format onnx" in result.error
    assert not (tmp_path / "page.html").exists()


def test_a_folder_is_not_a_file_to_write(flat_run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an HTML file to write, got a folder"):
        export_page(load(flat_run), flat_run, tmp_path)


def test_the_command_states_size_and_precision(regard: Regard, flat_run: Path, tmp_path: Path) -> None:
    result = regard("export", flat_run, "--format", "page", "--out", tmp_path / "page.html")
    assert result.code == 0
    assert re.search(r"\d\.\d MB, tables in 16 bits; on 2,000 made-up texts", result.out)


def test_tables_that_16_bits_are_too_coarse_for_stay_in_float32(flat_run: Path) -> None:
    trained = load(flat_run)
    assert page_tables(trained).precision == "16 bits"
    scores = trained.tables.scores.copy()
    scores[1] = 1e6  # one outlier, and the step between the others is 15
    trained.__dict__["tables"] = trained.tables._replace(scores=scores)
    chosen = page_tables(trained)
    assert chosen.precision == "float32"
    assert chosen.difference <= MOST
    assert np.array_equal(chosen.scores.decoded(), scores)


def test_scripts_are_bundled_after_what_they_import() -> None:
    elements, words = ("regard.serve", "elements"), ("regard.serve", "words")
    script = bundle([elements, words])
    assert "const { make, short } = elementsModule;" in script
    assert not re.search(r"^(?:import|export)\b", script, re.MULTILINE)
    with pytest.raises(AssertionError, match=r"words.js imports \{'elements'\}"):
        bundle([words])
