"""The generated parts of docs/attention_debate.md: which differences are confirmed, in the families of the page of evidence."""

from __future__ import annotations

from regard_lab.claims.bottleneck_blocks import family_of
from regard_lab.claims.claims import Claim, Claims
from regard_lab.claims.differences import pooled_words
from regard_lab.claims.table_folder import TableFolder, evaluate_claim
from regard_lab.claims.verdicts import several

GUIDED = {
    "wp-01": "Accuracy, minus that with uniform weights",
    "wp-02": "Guided by it, minus guided by uniform weights",
    "wp-03": "Guided by it, minus guided by weights that the model learns itself",
}
ADVERSARY = {"wp-06": "Guided by the model, minus guided by the adversary"}


def blocks(claims: Claims, folder: TableFolder) -> dict[str, str]:
    by_id = {claim.id: claim for claim in claims.claims}
    return {
        name: "\n".join(f"- {title} ({one}): {confirmed(by_id[one], folder)}" for one, title in titles.items())
        for name, titles in (("debate-guided", GUIDED), ("debate-adversary", ADVERSARY))
    }


def confirmed(claim: Claim, folder: TableFolder) -> str:
    """The comparisons of a claim that are confirmed after the correction that decides its verdict."""
    family, verdict = family_of(claim, folder), evaluate_claim(claim, folder).verdict
    if family is None:
        return f"**{verdict}**."
    table = folder.table(claim.table)
    corpora = [
        table.corpora[test.cells[0][1]].title
        for test, side in zip(family.tests, family.sides, strict=True)
        if side and test.cells
    ]
    where = f" ({', '.join(corpora)})" if corpora and len(corpora) < len(family.tests) else ""
    words = f"{len(corpora) or 'none'} of {several(len(family.tests), 'difference')} confirmed{where}"
    if family.pooled is not None:
        words += f", pooled {pooled_words(family.pooled, table.measure(claim.arguments['measure']))}"
    return f"{words}: **{verdict}**."
