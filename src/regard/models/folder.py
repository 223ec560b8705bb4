"""A trained model as a folder of readable files, without executable content:

config.toml · tokenizer.json · task.json · weights.safetensors · metrics.json · README.md (the model card)

plus dynamics.safetensors if training was recorded, encoder.json, the configuration of a pretrained encoder, and for training that
continues, optimizer.safetensors and kept_texts.jsonl.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import safetensors.numpy

from regard.config import Config, read_config
from regard.data.kept_texts import read_kept
from regard.data.wordpieces import tokenizer_from_dict
from regard.errors import InputError
from regard.extras import failure, missing_extra
from regard.models import manifest
from regard.models.flat import check_shapes
from regard.models.hub import is_on_hub, local_folder
from regard.models.metrics_file import read_metrics
from regard.models.run_files import (
    DYNAMICS,
    ENCODER,
    KEPT,
    OPTIMIZER,
    check_agreement,
    check_finished,
    check_finite,
    check_readable,
    read_json,
)
from regard.models.tasks import task_from_dict
from regard.models.trained import Trained
from regard.models.training_record import read_training_record


def load(folder: str | Path, device: str = "cpu", verify: bool = True) -> Trained:
    """Load a run from its folder, or from its address on the hub. Nothing in it is executed.

    `verify`: compare its files with their SHA-256 in manifest.json, if it has one.
    """
    source, folder = folder, local_folder(folder)
    check_finished(folder)
    check_readable(folder)
    try:
        with manifest.verified(folder) if verify else nullcontext():
            trained = read(folder, is_on_hub(source), device, verify)
    except ImportError as error:
        raise missing_extra(error, str(source)) or error from None
    except InputError as error:
        raise InputError(f"{source}: damaged run ({error})") from None
    except BaseException as error:  # nothing narrower: the package tokenizers raises plain Exception
        raise InputError(f"{source}: damaged run, or not a run of regard ({failure(error)})") from None
    return trained


def read(folder: Path, on_hub: bool, device: str, verify: bool) -> Trained:
    config = Config().override(read_config(folder / "config.toml"))
    if on_hub:  # files of another machine: what has the same name here is something else
        config = config.override({"train": None, "dev": None, "test": None})
    tokenizer = tokenizer_from_dict(read_json(folder / "tokenizer.json"))
    task = task_from_dict(read_json(folder / "task.json"))
    weights = safetensors.numpy.load_file(folder / "weights.safetensors")
    record = read_training_record(folder / DYNAMICS) if (folder / DYNAMICS).exists() else None
    metrics = read_metrics(folder / "metrics.json")
    sums = safetensors.numpy.load_file(folder / OPTIMIZER) if (folder / OPTIMIZER).exists() else None
    encoder_config = read_json(folder / ENCODER) if config.model.reads_pieces else None
    trained = Trained(
        config,
        tokenizer,
        task,
        metrics,
        weights=weights,
        device=device,
        dynamics=record,
        encoder_config=encoder_config,
        accumulators=sums,
        digests=manifest.data_digests(folder, verify),
        kept=read_kept(folder / KEPT) if (folder / KEPT).exists() else None,
    )
    check_weights(trained)
    check_agreement(config, tokenizer)
    check_finite(weights)
    return trained


def check_weights(trained: Trained) -> None:
    """Check the names and shapes of the weights: directly for a flat model, otherwise by building the model."""
    if not trained.is_flat:
        trained.check_form()
        if trained.config.model.reads_pieces:  # of another library, whose options are not all known here
            trained.logits(trained.tokenizer.encode_each(["a", "a b, c."]))
        _ = trained.model
        return
    check_shapes(trained.config.model, trained.weights, len(trained.tokenizer), trained.task.out_dim)
