"""AOPC and post-hoc accuracy with and without texts of at most K words, in rows and in verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.faithfulness.judged import Judged
from regard_lab.claims import bottleneck_blocks
from regard_lab.claims.claims import read_claims
from regard_lab.claims.difference_rules import better
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdicts import HOLDS, Given
from regard_lab.kinds.word_measures import Measurements, add_curves

FOLDER = TableFolder(Path(__file__).parents[2] / "experiments")
CORPORA = ["sst2", "subj"]


def judged(right_after: list[bool]) -> Judged:
    """Four texts of class 0 that the judge gets right before; `right_after`: also without the top word."""
    answers = np.array([[0.9, 0.1] if right else [0.1, 0.9] for right in right_after])[
        None, :, None
    ]  # one draw, one cut
    return Judged("deletion", (1,), np.zeros(4, dtype=np.int64), np.array([[0.9, 0.1]] * 4), answers, answers)


def rows(plain: float, longer: float | None) -> dict[tuple[str, str, str], list[dict[str, object]]]:
    """VAT is ahead of ATT by these."""
    found: dict[tuple[str, str, str], list[dict[str, object]]] = {}
    for corpus in CORPORA:
        for method, ahead in (("vat", 1), ("att", 0)):
            found[method, corpus, ""] = [
                {
                    "seed": seed,
                    "values": {
                        "aopc_5": 0.1 + ahead * (plain + seed / 1000),
                        **({} if longer is None else {"aopc_5_long": 0.1 + ahead * (longer + seed / 1000)}),
                    },
                }
                for seed in range(4)
            ]
    return found


def verdict_and_words(plain: float, longer: float | None) -> tuple[str, str]:
    given = Given(FOLDER.table("vat/table3"), rows(plain, longer), FOLDER.book)  # type: ignore[arg-type]
    result = better(given, "aopc_5", pairs=[["vat", "att"]], corpora=CORPORA)
    assert result is not None
    return result.verdict, result.measured


def test_the_result_without_short_texts_decides() -> None:
    verdict, words = verdict_and_words(plain=0.05, longer=0.001)
    assert verdict != HOLDS
    assert words.startswith("without texts of at most K words: 2 comparisons, 4 seeds; pooled +0.25 ")
    assert "; with them: 2 comparisons, 4 seeds; pooled +5.15 " in words


def test_rows_without_it_are_named() -> None:
    verdict, words = verdict_and_words(plain=0.05, longer=None)
    assert verdict == HOLDS
    assert words.endswith("texts of at most K words are included: these rows do not keep the measure without them")


@pytest.mark.parametrize(
    ("lacking", "number"), [(None, "2 comparisons, 4 seeds; this decides"), ("subj", "1 of 2 comparisons, 4 seeds")]
)
def test_the_page_shows_the_result_without_short_texts(
    lacking: str | None, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured, folder = rows(plain=0.05, longer=0.001), TableFolder(Path(__file__).parents[2] / "experiments")
    for (_, corpus, _), of_cell in measured.items():
        for row in of_cell if corpus == lacking else ():
            del row["values"]["aopc_5_long"]  # type: ignore[attr-defined]
    monkeypatch.setattr(folder, "given", lambda _: Given(folder.table("vat/table3"), measured, folder.book))
    (claim,) = (one for one in read_claims(folder.folder / "evidence.toml").claims if one.id == "vat-07")
    words = bottleneck_blocks.summary(bottleneck_blocks.LSTM[1], claim, folder)
    assert "(vat-07, 2 comparisons): pooled +5.15 ± " in words
    assert f". Without texts of at most 5 words ({number}): pooled +0.25 ± " in words
    assert ". The same runs with them: pooled +5.15 ± " in words


def test_short_texts_are_left_out_of_the_measure() -> None:
    """Texts of 1, 1, 3 and 4 words; without its top word the judge gets the short ones wrong and one long one."""
    results, answers = Measurements(), judged([False, False, True, False])
    add_curves(results, answers, answers, [1], [1, 1, 3, 4])
    assert results.values["aopc_1"] == 0.75
    assert results.values["aopc_1_long"] == 0.5
    assert results.values["short_1"] == 0.5
