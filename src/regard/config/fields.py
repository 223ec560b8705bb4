"""Every option of a run: its default, what `--help` says about it, its bounds, and the TOML table it belongs to.

A default of None means that the option is open: `training/defaults` fills it in, by engine and size of the data. Options of
interest to readers of one paper are in separate TOML tables ([apln], [bottleneck], [sun_lu]); on the command line they appear
under `--help-all`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from regard.config.bounds import COUNT, NOT_NEGATIVE, POSITIVE, WIDTH, Bounds
from regard.config.declaring import AUTO, BEST_F1, option


@dataclass(frozen=True)
class Data:
    """Which texts are read, and how."""

    train: str | None = option(None, "file, folder or named corpus to learn from", basic=True)
    dev: str | None = option(None, "texts for early stopping (default: part of the training texts)", basic=True)
    test: str | None = option(None, "texts to score the finished model on", basic=True)
    text: str | None = option(None, "column of the texts (default: guessed)", basic=True)
    label: str | None = option(
        None, "column of the labels (default: guessed); several columns of yes and no: toxic,insult,threat", basic=True
    )
    label_separator: str | None = option(None, "what separates several labels of a text, such as ';'")
    task: Literal["auto", "binary", "multiclass", "multilabel", "regression"] = option(
        "auto", "kind of labels; auto: guessed from them", basic=True
    )
    positive: str | None = option(
        None, "label that --threshold is about, which becomes the second of two classes (default: the second one)"
    )
    weight: str | None = option(
        None, "column of numbers that say how much each training text counts (default: all the same)"
    )
    dev_fraction: float = option(
        0.1,
        "fraction of the training texts held out for early stopping if there is no --dev; at most 100,000 texts",
        Bounds(0, 0.9),
    )
    within_range: bool = option(True, "keep predicted numbers within the range of the training labels (regression)")
    max_words: int | None = option(None, "truncate texts to this many words (default: no limit)", COUNT)
    min_count: int = option(
        None,
        "treat words seen fewer times than this in training as unknown (default: 2; fast engine: depends on the corpus size)",
        COUNT,
    )
    max_vocabulary: int | None = option(None, "keep only this many of the most frequent words (default: all)", COUNT)
    pairs: bool = option(
        None, 'also read pairs of neighbouring words, such as "not good" (default: yes with the fast engine)'
    )
    beginnings: int = option(
        None,
        "also read the first N letters of longer words; 0: off (default: 5 if pairs are read, else 0)",
        Bounds(0, 100),
    )
    lowercase: bool = option(True, "convert texts to lower case")
    vectors: str | None = option(
        None,
        "pretrained word vectors: a GloVe-style text file, an npz file, a folder of static vectors (model2vec, "
        "sentence-transformers), or a name in REGARD_DATA; several: separated by commas (default: none)",
        basic=True,
    )
    skip_bad_rows: bool = option(
        False, "skip rows that cannot be used instead of stopping at the first one", basic=True
    )
    encoding: str | None = option(None, "encoding of text files (default: UTF-8, or by byte order mark)")
    keep_texts: int = option(
        0, "keep this many training texts in the run folder, for later training with --from; never shared", NOT_NEGATIVE
    )


@dataclass(frozen=True)
class Model:
    """How the model is built. `encoder` and `pooling` may name one per level, words first: "cnn,bilstm"."""

    encoder: str = option(
        "embedding",
        "encoder of the words: embedding, affine, cnn, lstm, bilstm, gru, bigru, bert; one per level: cnn,bilstm",
        basic=True,
    )
    pooling: str = option(
        "attention",
        "what turns word states into one vector: average, max, last, attention, apln, norm_unit, bottleneck, summary",
        basic=True,
    )
    levels: int = option(
        1,
        "1: words; 2: words in sentences (HAN); 3: sentences in parts, such as a user's reviews",
        Bounds(1, 3, wording="1 (words), 2 (sentences) or 3 (parts)"),
        basic=True,
    )
    embedding: int = option(
        None,
        "width of a word vector (default: that of --vectors, else 100; fast engine: 16 to 64, depending on the classes)",
        WIDTH,
    )
    hidden: int = option(
        200, "width of the encoder's states: all filters, or both directions together", WIDTH, basic=True
    )
    windows: tuple[int, ...] = option(
        (3,), "window sizes of a cnn's filters; several share `hidden` equally (Kim: 3 4 5)"
    )
    members: int = option(
        None,
        "number of models of different random seeds that predict together; fast engine only (default: depends on the size "
        "of the corpus)",
        Bounds(1, 25),
        basic=True,
    )
    spelling: bool = option(
        None,
        "one member of the committee is a linear model over the letters of words (default: depends on the size of the "
        "corpus; no with --members or --vectors)",
    )
    linear: bool = option(
        None,
        "one member of the committee is a linear model over the mean of --vectors, and the others learn their own vectors "
        "(default: yes for a committee with --vectors)",
    )
    attention: Literal["additive", "dot"] = option(
        None, "how attention and apln score a word (default: additive; fast engine: dot)"
    )
    query: int = option(200, "width of additive attention's query", WIDTH)
    scale: Annotated[float, AUTO] = option(
        None,
        "λ, the divisor of attention scores; auto: try several and choose the one with the most interpretable "
        "attention that costs no accuracy "
        "(default: 1; fast engine: 3)",
        POSITIVE,
    )
    norm: Literal["scalar", "sample", "feature"] = option(
        "scalar", "apln's norm p: one, one per text, or one per feature", table="apln"
    )
    norm_init: float | None = option(
        None, "initial p (default: 1 for apln, 2 for norm_unit)", Bounds(1e-2, 1e3), table="apln"
    )
    rescale: Literal["clip", "normalise", "signed"] = option(
        "clip",
        "apln's treatment of values below 0 and above 1: clip, normalise per text, or signed powers",
        table="apln",
    )
    nonnegative: bool = option(True, "apln: clip its input at 0 (off: the paper's −SL ≥0)", table="apln")
    bounded: bool = option(True, "apln: clip its input at 1 (off: the paper's −SL ≤1)", table="apln")
    reformulate: bool = option(True, "apln: compute powers as exp(p·log x) (off: the paper's −RF)", table="apln")
    unit_length: bool = option(
        False, "apln: rescale its vector to one learned length, so that a larger p cannot lengthen it", table="apln"
    )
    form: Literal["printed", "no_root", "no_normaliser", "neither", "divided_by_n"] = option(
        "printed", "apln's equation 5: as printed, without root, normaliser or both, or divided by N", table="apln"
    )
    attention_heads: int = option(
        1, "bottleneck: number of attention heads, whose weights are averaged", Bounds(1, 64), table="bottleneck"
    )
    head_bias: bool = option(True, "bias in the output layer (Sun & Lu have none)", table="sun_lu")
    head_hidden: bool = option(False, "hidden layer before the output layer; always on with pooling = bottleneck")
    query_range: float = option(
        0.1, "attention's query (V, q) is initialised uniformly within ± this", POSITIVE, table="sun_lu"
    )
    embedding_range: float = option(
        0.1, "word vectors without pretrained values are initialised uniformly within ± this", POSITIVE, table="sun_lu"
    )
    freeze_embeddings: bool = option(False, "do not train the word vectors")
    pretrained: str | None = option(
        None, "encoder = bert: folder of a model of the BERT family, or its name on the hub", basic=True
    )
    frozen_layers: int = option(
        0, "encoder = bert: number of lowest layers, word vectors included, that are not trained", NOT_NEGATIVE
    )
    window: int | None = option(
        None,
        "encoder = bert: word pieces read at once; longer texts are read in several windows; 0: refuse them (default: "
        "the model's maximum)",
        NOT_NEGATIVE,
    )

    @property
    def reads_pieces(self) -> bool:
        """Whether the lowest encoder is pretrained and reads word pieces."""
        return level_names(self.encoder)[0] == "bert"

    @property
    def is_scale_open(self) -> bool:
        """Whether λ is to be chosen by trying several."""
        return str(self.scale) == AUTO

    @property
    def attention_models(self) -> int:
        """The number of members of a committee that have attention; 1 for a model that is not a committee."""
        return (self.members or 1) - bool(self.linear) - bool(self.spelling)

    def filled(self) -> Model:
        """With the defaults of PyTorch models for options that are left open."""
        return replace(
            self,
            embedding=100 if self.embedding is None else self.embedding,
            attention="additive" if self.attention is None else self.attention,
            scale=1.0 if self.scale is None else self.scale,
            members=1 if self.members is None else self.members,
            spelling=bool(self.spelling),
            linear=bool(self.linear),
        )


@dataclass(frozen=True)
class Training:
    """How the model is trained."""

    engine: Literal["auto", "sparse", "torch"] = option(
        "auto", "sparse: the fast engine, for attention over embedding or affine on a CPU; torch: everything else"
    )
    epochs: int = option(
        None, "maximum number of passes over the training texts (default: depends on their number)", COUNT, basic=True
    )
    patience: int = option(
        None,
        "stop after this many epochs without a better dev score; 0: never (default: depends on the number of texts)",
        NOT_NEGATIVE,
    )
    select: Literal["accuracy", "macro_f", "log_loss", "last"] = option(
        None,
        "dev score that decides which epoch is kept, or the last epoch (default: accuracy; last for a committee); a regression "
        "always uses RMSE, unless it is last",
    )
    class_weight: str | None = option(
        None,
        "how much the texts of each class count: balanced, so that all classes count the same, or a TOML or JSON file of numbers "
        "by class (default: every text the same)",
    )
    threshold: Annotated[float, BEST_F1] = option(
        None,
        "probability from which the second of two classes is predicted; best-f1: the one with the highest F1 of that class on "
        "the dev texts (default: the more probable class)",
        Bounds(0.001, 0.999),
    )
    calibrate: bool = option(
        None,
        "fit one temperature on the dev texts, so that probabilities agree with the share of right answers (default: yes, "
        "except with --record)",
    )
    batch_size: int = option(
        None,
        "texts per step (default: 64; fast engine: at most 32, depending on the number of texts)",
        COUNT,
    )
    optimizer: Literal["adam", "amsgrad", "adagrad", "sgd"] = option(
        None, "optimizer (default: adam; fast engine: adagrad)"
    )
    lr: float | None = option(
        None,
        "learning rate (default: adam, amsgrad 0.003, adagrad 0.05, sgd 0.1; fast engine: adagrad 0.1 to 0.3, depending on "
        "the data, sgd 1)",
        POSITIVE,
        basic=True,
    )
    decay: bool = option(
        None, "decay the learning rate to 0 over the run; fast engine only (default: yes with the fast engine)"
    )
    norm_lr: float = option(
        1.0, "factor on the learning rate of the norms p; 0: keep their initial values", NOT_NEGATIVE, table="apln"
    )
    dropout: float = option(
        None,
        "fraction of inputs dropped, at the embeddings (fast engine: whole words) and at each encoder's states "
        "(default: 0.2; fast engine and bert: 0.1)",
        Bounds(0, 0.95),
    )
    l2: float = option(0.0, "L2 penalty on all weights", NOT_NEGATIVE)
    vtw: float = option(
        0.0, "penalty c·(VᵀW)² between dot attention and the output layer", NOT_NEGATIVE, table="sun_lu"
    )
    vtw_mapped: float = option(
        0.0,
        "penalty c·(W'ᵀV')², W' = MᵀW and V' = MᵀV, for encoder = affine; torch engine",
        NOT_NEGATIVE,
        table="sun_lu",
    )
    beta: float = option(
        None, "β, the factor of the compressor's KL divergence (default: 0.1)", NOT_NEGATIVE, table="bottleneck"
    )
    rounds: int = option(
        None,
        "number of rounds of learner and compressor after the first `epochs` (default: 3)",
        Bounds(1, 1000),
        table="bottleneck",
    )
    phase_epochs: int = option(None, "epochs per phase of a round (default: 1)", COUNT, table="bottleneck")
    compressor_lr: float = option(None, "learning rate of the compressor (default: lr)", POSITIVE, table="bottleneck")
    clip: float = option(
        None, "maximum gradient norm of a step; 0: no clipping (default: 5; fast engine: no clipping)", NOT_NEGATIVE
    )
    seed: int = option(0, "random seed: same seed and device, same weights", Bounds(0, 2**31 - 1), basic=True)
    device: str = option("auto", "cpu, cuda, or auto: cuda if available", basic=True)
    bf16: bool = option(False, "train in bfloat16 autocast")
    deterministic: bool = option(
        None,
        "same seed, same weights, for any number of threads (default: yes; fast engine: up to 20 million words)",
    )
    record: Literal["no", "epoch", "step"] = option(
        "no",
        "record attention and polarity of words during training, for `regard analyse`: after every epoch, "
        "or up to 25 times per epoch",
    )


def level_names(text: str) -> list[str]:
    """The names in "cnn,bilstm": one for all levels, or one per level, words first."""
    return [name.strip() for name in text.split(",")]
