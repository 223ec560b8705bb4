"""An extension of griffe, which reads the source for the API reference without importing it.

Two habits of the source are not docstrings to griffe: the estimators' docstring is computed by `class_doc` from the options,
and fields of records are explained by a comment at the end of their line.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from regard.config.numpydoc import class_doc


class SourceDocstrings(griffe.Extension):
    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        computed = cls.members.get("__doc__")
        if computed is not None and str(computed.value).startswith("class_doc("):
            text = eval(str(computed.value), {"class_doc": class_doc})
            cls.docstring = griffe.Docstring(inspect.cleandoc(text), parent=cls, parser=griffe.Parser.numpy)
            cls.del_member("__doc__")
        for attribute in cls.attributes.values():
            if attribute.docstring is None and (comment := end_comment(attribute)):
                attribute.docstring = griffe.Docstring(comment, parent=attribute, parser=griffe.Parser.numpy)


def end_comment(attribute: griffe.Attribute) -> str:
    """The comment at the end of the line of a field, as a sentence."""
    if attribute.lineno is None or not isinstance(attribute.filepath, Path):
        return ""
    line = attribute.filepath.read_text(encoding="utf-8").splitlines()[attribute.lineno - 1]
    comment = line.partition("  # ")[2]
    return "" if comment.startswith("type:") else comment[:1].upper() + comment[1:]
