"""Check the links of a built site: files and anchors that pages refer to exist, and nothing is loaded from other sites.

    python tools/check_links.py site

Links to other sites are counted and must be well-formed; they are not followed, because a check must not depend on the network.
Prints what is broken and exits with status 1, or prints how many links were checked.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# what a browser fetches by itself, in contrast to links that a reader may follow
LOADED = {"script": ("src",), "img": ("src",), "iframe": ("src",), "source": ("src",), "link": ("href",)}
FOLLOWED = {"a": ("href",), "area": ("href",)}
NOT_LOADED = {"canonical", "prev", "next", "alternate"}  # kinds of <link> that only inform
CSS_URL = re.compile(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)")


class Page(HTMLParser):
    """The anchors of a page and what it refers to."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []  # (target, whether a browser loads it by itself)
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        informs = tag == "link" and bool(NOT_LOADED & set((values.get("rel") or "").split()))
        for name in (*LOADED.get(tag, ()), *FOLLOWED.get(tag, ())):
            if (target := values.get(name)) is not None:
                self.links.append((target, tag in LOADED and not informs))


class Site:
    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        self.counts: Counter[str] = Counter()
        self.page = cache(Page)

    def problems(self) -> Iterator[str]:
        for path in sorted(self.folder.rglob("*.html")):
            self.counts["pages"] += 1
            for target, is_loaded in self.page(path).links:
                if problem := self.problem(path, target.strip(), is_loaded):
                    yield f"{path.relative_to(self.folder)}: {target!r}: {problem}"
        for path in sorted(self.folder.rglob("*.css")):
            for target in CSS_URL.findall(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(self.folder)}: {target!r}: loaded from another site"

    def problem(self, path: Path, target: str, is_loaded: bool) -> str | None:
        """What is wrong with a link, if anything."""
        url = urlsplit(target)
        if url.scheme in ("data", "mailto", "javascript"):
            return None
        if url.scheme or url.netloc:
            self.counts["external"] += 1
            if is_loaded:
                return "loaded from another site"
            return None if url.scheme in ("http", "https") and "." in url.netloc else "not a well-formed address"
        self.counts["files" if is_loaded else "links"] += 1
        start = self.folder if url.path.startswith("/") else path.parent
        linked = (start / unquote(url.path).lstrip("/")).resolve() if url.path else path
        linked = linked / "index.html" if linked.is_dir() else linked
        if not linked.is_relative_to(self.folder) or not linked.is_file():
            return "no such file"
        anchor = unquote(url.fragment)
        if anchor and linked.suffix == ".html":
            self.counts["anchors"] += 1
            return None if anchor in self.page(linked).anchors else "no such anchor"
        return None


def main(folder: str) -> int:
    site = Site(Path(folder))
    problems = list(site.problems())
    for problem in problems:
        print(problem, file=sys.stderr)
    counts = site.counts
    if not counts["pages"]:
        print(f"{folder}: expected a built site, got a folder without HTML pages; run `make docs`", file=sys.stderr)
        return 1
    print(
        f"{counts['pages']} pages: {counts['links']} internal links ({counts['anchors']} to an anchor) and {counts['files']} "
        f"loaded files checked, {len(problems)} broken; {counts['external']} links to other sites, not followed"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
