"""Run a target on many mutations of its seeds and count failures, without coverage: the same inputs for any version.

    python tests/fuzz/campaign.py TARGET [--count 10000] [--start 0]

With another version of regard on PYTHONPATH, the counts before and after a change can be compared.
"""

from __future__ import annotations

import argparse
import random
import signal
import time
import traceback
from collections import Counter
from types import FrameType

import targets

HANGS = 10  # seconds after which an input counts as a hang


class Hang(BaseException):
    pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=targets.TARGETS)
    parser.add_argument("--count", type=int, default=10_000, help="number of inputs")
    parser.add_argument("--start", type=int, default=0, help="number of the first")
    arguments = parser.parse_args()
    signal.signal(signal.SIGALRM, stop)
    failures: Counter[str] = Counter()
    first: dict[str, int] = {}
    targets.run(arguments.target, b"")
    begin = time.monotonic()
    for number in range(arguments.start, arguments.start + arguments.count):
        data = targets.mutated(arguments.target, random.Random(number))
        signal.alarm(HANGS)
        try:
            targets.run(arguments.target, data)
        except (Exception, Hang) as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} at {frame.filename.rpartition('/')[2]}:{frame.lineno}"
            failures[kind] += 1
            first.setdefault(kind, number)
        finally:
            signal.alarm(0)
    seconds = time.monotonic() - begin
    print(f"{arguments.target}: {arguments.count:,} inputs in {seconds:.0f} s, {sum(failures.values()):,} failures")
    for kind, count in failures.most_common():
        print(f"  {count:6,}  {kind}  (first: --start {first[kind]} --count 1)")


def stop(number: int, frame: FrameType | None) -> None:
    raise Hang


if __name__ == "__main__":
    main()
