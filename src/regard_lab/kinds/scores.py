"""The kind "scores": a model is trained and recorded, and polarity and attention scores of tokens are measured (Sun & Lu).

Token types are those of the training texts; mean weights are computed on test, as in the paper's Figure 5. A row has means by
type, values recorded during training, and some tokens as (type, polarity, attention, weight), never as words. With a
contextual encoder there are global scores, for which each token is fed alone, and local ones (`local_…`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from regard.errors import InputError
from regard.report.text.numbers import short
from regard_lab.kinds import patterns, train
from regard_lab.kinds.patterns import TERM, history_of, mean_of, separation_epoch
from regard_lab.kinds.train import trainings
from regard_lab.rows import History, Row
from regard_lab.tables.context import Context
from regard_lab.tables.table import single_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.analysis.token_scores import TokenScores
    from regard.analysis.token_types import TokenTypes
    from regard.data.unit_texts import UnitTexts
    from regard.facts.analysis import AnalysisFacts, DotProducts
    from regard.facts.separation import Separation
    from regard.models.trained import Trained
    from regard.training.fit import Parts
    from regard_lab.tables.table import Cell

    Floats = NDArray[np.float64]

KEPT = 400  # tokens per row


def check(cell: Cell) -> None:
    from regard.analysis.token_scores import check_scores

    train.check(cell)
    config = single_model(cell.options)
    check_scores(config.model)
    if config.data.task == "regression":
        raise InputError(
            f"{cell.name}: task = 'regression': expected a classification task, because token types need classes"
        )


def run(cell: Cell, seeds: Sequence[int], context: Context) -> Iterator[Row]:
    yield from train_and_measure(cell, seeds, context)


MoreMeasures = Callable[["Trained", "TypedTexts"], dict[str, float]]


def train_and_measure(
    cell: Cell, seeds: Sequence[int], context: Context, more_measures: MoreMeasures | None = None
) -> Iterator[Row]:
    """`more_measures`: additional measures of a model. Only rows of the first seed keep tokens and boxes, because figures show
    one seed."""
    prepared = context.corpora.prepare(cell.corpus, cell.options)
    config = single_model({"record": "epoch", **cell.options, "device": context.device})
    for result, facts in trainings(config, prepared.parts, seeds, context):
        if isinstance(result, InputError):
            yield {**facts, "error": str(result)}
            continue
        row, texts = train.measured(result, prepared), read_types(result, prepared.parts)
        results = measured(result, prepared.parts, texts)
        row["values"] |= results.pop("values") | ({} if more_measures is None else more_measures(result, texts))
        paths = results.pop("history")
        row["history"] |= paths if cell.options.get("terms") else without_terms(paths)
        drawn: Row = results if facts["seed"] == 0 else {"types": results["types"]}
        yield {**facts, **row, **drawn}


def without_terms(paths: History) -> History:
    """Without the terms, which are larger than all other paths together: a row keeps them only if the table asks for them."""
    return {name: path for name, path in paths.items() if not name.startswith(TERM)}


class TypedTexts(NamedTuple):
    """The training texts as the model reads them, and the types of their tokens."""

    texts: list[str]
    labels: Floats
    units: UnitTexts
    types: TokenTypes
    classes: list[str]
    names: list[str]  # name of each type in a row


def read_types(trained: Trained, parts: Parts) -> TypedTexts:
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
    return TypedTexts(texts, labels, units, types, classes, [*patterns.short_names(classes), "neutral"])


def measured(trained: Trained, parts: Parts, training: TypedTexts) -> Row:
    from regard.analysis.analyse import analyse
    from regard.analysis.token_scores import global_scores, lead, local_scores, token_scores
    from regard.data.unit_texts import UnitTexts
    from regard.models.flat import AFFINE

    types, names, classes = training.types, training.names, training.classes
    type_names = dict(zip(types.names, names, strict=True))
    weighted_texts = [example.text for example in (parts.test if parts.test is not None else parts.dev or ())]
    if trained.is_flat:
        scores = token_scores(trained, UnitTexts.of(trained.tokenizer, weighted_texts, training.labels[:0]))
        local = None
    else:
        read = trained.tokenizer.encode_each(weighted_texts)
        scores = global_scores(trained)._replace(weight=local_scores(trained, read).weight)
        local = local_scores(trained, trained.tokenizer.encode_each(training.texts))
    values = type_measures(types, names, scores, lead(scores.polarity))
    analysis = analyse(trained, training.texts, training.labels, parts.names[0], contexts=False)
    values |= separation_measures(analysis.separation, classes, names) | vector_measures(analysis, classes)
    values |= patterns.patterns(types, scores, analysis.dot_products, classes) | gap_measures(values)
    values["scale"] = analysis.model.scale
    if (epoch := separation_epoch(analysis.recording, classes)) is not None:
        values["omega_epoch"] = epoch
    pairs = pair_boxes(analysis.dot_products, type_names)
    if AFFINE in trained.weights and trained.is_flat:
        mapped = mapped_products(trained, types)
        mapped_patterns = patterns.patterns(types, scores, mapped, classes)
        values |= {"omega_like_mapped": mapped_patterns["omega_like"]} if "omega_like" in mapped_patterns else {}
        pairs |= {f"{pair}, mapped": box for pair, box in pair_boxes(mapped, type_names).items()}
    if local is not None:
        values |= local_measures(types, names, local)
    return {
        "values": {name: value for name, value in values.items() if value == value},
        "history": history_of(analysis.recording, type_names),
        "types": names,
        "tokens": sample_tokens(types, scores, local),
        "boxes": {name: box for k, name in enumerate(names) if (box := weights_box(scores.weight[types.codes == k]))},
        "pairs": pairs,
    }


def gap_measures(values: Mapping[str, float]) -> dict[str, float]:
    """For two classes: the gap between their attention scores, and whether it has the sign of VᵀW."""
    if "gap" not in values:
        return {}
    measures = {"gap_size": abs(values["gap"])}
    measures["opposite"] = float(values["attention_positive"] * values["attention_negative"] < 0)
    if "vtw" in values:
        measures["gap_follows"] = float(values["gap"] * values["vtw"] > 0)
    return measures


def mapped_products(trained: Trained, types: TokenTypes) -> list[DotProducts]:
    """Dot products of h = M e."""
    from regard.analysis.dot_products import pair_quartiles
    from regard.models.flat import AFFINE, EMBEDDING

    states = trained.weights[EMBEDDING].astype("float64") @ trained.weights[AFFINE].astype("float64").T
    return pair_quartiles(states, {name: types.of(name) for name in types.names})


def pair_boxes(products: Sequence[DotProducts], names: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Quartiles of Ω by pair of types."""
    return {
        "-".join(names[name] for name in product.pair): {
            name: short(value, 4) for name, value in asdict(product).items() if name != "pair"
        }
        for product in products
    }


def type_measures(types: TokenTypes, names: Sequence[str], scores: TokenScores, polarity: Floats) -> dict[str, float]:
    """Means by type, and the share of a class's tokens with the polarity of that class."""
    import numpy as np

    measures: dict[str, float] = {"tokens_tied": len(types.tied), "tokens_neutral": len(types.neutral)}
    is_binary = scores.polarity.shape[1] == 1
    attention = scores.attention[types.codes >= 0]
    measures |= {"attention_size": mean_of(np.abs(attention)), "polarity_size": mean_of(np.abs(polarity[types.tied]))}
    for k, name in enumerate(names):
        of_type = types.codes == k
        measures[f"polarity_{name}"] = mean_of(polarity[of_type])
        measures[f"attention_{name}"] = mean_of(scores.attention[of_type])
        measures[f"weight_{name}"] = mean_of(scores.weight[of_type])
        if name != "neutral":
            polarities = scores.polarity[of_type]
            right = (polarities[:, 0] > 0) == (k == 1) if is_binary else polarities.argmax(1) == k
            measures[f"share_{name}"] = mean_of(right.astype(np.float64))
    if is_binary:
        sizes = [abs(measures[f"polarity_{name}"]) for name in names[:-1]]
        measures["neutral_ratio"] = abs(measures["polarity_neutral"]) / max(sum(sizes) / len(sizes), 1e-12)
        measures["gap"] = measures["attention_positive"] - measures["attention_negative"]
    return measures


def separation_measures(
    separation: Separation | None, classes: Sequence[str], names: Sequence[str]
) -> dict[str, float]:
    if separation is None:
        return {}
    type_names = dict(zip(classes, names, strict=False))
    return {"auc": separation.auc} | {f"auc_{type_names[one.name]}": one.auc for one in separation.by_type}


def vector_measures(analysis: AnalysisFacts, classes: Sequence[str]) -> dict[str, float]:
    """Mean Ω of pairs within a class, between classes and with neutral tokens; VᵀW and its factors."""
    groups: dict[str, list[float]] = {}
    for product in analysis.dot_products:
        a, b = product.pair
        kind = "same" if a == b and a in classes else "other" if a in classes and b in classes else "neutral"
        groups.setdefault(kind, []).append(product.mean)
    measures = {f"omega_{kind}": sum(values) / len(values) for kind, values in groups.items()}
    if measures.get("omega_same", 0.0) > 0 and "neutral" in groups:
        measures["omega_beside"] = max(map(abs, groups["neutral"])) / measures["omega_same"]
    vtw = analysis.vtw
    if vtw is None:
        return measures
    # with K classes magnitudes are averaged, because signs depend on the class
    has_one_output = len(vtw.values) == 1

    def summary(values: Sequence[float]) -> float:
        return values[0] if has_one_output else sum(map(abs, values)) / len(values)

    measures |= {"vtw": summary(vtw.values), "vtw_scaled": summary(vtw.products)}
    measures["vtw_size"] = abs(measures["vtw"])
    measures |= {"vtw_cosine": summary(vtw.cosines), "norm_v": vtw.norm_v, "norm_w": summary(vtw.norms_w)}
    return measures | ({} if vtw.mapped is None else {"vtw_mapped": summary(vtw.mapped)})


def local_measures(types: TokenTypes, names: Sequence[str], local: TokenScores) -> dict[str, float]:
    from regard.analysis.separation import separation
    from regard.analysis.token_scores import lead

    polarity = lead(local.polarity)
    measures = {f"local_attention_{name}": mean_of(local.attention[types.codes == k]) for k, name in enumerate(names)}
    measures |= {f"local_polarity_{name}": mean_of(polarity[types.codes == k]) for k, name in enumerate(names)}
    separated = separation(local.attention[types.tied], local.attention[types.neutral])
    return measures | ({"local_auc": separated.auc} if separated is not None else {})


def sample_tokens(types: TokenTypes, scores: TokenScores, local: TokenScores | None) -> list[list[float | None]]:
    """(type, polarity, attention, weight on test, and local polarity and attention) of a few random tokens per type."""
    import numpy as np

    from regard.analysis.token_scores import lead

    columns = [lead(scores.polarity), scores.attention, scores.weight]
    columns += [] if local is None else [lead(local.polarity), local.attention]
    rng = np.random.default_rng(0)
    rows: list[list[float | None]] = []
    for code in range(len(types.names)):
        chosen = rng.permutation(np.flatnonzero(types.codes == code))[: KEPT // len(types.names)]
        for unit in sorted(chosen.tolist()):
            numbers = [short(column[unit], 4) for column in columns]
            rows.append([code, *(number if np.isfinite(number) else None for number in numbers)])
    return rows


def weights_box(weights: Floats) -> dict[str, float] | None:
    from regard.analysis.analyse import box

    quartiles = box(weights)
    return None if quartiles is None else {name: short(value, 4) for name, value in asdict(quartiles).items()}
