"""The sections of a table's TOML that say what is made of its results: comparisons and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from regard_lab.tables.checks import near
from regard_lab.tables.sections import Sections
from regard_lab.tables.table import Compare, Corpus, Figure, Method, Setting

FIGURES = ("path", "along", "pairs", "settings", "intervals")
OF_A_FIGURE = {
    "name": str,
    "kind": Literal[FIGURES],
    "title": str,
    "value": str,
    "measure": str,
    "option": str,
    "axis": str,
    "panels": Literal["corpora", "none"],
    "log": bool,
}


class Outcomes(Sections):
    """Comparisons and figures, beside the methods, corpora and settings that they speak of."""

    def check_twice(self, compare: Sequence[Compare], figures: Sequence[Figure]) -> None:
        """A comparison made twice would be corrected for twice, and a figure of the same name replaces the first."""
        for place, wish in enumerate(compare):
            if wish in compare[:place]:
                raise self.wrong(f"[[compare]] {place + 1} is the same as one before it; each is accepted once")
        names = [figure.name for figure in figures]
        for place, name in enumerate(names):
            if name in names[:place]:
                raise self.wrong(f"[[figure]] {place + 1} name = {name!r}: a figure before it has that name")

    def compare(
        self,
        part: Mapping[str, Any],
        methods: Mapping[str, Method],
        corpora: Mapping[str, Corpus],
        settings: Mapping[str, Setting],
        where: str,
    ) -> Compare:
        self.known(part, ["method", "against", "setting", "against_setting", "corpora", "measures"], where)
        if "method" not in part:
            raise self.wrong(f"{where} has no `method`")
        method = part["method"]
        against = part.get("against", method)
        for name, key in ((method, "method"), (against, "against")):
            self.one_of(name, methods, f"{where} {key}")
        setting = part.get("setting")
        against_setting = part.get("against_setting", setting)
        for name, key in ((setting, "setting"), (against_setting, "against_setting")):
            if name is not None:
                self.one_of(name, settings, f"{where} {key}")
        if (method, setting) == (against, against_setting) or (setting is None) != (against_setting is None):
            raise self.wrong(f"{where} compares {method!r} with itself; give another `against`, or two settings")
        return Compare(
            method,
            against,
            setting,
            against_setting,
            self.names(part.get("corpora", []), corpora, f"{where} corpora"),
            self.names(part.get("measures", []), measured(corpora), f"{where} measures"),
        )

    def figure(
        self,
        part: Mapping[str, Any],
        methods: Mapping[str, Method],
        corpora: Mapping[str, Corpus],
        settings: Mapping[str, Setting],
        where: str,
    ) -> Figure:
        self.known(part, [*OF_A_FIGURE, "values", "corpora", "methods", "settings"], where)
        told = {key: self.value(part[key], kind, f"{where} {key}") for key, kind in OF_A_FIGURE.items() if key in part}
        for key in ("name", "kind"):
            if not told.get(key):
                raise self.wrong(f"{where} has no `{key}`")
        if not told["name"].replace("-", "").replace("_", "").isalnum():
            raise self.wrong(
                f"{where} name = {told['name']!r}: letters, digits and - are accepted, for it names a file"
            )
        for key, kind in (("value", "path"), ("option", "settings")):
            if told["kind"] == kind and key not in told:
                raise self.wrong(f"{where} of kind {kind!r} needs `{key}`")
        values = part.get("values", [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self.wrong(f"{where} values = {values!r}: a list of what a row's history calls them is accepted")
        if (told["kind"] == "along") != bool(values):
            raise self.wrong(f"{where} of kind {told['kind']!r}: `values` belong to kind 'along', which needs them")
        told |= {key: self.line(told[key], f"{where} {key}") for key in ("title", "axis") if key in told}
        if "measure" in told:
            self.measures([told["measure"]], f"{where} measure")
            if told["kind"] == "intervals":
                self.one_of(told["measure"], measured(corpora), f"{where} measure")
        if told["kind"] == "settings":
            self.check_option(told["option"], settings, where)
        return Figure(
            **told,
            values=tuple(values),
            corpora=self.names(part.get("corpora", []), corpora, f"{where} corpora"),
            methods=self.names(part.get("methods", []), methods, f"{where} methods"),
            settings=self.names(part.get("settings", []), settings, f"{where} settings"),
        )

    def check_option(self, option: str, settings: Mapping[str, Setting], where: str) -> None:
        """One along which a figure can go."""
        options = dict.fromkeys(
            name
            for setting in settings.values()
            for name, value in setting.options.items()
            if isinstance(value, (int, float))
        )
        if option not in options:
            raise self.wrong(
                f"{where} option = {option!r}: no [settings.NAME] has a number of that name{near(option, options)}"
            )


def measured(corpora: Mapping[str, Corpus]) -> dict[str, None]:
    """The measures that some corpus has as a column, in order."""
    return dict.fromkeys(name for corpus in corpora.values() for name in corpus.measures)
