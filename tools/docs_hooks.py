"""Hooks of the documentation site: what mkdocs does not find in docs/ by itself.

The pages are written for people who read the repository, so their links lead to files of the repository. On the site, pages
outside docs/ (README.md, experiments/, …) and every other file that a page links to are added under their path, and links are
rewritten accordingly. A folder in `nav` stands for the pages in it. The reference of the command line is written from the
parsers.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from command_reference import command_reference

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "experiments/**/*.md",
    "benchmarks/results/*.md",
)
COMMANDS = "<!-- the commands: written from the parsers when the site is built -->"
# what browsers show instead of downloading; the path of any other file gets the ending .txt
SHOWN = (".md", ".svg", ".png", ".json", ".html", ".css", ".js", ".txt")
CODE = re.compile(r"(^ *```.*?^ *```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)\s#])")


def on_config(config: Any) -> None:
    config.nav = [expanded(item) for item in config.nav]


def expanded(item: Any) -> Any:
    """An item of `nav` in which each folder is replaced with the pages in it, named as `regard reproduce` names them."""
    if isinstance(item, str) or not isinstance(item, dict):
        return item
    ((title, value),) = item.items()
    if isinstance(value, list):
        return {title: [expanded(one) for one in value]}
    if not value.endswith("/"):
        return item
    pages = sorted((ROOT / value).glob("*.md"), key=lambda page: [number_first(part) for part in parts(page.stem)])
    return {title: [{f"{page.parent.name}/{page.stem}": f"{value}{page.name}"} for page in pages]}


def parts(name: str) -> list[str]:
    return re.findall(r"\d+|\D+", name)


def number_first(part: str) -> tuple[int, str]:
    return (int(part), "") if part.isdigit() else (0, part)


def on_files(files: Any, config: Any) -> None:
    from mkdocs.structure.files import File

    pages = [*(ROOT / "docs").rglob("*.md"), *outside_pages()]
    linked = [*outside_pages(), *(target for page in pages for target in linked_files(page))]
    for path in sorted(set(linked)):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("docs/"):
            files.append(File.generated(config, site_path(name), abs_src_path=str(path)))


def outside_pages() -> list[Path]:
    return [path for pattern in OUTSIDE for path in sorted(ROOT.glob(pattern))]


def linked_files(page: Path) -> Iterator[Path]:
    """The files of the repository that a page links to."""
    for prose in CODE.split(page.read_text(encoding="utf-8"))[::2]:
        for target in LINK.findall(prose):
            path = Path(posixpath.normpath(page.parent / target))
            if "://" not in target and path.is_file():
                yield path


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if COMMANDS in markdown:
        sys.path.insert(0, str(ROOT / "src"))
        from regard.cli import make_parser

        markdown = markdown.replace(COMMANDS, command_reference(make_parser()))
    name = Path(page.file.abs_src_path).relative_to(ROOT).as_posix()
    return with_site_links(markdown, name)


def with_site_links(markdown: str, name: str) -> str:
    """The text of a page of the repository, with links that work on the site. Code is left as it is."""

    def site_link(match: re.Match[str]) -> str:
        target = match[1]
        if ":" in target:
            return target
        path = site_path(posixpath.normpath(posixpath.join(posixpath.dirname(name), target)))
        return posixpath.relpath(path, posixpath.dirname(site_path(name)) or ".")

    return outside_code(markdown, lambda prose: LINK.sub(site_link, prose))


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    pieces: Iterable[tuple[int, str]] = enumerate(CODE.split(markdown))
    return "".join(piece if number % 2 else change(piece) for number, piece in pieces)


def site_path(name: str) -> str:
    """Where a file of the repository is on the site."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return name if name.endswith(SHOWN) else f"{name}.txt"
