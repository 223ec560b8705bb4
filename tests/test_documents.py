"""The documents are correct: their links, options, configs and code."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.cli import make_parser
from regard.config import Config, options_in
from regard.encoders import ENCODERS
from regard.models.build import build
from regard.poolings import POOLINGS
from regard_lab.claims.blocks import BLOCK as GENERATED
from regard_lab.statistics import mean_interval

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "experiments" / "README.md"])
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
# options of other programs that the documents name: pip, and benchmarks/explanations.py
ELSEWHERE = {"--no-deps", "--only-binary", "--models", "--save", "--texts"}
ELSEWHERE |= {"--nnodes", "--nproc-per-node", "--rdzv-backend", "--rdzv-endpoint"}  # of torchrun
ELSEWHERE |= {"--head", "--array", "--cpus-per-task", "--time"}  # of Ray and Slurm
ELSEWHERE |= {"--most", "--sample"}  # of tools/fuzz_folders.py

every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(path: Path, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(path.read_text(encoding="utf-8")) if name == language]


def all_blocks(language: str) -> list[object]:
    numbered = [(path, number, body) for path in DOCUMENTS for number, body in enumerate(blocks(path, language), 1)]
    return [pytest.param(body, id=f"{path.relative_to(ROOT)}-{number}") for path, number, body in numbered]


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers(child)


def test_there_are_documents() -> None:
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "start.md", "models.md", "extend.md"} <= {
        path.name for path in DOCUMENTS
    }


@every_document
def test_links_lead_somewhere(path: Path) -> None:
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    targets = [target.partition("#")[0] for target in LINK.findall(text) if "://" not in target]
    missing = [target for target in targets if target and not (path.parent / target).exists()]
    assert not missing, f"{path.name} links to {missing}"


def anchors(path: Path) -> set[str]:
    """The anchors of its headings, as rendered Markdown has them: lower case, hyphens for spaces, no other punctuation."""
    headings = HEADING.findall(BLOCK.sub("", path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_document
def test_links_into_a_page_match_a_heading(path: Path) -> None:
    links = [target.partition("#") for target in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in target]
    targets = [(path.parent / target if target else path, anchor) for target, _, anchor in links if anchor]
    missing = [f"{target_page.name}#{anchor}" for target_page, anchor in targets if anchor not in anchors(target_page)]
    assert not missing, f"{path.name} links to {missing}"


@every_document
def test_options_exist(path: Path) -> None:
    known = {name for parser in parsers(make_parser()) for action in parser._actions for name in action.option_strings}
    unknown = set(OPTION.findall(path.read_text(encoding="utf-8"))) - known - ELSEWHERE
    assert not unknown, f"{path.name} names options that there are not: {sorted(unknown)}"


def test_every_option_is_documented() -> None:
    """A switch by either of its names."""
    mentioned = {name for path in DOCUMENTS for name in OPTION.findall(path.read_text(encoding="utf-8"))}
    actions = [action for parser in parsers(make_parser()) for action in parser._actions if action.option_strings]
    missing = [action.option_strings for action in actions if not mentioned & set(action.option_strings)]
    assert [names for names in missing if names[-1] not in ("--help", "--version")] == []


@pytest.mark.parametrize("names", [ENCODERS, POOLINGS], ids=["encoders", "poolings"])
def test_models_are_all_described(names: dict[str, object]) -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    described = re.findall(r"^\*\*`(\w+)`\*\*:", page, re.MULTILINE)
    assert set(names) <= set(described) & set(re.findall(r"\| `(\w+)` \|", page))


@pytest.mark.parametrize("body", all_blocks("sh"))
def test_commands_are_accepted_by_the_parser(body: str) -> None:
    import shlex

    parser = make_parser()
    for line in body.splitlines():
        words = shlex.split(line, comments=True)
        if "regard" in words and words[0] != "git":
            words = words[words.index("regard") + 1 :]
            parser.parse_args(words[: words.index(">")] if ">" in words else words)


@pytest.mark.parametrize("body", all_blocks("toml"))
def test_configs_are_accepted_and_make_a_model(body: str) -> None:
    config = Config().override(options_in(tomllib.loads(body), "document"))
    assert len(build(config.model, 10, 2).levels) == config.model.levels


@pytest.mark.parametrize("body", all_blocks("python"))
def test_python_compiles(body: str) -> None:
    compile(body, "document", "exec")


@pytest.mark.parametrize("body", blocks(ROOT / "docs" / "extend.md", "python")[:2])
def test_poolings_work_in_a_custom_model(body: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(body, "document", "exec"), {"__name__": "document"})
    assert "torch.Size([2, " in capsys.readouterr().out


def test_the_first_example_of_the_readme_runs_as_shown(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    marked = text.index("<!-- this block is run by tests/test_documents.py -->")
    (_, code), (_, shown) = BLOCK.findall(text[marked:])[:2]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # tests run in parallel
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # the weights may differ in their last digits from one machine to another; the answer and the shape may not
    assert done.stdout.splitlines()[0] == shown.splitlines()[0]
    assert len(done.stdout.splitlines()) == len(shown.splitlines())
    assert (tmp_path / "runs" / "stars" / "weights.safetensors").is_file()


@pytest.mark.parametrize(
    ("page", "results"),
    [
        ("norms", "apln/*.md"),
        ("bottleneck", "vat/table*.md"),
        ("bert", "*/*.md"),
        ("attention_debate", "attention_debate/*.md"),
        ("analyse", "sun_lu/*.md"),
    ],
)
def test_numbers_with_intervals_occur_in_the_results(page: str, results: str) -> None:
    """A table that is run again changes its rendered file, and the page that quotes it must follow."""
    prose = GENERATED.sub("", (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    quoted = set(re.findall(r"\d+\.\d+ ± \d+\.\d+", prose))
    rendered = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "experiments").glob(results))
    assert len(quoted) > 10
    assert not [number for number in sorted(quoted) if number not in rendered]


def test_accuracies_of_the_fast_engine_are_those_measured() -> None:
    pattern = re.compile(r"^\| (\w+) \|.*?\| (\d+\.\d+) ± (\d+\.\d+) \|$", re.MULTILINE)
    shown = pattern.findall((ROOT / "docs" / "fast.md").read_text(encoding="utf-8"))
    measured = json.loads((ROOT / "benchmarks" / "results" / "regard_default.json").read_text(encoding="utf-8"))
    assert len(shown) == 11
    for name, mean, half in shown:
        row = measured["corpora"][name]
        assert (mean, half) == (f"{row['test_mean']:.1f}", f"{row['test_interval']:.1f}"), name


def test_attention_on_known_evidence_is_as_measured() -> None:
    pattern = re.compile(r"^\| ([\w ,]+) \|((?: \d\.\d+ ± \d\.\d+ \|){4})$", re.MULTILINE)
    shown = pattern.findall((ROOT / "docs" / "faithfulness.md").read_text(encoding="utf-8"))
    measured = json.loads((ROOT / "benchmarks" / "results" / "known_evidence.json").read_text(encoding="utf-8"))
    for name, values in measured["models"].items():
        means = [mean_interval(seeds) for seeds in values.values()]
        assert (name, "".join(f" {one.mean:.3f} ± {one.half:.3f} |" for one in means if one)) in shown


def test_found_labels_and_novelty_are_those_measured() -> None:
    page = (ROOT / "docs" / "doubts.md").read_text(encoding="utf-8")
    results = ROOT / "benchmarks" / "results"
    found = json.loads((results / "doubts.json").read_text(encoding="utf-8"))
    rows = re.findall(
        r"^\| (\w+) \| ([\d,]+) \| ([\d.]+) \| \*\*([\d.]+)\*\* \| ([\d.]+) \| ([\d.]+) \|", page, re.MULTILINE
    )
    assert {row[0] for row in rows} == found.keys() - {"machine"}
    for name, texts, *shares in rows:
        one, three = found[name]["changed labels found in the first 10 %"].values()
        expected = (one["self"], three["self"], three["margin"], three["joint"])
        assert int(texts.replace(",", "")) == found[name]["texts"]
        assert [float(share) for share in shares] == pytest.approx(expected, abs=0.00051), name
    novelty = json.loads((results / "novelty.json").read_text(encoding="utf-8"))
    for part in ("dev", "test"):
        assert f"{novelty[part]['mean AUROC']['novelty']:.3f} on {part} texts" in page
