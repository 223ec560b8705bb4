"""Spreadsheets, written by hand as the smallest valid .xlsx file, give the rows that a CSV with the same cells gives."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from command import TINY, Regard
from regard.data import sheet_extent
from regard.data.read_options import ReadOptions
from regard.data.readers import read
from regard.data.sheet_extent import extent
from regard.errors import InputError

pytest.importorskip("python_calamine")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = '<Default Extension="xml" ContentType="application/xml"/>'
BOOK = f'<Relationship Id="r1" Type="{RELATED}/officeDocument" Target="xl/workbook.xml"/>'
Cell = str | float | bool | None


def write_xlsx(path: Path, *sheets: Sequence[Sequence[Cell]]) -> Path:
    numbers = range(1, len(sheets) + 1)
    names = "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
    targets = "".join(
        f'<Relationship Id="r{n}" Type="{RELATED}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{TYPE}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{BOOK}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATED}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{targets}</Relationships>',
        **{f"xl/worksheets/sheet{n}.xml": sheet(cells) for n, cells in zip(numbers, sheets, strict=True)},
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + content)
    return path


def sheet(cells: Sequence[Sequence[Cell]]) -> str:
    rows = "".join(
        f'<row r="{number}">{"".join(map(written, [f"{chr(65 + k)}{number}" for k in range(len(row))], row))}</row>'
        for number, row in enumerate(cells, 1)
    )
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def written(place: str, value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def test_cells_are_read_as_in_a_csv(tmp_path: Path) -> None:
    cells = [("text", "stars"), ("good, <b>very</b>", 5.0), ("bad\nfood", 1.0), (None, None), ("so so", 2.5)]
    corpus = read(write_xlsx(tmp_path / "reviews.xlsx", cells), ReadOptions())
    assert [(one.text, one.label, one.row) for one in corpus.examples] == [
        ("good, <b>very</b>", "5", 1),
        ("bad\nfood", "1", 2),
        ("so so", "2.5", 3),
    ]
    assert (corpus.text_column, corpus.label_column) == ("text", "stars")


def test_the_first_sheet_with_data_is_read(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", [], [("only a title",)], [(None,), ("text", "label"), ("good", True)])
    corpus = read(path, ReadOptions(at_least=1))
    assert [(one.text, one.label) for one in corpus.examples] == [("good", "true")]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([("text", "text"), ("a", "b")], "expected different column names in the first row, got 'text' twice"),
        ([("text", "label")], "expected a sheet with column names in its first row and data below, found none"),
        ([("text", "label"), (None, "b")], r"row 1 \(row 2 of the sheet\)"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, cells: list[tuple[Cell, ...]], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(write_xlsx(tmp_path / "a.xlsx", cells), ReadOptions("text", "label", at_least=1))


@pytest.mark.parametrize("content", [b"", b"PK", b"text,label\na,b\n"])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.xlsx: is not a complete spreadsheet"):
        read(tmp_path / "a.xlsx", ReadOptions())


def with_rows(path: Path, more: str) -> Path:
    """Add rows, as they are written in the file, to a small table."""
    write_xlsx(path, [("text", "label"), ("good", "a"), ("bad", "b")])
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content.replace("</sheetData>", more + "</sheetData>"))
    return path


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        "<x:row r='9'><x:c t='n'  s = \"1>\" r = 'xfd1048576'><v>1</v></x:c></x:row>",
        '<row r="4294967295"><c r="ZZZZZZZ4294967295"><v>1</v></c></row>',
        f'<row r="9"><c r="A{"9" * 5000}"><v>1</v></c></row>',
        f'<row r="1000000">{"<c><v>1</v></c>" * 100}</row>',
        '<row r="1000000"><c r="XFD1000000"/><c><v>1</v></c></row>',
        f'<row r="3"><c r="XFD3"><v>1</v></c></row>{"<row/>" * 5000}',
    ],
)
def test_a_sheet_that_reaches_too_far_is_refused_before_it_fills_the_memory(tmp_path: Path, rows: str) -> None:
    with pytest.raises(
        InputError, match=r"a\.xlsx: expected a sheet of up to 67,108,864 cells, got one that reaches to"
    ):
        read(with_rows(tmp_path / "a.xlsx", rows), ReadOptions())


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="3"><c r="XFD3" s="1"/></row><row r="1048576"/>',  # only formatted
        '<row r="9"><c r="A9" t="inlineStr"><is><t>&lt;c r="XFD1048576">, r="XFD1048576"</t></is></c>'
        '<c r="B9"><v>1</v></c></row>',
        '<row><c t="inlineStr"><is><t>so so</t></is></c><c><v>1</v></c></row>' * 3000,
    ],
)
def test_formatted_cells_and_texts_do_not_make_a_sheet_larger(tmp_path: Path, rows: str) -> None:
    assert len(read(with_rows(tmp_path / "a.xlsx", rows), ReadOptions()).examples) >= 2


def test_an_extent_does_not_depend_on_how_a_file_is_cut() -> None:
    content = b'<row r="2"><c r="C2"><v>1</v></c></row><row><c/><c r="AB3" s="1"><v>1</v></c></row>'
    for size in range(1, len(content)):
        pieces = [content[start : start + size] for start in range(0, len(content), size)]
        assert extent(pieces, "a.xlsx") == (4, 29), size  # at most


def test_a_spreadsheet_that_unpacks_without_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_rows(tmp_path / "a.xlsx", '<row r="3"/>' * 10_000)
    monkeypatch.setattr(sheet_extent, "LARGEST_WHOLE", 100_000)
    with pytest.raises(InputError, match="expected a spreadsheet of up to 100,000 bytes when it is unpacked, got more"):
        read(path, ReadOptions())


def test_train_and_predict_take_a_spreadsheet(regard: Regard, tmp_path: Path) -> None:
    rows = [(f"a {word} film {n}", word) for n in range(10) for word in ("good", "bad")]
    path = write_xlsx(tmp_path / "films.xlsx", [("text", "label"), *rows])
    assert regard("train", path, *TINY, "--out", tmp_path / "run").code == 0
    done = regard("predict", tmp_path / "run", path, "--out", tmp_path / "answers.csv")
    assert done.code == 0, done.err
    assert len((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()) == 21
