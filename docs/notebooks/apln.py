"""The source of apln.ipynb: `python tools/notebooks.py` runs it."""

# %% [markdown]
# # Attentive pooling with learnable norms (Wu et al., ACL 2020)
#
# Figures first, then the verdicts, then one number recomputed from the rows. Nothing is trained here: everything is read from
# `experiments/`. Run it in a checkout, with regard installed.

# %%
import json
import statistics
from pathlib import Path

import torch

from regard.poolings.apln import APLN


class Figure:
    def __init__(self, path):
        self.path = Path(path)

    def _repr_svg_(self):
        return self.path.read_text(encoding="utf-8")


Figure("docs/images/norms-paths.svg")

# %% [markdown]
# p with equation 5 as printed and with parts left out. The paper sees p fall; here it falls only without the normaliser, or, for
# recurrent encoders, without the root ([what this means](../norms.md)).

# %%
Figure("experiments/apln/table2-accuracy.svg")

# %% [markdown]
# ## Verdicts on the paper's claims

# %%
verdicts = json.loads(Path("experiments/verdicts.json").read_text(encoding="utf-8"))
for claim in verdicts["claims"]:
    if claim["source"] == "apln":
        print(f"{claim['id']}  {claim['verdict']:24}  {claim['claim'][:90]}")

# %% [markdown]
# ## One number by hand
#
# APLN minus attention, CNN on Yelp, paired by seed, from the rows.

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

# %%
torch.manual_seed(0)
states, mask = torch.rand(1, 5, 3), torch.ones(1, 5, dtype=torch.bool)
for norm in (0.2, 1.0, 5.0, 100.0):
    pooling = APLN(3, norm_init=norm, query_range=0.0)  # equal weights, so that only p differs
    print(f"p = {norm:5}: {[round(value, 3) for value in pooling(states, mask).vector[0].tolist()]}")
print(f"largest:   {[round(value, 3) for value in states.amax(1)[0].tolist()]}")
