"""An audit in the terminal: the measures of each explainer, what the diagnostics found, and the verdict in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.audit.verdict import percent, span
from regard.report.names import COMPARED, MAIN, explainer_name
from regard.report.text.characters import one_line
from regard.report.text.plain_table import plain_table

SHORT = {MAIN: "comprehens.", "sufficiency": "suffic.", "accuracy_fall": "acc. fall", "post_hoc": "post hoc"}
HEADINGS = {"may": "it may be read so", "may_not": "it may not", "change": "what to do"}


def print_audit(found: Mapping[str, Any], console: Console) -> None:
    console.print(header(found), highlight=False)
    for part in (measures(found), diagnostics(found)):
        console.print()
        console.print(part, highlight=False)
    console.print()
    console.print(Text(one_line(found["verdict"]["title"]), style="bold"))
    for kind, heading in HEADINGS.items():
        for number, one in enumerate(found["verdict"][kind]):
            if number == 0:
                console.print(Text(heading, style="dim"))
            console.print(Text(f"  · {one_line(one['text'])}"), highlight=False)
    for one in found["left_out"]:
        console.print(Text(one_line(f"left out: {one['what']} ({one['why']})"), style="dim"), highlight=False)
    for note in found["notes"]:
        console.print(Text(one_line(f"note: {note}"), style="dim"), highlight=False)


def header(found: Mapping[str, Any]) -> Text:
    line = Text(one_line(found["run"] or found["focus"]), style="bold")
    line.append(
        f" on {one_line(found['data'] or 'texts')}, {found['texts']} texts; erasing by {found['faithfulness']['how']}",
        "not bold",
    )
    return line


def measures(found: Mapping[str, Any]) -> Table:
    """Means over the cut-offs, and what attention differs by from each, where that is sure."""
    table = plain_table(
        f"means over cut-offs of {', '.join(found['faithfulness']['cuts'])} of the words, with 95 % intervals"
    )
    rows: dict[str, dict[str, str]] = {}
    for one in found["faithfulness"]["curves"]:
        mean = one["mean"]  # the main measure with its interval; all of them have one in audit.json
        rows.setdefault(one["explainer"], {})[one["measure"]] = span(mean) if one["measure"] == MAIN else number(mean)
    columns = [name for name in COMPARED if any(name in own for own in rows.values())]
    table.add_column("explainer")
    for name in columns:
        better = next(one["better"] for one in found["faithfulness"]["curves"] if one["measure"] == name)
        table.add_column(f"{SHORT.get(name, name)} {'↑' if better == 'larger' else '↓'}", justify="right")
    for who, own in rows.items():
        table.add_row(*map(Text, (explainer_name(who), *(own[name] for name in columns))))
    return table


def diagnostics(found: Mapping[str, Any]) -> Table:
    table = plain_table("diagnostics")
    table.add_column("what")
    table.add_column("found", justify="right")
    own = found["diagnostics"]
    rows: list[tuple[str, str]] = []
    for name, one in own.get("correlation", {}).items():
        rows.append((f"Kendall's τ with {explainer_name(name)}", span(one["tau"])))
        rows.append(("  significant in", percent(one["significant"])))
    if one := own.get("permutation"):
        rows += [("answers moved by permuted weights", span(one["moved"])), ("  by even weights", span(one["evened"]))]
        rows += [("largest weight", span(one["largest"])), ("weights' distance from even ones", span(one["uneven"]))]
    if one := own.get("adversary"):
        how = "exactly" if one["exact"] else "by search"
        rows.append((f"farthest weights with the same answer, {how} (JSD)", span(one["divergence"])))
        rows.append(("  more than half of log 2 in", percent(one["far"])))
    if one := own.get("even"):
        rows.append(("accuracy with attention less even weights", span(one["difference"])))
    if one := own.get("seeds"):
        rows.append((f"attention of {one['seeds']} other seeds (JSD)", span(one["divergence"])))
    if one := own.get("guided"):
        rows.append(("accuracy of a guided model less even weights", span(one["guided_less_even"])))
    for one in own.get("trained_adversary", {}).get("points", ()):
        rows.append(
            (f"adversary, λ = {one['factor']:g}: TVD, JSD", f"{span(one['distance'])}, {span(one['divergence'])}")
        )
    if one := found["separation"]:
        rows.append(("separation of words of a class (AUC)", span({**one, "mean": one["auc"]})))
    if one := found["plausibility"]:
        rows.append(("AUPRC above chance", span(one["above_chance"])))
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def number(one: Mapping[str, Any]) -> str:
    return "–" if one["mean"] is None else f"{one['mean']:z.3f}".replace("-", "−")
