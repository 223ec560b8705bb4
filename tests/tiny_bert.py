"""Small transformers with random weights and a tiny vocabulary, saved as Hugging Face folders."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(".", ",", "!", "'", "a", "i", "s", "t", "do", "don", "the", "it", "was", "is", "and", "not", "so", "very"),
    *(
        "film",
        "food",
        "good",
        "bad",
        "lov",
        "##ed",
        "##ely",
        "hat",
        "wonder",
        "##ful",
        "##ly",
        "un",
        "##believ",
        "##ab",
    ),
    *("one", "two", "three", "four", "five", "service", "rude", "story", "number", "great", "poor", "##s", "##er"),
)
SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def word_pieces(lowercase: bool = True) -> Any:
    """A WordPiece tokenizer of the package tokenizers, like BERT's."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    numbers = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(list(PIECES[:5]))
    around = [(name, numbers[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    return tokenizer


def save_bert(folder: Path, kind: str = "bert", lowercase: bool = True, **options: Any) -> Path:
    """Save a model of the BERT family and its tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    settings = {"vocab_size": len(PIECES), "max_position_embeddings": 20, **SMALL, **options}
    if kind == "distilbert":
        settings |= {"dim": settings["hidden_size"], "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"):
            del settings[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # raised by one dependency about another on import
        model = AutoModel.from_config(AutoConfig.for_model(kind, **settings))
    with torch.no_grad():  # initial weights are so small that they would hide differences
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    model.save_pretrained(folder)
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=word_pieces(lowercase), **names).save_pretrained(folder)
    return folder


def save_classifier(folder: Path, classes: tuple[str, ...] = ("neg", "pos")) -> Path:
    """Save a sequence classifier of transformers, with random weights."""
    from transformers import AutoModelForSequenceClassification

    save_bert(folder)
    names = dict(enumerate(classes))
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=len(classes), id2label=names)
    model.save_pretrained(folder)
    return folder
