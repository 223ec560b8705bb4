"""The recipes of docs/clusters.md: with Dask and Spark where they are installed, and the function that Spark calls."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regard.cli import main
from regard.data.reviews import reviews

PAGE = Path(__file__).parent.parent / "docs" / "clusters.md"
SHARED, DASK, SPARK = re.findall(
    r"^```python\n(.*?)^```",
    PAGE.read_text(encoding="utf-8").partition("## Spark and Dask")[2],
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture
def here(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a run, score.py and two Parquet files."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    assert main(["train", str(table), "--epochs", "2", "--out", "runs/reviews"]) == 0
    (tmp_path / "score.py").write_text(SHARED, encoding="utf-8")
    (tmp_path / "reviews").mkdir()
    for number in range(2):
        texts = [example.text for example in reviews(40)][number * 20 : (number + 1) * 20]
        frame = pandas.DataFrame({"id": range(number * 20, number * 20 + 20), "text": texts})
        frame.to_parquet(tmp_path / "reviews" / f"{number}.parquet")
    return tmp_path


def expected(folder: Path) -> list[tuple[int, str]]:
    """What `regard predict` writes."""
    pq = pytest.importorskip("pyarrow.parquet")
    assert main(["predict", "runs/reviews", "reviews/*.parquet", "--text", "text", "--out", "plain"]) == 0
    rows = [row for path in (folder / "plain").glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return sorted((row["id"], row["prediction"]) for row in rows)


def test_dask_writes_the_predictions_of_regard(here: Path) -> None:
    pytest.importorskip("dask.dataframe")
    import pyarrow.dataset as ds

    done = subprocess.run([sys.executable, "-c", DASK], cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = ds.dataset(here / "answers").to_table().to_pylist()
    assert sorted((row["id"], row["prediction"]) for row in rows) == expected(here)
    assert all(0 < row["confidence"] <= 1 for row in rows)


def test_spark_calls_a_function_that_predicts_frames(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(here))
    monkeypatch.delitem(sys.modules, "score", raising=False)
    written: list[Any] = []

    class Spark:
        """What the recipe uses of a session: the files as frames, and what becomes of them."""

        read = write = property(lambda self: self)

        def parquet(self, path: str) -> Spark:
            return self

        def mapInPandas(self, function: Any, schema: str) -> Spark:
            frames = [pandas.read_parquet(path) for path in sorted((here / "reviews").glob("*.parquet"))]
            written.extend(function(iter(frames)))
            assert [field.split()[0] for field in schema.split(", ")] == list(written[0].columns)
            return self

    exec(SPARK, {"spark": Spark()})
    rows = pandas.concat(written)
    assert sorted(zip(rows["id"], rows["prediction"], strict=True)) == expected(here)


def test_spark_writes_the_predictions_of_regard(here: Path) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    import pyarrow.dataset as ds

    start = 'from pyspark.sql import SparkSession\nspark = SparkSession.builder.master("local[2]").getOrCreate()\n'
    paths = os.pathsep.join((str(here), *sys.path))  # workers import score.py from there
    environment = {**os.environ, "PYTHONPATH": paths, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", start + SPARK], cwd=here, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    rows = ds.dataset(here / "answers", format="parquet").to_table().to_pylist()
    assert sorted((row["id"], row["prediction"]) for row in rows) == expected(here)
