"""How a type of token is drawn in every plot: its colour on light and dark backgrounds, its shape and its dashes.

Colours repeat after seven classes and shapes after five, so that thirty-five classes still differ in one or the other.
The next thirty-five are hollow, and those after them have a dot inside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.report.colours import GREY, ON_DARK, PALE
from regard.report.plots.svg import COLOURS, DASHES, text

HUES = tuple(colour for colour in COLOURS if colour != GREY)

Corner = tuple[float, float]
Ring = tuple[Corner, ...]
INSIDE = ((), (0.62,), (0.7, 0.32))  # sizes of the rings inside the outline: filled, hollow, hollow with a dot
# corners around a circle of radius 1, so that every shape has about the same area; a circle has none
SHAPES: dict[str, tuple[Corner, ...]] = {
    "down": ((-1.05, -0.7), (1.05, -0.7), (0.0, 1.15)),
    "up": ((-1.05, 0.7), (1.05, 0.7), (0.0, -1.15)),
    "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "diamond": ((0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)),
    "star": tuple(
        (
            round(math.sin(k * math.pi / 5) * (0.55, 1.25)[k % 2 == 0], 3),
            round(-math.cos(k * math.pi / 5) * (0.55, 1.25)[k % 2 == 0], 3),
        )
        for k in range(10)
    ),
    "circle": (),
}


@dataclass(frozen=True)
class Mark:
    colour: str
    shape: str = "circle"
    dash: str = ""
    inside: int = 0  # of `INSIDE`

    @property
    def dark(self) -> str:
        return ON_DARK[self.colour]

    @property
    def rings(self) -> tuple[Ring, ...]:
        """The outline and the rings inside it, alternately in both directions: what is between two of them is filled or
        left out. A circle has none."""
        outline = SHAPES[self.shape]
        if not outline:
            return ()
        inner = (tuple((round(part * a, 3), round(part * b, 3)) for a, b in outline) for part in INSIDE[self.inside])
        return outline, *(ring if number % 2 else ring[::-1] for number, ring in enumerate(inner))

    def path(self, x: float, y: float, size: float) -> str:
        """The shape as a piece of an SVG path's `d`."""
        if not self.rings:
            return f"M{x - size:.1f} {y:.1f}a{size:g} {size:g} 0 1 0 {2 * size:g} 0a{size:g} {size:g} 0 1 0 {-2 * size:g} 0z"
        return "".join(
            f"M{'L'.join(f'{x + size * a:.1f} {y + size * b:.1f}' for a, b in ring)}z" for ring in self.rings
        )


UNTYPED = Mark(PALE)


def type_marks(names: Sequence[str]) -> dict[str, Mark]:
    """A mark for each type; the last is the neutral one."""
    shapes = [name for name in SHAPES if name != "circle"]
    different = len(HUES) * len(shapes)
    classes = {
        name: Mark(
            HUES[k % len(HUES)],
            shapes[k % len(shapes)],
            DASHES[k % len(DASHES)],
            k // different % len(INSIDE),
        )
        for k, name in enumerate(names[:-1])
    }
    return classes | {name: Mark(GREY, "circle", "2 3") for name in names[-1:]}


def pair_marks(pairs: Sequence[tuple[str, str]], types: dict[str, Mark]) -> list[Mark]:
    """A type paired with itself is drawn as that type; mixed pairs take the remaining hues, from the end."""
    used = {mark.colour for mark in types.values()}
    left = [hue for hue in reversed(HUES) if hue not in used] or list(HUES)
    marks, mixed = [], 0
    for one, other in pairs:
        if one == other and one in types:
            marks.append(types[one])
        else:
            marks.append(Mark(left[mixed % len(left)], dash=DASHES[1 + mixed % (len(DASHES) - 1)]))
            mixed += 1
    return marks


def legend_entry(mark: Mark, name: str, x: float, y: float) -> Iterator[str]:
    """One line of a legend: the mark, and the name to the right of it."""
    yield f'<path d="{mark.path(x, y, 4)}" fill="{mark.colour}"/>'
    yield text(x + 10, y + 4, name)
