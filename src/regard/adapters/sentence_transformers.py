"""regard's poolings as a module of sentence-transformers: `LearnedPooling` in place of its `Pooling`.

It trains with the model around it, is saved as safetensors with a config.json, and returns the weight of every token
beside the sentence embedding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from regard.config import Config, Model
from regard.errors import InputError
from regard.extras import install_command, missing_extra

try:  # before PyTorch, which its extra installs too: one sentence for both
    from sentence_transformers.base.modules import Module
except ImportError as error:
    raise missing_extra(error, "LearnedPooling") or InputError(
        f"LearnedPooling needs sentence-transformers 6 or newer ({error}): {install_command('sentence_transformers')}"
    ) from None

import torch
from torch import Tensor

from regard.poolings import POOLINGS

WEIGHTS = "model.safetensors"
FEATURE = "pooling_weights"  # among the features that the model returns


def learned_poolings() -> list[str]:
    """Poolings that learn which tokens count, and that need nothing but the states of the tokens."""
    return [
        name
        for name, kind in POOLINGS.items()
        if (kind.attends or kind.has_norm) and not kind.compresses and not kind.reads_summary
    ]


class LearnedPooling(Module):
    """The sentence embedding as a learned mean of the token embeddings.

    Parameters
    ----------
    embedding_dimension : int
        The width of the token embeddings, `transformer.get_embedding_dimension()`.
    pooling : str
        attention, apln or norm_unit.
    options : mapping, optional
        The options of the pooling under their names in `regard train`: attention, query, scale, query_range, and for apln
        norm, norm_init, rescale, nonnegative, bounded, reformulate and unit_length; norm_unit has norm_init. The defaults
        are those of `regard train`, except that apln's `rescale` is "signed", because the embeddings of a transformer have
        either sign.
    include_prompt : bool
        Whether the tokens of a prompt count, as in `Pooling` of sentence-transformers.
    """

    config_keys = ["embedding_dimension", "pooling", "options", "include_prompt"]  # noqa: RUF012 (as in the base class)

    def __init__(
        self,
        embedding_dimension: int,
        pooling: str = "attention",
        options: Mapping[str, Any] | None = None,
        include_prompt: bool = True,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if pooling not in learned_poolings():
            raise InputError(f"pooling: expected one of {', '.join(learned_poolings())}, got {pooling!r}")
        if isinstance(embedding_dimension, bool) or not isinstance(embedding_dimension, int) or embedding_dimension < 1:
            raise InputError(f"embedding_dimension: expected a whole number of at least 1, got {embedding_dimension!r}")
        model = model_options(pooling, options or {})
        self.embedding_dimension, self.pooling, self.include_prompt = embedding_dimension, pooling, include_prompt
        # all of them are saved, so that other defaults in a later version change nothing
        self.options = {name: getattr(model, name) for name in POOLINGS[pooling].options}
        self.pool = POOLINGS[pooling].configured(embedding_dimension, 1, model)

    def get_embedding_dimension(self) -> int:
        return self.embedding_dimension

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Adds `sentence_embedding` (B, D) and `pooling_weights` (B, L), which sum to 1 over the tokens of a text."""
        states, mask = padded(features)  # (B, L, D), (B, L)
        prompt = features.get("prompt_length")
        if not self.include_prompt and prompt is not None:
            mask = without_prompt(mask, int(prompt.reshape(-1)[0]) if isinstance(prompt, Tensor) else int(prompt))
        # real tokens first, as poolings expect it, also with padding on the left
        order = mask.int().argsort(dim=1, descending=True, stable=True)  # (B, L)
        pooled = self.pool(states.gather(1, order.unsqueeze(-1).expand_as(states)), mask.gather(1, order))
        features["sentence_embedding"] = pooled.vector.to(states.dtype)
        features[FEATURE] = torch.zeros_like(pooled.weights).scatter(1, order, pooled.weights)
        return features

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Always as safetensors: there is no pickle to load."""
        self.save_config(output_path)
        self.save_torch_weights(output_path, safe_serialization=True)

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        init_defaults: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        place: dict[str, Any] = {
            "subfolder": subfolder,
            "token": token,
            "cache_folder": cache_folder,
            "revision": revision,
            "local_files_only": local_files_only,
        }
        if cls.load_file_path(model_name_or_path, WEIGHTS, **place) is None:
            raise InputError(f"{model_name_or_path}: expected {WEIGHTS} in {subfolder or 'it'}, got no such file")
        module = cls(**{**(init_defaults or {}), **cls.load_config(model_name_or_path, **place)})
        cls.load_torch_weights(model_name_or_path, model=module, **place)
        return module


def model_options(pooling: str, options: Mapping[str, Any]) -> Model:
    known = POOLINGS[pooling].options
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(f"options: {pooling} has {', '.join(known)}, got {unknown[0]!r}")
    if options.get("scale") == "auto":
        raise InputError("options: scale: expected a number above 0, got 'auto', which only `regard train` can choose")
    defaults = {"rescale": "signed"} if "rescale" in known else {}
    return Config().override({"encoder": "affine", "pooling": pooling, **defaults, **options}).model.filled()


def padded(features: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    """The token embeddings (B, L, D) and which are real (B, L); also if flash attention left all texts in one row."""
    states: Tensor = features["token_embeddings"]
    ends = features.get("cu_seq_lens_q")
    if ends is not None:
        rows = states[0].split((ends[1:] - ends[:-1]).tolist())
        lengths = torch.tensor([len(row) for row in rows], device=states.device)
        states = torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
        return states, torch.arange(states.size(1), device=states.device) < lengths.unsqueeze(1)
    mask = features.get("attention_mask")
    if mask is None or mask.shape != states.shape[:2]:
        return states, torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
    return states, mask.bool()


def without_prompt(mask: Tensor, length: int) -> Tensor:
    """Without the first `length` real tokens of each row, also with padding on the left."""
    return mask & (mask.cumsum(1) > length)


class WordWeight(NamedTuple):
    text: str
    weight: float  # its share of the sentence embedding


def word_weights(model: Any, texts: Iterable[str]) -> list[list[WordWeight]]:
    """The words of each text with their weights, which sum to 1 over the text: the sums of the weights of their tokens.

    Special tokens such as [CLS] are listed too, because they have a share. `model` is a SentenceTransformer with a
    LearnedPooling; a text longer than it reads is cut off, as in `model.encode`.
    """
    if isinstance(texts, str):
        raise InputError("texts: expected several texts, got one str: put it in a list")
    return [words_of(model, text) for text in texts]


def words_of(model: Any, text: str) -> list[WordWeight]:
    features = model.preprocess([text])
    ids = features["input_ids"][0].tolist()
    features = {
        name: value.to(model.device) if isinstance(value, Tensor) else value for name, value in features.items()
    }
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            features = model(features)
    finally:
        model.train(was_training)
    if FEATURE not in features:
        raise InputError("model: expected a SentenceTransformer with a LearnedPooling, got one without pooling_weights")
    weights = features[FEATURE][0].tolist()
    words: dict[object, WordWeight] = {}  # a dict keeps the order of the text
    for place, (number, name) in enumerate(named_tokens(model.tokenizer, text, ids)):
        key = ("token", place) if number is None else number
        before = words.get(key, WordWeight(name, 0.0))
        words[key] = before._replace(weight=before.weight + weights[place])
    return list(words.values())


def named_tokens(tokenizer: Any, text: str, ids: list[int]) -> list[tuple[int | None, str]]:
    """For each token the number of its word, None for special tokens, and the text to show."""
    tokens: list[tuple[int | None, str]] = [(None, str(name)) for name in tokenizer.convert_ids_to_tokens(ids)]
    if not tokenizer.is_fast:  # it does not tell which word a token is from
        return tokens
    encoded = tokenizer(text, truncation=True, max_length=len(ids))
    if encoded["input_ids"] != ids:  # the model has changed the text, for example by a prompt
        return tokens
    named: list[tuple[int | None, str]] = []
    for place, number in enumerate(encoded.word_ids()):
        span = None if number is None else encoded.word_to_chars(number)
        named.append(tokens[place] if span is None else (number, text[span.start : span.end]))
    return named
