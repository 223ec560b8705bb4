"""Two towers as a folder of readable files, without executable content:

options.toml · towers.json · tokenizer.json · reviews.jsonl · weights.safetensors · metrics.json · README.md · manifest.json

The training reviews belong to the model, because it reads them to predict; whoever gets the folder can read them too. Names of
files differ from those of a run of `regard train`, whose commands therefore refuse the folder instead of misreading it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import safetensors.numpy
import torch

from regard.config import Config, config_toml, converted, read_config
from regard.data.tokenizer import Tokenizer
from regard.errors import InputError
from regard.extras import failure
from regard.files import check_plain, contents, remove_leftovers, temporary_files, write_all
from regard.markdown_text import escape
from regard.models import manifest
from regard.models.device import choose_device
from regard.models.metrics_file import check_type
from regard.models.run_files import CARD, MANIFEST, check_finite, check_size, read_json
from regard.models.tasks import Regression, task_from_dict
from regard_lab.towers.ids import Ids
from regard_lab.towers.ratings import Rating, ReviewIndex, Side
from regard_lab.towers.trained_towers import TowerMetrics, TrainedTowers
from regard_lab.towers.two_towers import Form, TwoTowers, build_towers

FORMAT = "regard towers 1"
OPTIONS, TOWERS, TOKENIZER, REVIEWS = "options.toml", "towers.json", "tokenizer.json", "reviews.jsonl"
WEIGHTS, METRICS = "weights.safetensors", "metrics.json"
FILES = (OPTIONS, TOWERS, TOKENIZER, REVIEWS, WEIGHTS, METRICS)  # in the manifest
OURS = {*FILES, CARD, MANIFEST}
PAGE = "report.html"  # of `regard towers report`
EMBEDDING = "embedding.weight"


def save(trained: TrainedTowers, folder: Path) -> None:
    """Write all files together; the manifest is the last, so that a folder without one is known to be incomplete."""
    towers = {
        "format": FORMAT,
        "max_reviews": trained.most,
        "side": trained.side,
        **asdict(trained.model.form),
        "task": trained.task.as_dict(),
        "users": trained.ids.users,
        "items": trained.ids.items,
    }
    weights = {name: value.detach().cpu().contiguous().numpy() for name, value in trained.model.state_dict().items()}
    contents = {
        OPTIONS: config_toml(trained.config).encode("utf-8", "replace"),
        TOWERS: as_json(towers),
        TOKENIZER: trained.tokenizer.to_json().encode("utf-8", "replace"),
        REVIEWS: b"".join(as_json(asdict(rating), None) for rating in trained.known.ratings),
        METRICS: as_json(trained.metrics),
        CARD: card(trained).encode("utf-8", "replace"),
        WEIGHTS: safetensors.numpy.save(weights),
    }
    contents[MANIFEST] = manifest.to_bytes(manifest.of_contents(contents, FILES), {})
    write_all(folder, contents)


def as_json(value: Any, indent: int | None = 1) -> bytes:
    """One line, or indented; half a surrogate pair is not UTF-8, and is written as \\ud83d."""
    return (json.dumps(value, ensure_ascii=False, indent=indent) + "\n").encode("utf-8", "backslashreplace")


def check_free(folder: Path, overwrite: bool) -> None:
    """Refuse a folder with anything else in it, or with a run that is not to be replaced; remove what a killed run left."""
    if folder.is_dir():
        present = contents(folder)
        if others := [name for name in present if name not in OURS | {PAGE}]:
            raise InputError(f"{folder} is not a run of two towers (it contains {others[0]!r}); nothing was written")
        if present and not overwrite:
            raise InputError(f"{folder} already exists; use another --out, or --overwrite to replace it")
    remove_leftovers((file.path for file in temporary_files(folder) if file.name in OURS), ())


def load(folder: str | Path, device: str = "cpu", verify: bool = True) -> TrainedTowers:
    """Load what `save` wrote. Nothing in it is executed. `verify`: compare its files with their SHA-256 in manifest.json."""
    folder = Path(folder)
    check_finished(folder)
    try:
        if verify:
            manifest.verify(folder, FILES, ())
        return read(folder, choose_device(device))
    except InputError as error:
        raise InputError(f"{folder}: damaged run of two towers ({error})") from None
    except BaseException as error:
        raise InputError(
            f"{folder}: damaged run of two towers, or made by another version ({failure(error)})"
        ) from None


def check_finished(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; expected one that `regard towers train` wrote")
    check_plain(folder)
    if missing := [name for name in (*FILES, MANIFEST) if not (folder / name).is_file()]:
        raise InputError(
            f"{folder}: not a finished run of two towers: {', '.join(missing)} missing; expected a folder that "
            "`regard towers train` wrote"
        )
    for name in (*FILES, MANIFEST):
        check_size(str(folder), name, (folder / name).stat().st_size)


def read(folder: Path, device: torch.device) -> TrainedTowers:
    config = Config().override(read_config(folder / OPTIONS))
    towers = read_json(folder / TOWERS)
    if towers.get("format") != FORMAT:
        raise InputError(f"{TOWERS}: expected the format {FORMAT!r}, got {str(towers.get('format'))[:40]!r}")
    tokenizer, task = Tokenizer.from_dict(read_json(folder / TOKENIZER)), task_from_dict(towers["task"])
    if not isinstance(task, Regression):
        raise InputError(f"{TOWERS}: task: expected regression, got {task.kind}")
    if tokenizer.levels != 2 or tokenizer.has_units:
        raise InputError(f"{TOKENIZER}: expected words in sentences of one review at a time")
    form = Form(*(converted(towers[name], kind, f"{TOWERS}: {name}") for name, kind in FORM.items()))
    most, side = (converted(towers[name], kind, f"{TOWERS}: {name}") for name, kind in READ.items())
    if most is not None and most < 1:
        raise InputError(f"{TOWERS}: max_reviews: expected 1 or more, got {most}")
    ids = Ids(names(towers["users"], "users"), names(towers["items"], "items"))
    ratings = read_reviews(folder / REVIEWS)
    metrics = read_json(folder / METRICS)
    check_type(metrics, TowerMetrics, METRICS)
    model = model_of(safetensors.numpy.load_file(folder / WEIGHTS), (config, len(tokenizer), form, ids), device)
    reviews = tokenizer.encode_each([rating.text for rating in ratings])
    known = ReviewIndex(ratings)
    return TrainedTowers(model, task, tokenizer, known, reviews, most, side, config, ids, cast(TowerMetrics, metrics))


FORM = {"ids": int, "head": str, "relu": bool}
READ = {"max_reviews": int | None, "side": Side}


def model_of(weights: Mapping[str, Any], parts: tuple[Config, int, Form, Ids], device: torch.device) -> TwoTowers:
    """The model of these weights; names and shapes are compared before memory is allocated by the options."""
    config, words, form, ids = parts
    check_finite(weights)
    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}
    if EMBEDDING not in tensors or tensors[EMBEDDING].dim() != 2 or len(tensors[EMBEDDING]) != words:
        raise InputError(f"{WEIGHTS}: {EMBEDDING}: expected a table with a row for each of {words:,} word ids")

    def untrained(where: str) -> TwoTowers:
        with torch.device(where):
            table = torch.zeros(tensors[EMBEDDING].shape, device=where)  # it may have the width of a vectors file
            return build_towers(config.model, words, config.training.dropout or 0.0, table, form, ids)

    expected = {name: (tuple(value.shape), value.dtype) for name, value in untrained("meta").state_dict().items()}
    actual = {name: (tuple(value.shape), value.dtype) for name, value in tensors.items()}
    for name in {**expected, **actual}:
        if expected.get(name) != actual.get(name):
            raise InputError(f"{WEIGHTS}: {name[:100]}: expected {expected.get(name)}, got {actual.get(name)}")
    model = untrained("cpu")
    model.load_state_dict(tensors)
    return model.to(device).eval()


def names(given: object, where: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given) or len(set(given)) < len(given):
        raise InputError(f"{TOWERS}: {where}: expected a list of different names")
    return tuple(given)


def read_reviews(path: Path) -> list[Rating]:
    ratings: list[Rating] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line:
            ratings.append(rating_of(json.loads(line), f"{path.name}, line {number}"))
    if not ratings:
        raise InputError(f"{path.name}: expected at least one review, got none")
    return ratings


def rating_of(row: object, where: str) -> Rating:
    match row:
        case {"user": str() | None, "item": str() | None, "value": float(value), "text": str(), "row": int()}:
            fields = cast("dict[str, Any]", row)
            if len(fields) == 5 and math.isfinite(value):
                return Rating(**fields)
    raise InputError(f"{where}: expected an object with user, item, a finite value, text and row, and nothing else")


def card(trained: TrainedTowers) -> str:
    model, known = trained.config.model, trained.known
    rows: dict[str, str] = {
        "model": f"two towers, {model.encoder}, {model.pooling} pooling",
        "rating": rating_formula(trained.model.form),
        "training data": f"{trained.config.data.train or 'ratings passed in Python'}, {len(known.ratings):,} reviews of "
        f"{len(known.by_item):,} items by {len(known.by_user):,} users",
        **{split: scores(trained.metrics, split) for split in ("dev", "test") if split in trained.metrics},
    }
    return "\n".join(
        [
            "# Two towers",
            "",
            "Predicts how a user will rate an item, from other reviews by the user and of the item, trained by regard.",
            "",
            "| | |",
            "|---|---|",
            *(f"| {name} | {escape(value)} |" for name, value in rows.items()),
            "",
            "`regard towers predict FOLDER USER ITEM` predicts, and `regard towers explain FOLDER USER ITEM` shows which words,",
            "sentences and reviews were read with which weight. **The training reviews are in this folder**, in `reviews.jsonl`,",
            "because the model reads them to predict.",
            "",
        ]
    )


def rating_formula(form: Form) -> str:
    """The formula of the rating, for people."""
    vectors = "reviews and ids" if form.ids else "reviews"
    formula = "w · (u · i) + b" if form.head == "product" else "w · [u, i, u · i] + b"
    return f"{f'max(0, {formula})' if form.relu else formula}, of vectors of {vectors}"


def scores(metrics: TowerMetrics, split: str) -> str:
    found: Mapping[str, float] = metrics["test"] if split == "test" else metrics["dev"]
    listed: Sequence[str] = [f"{name} {found[name]:.4f}" for name in ("rmse", "mae", "r2") if name in found]
    return ", ".join(listed)
