"""`--out` names something other than a plain file: it is written to and not replaced."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from command import Regard
from regard.errors import InputError
from regard.files import write

COMMANDS = {
    "predict": ("good film, bad food", "--format", "csv"),
    "explain": ("good film, bad food", "--format", "html"),
    "explain in the terminal": ("good film, bad food", "--format", "terminal"),
    "report": (),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_gets_what_a_file_would_and_stays_a_pipe(regard: Regard, run: Path, tmp_path: Path, name: str) -> None:
    argv = (name.split()[0], run, *COMMANDS[name], "--out")
    assert regard(*argv, tmp_path / "plain").code == 0
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert regard(*argv, pipe).code == 0
    reader.join(10)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert len(read[0]) == (tmp_path / "plain").stat().st_size > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "plain"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("before")
    link = tmp_path / "link"
    link.symlink_to("there")
    write(link, ["after ", "é"])
    assert link.is_symlink()
    assert (tmp_path / "there").read_text(encoding="utf-8") == "after é"


def test_a_dangling_link_is_reported(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "none" / "there")
    with pytest.raises(InputError, match=r"link: could not be written \(No such file"):
        write(link, ["after"])
