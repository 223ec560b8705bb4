"""Texts on which tokenizers disagree: many scripts, emoticons, addresses, control characters, and random mixtures."""

from __future__ import annotations

import random

TRICKY = (
    "",
    " \t\n",
    "???",
    "’ <br<br>> good film",
    "é <br \u200b > good <BR /> bad",
    "zzqqy xxyzz",
    "good",
    "the good the bad the good good room",
    "don't it's U.S. 1,000.5 e-mail me@x.org :-) <3 http://a.b/c?d #tag @you !!! naïve café's ’tis",
    "房间很脏，早餐不错。テレビがつかない！ ห้องสกปรก 방이 더러워요 الغرفة سيئة جدا 👍🏽 🇩🇪 ½ x_y __ Ελλάδα’s ΟΔΟΣ ﬁne ſ's K",
    "first<br/>second<BR />third <br\u00a0> fourth",
    "a\x1cb http://x\x1cy \x00",
    "é a\x1cb\x85c http://x\x1cy",
    "İstanbul'da DON’T can´t 3.5€ ±2 x²",
    "\ud83d half a pair \udc4d",
    "__proto__ constructor toString",
    "</script><script>alert(1)</script> &lt;b&gt; <!-- -->",
)
ALPHABET = (
    *"aeiourstNTS",
    *"''’.,!?-:;()<>/@#_0159",
    *"   \n",
    *"éßΣσ中の뷁ก้ا़\u0301\u200d\ufe0f👍🇩🇪½٣",
    *("don't", "good", "bad", "<br>", "www.", "http://", "n't", ":)", "room", "breakfast"),
)


def random_texts(count: int, seed: int = 7) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(ALPHABET, k=rng.randint(1, 60))) for _ in range(count)]
