"""The page of an analysis in a real browser: hovering, search, playback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysis_case import analysis, analysis_page

from browser import NAMES, Browser, chromium

pytestmark = pytest.mark.skipif(chromium() is None, reason=f"no browser: {', '.join(NAMES)} are looked for")
HOSTILE = "</script><b>bold"


def open_page(browser: Browser, folder: Path, facts: dict[str, Any]) -> None:
    path = folder / "analysis.html"
    path.write_text(analysis_page(facts), encoding="utf-8")
    browser.events.clear()
    browser.media()
    browser.open(path)


def quiet(browser: Browser) -> None:
    """No errors in the console, and no request except the page itself."""
    assert browser.console_messages() == []
    assert [url.rpartition("/")[2] for url in browser.requests()] == ["analysis.html"]


def place(browser: Browser, token: str) -> tuple[float, float]:
    """Where a token's mark is in the window."""
    return tuple(
        browser.evaluate(
            f"""(() => {{
              scatter.canvas.scrollIntoView({{block: "end"}});
              const k = data.token.indexOf({token!r}), box = scatter.canvas.getBoundingClientRect();
              return [box.x + across(scatter, scatter.x[k]), box.y + down(scatter, scatter.y[k])];
            }})()"""
        )
    )


def shown(browser: Browser, identity: str) -> str:
    return str(browser.evaluate(f"document.getElementById({identity!r}).innerText"))


def alone(facts: dict[str, Any]) -> dict[str, Any]:
    """A token with no other nearby."""
    last: dict[str, Any] = facts["tokens"][0]
    last |= {"polarity": -9.0, "attention": -6.0, "weight": 0.25, "count": 1234, "gamma": -0.75}
    return last


def test_pointing_at_a_mark_shows_its_token(browser: Browser, tmp_path: Path) -> None:
    facts = analysis(moments=4)
    token = alone(facts)
    open_page(browser, tmp_path, facts)
    assert browser.evaluate("document.getElementById('card').hidden")
    browser.move(*place(browser, token["token"]))
    card = shown(browser, "card").split()
    assert card[:2] == [token["token"], "negative"]
    for name, value in {"polarity": "−9", "weight": "0.25", "count": "1,234", "γ": "−0.75"}.items():
        assert card[card.index(name) + 1] == value
    assert shown(browser, "readout").startswith(f"{token['token']}: negative; polarity −9, attention score −6")
    browser.move(5, 5)
    assert browser.evaluate("document.getElementById('card').hidden")
    quiet(browser)


def test_a_mark_has_the_colour_of_its_type_and_the_position_of_its_scores(browser: Browser, tmp_path: Path) -> None:
    facts = analysis()
    token = alone(facts)
    open_page(browser, tmp_path, facts)
    colour = browser.evaluate(
        f"""(() => {{
          const k = data.token.indexOf({token["token"]!r});
          const at = [across(scatter, scatter.x[k]), down(scatter, scatter.y[k])].map(v => Math.round(v * scatter.ratio));
          return [...scatter.pen.getImageData(at[0], at[1], 1, 1).data];
        }})()"""
    )
    assert colour[2] > colour[0] + 40  # the first class is blue
    assert colour[3] > 100


def test_a_word_can_be_searched_and_selected(browser: Browser, tmp_path: Path) -> None:
    facts = analysis(moments=4)
    facts["tokens"][0]["token"], facts["tokens"][1]["token"] = "Zebra", "zebrafish"
    open_page(browser, tmp_path, facts)
    browser.click_on("#search")
    browser.write("zebra")
    assert browser.evaluate("[...scatter.matched].map(k => data.token[k])") == ["Zebra", "zebrafish"]
    assert browser.evaluate("[...document.querySelectorAll('#search-results bdi')].map(e => e.textContent)") == [
        "Zebra",
        "zebrafish",
    ]
    assert shown(browser, "search-status") == "2 tokens"
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    assert (
        browser.evaluate("document.querySelector('#search-results [aria-selected=true] bdi').textContent")
        == "zebrafish"
    )
    browser.press("Enter")
    assert browser.evaluate("data.token[scatter.selected]") == "zebrafish"
    assert shown(browser, "card").startswith("zebrafish")
    assert browser.evaluate("document.getElementById('search-results').hidden")
    quiet(browser)


def test_an_unknown_word_is_reported(browser: Browser, tmp_path: Path) -> None:
    open_page(browser, tmp_path, analysis())
    browser.click_on("#search")
    browser.write("qqqq<b>")
    assert shown(browser, "search-status") == "No token contains “qqqq<b>”."
    assert browser.evaluate("scatter.matched") is None
    browser.press("Escape")
    assert browser.evaluate("document.getElementById('search').value") == ""
    quiet(browser)


def test_playing_moves_the_points_to_the_end_of_the_recording(browser: Browser, tmp_path: Path) -> None:
    facts = analysis(moments=5)
    open_page(browser, tmp_path, facts)
    assert shown(browser, "when") == "the saved model"
    low, high = browser.evaluate("[data.x.low, data.x.high]")
    browser.click_on("#play")
    assert shown(browser, "play") == "Pause"
    browser.until("scatter.moment > 1.2")
    early = browser.evaluate("[...scatter.x].map(v => isNaN(v) ? null : v)")
    assert sum(value is not None for value in early) == len(facts["recording"]["tokens"])
    browser.until("!player.playing()")
    late = browser.evaluate("[...scatter.x].map(v => isNaN(v) ? null : v)")
    assert max(abs(a - b) for a, b in zip(early, late, strict=True) if a is not None) > 0.1
    assert browser.evaluate("document.getElementById('moment').value") == "4"
    assert shown(browser, "when") == "epoch 1"
    assert browser.evaluate("[data.x.low, data.x.high]") == [low, high]
    browser.click_on("#saved")
    assert shown(browser, "when") == "the saved model"
    quiet(browser)


def test_reduced_motion_shows_one_moment_after_another(browser: Browser, tmp_path: Path) -> None:
    open_page(browser, tmp_path, analysis(moments=3))
    browser.media(prefers_reduced_motion="reduce")
    browser.evaluate("window.seen = []; { const old = showMoment; showMoment = (s, m) => (seen.push(m), old(s, m)); }")
    browser.click_on("#play")
    browser.until("seen.length > 5 && !player.playing()")
    assert set(browser.evaluate("seen")) == {0, 1, 2}


def test_the_slider_shows_one_moment(browser: Browser, tmp_path: Path) -> None:
    facts = analysis(moments=5)
    open_page(browser, tmp_path, facts)
    browser.evaluate("document.getElementById('moment').focus()")
    for _ in range(2):
        browser.press("ArrowLeft")
    assert browser.evaluate("scatter.moment") == 2
    assert shown(browser, "when") == "epoch 0.5"
    k = browser.evaluate("data.recording.token[0]")
    assert browser.evaluate(f"scatter.x[{k}]") == pytest.approx(facts["recording"]["polarity"][2][0], rel=1e-4)


def test_a_word_that_was_not_recorded_brings_the_saved_model_back(browser: Browser, tmp_path: Path) -> None:
    facts = analysis(moments=3)
    facts["tokens"][-1]["token"] = "unseen"  # of no type: no recording follows it
    open_page(browser, tmp_path, facts)
    browser.evaluate("player.end()")
    browser.click_on("#search")
    browser.write("unseen")
    browser.press("Enter")
    assert browser.evaluate("scatter.moment") is None
    assert shown(browser, "card").startswith("unseen")


def test_types_are_switched_off_and_on(browser: Browser, tmp_path: Path) -> None:
    facts = analysis(("guns", "med", "motorcycles"))
    open_page(browser, tmp_path, facts)
    everything = len(facts["tokens"])
    count = "scatter.order.filter(k => isShown(scatter, k)).length"
    assert browser.evaluate(count) == everything
    browser.click_on(".kind[data-kind='1']")
    assert browser.evaluate(count) == everything - 60
    assert browser.evaluate("document.querySelector(\".kind[data-kind='1']\").ariaPressed") == "false"
    browser.click_on(".kind[data-kind='1']")
    assert browser.evaluate(count) == everything
    quiet(browser)


def test_the_arrow_keys_walk_from_token_to_token(browser: Browser, tmp_path: Path) -> None:
    open_page(browser, tmp_path, analysis())
    for _ in range(12):  # past the search and the types
        browser.press("Tab")
        if browser.evaluate("document.activeElement === scatter.canvas"):
            break
    else:
        pytest.fail("Tab does not reach the scatter")
    first = browser.evaluate("scatter.x[scatter.selected]")
    browser.press("ArrowRight")
    browser.press("ArrowLeft")
    assert browser.evaluate("scatter.x[scatter.selected]") == first
    token = browser.evaluate("data.token[scatter.selected]")
    assert shown(browser, "readout").startswith(f"{token}:")


def test_hostile_tokens_are_text(browser: Browser, tmp_path: Path) -> None:
    facts = analysis((HOSTILE, "good"))
    alone(facts)["token"] = HOSTILE
    open_page(browser, tmp_path, facts)
    browser.move(*place(browser, HOSTILE))
    assert shown(browser, "card").startswith(HOSTILE)
    browser.click_on("#search")
    browser.write("</scr")
    assert browser.evaluate("document.querySelectorAll('b').length") == 0
    assert browser.evaluate("document.querySelector('#search-results bdi').textContent") == HOSTILE
    quiet(browser)


def test_dark_mode_is_followed(browser: Browser, tmp_path: Path) -> None:
    open_page(browser, tmp_path, analysis())
    light = browser.evaluate("scatter.colours.ink")
    browser.media(prefers_color_scheme="dark")
    assert browser.evaluate("scatter.dark")
    assert browser.evaluate("scatter.colours.ink") != light
    text = "getComputedStyle(document.querySelector('.plot text')).fill"
    assert browser.evaluate(text) == "rgb(232, 234, 238)"


@pytest.mark.parametrize("width", [400, 1200, 1440])
def test_tables_of_words_are_no_wider_than_their_cards(width: int, browser: Browser, tmp_path: Path) -> None:
    facts = analysis(classes=("a", "b", "c", "d", "e"))
    for token in facts["tokens"]:
        token |= {"token": f"{token['token']} {token['token']}ing", "polarity": token["polarity"] * 10, "count": 123456}
    open_page(browser, tmp_path, facts)
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.frame()
    left = "[...document.querySelectorAll('.class-words .scroll')].map(card => card.scrollWidth - card.clientWidth)"
    beyond = browser.evaluate(left)
    browser.send("Emulation.clearDeviceMetricsOverride")
    assert beyond == [0] * 5
    quiet(browser)


def test_an_analysis_without_tokens_opens(browser: Browser, tmp_path: Path) -> None:
    open_page(browser, tmp_path, analysis() | {"tokens": [], "words": {}})
    browser.click_on("#search")
    browser.write("a")
    assert shown(browser, "search-status").startswith("No token")
    quiet(browser)


def test_the_work_of_drawing_grows_with_the_number_of_points_only(browser: Browser, tmp_path: Path) -> None:
    """Counted in calls of the canvas, which a busy machine does not change."""
    open_page(browser, tmp_path, analysis(tied=500, neutral=1900, untyped=100, moments=20))
    calls = browser.evaluate(
        """(() => {
          const canvas = CanvasRenderingContext2D.prototype, kept = {};
          let calls = 0;
          for (const name of ["fill", "stroke", "fillRect", "fillText", "strokeText", "drawImage"]) {
            kept[name] = canvas[name];
            canvas[name] = function (...given) { calls++; return kept[name].apply(this, given); };
          }
          draw(scatter);
          Object.assign(canvas, kept);
          return calls;
        })()"""
    )
    points = browser.evaluate("scatter.count")
    assert points >= 2500
    assert 0 < calls < 3 * points + 200  # the fill and the edge of a mark, and the axes and names


def test_the_plot_is_drawn_for_printing_without_a_frame(browser: Browser, tmp_path: Path) -> None:
    open_page(browser, tmp_path, analysis())
    wide = browser.evaluate(
        "window.kept = requestAnimationFrame, window.requestAnimationFrame = () => 0, scatter.canvas.width"
    )
    browser.send("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
    browser.until(f"scatter.canvas.width !== {wide}")
    drawn = browser.evaluate(
        "scatter.pen.getImageData(0, 0, scatter.canvas.width, scatter.canvas.height).data.some(value => value)"
    )
    browser.evaluate("window.requestAnimationFrame = kept, 0")
    browser.send("Emulation.clearDeviceMetricsOverride")
    assert drawn


def test_the_title_of_the_axis_and_long_words_stay_in_the_picture(browser: Browser, tmp_path: Path) -> None:
    facts = analysis(("exceptionally pleasant guests", "rather disappointed customers"))
    word = "donaudampfschifffahrtsgesellschaftskapitaen"
    facts["tokens"][0] |= {"token": word, "polarity": -0.01}
    open_page(browser, tmp_path, facts)
    browser.send("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
    browser.frame()
    written = browser.evaluate(
        """(() => { const found = [], pen = scatter.pen;
        pen.fillText = (text, x, y, most) => found.push([text, x, Math.min(most ?? 1e9, pen.measureText(text).width)]);
        scatter.selected = data.token.findIndex(token => token.startsWith('donau')); draw(scatter);
        delete pen.fillText; return [scatter.width, found]; })()"""
    )
    browser.send("Emulation.clearDeviceMetricsOverride")
    width, texts = written
    names = [text for text, *_ in texts]
    assert "polarity score:" in names
    assert "← exceptionally pleasant guests, rather disappointed customers →" in names
    assert word not in names
    short = next(text for text in names if text.startswith("donau"))
    assert short.endswith("…")
    _, left, wide = next(one for one in texts if one[0] == short)
    assert 0 <= left <= left + wide <= width
