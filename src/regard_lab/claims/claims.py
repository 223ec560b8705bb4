"""The papers' claims and how each is tested: evidence.toml, read strictly."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from regard.errors import InputError
from regard_lab.claims import difference_rules, level_rules, order_rules, word_rules
from regard_lab.claims.verdicts import VERDICTS, Finding
from regard_lab.reading.checks import suggestion
from regard_lab.rows import Options
from regard_lab.signatures import keywords

RULES: dict[str, Callable[..., Finding | None]] = {
    "better": difference_rules.better,
    "same": difference_rules.same,
    "no_gain": difference_rules.no_gain,
    "close": difference_rules.close,
    "larger_gain": difference_rules.larger_gain,
    "lower_on": difference_rules.lower_on,
    "gap": order_rules.gap,
    "heavier": word_rules.heavier,
    "rests_on": word_rules.rests_on,
    "below": level_rules.below,
    "above": level_rules.above,
    "near": level_rules.near,
    "falls": level_rules.falls,
    "moves": order_rules.moves,
    "stands": order_rules.stands,
    "often": order_rules.often,
    "equal": order_rules.equal,
    "peak": level_rules.peak,
    "unstable": level_rules.unstable,
    "speed": level_rules.speed,
    "printed": order_rules.printed,
}
RULE_TITLES = {  # as shown on the page
    **{name: name.replace("_", " ") for name in RULES},
    "same": "no difference",
    "close": "small loss",
    "lower_on": "lower on one corpus",
    "gap": "difference of two measures",
    "heavier": "heavier word",
    "rests_on": "weight on some words",
    "near": "near a printed value",
    "falls": "decrease during training",
    "moves": "change during training",
    "stands": "order of measures",
    "often": "pattern in most seeds",
    "equal": "equal to the printed numbers",
    "unstable": "stability",
    "printed": "printed numbers",
}
KEYS = ("id", "source", "claim", "where", "quote", "page", "no_quote", "general", "vacuous", "note", "because", "reply")
WAYS = ("test", "planned", "checked_by", "verdict")  # a claim has one of them


class Vacuous(NamedTuple):
    """Methods for which the test cannot show the effect; they are shown and not counted."""

    methods: tuple[str, ...]
    because: str


@dataclass(frozen=True)
class Claim:
    source: str
    claim: str
    where: str
    id: str = ""  # by which other files refer to it
    quote: str = ""  # the paper's words
    page: str = ""  # of the quote
    no_quote: str = ""  # why there is none
    general: bool = False  # it says "all", "consistently" or "in general"
    vacuous: Vacuous | None = None
    note: str = ""  # what the reader must know about the test
    reply: str = ""  # the title of the section of docs/cite.md in which the authors answer
    rule: str = ""
    table: str = ""  # the table whose rows the rule reads
    arguments: Options = field(default_factory=dict)
    planned: str = ""  # the table that will test it
    checked_by: str = ""  # FILE::TEST of the test suite
    verdict: str = ""  # assigned by hand, for statements that are not measurements
    because: str = ""


@dataclass(frozen=True)
class Claims:
    sources: Mapping[str, str]  # name -> title
    claims: Sequence[Claim]
    pages: Mapping[str, str] = field(default_factory=dict)  # name -> which page numbers its claims have
    no_pages: Mapping[str, str] = field(default_factory=dict)  # name -> why its claims have none
    missing: Mapping[str, str] = field(default_factory=dict)  # table -> why runs are missing


def read_claims(path: Path) -> Claims:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: expected a TOML file ({error})") from None
    sources = {name: str(part["title"]) for name, part in content.get("sources", {}).items()}
    claims = [
        read_claim(part, sources, f"{path}: [[claim]] {number}") for number, part in enumerate(content["claim"], 1)
    ]
    repeated = [name for name, count in Counter(claim.id for claim in claims).items() if name and count > 1]
    if repeated:
        raise InputError(f"{path}: expected a different id for every claim, got {repeated[0]!r} twice")
    pages, no_pages = (of_sources(content, key) for key in ("pages", "no_pages"))
    return Claims(sources, claims, pages, no_pages, content.get("missing", {}))


def of_sources(content: Options, key: str) -> dict[str, str]:
    return {name: part[key] for name, part in content.get("sources", {}).items() if key in part}


def read_claim(part: Options, sources: Mapping[str, str], where: str) -> Claim:
    known = (*KEYS, *WAYS)
    for key in part:
        if key not in known:
            raise InputError(f"{where}: unknown key {key!r}{suggestion(key, known)}")
    if part.get("source") not in sources:
        raise InputError(f"{where}: source = {part.get('source')!r}{suggestion(part.get('source'), sources)}")
    for key in ("claim", "where"):
        if not part.get(key):
            raise InputError(f"{where} has no `{key}`")
    if "quote" in part and "no_quote" in part:
        raise InputError(f"{where}: expected `quote` or `no_quote`, got both")
    if "page" in part and "quote" not in part:
        raise InputError(f"{where}: expected a `quote` with `page` = {part['page']!r}, got none")
    if sum(way in part for way in WAYS) != 1:
        raise InputError(f"{where}: expected exactly one of {', '.join(WAYS)}")
    if "verdict" in part and (part["verdict"] not in VERDICTS or not part.get("because")):
        raise InputError(
            f"{where}: verdict: expected one of {', '.join(VERDICTS)}, with `because`, got {part['verdict']!r}"
        )
    fields = {key: value for key, value in part.items() if key not in ("test", "vacuous")}
    if vacuous := part.get("vacuous"):
        fields["vacuous"] = Vacuous(tuple(vacuous["methods"]), vacuous["because"])
    if "test" not in part:
        return Claim(**fields)
    arguments = dict(part["test"])
    rule, table = arguments.pop("rule", ""), arguments.pop("table", "")
    if rule not in RULES:
        raise InputError(f"{where}: rule = {rule!r} is unknown{suggestion(rule, RULES)}")
    accepted = keywords(RULES[rule], skip=1)  # after what is given
    for key in arguments:
        if key not in accepted:
            raise InputError(f"{where}: the rule {rule} has no argument {key!r}{suggestion(key, accepted)}")
    return Claim(**fields, rule=rule, table=table, arguments=arguments)
