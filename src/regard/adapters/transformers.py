"""Sequence classifiers of Hugging Face transformers, from a folder with config, tokenizer and safetensors weights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.adapters.libraries import imported
from regard.adapters.predictor import Predictor
from regard.errors import InputError

LONGEST = 100_000  # tokenizers without a limit state an astronomical one


def transformers_predictor(
    model: Any, tokenizer: Any = None, name: str | None = None, batch_size: int = 32, device: str = "cpu"
) -> Predictor:
    """`model`: a folder, or a loaded model with its tokenizer. Texts longer than the model reads are cut off at the end.

    From a folder, nothing is downloaded, only safetensors are read, and no code in it is run.
    """
    if isinstance(model, str | os.PathLike):
        folder = Path(model)
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder}: expected the folder of a transformers model, with a file config.json")
        library = imported("transformers", "transformers")
        safe = {"local_files_only": True, "trust_remote_code": False}
        try:
            tokenizer = library.AutoTokenizer.from_pretrained(folder, **safe)
            kind = library.AutoModelForSequenceClassification
            loaded = kind.from_pretrained(folder, use_safetensors=True, **safe)
        except (OSError, ValueError, ImportError) as error:
            raise InputError(
                f"{folder}: cannot be loaded as a sequence classifier: {str(error).strip().splitlines()[0]}"
            ) from None
        return transformers_predictor(loaded, tokenizer, name or folder.resolve().name, batch_size, device)
    torch, options = imported("torch", "torch"), model.config
    if tokenizer is None:
        raise InputError("tokenizer: expected the tokenizer of the model, got None")
    if options.num_labels < 2 or options.problem_type not in (None, "single_label_classification"):
        raise InputError(f"model: expected one of several classes per text, got {options.problem_type or 'one output'}")
    longest = tokenizer.model_max_length
    if longest > LONGEST:
        longest = getattr(options, "max_position_embeddings", LONGEST) - 2  # RoBERTa numbers positions from 2
    model = model.to(device).eval()

    def predict_proba(texts: list[str]) -> NDArray[np.float64]:
        batch = tokenizer(texts, padding=True, truncation=True, max_length=longest, return_tensors="pt").to(device)
        with torch.inference_mode():
            logits = model(**batch).logits
        return np.asarray(logits.double().softmax(-1).cpu().numpy())

    classes = [options.id2label[number] for number in range(options.num_labels)]
    size = sum(one.numel() for one in model.parameters())
    return Predictor(predict_proba, classes, name or options.model_type, batch_size, size)
