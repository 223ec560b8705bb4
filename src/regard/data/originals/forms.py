"""Which original is read how."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from regard.data.originals import (
    critics,
    domains,
    films,
    intensity,
    news,
    newsgroups,
    phrases,
    questions,
    rationales,
    reviews,
    sentences,
    trees,
    tweets,
)
from regard.data.originals.dividing import Splits
from regard.data.originals.sources import Source

SAMPLES: dict[str, reviews.Sample] = {
    "yelp": (50_000, (0.8, 0.1, 0.1)),
    "yelp_small": (10_000, (0.7, 0.1, 0.2)),
    "amazon": (50_000, (0.8, 0.1, 0.1)),
}
YELP = r"/(?:(train|test)\.csv|[^/]*review[^/]*\.jsonl?)$"
AMAZON = r"/(?!meta)[^/]+\.jsonl?$"

FORMS: dict[str, Callable[[Source], Splits]] = {
    "20newsgroups": newsgroups.convert,
    "ag_news": news.convert,
    "amazon": partial(reviews.convert, pattern=AMAZON, sample=SAMPLES["amazon"]),
    "amazon_multidomain": domains.convert,
    "cr": partial(sentences.convert, name="cr"),
    "eraser_movies": rationales.convert,
    "imdb": films.convert,
    "mr": partial(sentences.convert, name="mr"),
    "scaledata": critics.convert,
    "semeval2013_phrases": phrases.convert,
    "semeval_twitter": tweets.convert,
    "sst1": partial(trees.convert, make=trees.five_classes),
    "sst2": partial(trees.convert, make=trees.two_classes),
    "sst_trees": partial(trees.convert, make=trees.whole),
    "subj": partial(sentences.convert, name="subj"),
    "trec": questions.convert,
    "vader_amazon": partial(intensity.convert, name="vader_amazon"),
    "vader_movies": partial(intensity.convert, name="vader_movies"),
    "vader_nyt": partial(intensity.convert, name="vader_nyt"),
    "vader_tweets": partial(intensity.convert, name="vader_tweets"),
    "yelp": partial(reviews.convert, pattern=YELP, sample=SAMPLES["yelp"]),
    "yelp_small": partial(reviews.convert, pattern=YELP, sample=SAMPLES["yelp_small"]),
}
