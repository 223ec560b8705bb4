"""APLN over patches of images: scikit-learn's handwritten digits, against average, max and attention pooling.

    python examples/image_patches.py [--seeds N] [--epochs N] [--save]

Each image of 8 × 8 pixels is a sequence of 36 overlapping patches of 3 × 3 pixels with their row and column. A seed decides
the split (1,200 images for training, 597 for test), the initial weights and the order. The APLN paper names images as future
work of its pooling.
"""

from __future__ import annotations

import argparse
import time

import example_results as results
import torch
from pooled_classifier import POOLINGS, Sequences, accuracy, norm, train, weight_on
from sklearn.datasets import load_digits

SIZE, PATCH = 8, 3
TRAINING_IMAGES = 1200


def patches() -> tuple[Sequences, torch.Tensor]:
    """The digits, and which patches have any ink."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    pixels = images.unfold(1, PATCH, 1).unfold(2, PATCH, 1).flatten(3).flatten(1, 2)  # (N, 36, 9)
    places = torch.cartesian_prod(*2 * (torch.linspace(-1, 1, SIZE - PATCH + 1),)).expand(len(images), -1, -1)
    items = torch.cat((pixels, places), -1)  # (N, 36, 11)
    mask = torch.ones(items.shape[:2], dtype=torch.bool)
    return Sequences(items, mask, torch.tensor(digits.target)), pixels.amax(-1) > 0.5


def run(seeds: int, epochs: int) -> list[results.Row]:
    rows = []
    images, ink = patches()
    for seed in range(seeds):
        order = torch.randperm(len(images.labels), generator=torch.Generator().manual_seed(seed))
        training, test = (images.at(part) for part in (order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]))
        for pooling in POOLINGS:
            model = train(pooling, training, seed, epochs)
            row = {"pooling": pooling, "seed": seed, "accuracy": accuracy(model, test), "norm": norm(model, test)}
            row["weight on ink"] = round(weight_on(model, test, ink[order[TRAINING_IMAGES:]]), 4)
            rows.append({"data": "digits", **row})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--save", action="store_true", help="replace the committed results")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    rows = run(arguments.seeds, arguments.epochs)
    print(results.pooling_table(rows))
    if arguments.save:
        print(results.save("image_patches", rows, time.process_time() - start, ("torch", "scikit-learn")))


if __name__ == "__main__":
    main()
