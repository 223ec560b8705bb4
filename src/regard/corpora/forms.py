"""Which original is read how."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from regard.corpora.converters import (
    ag_news,
    amazon_multidomain,
    eraser_movies,
    imdb,
    mr_cr_subj,
    newsgroups,
    scale_data,
    semeval,
    semeval_phrases,
    sst,
    trec,
    vader,
    yelp_amazon,
)
from regard.corpora.source import Source
from regard.corpora.splits import Splits

SAMPLES: dict[str, yelp_amazon.Sample] = {
    "yelp": (50_000, (0.8, 0.1, 0.1)),
    "yelp_small": (10_000, (0.7, 0.1, 0.2)),
    "amazon": (50_000, (0.8, 0.1, 0.1)),
}
YELP = r"/(?:(train|test)\.csv|[^/]*review[^/]*\.jsonl?)$"
AMAZON = r"/(?!meta)[^/]+\.jsonl?$"

FORMS: dict[str, Callable[[Source], Splits]] = {
    "20newsgroups": newsgroups.convert,
    "ag_news": ag_news.convert,
    "amazon": partial(yelp_amazon.convert, pattern=AMAZON, sample=SAMPLES["amazon"]),
    "amazon_multidomain": amazon_multidomain.convert,
    "cr": partial(mr_cr_subj.convert, name="cr"),
    "eraser_movies": eraser_movies.convert,
    "imdb": imdb.convert,
    "mr": partial(mr_cr_subj.convert, name="mr"),
    "scaledata": scale_data.convert,
    "semeval2013_phrases": semeval_phrases.convert,
    "semeval_twitter": semeval.convert,
    "sst1": partial(sst.convert, make=sst.five_classes),
    "sst2": partial(sst.convert, make=sst.two_classes),
    "sst_trees": partial(sst.convert, make=sst.whole),
    "subj": partial(mr_cr_subj.convert, name="subj"),
    "trec": trec.convert,
    "vader_amazon": partial(vader.convert, name="vader_amazon"),
    "vader_movies": partial(vader.convert, name="vader_movies"),
    "vader_nyt": partial(vader.convert, name="vader_nyt"),
    "vader_tweets": partial(vader.convert, name="vader_tweets"),
    "yelp": partial(yelp_amazon.convert, pattern=YELP, sample=SAMPLES["yelp"]),
    "yelp_small": partial(yelp_amazon.convert, pattern=YELP, sample=SAMPLES["yelp_small"]),
}
