"""Check what `make dist` built: metadata, contents, and that the wheel works in a fresh environment outside the checkout.

    python tools/check_dist.py dist

The environment gets the base dependencies only, at the versions of requirements/base.txt. `base_commands.py` runs in it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

from base_commands import check_commands
from packaging.metadata import Metadata
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
ADDED = {"PKG-INFO", "setup.cfg"}  # by setuptools, to an sdist


class Wrong(Exception):
    """The distribution is not as it should be."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with one wheel and one sdist")
    folder = parser.parse_args().folder
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    start = time.perf_counter()
    check_wheel(wheel)
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as place:
        python = install(wheel, Path(place) / "environment")
        print(f"README.md and the base install, in {place}:")
        check_commands(python, ROOT / "README.md", Path(place) / "work")
    print(f"checked in {time.perf_counter() - start:.0f} s")


def check_wheel(path: Path) -> None:
    """Everything in `src`, the tables of the papers, and nothing else."""
    with ZipFile(path) as wheel:
        names = set(wheel.namelist())
        (information,) = {name.split("/")[0] for name in names if name.split("/")[0].endswith(".dist-info")}
        metadata = Metadata.from_email(wheel.read(f"{information}/METADATA"), validate=True)
        entry_points = wheel.read(f"{information}/entry_points.txt").decode()
    check_metadata(metadata)
    for line in (
        "regard = regard.cli:main",
        "reproduce = regard_lab.command",
        "towers = regard_lab.towers_command",
    ):
        if line not in entry_points.splitlines():
            raise Wrong(f"{path.name}: expected the entry point {line!r}, got {entry_points!r}")
    if f"{information}/licenses/LICENSE" not in names:
        raise Wrong(f"{path.name}: LICENSE is missing")
    expected = {name.removeprefix("src/") for name in tracked("src")} | {f"regard_lab/{name}" for name in tables()}
    compare(path, expected, {name for name in names if not name.startswith(f"{information}/")})
    print(f"{path.name}: {len(names)} files, {path.stat().st_size / 1e6:.2f} MB")


def check_sdist(path: Path) -> None:
    """What a wheel is built from. (The wheel next to it was built from it, and has been checked.)"""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in (member.name for member in archive if member.isfile())}
    built = {name for name in names if name in ADDED or ".egg-info/" in name}
    expected = {*tracked("src"), *tables(), "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"}
    compare(path, expected, names - built)
    print(f"{path.name}: {len(names)} files, {path.stat().st_size / 1e6:.2f} MB")


def tracked(folder: str) -> list[str]:
    """Files below a folder: those of git, so that nothing else can slip in."""
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def tables() -> list[str]:
    return [name for name in tracked("experiments") if name.endswith(".toml")]


def compare(path: Path, expected: Iterable[str], names: Iterable[str]) -> None:
    missing, others = sorted(set(expected) - set(names)), sorted(set(names) - set(expected))
    if missing or others:
        raise Wrong(f"{path.name}: missing {missing[:5]} ({len(missing)}), unexpected {others[:5]} ({len(others)})")


def check_metadata(metadata: Metadata) -> None:
    """`Metadata` has checked the form; here: that it says what pyproject.toml does, and what an index shows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if (metadata.name, str(metadata.version)) != (project["name"], project["version"]):
        raise Wrong(
            f"metadata: expected {project['name']} {project['version']}, got {metadata.name} {metadata.version}"
        )
    wanted = {str(Requirement(one)) for one in project["dependencies"]}
    given = {str(one) for one in metadata.requires_dist or () if one.marker is None}
    if wanted != given:
        raise Wrong(f"metadata: expected the dependencies {sorted(wanted)}, got {sorted(given)}")
    if set(metadata.provides_extra or ()) != set(project["optional-dependencies"]):
        raise Wrong(f"metadata: expected the extras of pyproject.toml, got {metadata.provides_extra}")
    if metadata.description_content_type != "text/markdown" or not metadata.description:
        raise Wrong(f"metadata: expected README.md as text/markdown, got {metadata.description_content_type!r}")


def install(wheel: Path, folder: Path) -> Path:
    """A fresh environment with the wheel and its dependencies, all of them pinned. Returns its Python."""
    start = time.perf_counter()
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    pins = ROOT / "requirements" / "base.txt"
    before = size(folder)
    subprocess.run([*pip, "install", "--quiet", "--constraint", str(pins), str(wheel.resolve())], check=True)
    subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run([*pip, "list", "--format=freeze"], check=True, capture_output=True, text=True).stdout
    installed = {normal(name) for name in listed.split()} - {"pip", "regard", "setuptools"}
    pinned = {normal(line) for line in pins.read_text(encoding="utf-8").splitlines() if "==" in line}
    if not installed <= pinned:
        raise Wrong(f"{pins.name}: expected every dependency to be pinned, got {sorted(installed - pinned)} besides")
    if others := pinned - installed - {"setuptools"}:  # which builds wheels, and some environments begin with
        raise Wrong(f"{pins.name}: pins {sorted(others)}, which the base install does not need")
    megabytes, seconds = (size(folder) - before) / 1e6, time.perf_counter() - start
    print(f"base install: regard and {len(installed)} other distributions, {megabytes:.0f} MB, {seconds:.0f} s")
    return python


def normal(line: str) -> str:
    return re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower()


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    try:
        main()
    except Wrong as error:
        sys.exit(f"check_dist: {error}")
