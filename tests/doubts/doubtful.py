"""A small table with two wrong labels, a contradiction, an odd text, and text that tries to break a page."""

from __future__ import annotations

import random

FOR, AGAINST = ["good", "great", "lovely", "nice", "superb"], ["bad", "awful", "dull", "poor", "boring"]
FILLERS = ["the", "film", "was", "a", "story", "with", "actors", "and", "music", "that", "we", "saw", "today"]
WRONG = (8, 51)  # rows with the other label
HOSTILE = '</script><script>document.title="broken"</script><img src=x onerror=alert(1)> "quoted", zorp\u2028qwux'
Rows = list[tuple[object, ...]]


def table_rows(count: int = 120) -> Rows:
    """(id, text, label); `count` rows, then the same text as row 11 with the other label, then an odd one."""
    rng = random.Random(1)
    rows: Rows = []
    for row in range(1, count + 1):
        is_for = row % 2 == 0
        words = [*rng.sample(FILLERS, 6), *rng.sample(FOR if is_for else AGAINST, 2), f"n{row}"]
        rows.append((f"=id{row}", " ".join(words), "yes" if is_for != (row in WRONG) else "no"))
    rows.append(("same", str(rows[10][1]).upper() + "!", "yes"))
    rows.append(("odd,\r\n<b>", HOSTILE, "yes"))
    return rows
