"""Hashes of dependencies, the check of their licences, and the bill of materials that `make dist` writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("hashes", "check_licences", "sbom")


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield {name: import_module(name) for name in NAMES}
    for name in NAMES:
        sys.modules.pop(name)


Tools = dict[str, ModuleType]


def test_every_pin_but_torch_has_hashes(tools: Tools) -> None:
    hashes = tools["hashes"]
    for path in (ROOT / "requirements").glob("*.txt"):
        locked = hashes.locked(path.stem)
        assert hashes.pins(path) == hashes.pins(locked), f"run python tools/hashes.py {path.stem}"
        entries = locked.read_text().split("\n")[1:]
        for line, following in pairwise(entries):
            assert "==" not in line or following.startswith("    --hash=sha256:"), line
    assert "torch" not in hashes.pins(ROOT / "requirements" / "run.txt")


def test_pip_accepts_the_files(tools: Tools) -> None:
    """Only parsed: nothing is fetched, because everything of base.txt is installed."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-deps", "--quiet"]
    done = subprocess.run(
        [*command, "--require-hashes", "-r", str(ROOT / "requirements/hashes/base.txt")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_files_of_a_version_are_told_from_others(tools: Tools) -> None:
    is_of, foreign = tools["hashes"].is_of, tools["hashes"].FOREIGN
    assert is_of("ml_dtypes-0.5.4-cp311-cp311-win_amd64.whl", "ml_dtypes", "0.5.4")
    assert is_of("Mako-1.4.3.tar.gz", "Mako", "1.4.3")
    assert not is_of("numpy-2.4.60-py3-none-any.whl", "numpy", "2.4.6")
    assert not is_of("numpy-extra-2.4.6-py3-none-any.whl", "numpy", "2.4.6")
    assert foreign.search("a-1-cp313-cp313t-manylinux_2_28_x86_64.whl")
    assert foreign.search("a-1-cp310-cp310-win_amd64.whl")
    assert not foreign.search("aiosignal-1-py3-none-any.whl")
    assert not foreign.search("a-1-cp39-abi3-manylinux_2_28_x86_64.whl")


@pytest.mark.parametrize("licence", ["MIT", "Apache-2.0 OR GPL-2.0", "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception"])
def test_permissive_licences_are_allowed(licence: str, tools: Tools) -> None:
    assert tools["check_licences"].wrong("a", licence) is None


@pytest.mark.parametrize("licence", [None, "GPL-3.0-only", "MIT AND GPL-2.0", "Proprietary", "LGPL-2.1"])
def test_other_licences_are_refused(licence: str | None, tools: Tools) -> None:
    assert str(tools["check_licences"].wrong("a", licence)).startswith("a: expected ")


def test_all_dependencies_are_allowed(tools: Tools) -> None:
    check = tools["check_licences"]
    for name in check.pinned(ROOT / "requirements" / "base.txt"):
        assert check.wrong(name, check.licence_of(name)) is None


def test_the_bill_of_materials_lists_the_base_install(tools: Tools, tmp_path: Path) -> None:
    document = tools["sbom"].bill(["base"])
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    names = {one["name"] for one in document["components"]}
    assert names == {*tools["hashes"].pins(ROOT / "requirements" / "base.txt")}
    for one in document["components"]:
        assert one["purl"] == one["bom-ref"] == f"pkg:pypi/{tools['sbom'].normal(one['name'])}@{one['version']}"
        assert one["licenses"]
        assert one["hashes"]
    (own,) = document["dependencies"]
    assert "pkg:pypi/numpy@" in " ".join(own["dependsOn"])
    assert json.dumps(document) == json.dumps(tools["sbom"].bill(["base"])), "the same at every call"
