"""PDF and PNG by typst (the extra `pdf`): the only place that calls it.

Templates are the files in `typst/`. Whatever a user wrote reaches them as strings in `sys.inputs`, which typst never reads as
code. The same input and fonts give the same bytes. PDFs embed the letters that they use: from the fonts of typst, and
for other scripts from the fonts of the system.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from regard.extras import import_extra
from regard.report.plots.svg import FONTS

VERSION = "1.5"  # of PDF: what pdflatex includes without a warning
ARCHIVE = "a-2b"  # the standard PDF/A, which does not allow letters without a font
PPI = 300.0
SANS = "Helvetica, Arial, Liberation Sans, Noto Sans, DejaVu Sans"  # typst does not know `system-ui` and `sans-serif`


def typeset(template: str, inputs: Mapping[str, str], kind: Literal["pdf", "png"]) -> bytes:
    """A document; a PNG must have one page."""
    result: bytes = _compile(template, inputs, {"format": kind, "pdf_standards": VERSION, "ppi": PPI, "timestamp": 0})
    return result


def missing_letter(template: str, inputs: Mapping[str, str]) -> str:
    """A letter that no font contains and that is drawn as a box, or ""."""
    try:
        _compile(template, inputs, {"format": "pdf", "pdf_standards": ARCHIVE, "timestamp": 0})
    except _typst().TypstError as problem:
        found = re.search(r'the text `"(.+?)"` could not be displayed', str(problem.message))
        return found[1] if found else ""
    return ""


def measured(template: str, inputs: Mapping[str, str], label: str) -> Any:
    """The value that a template gives as metadata with this label."""
    with as_file(files("regard.report") / "typst") as folder:
        return json.loads(_compiler(folder, template, inputs).query(f"<{label}>", "value", True))


def pdf(svg: str) -> bytes:
    """A figure as `plots.svg.document` writes it."""
    return typeset("figure.typ", _figure(svg), "pdf")


def boxed_letter(svg: str) -> str:
    """A letter that the PDF of a figure shows as a box, or ""."""
    return missing_letter("figure.typ", _figure(svg))


def _figure(svg: str) -> dict[str, str]:
    title = next((one.text or "" for one in ElementTree.fromstring(svg) if one.tag.endswith("title")), "")
    return {"svg": svg.replace(FONTS, SANS, 1), "title": title}


def _compile(template: str, inputs: Mapping[str, str], options: Mapping[str, object]) -> Any:
    with as_file(files("regard.report") / "typst") as folder:
        return _compiler(folder, template, inputs).compile(**options)


def _compiler(folder: Path, template: str, inputs: Mapping[str, str]) -> Any:
    return _typst().Compiler(str(folder / template), root=str(folder), font_paths=_fonts(), sys_inputs=dict(inputs))


@cache
def _fonts() -> Any:
    """The fonts of the system, which take longer to find than a figure to draw."""
    return _typst().Fonts()


def _typst() -> Any:
    return import_extra("typst", "PDF and PNG")
