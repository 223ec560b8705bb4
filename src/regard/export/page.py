"""One HTML file that answers in a browser, offline: a flat model with its tokenizer, drawn by the scripts of `regard serve`."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from regard import __version__
from regard.errors import InputError
from regard.export.bundle import bundle
from regard.export.page_data import PageTables, page_data, page_tables
from regard.files import write_all
from regard.models.tasks import MultiLabel, Named
from regard.models.trained import Trained
from regard.serve.application import colour_style, read

MODULES = (
    ("regard.serve", "elements"),
    ("regard.serve", "words"),
    ("regard.serve", "answer"),
    ("regard.serve", "redrawing"),
    ("regard.export", "tokenizer"),
    ("regard.export", "model"),
    ("regard.export", "answering"),
    ("regard.export", "page"),
)
EXAMPLE = (
    "The staff were kind and the room was spotless. Breakfast was a disappointment, though: cold eggs, and I waited half an "
    "hour. I would still come back."
)
MOST_LISTED = 6  # classes at the head of the page


@dataclass(frozen=True)
class Page:
    size: int  # bytes
    precision: str
    texts: int
    difference: float


def export_page(trained: Trained, run: Path, out: Path) -> Page:
    check_exportable(trained, run)
    if out.is_dir():
        raise InputError(f"--out {out}: expected an HTML file to write, got a folder; for example {out / 'page.html'}")
    chosen = page_tables(trained)
    content = render(trained, chosen, run.resolve().name).encode("utf-8", "backslashreplace")
    write_all(out.absolute().parent, {out.name: content})
    return Page(len(content), chosen.precision, chosen.texts, chosen.difference)


def check_exportable(trained: Trained, run: Path) -> None:
    if not trained.is_flat:
        raise InputError(
            f"{run}: expected a run of the fast engine (embeddings, attention, one level), whose tables fit into a page, "
            f"got {trained.description}; export it with --format onnx, or show it with `regard serve`"
        )


def render(trained: Trained, chosen: PageTables, name: str) -> str:
    script, style = bundle(MODULES), colour_style() + read("page.css").decode()
    # no "<" in the data, so that nothing in a vocabulary can end the element; half a surrogate pair is written as \ud83d
    data = json.dumps(page_data(trained, chosen, name), ensure_ascii=False, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    templates = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    source = (files("regard.export") / "page.html").read_text(encoding="utf-8")
    return templates.from_string(source).render(
        name=name,
        facts=facts(trained),
        footer=f"regard {__version__} · tables in {chosen.precision}, {len(trained.tokenizer):,} units",
        example=EXAMPLE,
        script=Markup(script),
        script_hash=hashed(script),
        style=Markup(style),
        style_hash=hashed(style),
        data=Markup(data),
    )


def hashed(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def facts(trained: Trained) -> dict[str, str]:
    task = trained.task
    names = task.classes if isinstance(task, Named) else ()
    several = "several of " if isinstance(task, MultiLabel) else ""
    predicts = ", ".join(names) if 0 < len(names) <= MOST_LISTED else f"{len(names)} classes" if names else "a number"
    predicts = several + predicts
    return {
        "model": trained.description,
        "predicts": predicts,
        "training texts": str(trained.metrics.get("texts", "?")),
    }
