"""The templates of all pages, the layout they share, and the scripts that a browser may run in them."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from regard.report import colours
from regard.report.text.characters import one_line, visible
from regard.report.text.highlights import weight_text
from regard.report.text.numbers import between, contribution_text, share, signed, written

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

HERE = "regard.report.pages"
FOLDING, SORTING, FINDING = "folding.js", "sorting.js", "finding.js"  # scripts that several pages share
FIRST_TEXTS = 50  # of a page of texts; the others wait in a template element until they are wanted
WRONG_NAMED = 20  # texts with a wrong answer that are linked one by one


def render(name: str, view: DataclassInstance, scripts: Sequence[str] = (), payload: str = "") -> str:
    """A page as text, to be written as UTF-8; the template sees the fields of `view`.

    `payload` is JSON for the scripts. The page carries the hash of its script, and a browser runs no other.
    """
    return templates().get_template(name).render(page_values(view, "\n".join(map(script_text, scripts)), payload))


def page_values(view: DataclassInstance, script: str, payload: str = "") -> dict[str, object]:
    """What the template of a page and the layout see."""
    layout = {
        "script": Markup(script),
        "script_hash": b64encode(sha256(f"\n{script}\n".encode()).digest()).decode() if script else "",
        "payload": Markup(payload),
    }
    return {**fields_of(view), **layout}


def script_text(name: str) -> str:
    return (files(HERE) / name).read_text(encoding="utf-8")


def fields_of(view: DataclassInstance) -> dict[str, object]:
    return {field.name: getattr(view, field.name) for field in fields(view)}


@cache
def templates() -> Environment:
    environment = Environment(
        loader=PackageLoader(HERE, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "exact": exact,
        "line": one_line,
        "commands": commands,
        "weight": weight_text,
        "contribution": contribution_text,
        "capitalised": capitalised,
        "hexed": colours.hexed,
        "signed": signed,
        "written": written,
        "share": share,
        "between": between,
        "natural": natural_size,
        "is_words": is_words,
    }
    environment.globals |= {"colours": colours, "on_dark": colours.ON_DARK}
    environment.globals |= {"first_texts": FIRST_TEXTS, "wrong_named": WRONG_NAMED}
    return environment


def commands(text: str) -> Markup:
    """What is between backticks as code; a backtick without a partner stays."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def exact(text: str) -> Markup:
    """Escaped; a carriage return is written as a reference, or the parser would turn it into a newline."""
    return Markup(str(escape(visible(text))).replace("\r", "&#13;"))


def is_words(cell: str) -> bool:
    """Whether a cell of a table has words and not a number, an interval or a dash."""
    return not re.fullmatch(r"|–|[<>+−-]?[\d.,]+(?:e[+-]?\d+)?(?: %)?(?: \(.*\))?", cell)


def natural_size(svg: str) -> tuple[int, int]:
    """Width and height in pixels that a figure was drawn for."""
    size = re.search(r'<svg [^>]*?\bwidth="(\d+)" height="(\d+)"', svg)
    return (int(size[1]), int(size[2])) if size else (640, 480)


def capitalised(sentence: str) -> str:
    """With an upper-case first letter; the others, such as those of a class name, stay as they are."""
    return sentence[:1].upper() + sentence[1:]
