"""The options of a run: frozen dataclasses, read strictly from TOML, and the same on the command line.

Every field carries the line that `--help` prints. Contradictions are refused here, before anything is read or written.
"""

from __future__ import annotations

import difflib
import json
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from regard.errors import InputError

LEVELS = (1, 2, 3)
AUTO = "auto"  # a word that some options take beside numbers
WIDEST = 100_000  # beyond this a width is a slip of the finger


def option(default: Any, help: str) -> Any:
    """None where the type has no None: left open until `training/choices` fills it in."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Data:
    """What is read, and how."""

    train: str | None = option(None, "the file, folder or named corpus to learn from")
    dev: str | None = option(None, "what early stopping looks at (default: a part of the training texts is held out)")
    test: str | None = option(None, "what the finished model is scored on, once")
    text: str | None = option(None, "the column of the texts (default: guessed)")
    label: str | None = option(None, "the column of the labels (default: guessed)")
    task: Literal["auto", "binary", "multiclass", "regression"] = option("auto", "what the labels are")
    dev_fraction: float = option(0.1, "the part of the training texts held out where no dev file is given")
    max_words: int | None = option(None, "cut texts after this many words (default: nothing is cut)")
    min_count: int = option(
        None,
        "what is seen fewer times in training counts as unknown (default: 2; by the corpus' size where pairs are read)",
    )
    max_vocabulary: int | None = option(None, "keep only this many words, the most frequent ones")
    pairs: bool = option(
        None, 'look at pairs of neighbouring words too, as in "not good" (default: where the encoder reads none)'
    )
    beginnings: int = option(
        None, "look at the first N letters of longer words too; 0: don't (default: 5 where pairs are read, else 0)"
    )
    lowercase: bool = option(True, "read capitals as small letters")
    vectors: str | None = option(None, "word vectors to start from: GloVe-style text, or npz (named ones too)")
    skip_bad_rows: bool = option(False, "leave out rows that cannot be used instead of stopping at the first")


@dataclass(frozen=True)
class Model:
    """What is built. `encoder` and `pooling` may name one a level, words first: "cnn,bilstm"."""

    encoder: str = option("embedding", "what reads the words: embedding, affine, cnn, lstm, bilstm, bert")
    pooling: str = option(
        "attention",
        "what makes one vector of them: average, max, last, attention, apln, norm_unit, bottleneck, summary",
    )
    levels: int = option(
        1, "1 reads words; 2 words and sentences (HAN); 3 also the parts of a text, such as a user's reviews"
    )
    embedding: int = option(
        None,
        "width of a word's vector; a vectors file has its own (default: 100; sparse engine: 16 to 64, by the classes)",
    )
    hidden: int = option(200, "width of the encoder's states: all filters, or both directions together")
    windows: tuple[int, ...] = option(
        (3,), "how many words a cnn's filters see; several share `hidden` out (Kim: 3 4 5)"
    )
    attention: Literal["additive", "dot"] = option(
        None, "how attention and apln score a word (default: additive, with the sparse engine dot)"
    )
    query: int = option(200, "width of additive attention's query")
    scale: Annotated[float, AUTO] = option(
        None,
        "λ, what attention scores are divided by; auto: the most readable that costs no accuracy, by trying some "
        "(default: 1, with the sparse engine 3)",
    )
    norm: Literal["scalar", "sample", "feature"] = option("scalar", "apln's norm p: one, one a text, or one a feature")
    norm_init: float | None = option(None, "p at the start (default: 1 for apln, 2 for norm_unit)")
    rescale: Literal["clip", "normalise", "signed"] = option(
        "clip", "how apln treats states below 0 and above 1: clip, normalise a text's, or signed powers"
    )
    nonnegative: bool = option(True, "apln: limit the input to 0 or more (off: the paper's −SL ≥0)")
    bounded: bool = option(True, "apln: limit the input to 1 or less (off: the paper's −SL ≤1)")
    reformulate: bool = option(True, "apln: take powers as exp(p·log x) (off: the paper's −RF)")
    unit_length: bool = option(False, "apln: give its vector one learned length, so that a larger p cannot lengthen it")
    head_bias: bool = option(True, "a bias in the last layer (Sun & Lu have none)")
    head_hidden: bool = option(False, "a hidden layer before the last one, as pooling = bottleneck always has")
    query_range: float = option(0.1, "what attention asks with (V, q) is drawn from ± this")
    embedding_range: float = option(0.1, "word vectors without a given start are drawn from ± this")
    freeze_embeddings: bool = option(False, "leave the word vectors as they start")
    pretrained: str | None = option(None, "bert: a folder with a model of the BERT family, or its name on the hub")
    frozen_layers: int = option(0, "bert: how many of its lowest layers, and the word vectors, stay as they are")
    window: int | None = option(
        None,
        "bert: word pieces read together, a longer text in several windows; 0: refuse it (default: what the model can)",
    )

    @property
    def reads_pieces(self) -> bool:
        """Whether a pretrained encoder stands at the bottom, which has word pieces of its own."""
        return level_names(self.encoder)[0] == "bert"

    @property
    def is_scale_open(self) -> bool:
        """Whether λ is to be chosen by trying."""
        return str(self.scale) == AUTO

    def filled(self) -> Model:
        """With what PyTorch models have where nothing is said."""
        plain: dict[str, Any] = {"embedding": 100, "attention": "additive", "scale": 1.0}
        return replace(self, **{name: value for name, value in plain.items() if getattr(self, name) is None})


@dataclass(frozen=True)
class Training:
    """How it learns."""

    engine: Literal["auto", "sparse", "torch"] = option(
        "auto", "sparse: compiled, for attention over embedding or affine on a CPU; torch: everything else"
    )
    epochs: int = option(None, "passes over the training texts, at most (default: by their number)")
    patience: int = option(
        None, "stop after this many epochs without a better dev score; 0: never (default: by the number of texts)"
    )
    batch_size: int = option(None, "texts a step (default: 64, with the sparse engine 32 or fewer, by their number)")
    optimizer: Literal["adam", "adagrad", "sgd"] = option(
        None, "how steps are taken (default: adam, with the sparse engine adagrad)"
    )
    lr: float | None = option(
        None,
        "learning rate (default: adam 0.003, adagrad 0.05, sgd 0.1; sparse engine: adagrad 0.1 to 0.3, by the data, sgd 1)",
    )
    decay: bool = option(
        None, "let the learning rate fall to 0 along the run (default: with the sparse engine; it alone can)"
    )
    norm_lr: float = option(1.0, "factor on the learning rate of the norms p alone; 0: they stay as they start")
    dropout: float = option(
        None,
        "the share of inputs dropped, at the embeddings (sparse: whole words) and at each encoder's states (default: 0.2)",
    )
    l2: float = option(0.0, "L2 penalty on every weight")
    vtw: float = option(0.0, "penalty c·(VᵀW)² that holds dot attention and the last layer apart (Sun & Lu)")
    vtw_mapped: float = option(
        0.0, "penalty c·(W'ᵀV')², W' = MᵀW and V' = MᵀV, for encoder = affine (Sun & Lu); torch engine"
    )
    beta: float = option(
        None, "β, how much pooling = bottleneck is to forget: the factor of its KL divergence (default: 0.1)"
    )
    rounds: int = option(
        None, "pooling = bottleneck: how often learner and compressor take turns after the `epochs` (default: 3)"
    )
    phase_epochs: int = option(None, "pooling = bottleneck: passes over the texts a turn (default: 1)")
    compressor_lr: float = option(None, "pooling = bottleneck: step size of the compressor's turns (default: lr)")
    clip: float = option(None, "longest gradient of one step; 0: any (default: 5, with the sparse engine any)")
    seed: int = option(0, "where chance starts: same seed, same device, same weights")
    device: str = option("auto", "cpu, cuda, or auto: cuda where there is one")
    bf16: bool = option(False, "train in bfloat16 autocast")
    deterministic: bool = option(
        None,
        "same seed, same weights, whatever the threads (default: yes; with the sparse engine, up to 20 million words)",
    )
    record: Literal["no", "epoch", "step"] = option(
        "no",
        "keep along training what words weigh and say, for `regard analyse`: after every epoch, or up to 25 times in each",
    )


@dataclass(frozen=True)
class Config:
    data: Data = field(default_factory=Data)
    model: Model = field(default_factory=Model)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        check(self)

    def override(self, values: Mapping[str, Any]) -> Config:
        """The same with some options replaced, whatever section they stand in."""
        sections = {}
        for name, section in self.sections():
            own = {item.name for item in fields(section)}
            sections[name] = replace(section, **{key: value for key, value in values.items() if key in own})
        return Config(**sections)

    def sections(self) -> Iterator[tuple[str, Any]]:
        for item in fields(self):
            yield item.name, getattr(self, item.name)

    def to_toml(self) -> str:
        """Everything that is not None, so that the file tells all that a run did."""
        lines = []
        for name, section in self.sections():
            lines.append(f"[{name}]")
            for key, value in asdict(section).items():
                if value is not None:
                    lines.append(f"{key} = {toml_value(value)}")
            lines.append("")
        return "\n".join(lines)


def level_names(given: str) -> list[str]:
    """The names in "cnn,bilstm": one for all levels, or one a level, words first."""
    return [name.strip() for name in given.split(",")]


def options() -> Iterator[tuple[str, Field[Any], Any]]:
    """(section, field, type) of every option there is."""
    for name, section in (("data", Data), ("model", Model), ("training", Training)):
        hints = typing.get_type_hints(section, include_extras=True)
        for item in fields(section):
            yield name, item, hints[item.name]


def toml_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    # a JSON string is a TOML string once the characters are kept as they are; DEL alone must be escaped too
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else repr(value)


def read_config(path: str | Path) -> dict[str, Any]:
    """The options that a TOML file gives, by name, checked."""
    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; --config takes a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise InputError(f"{path}: not a TOML file that can be read ({error})") from None
    return options_in(tables, str(path))


def options_in(tables: Mapping[str, Any], where: str) -> dict[str, Any]:
    known: dict[str, dict[str, Any]] = {}
    for section, item, kind in options():
        known.setdefault(section, {})[item.name] = kind
    found: dict[str, Any] = {}
    for section, table in tables.items():
        if section not in known or not isinstance(table, Mapping):
            raise InputError(
                f"{where}: unknown section {section!r}; known are {', '.join(f'[{name}]' for name in known)}"
            )
        for key, value in table.items():
            if key not in known[section]:
                raise InputError(f"{where}: unknown key {key!r} in [{section}]{elsewhere(key, known)}")
            found[key] = converted(value, known[section][key], f"{where}: {section}.{key}")
    return found


def elsewhere(key: str, known: Mapping[str, Mapping[str, Any]]) -> str:
    """Where an unknown key might belong, and all that is known."""
    every = {name: section for section, names in known.items() for name in names}
    near = difflib.get_close_matches(key, every, 1, 0.7)
    hint = f"; did you mean {near[0]!r} in [{every[near[0]]}]?" if near else ";"
    return hint + " known keys are " + "; ".join(f"[{section}] {', '.join(names)}" for section, names in known.items())


def converted(value: Any, kind: Any, where: str) -> Any:
    """A value from TOML or from Python as the type of its field, or a sentence that says what is accepted."""
    if getattr(value, "ndim", None) == 0:  # a number of numpy's, as a search over a grid gives it
        value = value.item()
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        if value == inner[1]:
            return value
        if isinstance(value, str):
            raise InputError(f"{where} = {value!r}: a number, or {inner[1]!r}, is accepted")
        return converted(value, inner[0], where)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        return converted(value, next(part for part in inner if part is not types.NoneType), where)
    if origin is Literal:
        if value in inner:
            return value
        raise InputError(f"{where} = {value!r}: accepted are {', '.join(map(str, inner))}")
    if origin is tuple:
        if isinstance(value, (list, tuple)) and all(
            isinstance(item, int) and not isinstance(item, bool) for item in value
        ):
            return tuple(value)
        raise InputError(f"{where} = {value!r}: a list of whole numbers is accepted")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, kind) and not (kind is not bool and isinstance(value, bool)):
        return value
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    raise InputError(f"{where} = {value!r}: {names[kind]} is accepted")


def check(config: Config) -> None:
    """Refuse values outside their range and options that contradict each other."""
    data, model, training = config.data, config.model, config.training
    check_ranges(data, model, training)
    check_together(data, model, training)
    check_pretrained(data, model, training)


def check_ranges(data: Data, model: Model, training: Training) -> None:
    for name, value, low, high in (
        ("dev_fraction", data.dev_fraction, 0, 0.9),
        ("max_words", data.max_words, 1, None),
        ("min_count", data.min_count, 1, None),
        ("max_vocabulary", data.max_vocabulary, 1, None),
        ("beginnings", data.beginnings, 0, 100),
        ("embedding", model.embedding, 1, WIDEST),
        ("hidden", model.hidden, 1, WIDEST),
        ("query", model.query, 1, WIDEST),
        ("norm_init", model.norm_init, 1e-2, 1e3),
        ("frozen_layers", model.frozen_layers, 0, None),
        ("window", model.window, 0, None),
        ("epochs", training.epochs, 1, None),
        ("patience", training.patience, 0, None),
        ("batch_size", training.batch_size, 1, None),
        ("norm_lr", training.norm_lr, 0, None),
        ("dropout", training.dropout, 0, 0.95),
        ("l2", training.l2, 0, None),
        ("vtw", training.vtw, 0, None),
        ("vtw_mapped", training.vtw_mapped, 0, None),
        ("beta", training.beta, 0, None),
        ("rounds", training.rounds, 1, 1000),
        ("phase_epochs", training.phase_epochs, 1, None),
        ("clip", training.clip, 0, None),
        ("seed", training.seed, 0, 2**31 - 1),
    ):
        within(name, value, low, high)
    for name, value in (
        ("scale", None if model.is_scale_open else model.scale),
        ("lr", training.lr),
        ("compressor_lr", training.compressor_lr),
        ("query_range", model.query_range),
        ("embedding_range", model.embedding_range),
    ):
        if value is not None and (isinstance(value, str) or not 0 < value < float("inf")):
            also = ", or auto," if name == "scale" else ""
            raise InputError(f"{name} = {value!r}: a number above 0{also} is accepted")
    if model.levels not in LEVELS:
        raise InputError(f"levels = {model.levels}: 1 (words), 2 (sentences) or 3 (parts) is accepted")
    if not model.windows or min(model.windows) < 1 or max(model.windows) > 100:
        raise InputError(f"windows = {list(model.windows)}: one or more whole numbers from 1 to 100 are accepted")


def check_together(data: Data, model: Model, training: Training) -> None:
    """Options that contradict each other."""
    if model.rescale == "signed" and not (model.nonnegative and model.reformulate):
        raise InputError(
            "rescale = 'signed' needs nonnegative and reformulate as they are: it takes the place of the one and of pow"
        )
    names = level_names(model.pooling)
    if (data.pairs or data.beginnings) and (model.levels > 1 or model.encoder not in ("embedding", "affine")):
        raise InputError(
            "pairs and beginnings need encoder = 'embedding' or 'affine' and levels = 1: others read in order"
        )
    if training.vtw and (names[-1] != "attention" or model.attention != "dot" or model.head_hidden):
        raise InputError(
            "vtw needs pooling = 'attention' with attention = 'dot' on the highest level, without head_hidden: "
            "there is no V or no W otherwise"
        )
    below = names[:-1] if len(names) > 1 else names * (model.levels - 1)
    if "bottleneck" in below:
        raise InputError(
            f"pooling = {model.pooling!r}: a bottleneck stands on the highest level only; "
            f"{','.join(['attention'] * (max(model.levels, len(names)) - 1) + ['bottleneck'])!r} is accepted"
        )
    for name in ("beta", "rounds", "phase_epochs", "compressor_lr"):
        if names[-1] != "bottleneck" and getattr(training, name) is not None:
            raise InputError(
                f"{name} = {getattr(training, name)!r} needs pooling = 'bottleneck' on the highest level: "
                "training has no rounds otherwise"
            )
    alone = model.levels == 1 and model.pooling.strip() == "attention" and not model.head_hidden
    if training.vtw_mapped and not (alone and model.encoder.strip() == "affine" and model.attention == "dot"):
        raise InputError(
            "vtw_mapped needs encoder = 'affine', pooling = 'attention', attention = 'dot' and levels = 1, without head_hidden: "
            "there is no M, no V or no W otherwise"
        )
    if training.record != "no" and (not alone or data.task == "regression"):
        raise InputError(
            f"record = {training.record!r} needs pooling = 'attention', levels = 1 and classes to tell apart, "
            "without head_hidden: words have no attention score, no polarity or no type otherwise"
        )


def check_pretrained(data: Data, model: Model, training: Training) -> None:
    """What goes with a pretrained encoder, and what needs one."""
    names = level_names(model.encoder)
    if not model.reads_pieces:
        given = [
            name for name in ("pretrained", "frozen_layers", "window") if getattr(model, name) != getattr(Model, name)
        ]
        if given:
            raise InputError(f"{given[0]} = {getattr(model, given[0])!r} needs encoder = 'bert'; {names[0]!r} is given")
    elif model.pretrained is None:
        raise InputError("encoder = 'bert' needs pretrained: a folder with a model, or its name on the hub")
    if "bert" in names[1:] or (names == ["bert"] and model.levels > 1):
        raise InputError(
            f"encoder = {model.encoder!r}: bert reads word pieces, on the lowest level alone; "
            "name one a level, as in 'bert,bilstm'"
        )
    if not model.reads_pieces:
        return
    if data.vectors is not None:
        raise InputError(f"vectors = {data.vectors!r}: encoder = 'bert' has vectors of its own; leave one of them out")
    if data.max_vocabulary is not None:
        raise InputError("max_vocabulary: encoder = 'bert' has word pieces of its own; leave one of them out")
    if training.record != "no":
        raise InputError(f"record = {training.record!r}: encoder = 'bert' is not recorded; 'no' is accepted")


def within(name: str, value: float | None, low: float, high: float | None) -> None:
    if value is not None and not (low <= value < float("inf") and (high is None or value <= high)):
        accepted = f"from {low:g} to {high:g}" if high is not None else f"{low:g} or more"
        raise InputError(f"{name} = {value!r}: {accepted} is accepted")
