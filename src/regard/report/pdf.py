"""A figure of ours as PDF, for papers: the same lines, shapes and letters as its SVG has, and nothing embedded.

One page of the figure's size; letters stay letters, which can be searched and copied. The same figure gives the same bytes:
there is no date in them. `pdf_letters.py` says which scripts a PDF can show.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from xml.etree import ElementTree

from regard.report.pdf_letters import fonts, unshown
from regard.report.pdf_shapes import Sheet, shape, short

POINT = 0.75  # of a pixel


def pdf(svg: str) -> bytes:
    """`svg` as `plots.document` writes it."""
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    sheet = Sheet(float(root.attrib["font-size"]))
    drawn = [f"{POINT} 0 0 -{POINT} 0 {short(POINT * height)} cm"]  # down is up in a PDF
    drawn += [shape(one.tag.rpartition("}")[2], one.attrib, one.text or "", sheet) for one in root]
    content = zlib.compress("\n".join(filter(None, drawn)).encode("ascii"), 9)
    title = next((one.text or "" for one in root if one.tag.endswith("title")), "")
    named: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /DisplayDocTitle true >> /Lang (en) >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"",  # the page, which names what follows
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content),
        f"<< /Title <feff{title.encode('utf-16-be', 'replace').hex()}> >>".encode("ascii"),
    ]
    letters = []
    for place, (_, objects) in enumerate(fonts(sheet.fonts).items()):
        letters.append(f"/F{place} {len(named) + 1} 0 R")
        for one in objects:
            named.append((one % (len(named) + 2) if "%s" in one else one).encode("ascii"))
    opacities = [f"/G{place} << /ca {fill} /CA {line} >>" for place, (fill, line) in enumerate(sheet.opacities)]
    resources = f"<< /Font << {' '.join(letters)} >> /ExtGState << {' '.join(opacities)} >> >>"
    box = f"[0 0 {short(POINT * width)} {short(POINT * height)}]"
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Resources {resources} /Contents 4 0 R >>"
    named[2] = page.encode("ascii")
    return numbered(named)


def numbered(objects: Sequence[bytes]) -> bytes:
    """Objects from 1 on, and the table of where each begins; the first is the catalogue, the fifth says what it is."""
    written, starts = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", []
    for number, one in enumerate(objects, 1):
        starts.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(objects) + 1
    end = b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(written))
    return written + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (size, table, end)


def boxed(svg: str) -> str:
    """The letters of a figure that its PDF shows as boxes only."""
    return "".join(sorted(unshown("".join(one.text or "" for one in ElementTree.fromstring(svg)))))
