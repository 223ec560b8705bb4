"""Where tables and their results are stored."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from regard.errors import InputError
from regard_lab.reading.checks import suggestion
from regard_lab.reading.table_file import read_table
from regard_lab.tables.table import Table

VARIABLE = "REGARD_EXPERIMENTS"
OUT = Path("reproduced")
PACKAGED = Path(__file__).parents[1] / "experiments"  # the tables of a wheel, without results


def home() -> Path:
    """The folder of the papers: that of the variable, or ./experiments, or that of the running checkout, or the wheel's."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.path.isdir(named):
            raise InputError(f"{VARIABLE}: expected a folder of PAPER/TABLE.toml, got {named!r}")
        return Path(named)
    checkout = Path(__file__).parents[3] / "experiments"
    for folder in (Path("experiments"), checkout, PACKAGED):
        if folder.is_dir() and any(folder.glob("*/*.toml")):
            return folder
    raise InputError(
        "no folder `experiments` was found here, in a checkout or in the installed package; give the path of a .toml "
        f"file, or set {VARIABLE} to a folder of PAPER/TABLE.toml"
    )


def table_names(folder: Path) -> dict[str, Path]:
    return {f"{path.parent.name}/{path.stem}": path for path in sorted(folder.glob("*/*.toml"))}


def find_table(name: str) -> Table:
    """The table with this name, or from this file."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise InputError(f"{name}: no such file; expected PAPER/TABLE or a TOML file")
        table_name = f"{Path(os.path.abspath(path)).parent.name}/{path.stem}"
        table = read_table(path, table_name)
        return table if is_found_by(table_name, path) else replace(table, path_argument=name)
    folder = home()
    names = table_names(folder)
    if name not in names:
        raise InputError(f"{name}: no such table in {folder}{suggestion(name, names)}")
    return read_table(names[name], name)


def is_found_by(name: str, path: Path) -> bool:
    """Whether this name alone finds the table of this file."""
    try:
        table_path = table_names(home()).get(name)
    except InputError:  # a path works without a folder of papers
        return False
    return table_path is not None and table_path.samefile(path)


def results_folder(table: Table, out: Path | None) -> Path:
    return out if out is not None else OUT / table.name.partition("/")[0]


def results_file(table: Table, folder: Path) -> Path:
    return folder / f"{table.stem}.jsonl"


def published_file(table: Table, folder: Path) -> Path | None:
    """The results next to the table, unless that is this folder."""
    published = table.path.parent
    path = results_file(table, published)
    return path if path.exists() and published.resolve() != folder.resolve() else None
