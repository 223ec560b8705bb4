"""Heat maps for papers as PDF and PNG: pages, contents, hostile texts, and what is refused before anything is written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_case import ARABIC, CHINESE, HOSTILE, beside, explained, needs, page_boxes, papers, pdf_text, pixels

from command import Regard, write_csv
from regard.cli import main
from regard.errors import InputError
from regard.extras import install_command
from regard.records import Explanation
from regard.report import heatmap_pdf as module
from regard.report.colours import ACCENT, COLD, LIGHT, hexed, shade
from regard.report.heatmap_pdf import heatmap_caution, heatmap_pdf, heatmap_png
from regard.report.paper import cuts, paper, printed
from regard.report.text.highlights import rows
from regard.report.typesetting import PPI

REVIEW = "Breakfast was fine, but the room was filthy. The view made up for it! I can't recommend it."


def one_view(explanation: Explanation) -> dict[str, object]:
    return module._view(papers(explanation).texts[0][0])


def test_one_text_is_a_page_of_its_size_and_several_are_pages_of_a4() -> None:
    ((_, _, width, height),) = page_boxes(heatmap_pdf(papers(explained(REVIEW))))
    assert (width, height < 200) == (pytest.approx(166 * 72 / 25.4, abs=0.1), True)
    sizes = page_boxes(heatmap_pdf(papers(*[explained(REVIEW * 3, sentences=True)] * 20)))
    assert len(sizes) > 1
    assert {tuple(map(round, size)) for size in sizes} == {(0, 0, 595, 842)}
    assert len(page_boxes(heatmap_pdf(papers(explained(REVIEW * 90))))) > 1, "one text can be longer than a page"


def test_the_same_explanations_give_the_same_bytes() -> None:
    shown = papers(explained(REVIEW, sentences=True))
    assert heatmap_pdf(shown) == heatmap_pdf(shown)
    assert heatmap_png(shown) == heatmap_png(shown)


def test_words_have_the_colours_of_their_contributions() -> None:
    row = module._row(rows(explained("good bad film. Odd unknown"))[0])
    pieces = {piece["text"]: piece for piece in row["pieces"]}  # type: ignore[attr-defined]
    assert pieces["good"]["fill"] == hexed(shade(1.0, LIGHT.paper, ACCENT))
    assert pieces["good"]["against"] == 0
    assert pieces["bad"]["fill"] == hexed(shade(0.5**0.5, LIGHT.paper, COLD))
    assert pieces["bad"]["against"] == pytest.approx(0.5**0.5, abs=0.001)
    assert [piece["known"] for piece in pieces.values() if piece["text"] in ("good", "unknown")] == [True, False]
    assert pieces[". "]["fill"] is None


def test_answers_and_cautions_are_shown(hierarchical: Explanation, price: Explanation) -> None:
    assert one_view(hierarchical)["verdict"] == "wrong, actual: negative"
    assert one_view(price)["verdict"] == "actual: 4, off by −0.5"
    assert one_view(explained("a", label="negative"))["verdict"] == "correct"
    assert one_view(explained("a"))["verdict"] == ""


@needs("pdftotext")
def test_everything_can_be_read_in_the_file(tmp_path: Path) -> None:
    shown = papers(explained(REVIEW, sentences=True, label="positive"), explained("Größe\n\nund λ"))
    (tmp_path / "x.pdf").write_bytes(heatmap_pdf(shown))
    read = pdf_text(tmp_path / "x.pdf")
    for words in ("negative 0.913", "wrong, actual: positive", "+1.00", "−1.00", "Breakfast was fine, but", "Größe"):
        assert words in read
    for words in (
        "against negative",
        "for negative",
        "a word that the model does not know",
        "contribution of a sentence",
    ):
        assert words in read


@needs("pdftotext")
def test_two_models_are_side_by_side(tmp_path: Path) -> None:
    written = heatmap_pdf(beside([explained(REVIEW), explained(REVIEW, sentences=True)]))
    (tmp_path / "x.pdf").write_bytes(written)
    read = pdf_text(tmp_path / "x.pdf")
    assert read.index("runs/0") < read.index("runs/1")
    assert read.count("filthy") == 2
    single, pair = heatmap_png(papers(explained(REVIEW * 9))), heatmap_png(beside([explained(REVIEW * 9)] * 2))
    assert pixels(pair)[0] == pixels(single)[0]
    assert pixels(pair)[1] > 1.5 * pixels(single)[1], "each has half of the width"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_text_and_nothing_else(text: str, tmp_path: Path) -> None:
    shown = papers(explained(text, name=text, label=text), explained(text, sentences=True))
    (tmp_path / "x.pdf").write_bytes(heatmap_pdf(shown))
    heatmap_png(paper([[explained(text)]], text, [text]))


@needs("pdftotext")
def test_code_in_a_text_is_printed(tmp_path: Path) -> None:
    (tmp_path / "x.pdf").write_bytes(heatmap_pdf(papers(explained('#read("/etc/passwd") $x$ \\ #1'))))
    assert '#read("/etc/passwd") $x$ \\ #1' in pdf_text(tmp_path / "x.pdf")


@settings(max_examples=40)
@given(st.text(st.characters(exclude_categories=()), max_size=60), st.booleans())
def test_any_text_can_be_drawn(text: str, sentences: bool) -> None:
    assert heatmap_pdf(papers(explained(text, sentences, text, text or "x"))).startswith(b"%PDF-1.5")


def test_an_empty_text_and_no_text_are_drawn(empty: Explanation) -> None:
    assert len(page_boxes(heatmap_pdf(papers(empty)))) == 1
    assert len(page_boxes(heatmap_pdf(papers()))) == 1


def test_white_space_is_one_space_or_one_newline() -> None:
    (row,) = rows(explained("  a \t b \r\n\n c\u2028d  "))
    assert "".join(text for text, _ in printed(row)) == "a b\nc\nd"


def test_long_words_may_break() -> None:
    assert cuts("ab " + "x" * 65 + " c") == ["ab " + "x" * 30, "x" * 30, "xxxxx c"]
    assert cuts("") == [""]
    narrow, wide = (heatmap_png(papers(explained(text))) for text in ("x", "x" * 300))
    assert pixels(wide)[0] == pixels(narrow)[0]
    assert pixels(wide)[1] > pixels(narrow)[1]


def test_letters_without_a_font_are_reported() -> None:
    assert heatmap_caution(papers(explained("plain λ"))) == ""
    assert heatmap_caution(papers(explained("\U00012000"))).startswith("no installed font contains \U00012000,")


@needs("pdftotext")
@pytest.mark.parametrize("text", [ARABIC, CHINESE])
def test_other_scripts_are_set_in_order(text: str, tmp_path: Path) -> None:
    shown = papers(explained(text))
    if heatmap_caution(shown):
        pytest.skip("no font for this script is installed")
    (tmp_path / "x.pdf").write_bytes(heatmap_pdf(shown))
    read = "".join(char for char in pdf_text(tmp_path / "x.pdf") if char.isalnum())
    assert "".join(char for char in text if char.isalnum()) in read


def test_an_image_holds_several_texts_up_to_a_height(monkeypatch: pytest.MonkeyPatch) -> None:
    one, three = (pixels(heatmap_png(papers(*[explained(REVIEW)] * count))) for count in (1, 3))
    assert one[0] == three[0] == pytest.approx(166 / 25.4 * PPI, abs=2)
    assert three[1] > 2 * one[1]
    monkeypatch.setattr(module, "TALLEST", three[1] - 100)
    with pytest.raises(
        InputError, match=r"png: expected texts that fit into one image of \d+ pixels' height, got \d+ "
    ):
        heatmap_png(papers(*[explained(REVIEW)] * 3))


@pytest.mark.parametrize("kind", ["pdf", "png", "tex"])
def test_the_command_chooses_by_extension_or_format(regard: Regard, run: Path, tmp_path: Path, kind: str) -> None:
    table = write_csv(tmp_path / "two.csv", [("Good food. Bad room!", "1"), ("Fine.", "5")])
    assert regard("explain", run, "--file", table, "--out", tmp_path / f"x.{kind}").code == 0
    assert regard("explain", run, "--file", table, "--format", kind, "--out", tmp_path / "y").code == 0
    assert regard("explain", run, "Good food.", "--beside", run, "--out", tmp_path / f"z.{kind}").code == 0
    beginning = {"pdf": b"%PDF-1.5", "png": b"\x89PNG", "tex": b"% !TEX program = pdflatex"}[kind]
    for name in (f"x.{kind}", "y", f"z.{kind}"):
        assert (tmp_path / name).read_bytes().startswith(beginning)


@pytest.mark.parametrize("kind", ["pdf", "png"])
def test_without_typst_nothing_is_written(
    regard: Regard, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    done = regard("explain", run, "Good food.", "--out", tmp_path / "new" / f"x.{kind}")
    assert done.code == 2
    assert done.error == f"the format {kind} needs typst, which is not installed: {install_command('typst')}"
    assert not any(tmp_path.iterdir())
    assert regard("explain", run, "Good food.", "--out", tmp_path / "x.tex").code == 0


def test_a_terminal_gets_no_binary(regard: Regard, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    done = regard("explain", run, "Good food.", "--format", "pdf")
    assert (done.code, done.error) == (2, "--format pdf: expected --out FILE or a pipe, got a terminal")


def test_a_pipe_gets_the_bytes_of_the_file(
    run: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["explain", str(run), "Good food.", "--out", str(tmp_path / "x.pdf")]) == 0
    capsysbinary.readouterr()
    assert main(["explain", str(run), "Good food.", "--format", "pdf"]) == 0
    assert capsysbinary.readouterr().out == (tmp_path / "x.pdf").read_bytes()
