"""Every format of a public corpus, read from small files with synthetic texts."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tarfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from regard.corpora.catalogue import catalogue
from regard.corpora.conversion import CONVERTERS
from regard.corpora.description import count
from regard.corpora.lookup import available
from regard.corpora.source import Source
from regard.errors import InputError

Rows = dict[str, list[dict[str, Any]]]


def lay(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(name: str, path: Path) -> Rows:
    return {part: list(rows) for part, rows in CONVERTERS[name](Source(path)).items()}


IMDB = {
    "aclImdb/train/pos/0_9.txt": "Glad I went.<br />Go.",
    "aclImdb/train/pos/10_7.txt": "Fine.",
    "aclImdb/train/neg/0_2.txt": "Dull as mud.",
    "aclImdb/train/unsup/0_0.txt": "nobody knows",
    "aclImdb/train/urls_pos.txt": "http://www.imdb.com/title/tt0000007/usercomments\n" * 10
    + "http://www.imdb.com/title/tt0000011/usercomments\n",
    "aclImdb/train/urls_neg.txt": "http://www.imdb.com/title/tt0000009/usercomments\n",
    "aclImdb/test/neg/3_1.txt": "Café closed.",
    "aclImdb/README": "about",
}
IMDB_ROWS: Rows = {
    "train": [
        {"id": "neg/0_2", "text": "Dull as mud.", "label": 0, "rating": 2, "item": "tt0000009"},
        {"id": "pos/0_9", "text": "Glad I went.<br />Go.", "label": 1, "rating": 9, "item": "tt0000007"},
        {"id": "pos/10_7", "text": "Fine.", "label": 1, "rating": 7, "item": "tt0000011"},
    ],
    "test": [{"id": "neg/3_1", "text": "Café closed.", "label": 0, "rating": 1}],
}


def test_movie_reviews_have_stars_and_a_movie_id(tmp_path: Path) -> None:
    assert read("imdb", lay(tmp_path, IMDB)) == IMDB_ROWS


def test_archives_are_read_as_folders_are(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "aclImdb_v1.tar.gz", "w:gz") as tar:
        for name in reversed(IMDB):  # in whatever order
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(IMDB[name].encode())
            tar.addfile(member, io.BytesIO(IMDB[name].encode()))
    with zipfile.ZipFile(tmp_path / "films.zip", "w") as archive:
        for name, content in IMDB.items():
            archive.writestr(name, content)
        archive.writestr("__MACOSX/aclImdb/train/pos/._0_9.txt", "junk")
        archive.writestr("aclImdb/train/pos/._3_9.txt", "junk")
    assert read("imdb", tmp_path / "aclImdb_v1.tar.gz") == IMDB_ROWS
    assert read("imdb", tmp_path / "films.zip") == IMDB_ROWS


def test_news_are_read_with_or_without_a_header(tmp_path: Path) -> None:
    test = '"4","Chip","A ""fast"" one, they say\\so"\n"1","Vote","Two\nlines"\n'
    lay(tmp_path, {"train.csv": 'Class Index,Title,Description\n2,Goal,"Won, again"\n', "test.csv": test})
    assert read("ag_news", tmp_path) == {
        "train": [{"title": "Goal", "text": "Won, again", "label": 1}],
        "test": [
            {"title": "Chip", "text": 'A "fast" one, they say\\so', "label": 3},
            {"title": "Vote", "text": "Two\nlines", "label": 0},
        ],
    }


def test_a_sixtieth_of_the_news_is_held_out(tmp_path: Path) -> None:
    lines = "".join(f'"{row % 4 + 1}","t","news {row}"\n' for row in range(120))
    splits = read("ag_news", lay(tmp_path, {"train.csv": lines}))
    assert {part: len(rows) for part, rows in splits.items()} == {"train": 118, "dev": 2}
    assert sorted(row["text"] for rows in splits.values() for row in rows) == sorted(
        f"news {row}" for row in range(120)
    )


TREES = {
    "trees/train.txt": "(4 (2 It) (4 (3 Really) (4 shines)))\n(2 (2 A) (2 -LRB-))\n",
    "trees/dev.txt": "(1 (2 So) (1 so))\n",
    "trees/test.txt": "(0 Bah)\n",
}


def test_trees_give_words_and_phrases(tmp_path: Path) -> None:
    splits = read("sst_trees", lay(tmp_path, TREES))
    assert splits["train"] == [
        {
            "id": 0,
            "text": "It Really shines",
            "tokens": ["It", "Really", "shines"],
            "label5": 4,
            "label2": 1,
            "token_labels": [2, 3, 4],
            "rationale": [0, 1, 1],
            "spans": [[1, 3, 4], [0, 3, 4]],
        },
        {
            "id": 1,
            "text": "A (",
            "tokens": ["A", "("],
            "label5": 2,
            "label2": None,
            "token_labels": [2, 2],
            "rationale": [0, 0],
            "spans": [[0, 2, 2]],
        },
    ]
    assert [row["label2"] for part in ("dev", "test") for row in splits[part]] == [0, 0]
    assert splits["test"][0]["spans"] == []


def test_sst_sentences_are_lower_case_and_sst2_has_no_neutral_ones(tmp_path: Path) -> None:
    lay(tmp_path, TREES)
    assert read("sst1", tmp_path)["train"] == [
        {"text": "it really shines", "label": 4, "tree_id": 0},
        {"text": "a (", "label": 2, "tree_id": 1},
    ]
    assert read("sst2", tmp_path) == {
        "train": [{"text": "it really shines", "label": 1, "tree_id": 0}],
        "dev": [{"text": "so so", "label": 0, "tree_id": 0}],
        "test": [{"text": "bah", "label": 0, "tree_id": 0}],
    }


@pytest.mark.parametrize("tree", ["(3 (2 It)", "(3 (2 It)) (2 x)", "(7 It)", "It shines", "(3 )", "(3 (2 It)))"])
def test_an_invalid_tree_is_reported_with_its_line(tmp_path: Path, tree: str) -> None:
    lay(tmp_path, {"train.txt": f"(3 (2 It) (4 shines))\n\n{tree}\n"})
    with pytest.raises(InputError, match=r"train\.txt, line 3: "):
        read("sst1", tmp_path)


def test_questions_have_a_coarse_and_a_fine_class(tmp_path: Path) -> None:
    train = "NUM:dist How far is the café ?\nABBR:exp What is a ZZ ?\n".encode("latin-1")
    lay(tmp_path, {"train_5500.label": train, "TREC_10.label": "HUM:ind Who was there ?\n"})
    assert read("trec", tmp_path) == {
        "train": [
            {"text": "How far is the café ?", "label": 5, "coarse": "NUM", "fine": "NUM:dist"},
            {"text": "What is a ZZ ?", "label": 2, "coarse": "ABBR", "fine": "ABBR:exp"},
        ],
        "test": [{"text": "Who was there ?", "label": 3, "coarse": "HUM", "fine": "HUM:ind"}],
    }


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("mr", ("rt-polaritydata/rt-polarity.neg", "rt-polaritydata/rt-polarity.pos")),
        ("cr", ("custrev.neg", "custrev.pos")),
        ("subj", ("quote.tok.gt9.5000", "plot.tok.gt9.5000")),
    ],
)
def test_sentences_of_two_files_are_split_into_ten_folds(tmp_path: Path, name: str, files: tuple[str, str]) -> None:
    first = "".join(f"première {row}\n" for row in range(20)).encode("latin-1") + b"\n"
    lay(tmp_path, {files[0]: first, files[1]: "".join(f"zweiter {row} \r\n" for row in range(13))})
    splits = read(name, tmp_path)
    rows = [row for part in splits.values() for row in part]
    assert {row["text"]: row["label"] for row in rows} == {
        **{f"première {row}": 0 for row in range(20)},
        **{f"zweiter {row}": 1 for row in range(13)},
    }
    folds = Counter((row["fold"], row["label"]) for row in rows)
    assert [folds[fold, 0] for fold in range(10)] == [2] * 10
    assert [folds[fold, 1] for fold in range(10)] == [2, 2, 2, *[1] * 7]
    assert {part: sorted({row["fold"] for row in part_rows}) for part, part_rows in splits.items()} == {
        "train": [0, 1, 2, 3, 4, 5, 6, 7],
        "dev": [8],
        "test": [9],
    }


def test_posts_are_cut_into_header_and_body(tmp_path: Path) -> None:
    post = "From: a@b.example\nSubject: Re: bikes \n and more\nLines: 2\n\nMine is réd.\n\n-- \nme\n".encode("latin-1")
    lay(
        tmp_path,
        {
            "20news-bydate-train/rec.bikes/102": post,
            "20news-bydate-train/rec.bikes/9": "Subject: short\n\n \n",
            "20news-bydate-test/alt.tea/7": "From: x\n\nGreen.",
        },
    )
    assert read("20newsgroups", tmp_path) == {
        "train": [
            {
                "id": "9",
                "text": "short",
                "title": "short",
                "header": "Subject: short",
                "label": 1,
                "category": "rec.bikes",
                "empty_body": True,
            },
            {
                "id": "102",
                "text": "Mine is réd.\n\n-- \nme\n",
                "title": "Re: bikes",
                "header": "From: a@b.example\nSubject: Re: bikes \n and more\nLines: 2",
                "label": 1,
                "category": "rec.bikes",
            },
        ],
        "test": [
            {"id": "7", "text": "Green.", "title": "", "header": "From: x", "label": 0, "category": "alt.tea"},
        ],
    }


def test_reviews_of_yelp_keep_stars_and_ids(tmp_path: Path) -> None:
    reviews = [
        {"review_id": "r1", "user_id": "u1", "business_id": "b1", "stars": 5.0, "text": "Lovely pie.", "cool": 1},
        {"review_id": "r2", "user_id": "u2", "business_id": "b1", "stars": 1, "text": "Cold pie.", "date": "2020"},
        {"review_id": "r3", "user_id": "u2", "business_id": "b1", "stars": 2, "text": " "},
    ]
    lay(
        tmp_path,
        {
            "yelp_academic_dataset_review.json": "".join(json.dumps(review) + "\n" for review in reviews),
            "yelp_academic_dataset_user.json": "{}\n",
        },
    )
    expected = [
        {"text": "Lovely pie.", "label": 4, "rating": 5.0, "id": "r1", "item": "b1", "user": "u1"},
        {"text": "Cold pie.", "label": 0, "rating": 1.0, "id": "r2", "item": "b1", "user": "u2"},
    ]
    assert read("yelp", tmp_path) == {"train": expected, "dev": [], "test": []}
    assert read("yelp_small", tmp_path / "yelp_academic_dataset_review.json")["train"] == expected


def test_yelp_reviews_are_also_read_from_csv(tmp_path: Path) -> None:
    lay(tmp_path, {"yelp_review_full_csv/train.csv": '"5","Good.\\nVery ""good""."\n', "x/test.csv": '"2","Meh."\n'})
    assert {row["text"]: row["rating"] for row in read("yelp", tmp_path)["train"]} == {
        'Good.\nVery "good".': 5.0,
        "Meh.": 2.0,
    }


def test_amazon_reviews_are_read_in_the_formats_of_three_years(tmp_path: Path) -> None:
    older = {"reviewerID": "A1", "asin": "B1", "reviewText": "Broke.", "overall": 2.0, "summary": "Bad"}
    newer = {"user_id": "A2", "asin": "B2", "text": "Holds.", "rating": 4.0, "title": "Good"}
    lay(
        tmp_path,
        {
            "a/reviews_Tools_5.json.gz": gzip.compress((json.dumps(older) + "\n").encode()),
            "b/Tools.jsonl": json.dumps(newer) + "\n" + json.dumps({"overall": 5.0, "asin": "B3"}),
            "meta_Tools.json.gz": gzip.compress(b"{}"),
        },
    )
    assert read("amazon", tmp_path)["train"] == [
        {"text": "Broke.", "label": 1, "rating": 2.0, "title": "Bad", "item": "B1", "user": "A1"},
        {"text": "Holds.", "label": 3, "rating": 4.0, "title": "Good", "item": "B2", "user": "A2"},
    ]


def review(text: str, rating: str, reviewer: str) -> str:
    fields = {
        "unique_id": "first",
        "asin": "B7",
        "helpful": "1 of 2",
        "rating": rating,
        "title": "On &amp; off",
        "date": "May 4, 2005",
        "reviewer": reviewer,
        "reviewer_location": "Elsewhere",
        "review_text": text,
    }
    return "<review>\n" + "".join(f"<{tag}>\n{content}\n</{tag}>\n" for tag, content in fields.items()) + "</review>\n"


def test_multidomain_reviews_lose_names_and_duplicates(tmp_path: Path) -> None:
    bad = review("A <b> & c\n\nbroke.", "1.0", "Ann Example")
    lay(
        tmp_path,
        {
            "sorted_data_acl/kitchen_&_housewares/negative.review": bad + bad + review("No.", "2.0", "Ann Example"),
            "sorted_data_acl/books/positive.review": review("Read it.", "5.0", ""),
        },
    )
    common = {"title": "On & off", "item": "B7", "date": "May 4, 2005", "helpful": "1 of 2"}
    rows = read("amazon_multidomain", tmp_path)["train"]
    assert rows == [
        {"text": "Read it.", "rating": 5.0, "label": 1, "domain": "books", "user": None, **common},
        {"text": "A <b> & c\n\nbroke.", "rating": 1.0, "label": 0, "domain": "kitchen", "user": 0, **common},
        {"text": "No.", "rating": 2.0, "label": 0, "domain": "kitchen", "user": 0, **common},
    ]


def test_tweets_are_cleaned_and_repeats_stay_in_test_splits(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "twitter-2013train-A.tsv": "1\tpositive\t@ann Yes\\u002c tea &amp; cake\n2\tneutral\tsame words\n"
            "3\tnegative\tNot Available\n",
            "twitter-2013test-A.txt": "4\tnegative\tsame words\n",
            "twitter-2016devtest-A.tsv": '5\tpositive\t"She said ""so"""\n',
            "twitter-dev-gold-B.tsv": '6\t66\t"objective-OR-neutral"\ton Monday\n',
            "sms-test-gold-B.tsv": "NA\t77\tnegative\tlate again\n",
        },
    )
    assert read("semeval_twitter", tmp_path) == {
        "train": [{"id": "1", "text": "@user Yes, tea & cake", "label": 2, "source": "2013train"}],
        "dev": [{"id": "6", "text": "on Monday", "label": 1, "source": "2013dev"}],
        "test": [{"id": "4", "text": "same words", "label": 0, "source": "2013test"}],
        "extra2016": [{"id": "5", "text": 'She said "so"', "label": 2, "source": "2016devtest"}],
        "test_sms2013": [{"id": "77", "text": "late again", "label": 0, "source": "2013sms"}],
    }


def test_phrases_are_joined_with_their_messages(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "twitter-dev-gold-A.tsv": "1\t11\t2\t3\tpositive\n1\t11\t0\t0\tnegative\n"
            "1\t11\t1\t1\tobjective\n9\t9\t0\t0\tneutral\n",
            "twitter-dev-input-A.tsv": "1\t11\t2\t3\tunknwn\tmud but good cake\n",
            "twitter-2013dev-A.tsv": "1\tpositive\tmud but good cake\n",
            "sms-test-gold-A.tsv": "NA\t5\t1\t1\tneutral\tso it is\n",
        },
    )
    assert read("semeval2013_phrases", tmp_path) == {
        "dev": [
            {
                "id": "1",
                "tokens": ["mud", "but", "good", "cake"],
                "text": "mud but good cake",
                "spans": [[0, 1, 0], [2, 4, 2]],
                "source": "2013dev-A",
                "label": 2,
            }
        ],
        "sms_test": [
            {"id": "5", "tokens": ["so", "it", "is"], "text": "so it is", "spans": [[1, 2, 1]], "source": "2013sms-A"}
        ],
    }


def test_critics_files_are_joined_line_by_line(tmp_path: Path) -> None:
    columns = {"id": "7\n8\n", "subj": "well made .\nbadly lit .\n", "rating": "0.8\n0.25\n"}
    columns |= {"label.3class": "2\n0\n", "label.4class": "3\n1\n"}
    critic = {f"scaledata/Ann+Other/{kind}.Ann+Other": lines for kind, lines in columns.items()}
    assert read("scaledata", lay(tmp_path, critic))["train"] == [
        {"id": "7", "text": "well made .", "rating": 0.8, "label3": 2, "label4": 3, "user": "Ann Other"},
        {"id": "8", "text": "badly lit .", "rating": 0.25, "label3": 0, "label4": 1, "user": "Ann Other"},
    ]
    (tmp_path / "scaledata/Ann+Other/rating.Ann+Other").write_text("0.8\n")
    with pytest.raises(
        InputError, match=r"the same number of lines for Ann\+Other, got id\.Ann\+Other 2, .*rating\.Ann\+Other 1"
    ):
        read("scaledata", tmp_path)


def test_intensities_are_divided_by_document(tmp_path: Path) -> None:
    lines = "".join(
        f"{doc}_{line}\t{doc / 10 - 1}\t@ann sentence {doc} {line}\n" for doc in range(20) for line in (1, 2)
    )
    lay(tmp_path, {"nytEditorialSnippets_GroundTruth.txt": lines, "tweets_GroundTruth.txt": "1\t-0.5\t@ann late\n"})
    lay(tmp_path, {"tweets_anonDataRatings.txt": "1\t-0.5\t1.25\t[0, -1]\n"})
    splits = read("vader_nyt", tmp_path)
    assert {part: len(rows) for part, rows in splits.items()} == {"train": 32, "dev": 4, "test": 4}
    documents = [{row["doc"] for row in rows} for rows in splits.values()]
    assert [len(names) for names in documents] == [16, 2, 2]
    assert len(set.union(*documents)) == 20
    first = next(row for rows in splits.values() for row in rows if row["id"] == "5_1")
    assert first == {"id": "5_1", "text": "@ann sentence 5 1", "rating": -0.5, "doc": "5"}
    assert read("vader_tweets", tmp_path)["train"] == [
        {"id": "1", "text": "@user late", "rating": -0.5, "doc": "1", "rating_sd": 1.25}
    ]


def test_rationales_are_spans_of_words(tmp_path: Path) -> None:
    evidence = [[{"start_token": 4, "end_token": 5, "docid": "n.txt"}], [{"start_token": 1, "end_token": 3}]]
    note = {"annotation_id": "n.txt", "classification": "NEG", "evidences": evidence, "query": "?"}
    lay(tmp_path, {"movies/val.jsonl": json.dumps(note), "movies/docs/n.txt": "so very dull .\nsleep .\n"})
    assert read("eraser_movies", tmp_path) == {
        "dev": [
            {
                "id": "n",
                "text": "so very dull . sleep .",
                "label": 0,
                "sent_starts": [0, 4],
                "rationales": [[1, 3], [4, 5]],
            }
        ]
    }
    (tmp_path / "movies/docs/n.txt").unlink()
    with pytest.raises(InputError, match=r"docs/n\.txt is missing"):
        read("eraser_movies", tmp_path)


BAD_LINES: dict[str, tuple[str, dict[str, str | bytes], str]] = {
    "a class too many": (
        "ag_news",
        {"train.csv": '"1","t","x"\n"5","t","x"\n'},
        r"train\.csv, line 2: expected a class from 1 to 4, got '5'",
    ),
    "a field too few": (
        "ag_news",
        {"test.csv": '"1","t"\n'},
        r"test\.csv, line 1: expected 3 fields \(class, then text\), got 2",
    ),
    "a mark left open": ("ag_news", {"test.csv": '"1","t","x"y"\n'}, r"test\.csv, line 1: .*expected quoted fields"),
    "no class": (
        "trec",
        {"TREC_10.label": "HUM:ind Who ?\nWhere ?\n"},
        r"TREC_10\.label, line 2: expected a class such as NUM:dist .* got 'Where'",
    ),
    "no JSON": (
        "yelp",
        {"review.json": '{"stars": 1, "text": "x"}\n{"stars'},
        r"review\.json, line 2: expected one JSON object per line",
    ),
    "no object": ("amazon", {"r.json": "[1]\n"}, r"r\.json, line 1: expected a JSON object, got list"),
    "no stars": (
        "amazon",
        {"r.json": '{"reviewText": "x"}\n'},
        r"r\.json, line 1: expected stars from 1 to 5 .* got None",
    ),
    "no rating": ("amazon_multidomain", {"b/positive.review": review("x", "?", "")}, r"positive\.review, line 29: "),
    "no label": ("semeval_twitter", {"twitter-2013dev-A.tsv": "1\tgreat\tx\n"}, r"A\.tsv, line 1: expected id, label"),
    "no words": ("semeval2013_phrases", {"twitter-dev-gold-A.tsv": "1\t2\tx\n"}, r"A\.tsv, line 1: expected two ids"),
    "no number": (
        "vader_nyt",
        {"nytEditorialSnippets_GroundTruth.txt": "1\tnan\tx\n"},
        r"Truth\.txt, line 1: expected id, mean",
    ),
    "no evidence": ("eraser_movies", {"train.jsonl": "{}\n"}, r"train\.jsonl, line 1: expected annotation_id"),
    "no UTF-8": (
        "ag_news",
        {"test.csv": b'"1","t","x"\n"1","t","\xe9t\xe9"\n'},
        r"test\.csv, line 2: byte 0xe9 is not",
    ),
    "two corpora": (
        "sst1",
        {"a/dev.txt": "(3 So)", "b/dev.txt": "(3 So)"},
        r"got b/dev\.txt as a second one of dev",
    ),
    "one of two files": (
        "mr",
        {"rt-polarity.pos": "fine\n"},
        r"expected rt-polarity\.neg next to rt-polarity\.pos",
    ),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_a_bad_line_is_reported_with_its_file(tmp_path: Path, case: str) -> None:
    name, files, message = BAD_LINES[case]
    with pytest.raises(InputError, match=message):
        read(name, lay(tmp_path, files))


@pytest.mark.parametrize("name", ["../up/train.csv", "/tmp/train.csv", "a/../../train.csv", "C:/train.csv"])
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_an_archive_with_paths_outside_its_folder_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / f"ag.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, '"1","t","x"\n')
    else:
        with tarfile.open(path, "w") as tar:
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(InputError, match="points outside the archive"):
        read("ag_news", path)


def test_links_in_an_archive_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('"1","t","secret"\n')
    with tarfile.open(tmp_path / "ag.tar", "w") as tar:
        link = tarfile.TarInfo("train.csv")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "secret")
        tar.addfile(link)
    assert read("ag_news", tmp_path / "ag.tar") == {}


@pytest.mark.parametrize("name", [".", "./", ""])
def test_a_file_without_a_name_is_skipped(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "ag.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    assert read("ag_news", tmp_path / "ag.tar") == {}


def timeless(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    return entry.replace(mtime=0, mode=0o644, uid=0, gid=0, uname="", gname="", deep=False)


@pytest.mark.parametrize("kind", ["bz2", "xz"])
def test_an_archive_damaged_in_the_middle_is_reported(tmp_path: Path, kind: str) -> None:
    lines = "".join(
        f'"{n % 4 + 1}","Title {n}","words {n * 7919 % 10007} and {n * 104729 % 10009}"\n' for n in range(9000)
    )
    folder = lay(tmp_path / "ag", {"train.csv": lines})
    path = tmp_path / f"ag.tar.{kind}"
    with tarfile.open(path, f"w:{kind}") as tar:  # type: ignore[call-overload]
        tar.add(folder, "ag", filter=timeless)  # where the damage shows first depends on every byte
    packed = bytearray(path.read_bytes())
    middle = len(packed) * 9 // 10
    packed[middle : middle + 50] = bytes(50)
    path.write_bytes(packed)
    with pytest.raises(InputError, match="damaged") as caught:
        read("ag_news", path)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_removed(tmp_path: Path) -> None:
    """Before a CSV it made the first text look like names of columns, and the text was lost."""
    lines = '"3","First","one"\n"1","Second","two"\n'
    rows = read("ag_news", lay(tmp_path / "news", {"train.csv": lines, "test.csv": "\ufeff" + lines}))
    assert [row["title"] for row in rows["test"]] == ["First", "Second"]
    files = {"train_5500.label": "\ufeffNUM:dist How far ?\n", "TREC_10.label": "NUM:dist How far ?\r\n"}
    assert sum(map(len, read("trec", lay(tmp_path / "trec", files)).values())) == 2
    films = lay(tmp_path / "films", {"train/pos/0_9.txt": "\ufeffGlad."})
    assert read("imdb", films)["train"][0]["text"] == "Glad."


def test_a_text_may_exceed_the_default_csv_field_limit(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    long = "word " * 40_000
    rows = read("ag_news", lay(tmp_path, {"train.csv": "", "test.csv": f'"1","t","{long}"\n'}))
    assert rows["test"][0]["text"] == long
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".csv.gz"])
def test_a_damaged_archive_is_reported(tmp_path: Path, suffix: str) -> None:
    path = lay(tmp_path, {f"train{suffix}": b"\x1f\x8b no archive"}) / f"train{suffix}"
    with pytest.raises(InputError, match="damaged"):
        read("ag_news", path)


def test_every_corpus_that_can_be_converted_has_a_converter() -> None:
    assert {name for name, known in catalogue().items() if known.accepts} == set(CONVERTERS)


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name, known in catalogue().items() if known.counts])
def test_the_catalogue_agrees_with_the_corpora_that_are_here(name: str) -> None:
    datasets = {dataset.name: dataset for dataset in available()}
    if name not in datasets:
        pytest.skip(f"{name} is not below {os.environ.get('REGARD_DATA', 'REGARD_DATA, which is not set')}")
    here = {part: count(path) for part, path in datasets[name].splits.items()}
    assert here == {**catalogue()[name].counts, **catalogue()[name].published}
