"""All doubts about the labels of a file, from one cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.doubts.choosing import choose, uncertainty
from regard.doubts.duplicates import contradictions
from regard.doubts.folds import OutOfFold
from regard.doubts.scoring import estimated_errors, residual_doubt, self_doubt
from regard.explain.explain import explain
from regard.facts.doubts import Contradiction, DoubtFacts, DoubtfulRow, NextText, NovelText
from regard.models.tasks import Classes
from regard.novelty import novelty
from regard.records import Example
from regard.report.text.strongest_words import strongest_words

NOVEL = 0.9  # from which a text is listed as unlike the others
FAR = 2.0  # standard deviations from which a number is disputed
WORDS = 5  # per text
Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


def find_doubts(
    examples: Sequence[Example],
    out: OutOfFold,
    data: str,
    limit: int,
    pool: Sequence[Example] = (),
    pool_name: str = "",
) -> DoubtFacts:
    """`limit`: how many texts of the pool to choose, and how many contradictions and novel texts to list."""
    doubts, suggested = judged(out, examples)
    order = np.argsort(-doubts, kind="stable")
    words = words_against(examples, out, suggested, order, limit)
    rows = [
        DoubtfulRow(
            examples[k].row, examples[k].text, str(examples[k].label), suggested[k], float(doubts[k]), words.get(k, ())
        )
        for k in order.tolist()
    ]
    task, classes = out.task, isinstance(out.task, Classes)
    return DoubtFacts(
        data=data,
        task=task.kind,
        classes=task.classes if isinstance(task, Classes) else (),
        rows=rows,
        estimated=estimated_errors(out.answers, out.labels.astype(np.int64)) if classes else None,
        contradictions=found_contradictions(examples, out)[:limit],
        novel=novel_texts(examples, out)[:limit],
        next=next_texts(out, pool, limit),
        pool=pool_name,
    )


def judged(out: OutOfFold, examples: Sequence[Example]) -> tuple[Doubles, list[str]]:
    """Each text's doubt and suggested label. A number close to its prediction is suggested as it is."""
    if isinstance(out.task, Classes):
        best = out.answers.argmax(1).tolist()
        return self_doubt(out.answers, out.labels.astype(np.int64)), [out.task.classes[k] for k in best]
    doubts = residual_doubt(out.answers[:, 0], out.labels)
    pairs = zip(doubts.tolist(), out.answers[:, 0].tolist(), examples, strict=True)
    return doubts, [plain(value) if doubt >= FAR else str(example.label) for doubt, value, example in pairs]


def plain(value: float) -> str:
    """A number as a file has it, in six significant figures."""
    return f"{value:z.6g}"


def words_against(
    examples: Sequence[Example], out: OutOfFold, suggested: Sequence[str], order: Ints, limit: int
) -> dict[int, tuple[str, ...]]:
    """The words against the label of each disputed text, by a model that did not train on it; only of the first `limit` where
    a model takes long to explain."""
    disputed = [k for k in order.tolist() if suggested[k] != str(examples[k].label)]
    if not all(model.is_flat for model in out.models):
        disputed = disputed[:limit]
    found: dict[int, tuple[str, ...]] = {}
    for members, fold, target in groups(disputed, out):
        texts = [examples[k].text for k in members]
        for k, explanation in zip(members, explain(out.models[fold], texts, target=target), strict=True):
            raising, lowering = strongest_words(explanation, WORDS)
            is_raised = (
                target is None and out.answers[k, 0] > out.labels[k]
            )  # of a number: what moved the prediction away
            found[k] = tuple(word.text for word in (raising if is_raised else lowering))
    return found


def groups(rows: Sequence[int], out: OutOfFold) -> Iterator[tuple[list[int], int, str | None]]:
    """Rows that are explained together: (rows, fold, target), where a number has no target."""
    by_target: dict[tuple[int, str | None], list[int]] = {}
    for k in rows:
        target = out.task.classes[int(out.labels[k])] if isinstance(out.task, Classes) else None
        by_target.setdefault((int(out.fold[k]), target), []).append(k)
    for (fold, target), members in by_target.items():
        yield members, fold, target


def found_contradictions(examples: Sequence[Example], out: OutOfFold) -> list[Contradiction]:
    """Classes contradict each other if they differ, numbers if they differ by a standard deviation of all labels."""
    gap = 0.5 if isinstance(out.task, Classes) else float(out.labels.std())
    labels = out.labels.tolist()
    pairs = contradictions([example.text for example in examples], lambda a, b: abs(labels[a] - labels[b]) >= gap)
    listed = [(examples[pair.first], examples[pair.second], pair.similarity) for pair in pairs]
    return [
        Contradiction((a.row, b.row), (str(a.label), str(b.label)), (a.text, b.text), alike) for a, b, alike in listed
    ]


def novel_texts(examples: Sequence[Example], out: OutOfFold) -> list[NovelText]:
    order = np.argsort(-out.novelty, kind="stable").tolist()
    listed = [(examples[k], float(out.novelty[k])) for k in order if out.novelty[k] >= NOVEL]
    return [NovelText(example.row, example.text, str(example.label), value) for example, value in listed]


def next_texts(out: OutOfFold, pool: Sequence[Example], limit: int) -> list[NextText]:
    """By the models of the first round of cross-validation together."""
    if not pool:
        return []
    texts = [example.text for example in pool]
    answers = np.stack([model.answers(texts) for model in out.models])
    unsure = uncertainty(out.task, answers)
    novel = np.mean([novelty(model, texts, said) for model, said in zip(out.models, answers, strict=True)], axis=0)
    predictions = out.task.predictions(answers.mean(0))
    chosen = choose(texts, unsure, limit)
    values = [plain(one.value) if isinstance(one.value, (int, float)) else str(one.value) for one in predictions]
    return [NextText(pool[k].row, texts[k], float(unsure[k]), float(novel[k]), values[k]) for k in chosen]
