"""The source of vat.ipynb: `python tools/notebooks.py` runs it."""

# %% [markdown]
# # Attending via both Fine-tuning and Compressing (VAT, Findings of ACL 2021)
#
# Figures first, then the verdicts, then one comparison from the rows. Nothing is trained here: everything is read from
# `experiments/`.

# %%
import json
import statistics
from pathlib import Path


class Figure:
    def __init__(self, path):
        self.path = Path(path)

    def _repr_svg_(self):
        return self.path.read_text(encoding="utf-8")


Figure("experiments/vat/table6-rounds.svg")

# %% [markdown]
# Accuracy by round of learner and compressor.

# %%
Figure("docs/images/bottleneck-scheme.svg")

# %% [markdown]
# ## Verdicts on the paper's claims
#
# BERT is MiniLM here, so its rows are proxies.

# %%
verdicts = json.loads(Path("experiments/verdicts.json").read_text(encoding="utf-8"))
for claim in verdicts["claims"]:
    if claim["source"] == "vat":
        print(f"{claim['id']}  {claim['verdict']:24}  {claim['claim'][:90]}")

# %% [markdown]
# ## The head explains the difference
#
# AOPC@5 of VAT minus attention with a linear head, and minus attention with VAT's head and dropout, in points, mean over seeds.

# %%
values = {}
for line in Path("experiments/vat/table3.jsonl").read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    if "aopc_5" in row.get("values", {}):
        values[row["corpus"], row["method"], row["seed"]] = 100 * row["values"]["aopc_5"]
for corpus in ("sst2", "sst1", "yelp_small", "trec", "subj", "semeval_twitter", "ag_news", "imdb"):
    words = []
    for baseline in ("att", "att-head"):
        seeds = [s for c, m, s in values if (c, m) == (corpus, "vat") and (corpus, baseline, s) in values]
        difference = statistics.mean(values[corpus, "vat", s] - values[corpus, baseline, s] for s in seeds)
        words.append(f"{difference:+6.2f} ({baseline})")
    print(f"{corpus:16} {'  '.join(words)}")
