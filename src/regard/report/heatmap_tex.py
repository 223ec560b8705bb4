"""Heat maps of explained texts as LaTeX: a document of its own, of which a paper can \\input the figure.

Only xcolor draws. Every word is a separate box, so that lines break between words. The commands are in `latex/heatmap.tex`.
pdflatex can set the letters of its T1 fonts; for others the document asks for lualatex and looks for fonts of the system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from regard.report.colours import ACCENT, COLD, LIGHT, RGB, opacity
from regard.report.latex_text import BRACKET, Printed, between, directed, escaped, is_plain, named
from regard.report.pages.explanations import ExplainedText
from regard.report.paper import Legend, Paper, cautions, cuts, printed, right_to_left, verdict
from regard.report.text.highlights import Piece, Row

# tried in this order for letters that Latin Modern lacks
FONTS = (
    *("Noto Serif", "DejaVu Serif", "FreeSerif", "Noto Naskh Arabic", "Amiri", "Noto Serif Hebrew", "Noto Serif Thai"),
    *("Noto Serif Devanagari", "Noto Serif CJK SC", "Noto Sans CJK SC", "Source Han Serif SC", "WenQuanYi Micro Hei"),
    *("FandolSong-Regular", "Songti SC", "SimSun", "DejaVu Sans", "Arial Unicode MS", "Noto Emoji", "Symbola"),
)
TRY = r"  \IfFontExistsTF{%s}{\directlua{table.insert(regardfonts, '%s:mode=harf;%s')}}{}"
ARABIC = frozenset({"Noto Naskh Arabic", "Amiri"})  # fonts that join letters only if told the script


def heatmap_tex(shown: Paper, out: Path | None = None) -> str:
    """`out` is the name of the file, for the comment that tells how to include it."""
    body = "\n".join(_body(shown))
    plain = is_plain(body)
    reason = "all of its letters are in LaTeX's own fonts." if plain else "it has letters that pdflatex cannot set."
    filled = {
        "PROGRAM": "pdflatex" if plain else "lualatex",
        "REASON": reason,
        "NAME": _file_name(out),
        "FONTS": "" if plain else _fonts(),
        "FOR": _rgb(ACCENT),
        "AGAINST": _rgb(COLD),
        "FAINT": _rgb(LIGHT.faint),
        "BODY": body,
    }
    template = (files("regard.report") / "latex" / "heatmap.tex").read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)@", lambda match: filled[match[1]], template)


def tex_caution(shown: Paper) -> str:
    """A sentence if pdflatex cannot be used, or ""."""
    if is_plain("".join(_body(shown))):
        return ""
    return "compile it with lualatex, because it has letters that pdflatex cannot set"


def _body(shown: Paper) -> Iterator[str]:
    for number, text in enumerate(shown.texts, 1):
        shown_number = f"{number}\\quad " if len(shown.texts) > 1 else ""
        for view in text:
            yield from _view(view, shown_number)
    yield from _legend(shown.legend)


def _view(view: ExplainedText, number: str) -> Iterator[str]:
    about = r"\quad ".join(named(one) for one in (verdict(view.answer), view.method) if one)
    name = rf"\textbf{{{named(view.run)}}}\quad " if view.run else ""
    answer = view.answer
    yield rf"\regardanswer{{{number}{name}}}{{{named(answer.prediction)}}}{{{escaped(answer.probability)}}}{{{about}}}"
    for caution in cautions(view):
        yield rf"\regardnote{{{named(caution)}}}"
    if not view.rows:
        yield r"\regardnote{An empty text.}"
    for row in view.rows:
        yield from _row(row, view.sentences)


def _row(row: Row, sentences: bool) -> Iterator[str]:
    if row.part:
        yield rf"\regardnote{{{escaped(row.part)}}}"
    rtl = right_to_left(row)
    opened, closed = (r"{\regardrtl", "}") if rtl else ("", "")
    words, number = _words(row, "rtl" if rtl else "ltr"), rf"\regardl{{{escaped(row.number)}}}"
    if sentences:
        colour = "regardagainst" if row.against else "regardfor"
        share = min(row.share, 1.0)
        yield rf"{opened}\regardsentence{{{colour}}}{{{share:.3f}}}{{{number}}}{{{words}}}{closed}"
    else:
        yield rf"{opened}\regardtext{{{words}}}{closed}"


def _words(row: Row, base: str) -> str:
    parts: list[Printed] = []
    before = ""
    for text, piece in printed(row):
        for number, cut in enumerate(cuts(text)):
            parts += [("", r"\allowbreak ")] if number else []
            for part in filter(None, [cut] if piece.token else BRACKET.split(cut)):
                parts.append((part, between(before, part[0]) + _word(part, piece)))
                before = part[-1]
    return "%\n".join(_lines("".join(directed(parts, base))))


def _lines(text: str) -> Iterator[str]:
    """Lines for people who read the source. They are cut between a space and a word, where `%` changes nothing."""
    line = ""
    for part in re.split(r"(?<= )(?=\\regard)", text):
        if line and len(line) + len(part) > 110:
            yield line
            line = ""
        line += part
    yield line


def _word(text: str, piece: Piece) -> str:
    if piece.token is None:
        return escaped(text)
    shown = escaped(text)
    if not piece.known:
        shown = rf"\regardunknown{{{shown}}}"
    if not piece.level:
        return shown
    return rf"\regard{'against' if piece.against else 'for'}{{{round(100 * opacity(piece.strength))}}}{{{shown}}}"


def _legend(legend: Legend) -> Iterator[str]:
    most, least = named(legend.most), named(legend.least)
    ramps = r"\regardramped{regardfor}"
    if legend.signed:
        least, ramps = rf"\regardagainst{{20}}{{{least}}}", rf"\regardramp{{regardagainst}}~{ramps}"
    parts = [f"{least}~{ramps} {most}"]
    if legend.unknown:
        parts.append(rf"\mbox{{\regardunknown{{dotted}}: {legend.unknown}}}")
    if legend.bar:
        parts.append(rf"\mbox{{{{\color{{regardfor}}\vrule height 1.4ex depth -.1ex width 6mm}} {legend.bar}}}")
    yield r"\par\addvspace{\medskipamount}\noindent\regardsmall{" + r"\qquad ".join(parts) + "}"
    if legend.scale:
        yield rf"\par\noindent\regardsmall{{{legend.scale}}}"


def _fonts() -> str:
    tried = "\n".join(TRY % (font, font, "script=arab;" if font in ARABIC else "") for font in FONTS)
    set_up = (
        r"  \directlua{luaotfload.add_fallback('regard', regardfonts)}",
        r"  \setmainfont{Latin Modern Roman}[RawFeature={fallback=regard}]",
    )
    return "\n".join((r"  \directlua{regardfonts = {}}", tried, *set_up, ""))


def _file_name(out: Path | None) -> str:
    """Only letters that a comment and \\input can hold."""
    return re.sub(r"[^\w.-]", "-", out.stem, flags=re.ASCII) if out is not None else "FILE"


def _rgb(colour: RGB) -> str:
    return ",".join(map(str, colour))
