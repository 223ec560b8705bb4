"""A table's TOML is read strictly: unknown keys and wrong types are errors of one sentence that name their position."""

from __future__ import annotations

from pathlib import Path

import pytest
from toys import TOML, UNPRINTED

from regard.errors import InputError
from regard_lab.reading.table_file import read_table
from regard_lab.running.plan import make_jobs
from regard_lab.tables.table import Table


def test_a_table_has_methods_corpora_and_cells(toy: Table) -> None:
    assert [cell.name for cell in toy.cells()] == [
        "films/plain",
        "films/shallow",
        "films/affine",
        "meals/plain",
        "meals/shallow",
    ]
    assert toy.corpora["meals"].hold_out_by == "place"
    assert toy.printed_value(("plain", "films", ""), "accuracy") == pytest.approx(0.8025)
    assert toy.printed_value(("affine", "films", ""), "accuracy") is None


def test_methods_override_corpora_and_settings_override_all(tmp_path: Path) -> None:
    text = (
        UNPRINTED
        + "[settings.a]\nembedding = 8\n[settings.b]\nlr = 0.5\n[tuned.films.plain]\nembedding = 16\nclip = 1.0\n"
    )
    path = tmp_path / "t.toml"
    path.write_text(text, encoding="utf-8")
    cells = {cell.name: cell.options for cell in read_table(path, "x/t").cells()}
    assert cells["films/plain/a"]["embedding"] == 8
    assert cells["films/plain/b"]["embedding"] == 16
    assert cells["films/shallow/b"]["embedding"] == 2
    assert cells["films/shallow/b"]["lr"] == 0.5
    assert cells["films/plain/a"]["clip"] == 1.0
    assert "clip" not in cells["meals/plain/a"]


def test_printed_rows_name_their_setting(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(TOML + "[settings.a]\nlr = 0.5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"\[printed.films\] plain: no such row; did you mean 'plain/a'"):
        read_table(path, "x/t")


def test_a_method_may_set_its_number_of_seeds(toy: Table, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(TOML.replace("[methods.shallow]\n", "[methods.shallow]\nseeds = 1\n"), encoding="utf-8")
    table = read_table(path, "x/t")
    assert {cell.name: cell.seeds for cell in table.cells()} == {
        cell.name: 1 if cell.method == "shallow" else 2 for cell in toy.cells()
    }
    assert {cell.fingerprint for cell in table.cells()} == {cell.fingerprint for cell in toy.cells()}
    jobs = make_jobs(list(table.cells()), None, (), together=False)
    assert {job.seeds for job in jobs if job.cell.method == "shallow"} == {(0,)}
    assert {job.seeds for job in jobs if job.cell.method == "plain"} == {(0,), (1,)}


def test_a_fingerprint_depends_on_options_and_texts_only(toy: Table, tmp_path: Path) -> None:
    def prints(text: str) -> dict[str, str]:
        path = tmp_path / "other.toml"
        path.write_text(text, encoding="utf-8")
        return {cell.name: cell.fingerprint for cell in read_table(path, "x/t").cells()}

    before = prints(TOML)
    assert before == {cell.name: cell.fingerprint for cell in toy.cells()}
    assert len(set(before.values())) == len(before)
    assert (
        prints(TOML.replace('"A toy"', '"Another"').replace('"Films"', '"Movies"').replace("seeds = 2", "seeds = 3"))
        == before
    )
    assert prints(TOML.replace("epochs = 2", "epochs = 3")).items().isdisjoint(before.items())
    moved = prints(TOML.replace("hold_out = 0.2", "hold_out = 0.3"))
    assert {name for name in before if before[name] != moved[name]} == {"meals/plain", "meals/shallow"}


BAD = {
    "not TOML": ("title = ", "title = =", "expected a TOML file ("),
    "a slip at the top": ("seeds = 2", "seed = 2", "unknown key 'seed' at the top; did you mean 'seeds'?"),
    "an unknown key": ("note =", "notes =", "unknown key 'notes' at the top; did you mean 'note'?"),
    "an unknown option": (
        "embedding = 4",
        "embeding = 4",
        "unknown key 'embeding' in [options]; did you mean 'embedding'?",
    ),
    "an option of a method": (
        "embedding = 2",
        "pooing = 2",
        "unknown key 'pooing' in [methods.shallow]; did you mean 'pooling'?",
    ),
    "a value of another kind": (
        "embedding = 2",
        'embedding = "2"',
        "[methods.shallow] embedding: expected a whole number, got '2'",
    ),
    "a value out of range": (
        "embedding = 2",
        "embedding = 0",
        "films/shallow: embedding: expected a number from 1 to 100000, got 0",
    ),
    "a reserved option": ("embedding = 2", "device = 'cuda'", "[methods.shallow] device: not allowed here"),
    "no train": (
        'train = "meals"\n',
        "",
        "[corpora.meals] train: expected the name of a corpus or a file, got nothing",
    ),
    "dev and hold_out": ('train = "meals"', 'train = "meals"\ndev = "meals/dev"', "both dev and hold_out"),
    "labels of another kind": (
        'train = "meals"',
        'train = "meals"\nlabels = "a b"',
        "labels: expected a list of labels as written in the file, got 'a b'",
    ),
    "one label": (
        'train = "meals"',
        'train = "meals"\nlabels = ["a"]',
        "labels: expected two or more different labels, got ['a']",
    ),
    "a label twice": (
        'train = "meals"',
        'train = "meals"\nlabels = ["a", "b", "a"]',
        "labels: expected two or more different labels, got ['a', 'b', 'a']",
    ),
    "pooled with whole groups": (
        "hold_out = 0.2\n",
        "hold_out = 0.2\npooled = 0.2\n",
        "it needs `test` and excludes",
    ),
    "too much pooled": ("hold_out = 0.2\n", "hold_out = 0.2\npooled = 1.5\n", "pooled: expected 0 to 0.9, got 1.5"),
    "hold_out_by alone": ("hold_out = 0.2\n", "", "hold_out_by needs hold_out"),
    "an unknown method to skip": (
        'skip = ["affine"]',
        'skip = ["afine"]',
        "[corpora.meals] skip: 'afine' is unknown; did you mean 'affine'?",
    ),
    "an unknown first": ('first = ["shallow"]', 'first = ["deep"]', "first: 'deep' is unknown"),
    "an unknown method printed": (
        "plain = [80.25",
        "plane = [80.25",
        "[printed.films]: 'plane' is unknown; did you mean 'plain'?",
    ),
    "a corpus printed": ("[printed.films]", "[printed.film]", "[printed]: 'film' is unknown; did you mean 'films'?"),
    "too many numbers": ("[70.0, 69.0]", "[70.0, 69.0, 1.0]", "a list of up to 2 numbers"),
    "an unknown rival": (
        'against = "shallow"',
        'against = "shalow"',
        "[[compare]] 1 against: 'shalow' is unknown; did you mean 'shallow'?",
    ),
    "itself as a rival": ('against = "shallow"', 'against = "plain"', "compares 'plain' with itself"),
    "an unknown measure": ('"macro_f"]', '"macro_g"]', "measures: 'macro_g' is unknown; did you mean 'macro_f'?"),
    "an unknown kind": ("note =", 'kind = "trian"\nnote =', "kind: 'trian' is unknown; did you mean 'train'?"),
    "an unknown figure": (
        'kind = "path"',
        'kind = "pie"',
        "[[figure]] 2 kind: expected one of path, along, pairs, settings, intervals, got 'pie'",
    ),
    "a path without value": ('value = "loss"', "", "of kind 'path' needs `value`"),
    "an unknown maker": (
        'train = "films"',
        'train = "films"\nmake = "paded"',
        "make: 'paded' is unknown; did you mean 'padded'?",
    ),
    "a key of another maker": (
        'train = "films"',
        'train = "films"\nlength = 5',
        "unknown key 'length' in [corpora.films]",
    ),
    "a maker without its key": (
        'train = "films"',
        'train = "films"\nmake = "padded"',
        "[corpora.films] make = 'padded' needs `length`",
    ),
    "no measures": (
        'measures = ["accuracy", "macro_f"]',
        "measures = []",
        "measures: expected at least one, such as accuracy or rmse, got none",
    ),
    "no seeds": ("seeds = 2", "seeds = 0", "seeds: expected 1 to 1000, got 0"),
    "a printed row that is none": ("plain = [80.25", "affine-2 = [80.25", "'affine-2'"),
    "no seeds of a method": ("embedding = 2", "seeds = 0", "[methods.shallow] seeds: expected 1 to 1000, got 0"),
    "everything skipped": ('skip = ["affine"]', "", None),
    "a name with a slash": (
        "[methods.affine]",
        '[methods."af/fine"]',
        "[methods]: expected a name without spaces and / * ? [ ], got 'af/fine'",
    ),
    "a name with a star": (
        "[corpora.meals]",
        '[corpora."me*"]',
        "[corpora]: expected a name without spaces and / * ? [ ], got 'me*'",
    ),
    "no name": ("[methods.affine]", '[methods.""]', "[methods]: expected a name without spaces and / * ? [ ], got ''"),
    "a name of two lines": ("[methods.affine]", '[methods."af\\nfine"]', "expected a name without spaces"),
    "an empty corpus": (
        'train = "films"',
        'train = ""',
        "[corpora.films] train: expected the name of a corpus or a file, got an empty string",
    ),
    "a measure twice": ('"macro_f"]', '"accuracy"]', "measures: 'accuracy' is listed twice"),
    "no number printed": (
        "[70.0, 69.0]",
        "[70.0, nan]",
        "[printed.films] shallow: expected finite numbers as printed in the paper, got [70.0, nan]",
    ),
    "a figure twice": ('name = "loss"', 'name = "means"', "[[figure]] 2 name = 'means': an earlier figure"),
    "a figure of no column": ('measure = "accuracy"', 'measure = "rmse"', "[[figure]] 1 measure: 'rmse' is unknown"),
    "a figure along nothing": (
        'kind = "path"',
        'kind = "settings"\noption = "lr"',
        "[[figure]] 2 option: expected a numeric option of a [settings.NAME], got 'lr'; there are none",
    ),
    "a comparison twice": (
        "[[compare]]",
        '[[compare]]\nmethod = "plain"\nagainst = "shallow"\n[[compare]]',
        "[[compare]] 2 repeats an earlier one",
    ),
    "a comparison of no column": (
        'against = "shallow"',
        'against = "shallow"\nmeasures = ["rmse"]',
        "[[compare]] 1 measures: 'rmse' is unknown; expected one of accuracy, macro_f",
    ),
    "a setting where there are none": (
        'against = "shallow"',
        'against = "shallow"\nsetting = "x"',
        "[[compare]] 1 setting: 'x' is unknown; there are none",
    ),
    "a number without end": ("seeds = 2", f"seeds = {'9' * 5000}", "expected a TOML file ("),
    "one bracket": ("[[compare]]", "[compare]", "expected [[compare]], with two brackets"),
    "test where dev is asked": ("note =", 'parts = "dev"\nnote =', "never reads test"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    old, new, message = BAD[name]
    assert old in TOML
    path = tmp_path / "table.toml"
    path.write_text(TOML.replace(old, new, 1), encoding="utf-8")
    if message is None:
        assert len(list(read_table(path, "x/table").cells())) == 6
        return
    with pytest.raises(InputError) as caught:
        read_table(path, "x/table")
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) or name == "not TOML"


def test_keys_of_a_maker_are_known(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(
        TOML.replace('train = "films"', 'train = "films"\nmake = "padded"\nlength = 5', 1), encoding="utf-8"
    )
    assert read_table(path, "x/table").corpora["films"].keys == {"length": 5}


def test_printed_text_is_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    text = (
        TOML.replace('"A toy"', '"""A\n\ntoy"""')
        .replace('"Films"', '"Fi\\nlms"')
        .replace('"Made up."', '"Made\\r\\nup."')
    )
    path.write_text(text.replace('name = "means"', 'name = "means"\ntitle = "a\\tb\\u001b"'), encoding="utf-8")
    table = read_table(path, "x/table")
    assert (table.title, table.corpora["films"].title, table.note) == ("A toy", "Fi lms", "Made up.")
    assert table.figures[0].title == "a b␛"
