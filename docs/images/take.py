"""The pictures of the application, of reports, of an exported page and of a heat map for papers, taken anew:
`python docs/images/take.py [NAME ...]`.

Models learn from the built-in reviews, and one from sentences made up below in Arabic and in Chinese; every text that is
shown is made up. A browser without a window draws the pages (tests/browser.py), Pillow puts the pictures into few colours.
Figures in them differ from one time to the next where they are times.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import csv
import io
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

sys.path.extend(str(Path(__file__).parents[2] / place) for place in ("tests", "tests/serve"))
from driving import choose, settled, visit, write
from serving import Serving, serving

from browser import Browser
from regard.cli import main as regard
from regard.config import Config
from regard.data.reviews import splits
from regard.demo import SETTINGS
from regard.models.saving import save
from regard.records import Example
from regard.training.fit import Parts, fit

PLACE = Path(__file__).parent
COLOURS = 256  # of a picture: those that most of it has, as they are
MOST = 120_000  # bytes
WIDE, NARROW = 1100, 400
HAN = {name: value for name, value in SETTINGS.items() if name != "pooling"}
MODELS: dict[str, dict[str, Any]] = {
    "reviews": {},
    "han": {**HAN, "pooling": "attention"},
    "han-apln": {**HAN, "pooling": "apln"},
}
STAY = "The staff were wonderful. The room was not very clean, and the shower was broken. I would still recommend it."
MARKUP = "A <script>alert('never run')</script> in the room? <b>Broken</b> shower, but lovely staff & breakfast."
SAYINGS = {  # of a thing, good words and bad ones
    "{thing} {how} جدا.": (
        ("الفندق", "الطعام", "المكان", "الموظف"),
        ("جميل", "رائع", "ممتاز"),
        ("سيئ", "قديم", "مزعج"),
    ),
    "{thing}很{how}。": (("房间", "早餐", "服务", "酒店"), ("干净", "好", "舒服"), ("糟糕", "脏", "吵")),
}
ARABIC = "الفندق جميل جدا. الطعام سيئ جدا، والموظف ممتاز."
CHINESE = "房间很干净。早餐很糟糕，服务很好。"


class Stage(NamedTuple):
    browser: Browser
    runs: Path  # their folder

    def serve(self, *names: str) -> Any:
        return serving(*(self.runs / name for name in names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)} (default: all)")
    names = parser.parse_args().names or list(PICTURES)
    with tempfile.TemporaryDirectory() as place, Browser(Path(place) / "profile") as browser:
        stage = Stage(browser, Path(place))
        learn(stage.runs)
        for name in names:
            width, take = PICTURES[name]
            browser.send(
                "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
            )
            browser.media()
            keep(take(stage), PLACE / f"{name}.png")


def learn(place: Path) -> None:
    corpus = splits()
    for name, options in MODELS.items():
        config = Config().override({"task": "multiclass", "device": "cpu", **options})
        save(fit(config, Parts(corpus["train"], corpus["dev"])), place / name)
    save(fit(Config().override({"task": "binary"}), Parts(sayings())), place / "sayings")


def sayings() -> list[Example]:
    """Two at a time, of one opinion and in one language."""
    found: list[Example] = []
    for form, (things, good, bad) in SAYINGS.items():
        for label, words in (("good", good), ("bad", bad)):
            said = [form.format(thing=thing, how=how) for thing, how in product(things, words)]
            found += [Example(f"{one} {other}", label, len(found)) for one, other in product(said, said)]
    return found


def crop(browser: Browser, end: str, start: str = "body") -> bytes:
    """The page from the top of one element to the bottom of another."""
    box = "document.querySelector({!r}).getBoundingClientRect().{} + scrollY"
    top = max(0, browser.evaluate(box.format(start, "top")) - 12)
    bottom = browser.evaluate(box.format(end, "bottom")) + 16
    width = browser.evaluate("innerWidth")
    clip = {"x": 0, "y": top, "width": width, "height": bottom - top, "scale": 1}
    browser.evaluate("document.activeElement.blur()")
    browser.move(1, 1)
    found = browser.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    return base64.b64decode(found["data"])


def keep(picture: bytes, path: Path) -> None:
    drawn = Image.open(io.BytesIO(picture)).convert("RGB")
    counted = sorted(drawn.getcolors(drawn.width * drawn.height), reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in counted for part in colour])
    drawn.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.name}: {drawn.width} × {drawn.height}, {size:,} bytes")
    assert size < MOST, f"{path.name} has {size:,} bytes; fewer than {MOST:,} are accepted"


# the application


def typed(stage: Stage, *runs: str, text: str = STAY, crossed: Sequence[int] = (), method: str = "") -> bytes:
    with stage.serve(*runs) as served:
        return drawn(stage.browser, served, text, crossed, method)


def drawn(browser: Browser, served: Serving, text: str, crossed: Sequence[int], method: str) -> bytes:
    dark = browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    visit(browser, served)
    if dark:
        browser.media(prefers_color_scheme="dark")
    write(browser, text)
    if method:
        choose(browser, "method", method)
    for place in crossed:
        browser.click_on(f".w[data-index='{place}']")
        settled(browser)
    return crop(browser, "#results")


def dark(take: Callable[[Stage], bytes]) -> Callable[[Stage], bytes]:
    def taken(stage: Stage) -> bytes:
        stage.browser.media(prefers_color_scheme="dark")
        return take(stage)

    return taken


# the report

TEXTS = "section[aria-labelledby=texts]"


def reported(stage: Stage, run: str, rows: Sequence[tuple[str, str]], start: str, end: str) -> bytes:
    source, page = stage.runs / "reviews.csv", stage.runs / "report.html"
    with open(source, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    with contextlib.chdir(stage.runs):  # the page names its files as they are given
        assert regard(["report", run, "--data", source.name, "--out", page.name]) == 0
    stage.browser.open(page)
    return crop(stage.browser, end, start)


def reviews_reported(stage: Stage, texts: int = 2) -> bytes:
    rows = [(example.text, str(example.label)) for example in splits()["test"]]
    return reported(stage, "han", rows, "#texts", f"{TEXTS} article:nth-of-type({texts})")


def top_reported(stage: Stage) -> bytes:
    """The head of a report and its measures."""
    rows = [(example.text, str(example.label)) for example in splits()["test"]]
    return reported(stage, "reviews", rows, "body", "section[aria-labelledby=measures]")


def audited(stage: Stage) -> bytes:
    """The head of an audit and its verdict."""
    source, out = stage.runs / "reviews.csv", stage.runs / "audit"
    with open(source, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *((x.text, str(x.label)) for x in splits()["test"])])
    with contextlib.chdir(stage.runs):
        assert regard(["audit", "reviews", "--data", source.name, "--out", out.name]) == 0
    stage.browser.open(out / "audit.html")
    return crop(stage.browser, "#verdict")


def scripts_reported(stage: Stage) -> bytes:
    rows = [(ARABIC, "bad"), (CHINESE, "bad"), (MARKUP, "bad")]  # of two minds, so they come before the surer ones
    rows += [(example.text, str(example.label)) for example in sayings()[::20]]
    return reported(stage, "sayings", rows, "#texts", f"{TEXTS} article:nth-of-type(3)")


def demo_reported(stage: Stage) -> bytes:
    with contextlib.chdir(stage.runs):
        assert regard(["demo"]) == 0
    stage.browser.open(stage.runs / "demo" / "page.html")
    norms = "section[aria-labelledby=training] .plot:last-of-type"
    return crop(stage.browser, f"{TEXTS} article:nth-of-type(1)", norms)


# for papers


def printed(stage: Stage) -> bytes:
    image = stage.runs / "image.png"
    assert regard(["explain", str(stage.runs / "reviews"), STAY, "--out", str(image)]) == 0
    return image.read_bytes()


# the exported page


def exported(stage: Stage) -> bytes:
    page = stage.runs / "reviews.html"
    assert regard(["export", str(stage.runs / "reviews"), "--format", "page", "--out", str(page)]) == 0
    stage.browser.open(page)
    stage.browser.evaluate("document.querySelector('#text').focus()")
    stage.browser.write(STAY)
    stage.browser.click_on(".w[data-index='3']")
    return crop(stage.browser, "footer")


PICTURES: dict[str, tuple[int, Callable[[Stage], bytes]]] = {
    "serve": (WIDE, lambda stage: typed(stage, "han", "han-apln", crossed=[8])),
    "serve-typed": (WIDE, lambda stage: typed(stage, "reviews")),
    "serve-crossed": (WIDE, lambda stage: typed(stage, "reviews", crossed=[3], method="leave_one_out")),
    "serve-dark": (WIDE, dark(lambda stage: typed(stage, "han", "han-apln", method="integrated_gradients"))),
    "serve-narrow": (NARROW, lambda stage: typed(stage, "han", crossed=[8])),
    "serve-arabic": (WIDE, lambda stage: typed(stage, "sayings", text=ARABIC)),
    "serve-chinese": (WIDE, lambda stage: typed(stage, "sayings", text=CHINESE)),
    "serve-markup": (WIDE, lambda stage: typed(stage, "reviews", text=MARKUP)),
    "report-top": (WIDE, top_reported),
    "audit": (WIDE, audited),
    "report": (WIDE, reviews_reported),
    "report-dark": (WIDE, dark(reviews_reported)),
    "report-narrow": (NARROW, lambda stage: reviews_reported(stage, texts=1)),
    "report-scripts": (WIDE, scripts_reported),
    "page": (WIDE, demo_reported),
    "paper": (WIDE, printed),
    "export": (WIDE, exported),
    "export-dark": (NARROW, dark(exported)),
}


if __name__ == "__main__":
    main()
