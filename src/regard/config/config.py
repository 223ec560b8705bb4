"""All options of one run. Values outside their bounds and contradictory options are rejected when they are combined."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from regard.config.fields import Data, Model, Training, level_names
from regard.config.option_table import options
from regard.errors import InputError

# options added after the first checkpoints were written: they leave fingerprints alone while they have these values
ADDED = {
    "within_range": True,
    "form": "printed",
    "attention_heads": 1,
    "members": 1,
    "spelling": False,
    "linear": False,
    "select": "accuracy",
    "calibrate": False,
    "keep_texts": 0,
}


@dataclass(frozen=True)
class Config:
    data: Data = field(default_factory=Data)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        check(self.data, self.model, self.training)

    def override(self, values: Mapping[str, object]) -> Config:
        """The same with some options replaced, whatever section they are in."""
        sections = {}
        for name, section in self.sections():
            names = {item.name for item in fields(section)}
            sections[name] = replace(section, **{key: value for key, value in values.items() if key in names})
        return Config(**sections)

    def sections(self) -> Iterator[tuple[str, Any]]:
        for item in fields(self):
            yield item.name, getattr(self, item.name)

    def identity_text(self) -> str:
        """All options as text, for fingerprints. Never change its form: checkpoints of older versions are recognised by it.

        A field added later belongs in `ADDED`.
        """
        lines = []
        for name, section in self.sections():
            lines.append(f"[{name}]")
            for key, value in asdict(section).items():
                if value is not None and not (key in ADDED and value == ADDED[key]):
                    lines.append(f"{key} = {toml_value(value)}")
            lines.append("")
        return "\n".join(lines)


def toml_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    # a JSON string is a TOML string as long as non-ASCII characters are kept; only DEL must be escaped too
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else repr(value)


def check(data: Data, model: Model, training: Training) -> None:
    check_bounds(data, model, training)
    check_classes(data, training)
    check_apln(model)
    check_flat_options(data, model)
    check_members(model, training)
    check_spelling(data, model, training)
    check_linear(data, model, training)
    check_bottleneck(model, training)
    check_penalties(model, training)
    check_separator(data)
    check_record(data, model, training)
    check_encoders(model)
    check_pretrained(data, model, training)


def check_bounds(data: Data, model: Model, training: Training) -> None:
    sections = {"data": data, "model": model, "training": training}
    for option in options():
        value, bounds = getattr(sections[option.section], option.name), option.about.bounds
        if value is None or bounds is None or value == option.word:
            continue
        if isinstance(value, str) or not bounds.accept(value):
            also = "" if option.word is None else f", or {option.word}"
            raise InputError(f"{option.name}: expected {bounds.expected}{also}, got {value!r}")
    if not model.windows or min(model.windows) < 1 or max(model.windows) > 100:
        raise InputError(f"windows: expected one or more whole numbers from 1 to 100, got {list(model.windows)}")


def check_classes(data: Data, training: Training) -> None:
    """Options that need classes, or two of them, if the task is named; otherwise the labels show it."""
    for name, value in (("threshold", training.threshold), ("positive", data.positive)):
        if value is not None and data.task not in ("auto", "binary"):
            raise InputError(
                f"{name} = {value!r} needs two classes, got task = {data.task!r}; leave one of the two out"
            )
    if training.class_weight is not None and data.task == "regression":
        raise InputError(
            f"class_weight = {training.class_weight!r} needs classes, got task = 'regression'; "
            "--weight COLUMN weights the texts of a regression"
        )


def check_apln(model: Model) -> None:
    if model.rescale == "signed" and not (model.nonnegative and model.reformulate):
        raise InputError(
            "rescale = 'signed' needs nonnegative and reformulate left on: it replaces the clip at 0 and has no direct power"
        )
    if model.form != "printed" and (model.rescale == "signed" or not model.reformulate):
        raise InputError(
            f"form = {model.form!r} needs rescale = 'clip' or 'normalise' and reformulate left on: signed and direct powers "
            "are computed as printed only"
        )


def check_flat_options(data: Data, model: Model) -> None:
    if (data.pairs or data.beginnings) and (model.levels > 1 or model.encoder not in ("embedding", "affine")):
        raise InputError(
            "pairs and beginnings need encoder = 'embedding' or 'affine' and levels = 1: other encoders read words in order"
        )


def check_members(model: Model, training: Training) -> None:
    if model.members is None or model.members == 1:
        return
    plain = model.encoder == "embedding" and is_single_attention(model) and model.attention != "additive"
    if not plain or training.engine == "torch":
        raise InputError(
            f"members = {model.members}: a committee is trained by the fast engine with encoder = 'embedding', "
            "pooling = 'attention', attention = 'dot' and levels = 1; other models need members = 1"
        )
    if training.record != "no":
        raise InputError(f"members = {model.members}: record = {training.record!r} needs members = 1")


def check_spelling(data: Data, model: Model, training: Training) -> None:
    if not model.spelling:
        return
    if data.task == "regression":
        raise InputError("spelling = true: expected classes, got task = 'regression'; leave it out")
    check_plain("spelling", model, training)
    if model.linear:
        raise InputError("spelling = true: expected linear = false, because a committee has one linear model, got true")


def check_linear(data: Data, model: Model, training: Training) -> None:
    if not model.linear:
        return
    if data.task == "multilabel":
        raise InputError("linear = true: expected one class or number per text, got task = 'multilabel'; leave it out")
    if data.vectors is None:
        raise InputError("linear = true: expected vectors, which the linear model reads, got none; add --vectors FILE")
    check_plain("linear", model, training)


def check_plain(name: str, model: Model, training: Training) -> None:
    """Whether a linear model can be a member."""
    plain = model.encoder == "embedding" and is_single_attention(model) and model.attention != "additive"
    if not plain or training.engine == "torch":
        raise InputError(
            f"{name} = true: expected encoder = 'embedding', pooling = 'attention', attention = 'dot' and levels = 1, trained "
            f"by the fast engine, got other options; remove them, or use {name} = false"
        )
    if model.members == 1:
        raise InputError(f"{name} = true: expected members = 2 or more, one of which is the linear model, got 1")
    if not model.head_bias:
        raise InputError(f"{name} = true needs head_bias left on: the linear model has a bias")


def check_bottleneck(model: Model, training: Training) -> None:
    names = level_names(model.pooling)
    below = names[:-1] if len(names) > 1 else names * (model.levels - 1)
    if "bottleneck" in below:
        accepted = ",".join(["attention"] * (max(model.levels, len(names)) - 1) + ["bottleneck"])
        raise InputError(
            f"pooling = {model.pooling!r}: a bottleneck can only be on the highest level; expected, for example, {accepted!r}"
        )
    if names[-1] != "bottleneck" and model.attention_heads > 1:
        raise InputError(
            f"attention_heads = {model.attention_heads} needs pooling = 'bottleneck' on the highest level: other poolings have "
            "one head"
        )
    for name in ("beta", "rounds", "phase_epochs", "compressor_lr"):
        if names[-1] != "bottleneck" and getattr(training, name) is not None:
            raise InputError(
                f"{name} = {getattr(training, name)!r} needs pooling = 'bottleneck' on the highest level: "
                "other poolings train without rounds"
            )


def is_single_attention(model: Model) -> bool:
    """Attention over words straight into the output layer: the model of Sun & Lu."""
    return model.levels == 1 and model.pooling.strip() == "attention" and not model.head_hidden


def check_penalties(model: Model, training: Training) -> None:
    top = level_names(model.pooling)[-1]
    if training.vtw and (top != "attention" or model.attention != "dot" or model.head_hidden):
        raise InputError(
            "vtw needs pooling = 'attention' with attention = 'dot' on the highest level, without head_hidden: "
            "there is no V or no W otherwise"
        )
    has_map = is_single_attention(model) and model.encoder.strip() == "affine" and model.attention == "dot"
    if training.vtw_mapped and not has_map:
        raise InputError(
            "vtw_mapped needs encoder = 'affine', pooling = 'attention', attention = 'dot' and levels = 1, without head_hidden: "
            "there is no M, no V or no W otherwise"
        )


def check_separator(data: Data) -> None:
    if data.label_separator is None:
        return
    if not data.label_separator:
        raise InputError("label_separator: expected characters such as ';', got nothing")
    if data.task not in ("auto", "multilabel"):
        raise InputError(
            f"label_separator = {data.label_separator!r} needs task = 'multilabel' or 'auto', got {data.task!r}"
        )


def check_record(data: Data, model: Model, training: Training) -> None:
    if training.record != "no" and (not is_single_attention(model) or data.task in ("regression", "multilabel")):
        raise InputError(
            f"record = {training.record!r} needs pooling = 'attention', levels = 1 and a classification task, "
            "without head_hidden: words have no attention score, no polarity or no type otherwise"
        )


def check_encoders(model: Model) -> None:
    names = level_names(model.encoder)
    if "bert" in names[1:] or (names == ["bert"] and model.levels > 1):
        raise InputError(
            f"encoder = {model.encoder!r}: bert reads word pieces and can only be on the lowest level; "
            "name one encoder per level, such as 'bert,bilstm'"
        )
    if model.reads_pieces and model.pretrained is None:
        raise InputError("encoder = 'bert' needs pretrained: a folder with a model, or its name on the hub")
    if model.reads_pieces:
        return
    for name in ("pretrained", "frozen_layers", "window"):
        if getattr(model, name) != getattr(Model, name):
            raise InputError(f"{name} = {getattr(model, name)!r} needs encoder = 'bert', got {names[0]!r}")


def check_pretrained(data: Data, model: Model, training: Training) -> None:
    """Options that cannot be combined with a pretrained encoder."""
    if not model.reads_pieces:
        return
    if data.vectors is not None:
        raise InputError(f"vectors = {data.vectors!r}: encoder = 'bert' has its own vectors; remove one of the two")
    if data.max_vocabulary is not None:
        raise InputError("max_vocabulary: encoder = 'bert' has its own vocabulary; remove one of the two")
    if training.record != "no":
        raise InputError(f"record = {training.record!r}: encoder = 'bert' cannot be recorded; expected 'no'")
