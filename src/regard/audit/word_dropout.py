"""Word dropout: does the audited explainer still beat random words if the judge has seen texts with words removed?

Texts with words removed are unlike those that a model was trained on, so its answers to them may not show which words
matter (Hooker et al. 2019; Hase, Xie & Bansal 2021). Here the same scores are measured by three judges:

    audited   the audited run itself
    plain     the same model, retrained
    dropout   the same model, retrained on the same texts and on a copy of each from which words are deleted, so that
              erased texts are no longer new to it (Hase, Xie & Bansal 2021 also train models on erased texts)

**Choices**: from a text of n words ⌊u·n⌋ random words are deleted, u uniform in [0, 1), so at least one word is left and no
copy is empty. A copy that equals an audited or evaluated text is left out. The same texts are held out for early stopping as
for the plain model, also with their copies. Scores are about the class that the audited run predicts, and so are the drops
of every judge. The plain judge is there because any retrained model is another model: the two retrained judges differ only
in word dropout. That is seeing erased texts, but also twice as many steps per epoch and a vocabulary in which rare words
reach `min_count` more easily.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from regard.audit.erasure_checks import Lacking, known
from regard.audit.explanations import Explanations
from regard.audit.intervals import mean_interval, paired_difference
from regard.audit.measuring import CUTS
from regard.audit.retraining import Audited, Retraining
from regard.data import words
from regard.data.erasing import delete
from regard.data.splitting import hold_out
from regard.facts.audit import DropoutAccuracy, ErasureJudge, JudgedExplainer, WordDropout
from regard.faithfulness.curves import drop
from regard.faithfulness.judged import judge_erased
from regard.faithfulness.judging import Judge
from regard.faithfulness.random_choice import RANDOM
from regard.faithfulness.scored import Doubles, Ints, Scored
from regard.models.trained import Trained
from regard.records import Example
from regard.training.fit import Parts

STREAM = 3  # of random numbers, so that no other draws for the same text and seed use them, too
MEASURES = ("comprehensiveness", "sufficiency")


def word_dropout(
    audited: Audited, retraining: Retraining, plain: Trained, explanations: Explanations, best: str | None
) -> WordDropout:
    """`best`: the best alternative to the focus of the audit, if there is any."""
    parts, copies = dropout_parts(retraining, audited)
    # `parts` has the held-out texts
    dropout = retraining.fit(audited.recorder, "with a copy of each without some words", parts, dev_fraction=0.0)
    names = [explanations.focus, *([] if best is None else [best])]
    attributions = {name: [Scored(*one.scored()) for one in explanations.scores[name]] for name in names}
    target = np.asarray(audited.trained.answers(audited.texts).argmax(1), dtype=np.int64)
    judges = {"audited": audited.trained, "plain": plain, "dropout": dropout}
    audited.recorder.note("predicting erased texts with the retrained models")
    return WordDropout(
        retraining.facts(),
        copies=copies,
        accuracies=accuracies(retraining, plain, dropout, audited.seed),
        judges=tuple(
            judge_facts(name, one.answers, attributions, target, explanations.lacking, audited.seed)
            for name, one in judges.items()
        ),
    )


def drop_words(text: str, seed: int) -> str:
    """A copy without a random share of its words. It depends on the text and the seed, not on other texts."""
    spans = words.spans(text)
    rng = np.random.default_rng((seed, STREAM, zlib.crc32(text.encode("utf-8", "surrogatepass"))))
    count = int(rng.random() * len(spans))
    return delete(text, spans, np.sort(rng.permutation(len(spans))[:count]).tolist())


def with_copies(examples: Sequence[Example], seed: int, unseen: Collection[str]) -> list[Example]:
    """The examples, then a copy of each without some words, except for copies that equal an unseen text."""
    copies = (replace(example, text=drop_words(example.text, seed), evidence=()) for example in examples)
    return [*examples, *(copy for copy in copies if copy.text not in unseen)]


def dropout_parts(retraining: Retraining, audited: Audited) -> tuple[Parts, int]:
    """What the dropout judge is trained on, and how many copies are among it."""
    config, unseen = retraining.config, {*audited.texts, *retraining.texts}
    kept, held = hold_out(retraining.examples, config.data.dev_fraction, config.training.seed, by_label=True)
    train, dev = (with_copies(part, audited.seed, unseen) for part in (kept, held))
    return Parts(train, dev or None), len(train) + len(dev) - len(retraining.examples)


def accuracies(retraining: Retraining, plain: Trained, dropout: Trained, seed: int) -> tuple[DropoutAccuracy, ...]:
    """Of both retrained models, on whole texts and on texts with words dropped as in training."""
    erased = retraining._replace(texts=[drop_words(text, seed) for text in retraining.texts])
    facts = []
    for name, evaluated in {"whole": retraining, "erased": erased}.items():
        without, having = evaluated.right(plain), evaluated.right(dropout)
        means = mean_interval(without, seed), mean_interval(having, seed)
        facts.append(DropoutAccuracy(name, *means, paired_difference(having, without, seed)))
    return tuple(facts)


def judge_facts(
    name: str,
    judge: Judge,
    attributions: Mapping[str, Sequence[Scored]],
    target: Ints,
    lacking: Lacking,
    seed: int,
) -> ErasureJudge:
    """`target`: (texts,) the class that scores are about."""
    judged = judge_erased(judge, attributions, CUTS, seed=seed)
    before = judged[RANDOM].before
    measured = []
    for measure in MEASURES:
        drops: dict[str, Doubles] = {}
        for who, one in judged.items():
            answers = one.deleted if measure == "comprehensiveness" else one.kept
            drops[who] = known(drop(one, answers, target).mean(1), lacking, who)
        for who, values in drops.items():
            less = None if who == RANDOM else paired_difference(values, drops[RANDOM], seed)
            measured.append(JudgedExplainer(measure, who, mean_interval(values, seed), less))
    same = np.asarray(before.argmax(1) == target, dtype=np.float64)
    return ErasureJudge(name, mean_interval(same, seed), tuple(measured))
