"""APLN over frames of audio: which of eight tones a noisy recording has, against average, max and attention pooling.

    python examples/audio_frames.py [--seeds N] [--epochs N] [--save]

Each recording is 0.2 to 0.6 seconds of noise at 4 kHz, generated, with one tone of 60 milliseconds somewhere. Frames of 128
samples, half of them shared with the next, are log magnitudes of a Fourier transform; shorter recordings are padded and
masked. A seed decides the recordings (1,500 for training, 1,000 for test), the initial weights and the order. The APLN paper
names audio as future work of its pooling.
"""

from __future__ import annotations

import argparse
import math
import time

import example_results as results
import torch
from pooled_classifier import POOLINGS, Sequences, accuracy, norm, train, weight_on
from torch import Tensor

RATE, FRAME, HOP = 4000, 128, 64
SHORTEST, LONGEST, TONE = 800, 2400, 240  # samples
PITCHES = torch.tensor([440.0, 494.0, 554.0, 587.0, 659.0, 740.0, 831.0, 880.0])  # A major, in Hz
LOUDNESS = 0.7  # of the tone; the noise has a standard deviation of 1
TRAINING_RECORDINGS, TEST_RECORDINGS = 1500, 1000


def recordings(count: int, generator: torch.Generator) -> tuple[Sequences, Tensor]:
    """Frames of generated recordings, and which frames overlap the tone."""
    labels = torch.randint(len(PITCHES), (count,), generator=generator)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (count,), generator=generator)
    starts = (torch.rand(count, generator=generator) * (lengths - TONE)).long()
    phases = torch.rand(count, generator=generator) * 2 * math.pi
    clock = torch.arange(LONGEST)  # (T,)
    sounding = (clock >= starts[:, None]) & (clock < starts[:, None] + TONE)  # (N, T)
    tone = LOUDNESS * torch.sin(2 * math.pi * PITCHES[labels, None] * clock / RATE + phases[:, None])
    wave = torch.randn(count, LONGEST, generator=generator) + tone * sounding
    spectra = torch.fft.rfft(wave.unfold(1, FRAME, HOP) * torch.hann_window(FRAME)).abs()  # (N, L, 65)
    ends = torch.arange(spectra.size(1)) * HOP + FRAME
    mask = ends <= lengths[:, None]  # (N, L) frames within the recording
    items = (spectra.log1p() - 2).masked_fill(~mask.unsqueeze(-1), 0)
    overlap = (ends > starts[:, None]) & (ends - FRAME < starts[:, None] + TONE)
    return Sequences(items, mask, labels), overlap & mask


def run(seeds: int, epochs: int) -> list[results.Row]:
    rows = []
    for seed in range(seeds):
        generator = torch.Generator().manual_seed(seed)
        (training, _), (test, tone) = (recordings(n, generator) for n in (TRAINING_RECORDINGS, TEST_RECORDINGS))
        for pooling in POOLINGS:
            model = train(pooling, training, seed, epochs)
            row = {"pooling": pooling, "seed": seed, "accuracy": accuracy(model, test), "norm": norm(model, test)}
            row["weight on tone"] = round(weight_on(model, test, tone), 4)
            rows.append({"data": "tones", **row})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--save", action="store_true", help="replace the committed results")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    rows = run(arguments.seeds, arguments.epochs)
    print(results.pooling_table(rows))
    if arguments.save:
        print(results.save("audio_frames", rows, time.process_time() - start, ("torch",)))


if __name__ == "__main__":
    main()
