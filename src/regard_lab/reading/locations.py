"""Where tables are looked for, by name, and where results go."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from regard.errors import InputError
from regard_lab.reading.checks import near
from regard_lab.reading.table_file import read_table
from regard_lab.tables.table import Table

VARIABLE = "REGARD_EXPERIMENTS"
OUT = Path("reproduced")
PACKAGED = Path(__file__).parents[1] / "experiments"  # a wheel has the tables there, without results


def home() -> Path:
    """The folder of the papers: the variable's, or `experiments` here, or that of the checkout that runs, or the wheel's."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.path.isdir(named):
            raise InputError(f"{VARIABLE} is {named!r}, which is no folder; a folder of PAPER/TABLE.toml is accepted")
        return Path(named)
    checkout = Path(__file__).parents[3] / "experiments"
    for folder in (Path("experiments"), checkout, PACKAGED):
        if folder.is_dir() and any(folder.glob("*/*.toml")):
            return folder
    raise InputError(
        f"there is no folder `experiments` here, and neither a checkout nor an installed one; {VARIABLE} names the "
        "folder of PAPER/TABLE.toml, and a path to a .toml is accepted too"
    )


def table_names(folder: Path) -> dict[str, Path]:
    return {f"{path.parent.name}/{path.stem}": path for path in sorted(folder.glob("*/*.toml"))}


def find_table(name: str) -> Table:
    """The table of that name, or of that file."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise InputError(f"{name}: there is no such file; PAPER/TABLE or a TOML file is accepted")
        own = f"{Path(os.path.abspath(path)).parent.name}/{path.stem}"
        table = read_table(path, own)
        return table if leads_to(own, path) else replace(table, asked=name)
    folder = home()
    names = table_names(folder)
    if name not in names:
        raise InputError(f"{name}: no such table in {folder}{near(name, names)}")
    return read_table(names[name], name)


def leads_to(name: str, path: Path) -> bool:
    """Whether a table is found by its name alone."""
    try:
        found = table_names(home()).get(name)
    except InputError:  # nothing is: a path needs no folder of papers
        return False
    return found is not None and found.samefile(path)


def results_folder(table: Table, out: Path | None) -> Path:
    return out if out is not None else OUT / table.name.partition("/")[0]


def results_file(table: Table, folder: Path) -> Path:
    return folder / f"{table.stem}.jsonl"


def published_file(table: Table, folder: Path) -> Path | None:
    """The results that came with the table, where they are not the very ones of this folder."""
    beside = table.path.parent
    path = results_file(table, beside)
    return path if path.exists() and beside.resolve() != folder.resolve() else None
