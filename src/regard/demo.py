"""`regard demo`: a hierarchical model on the built-in reviews, scored, explained and reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from regard.config import Config
from regard.data.reviews import splits
from regard.explain.explain import explain
from regard.faithfulness.plausibility import plausibility
from regard.files import check_writable
from regard.models.saving import save
from regard.recorder import Recorder
from regard.report.pages.run import write_report
from regard.report.text.characters import print_line
from regard.report.text.tables import metrics_table
from regard.report.text.terminal import show
from regard.run_facts import gather
from regard.training.fit import Parts, Run, fit

SHOWN = 3  # explanations in the terminal; the page shows all
SOURCE = "the test texts of the built-in reviews"
SETTINGS = {
    "levels": 2,
    "encoder": "bilstm",
    "pooling": "apln",
    "hidden": 64,
    "query": 64,
    "embedding": 50,
    "epochs": 8,
    "lr": 0.003,
    "dropout": 0.3,
    "task": "multiclass",
}


def demo(out: Path, seed: int, recorder: Recorder) -> None:
    check_writable(out / "run")
    console = Console()
    corpus = splits()
    recorder.note(f"training HAN-APLN on {len(corpus['train'])} synthetic reviews with one to five stars")
    test = corpus["test"]
    parts = Parts(corpus["train"], corpus["dev"], test)
    trained = fit(Config().override({**SETTINGS, "seed": seed}), parts, Run(recorder))
    labels = [example.label for example in test]
    explanations = list(explain(trained, [example.text for example in test], labels))
    truth = plausibility(explanations, [example.evidence for example in test])
    trained.metrics["plausibility"] = truth
    save(trained, out / "run")
    facts = gather(trained, out / "run", test, SOURCE, recorder)
    weight, random = (f"{100 * truth[name]:.0f} %" for name in ("weight_on_evidence", "random"))
    about = {"seed": str(seed), "weight on the deciding words": f"{weight} (random weights: {random})"}
    write_report(replace(facts, facts=facts.facts | about), out / "page.html")
    console.print(metrics_table(trained.metrics["test"]))
    for explanation in explanations[:SHOWN]:
        show(explanation, console)
    console.print(f"{weight} of the weight is on the deciding words, which are known here (random weights: {random}).")
    print_line(f"page:  {out / 'page.html'}\nmodel: {out / 'run'}")
