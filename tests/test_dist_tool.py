"""tools/check_dist.py and tools/base_commands.py notice what is wrong. `make dist` runs them on real distributions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
METADATA = "Metadata-Version: 2.4\nName: regard\nVersion: 0.0.1\n"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield import_module("check_dist"), import_module("base_commands")
    for name in ("check_dist", "base_commands"):
        sys.modules.pop(name)


Tools = tuple[ModuleType, ModuleType]


def test_missing_and_stray_files_are_named(tools: Tools) -> None:
    check_dist, _ = tools
    check_dist.compare(Path("a.whl"), ["regard/a.py"], ["regard/a.py"])
    with pytest.raises(check_dist.Wrong, match=r"a\.whl: missing \['regard/a\.css'\] \(1\), unexpected \['x'\] \(1\)"):
        check_dist.compare(Path("a.whl"), ["regard/a.py", "regard/a.css"], ["regard/a.py", "x"])


def test_what_a_wheel_must_hold(tools: Tools) -> None:
    check_dist, _ = tools
    assert {"src/regard/py.typed", "src/regard/report/pages/layout.html"} <= set(check_dist.tracked("src"))
    assert check_dist.tables()
    assert all(name.endswith(".toml") for name in check_dist.tables())


def test_another_version_is_noticed(tools: Tools, tmp_path: Path) -> None:
    check_dist, _ = tools
    with ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("regard-0.0.1.dist-info/METADATA", METADATA)
        wheel.writestr("regard-0.0.1.dist-info/entry_points.txt", "")
    with pytest.raises(check_dist.Wrong, match=r"metadata: expected regard .*, got regard 0\.0\.1"):
        check_dist.check_wheel(tmp_path / "a.whl")


def test_every_command_of_the_readme_is_run_or_a_target_of_make(tools: Tools) -> None:
    _, base_commands = tools
    blocks = base_commands.SHELL.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    assert len([line for line in lines if line.startswith("regard ")]) >= 4
    assert {line.split()[0] for line in lines} <= {"regard", "make"}


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (0, "a needs b, which is not installed: pip install 'regard[pdf]'"),
        (2, "a needs b, which is not installed: pip install 'regard[torch]'"),
        (2, "one\\nregard: a needs b, which is not installed: pip install 'regard[pdf]'"),
    ],
)
def test_a_refusal_is_one_sentence_with_its_extra(tools: Tools, tmp_path: Path, code: int, sentence: str) -> None:
    _, base_commands = tools
    script = 'import sys; print("regard: {}", file=sys.stderr); sys.exit({})'
    good = script.format("a needs b, which is not installed: pip install 'regard[pdf]'", 2)
    base_commands.check_refusal([sys.executable, "-c", good], "pdf", tmp_path)
    with pytest.raises(base_commands.Failed, match="expected exit code 2 and one sentence"):
        base_commands.check_refusal([sys.executable, "-c", script.format(sentence, code)], "pdf", tmp_path)


def test_a_command_that_fails_is_shown(tools: Tools, tmp_path: Path) -> None:
    _, base_commands = tools
    with pytest.raises(base_commands.Failed, match=r"exit code 3\noh no"):
        base_commands.run([sys.executable, "-c", "import sys; print('oh no', file=sys.stderr); sys.exit(3)"], tmp_path)
