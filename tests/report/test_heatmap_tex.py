"""Heat maps for papers as LaTeX: texts cannot start commands, and the documents compile, alone and inside a paper."""

from __future__ import annotations

import re
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper_case import ARABIC, CHINESE, HOSTILE, beside, explained, needs, papers, pdf_text

from regard.records import Explanation, Prediction
from regard.report.heatmap_tex import heatmap_tex, tex_caution
from regard.report.latex_text import INVISIBLE, SIGNS, escaped, in_t1, named
from regard.report.paper import Paper

COMMANDS = {tex: char for char, tex in SIGNS.items()} | {r"\allowbreak ": "", "{}": ""}
# longest first: `{[}` must not be read as `{`
TOKEN = re.compile("|".join(re.escape(one) for one in sorted(COMMANDS, key=len, reverse=True)))
REVIEW = "Breakfast was fine, but the room was filthy. The view made up for it! I can't recommend it."


def body(shown: Paper) -> str:
    """The texts and the legend, without the definitions."""
    return heatmap_tex(shown).partition(r"\selectfont")[2].partition(r"\par\endgroup")[0]


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_escaped_text_has_only_known_commands_and_reads_as_before(text: str) -> None:
    written = escaped(text)
    assert not re.search(r"[\\{}$&#^_%~\"`]", TOKEN.sub("", written))
    read = TOKEN.sub(lambda match: COMMANDS[match[0]], written)
    assert read == unicodedata.normalize("NFC", text).translate(INVISIBLE)


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_every_command_of_a_document_is_one_of_ours(text: str) -> None:
    written = body(papers(explained(text, True, text, text or "x"), explained(text)))
    known = {"textbf", "quad", "qquad", "mbox", "color", "vrule", "par", "addvspace", "medskipamount", "noindent"}
    known |= {name for tex in SIGNS.values() for name in re.findall(r"\\([a-zA-Z]+)", tex)} | {"allowbreak"}
    names = re.findall(r"\\([a-zA-Z]+|.)", written)
    assert {name for name in names if name.isalpha() and not name.startswith("regard")} <= known
    assert {name for name in names if not name.isalpha()} <= set("&%$#_{}-")
    plain = re.sub(r"\\[{}%]", "", written)
    assert plain.count("{") == plain.count("}")
    assert all(line.endswith("%") for line in plain.split("\n") if "%" in line), "comments only end lines"


def test_words_for_and_against_and_unknown_words() -> None:
    written = body(papers(explained("good bad plain dull odd")))
    assert r"\regardfor{60}{good} \regardagainst{42}{bad} " in written
    assert r"\regardfor{27}{\regardunknown{odd}}" in written
    assert r"\regardanswer{}{negative}{0.913}{leave-one-out; weights: attention}" in written
    assert r"\regardagainst{20}{against negative}" in written


def test_sentences_have_bars() -> None:
    written = body(papers(explained("Good start. Bad end.", sentences=True)))
    assert r"\regardsentence{regardfor}{1.000}{\regardl{+1.00}}{" in written
    assert r"\regardsentence{regardagainst}{1.000}{\regardl{$-$1.00}}{" in written


def test_two_models_are_one_under_the_other() -> None:
    written = body(beside([explained("good film"), explained("good film")]))
    assert re.findall(r"\\textbf\{(runs/\d)\}", written) == ["runs/0", "runs/1"]


def test_stretches_of_the_other_direction() -> None:
    assert named("a شكرا جزيلا b") == r"a \regardr{شكرا جزيلا} b"
    words = body(papers(explained(ARABIC)))
    run = r"\\regardl\{\\regard.*New.*York.*City.* \(.*USA.*\)\}"  # with the bracket that closes
    assert re.search(run, words.replace("%\n", ""))
    assert re.search(r"\\regardl\{\\regard\w+\{\d+\}\{2024\}\}", words.replace("%\n", ""))
    alone = body(papers(explained("أحب (كثيرا) أحب")))
    assert re.search(r"\} \)\\regard\w+\{\d+\}\{كثيرا\}\( ", alone), "brackets are turned by hand"


def test_the_program_depends_on_the_letters() -> None:
    plain, other = papers(explained("Größe “ž” λ − ≤")), papers(explained(CHINESE))
    assert heatmap_tex(plain).startswith("% !TEX program = pdflatex\n")
    assert heatmap_tex(other).startswith("% !TEX program = lualatex\n")
    assert r"\allowbreak " in body(other)
    assert tex_caution(plain) == ""
    assert tex_caution(other) == "compile it with lualatex, because it has letters that pdflatex cannot set"


def test_the_name_of_the_file_stays_in_its_comment() -> None:
    written = heatmap_tex(papers(explained("x")), Path("a\n\\input{b}.tex"))
    assert r"\input{a--input-b-}" in written
    assert "%     \\input{" in written


def compile_tex(program: str, text: str, folder: Path) -> str:
    """Compile a document and read its text back; errors and overfull lines fail."""
    (folder / "x.tex").write_text(text, encoding="utf-8", errors="replace")
    options = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
    done = subprocess.run([program, *options, "x.tex"], cwd=folder, capture_output=True, timeout=600)
    log = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log
    return pdf_text(folder / "x.pdf")


@pytest.mark.slow
@needs("pdflatex")
@needs("pdftotext")
def test_pdflatex_sets_hostile_texts(tmp_path: Path) -> None:
    texts = [text for text in HOSTILE if all(map(in_t1, escaped(text)))]
    assert len(texts) >= 2
    shown = papers(*(explained(text, sentences, text, text) for text in texts for sentences in (False, True)))
    read = " ".join(compile_tex("pdflatex", heatmap_tex(shown), tmp_path).split())
    for words in (r"\input{/etc/passwd}", r"\write18{touch owned}", r"\end{document}", "100% of $x_1$ & #2 {a}"):
        assert words in read
    assert "root:" not in read
    assert not (tmp_path / "owned").exists()


@pytest.mark.slow
@needs("pdflatex")
@needs("pdftotext")
def test_pdflatex_sets_every_letter_that_is_called_plain(tmp_path: Path) -> None:
    letters = [chr(code) for code in range(33, 0x2200) if in_t1(chr(code)) and chr(code).isprintable()]
    letters += [char for char in SIGNS if char.isprintable()]
    assert len(letters) > 300
    shown = papers(Explanation(" ".join(letters), Prediction("x", {}), ()), explained("word " * 400 + "x" * 500))
    assert "Ł" in compile_tex("pdflatex", heatmap_tex(shown), tmp_path)


@pytest.mark.slow
@needs("pdflatex")
@needs("pdftotext")
def test_a_paper_includes_the_figure_several_times(tmp_path: Path) -> None:
    shown = papers(explained(REVIEW, sentences=True, label="positive"))
    (tmp_path / "one.tex").write_text(heatmap_tex(shown, tmp_path / "one.tex"), encoding="utf-8")
    (tmp_path / "two.tex").write_text(heatmap_tex(beside([explained(REVIEW)] * 2)), encoding="utf-8")
    paper = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern,xcolor}
\begin{document}
Before. \begin{figure}\input{one}\caption{A}\end{figure}
\input{two}
\input{one}
After.
\end{document}"""
    read = compile_tex("pdflatex", paper, tmp_path)
    assert (read.count("filthy"), "After." in read) == (4, True)


@pytest.mark.slow
@needs("lualatex")
@needs("pdftotext")
def test_lualatex_sets_other_scripts(tmp_path: Path) -> None:
    shown = papers(*(explained(text, sentences) for text in (ARABIC, CHINESE, *HOSTILE) for sentences in (False, True)))
    read = compile_tex("lualatex", heatmap_tex(shown), tmp_path)
    assert "New York City" in " ".join(read.split())
    assert r"\write18{touch owned}" in read
    assert not (tmp_path / "owned").exists()
