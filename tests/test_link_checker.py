"""The link checker on a small site, whole and with one thing broken at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "check_links.py"
HOME = """<html><head><link rel="stylesheet" href="style.css"><link rel="canonical" href="https://example.org/"></head>
<body id="top"><a href="guide/#second%20part">guide</a> <a href="#top">up</a> <a href="/guide/index.html">again</a>
<a href="https://example.org/page">elsewhere</a> <a href="mailto:a@example.org">mail</a> <img src="a.svg"></body></html>"""
FILES = {
    "index.html": HOME,
    "guide/index.html": '<h2 id="second part">Part</h2><a href="../index.html">home</a>',
    "style.css": "body { background: url(a.svg) }",
    "a.svg": "<svg/>",
}


def check(folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    for name, text in {**FILES, **changed}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, str(TOOL), str(folder)], capture_output=True, text=True)


def test_a_whole_site_is_counted(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    # links: guide, up, again, home; anchors: second part, top; loaded: stylesheet, image; external: canonical, elsewhere
    assert done.stdout == (
        "2 pages: 4 internal links (2 to an anchor) and 2 loaded files checked, 0 broken; 2 links to other sites, not followed\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('href="/guide/index.html"', 'href="/guid/index.html"', "'/guid/index.html': no such file"),
        ('href="guide/#second%20part"', 'href="guide/#third"', "'guide/#third': no such anchor"),
        ('href="#top"', 'href="#bottom"', "'#bottom': no such anchor"),
        ('href="#top"', 'href="../outside.html"', "'../outside.html': no such file"),
        ('src="a.svg"', 'src="b.svg"', "'b.svg': no such file"),
        ('src="a.svg"', 'src="https://example.org/a.svg"', "loaded from another site"),
        ('href="https://example.org/page"', 'href="https:/page"', "not a well-formed address"),
    ],
)
def test_a_broken_link_is_named_with_its_page(tmp_path: Path, before: str, after: str, problem: str) -> None:
    assert before in HOME
    (tmp_path / "outside.html").write_text("a page beside the site", encoding="utf-8")
    done = check(tmp_path / "site", **{"index.html": HOME.replace(before, after)})
    assert done.returncode == 1
    assert done.stderr.startswith("index.html: ")
    assert done.stderr.endswith(f"{problem}\n")
    assert "1 broken" in done.stdout


def test_a_style_sheet_loads_nothing_from_other_sites(tmp_path: Path) -> None:
    done = check(tmp_path, **{"style.css": "@import 'https://example.org/fonts.css';"})
    assert done.returncode == 1
    assert done.stderr == "style.css: 'https://example.org/fonts.css': loaded from another site\n"


def test_a_folder_without_pages_is_not_a_site(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(TOOL), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "expected a built site" in done.stderr
