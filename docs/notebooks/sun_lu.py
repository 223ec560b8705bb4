"""The source of sun_lu.ipynb: `python tools/notebooks.py` runs it."""

# %% [markdown]
# # Understanding Attention for Text Classification (Sun & Lu, ACL 2020)
#
# When can attention be read as an explanation? The paper gives every token (word) two scores: its *polarity score*, how
# much it speaks for a class, and its *attention score*, how much weight it attracts; the scale λ divides attention scores.
# It argues that, with a suitable λ, training gives tokens of a class larger attention scores than neutral ones, and that a
# very large λ destroys this.
#
# Figures first, then the verdicts, then one table from the rows. Nothing is trained here: everything is read from
# `experiments/`. Run it in a checkout.

# %%
import json
import statistics
import textwrap
from pathlib import Path


class Figure:
    """Shows an SVG file."""

    def __init__(self, path):
        self.path = Path(path)

    def _repr_svg_(self):
        return self.path.read_text(encoding="utf-8")


Figure("experiments/sun_lu/figure2-attention.svg")

# %% [markdown]
# Mean attention scores during training, at λ = 10: positive and negative tokens occur mostly in texts of one class, neutral
# ones equally often in both (the paper's Figure 2, bottom, shows them after training).

# %%
Figure("experiments/sun_lu/figure2-polarity.svg")

# %% [markdown]
# The same for polarity scores.

# %% [markdown]
# ## Verdicts on the claims of the paper and its supplement
#
# *holds*, *partly*, *refuted*: by the rules of the [protocol](../../experiments/PROTOCOL.md). *Not found on proxy data*:
# the effect did not show, but our corpora are not the paper's own. *Undecided*: too few runs to tell. The [Evidence
# page](../evidence.md) has each claim with its quote, numbers and reason.

# %%
verdicts = json.loads(Path("experiments/verdicts.json").read_text(encoding="utf-8"))
for claim in verdicts["claims"]:
    if claim["source"] in ("sun_lu", "supplement"):
        print(f"{claim['id']:7}  {claim['verdict']:24}  {textwrap.shorten(claim['claim'], 90, placeholder=' …')}")

# %% [markdown]
# ## The scale λ on SST, from the rows
#
# Accuracy of the paper's basic model, dot-product attention over word vectors, on the authors' own SST files, next to the
# paper's Table 2. A small λ costs accuracy; a very large one, which makes attention an average, costs little.

# %%
printed = {"l-0001": 55.3, "l-1": 74.4, "l-10": 82.2, "l-20": 81.4, "l-50": 80.8, "l-100": 81.2, "l-10000": 79.6}
scales = {"l-0001": 0.001, "l-1": 1, "l-10": 10, "l-20": 20, "l-50": 50, "l-100": 100, "l-10000": 10_000}
accuracies = {name: [] for name in printed}
for line in Path("experiments/sun_lu/table2.jsonl").read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    if (row["corpus"], row["method"]) == ("sst2_uaftc", "dp") and "values" in row:
        accuracies[row["setting"]].append(100 * row["values"]["accuracy"])
for name, values in accuracies.items():
    mean = statistics.mean(values)
    print(f"λ = {scales[name]:<6}  {mean:5.2f} %, mean of {len(values)} seeds; the paper prints {printed[name]}")
