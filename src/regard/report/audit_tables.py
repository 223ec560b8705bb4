"""The tables of an audit: every number that a sentence of its verdict rests on, with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from regard.report.names import COMPARED, explainer_name, measure_name
from regard.report.text.characters import one_line
from regard.report.text.exported import Table
from regard.report.text.measures import written

Audit = Mapping[str, Any]
Row = tuple[str, ...]
OVER = "mean with its 95 % interval"
CHECKS = {
    "inside": "the model could be looked into",
    "enough": "there are enough texts for a verdict",
    "above_chance": "without its top words answers fall clearly more than without words by chance",
    "below_chance": "without its top words answers fall clearly less than without words by chance",
    "keeps_up": "it keeps enough of its best rival’s lead over chance",
    "falls_behind": "it falls behind its best rival",
    "all_weights": "the weights that were permuted are all that the model has",
    "moves": "permuting the weights moves answers",
    "still": "permuting the weights leaves answers where they are",
    "even": "the weights hardly vary",
    "below_neutral": "words of a class have clearly lower scores than neutral words",
}


def audit_tables(found: Audit) -> dict[str, Table]:
    """By name; what the audit doesn't hold leaves no table."""
    made = {
        "explainers": measures_table(found["faithfulness"]),
        "comparisons": comparisons_table(found["faithfulness"]),
        "agreement": agreement_table(found["agreement"]),
        **{
            name: tell(found["diagnostics"][name]) for name, tell in DIAGNOSTICS.items() if name in found["diagnostics"]
        },
        "separation": separation_table(found["separation"]) if found["separation"] else None,
        "plausibility": plausibility_table(found["plausibility"]) if found["plausibility"] else None,
        "model": model_table(found),
        "checks": checks_table(found["verdict"]["checks"]),
    }
    return {name: table for name, table in made.items() if table is not None and table.rows}


def measures_table(given: Audit) -> Table:
    """A row an explainer: means over the cut-offs."""
    by = {(one["explainer"], one["measure"]): one for one in given["curves"]}
    names = [name for name in COMPARED if any(measure == name for _, measure in by)]
    better = {one["measure"]: "↓" if one["better"] == "smaller" else "↑" for one in given["curves"]}
    rows = [
        (explainer_name(who), *(spanned(by[who, name]["mean"]) if (who, name) in by else "–" for name in names))
        for who in dict.fromkeys(who for who, _ in by)
    ]
    cuts = ", ".join(given["cuts"])
    head = ("explainer", *(f"{measure_name(name)} {better[name]}" for name in names))
    caption = f"Means over cut-offs of {cuts} of the words, with 95 % intervals; ↑ larger is better, ↓ smaller"
    return Table(caption, head, rows)


def comparisons_table(given: Audit) -> Table:
    """The focus of the audit against every other explainer."""
    rows = [
        (
            measure_name(one["measure"]),
            f"{explainer_name(one['one'])} less {explainer_name(one['other'])}",
            spanned(one),
            chance(one.get("p")),
            chance(one.get("holm")),
        )
        for one in sorted(given["comparisons"], key=lambda one: COMPARED.index(one["measure"]))
        if one["mean"] is not None
    ]
    return Table("Differences, paired by text", ("measure", "difference", OVER, "p", "p (Holm)"), rows)


def agreement_table(given: Sequence[Audit]) -> Table:
    rows = [
        (
            f"{explainer_name(one['one'])}, {explainer_name(one['other'])}",
            *(spanned(one[key]) for key in ("tau", "divergence", "overlap", "overlap_by_chance")),
        )
        for one in given
    ]
    head = ("explainers", "Kendall’s τ", "Jensen–Shannon", "top words in common", "by chance")
    return Table("How far every two agree, by the sizes of their scores", head, rows)


def correlation_table(given: Audit) -> Table:
    rows = [
        (explainer_name(name), spanned(one["tau"]), written(one["deviation"]), spanned(one["significant"]))
        for name, one in given.items()
    ]
    return Table(
        "Kendall’s τ over texts", ("with", "τ", "standard deviation", "share of texts where p is below 0.05"), rows
    )


def permutation_table(given: Audit) -> Table:
    names = {
        "moved": f"answers moved by permuted weights (median of {given['draws']})",
        "evened": "answers moved by even weights",
        "largest": "largest weight of a text",
        "uneven": "weights’ distance from even ones",
    }
    rows = [(name, spanned(given[key]), written(given[key]["n"])) for key, name in names.items()]
    rows += [
        (
            f"answers moved where the largest weight is {one['from']:g} to {one['to']:g}",
            written(one["moved"]),
            f"{one['n']:,}",
        )
        for one in given["by_largest"]
    ]
    return Table("Total variation distances", ("what", OVER, "texts"), rows)


def adversary_table(given: Audit) -> Table:
    rows = [
        ("divergence from the model’s weights", spanned(given["divergence"])),
        ("distance of the answers", spanned(given["distance"])),
        ("share of texts where it is more than half of the most", spanned(given["far"])),
        *(
            [("the same, of texts where any weights are so far", spanned(given["far_of_possible"]))]
            if "far_of_possible" in given
            else []  # of an older file
        ),
        ("the most that can be", written(given["largest"])),
        ("how they were found", "exactly" if given["exact"] else "by a search: a lower bound"),
    ]
    return Table(f"Farthest weights that keep answers within {given['epsilon']:g}", ("what", OVER), rows)


def even_table(given: Audit) -> Table:
    rows = [
        ("accuracy with attention", spanned(given["attention"]), ""),
        ("accuracy with even weights", spanned(given["even"]), ""),
        ("difference", spanned(given["difference"]), chance(given["difference"]["p"])),
    ]
    return Table(lesson("Trained again", given), ("what", OVER, "p"), rows)


def seeds_table(given: Audit) -> Table:
    rows = [(f"seed {place}", spanned(one)) for place, one in enumerate(given["by_seed"], 1)]
    rows += [("mean of the seeds", spanned(given["divergence"]))]
    rows += [("accuracies, the first seed’s first", ", ".join(map(written, given["accuracy"])))]
    return Table(lesson("Divergence of attention from the first seed’s", given), ("what", OVER), rows)


def guided_table(given: Audit) -> Table:
    rows = [
        ("accuracy with the run’s attention", spanned(given["guided"]), ""),
        ("accuracy with even weights", spanned(given["even"]), ""),
        ("accuracy with weights it learns", spanned(given["learned"]), ""),
    ]
    rows += [
        (f"attention less {name}", spanned(given[key]), chance(given[key]["p"]))
        for key, name in (("guided_less_even", "even weights"), ("guided_less_learned", "learned weights"))
    ]
    return Table(lesson("A model without contexts", given), ("what", OVER, "p"), rows)


def trained_table(given: Audit) -> Table:
    rows = [
        (
            f"{one['factor']:g}",
            spanned(one["distance"]),
            spanned(one["divergence"]),
            spanned(one["accuracy"]) if one["accuracy"] else "–",
        )
        for one in given["points"]
    ]
    head = ("λ", "distance of answers (TVD)", "divergence of attention (JSD)", "accuracy")
    return Table(lesson("Models trained to look elsewhere", given), head, rows)


def separation_table(given: Audit) -> Table:
    rows = [(one_line(one["name"]), spanned({**one, "mean": one["auc"]})) for one in given["by_type"]]
    counted = f"{given['tied']:,} tokens of a class against {given['neutral']:,} neutral ones"
    return Table(counted, ("words of", "AUC"), [("any class", spanned({**given, "mean": given["auc"]})), *rows])


def plausibility_table(given: Audit) -> Table:
    rows = [(explainer_name(one["name"]), spanned(one["auprc"]), spanned(one["f"])) for one in given["explainers"]]
    rows += [("share of words that people marked", spanned(given["base_rate"]), "")]
    return Table(f"{given['texts']:,} texts have words that people marked", ("explainer", "AUPRC", "token F1"), rows)


def model_table(found: Audit) -> Table:
    """What was audited, and what each explanation costs."""
    model = found["model"] or {}
    names = {key: key for key in ("encoder", "pooling", "levels", "attention")} | {"scale": "λ"}
    rows = [(name, one_line(model[key])) for key, name in names.items() if key in model]
    if model.get("head_hidden"):
        rows.append(("head", "with a hidden layer"))
    rows += [
        (
            f"passes over a text for {explainer_name(one['name'])}",
            f"{one['forward']:g} forward, {one['backward']:g} back",
        )
        for one in found["explainers"]
        if one.get("forward") is not None
    ]
    return Table("The model, and what explaining a text costs", ("what", "value"), rows)


def checks_table(given: Mapping[str, bool | None]) -> Table:
    said = {True: "yes", False: "not shown", None: "not tested"}
    rows = [(CHECKS.get(name, one_line(name)), said[value]) for name, value in given.items()]
    return Table(
        "Yes only where a whole 95 % interval says so; clearly is by more than 0.01, of an area by more than 0.05",
        ("check", "answer"),
        rows,
    )


def lesson(what: str, given: Audit) -> str:
    judged = f", judged on {given['judged_on']:,}" if "judged_on" in given else ""
    return f"{what}: {given['learned_from']:,} texts{judged}; {given['epochs']} epochs"


def spanned(one: Audit) -> str:
    if one["mean"] is None:
        return "–"
    ends = "" if one["low"] is None else f" ({one['low']:z.3f} to {one['high']:z.3f})"
    return f"{one['mean']:z.3f}{ends}".replace("-", "−")


def chance(p: float | None) -> str:
    return "–" if p is None else f"{p:.2g}"


DIAGNOSTICS: dict[str, Callable[[Audit], Table]] = {
    "correlation": correlation_table,
    "permutation": permutation_table,
    "adversary": adversary_table,
    "even": even_table,
    "seeds": seeds_table,
    "guided": guided_table,
    "trained_adversary": trained_table,
}
