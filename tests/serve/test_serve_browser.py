"""The page in a real browser: typing, crossing out words, switching explainers, comparing runs, pasting a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driving import choose, settled, visit, write
from serving import Serving, serving

from browser import NAMES, Browser, chromium
from regard.data.decoding import decoded
from regard.errors import InputError
from regard.models.folder import load
from regard.serve.served_run import ServedRun

pytestmark = pytest.mark.skipif(chromium() is None, reason=f"no browser among {', '.join(NAMES)}")
TEXT = "The staff were kind. The room was not clean!"
HOSTILE = "<img src=x onerror=\"document.title='hit'\"> <script>document.title='hit'</script> bad"


def words(browser: Browser, card: int = 0) -> list[dict[str, Any]]:
    """The text, strength and CSS classes of each word, as drawn."""
    return list(
        browser.evaluate(
            f"""[...document.querySelectorAll('article')[{card}].querySelectorAll('.w')].map(word => ({{
              text: word.textContent, strength: Number(word.style.getPropertyValue('--s')),
              kinds: [...word.classList], label: word.ariaLabel, pressed: word.ariaPressed}}))"""
        )
    )


def assert_quiet(browser: Browser, serving: Serving) -> None:
    """No errors in the console, and no requests to other servers."""
    assert browser.console_messages() == []
    assert {url.split("/")[2] for url in browser.requests()} == {f"127.0.0.1:{serving.port}"}


def shown(browser: Browser, selector: str) -> str:
    return str(browser.evaluate(f"document.querySelector({selector!r}).innerText"))


def test_a_text_is_predicted_and_its_words_shaded_as_it_is_typed(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    write(browser, TEXT)
    expected = flat.ask("/api/explain", text=TEXT, method="leave_one_out").value["results"][0]
    assert shown(browser, ".big") == expected["prediction"]
    drawn = words(browser)
    assert [word["text"] for word in drawn] == [token["text"] for token in expected["tokens"]]
    largest = max([expected["strong"], *(abs(token["score"]) for token in expected["tokens"])])
    assert [word["strength"] for word in drawn] == pytest.approx(
        [(abs(token["score"]) / largest) ** 0.5 for token in expected["tokens"]], abs=1e-3
    )
    assert [("against" in word["kinds"]) for word in drawn] == [token["score"] < 0 for token in expected["tokens"]]
    sides = ["against" if token["score"] < 0 else "for" for token in expected["tokens"]]
    assert [word["label"].split(": ")[1].split(" ")[0] for word in drawn] == sides
    assert browser.evaluate("document.querySelector('.text').textContent") == TEXT
    assert expected["prediction"] in shown(browser, "#status")
    browser.write(" More words follow.")
    settled(browser)
    assert [word["text"] for word in words(browser)][-4:] == ["More", "words", "follow", "."]
    assert_quiet(browser, flat)


def test_a_text_of_unknown_words_has_a_note(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    write(browser, "xyzzyq plughq")
    assert shown(browser, "[role=note]").startswith("No word of this text is known to the model")
    assert "No word contributes" in shown(browser, "article")
    assert_quiet(browser, flat)


def test_the_page_starts_with_the_chosen_method_and_target(browser: Browser, flat_run: Path) -> None:
    with serving() as server:
        server.server.application.set_runs([ServedRun("flat", load(flat_run))], "integrated_gradients", "1")
        visit(browser, server)
        values = "['method', 'target'].map(name => document.getElementById(name).value)"
        assert browser.evaluate(values) == ["integrated_gradients", "1"]


def test_a_text_typed_while_the_model_loads_is_predicted_when_it_is_ready(browser: Browser, flat_run: Path) -> None:
    with serving() as server:
        browser.send("Page.navigate", url=f"http://127.0.0.1:{server.port}/")
        browser.until("(document.querySelector('.empty')?.innerText ?? '').startsWith('The model is loading')")
        browser.evaluate("document.getElementById('text').focus()")
        browser.write(TEXT)
        server.server.application.set_runs([ServedRun("flat", load(flat_run))])
        browser.until("!!document.querySelector('article')")
        assert "".join(word["text"] for word in words(browser)) == TEXT.replace(" ", "")


def test_a_word_is_crossed_out_by_click_and_restored(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    write(browser, TEXT)
    whole = shown(browser, ".probabilities")
    browser.click_on(".w[data-index='3']")
    settled(browser)
    expected = flat.ask("/api/explain", text=TEXT, without=[3]).value["results"][0]
    word = words(browser)[3]
    assert "out" in word["kinds"]
    assert (word["pressed"], word["label"]) == ("true", "kind: crossed out")
    assert shown(browser, ".big") == expected["prediction"]
    changes = browser.evaluate("[...document.querySelectorAll('.change')].map(one => one.innerText)")
    for step, name in zip(changes, expected["probabilities"], strict=True):
        points = 100 * (expected["probabilities"][name] - expected["before"]["probabilities"][name])
        sign = "=" if abs(points) < 0.05 else "▲ +" if points > 0 else "▼ −"
        assert step == (sign if sign == "=" else f"{sign}{abs(points):.1f}")
    assert "with all words" in shown(browser, ".prediction")
    browser.click_on("#restore")
    settled(browser)
    assert shown(browser, ".probabilities") == whole
    assert not browser.evaluate("document.querySelectorAll('.out').length")
    assert_quiet(browser, flat)


def test_words_can_be_crossed_out_by_keyboard_alone(browser: Browser, two: Serving) -> None:
    visit(browser, two)
    write(browser, TEXT)
    for _ in range(12):
        browser.press("Tab")
        if browser.evaluate("document.activeElement.matches('.w')"):
            break
    else:
        pytest.fail("Tab does not reach the words")
    for _ in range(3):
        browser.press("ArrowRight")
    focused = "document.activeElement.textContent"
    assert browser.evaluate(focused) == "kind"
    browser.press("Enter")
    settled(browser)
    assert browser.evaluate(focused) == "kind"  # redrawing keeps the focus
    assert browser.evaluate("document.activeElement.ariaPressed") == "true"
    assert [word["text"] for word in words(browser, 1) if "out" in word["kinds"]] == ["kind"]
    browser.press("ArrowRight")
    browser.press("Enter")
    settled(browser)
    assert len([word for word in words(browser) if "out" in word["kinds"]]) == 2
    browser.press("Escape")
    settled(browser)
    assert not browser.evaluate("document.querySelectorAll('.out').length")
    assert_quiet(browser, two)


def test_explainers_can_be_switched_and_signed_ones_show_the_sign(browser: Browser, two: Serving) -> None:
    visit(browser, two)
    write(browser, TEXT)
    assert browser.evaluate("document.getElementById('method').value") == "gradient_times_input"
    choose(browser, "method", "attention_norm")
    before = [word["strength"] for word in words(browser)]
    choose(browser, "method", "leave_one_out")
    expected = two.ask("/api/compare", text=TEXT, method="leave_one_out").value["results"][0]
    drawn = words(browser)
    assert [word["strength"] for word in drawn] != before
    assert [("against" in word["kinds"]) for word in drawn] == [token["score"] < 0 for token in expected["tokens"]]
    assert "against" in shown(browser, ".legend")
    choose(browser, "target", "1")
    assert two.ask("/api/compare", text=TEXT, method="leave_one_out", target="1").value["results"][0]["target"] == "1"
    assert "for 1" in " ".join(shown(browser, ".legend").split())
    assert_quiet(browser, two)


def test_two_runs_are_side_by_side_with_their_sentences(browser: Browser, two: Serving) -> None:
    visit(browser, two)
    write(browser, TEXT)
    assert browser.evaluate("[...document.querySelectorAll('article h3')].map(one => one.innerText)") == ["han", "run"]
    boxes = browser.evaluate(
        "[...document.querySelectorAll('article')].map(one => one.getBoundingClientRect().toJSON())"
    )
    assert boxes[0]["y"] == boxes[1]["y"]
    choose(browser, "method", "attention_norm")
    expected = two.ask("/api/compare", text=TEXT).value
    for card, result in enumerate(expected["results"]):
        bars = f"[...document.querySelectorAll('article')[{card}].querySelectorAll('.bar .number')].map(one => one.innerText)"
        assert browser.evaluate(bars) == [f"{one['score']:.3f}" for one in result["sentences"]]
    assert f"τ {expected['agreement']['tau']:.2f}".replace("-", "−") in shown(browser, "#agreement")
    browser.click_on(".bar")  # a sentence is crossed out as a whole, in both
    settled(browser)
    for card in (0, 1):
        crossed = [word["text"] for word in words(browser, card) if "out" in word["kinds"]]
        assert crossed == ["The", "staff", "were", "kind", "."]
    browser.click_on(".bar")
    settled(browser)
    assert not browser.evaluate("document.querySelectorAll('.out').length")
    assert_quiet(browser, two)


def test_only_the_latest_result_is_drawn(browser: Browser, two: Serving) -> None:
    visit(browser, two)
    browser.evaluate("document.getElementById('text').focus()")
    for word in TEXT.split():
        browser.write(f"{word} ")
    settled(browser)
    assert [word["text"] for word in words(browser)][-2:] == ["clean", "!"]
    browser.evaluate(
        """(() => { const text = document.getElementById('text');
        for (const one of ['a', 'b', 'c']) { text.value = `word ${one}`; text.dispatchEvent(new Event('input'));
          document.getElementById('method').dispatchEvent(new Event('change')); } })()"""
    )
    settled(browser)
    assert [word["text"] for word in words(browser)] == ["word", "c"]
    assert_quiet(browser, two)


def test_markup_in_a_text_is_shown_as_text(browser: Browser, two: Serving) -> None:
    visit(browser, two)
    write(browser, HOSTILE)
    assert "".join(word["text"] for word in words(browser)) == HOSTILE.replace(" ", "")
    quoted = HOSTILE.replace('"', '""')
    pasted = json.dumps(f'text,label\n"{quoted}",<b>x')
    browser.evaluate(f"document.getElementById('table').value = {pasted}")
    browser.click_on("#predict")
    browser.until("!document.getElementById('rows').hidden")
    assert browser.evaluate("document.querySelector('#rows .open').textContent") == HOSTILE
    assert browser.evaluate("document.querySelectorAll('img, b, script:not([src])').length") == 0
    assert browser.evaluate("document.title") == "regard: han and run"
    assert_quiet(browser, two)


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("كان الفندق جميلا. لكن الإفطار كان سيئا!", "rtl"),
        ("房间很干净。早餐很糟糕。", "ltr"),
        ("😀 good 👨‍👩‍👧 room", "ltr"),
    ],
)
def test_every_script_stays_intact(text: str, direction: str, browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    write(browser, text)
    assert browser.evaluate("document.querySelector('.text').textContent") == text
    assert browser.evaluate("getComputedStyle(document.querySelector('.text')).direction") == direction
    if direction == "rtl":  # the arrow key follows the direction of the text
        browser.evaluate("document.querySelector('.w').focus()")
        browser.press("ArrowLeft")
        assert browser.evaluate("document.activeElement.dataset.index") == "1"
    assert_quiet(browser, flat)


def test_fifty_thousand_words_stay_responsive(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    browser.evaluate(
        """(() => { const text = document.getElementById('text'); text.value = 'The room was not clean. '.repeat(8334);
        text.dispatchEvent(new Event('input')); text.focus(); })()"""
    )
    settled(browser, "document.querySelectorAll('.w').length === 4000")
    assert shown(browser, ".words .note") == "The first 4,000 of 50,004 words are shown."
    browser.click_on(".w[data-index='4']")
    settled(browser, "document.querySelectorAll('.out').length === 1", "!!document.querySelector('.before')")
    choose(browser, "method", "surrogate")
    assert shown(browser, "#problem").startswith("surrogate: expected at most 4,000 words, got 50,004")
    choose(browser, "method", "attention")
    write(browser, TEXT)
    assert len(words(browser)) == 11


def test_errors_are_shown_and_disappear(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    write(browser, TEXT)
    browser.evaluate("document.getElementById('text').value = 'good '.repeat(5000)")
    choose(browser, "method", "surrogate")
    browser.until("!document.getElementById('problem').hidden")
    assert shown(browser, "#problem").startswith("surrogate: expected at most 4,000 words, got 5,000")
    browser.events.clear()  # the browser itself logs refused requests to the console
    choose(browser, "method", "attention")
    browser.until("document.getElementById('problem').hidden")
    assert_quiet(browser, flat)


def test_cells_like_formulas_are_counted_and_escaped_on_request(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    pasted = "id,text\n=1+1,A clean room\n-2,@good film\n"
    browser.evaluate(f"document.getElementById('table').value = {json.dumps(pasted)}")
    browser.click_on("#predict")
    browser.until("!document.getElementById('rows').hidden")
    assert (
        shown(browser, "#save + label")
        .strip()
        .startswith("2 cells begin like a formula, which a spreadsheet would run")
    )
    browser.evaluate(
        "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.sheet = text; }); return '#'; }"
    )
    for is_escaped in (False, True):
        if is_escaped:
            browser.click_on("#save + label input")
        browser.evaluate("window.sheet = ''")
        browser.click_on("#save")
        browser.until("window.sheet !== ''")
        lines = browser.evaluate("window.sheet").split("\r\n")
        assert lines[1].startswith("'=1+1,A clean room," if is_escaped else "=1+1,A clean room,")
        assert lines[2].startswith("-2,'@good film," if is_escaped else "-2,@good film,")
    assert_quiet(browser, flat)


def test_a_pasted_table_is_predicted_opened_and_downloaded(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    pasted = 'id,text,label\n1,"The room, clean and ""kind"".",5\n2,,1\n3,Never again.,1\n'
    browser.evaluate(f"document.getElementById('table').value = {json.dumps(pasted)}")
    browser.click_on("#predict")
    browser.until("!document.getElementById('rows').hidden")
    expected = flat.ask("/api/table", table=pasted).value
    rows = browser.evaluate("[...document.querySelectorAll('#rows tbody tr')].map(row => row.innerText.split('\\t'))")
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[0][2] == expected["rows"][0]["prediction"]
    assert "expected at least one word" in rows[1][1]
    assert shown(browser, "#table-summary").startswith("3 rows, texts in “text” · ")
    sheet = browser.evaluate(f"import('/table.js').then(module => module.asCsv({json.dumps(expected)}))").split("\r\n")
    assert sheet[0] == "id,text,label,prediction,p(1),p(2),p(3),p(4),p(5)"
    assert sheet[1].startswith(f'1,"The room, clean and ""kind"".",5,{expected["rows"][0]["prediction"]},')
    assert sheet[2] == "2,,1,,,,,,"
    browser.evaluate(
        "window.saved = []; HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }"
    )
    browser.click_on("#save")
    assert browser.evaluate("saved") == ["predictions.csv"]
    browser.click_on("#rows tr:last-child .open")
    settled(browser)
    assert [word["text"] for word in words(browser)] == ["Never", "again", "."]
    assert_quiet(browser, flat)


TABLE = "text,label\nDas Frühstück war schön.,5\nNie wieder \ufffd.,1\n"


def pick(browser: Browser, path: Path, written: bytes) -> None:
    """Choose a file with these bytes, as in the file dialog."""
    path.write_bytes(written)
    document = browser.send("DOM.getDocument")["root"]["nodeId"]
    field = browser.send("DOM.querySelector", nodeId=document, selector="#file")["nodeId"]
    browser.send("DOM.setFileInputFiles", nodeId=field, files=[str(path)])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encoding_of_a_file_is_recognised(encoding: str, browser: Browser, flat: Serving, tmp_path: Path) -> None:
    visit(browser, flat)
    pick(browser, tmp_path / "given.csv", TABLE.encode(encoding))
    browser.until("!document.getElementById('rows').hidden")
    assert browser.evaluate("document.getElementById('table').value") == TABLE
    assert_quiet(browser, flat)


def test_a_file_that_is_not_utf_8_is_refused_at_the_same_place_as_on_the_command_line(
    browser: Browser, flat: Serving, tmp_path: Path
) -> None:
    visit(browser, flat)
    written = (TABLE + "Nicht ").encode() + "schön\n".encode("cp1252")
    pick(browser, tmp_path / "given.csv", written)
    browser.until("!document.getElementById('table-problem').hidden")
    with pytest.raises(InputError) as refused:
        list(decoded(written, "given.csv", lenient=False))
    where = str(refused.value).partition(";")[0]  # the advice differs: a page has no --encoding
    assert shown(browser, "#table-problem").startswith(f"{where}; convert the file")
    assert browser.evaluate("document.getElementById('table').value") == ""
    assert_quiet(browser, flat)


def test_only_the_text_column_of_a_table_wraps(browser: Browser, flat: Serving) -> None:
    visit(browser, flat)
    pasted = f"text,label\n{'The room was clean. ' * 40},5\n"
    browser.evaluate(f"document.getElementById('table').value = {json.dumps(pasted)}")
    browser.send("Emulation.setDeviceMetricsOverride", width=500, height=800, deviceScaleFactor=1, mobile=False)
    browser.click_on("#predict")
    browser.until("!document.getElementById('rows').hidden")
    lines = """[...document.querySelectorAll('#rows th, #rows td:not(:nth-child(2))')].map(cell => {
        const range = document.createRange(); range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map(box => Math.round(box.bottom))).size })"""
    assert max(browser.evaluate(lines)) == 1
    browser.send("Emulation.clearDeviceMetricsOverride")
    assert_quiet(browser, flat)


def test_a_regression_shows_how_far_its_prediction_changed(browser: Browser, numbers: Serving) -> None:
    visit(browser, numbers)
    write(browser, TEXT)
    browser.click_on(".w[data-index='3']")
    settled(browser)
    expected = numbers.ask("/api/explain", text=TEXT, without=[3]).value["results"][0]
    assert shown(browser, ".big") == f"{expected['prediction']:.2f}"
    assert f"with all words {expected['before']['prediction']:.2f}" in shown(browser, ".prediction")
    assert_quiet(browser, numbers)


def test_dark_mode_and_narrow_windows(browser: Browser, two: Serving) -> None:
    visit(browser, two)
    write(browser, TEXT)
    light = browser.evaluate("getComputedStyle(document.body).color")
    browser.media(prefers_color_scheme="dark")
    assert browser.evaluate("getComputedStyle(document.body).color") == "rgb(232, 234, 238)" != light
    browser.media()
    browser.send("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=True)
    browser.frame()
    assert browser.evaluate("document.documentElement.scrollWidth") == 400
    browser.send("Emulation.clearDeviceMetricsOverride")
    assert_quiet(browser, two)


def test_every_control_has_an_accessible_name(browser: Browser, two: Serving) -> None:
    visit(browser, two)
    write(browser, TEXT)
    tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "combobox", "textbox", "link", "textarea")
    controls = [node for node in tree if node.get("role", {}).get("value") in roles and not node["ignored"]]
    assert len(controls) > 20
    assert [node for node in controls if not node.get("name", {}).get("value")] == []


def test_the_reference_page_lists_the_api(browser: Browser, two: Serving) -> None:
    visit(browser, two, "/reference")
    browser.until("document.querySelectorAll('.path').length > 0")
    assert browser.evaluate("[...document.querySelectorAll('.path h2 code')].map(one => one.innerText)") == [
        "/api/runs",
        "/api/predict",
        "/api/explain",
        "/api/compare",
        "/api/table",
        "/health",
    ]
    assert f"curl http://127.0.0.1:{two.port}/api/explain" in shown(browser, "main")
    assert_quiet(browser, two)
