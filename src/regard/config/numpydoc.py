"""The "Parameters" section of the estimators' docstrings (numpydoc), made from the options they share with `regard train`."""

from __future__ import annotations

import textwrap
import types
import typing
from typing import Annotated, Literal

from regard.config.option_table import OptionField, options

# files, columns and the kind of task: these are arguments of `fit` instead
NOT_IN_PYTHON = (
    *("train", "dev", "test", "text", "label", "label_separator", "task", "weight", "skip_bad_rows", "encoding"),
)
WIDTH = 88
OTHERS = """\
verbose : bool, default=False
    Show progress while fitting.
log : str, list of str or None, default=None
    Where to log epochs and results: "tensorboard:DIR", "wandb:PROJECT" or
    "mlflow:EXPERIMENT", or several of them."""


def class_doc(summary: str, attributes: str, example: str) -> str:
    """A numpydoc docstring: what the class is, all parameters, the fitted attributes, an example."""
    sections = {"Parameters": parameters_section(), "Attributes": attributes, "Examples": example}
    parts = [f"{title}\n{'-' * len(title)}\n{textwrap.dedent(text).strip()}" for title, text in sections.items()]
    return "\n\n".join([textwrap.dedent(summary).strip(), *parts]) + "\n"


def parameters_section() -> str:
    entries = [entry(option) for option in options() if option.name not in NOT_IN_PYTHON]
    return "\n".join([*entries, OTHERS])


def entry(option: OptionField) -> str:
    default = f'"{option.default}"' if isinstance(option.default, str) else option.default
    text = option.about.help
    sentence = text[0].upper() + text[1:] + "."
    described = textwrap.fill(sentence, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{option.name} : {type_text(option)}, default={default}\n{described}"


def type_text(option: OptionField) -> str:
    names = type_names(option.kind)
    if option.default is None and "None" not in names:
        names.append("None")
    return " or ".join(names)


def type_names(kind: typing.Any) -> list[str]:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return [*type_names(inner[0]), f'"{inner[1]}"']
    if origin in (types.UnionType, typing.Union):
        return [name for part in inner for name in type_names(part)]
    if origin is Literal:
        return ["{" + ", ".join(f'"{value}"' for value in inner) + "}"]
    if origin is tuple:
        return ["tuple of int"]
    return ["None" if kind is types.NoneType else kind.__name__]
