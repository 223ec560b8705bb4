"""The source of apln.ipynb: `python tools/notebooks.py` runs it."""

# %% [markdown]
# # Attentive pooling with learnable norms (Wu et al., ACL 2020)
#
# A text classifier turns the states h of all words into one vector, for example by a mean weighted with attention α. APLN
# replaces the mean by a *power mean* whose exponent p, the norm, is learned: p = 1 is plain attention, a large p approaches
# the maximum over the words, a small one gives all words a say. The paper reports better accuracy, and that p falls below
# 1.
#
# Figures first, then the verdicts, then one number recomputed from the rows. Nothing is trained here: everything is read
# from `experiments/`. Run it in a checkout, with regard installed.

# %%
import json
import statistics
import textwrap
from pathlib import Path

import torch

from regard.poolings.apln import APLN


class Figure:
    """Shows an SVG file."""

    def __init__(self, path):
        self.path = Path(path)

    def _repr_svg_(self):
        return self.path.read_text(encoding="utf-8")


Figure("docs/images/norms-paths.svg")

# %% [markdown]
# Each line is the path of log p during training; 0 is where it starts, p = 1. Colours: the paper's equation 5 as printed,
# and with parts left out. The paper sees p fall; here it falls only without the normaliser, or, for recurrent encoders,
# without the root ([what this means](../norms.md)).

# %%
Figure("experiments/apln/table2-accuracy.svg")

# %% [markdown]
# Accuracy of each pooling on each encoder, mean over seeds with 95 % intervals (the paper's Table 2). CNN-Att and LSTM-Att
# are plain attention.

# %% [markdown]
# ## Verdicts on the paper's claims
#
# *holds*, *partly*, *refuted*: by the rules of the [protocol](../../experiments/PROTOCOL.md). *Not found on proxy data*:
# the effect did not show, but our corpora are not the paper's own. *Undecided*: too few runs to tell. The [Evidence
# page](../evidence.md) has each claim with its quote, numbers and reason.

# %%
verdicts = json.loads(Path("experiments/verdicts.json").read_text(encoding="utf-8"))
for claim in verdicts["claims"]:
    if claim["source"] == "apln":
        print(f"{claim['id']:7}  {claim['verdict']:24}  {textwrap.shorten(claim['claim'], 90, placeholder=' …')}")

# %% [markdown]
# ## One number by hand
#
# Accuracy of APLN minus that of attention, both on a CNN, on Yelp: the two runs of each seed are compared, and the
# differences averaged.

# %%
values = {}
for line in Path("experiments/apln/table2.jsonl").read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    if row["corpus"] == "yelp_small" and row["method"] in ("cnn-apln", "cnn-attention") and "values" in row:
        values[row["method"], row["seed"]] = 100 * row["values"]["accuracy"]
seeds = sorted(seed for method, seed in values if method == "cnn-apln" and ("cnn-attention", seed) in values)
differences = [values["cnn-apln", seed] - values["cnn-attention", seed] for seed in seeds]
error = statistics.stdev(differences) / len(differences) ** 0.5
print(
    f"{len(seeds)} seeds: {statistics.mean(differences):+.2f} points, standard error {error:.2f}; the paper prints +0.75"
)

# %% [markdown]
# ## The pooling itself
#
# Five words with three features each. With equal attention weights only p decides how they are pooled: near 0 small values
# count almost as much as large ones, and at 100 the result is close to the largest value of each feature.

# %%
torch.manual_seed(0)
states, mask = torch.rand(1, 5, 3), torch.ones(1, 5, dtype=torch.bool)
for norm in (0.2, 1.0, 5.0, 100.0):
    pooling = APLN(3, norm_init=norm, query_range=0.0)  # equal weights, so that only p differs
    print(f"p = {norm:5}: {[round(value, 3) for value in pooling(states, mask).vector[0].tolist()]}")
print(f"largest:   {[round(value, 3) for value in states.amax(1)[0].tolist()]}")
