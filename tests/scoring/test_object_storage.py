"""Parquet files in object storage, by the S3 protocol, against a server on this machine. Needs moto and boto3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parquet_case import read_folder, write_parts

from command import Regard
from regard.cli import main
from regard.scoring import partitions

pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[Any, str]]:
    """A client, and the query that leads pyarrow to the server."""
    pytest.importorskip("flask_cors")
    server = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("ACCESS_KEY_ID", "test"), ("SECRET_ACCESS_KEY", "test"), ("DEFAULT_REGION", "us-east-1")):
            patch.setenv(f"AWS_{name}", value)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        running.start()
        host, port = running.get_host_and_port()
        client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
        client.create_bucket(Bucket="texts")
        yield client, f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"
        running.stop()


def upload(client: Any, folder: Path, prefix: str) -> None:
    for path in folder.glob("*.parquet"):
        client.upload_file(str(path), "texts", f"{prefix}/{path.name}")


def download(client: Any, prefix: str, folder: Path) -> list[str]:
    listed = client.list_objects_v2(Bucket="texts", Prefix=prefix + "/").get("Contents", [])
    names = [str(one["Key"]) for one in listed if one["Size"]]
    folder.mkdir()
    for name in names:
        if name.endswith(".parquet"):
            client.download_file("texts", name, str(folder / name.rpartition("/")[2]))
    return [name.removeprefix(prefix + "/") for name in names]


@pytest.mark.parametrize("on", [(), ("--on", "ray", "--actors", "2")], ids=["here", "ray"])
def test_predictions_go_from_bucket_to_bucket(
    regard: Regard,
    table: Path,
    tmp_path: Path,
    bucket: tuple[Any, str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    on: tuple[str, ...],
) -> None:
    client, query = bucket
    if on:
        request.getfixturevalue("cluster")
    monkeypatch.setattr(partitions, "ROWS", 32)
    prefix = "ray" if on else "here"
    upload(client, write_parts(tmp_path / "in"), f"{prefix}/in/day=1")
    run = tmp_path / "run"
    assert main(["train", str(table), "--epochs", "2", "--out", str(run)]) == 0
    source, out = f"s3://texts/{prefix}/in/*/*.parquet?{query}", f"s3://texts/{prefix}/out?{query}"
    result = regard("predict", run, source, "--out", out, *on)
    assert result.code == 0, result.err
    names = download(client, f"{prefix}/out", tmp_path / "got")
    parts = [f"day=1/part-{number}-0000{k}-of-00002.parquet" for number in range(3) for k in range(2)]
    assert sorted(names) == ["_regard.json", *parts]
    assert [row["id"] for row in read_folder(tmp_path / "got")] == list(range(120))
    client.delete_object(Bucket="texts", Key=f"{prefix}/out/{parts[2]}")
    result = regard("predict", run, source, "--out", out, *on)
    assert "5 of 6 partitions are finished already" in result.err
    assert sorted(download(client, f"{prefix}/out", tmp_path / "again")) == ["_regard.json", *parts]


def test_a_bucket_that_does_not_exist_is_named(regard: Regard, run: Path, bucket: tuple[Any, str]) -> None:
    result = regard("predict", run, f"s3://nothing/a/*.parquet?{bucket[1]}", "--out", "o")
    assert result.code == 2
    assert "s3://nothing/a/*.parquet" in result.error
