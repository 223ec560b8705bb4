"""The source of sun_lu.ipynb: `python tools/notebooks.py` runs it."""

# %% [markdown]
# # Understanding Attention for Text Classification (Sun & Lu, ACL 2020)
#
# Figures first, then the verdicts, then one table from the rows. Nothing is trained here: everything is read from `experiments/`.

# %%
import json
import statistics
from pathlib import Path


class Figure:
    def __init__(self, path):
        self.path = Path(path)

    def _repr_svg_(self):
        return self.path.read_text(encoding="utf-8")


Figure("experiments/sun_lu/figure2-attention.svg")

# %% [markdown]
# Attention scores by type of token during training, at λ = 10 (the paper's Figure 2, bottom).

# %%
Figure("experiments/sun_lu/figure2-polarity.svg")

# %% [markdown]
# ## Verdicts on the claims of the paper and its supplement

# %%
verdicts = json.loads(Path("experiments/verdicts.json").read_text(encoding="utf-8"))
for claim in verdicts["claims"]:
    if claim["source"] in ("sun_lu", "supplement"):
        print(f"{claim['id']}  {claim['verdict']:24}  {claim['claim'][:90]}")

# %% [markdown]
# ## The scale λ on SST, from the rows
#
# Accuracy of DP on the authors' own SST files, mean over seeds, next to the paper's Table 2.

# %%
printed = {"l-0001": 55.3, "l-1": 74.4, "l-10": 82.2, "l-20": 81.4, "l-50": 80.8, "l-100": 81.2, "l-10000": 79.6}
accuracies = {name: [] for name in printed}
for line in Path("experiments/sun_lu/table2.jsonl").read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    if (row["corpus"], row["method"]) == ("sst2_uaftc", "dp") and "values" in row:
        accuracies[row["setting"]].append(100 * row["values"]["accuracy"])
for name, values in accuracies.items():
    print(f"{name:8} {statistics.mean(values):6.2f} over {len(values)} seeds, paper {printed[name]}")
