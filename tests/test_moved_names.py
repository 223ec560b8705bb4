"""Names that the documentation once showed in other modules: they still load from there, with a warning."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import regard
from regard.data.read_options import ReadOptions
from regard.data.readers import read


@pytest.mark.parametrize(("old", "new"), regard.MOVED.items())
def test_a_moved_name_loads_from_its_old_module_with_a_warning(old: str, new: str) -> None:
    (old_module, name), (new_module, new_name) = (path.rsplit(".", 1) for path in (old, new))
    names: dict[str, object] = {}
    with pytest.warns(DeprecationWarning, match=f"{old} has moved to {new}") as warned:
        exec(f"from {old_module} import {name} as loaded", names)
    assert names["loaded"] is getattr(import_module(new_module), new_name)
    assert warned[0].filename == "<string>", "the warning points to the import"


@pytest.mark.parametrize("module", sorted({old.rpartition(".")[0] for old in regard.MOVED}))
def test_an_old_module_can_be_the_first_import_and_has_no_other_names(module: str) -> None:
    code = f"import {module}, sys; print(hasattr(sys.modules[{module!r}], 'other'))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_read_still_takes_keyword_arguments(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text,other\nA fine room.,1\n", encoding="utf-8")
    with pytest.warns(DeprecationWarning, match="pass ReadOptions"):
        corpus = read(path, labelled=False, keep=["other"])
    assert corpus == read(path, ReadOptions(labelled=False, keep=["other"]))
    with pytest.raises(TypeError, match="colour"), pytest.warns(DeprecationWarning, match="ReadOptions"):
        read(path, colour="red")
