"""The documentation site: its navigation, its links out of docs/, and the reference of the command line."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pytest

from regard.cli import make_parser

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from command_reference import command_reference  # noqa: E402 (the tools are not a package)
from docs_hooks import COMMANDS, expanded, linked_files, with_site_links  # noqa: E402

NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
IN_NAV = re.findall(r"[\w./]+\.md$", NAV, re.MULTILINE)


def test_every_page_is_in_the_navigation_once() -> None:
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= set(IN_NAV)
    assert len(IN_NAV) == len(set(IN_NAV))


def test_the_navigation_names_pages_that_exist() -> None:
    assert [name for name in IN_NAV if not (ROOT / "docs" / name).is_file() and not (ROOT / name).is_file()] == []


def test_folders_of_results_are_all_in_the_navigation() -> None:
    folders = {path.parent.relative_to(ROOT).as_posix() + "/" for path in (ROOT / "experiments").glob("*/*.md")}
    assert folders == set(re.findall(r"experiments/\w+/", NAV))


def test_a_folder_of_the_navigation_becomes_its_pages_in_the_order_of_their_numbers() -> None:
    ((title, pages),) = expanded({"Title": "experiments/sun_lu/"}).items()
    names = [name for page in pages for name in page]
    assert title == "Title"
    assert len(names) == len(list((ROOT / "experiments" / "sun_lu").glob("*.md")))
    assert names.index("sun_lu/figure2") < names.index("sun_lu/figure13")
    assert expanded({"A": [{"B": "c.md"}]}) == {"A": [{"B": "c.md"}]}


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("docs/norms.md", "../experiments/apln/table2.md", "experiments/apln/table2.md"),
        ("docs/norms.md", "evidence.md#a-heading", "evidence.md#a-heading"),
        ("docs/reference/serve.md", "../serve.md", "../serve.md"),
        ("README.md", "docs/start.md", "start.md"),
        ("README.md", "LICENSE", "LICENSE.txt"),
        ("experiments/README.md", "../docs/reproduce.md", "../reproduce.md"),
        ("experiments/vat/table6.md", "table6-rounds.svg", "table6-rounds.svg"),
        ("docs/errata.md", "../tests/analysis/test_errata.py", "tests/analysis/test_errata.py.txt"),
        ("README.md", "https://example.org/docs/start.md", "https://example.org/docs/start.md"),
        ("docs/start.md", "#files", "#files"),
    ],
)
def test_links_between_files_of_the_repository_work_on_the_site(page: str, link: str, expected: str) -> None:
    assert with_site_links(f"see [this]({link}).", page) == f"see [this]({expected})."


def test_code_is_not_rewritten() -> None:
    text = "`table[0](docs/start.md)`\n\n```python\ntable[0](docs/start.md)\n```\n"
    assert with_site_links(text, "README.md") == text


def test_files_that_a_page_links_to_are_found(tmp_path: Path) -> None:
    for name in ("linked.py", "code.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text("[a](linked.py) `x[0](code.py)` [b](missing.py) [c](https://example.org/code.py)", encoding="utf-8")
    assert list(linked_files(page)) == [tmp_path / "linked.py"]


def test_the_reference_has_every_command_and_option() -> None:
    parser = make_parser()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction)).choices
    sections = dict(
        re.findall(r"^## regard (\w+)\n(.*?)(?=^## |\Z)", command_reference(parser), re.MULTILINE | re.DOTALL)
    )
    assert list(sections) == list(commands)
    for name, command in commands.items():
        shown = [one for one in command._actions if one.help != argparse.SUPPRESS or one in command.advanced]
        options = {option for action in shown for option in action.option_strings} - {"-h", "--help"}
        assert options <= set(re.findall(r"(?<=[` ])--?[\w-]+", sections[name])), name
        assert "==SUPPRESS==" not in sections[name]
        assert not re.search(r"%[(s%]", sections[name])


def test_the_reference_has_the_actions_of_a_command() -> None:
    reference = command_reference(make_parser())
    assert "### regard vectors distill\n" in reference
    section = reference.split("### regard towers train\n")[1].split("### ")[0]
    assert "`--max-reviews N`" in section
    assert "`--optimizer {adam,amsgrad,adagrad,sgd}`" in section


def test_the_page_of_the_command_line_has_the_place_for_it() -> None:
    assert COMMANDS in (ROOT / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")
