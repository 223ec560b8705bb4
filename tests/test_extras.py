"""The base install: what works without optional packages, and one sentence for what does not. Imports are blocked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from command import write_csv
from regard.extras import EXTRAS, is_installed, missing_extra

ROWS = [(f"a {word} film number {row}", label) for word, label in (("good", 1), ("bad", 0)) for row in range(40)]
SCRIPT = """
import json, sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

blocked = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Block())
from regard.cli import main
codes = []
for argv in json.loads(sys.argv[2]):
    codes.append(main(argv))
print("CODES", json.dumps(codes))
"""
PYTHON = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"sklearn", "scipy", "torch"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Block())
import regard
texts = [f"a {word} film" for word in ("good", "bad") * 20]
stars = [5, 1] * 20
model = regard.TextClassifier(epochs=2)
try:
    model.predict(texts)
except regard.InputError as error:
    print(error)
model.fit(texts, stars).save(sys.argv[1])
loaded = regard.load(sys.argv[1])
assert loaded.predict(texts[:2]).tolist() == [5, 1] and loaded.score(texts, stars) == 1
assert loaded.explain(texts[0]).top(1)[0].text == "good"
assert repr(model.set_params(lr=0.5)) == "TextClassifier(epochs=2, lr=0.5)"
regressor = regard.TextRegressor(epochs=5).fit(texts, stars)
assert 0 < regressor.score(texts, stars) <= 1
try:
    regard.TextClassifier(encoder="bilstm").fit(texts, stars)
except regard.InputError as error:
    print(error)
"""


def run(blocked: list[str], *commands: list[str]) -> tuple[list[int], str]:
    """Exit codes, and what was written to standard error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(blocked), json.dumps(commands)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.rpartition("CODES ")[2]), done.stderr


@pytest.fixture(scope="module")
def base_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was trained without any optional package."""
    folder = tmp_path_factory.mktemp("base")
    films = write_csv(folder / "films.csv", ROWS)
    codes, errors = run([*EXTRAS], ["train", str(films), "--out", str(folder / "run")])
    assert codes == [0], errors
    return folder


def test_the_fast_engine_needs_no_optional_package(base_run: Path) -> None:
    films, folder = str(base_run / "films.csv"), str(base_run / "run")
    commands = [
        ["predict", folder, films],
        ["evaluate", folder, films],
        ["explain", folder, "a good film", "--method", "surrogate"],
        ["explain", folder, "a good film", "--out", str(base_run / "page.html")],
        ["analyse", folder],
        ["report", folder, "--data", films],
        ["datasets"],
        ["reproduce", "--list"],
    ]
    codes, errors = run([*EXTRAS], *commands)
    assert codes == [0] * len(commands), errors


@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        ("torch", "torch", "train FILMS --encoder bilstm --out OUT"),
        ("torch", "torch", "train FILMS --device cuda --out OUT"),
        ("torch", "torch", "explain RUN good --method integrated_gradients"),
        ("torch", "torch", "audit RUN --data FILMS"),
        ("torch", "torch", "demo --out OUT"),
        ("scipy", "torch", "audit RUN --data FILMS"),
        ("pyarrow", "parquet", "predict RUN PARQUET"),
        ("python_calamine", "sheets", "predict RUN SHEET"),
        ("huggingface_hub", "share", "push RUN me/films"),
        ("huggingface_hub", "share", "predict hf://me/films FILMS"),
        ("huggingface_hub", "share", "serve hf://me/films"),
        ("tensorboard", "tensorboard", "train FILMS --out OUT --log tensorboard:logs"),
        ("wandb", "wandb", "train FILMS --out OUT --log wandb:films"),
        ("mlflow", "mlflow", "train FILMS --out OUT --log mlflow:films"),
    ],
)
def test_a_missing_package_is_one_sentence(base_run: Path, module: str, extra: str, command: str) -> None:
    (base_run / "texts.parquet").write_bytes(b"PAR1")
    (base_run / "texts.xlsx").write_bytes(b"PK")
    names = {"FILMS": "films.csv", "RUN": "run", "OUT": "out", "PARQUET": "texts.parquet", "SHEET": "texts.xlsx"}
    words = [str(base_run / names[word]) if word in names else word for word in command.split()]
    codes, errors = run([module], words)
    assert codes == [2]
    assert errors.splitlines()[-1].startswith("regard: ")
    assert errors.splitlines()[-1].endswith(f"which is not installed: pip install 'regard[{extra}]'")
    assert not (base_run / "out").exists()


def test_estimators_without_scikit_learn(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PYTHON, str(tmp_path / "run")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    before, without_torch = done.stdout.splitlines()
    assert before == "TextClassifier: expected a fitted model, got one before fit"
    assert without_torch.endswith("needs PyTorch, which is not installed: pip install 'regard[torch]'")


@pytest.mark.parametrize("blocked", [["sentence_transformers"], ["sentence_transformers", "torch"]])
def test_the_module_of_sentence_transformers_without_it(blocked: list[str]) -> None:
    names = json.dumps(blocked)
    block = SCRIPT.partition("from regard.cli")[0]
    use = "import regard\ntry:\n    import regard.adapters.sentence_transformers\n"
    use += "except regard.InputError as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", block + use, names], capture_output=True, text=True)
    assert done.stdout == (
        "LearnedPooling needs sentence-transformers, which is not installed: pip install 'regard[sentence-transformers]'\n"
    ), done.stderr


def test_every_optional_package_belongs_to_an_extra() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for module, (_, extra) in EXTRAS.items():
        package = {"sklearn": "scikit-learn"}.get(module, module)
        package = package if package == "huggingface_hub" else package.replace("_", "-")
        assert any(one.startswith(package) for one in extras[extra])
        assert not any(one.startswith(package) for one in project["dependencies"])


def test_other_imports_that_fail_are_not_explained_away() -> None:
    assert missing_extra(ImportError("broken", name="numpy")) is None
    assert missing_extra(ImportError("no name")) is None
    assert not is_installed("no_such_package")
