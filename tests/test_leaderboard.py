"""The leaderboard (benchmarks/leaderboard): where cells are kept, ranks, tuning, and that its page says what the cells say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import Browser, chromium

FOLDER = Path(__file__).parent.parent / "benchmarks" / "leaderboard"


@pytest.fixture(autouse=True)
def leaderboard_on_the_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield


def row(system: str = "a", corpus: str = "imdb", size: int = 100, draw: int = 0, **values: Any) -> dict[str, Any]:
    environment = {"python": "3.12.3", "cpu": "A Processor", "threads": "2"}
    return {
        "system": system,
        "corpus": corpus,
        "size": size,
        "setting": "no options",
        "draw": draw,
        "texts": size or 5000,
        "scored_texts": 200,
        "accuracy": 80.0,
        "macro_f": 79.0,
        "train_seconds": 2.0,
        "train_cpu_seconds": 3.0,
        "predict_seconds": 0.5,
        "peak_megabytes": None,
        "data": "0123456789abcdef",
        "date": "2026-11-18",
        "commit": "eccf344",
        "environment": environment,
    } | values


def test_results_are_kept_by_system_corpus_and_size(tmp_path: Path) -> None:
    from storage import read_results, save_row

    rows = [row("regard, GloVe", size=size, draw=draw, accuracy=80 + draw / 3) for size in (100, 0) for draw in (1, 0)]
    rows.append(row("TF-IDF, LR", "trec", peak_megabytes=500))
    for one in rows:
        save_row(one, tmp_path / "results")
    written = sorted(path.relative_to(tmp_path / "results").as_posix() for path in tmp_path.glob("results/*/*"))
    assert written == ["regard-glove/imdb-100.json", "regard-glove/imdb-all.json", "tf-idf-lr/trec-100.json"]
    found = read_results(tmp_path / "results")
    assert sorted(found, key=json.dumps) == sorted(rows, key=json.dumps)
    assert [one["draw"] for one in found if one["size"] == 0] == [0, 1]


def test_a_draw_that_is_run_again_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    from storage import read_results, save_row

    for draw, accuracy in ((0, 80.0), (1, 81.0), (0, 85.0)):
        save_row(row(draw=draw, accuracy=accuracy), tmp_path)
    assert [(one["draw"], one["accuracy"]) for one in read_results(tmp_path)] == [(0, 85.0), (1, 81.0)]


def test_no_two_systems_share_a_folder() -> None:
    from storage import slug
    from systems import SYSTEMS

    assert len({slug(name) for name in SYSTEMS}) == len(SYSTEMS)


def test_right_and_wrong_answers_come_back_from_a_cell() -> None:
    from cells import pack, unpack

    right = [True, False, False, True, True, False, True, True, False, True]
    assert unpack(pack(right), len(right)).tolist() == right
    assert len(pack([True] * 25_000)) < 100


def test_mean_ranks_are_those_of_a_calculation_by_hand() -> None:
    """On the first corpus a, b, c are 1st, 2nd, 3rd by their means 90, 80, 70; on the second b and c share 1.5, a is 3rd."""
    from ranking import mean_ranks

    scores = {
        "a": {"x": [89.0, 91.0], "y": [60.0, 60.0]},
        "b": {"x": [80.0, 80.0], "y": [65.0, 75.0]},
        "c": {"x": [70.0], "y": [70.0]},
    }
    found = mean_ranks(scores)
    assert {name: one.mean for name, one in found.items()} == {"b": 1.75, "a": 2.0, "c": 2.25}
    # x twice: a is 1st, c 3rd in every sample; y twice: a is 3rd; both happen in a quarter of the samples
    assert (found["a"].low, found["a"].high) == (1.0, 3.0)
    assert found["c"].high == 3.0
    # y twice, and each time both draws of b are 65, a quarter: 1 in 64 samples have c at 1; with b at 70 once, at 1.25: 5 in 64
    assert found["c"].low == 1.25


def test_intervals_of_ranks_come_from_corpora_and_draws() -> None:
    from ranking import mean_ranks

    always = mean_ranks({"a": {"x": [9.0, 8.0], "y": [9.0, 8.0]}, "b": {"x": [7.0, 6.0], "y": [7.0, 6.0]}})
    assert always == {"a": (1.0, 1.0, 1.0), "b": (2.0, 2.0, 2.0)}
    # one corpus, two draws: a is ahead in the mean of (0, 0) and of (0, 1), behind in that of (1, 1)
    draws = mean_ranks({"a": {"x": [9.0, 6.0]}, "b": {"x": [7.0, 7.0]}})
    assert draws["a"] == (1.0, 1.0, 2.0)
    # the mean of many samples: one quarter of the samples has both draws (1, 1)
    from ranking import as_table, resampled_ranks

    table = as_table([[9.0, 6.0], [7.0, 7.0]])
    sampled = resampled_ranks(table, np.ones(20_000, dtype=np.int64), np.random.default_rng(0))
    assert sampled[:, 0].mean() == pytest.approx(1.25, abs=0.02)


def test_systems_need_scores_on_the_same_corpora() -> None:
    from ranking import mean_ranks

    with pytest.raises(ValueError, match="same corpora"):
        mean_ranks({"a": {"x": [1.0]}, "b": {"y": [1.0]}})


def test_tuned_systems_have_the_same_number_of_trials_and_learn_from_all_drawn_texts() -> None:
    from system import Diverged, Fit, Fitted, Options
    from systems import SYSTEMS

    from tuning import TRIALS, Space, fit_tuned

    assert {system.trials for name, system in SYSTEMS.items() if name.endswith(", tuned")} == {TRIALS}
    seen: list[tuple[Options, int]] = []

    def learn(options: Options) -> Fit:
        def fit(texts: Any, labels: Any, seed: int) -> Fitted:
            seen.append((options, len(texts)))
            if options.get("answer") == "diverges":
                raise Diverged
            return Fitted(lambda others: [options.get("answer", "no")] * len(others))

        return fit

    answers = iter(["diverges", "yes", "no"])
    space = Space(learn, lambda rng: {"answer": next(answers)})
    fitted = fit_tuned(space, 4)([f"text {k}" for k in range(20)], ["yes"] * 15 + ["no"] * 5, 0)
    assert [count for _, count in seen] == [16, 16, 16, 16, 20]
    assert seen[0][0] == {}
    assert seen[-1][0] == {"answer": "yes"}
    assert fitted.search is not None
    assert (fitted.search.options, fitted.search.trials) == ({"answer": "yes"}, 4)
    assert fitted.predict(["a"]) == ["yes"]


@pytest.mark.parametrize("name", ["regard", "TF-IDF, LR", "TF-IDF, LinearSVC"])
def test_options_that_are_tried_are_accepted(name: str) -> None:
    from tuning import SPACES, fit_tuned

    texts = [f"a {word} film number {k}" for k in range(10) for word in ("good", "bad")]
    fitted = fit_tuned(SPACES[name], 3)(texts, ["pos", "neg"] * 10, 1)
    assert fitted.predict(["a good film", "a bad film"]) == ["pos", "neg"]


def test_texts_are_batched_in_their_order() -> None:
    from neural_models import batches

    assert [list(batch) for batch in batches("abcde", 2)] == [["a", "b"], ["c", "d"], ["e"]]
    assert list(batches([], 2)) == []


@pytest.mark.parametrize("names", [("pos", "neg"), ("a", "b", "c")])
def test_nb_svm_learns_two_and_more_classes(names: tuple[str, ...], tmp_path: Path) -> None:
    from linear_models import fit_nbsvm

    fitted = fit_nbsvm([f"{name} word{name} text {k}" for k in range(5) for name in names], list(names) * 5, 0)
    assert fitted.predict([f"word{name}" for name in names]) == list(names)
    assert fitted.save is not None
    fitted.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model.joblib"]


def test_the_log_count_ratio_is_that_of_a_calculation_by_hand() -> None:
    """Two features: (2, 0) inside the class, (1, 1) outside; with one added, 3/4 against 2/4 and 1/4 against 2/4."""
    from linear_models import log_count_ratio

    counts = np.array([[1, 0], [1, 0], [1, 1]])
    ratio = log_count_ratio(counts, np.array([True, True, False]))
    assert ratio == pytest.approx(np.log([1.5, 0.5]))


def test_a_cell_is_run_on_the_texts_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    from cells import Cell, run_cell, unpack

    for split, count in (("train", 40), ("test", 10)):
        lines = [json.dumps({"text": f"a {('good', 'bad')[k % 2]} film {k}", "label": k % 2}) for k in range(count)]
        (tmp_path / "films").mkdir(exist_ok=True)
        with gzip.open(tmp_path / "films" / f"{split}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    result = run_cell(Cell("TF-IDF, LR", "films", 20, 0), alone=True)
    assert (result["texts"], result["scored_texts"], result["accuracy"]) == (20, 10, 100.0)
    assert unpack(result["right"], 10).all()
    assert result["model_bytes"] > 1000
    assert result["peak_megabytes"] > 10
    assert result["device"] == "cpu"
    assert {"train_cpu_seconds", "predict_cpu_seconds", "setting", "tuned", "commit"} <= set(result)
    assert run_cell(Cell("TF-IDF, LR", "films", 20, 0))["peak_megabytes"] is None


def test_what_runs_here_and_in_which_process() -> None:
    import argparse

    from system import System

    command = load_command()
    arguments = argparse.Namespace(
        step="run", systems=["TF-IDF, LR", "regard"], corpora=["trec"], sizes=[0, 100], draws=3
    )
    cells = list(command.wanted_cells(arguments))
    assert [(cell.system, cell.size, cell.draw) for cell in cells[:4]] == [
        ("TF-IDF, LR", 100, 0),
        ("TF-IDF, LR", 100, 1),
        ("TF-IDF, LR", 100, 2),
        ("TF-IDF, LR", 0, 0),  # without randomness: once
    ]
    assert len(cells) == 4 + 6
    apart = [command.process(cell) for cell in cells[:4]]
    assert apart[1] == apart[2]
    assert len(set(apart)) == 3
    absent = System(lambda texts, labels, seed: None, needs=("no_such_package",))  # type: ignore[arg-type, return-value]
    assert not absent.is_available
    slow = System(absent.fit, most_on_cpu=1000)
    assert [size for size in (100, 1000, 3000, 0) if slow.takes(size)] == [100, 1000]


def load_command() -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location("leaderboard_command", FOLDER / "__main__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def board(rows: list[dict[str, Any]]) -> Any:
    from board import Board

    return Board(rows)


def test_a_mean_needs_all_corpora_and_its_interval_is_that_of_the_draws() -> None:
    """Means of the draws over both corpora: 80 and 84; their standard error is 2, and t is 12.706 with one degree of freedom."""
    accuracies = {("imdb", 0): 70.0, ("imdb", 1): 78.0, ("trec", 0): 90.0, ("trec", 1): 90.0}
    shown = board([row(corpus=corpus, draw=draw, accuracy=x) for (corpus, draw), x in accuracies.items()])
    mean = shown.mean("a", ["imdb", "trec"], 100, "accuracy")
    assert mean.value == 82.0
    assert mean.half == pytest.approx(12.706 * 2, abs=0.01)
    assert shown.mean("a", ["imdb", "trec", "mr"], 100, "accuracy") is None
    assert board([row()]).mean("a", ["imdb"], 100, "accuracy") == (80.0, None, 1)


def test_a_mean_is_over_the_draws_that_all_corpora_have() -> None:
    """imdb has draws 0, 1 and 2, trec 1 and 2: those means are 85 and 75. Without a draw in common there is none."""
    accuracies = {("imdb", 0): 10.0, ("imdb", 1): 80.0, ("imdb", 2): 70.0, ("trec", 1): 90.0, ("trec", 2): 80.0}
    shown = board([row(corpus=corpus, draw=draw, accuracy=x) for (corpus, draw), x in accuracies.items()])
    mean = shown.mean("a", ["imdb", "trec"], 100, "accuracy")
    assert (mean.value, mean.draws) == (80.0, 2)
    apart = board([row(corpus="imdb", draw=0), row(corpus="trec", draw=1)])
    assert apart.mean("a", ["imdb", "trec"], 100, "accuracy") is None


def test_systems_without_all_draws_have_no_rank() -> None:
    rows = [row(name, draw=draw, accuracy=80 + k) for k, name in enumerate("abc") for draw in range(3 - (name == "c"))]
    assert list(board(rows).ranks(100)) == ["b", "a"]
    whole = [row(name, size=0, draw=draw) for name in "ab" for draw in range(1 if name == "a" else 3)]
    assert set(board(whole).ranks(0)) == {"a", "b"}  # one without randomness


def test_times_of_a_machine_on_which_others_had_priority_are_cpu_times() -> None:
    rows = [
        row(name, corpus, nice=15, load=2.0, train_seconds=50.0, train_cpu_seconds=3.0, predict_cpu_seconds=0.25)
        for name in "ab"
        for corpus in ("imdb", "trec")
    ]
    for one in rows:
        one["environment"] = {"cpu": "A Processor", "threads": "1"}
    rows += [row("c"), row("d")]
    shared = next(one for one in board(rows).comparisons(100) if one.machine.is_shared)
    assert str(shared.machine) == "A Processor, 1 thread, CPU time"
    assert [one.system for one in shared.systems] == ["a", "b"]
    assert (shared.systems[0].train, shared.systems[0].speed) == (pytest.approx(3.0), pytest.approx(800.0))


def test_the_page_says_which_cells_are_missing() -> None:
    from page_tables import partly_run

    rows = [row("a", corpus, size, draw) for corpus in ("imdb", "trec") for size in (100, 0) for draw in range(5)]
    rows += [row("b", "imdb", draw=draw) for draw in range(3)]
    assert partly_run(board(rows), {"b": "slow"}) == [
        {"name": "a", "reason": "not run with 300 texts, 1,000 texts"},
        {
            "name": "b",
            "reason": "100 texts: without trec, and 3 of 5 draws on imdb; not run with 300 texts, 1,000 texts, all texts; slow",
        },
    ]


def test_systems_that_lack_corpora_are_compared_on_the_cells_that_they_have() -> None:
    """ "b" ran draw 1 of imdb and trec, where "a" has 71 and 91; "c" lacks that draw of trec."""
    from page import view_of

    rows = [
        row("a", corpus, draw=draw, accuracy=start + draw)
        for corpus, start in (("imdb", 70.0), ("trec", 90.0), ("mr", 10.0))
        for draw in range(3)
    ]
    rows += [row("b", "imdb", draw=1, accuracy=60.0), row("b", "trec", draw=1, accuracy=80.0)]
    rows += [row("c", "imdb", draw=1), row("c", "trec", draw=0), row("c", "mr", draw=0)]
    (part,) = view_of(board(rows)).parts
    assert (part.title, part.note) == ("100 texts, the corpora of b", "trec, imdb; draw 1")
    assert [(name, entries[0].text) for name, entries in part.rows] == [("a", "81.0"), ("b", "70.0")]


def test_a_mean_over_few_draws_says_how_many() -> None:
    from board import Mean
    from score_tables import entry, lacks_draws

    assert entry(Mean(80.04, 1.5, 5), 80.0) == ("80.0", "± 1.5", True)
    assert entry(Mean(80.0, 1.5, 3), 81.0, is_marked=True) == ("80.0", "± 1.5, 3 draws", False)
    assert entry(Mean(80.0, None, 1), 81.0, is_marked=True).interval == "1 draw"
    assert [lacks_draws(Mean(80.0, None, count), 100) for count in (1, 4, 5)] == [True, True, False]
    assert [lacks_draws(Mean(80.0, None, count), 0) for count in (1, 4, 5)] == [False, True, False]


def test_times_are_compared_on_one_machine_and_the_corpora_that_all_have_there() -> None:
    other = {"cpu": "Another Processor", "threads": "2"}
    shown = board(
        [
            *(row(corpus="imdb", draw=draw, train_seconds=seconds) for draw, seconds in enumerate((9.0, 1.0, 1.0))),
            row(corpus="trec", train_seconds=4.0),
            row("b", "imdb", train_seconds=3.0, peak_megabytes=70),
            row("b", "trec", train_seconds=3.0, peak_megabytes=90),
            row("b", "mr", train_seconds=3.0),
            row("c", "imdb", environment=other),
            row("MiniLM, LR", "imdb"),  # its times leave out the encoding
            row("d", "imdb", device="A GPU"),
        ]
    )
    (one,) = shown.comparisons(100)
    assert str(one.machine) == "A Processor, 2 threads"
    assert one.corpora == ("trec", "imdb")
    assert [timed.system for timed in one.systems] == ["a", "b"]
    a, b = one.systems
    assert a.train == pytest.approx(2.0)  # the geometric mean of the medians 1 and 4
    assert a.speed == pytest.approx(400.0)  # 200 texts in half a second
    assert (a.megabytes, b.megabytes) == (None, 90)


def test_a_system_with_few_corpora_does_not_take_the_others_from_a_comparison() -> None:
    """imdb, which four systems have, is not preferred to the three corpora that three have."""
    rows = [row(name, corpus) for name in "abc" for corpus in ("imdb", "trec", "mr")]
    (one,) = board([*rows, row("d", "imdb")]).comparisons(100)
    assert (one.corpora, [timed.system for timed in one.systems]) == (("trec", "mr", "imdb"), ["a", "b", "c"])


def test_the_fastest_system_with_an_accuracy_is_found_by_its_mean_and_its_median_time() -> None:
    shown = board(
        [
            *(row("a", draw=k, accuracy=x, train_seconds=t) for k, (x, t) in enumerate(((92, 9), (91, 4), (90, 5)))),
            row("b", accuracy=90.9, train_seconds=1.0),
            row("c", accuracy=95.0, train_seconds=7.0),
            row("MiniLM, LR", accuracy=99.0, train_seconds=0.1),
        ]
    )
    assert [(one.system, one.seconds, one.accuracy) for one in shown.reached("imdb", 91)] == [
        ("a", 5, 91.0),
        ("c", 7.0, 95.0),
    ]


def test_the_page_escapes_names_and_loads_nothing() -> None:
    from page import page

    name = "<script>alert(1)</script> & co"
    rows = [
        row(system, corpus, size, draw, accuracy=90 + draw, train_seconds=1 + draw, peak_megabytes=100)
        for system in (name, "regard")
        for corpus in ("imdb", "trec")
        for size in (100, 0)
        for draw in (0, 1)
    ]
    html = page(board(rows))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in html
    assert "default-src 'none'; script-src 'sha256-" in html
    assert "src=" not in html.replace("script-src", "").replace("style-src", "").replace("img-src", "")
    assert '<link rel="icon" href="data:,">' in html
    assert html.count('class="mark"') == 8  # two systems, two plots, two sizes: 1,000 texts have no cell
    assert "8, with 16 draws" in html
    assert "<dt><bdi>NB-SVM</bdi></dt><dd>registered, not run yet" in html


def test_a_page_without_comparisons_can_be_written() -> None:
    from page import page

    assert "best mean accuracy, 100 texts" in page(board([row(accuracy=50.0)]))


def test_tuned_systems_have_a_table_of_their_own() -> None:
    from page import view_of

    found = {"options": {"C": 3.0}, "trials": 20, "held_out_accuracy": 80.0, "seconds": 1.0, "cpu_seconds": 1.0}
    view = view_of(board([row("TF-IDF, LR"), row("TF-IDF, LR, tuned", tuned=found)]))
    assert [name for name, _ in view.scores.rows] == ["TF-IDF, LR"]
    assert view.tuned is not None
    assert [name for name, _ in view.tuned.rows] == ["TF-IDF, LR, tuned"]
    assert view.tables["systems"].rows[1][2] == "20 trials"
    assert [tile.meaning for tile in view.tiles if tile.name == "best mean accuracy, 100 texts"] == ["TF-IDF, LR"]


def test_the_table_has_means_and_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import storage
    import table

    for draw, accuracy in enumerate((80.0, 82.0)):
        storage.save_row(row("regard", "trec", draw=draw, accuracy=accuracy), tmp_path)
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    monkeypatch.setattr(storage, "RESULTS", tmp_path)
    table.write_table()
    assert "| regard | 81.0 ± 12.7 (2 draws) | 81.0 (2 draws) |" in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_the_committed_page_shows_all_committed_cells() -> None:
    from storage import read_results

    rows = read_results()
    cells = {(one["system"], one["corpus"], one["size"]) for one in rows}
    html = (FOLDER.parents[1] / "docs" / "leaderboard.html").read_text(encoding="utf-8")
    assert f"{len(cells):,}, with {len(rows):,} draws" in html
    for name in {one["system"] for one in rows}:
        assert f"<bdi>{name}</bdi>" in html


@pytest.mark.skipif(chromium() is None, reason="needs Chromium")
def test_marks_are_reached_with_the_keyboard_and_say_their_values(tmp_path: Path) -> None:
    with Browser(tmp_path) as browser:
        browser.open(FOLDER.parents[1] / "docs" / "leaderboard.html")
        tabs = "[...document.querySelectorAll('.points')].map(e => e.querySelectorAll('.mark[tabindex=\"0\"]').length)"
        assert set(browser.evaluate(tabs)) == {1}
        focused = "document.activeElement.dataset.name"
        browser.evaluate("document.querySelector('.mark').focus()")
        first = browser.evaluate(focused)
        assert browser.evaluate("document.querySelector('#tip strong').textContent") == first
        browser.press("ArrowRight")
        second = browser.evaluate(focused)
        assert second != first
        assert "texts per second" in browser.evaluate("document.getElementById('tip').textContent")
        assert browser.evaluate("document.querySelectorAll('.mark.off').length") > 0
        browser.evaluate("document.activeElement.blur()")
        assert browser.evaluate("document.getElementById('tip').hidden") is True
        browser.click_on(".keys button")
        assert browser.evaluate("document.querySelector('.keys button').getAttribute('aria-pressed')") == "true"
        assert browser.console_messages() == []
        assert [url for url in browser.requests() if not url.startswith("file:")] == []
