"""The scripts of a page that stand in it, and the hash by which a browser knows them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files

from markupsafe import Markup


def permitted(names: Iterable[str]) -> dict[str, str]:
    """`script`, all of them together, and `allowed`: the browser runs the script whose hash that is, and no other."""
    script = "\n".join((files("regard.report.pages") / name).read_text(encoding="utf-8") for name in names)
    return {"script": Markup(script), "allowed": b64encode(sha256(f"\n{script}\n".encode()).digest()).decode()}
