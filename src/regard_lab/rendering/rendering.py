"""Everything that is drawn of a table's results, written together: Markdown, LaTeX, a page, and SVG figures."""

from __future__ import annotations

import html
import re
from pathlib import Path

from regard.files import write_all
from regard_lab.reading.places import published_file, results_file
from regard_lab.rendering.documents import latex, markdown, page
from regard_lab.rendering.figures import draw
from regard_lab.rendering.sheet import make_sheet
from regard_lab.results import Results, read_results
from regard_lab.tables.table import Table


def render(table: Table, folder: Path) -> list[Path]:
    """Write what a folder's results give; the files. Figures that cannot be drawn yet are left out."""
    contents = rendered(table, *results_in(table, folder))
    write_all(folder, {name: text.encode("utf-8", "replace") for name, text in contents.items()})
    return [folder / name for name in contents]


def results_in(table: Table, folder: Path) -> tuple[Results, Results | None]:
    """The results of a folder, and the published ones where those are others."""
    beside = published_file(table, folder)
    own = read_results(table, results_file(table, folder))
    return own, read_results(table, beside) if beside is not None else None


def rendered(table: Table, results: Results, published: Results | None = None) -> dict[str, str]:
    """File -> content."""
    sheet = make_sheet(table, results, published)
    rows = list(results.rows.values())
    figures = draw(table, rows)
    if table.does.draw is not None:
        figures |= {name: (title_of(svg) or name, svg) for name, svg in table.does.draw(table, rows).items()}
    files = {f"{table.stem}-{name}.svg": (title, svg) for name, (title, svg) in figures.items()}
    return {
        **{file: svg for file, (_, svg) in files.items()},
        f"{table.stem}.tex": latex(sheet),
        f"{table.stem}.html": page(sheet, list(files.values())),
        f"{table.stem}.md": markdown(sheet, {file: title for file, (title, _) in files.items()}),
    }


def title_of(svg: str) -> str:
    """What a drawing says of itself."""
    found = re.search(r"<title>([^<]*)</title>", svg)
    return html.unescape(found[1]) if found else ""
