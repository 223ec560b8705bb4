"""The kind "scores": a model is trained and recorded, and its tokens' polarity and attention scores are measured (Sun & Lu).

Token types are those of the training texts; mean weights are taken on test, as in the paper's Figure 5. A row keeps means by
type, what was recorded along training, and some tokens as (type, polarity, attention, weight), never as words. With an encoder
that reads contexts the scores are global ones, each token fed alone, and local ones beside them (`local_…`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.config import Config
from regard.errors import InputError
from regard.report.text.numbers import short
from regard_lab.kinds import patterns, train
from regard_lab.kinds.patterns import TERM, apart_from, mean_of, recorded
from regard_lab.kinds.train import trainings
from regard_lab.rows import History, Row
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.analysis.token_scores import TokenScores
    from regard.analysis.token_types import TokenTypes
    from regard.data.unit_texts import UnitTexts
    from regard.models.trained import Trained
    from regard.training.fit import Parts
    from regard_lab.tables.table import Cell

    Floats = NDArray[np.float64]

KEPT = 400  # tokens of a row


def check(cell: Cell) -> None:
    from regard.analysis.token_scores import check_scores

    train.check(cell)
    config = Config().override(cell.options)
    check_scores(config.model)
    if config.data.task == "regression":
        raise InputError(f"{cell.name}: task = 'regression'; token types need classes")


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    yield from train_and_measure(cell, seeds, context)


Further = Callable[["Trained", "Seen"], dict[str, float]]


def train_and_measure(
    cell: Cell, seeds: Sequence[int], context: Context, further: Further | None = None
) -> Iterator[Row]:
    """`further`: what else is measured of a model. Of the seeds after the first a row keeps no tokens and boxes, which
    figures show of one seed alone."""
    prepared = context.corpora.prepare(cell.corpus, cell.options)
    config = Config().override({"record": "epoch", **cell.options, "device": context.device})
    for result, facts in trainings(config, prepared.parts, seeds, context):
        if isinstance(result, InputError):
            yield {**facts, "error": str(result)}
            continue
        row, seen = train.measured(result, prepared), see(result, prepared.parts)
        found = measured(result, prepared.parts, seen)
        row["values"] |= found.pop("values") | ({} if further is None else further(result, seen))
        paths = found.pop("history")
        row["history"] |= paths if cell.options.get("terms") else without_terms(paths)
        drawn: Row = found if facts["seed"] == 0 else {"types": found["types"]}
        yield {**facts, **row, **drawn}


def without_terms(paths: History) -> History:
    """They are more than all the others together: a row keeps them where a table asks for them."""
    return {name: path for name, path in paths.items() if not name.startswith(TERM)}


class Seen(NamedTuple):
    """The training texts as the model reads them."""

    texts: list[str]
    labels: Floats
    units: UnitTexts
    types: TokenTypes
    classes: list[str]
    names: list[str]  # what a row calls each type


def see(trained: Trained, parts: Parts) -> Seen:
    from regard.analysis.token_scores import check_classes
    from regard.analysis.token_types import token_types
    from regard.data.labels import Labels
    from regard.data.unit_texts import UnitTexts
    from regard.models.tasks import encoded

    classes = list(check_classes(trained).classes)
    examples = list(parts.train)
    texts = [example.text for example in examples]
    labels = encoded(trained.task, Labels.of(examples), parts.names[0])
    units = UnitTexts.of(trained.tokenizer, texts, labels)
    types = token_types(units, len(trained.tokenizer), classes)
    return Seen(texts, labels, units, types, classes, [*patterns.short_names(classes), "neutral"])


def measured(trained: Trained, parts: Parts, seen: Seen) -> Row:
    from regard.analysis.analyse import analyse
    from regard.analysis.token_scores import global_scores, lead, local_scores, token_scores
    from regard.data.unit_texts import UnitTexts
    from regard.models.flat import AFFINE

    types, names, classes = seen.types, seen.names, seen.classes
    called = dict(zip(types.names, names, strict=True))
    weighed = [example.text for example in (parts.test if parts.test is not None else parts.dev or ())]
    if trained.is_flat:
        scores = token_scores(trained, UnitTexts.of(trained.tokenizer, weighed, seen.labels[:0]))
        local = None
    else:
        read = trained.tokenizer.encode_each(weighed)
        scores = global_scores(trained)._replace(weight=local_scores(trained, read).weight)
        local = local_scores(trained, trained.tokenizer.encode_each(seen.texts))
    values = of_types(types, names, scores, lead(scores.polarity))
    told = analyse(trained, seen.texts, seen.labels, parts.names[0], contexts=False).to_json()
    values |= of_separation(told["separation"], classes, names) | of_vectors(told, classes)
    values |= patterns.patterns(types, scores, told["dot_products"], classes) | of_gap(values)
    values["scale"] = told["model"]["scale"]
    if (apart := apart_from(told["recording"], classes)) is not None:
        values["omega_epoch"] = apart
    pairs = pair_boxes(told["dot_products"], called)
    if AFFINE in trained.weights and trained.is_flat:
        mapped = of_mapped(trained, types)
        of_mapping = patterns.patterns(types, scores, mapped, classes)
        values |= {"omega_like_mapped": of_mapping["omega_like"]} if "omega_like" in of_mapping else {}
        pairs |= {f"{pair}, mapped": box for pair, box in pair_boxes(mapped, called).items()}
    if local is not None:
        values |= of_local(types, names, local)
    return {
        "values": {name: value for name, value in values.items() if value == value},
        "history": recorded(told["recording"], called),
        "types": names,
        "tokens": some(types, scores, local),
        "boxes": {name: box for k, name in enumerate(names) if (box := weights_box(scores.weight[types.codes == k]))},
        "pairs": pairs,
    }


def of_gap(values: Mapping[str, float]) -> dict[str, float]:
    """Of two classes: how far their attention scores lie apart, and whether to the side that VᵀW says."""
    if "gap" not in values:
        return {}
    found = {"gap_size": abs(values["gap"])}
    found["opposite"] = float(values["attention_positive"] * values["attention_negative"] < 0)
    if "vtw" in values:
        found["gap_follows"] = float(values["gap"] * values["vtw"] > 0)
    return found


def of_mapped(trained: Trained, types: TokenTypes) -> list[dict[str, Any]]:
    """Dot-products of h = M e."""
    from regard.analysis.dot_products import pair_quartiles
    from regard.facts.json_form import to_json
    from regard.models.flat import AFFINE, EMBEDDING

    states = trained.weights[EMBEDDING].astype("float64") @ trained.weights[AFFINE].astype("float64").T
    return [to_json(pair) for pair in pair_quartiles(states, {name: types.of(name) for name in types.names})]


def pair_boxes(products: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Quartiles of Ω by pair of types, as a row calls them."""
    return {
        "-".join(names[name] for name in one["pair"]): {
            name: short(value, 4) for name, value in one.items() if name != "pair"
        }
        for one in products
    }


def of_types(types: TokenTypes, names: Sequence[str], scores: TokenScores, polarity: Floats) -> dict[str, float]:
    """Means by type, and the share of a class's tokens whose polarity is that class's."""
    import numpy as np

    found: dict[str, float] = {"tokens_tied": len(types.tied), "tokens_neutral": len(types.neutral)}
    two = scores.polarity.shape[1] == 1
    typed = scores.attention[types.codes >= 0]
    found |= {"attention_size": mean_of(np.abs(typed)), "polarity_size": mean_of(np.abs(polarity[types.tied]))}
    for k, name in enumerate(names):
        own = types.codes == k
        found[f"polarity_{name}"] = mean_of(polarity[own])
        found[f"attention_{name}"] = mean_of(scores.attention[own])
        found[f"weight_{name}"] = mean_of(scores.weight[own])
        if name != "neutral":
            said = scores.polarity[own]
            right = (said[:, 0] > 0) == (k == 1) if two else said.argmax(1) == k
            found[f"share_{name}"] = mean_of(right.astype(np.float64))
    if two:
        sizes = [abs(found[f"polarity_{name}"]) for name in names[:-1]]
        found["neutral_ratio"] = abs(found["polarity_neutral"]) / max(sum(sizes) / len(sizes), 1e-12)
        found["gap"] = found["attention_positive"] - found["attention_negative"]
    return found


def of_separation(told: Mapping[str, Any] | None, classes: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    if told is None:
        return {}
    called = dict(zip(classes, names, strict=False))
    return {"auc": told["auc"]} | {f"auc_{called[one['name']]}": one["auc"] for one in told["by_type"]}


def of_vectors(told: Mapping[str, Any], classes: Sequence[str]) -> dict[str, float]:
    """Mean Ω of pairs within a class, across classes and with neutral tokens; VᵀW and its parts."""
    groups: dict[str, list[float]] = {}
    for one in told["dot_products"]:
        a, b = one["pair"]
        kind = "same" if a == b and a in classes else "other" if a in classes and b in classes else "neutral"
        groups.setdefault(kind, []).append(one["mean"])
    found = {f"omega_{kind}": sum(values) / len(values) for kind, values in groups.items()}
    if found.get("omega_same", 0.0) > 0 and "neutral" in groups:
        found["omega_beside"] = max(map(abs, groups["neutral"])) / found["omega_same"]
    vtw = told["vtw"]
    if vtw is None:
        return found
    one = len(vtw["values"]) == 1  # of K classes sizes are averaged: signs belong to classes

    def told_of(values: Sequence[float]) -> float:
        return values[0] if one else sum(map(abs, values)) / len(values)

    found |= {"vtw": told_of(vtw["values"]), "vtw_scaled": told_of(vtw["products"])}
    found["vtw_size"] = abs(found["vtw"])
    found |= {"vtw_cosine": told_of(vtw["cosines"]), "norm_v": vtw["norm_v"], "norm_w": told_of(vtw["norms_w"])}
    return found | ({"vtw_mapped": told_of(vtw["mapped"])} if "mapped" in vtw else {})


def of_local(types: TokenTypes, names: Sequence[str], local: TokenScores) -> dict[str, float]:
    from regard.analysis.separation import separation
    from regard.analysis.token_scores import lead

    polarity = lead(local.polarity)
    found = {f"local_attention_{name}": mean_of(local.attention[types.codes == k]) for k, name in enumerate(names)}
    found |= {f"local_polarity_{name}": mean_of(polarity[types.codes == k]) for k, name in enumerate(names)}
    apart = separation(local.attention[types.tied], local.attention[types.neutral])
    return found | ({"local_auc": apart.auc} if apart is not None else {})


def some(types: TokenTypes, scores: TokenScores, local: TokenScores | None) -> list[list[float | None]]:
    """(type, polarity, attention, weight on test, and local polarity and attention) of a few tokens of each type, by chance."""
    import numpy as np

    from regard.analysis.token_scores import lead

    columns = [lead(scores.polarity), scores.attention, scores.weight]
    columns += [] if local is None else [lead(local.polarity), local.attention]
    chance = np.random.default_rng(0)
    rows: list[list[float | None]] = []
    for code in range(len(types.names)):
        own = chance.permutation(np.flatnonzero(types.codes == code))[: KEPT // len(types.names)]
        for unit in sorted(own.tolist()):
            numbers = [short(column[unit], 4) for column in columns]
            rows.append([code, *(number if np.isfinite(number) else None for number in numbers)])
    return rows


def weights_box(weights: Floats) -> dict[str, float] | None:
    from regard.analysis.analyse import box

    found = box(weights)
    return None if found is None else {name: short(value, 4) for name, value in asdict(found).items()}
