"""Run the notebooks of docs/notebooks: `python tools/notebooks.py` writes NAME.ipynb, with outputs, from NAME.py.

NAME.py is plain Python with cells: `# %% [markdown]` begins one of text (its lines are comments), `# %%` one of code. What a cell
prints, and the value of its last expression, become its output; an object with `_repr_svg_` is shown as a figure. All cells of a
notebook share one namespace and run in the root of the repository.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "notebooks"
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


class Cell(NamedTuple):
    kind: str
    source: str


def cells(text: str) -> Iterator[Cell]:
    """What stands before the first cell is for readers of the source."""
    parts = CELL.split(text)[1:]
    for mark, source in zip(parts[::2], parts[1::2], strict=True):
        if mark:
            lines = (line.removeprefix("#").removeprefix(" ") for line in source.strip().splitlines())
            yield Cell("markdown", "\n".join(lines))
        else:
            yield Cell("code", source.strip())


def run(source: str, namespace: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a cell, as nbformat has them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue()})
    if value is not None:
        figure = getattr(value, "_repr_svg_", None)
        data = {"image/svg+xml": figure()} if figure is not None else {"text/plain": repr(value)}
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return outputs


def notebook(path: Path) -> str:
    """The executed notebook as JSON; the same source and results give the same bytes."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        written = []
        for number, cell in enumerate(cells(path.read_text(encoding="utf-8")), 1):
            entry: dict[str, Any] = {
                "cell_type": cell.kind,
                "id": f"cell-{number}",
                "metadata": {},
                "source": cell.source,
            }
            if cell.kind == "code":
                entry |= {"execution_count": None, "outputs": run(cell.source, namespace)}
            written.append(entry)
    finally:
        os.chdir(before)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": written, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def main() -> None:
    for path in sorted(FOLDER.glob("*.py")):
        target = path.with_suffix(".ipynb")
        target.write_text(notebook(path), encoding="utf-8")
        print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
