"""Corpora whose public originals regard can turn into its own form: one table, of facts that can be looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NONE_STATED = "none stated"


@dataclass(frozen=True)
class Original:
    title: str
    address: str  # where its authors, or the hub, give it; or how it is found
    licence: str
    citation: str
    form: str  # what `--from` accepts; "" where it cannot be converted
    split: str  # how train, dev and test come about
    labels: str
    counts: Mapping[str, int]  # texts of each part
    classes: tuple[str, ...] = ()  # names of the labels 0, 1, …, by which those of the hub are recognised
    by_chance: bool = False  # parts are drawn, and repeats or missing texts left out: only the sum is looked at
    published: Mapping[str, int] = field(default_factory=dict)  # where the published results rest on another number

    @property
    def total(self) -> int:
        return sum(self.counts.values())


PANG = "https://www.cs.cornell.edu/people/pabo/movie-review-data/"
TREES = "https://nlp.stanford.edu/sentiment/ (trainDevTestTrees_PTB.zip)"
TREE_FILES = "the folder or .zip of the Penn trees, with train.txt, dev.txt and test.txt"
SOCHER = (
    "Socher, Perelygin, Wu, Chuang, Manning, Ng, Potts: Recursive deep models for semantic compositionality over a "
    "sentiment treebank. EMNLP 2013"
)
FOLDS = (
    "ten folds (field fold), each class in proportion, by a fixed seed; train is 0–7, dev 8, test 9. The published "
    "results rest on other folds of the same sizes"
)
VADER = "https://github.com/cjhutto/vaderSentiment (additional_resources/hutto_ICWSM_2014.tar.gz)"
HUTTO = "Hutto, Gilbert: VADER: a parsimonious rule-based model for sentiment analysis of social media text. ICWSM 2014"
VADER_SPLIT = (
    "80/10/10 by source document, by a fixed seed; texts that come again in a later part left out of the earlier"
)
VADER_LABELS = "rating, the mean of some 20 people's, −4 to 4; rating_sd where given"
TWITTER = "RESTRICTED: by Twitter's terms neither tweets nor corpus may be passed on; the organisers give ids"
BINARY = ("negative", "positive")
REVIEW_LABELS = "rating 1 to 5; label = rating − 1"
STARS = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
# fmt: off
GROUPS = (
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware",
    "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey",
    "sci.crypt", "sci.electronics", "sci.med", "sci.space", "soc.religion.christian", "talk.politics.guns",
    "talk.politics.mideast", "talk.politics.misc", "talk.religion.misc",
)
# fmt: on


def _vader(kind: str, file: str, train: int, dev: int, test: int) -> Original:
    return Original(
        title=f"VADER ground truth: {kind} with the intensity that people felt",
        address=VADER,
        licence="MIT (the package)",
        citation=HUTTO,
        form=f"the folder or .tar.gz with {file}_GroundTruth.txt (and {file}_anonDataRatings.txt for rating_sd)",
        split=VADER_SPLIT,
        labels=VADER_LABELS,
        counts={"train": train, "dev": dev, "test": test},
        by_chance=True,
    )


def _yelp(train: int, dev: int, test: int, share: str) -> Original:
    return Original(
        title=f"Yelp reviews with 1 to 5 stars, a sample of {train + dev + test:,}",
        address="https://business.yelp.com/data/resources/open-dataset/; the CSV of Zhang et al. 2015 as "
        "hub:Yelp/yelp_review_full",
        licence="RESTRICTED: Yelp's dataset terms; academic use, not to be passed on",
        citation="Yelp Open Dataset; Zhang, Zhao, LeCun: Character-level convolutional networks for text "
        "classification. NIPS 2015",
        form="yelp_academic_dataset_review.json (its folder, .tar or .gz), or the folder or archive of yelp_review_full_csv",
        split=f"a sample of all reviews, {share} within stars, by a fixed seed; the published results rest on another sample",
        labels=REVIEW_LABELS,
        counts={"train": train, "dev": dev, "test": test},
        classes=STARS,
        by_chance=True,
    )


ORIGINALS: dict[str, Original] = {
    "20newsgroups": Original(
        title="20 Newsgroups, by date: posts of 20 groups",
        address="http://qwone.com/~jason/20Newsgroups/ (20news-bydate.tar.gz); posts without header as "
        "hub:SetFit/20_newsgroups",
        licence=f"{NONE_STATED} (public posts, with names and addresses of people)",
        citation="Lang: NewsWeeder: learning to filter netnews. ICML 1995",
        form="the folder or .tar.gz that holds 20news-bydate-train/ and 20news-bydate-test/",
        split="the standard train and test by date, no dev. text is the body, title the subject, header the rest; "
        "quotes and signatures stay",
        labels="label, the place of the group in alphabetical order; category, its name",
        counts={"train": 11314, "test": 7532},
        classes=GROUPS,
    ),
    "ag_news": Original(
        title="AG News: titles and descriptions of news, four topics",
        address="ag_news_csv of Zhang, Zhao and LeCun, linked from https://github.com/zhangxiangxiao/Crepe; title and "
        "description in one text as hub:fancyzhx/ag_news",
        licence="A. Gulli's corpus of news articles: research and other non-commercial use",
        citation="Zhang, Zhao, LeCun: Character-level convolutional networks for text classification. NIPS 2015",
        form="the folder or archive with train.csv and test.csv (class, title, description)",
        split="the standard test; dev is 2,000 of the 120,000 training texts, by a fixed seed",
        labels="0 World, 1 Sports, 2 Business, 3 Sci/Tech; text is the description",
        counts={"train": 118_000, "dev": 2_000, "test": 7_600},
        classes=("World", "Sports", "Business", "Sci/Tech"),
        published={"train": 34_627},
    ),
    "amazon": Original(
        title="Amazon reviews with 1 to 5 stars, a sample of 50,000",
        address="https://nijianmo.github.io/amazon/ (2018), https://amazon-reviews-2023.github.io/ (2023)",
        licence=NONE_STATED,
        citation="Ni, Li, McAuley: Justifying recommendations using distantly-labeled reviews and fine-grained aspects. "
        "EMNLP-IJCNLP 2019; McAuley, Leskovec: Hidden factors and hidden topics. RecSys 2013",
        form="one or more files of reviews as JSON lines (.json, .jsonl, .gz), a folder or an archive of them",
        split="a sample of all reviews, 80/10/10 within stars, by a fixed seed",
        labels=REVIEW_LABELS,
        counts={"train": 40_000, "dev": 5_000, "test": 5_000},
        classes=STARS,
        by_chance=True,
    ),
    "amazon_multidomain": Original(
        title="Multi-domain sentiment: Amazon reviews of books, DVDs, electronics and kitchen things",
        address="https://www.cs.jhu.edu/~mdredze/datasets/sentiment/ (domain_sentiment_data.tar.gz)",
        licence=NONE_STATED,
        citation="Blitzer, Dredze, Pereira: Biographies, Bollywood, boom-boxes and blenders. ACL 2007",
        form="the folder or .tar.gz of sorted_data_acl, with DOMAIN/positive.review and DOMAIN/negative.review",
        split="70/10/20 within domain and rating, by a fixed seed; 147 repeated reviews left out",
        labels="rating 1, 2, 4, 5; label 0 negative (1–2), 1 positive (4–5)",
        counts={"train": 5498, "dev": 784, "test": 1571},
        classes=BINARY,
    ),
    "cr": Original(
        title="CR: polarity of sentences of customer reviews",
        address="https://www.cs.uic.edu/~liub/FBS/sentiment-analysis.html; as custrev.pos and custrev.neg in the folder "
        "data of https://github.com/harvardnlp/sent-conv-torch",
        licence=NONE_STATED,
        citation="Hu, Liu: Mining and summarizing customer reviews. KDD 2004",
        form="the folder with custrev.pos and custrev.neg, a sentence a line",
        split=FOLDS + ". Lines without text are left out",
        labels="0 negative, 1 positive",
        counts={"train": 3019, "dev": 376, "test": 376},
        classes=BINARY,
    ),
    "eraser_movies": Original(
        title="ERASER Movie Reviews: reviews with the words that people marked as reasons",
        address="https://www.eraserbenchmark.com/ (movies.tar.gz)",
        licence=NONE_STATED,
        citation="DeYoung et al.: ERASER: a benchmark to evaluate rationalized NLP models. ACL 2020; Zaidan, Eisner, "
        "Piatko: Using annotator rationales to improve machine learning for text categorization. NAACL 2007",
        form="the folder or .tar.gz of movies, with train.jsonl, val.jsonl, test.jsonl and docs/",
        split="the standard one, val as dev; rationales are words [start, end). The field rationales_zaidan of the "
        "published results' test part is not in this original",
        labels="0 negative, 1 positive",
        counts={"train": 1600, "dev": 200, "test": 199},
        classes=BINARY,
    ),
    "glove100": Original(
        title="GloVe 6B word vectors of 100 numbers",
        address="https://nlp.stanford.edu/projects/glove/ (glove.6B.zip)",
        licence="PDDL 1.0 (public domain)",
        citation="Pennington, Socher, Manning: GloVe: global vectors for word representation. EMNLP 2014",
        form="",
        split="no texts: put glove.6B.100d.txt as the only file into the folder glove100 below the one REGARD_DATA names",
        labels="none",
        counts={},
    ),
    "imdb": Original(
        title="IMDB Large Movie Review Dataset",
        address="https://ai.stanford.edu/~amaas/data/sentiment/ (aclImdb_v1.tar.gz); without stars and films as "
        "hub:stanfordnlp/imdb",
        licence=f"{NONE_STATED} (research use with citation)",
        citation="Maas, Daly, Pham, Huang, Ng, Potts: Learning word vectors for sentiment analysis. ACL 2011",
        form="the folder aclImdb or aclImdb_v1.tar.gz, with train/pos/0_9.txt and the like",
        split="the standard one, no dev: hold out part of train, best by film (item)",
        labels="0 negative (1–4 stars), 1 positive (7–10); rating, the stars",
        counts={"train": 25_000, "test": 25_000},
        classes=BINARY,
    ),
    "mr": Original(
        title="MR: polarity of sentences of film reviews",
        address=f"{PANG} (rt-polaritydata.tar.gz); with parts of its own as hub:cornell-movie-review-data/rotten_tomatoes",
        licence=NONE_STATED,
        citation="Pang, Lee: Seeing stars: exploiting class relationships for sentiment categorization with respect to "
        "rating scales. ACL 2005",
        form="the folder or .tar.gz with rt-polarity.pos and rt-polarity.neg",
        split=FOLDS,
        labels="0 negative, 1 positive",
        counts={"train": 8530, "dev": 1066, "test": 1066},
        classes=BINARY,
    ),
    "scaledata": Original(
        title="Scale dataset v1.0: film reviews of four critics with ratings",
        address=f"{PANG} (scale_data.tar.gz)",
        licence=NONE_STATED,
        citation="Pang, Lee: Seeing stars: exploiting class relationships for sentiment categorization with respect to "
        "rating scales. ACL 2005",
        form="the folder or .tar.gz of scaledata, with CRITIC/subj.CRITIC, id, rating, label.3class and label.4class",
        split="80/10/10 within critic and label4, by a fixed seed; reviews that come again in a later part left out",
        labels="rating 0 to 1; label3 and label4, three and four classes; user, the critic",
        counts={"train": 3988, "dev": 500, "test": 498},
        by_chance=True,
    ),
    "semeval2013_phrases": Original(
        title="SemEval-2013 task 2A: polarity of phrases in tweets and SMS",
        address="https://www.cs.york.ac.uk/semeval-2013/task2/",
        licence=TWITTER,
        citation="Nakov, Rosenthal, Kozareva, Stoyanov, Ritter, Wilson: SemEval-2013 task 2: sentiment analysis in "
        "Twitter. SemEval 2013",
        form="a folder or archive with twitter-train-cleansed-A.tsv, twitter-dev-gold-A.tsv, twitter-test-gold-A.tsv and "
        "sms-test-gold-A.tsv, and their texts (input-A, or the message files of semeval_twitter)",
        split="the standard one; messages whose text cannot be had any more are left out, and so are objective phrases",
        labels="of phrases and messages: 0 negative, 1 neutral, 2 positive",
        counts={"train": 5895, "dev": 738, "test": 2635, "sms_test": 1437},
        by_chance=True,
    ),
    "semeval_twitter": Original(
        title="SemEval 2013–2016: sentiment of tweets, three classes",
        address="https://alt.qcri.org/semeval2017/task4/",
        licence=TWITTER,
        citation="Rosenthal, Farra, Nakov: SemEval-2017 task 4: sentiment analysis in Twitter. SemEval 2017",
        form="a folder or archive with twitter-2013train-A.tsv and the like (id, label, text; two ids in those of 2013)",
        split="train 2013 and 2015; dev 2013; test 2013, 2014, 2015 (field source); extra2016 the rest of 2016; texts "
        "that come again where they test left out elsewhere; @names become @user",
        labels="0 negative, 1 neutral, 2 positive",
        counts={"train": 10152, "dev": 1648, "test": 7876, "extra2016": 9999, "test_sms2013": 2094},
        classes=("negative", "neutral", "positive"),
        by_chance=True,
    ),
    "sst1": Original(
        title="SST-1: sentences of film reviews, five classes",
        address=f"{TREES}; hub:SetFit/sst5",
        licence=NONE_STATED,
        citation=SOCHER,
        form=TREE_FILES,
        split="the standard one, sentences only, in lower case; tree_id is the line in sst_trees",
        labels="0 very negative to 4 very positive",
        counts={"train": 8544, "dev": 1101, "test": 2210},
        classes=("very negative", "negative", "neutral", "positive", "very positive"),
    ),
    "sst2": Original(
        title="SST-2: sentences of film reviews, two classes",
        address=f"{TREES}; hub:SetFit/sst2 (hub:stanfordnlp/sst2 holds phrases and a test part without labels)",
        licence=NONE_STATED,
        citation=SOCHER,
        form=TREE_FILES,
        split="the standard one, sentences only, neutral ones left out, in lower case; tree_id is the line in sst_trees",
        labels="0 negative, 1 positive",
        counts={"train": 6920, "dev": 872, "test": 1821},
        classes=BINARY,
    ),
    "sst2_uaftc": Original(
        title="SST-2 as Sun and Lu (2020) prepared it",
        address="https://github.com/richardsun-voyager/UAFTC (data/sst, pickled)",
        licence=NONE_STATED,
        citation="Sun, Lu: Understanding attention for text classification. ACL 2020",
        form="",
        split="theirs; their files are pickles, which regard does not read. sst2 has the same sentences with punctuation",
        labels="0 negative, 1 positive",
        counts={"train": 6920, "dev": 872, "test": 1821},
        classes=BINARY,
    ),
    "sst_trees": Original(
        title="SST trees: sentiment of every word and phrase",
        address=TREES,
        licence=NONE_STATED,
        citation=SOCHER,
        form=TREE_FILES,
        split="the standard one; tokens, token_labels, rationale (1 where a word's label is not 2), spans [start, end, label]",
        labels="label5 0 to 4; label2 0, 1 or null where neutral",
        counts={"train": 8544, "dev": 1101, "test": 2210},
    ),
    "subj": Original(
        title="Subj: subjective and objective sentences about films",
        address=f"{PANG} (rotten_imdb.tar.gz); hub:SetFit/subj",
        licence=NONE_STATED,
        citation="Pang, Lee: A sentimental education: sentiment analysis using subjectivity summarization based on "
        "minimum cuts. ACL 2004",
        form="the folder or .tar.gz with quote.tok.gt9.5000 and plot.tok.gt9.5000",
        split=FOLDS,
        labels="0 subjective, 1 objective",
        counts={"train": 8000, "dev": 1000, "test": 1000},
        classes=("subjective", "objective"),
    ),
    "trec": Original(
        title="TREC questions, 6 coarse and 50 fine classes",
        address="https://cogcomp.seas.upenn.edu/Data/QA/QC/; hub:CogComp/trec",
        licence=NONE_STATED,
        citation="Li, Roth: Learning question classifiers. COLING 2002",
        form="the folder with train_5500.label and TREC_10.label",
        split="the standard test; of the standard 5,452 training questions 545 are dev, by a fixed seed (the published "
        "results rest on another draw of as many)",
        labels="0 DESC, 1 ENTY, 2 ABBR, 3 HUM, 4 LOC, 5 NUM; coarse and fine, their names",
        counts={"train": 4907, "dev": 545, "test": 500},
        classes=("DESC", "ENTY", "ABBR", "HUM", "LOC", "NUM"),
    ),
    "vader_amazon": _vader("sentences of Amazon reviews", "amazonReviewSnippets", 2967, 364, 371),
    "vader_movies": _vader("sentences of film reviews", "movieReviewSnippets", 8484, 1060, 1061),
    "vader_nyt": _vader("sentences of New York Times editorials", "nytEditorialSnippets", 4176, 517, 497),
    "vader_tweets": _vader("tweets", "tweets", 3243, 415, 420),
    "yelp": _yelp(40_000, 5_000, 5_000, "80/10/10"),
    "yelp_small": _yelp(7_000, 1_000, 2_000, "70/10/20"),
}
