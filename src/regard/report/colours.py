"""The colour ramps of every report over the background: orange for words for the answer, blue for words against it.

Each hue is ordered by lightness alone, and the two differ with every kind of colour blindness; words against are underlined
as well, which also shows in black and white. The more opaque, the more the word contributes. Because a hue never covers
more than `MOST` of the background, a shaded word stays light on a light background and dark on a dark one: the text
colour of the background suits every word on it, and an HTML fragment need not know the theme of the notebook around it.
"""

from __future__ import annotations

from dataclasses import dataclass

RGB = tuple[int, int, int]

ACCENT: RGB = (213, 80, 0)
COLD: RGB = (0, 114, 178)  # for words against the prediction: blue and orange differ for every kind of colour blindness
MOST = 0.6
LEVELS = 20  # steps of the ramp where it is written as style classes
GREY = "#555555"  # neutral tokens, between the classes
PALE = "#8a8f99"  # tokens without a type
ON_DARK = {  # the same hues, light enough for a dark background
    "#0072b2": "#4ea6e6",
    "#d55000": "#ff8a3d",
    "#009e73": "#2fc79b",
    "#b0578a": "#e08abb",
    "#b07a00": "#e0ad3c",
    "#3b9bd0": "#9bd6f7",
    "#7d3ac1": "#b98af0",
    GREY: "#a9afba",
    PALE: "#7c828e",
}


@dataclass(frozen=True, slots=True)
class Ground:
    """The colours of a background and of the text on it."""

    paper: RGB
    ink: RGB
    faint: RGB  # of numbers and captions


LIGHT = Ground(paper=(255, 255, 255), ink=(27, 29, 33), faint=(89, 94, 104))
DARK = Ground(paper=(23, 25, 30), ink=(232, 234, 238), faint=(160, 166, 178))


def opacity(strength: float) -> float:
    """The opacity of the accent behind a word of this strength (0 to 1)."""
    return round(MOST * min(max(strength, 0.0), 1.0), 3)


def shade(strength: float, paper: RGB, accent: RGB = ACCENT) -> RGB:
    """The resulting colour on this background."""
    alpha = opacity(strength)
    red, green, blue = (round(alpha * over + (1 - alpha) * under) for over, under in zip(accent, paper, strict=True))
    return red, green, blue


def hexed(colour: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def luminance(colour: RGB) -> float:
    """Relative luminance as WCAG 2 defines it."""

    def linear(channel: int) -> float:
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: RGB, other: RGB) -> float:
    """Contrast ratio as WCAG 2 defines it; 4.5 is enough for text."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
