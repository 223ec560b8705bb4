"""The page in a browser, used as a person would use it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from serving import Serving

sys.path.insert(0, str(Path(__file__).parent.parent))
from browser import Browser


def visit(browser: Browser, serving: Serving, path: str = "/") -> None:
    browser.send("Page.navigate", url="about:blank")
    browser.media()
    browser.events.clear()
    browser.send("Page.navigate", url=f"http://127.0.0.1:{serving.port}{path}")
    browser.until("document.readyState === 'complete' && location.protocol === 'http:'")
    if path == "/":
        browser.until("document.getElementById('method').options.length > 0 && !!document.querySelector('.empty')")


def write(browser: Browser, text: str) -> None:
    """Type into the empty field."""
    browser.evaluate("document.getElementById('text').value = ''; document.getElementById('text').focus()")
    browser.write(text)
    settled(
        browser, f"document.getElementById('text').value === {json.dumps(text)}", "!!document.querySelector('article')"
    )


def settled(browser: Browser, *also: str) -> None:
    """Wait until the result of everything done so far is drawn."""
    # the pause after the last key press is over, and no request is pending
    browser.evaluate("new Promise(done => setTimeout(done, 200))")
    for expression in ("document.getElementById('results').getAttribute('aria-busy') === 'false'", *also):
        browser.until(expression)
    browser.frame()


def choose(browser: Browser, identity: str, value: str) -> None:
    browser.evaluate(
        f"""(() => {{ const list = document.getElementById({identity!r}); list.value = {value!r};
        list.dispatchEvent(new Event('change', {{bubbles: true}})); }})()"""
    )
    settled(browser)
