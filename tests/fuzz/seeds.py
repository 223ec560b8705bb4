"""Write the first seeds of each target: small, synthetic files and requests. Run again after adding one here.

python tests/fuzz/seeds.py
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pyarrow
import pyarrow.parquet
import xlsxwriter
from damaged import finished
from readers_target import FORMS
from targets import CORPUS

from regard.models.run_files import CARD, MANIFEST

ROWS = [("1", "a good film", "pos"), ("2", "the room was\nfilthy", "neg"), ("3", "don't :)", "pos"), ("4", "", "neg")]
TSV = 'id\ttext\tlabel\n1\t"one\ntwo"\ta\n2\t"three ""3"""\tb\n3\textra\ta\tfield\n4\tfour\tb\n'
TEXTS = {
    "sentences": "Mr. Smith paid $3.50. Really?! Yes… :-) See http://a.b/c?d=1, or mail me@example.org.\n\nSecond part.",
    "scripts": "Das ist schön. これは良い映画です。 هذا فيلم جيد 👨‍👩‍👧 e\u0301 don’t can't <br /> I.B.M. 1,000.5 -- #tag @user",
    "tags": "’ <br<br>> good film é <br \u200b > <br\x1c/> <b<br>r> <br <br>>",
    "odd": "\ufeff\u200b\x00\x1b[31m \u2028'\"''t x'' a-b-c 3rd --- ...",
}


def readers() -> dict[str, bytes]:
    table = "\n".join(",".join(f'"{cell}"' for cell in row) for row in [("id", "text", "label"), *ROWS]).encode()
    objects = [dict(zip(("id", "text", "label"), row, strict=True)) for row in ROWS]
    lists = [{"text": ["one", "two"], "label": ["a", "b"], "evidence": [[0, 2]]}, {"text": "x y", "label": []}]
    lines = "\n".join(map(json.dumps, objects)).encode()
    file = {
        "csv": table,
        "tsv": TSV.encode(),
        "jsonl": lines,
        "json": json.dumps(objects).encode(),
        "txt": b"__label__a one text\n__label__a __label__b two\n",
        "parquet": parquet(),
        "xlsx": sheet(),
        "csv.gz": gzip.compress(table, mtime=0),
        "jsonl.gz": gzip.compress(lines, mtime=0),
        "zip": zipped(table),
    }
    made = {form.replace(".", "_"): bytes([FORMS.index(form), 2]) + content for form, content in file.items()}
    made["lists"] = bytes([FORMS.index("jsonl"), 4]) + "\n".join(map(json.dumps, lists)).encode()
    made["indicators"] = bytes([FORMS.index("csv"), 5]) + b"text,a,b\none,1,0\ntwo,no,yes\nthree,2,\n"
    made["weights"] = bytes([FORMS.index("csv"), 7]) + b"text;weight\none;1\ntwo;0\nthree;-1\nfour;1e400\n"
    made["utf16"] = bytes([FORMS.index("csv"), 2]) + "\ufefftext,label\ngood,1\n".encode("utf-16-le") + b"\x00\xd8x\x00"
    made["nested"] = bytes([FORMS.index("jsonl"), 2]) + b'{"text": ' + b"[" * 985 + b"]" * 985 + b"}\n" + lines
    made["deep"] = bytes([FORMS.index("jsonl"), 0]) + b'{"text": "a b"}\n{"text": ' + b"[" * 200 + b"]" * 200 + b"}"
    return made


def parquet() -> bytes:
    columns = {
        "id": pyarrow.array([2**31 - 1, 5, None, 0], pyarrow.date32()),
        "text": pyarrow.array([row[1] for row in ROWS]),
        "label": pyarrow.array([row[2] for row in ROWS]),
    }
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), file, compression="none", use_dictionary=False)
    return file.getvalue()


def sheet() -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        page = book.add_worksheet()
        for number, row in enumerate([("id", "text", "label"), *ROWS]):
            page.write_row(number, 0, row)
    return file.getvalue()


def zipped(table: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("table.csv"), table)
    return file.getvalue()


def http() -> dict[str, bytes]:
    bodies = {
        "predict": {"texts": ["a good film", "bad"]},
        "explain": {"text": "a good film", "method": "leave_one_out", "without": [1], "target": "fine"},
        "compare": {"text": "a good film", "runs": ["rule", "other"]},
        "table": {"table": "text,label\ngood one,fine\n,poor\n", "text_column": "text"},
    }
    made = {}
    for name, body in bodies.items():
        content = json.dumps(body).encode()
        made[name] = (
            head("POST", f"/api/{name}", f"Content-Length: {len(content)}", "Content-Type: application/json") + content
        )
    made["get"] = head("GET", "/") + head("HEAD", "/page.js") + head("GET", "/api/runs") + head("GET", "/nothing")
    made["zeros"] = head("GET", "/health", "Content-Length: " + "5".zfill(25)) + b"GET /x" + head("GET", "/health")
    made["chunks"] = head("POST", "/api/predict", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n"
    made["expect"] = head(
        "POST", "/api/predict", "Content-Length: 20", "Expect: 100-continue", "Content-Type: application/json"
    )
    made["upgrade"] = head("GET", "/", "Connection: Upgrade", "Upgrade: websocket") + b"\x81\x85"
    made["origin"] = head("GET", "/health", "Origin: http://example.org", "Connection: close") + b"more"
    return made


def head(verb: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{verb} {path} HTTP/1.1", "Host: localhost:PORT", *lines, "", ""]).encode()


def run_folder() -> dict[str, bytes]:
    """Mutations by number, and every file as it is."""
    made = {f"mutation_{number}": bytes([2 * (number % 2), number]) for number in range(8)}
    names = sorted(path.name for path in finished().iterdir() if path.name != CARD)
    for number, name in enumerate(names):
        content = (finished() / name).read_bytes().replace(str(finished().parent).encode(), b"/data")
        if not name.endswith(".safetensors"):
            made[name.replace(".", "_")] = bytes([1 + 2 * (name != MANIFEST), number]) + content
    return made


def checkpoint() -> dict[str, bytes]:
    return {f"mutation_{number}": bytes([0, number]) for number in range(8)}


def main() -> None:
    tokenizer = {name: text.encode("utf-8", "surrogatepass") for name, text in TEXTS.items()}
    for target, made in {
        "readers": readers(),
        "http": http(),
        "tokenizer": tokenizer,
        "run_folder": run_folder(),
        "checkpoint": checkpoint(),
    }.items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in made.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
