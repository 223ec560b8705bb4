"""Open pages in Chromium, wide and narrow, light and dark: heights, sideways overflow, accessibility, screenshots.

    python tools/page_checks.py FOLDER [--axe axe.min.js] [--shots FOLDER] [--only NAME ...] [--serve RUN]

FOLDER is what tools/page_samples.py wrote, or docs for the leaderboard. One line per page, width and theme: the height at
first view, how far the page is wider than the window, elements that hide content without a way to scroll to it, plots and
tables wider than their card, and what axe-core found, by impact. axe-core is not part of the repository: `npm install
axe-core` gives the file.
With `--serve` the pages of `regard serve RUN` are looked at, too. Exits with 1 if a page is over the limits.
"""

from __future__ import annotations

import argparse
import base64
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from browser import Browser

PAGES = {
    "report-many": "many/report.html",
    "audit-many": "many/run/audit/audit.html",
    "analysis-many": "many/run/analysis/analysis.html",
    "explanations-many": "many/explanations.html",
    "comparison-many": "many/comparison.html",
    "demo": "few/demo/page.html",
    "report-few": "few/report.html",
    "audit-few": "few/demo/run/audit/audit.html",
    "analysis-few": "few/flat/analysis/analysis.html",
    "explanations-few": "few/explanations.html",
    "reproduced-table": "reproduced/table3.html",
    "reproduced-figure": "reproduced/figure6.html",
    "leaderboard": "leaderboard.html",
}
SERVED = {"serve": "/", "serve-reference": "/reference"}
WIDTHS = {1280: 900, 400: 800}  # and heights of the window
THEMES = ("light", "dark")
TALLEST = 15_000  # pixels at first view
SHOT = 6_000  # pixels of a page in its screenshot
SERIOUS = ("critical", "serious")
TEXT = "The staff were wonderful. The room was not very clean, and the shower was broken. I would still recommend it."
# what is cut off: an element whose content is wider than it is, and which neither scrolls nor lets it overflow
CLIPPED = """[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.closest('.visually-hidden, svg') &&
  e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && ['hidden', 'clip'].includes(getComputedStyle(e).overflowX))
  .map(e => e.tagName.toLowerCase() + (e.className ? '.' + e.className : ''))"""
# what scrolls sideways without an edge that shows it
UNCUED = """[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 &&
  ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && getComputedStyle(e).backgroundImage === 'none' &&
  !e.matches('select, input, textarea')).length"""


class Look(NamedTuple):
    """What was found on a page at one width in one theme."""

    height: int
    beyond: int  # pixels by which the page is wider than the window
    clipped: list[str]
    uncued: int
    violations: list[tuple[str, str, int, str]]  # impact, rule, number of elements, the first one

    def count(self, impact: str) -> int:
        return sum(number for one, _, number, _ in self.violations if one == impact)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--axe", type=Path, metavar="FILE", help="axe.min.js (default: accessibility is not checked)")
    parser.add_argument("--shots", type=Path, metavar="FOLDER", help="save screenshots there")
    parser.add_argument("--only", nargs="*", metavar="NAME", help=f"of {', '.join([*PAGES, *SERVED])}")
    parser.add_argument("--serve", type=Path, metavar="RUN", help="also look at the pages of `regard serve RUN`")
    given = parser.parse_args()
    axe = given.axe.read_text(encoding="utf-8") if given.axe else ""
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile), patience=600) as browser:
        browser.send("Page.setBypassCSP", enabled=True)  # so that axe may be added to a page that allows one script
        bad = look_at_all(browser, pages(given.folder, given.only), axe, given.shots)
        if given.serve:
            with served(given.serve) as address:
                urls = {name: address + path for name, path in SERVED.items() if not given.only or name in given.only}
                bad |= look_at_all(browser, urls, axe, given.shots)
    sys.exit(1 if bad else 0)


def pages(folder: Path, only: list[str] | None) -> dict[str, str]:
    paths = {name: folder / path for name, path in PAGES.items() if not only or name in only}
    return {name: path.absolute().as_uri() for name, path in paths.items() if path.exists()}


@contextmanager
def served(run: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from regard.cli import main; main()", "serve", str(run), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address)
        yield address
    finally:
        process.terminate()
        process.wait()


def wait_for(address: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{address} did not answer")


def look_at_all(browser: Browser, urls: dict[str, str], axe: str, shots: Path | None) -> bool:
    """Prints a line per look; returns whether any page is over the limits."""
    print(
        f"{'page':20}{'px':>5} {'theme':6}{'height':>8}{'beyond':>7}{'uncued':>7}  axe (critical serious moderate minor)"
    )
    bad = False
    for name, url in urls.items():
        for width, height in WIDTHS.items():
            for theme in THEMES:
                open_page(browser, url, (width, height), theme)
                if shots:
                    shots.mkdir(parents=True, exist_ok=True)
                    (shots / f"{name}-{width}-{theme}.png").write_bytes(picture(browser, width))
                found = look(browser, width, axe)
                report(f"{name:20}{width:>5} {theme:6}", found, bool(axe))
                bad |= found.height > TALLEST or found.beyond > 0 or any(map(found.count, SERIOUS))
    return bad


def open_page(browser: Browser, url: str, size: tuple[int, int], theme: str) -> None:
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    browser.send("Emulation.setDeviceMetricsOverride", **metrics)
    browser.media(prefers_color_scheme=theme)
    browser.send("Page.navigate", url="about:blank")
    browser.send("Page.navigate", url=url)
    browser.until("document.readyState === 'complete' && location.protocol !== 'about:'", seconds=300)
    browser.frame()
    if browser.evaluate("!!document.getElementById('example')"):  # the page of the server: with an answer
        browser.until("document.getElementById('method').options.length > 0")
        browser.evaluate("document.getElementById('text').focus()")
        browser.write(TEXT)
        browser.until("!!document.querySelector('article')")


def look(browser: Browser, width: int, axe: str) -> Look:
    height, wide = browser.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
    clipped, uncued = browser.evaluate(CLIPPED), browser.evaluate(UNCUED)
    return Look(height, wide - width, clipped, uncued, accessibility(browser, axe) if axe else [])


def accessibility(browser: Browser, axe: str) -> list[tuple[str, str, int, str]]:
    """With everything unfolded: axe does not look into what is folded."""
    browser.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    browser.frame()
    browser.evaluate(f"{axe};0")
    run = "axe.run(document, {resultTypes: ['violations'], reporter: 'v2'})"
    short = "r.violations.map(v => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 160)])"
    return [tuple(one) for one in browser.evaluate(f"{run}.then(r => {short})")]


def report(head: str, found: Look, with_axe: bool) -> None:
    counts = " ".join(str(found.count(impact)) for impact in ("critical", "serious", "moderate", "minor"))
    print(
        f"{head}{found.height:>8,}{found.beyond:>7}{found.uncued:>7}  {counts if with_axe else 'not checked'}",
        flush=True,
    )
    for impact, rule, number, first in found.violations:
        print(f"    {impact} {rule} ×{number}: {json.dumps(first, ensure_ascii=False)}")
    for name, number in Counter(found.clipped).items():
        print(f"    cut off: {name} ×{number}")


def picture(browser: Browser, width: int) -> bytes:
    height = browser.evaluate("document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, SHOT), "scale": 1}
    taken = browser.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    return base64.b64decode(taken["data"])


if __name__ == "__main__":
    main()
