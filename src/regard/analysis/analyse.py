"""Analyse the attention of a run as Sun & Lu do: types of words, their scores, and the gradient flow (analysis.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.dot_products import pair_quartiles, quartiles
from regard.analysis.gradient_flow import flow
from regard.analysis.interpretation import of_separation, of_vtw
from regard.analysis.recording import recording_facts
from regard.analysis.separation import separation
from regard.analysis.token_names import token_names
from regard.analysis.token_scores import (
    TokenScores,
    check_classes,
    check_scores,
    global_scores,
    lead,
    local_scores,
    of_type,
    support_for,
    token_scores,
)
from regard.analysis.token_types import SEEN, TokenTypes, token_types
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import SPECIALS, UNKNOWN
from regard.errors import InputError
from regard.facts.analysis import AnalysedModel, AnalysisFacts, Box, Flow, Token, TokenType, Vtw
from regard.facts.separation import ClassSeparation, Separation
from regard.models.flat import AFFINE, EMBEDDING, HEAD, QUERY
from regard.models.tasks import Classes
from regard.models.trained import Trained

SHOWN = 3000  # tokens kept by name
STRONGEST = 20  # words of each class
LEAST_KNOWN = 0.2  # share of known words below which a corpus does not fit the run

Floats = NDArray[np.float64]


class Tokens(NamedTuple):
    """Names, types and scores of all tokens, as arrays of equal length."""

    names: list[str]
    types: TokenTypes
    scores: TokenScores
    polarity: Floats  # one number per token: `lead`

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.asarray(self.types.counts.sum(1))


def analyse(
    trained: Trained, texts: Sequence[str], labels: Floats, where: str, run: str = "", contexts: bool = True
) -> AnalysisFacts:
    """Analyse a run on labelled texts; `where` names them. `contexts`: local scores of an encoder, otherwise global."""
    task = check_model(trained)
    units = UnitTexts.of(trained.tokenizer, texts, labels)
    notes = known_words(units, where)
    types = token_types(units, len(trained.tokenizer), task.classes)
    if not len(types.tied) or not len(types.neutral):
        missing = "belongs to one class" if not len(types.tied) else "is neutral"
        notes.append(f"no frequent word {missing}, so attention cannot be compared between types of words")
    scores, kind = find_scores(trained, units, texts, contexts)
    tokens = Tokens(token_names(trained.tokenizer), types, scores, lead(scores.polarity))
    never = int((tokens.counts[SPECIALS:] == 0).sum())
    if never:
        notes.append(f"{never:,} of the run's {len(tokens.names) - SPECIALS:,} words and pairs do not occur in {where}")
    if (members := trained.config.model.filled().members) > 1:
        notes.append(
            f"scores and polarities are means over the committee's {members} models; gradient flow and VᵀW are those of a single "
            "model, which --members 1 trains"
        )
    terms = flow_by_type(trained, units, types)
    shown = listed_tokens(tokens)
    dynamics = trained.dynamics
    return AnalysisFacts(
        run=run,
        data=where,
        texts=len(texts),
        task=task.kind,
        classes=tuple(task.classes),
        model=analysed_model(trained),
        scores=kind,
        types=tuple(type_facts(tokens, name) for name in types.names),
        separation=separation_facts(tokens),
        vtw=vtw_facts(trained, terms),
        flow=terms,
        dot_products=tuple(
            pair_quartiles(
                trained.weights[EMBEDDING].astype(np.float64), {name: types.of(name) for name in types.names}
            )
        ),
        words={
            name: tuple(token_facts(tokens, unit) for unit in strongest(tokens, k))
            for k, name in enumerate(task.classes)
        },
        tokens=tuple(token_facts(tokens, unit) for unit in shown),
        recording=None if dynamics is None else recording_facts(dynamics),
        notes=tuple(notes),
    )


def check_model(trained: Trained) -> Classes:
    """The task, if the model can be analysed; otherwise an error."""
    check_scores(trained.config.model)
    return check_classes(trained)


def known_words(units: UnitTexts, where: str) -> list[str]:
    """Reject a corpus whose words the run does not know; note the share of unknown words."""
    total = int(units.counts.sum())
    known = 1 - int(units.counts[units.ids == UNKNOWN].sum()) / max(total, 1)
    if total == 0 or known < LEAST_KNOWN:
        raise InputError(
            f"{where}: expected a corpus of which the run knows at least {100 * LEAST_KNOWN:.0f} % of the words, "
            f"got {100 * known if total else 0:.0f} %"
        )
    return [f"{100 * (1 - known):.0f} % of the words of {where} are unknown to the run"] if known < 0.9 else []


def find_scores(trained: Trained, units: UnitTexts, texts: Sequence[str], contexts: bool) -> tuple[TokenScores, str]:
    if trained.is_flat:
        return token_scores(trained, units), "global"
    local = local_scores(trained, trained.tokenizer.encode_each(texts))
    if contexts:
        return local, "local"
    return global_scores(trained)._replace(weight=local.weight), "global"


def analysed_model(trained: Trained) -> AnalysedModel:
    model = trained.config.model.filled()
    forms = {
        ("embedding", "dot"): "DP",
        ("affine", "dot"): "DP-A",
        ("bilstm", "dot"): "DP-L",
        ("embedding", "additive"): "AD",
    }
    form = forms.get((model.encoder, model.attention), f"{model.encoder}, {model.attention} attention")
    return AnalysedModel(form, model.encoder, model.attention, model.scale)


def type_facts(tokens: Tokens, name: str) -> TokenType:
    members = tokens.types.of(name)
    scores = (tokens.polarity, tokens.scores.attention, tokens.scores.weight)
    return TokenType(name, len(members), *(box(values[members]) for values in scores))


def box(values: Floats) -> Box | None:
    """None without a finite value."""
    values = values[np.isfinite(values)]
    return Box(float(values.mean()), float(values.std()), **quartiles(values)) if len(values) else None


def separation_facts(tokens: Tokens) -> Separation | None:
    attention, types = tokens.scores.attention, tokens.types
    overall = separation(attention[types.tied], attention[types.neutral])
    if overall is None:
        return None
    each = {name: separation(attention[types.of(name)], attention[types.neutral]) for name in types.names[:-1]}
    by_type = {name: one for name, one in each.items() if one is not None}
    tied, neutral = len(types.tied), len(types.neutral)
    return Separation(
        *overall,
        tied,
        neutral,
        tuple(ClassSeparation(name, *one) for name, one in by_type.items()),
        of_separation(overall, by_type, tied, neutral),
    )


def flow_by_type(trained: Trained, units: UnitTexts, types: TokenTypes) -> Flow | None:
    """The mean of every term over the tokens of each type. For K classes, polarity terms are those of the class of the
    type, and the largest ones for neutral tokens."""
    if not trained.is_flat or trained.config.model.filled().members > 1:
        return None
    terms = flow(trained.weights, trained.config.model.filled().scale, units, trained.task.kind)

    def means(values: Floats) -> dict[str, float | None]:
        by_type: dict[str, float | None] = {}
        for k, name in enumerate(types.names):
            members = values[types.of(name)]
            members = members if members.ndim == 1 else of_type(members, k)
            by_type[name] = float(members.mean()) if len(members) else 0.0
        return by_type

    return Flow(
        {term: means(values) for term, values in terms.polarity.items()},
        {term: means(values) for term, values in terms.attention.items()},
    )


def vtw_facts(trained: Trained, terms: Flow | None) -> Vtw | None:
    """VᵀW of dot attention; V and W in the space of the states that both read."""
    weights, model = trained.weights, trained.config.model.filled()
    if model.attention != "dot" or model.members > 1:
        return None
    v, w = weights[QUERY].astype(np.float64), weights[HEAD].astype(np.float64)  # (D,), (C, D)
    values, lengths = w @ v, np.linalg.norm(w, axis=1)
    length = float(np.linalg.norm(v))
    products = (values * model.scale).tolist()
    mapped = None
    if AFFINE in weights:
        m = weights[AFFINE].astype(np.float64)
        mapped = tuple(((w @ m) @ (v @ m)).tolist())
    return Vtw(
        tuple(values.tolist()),
        tuple(products),
        tuple((values / np.maximum(lengths * length, 1e-300)).tolist()),
        length,
        tuple(lengths.tolist()),
        mapped,
        meaning=of_vtw(products, check_classes(trained).classes, terms),
    )


def strongest(tokens: Tokens, k: int) -> list[int]:
    """The frequent words that support a class most."""
    support = support_for(tokens.scores.polarity, k)
    support = np.where((tokens.counts > SEEN) & np.isfinite(support), support, 0.0)
    support[:SPECIALS] = 0.0
    return [int(unit) for unit in np.argsort(-support, kind="stable")[:STRONGEST] if support[unit] > 0]


def listed_tokens(tokens: Tokens) -> list[int]:
    """The most frequent tokens of each type in equal parts, then the most frequent without a type."""
    types, counts = tokens.types, tokens.counts
    by_count = np.argsort(-counts, kind="stable")
    kept: list[int] = []
    for left, name in zip(
        range(len(types.names), 0, -1), sorted(types.names, key=lambda n: len(types.of(n))), strict=True
    ):
        members = by_count[types.codes[by_count] == types.names.index(name)]
        kept += members[: (SHOWN - len(kept)) // left].tolist()
    rest = by_count[(types.codes[by_count] < 0) & (by_count >= SPECIALS) & (counts[by_count] > SEEN)]
    return sorted(kept + rest[: max(0, SHOWN - len(kept))].tolist(), key=lambda unit: -counts[unit])


def token_facts(tokens: Tokens, unit: int) -> Token:
    types, scores = tokens.types, tokens.scores
    code, weight = int(types.codes[unit]), float(scores.weight[unit])
    return Token(
        tokens.names[unit],
        types.names[code] if code >= 0 else None,
        float(tokens.polarity[unit]),
        tuple(scores.polarity[unit].tolist()) if scores.polarity.shape[1] > 1 else None,
        float(scores.attention[unit]),
        weight if np.isfinite(weight) else None,
        int(tokens.counts[unit]),
        float(types.gamma[unit]),
    )
