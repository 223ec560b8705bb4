"""One plain sentence per section of a report: what its numbers say, before the numbers."""

from __future__ import annotations

from regard.facts.measures import Measures
from regard.facts.run import Calibration, Mean, RunFacts
from regard.report.text.exported import Table
from regard.report.text.intervals import signed
from regard.report.text.numbers import written


def sentences(facts: RunFacts) -> dict[str, str]:
    """By the anchor of the section; "" where there is nothing to say."""
    return {
        "measures": measures_sentence(facts.measures) if facts.measures else "",
        "calibration": calibration_sentence(facts.calibration) if facts.calibration else "",
        "training": training_sentence(facts),
    }


def measures_sentence(measures: Measures) -> str:
    numbers = {one.key: one.value for one in measures.numbers}
    accuracy, error, count = numbers.get("accuracy"), numbers.get("rmse"), numbers.get("n")
    texts = f"{count:,} texts" if isinstance(count, int) else "the texts"
    if isinstance(accuracy, float):
        simple = numbers.get("always_the_most_frequent_class")
        than = f"; always predicting the most frequent class would get {percent(simple)}" if is_number(simple) else ""
        return f"The model predicts {percent(accuracy)} of {texts} correctly{than}."
    subset, f = numbers.get("subset_accuracy"), numbers.get("micro_f1")
    if isinstance(subset, float):
        return f"For {percent(subset)} of {texts} all labels are right; over all labels the F1 is {written(f)}."
    if isinstance(error, float):
        simple = numbers.get("rmse_of_mean")
        than = f"; always predicting the mean would give {written(simple)}" if is_number(simple) else ""
        return f"On {texts} the root mean squared error of its predictions is {written(error)}{than}."
    return f"What was measured on {texts}, with 95 % intervals where there are any."


def is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def percent(value: object) -> str:
    assert isinstance(value, (int, float))
    return f"{100 * value:.1f} %"


def tendency(excess: Mean) -> str:
    """Overconfident or underconfident, if the interval says so in three decimals; otherwise neither.

    Without a mistake accuracy has no spread: the interval of a model that is certain and right would end just below 0.
    """
    if round(excess.low, 3) > 0:
        return "overconfident"
    return "underconfident" if round(excess.high, 3) < 0 else ""


def calibration_sentence(facts: Calibration) -> str:
    excess = facts.excess
    ends = f"95 % interval {with_sign(excess.low)} to {with_sign(excess.high)}"
    if facts.kind != "classes":
        return f"The predicted minus the actual values are {with_sign(excess.mean)} on average ({ends})."
    verdict = {
        "overconfident": "the model is overconfident: it is right less often than its probabilities say",
        "underconfident": "the model is underconfident: it is right more often than its probabilities say",
        "": "these texts show neither overconfidence nor underconfidence",
    }[tendency(excess)]
    return (
        f"Mean confidence minus accuracy is {with_sign(excess.mean)} ({ends}): {verdict}. The expected calibration error "
        f"over the bins below is {written(facts.error)}."
    )


def with_sign(value: float) -> str:
    """Three decimals, like the numbers around it."""
    return ("+" if round(value, 3) > 0 else "") + signed(value)


def bins_table(facts: Calibration) -> Table:
    names = ("confidence", "accuracy") if facts.kind == "classes" else ("predicted", "actual")
    rows = [
        (
            f"{written(one.start)} to {written(one.end)}",
            f"{one.n:,}",
            written(one.predicted),
            f"{written(one.actual)} ({written(one.low)} to {written(one.high)})",
        )
        for one in facts.bins
    ]
    return Table("Bins of the chart; in parentheses 95 % intervals", ("bin", "texts", *names), rows)


def training_sentence(facts: RunFacts) -> str:
    if not facts.history:
        return ""
    epochs = max(one.number for one in facts.history)
    trained = f"The model was trained for {epochs:g} epoch{'s' * (epochs != 1)}"
    return trained + (f"; the weights of epoch {facts.best_epoch} were kept." if facts.best_epoch else ".")
