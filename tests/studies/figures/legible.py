"""Helpers for the figures: which texts are drawn where, and the data of lines."""

from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def drawn_texts(made: Figure) -> list[tuple[str, Bbox]]:
    """Texts that are drawn, and their boxes; labels of ticks beyond an axis are not among them."""
    seen: list[Text] = []
    original = Text.draw

    def draw_and_note(text: Text, *args: Any, **kwargs: Any) -> None:
        if text.get_visible() and text.get_text():
            seen.append(text)
        original(text, *args, **kwargs)

    with patch.object(Text, "draw", draw_and_note):
        made.draw_without_rendering()
    return [(text.get_text(), text.get_window_extent()) for text in seen]


def assert_legible(made: Figure) -> None:
    """No text is cut off by the edge of the figure, and no two texts overlap."""
    texts = drawn_texts(made)
    assert texts
    for name, box in texts:
        inside = made.bbox.x0 <= box.x0 and box.x1 <= made.bbox.x1
        assert inside and made.bbox.y0 <= box.y0 and box.y1 <= made.bbox.y1, f"cut off: {name}"  # noqa: PT018
    for (one, first), (other, second) in combinations(texts, 2):
        assert not first.overlaps(second), f"overlap: {one} / {other}"


def x_of(line: Line2D) -> list[float]:
    return np.asarray(line.get_xdata()).tolist()


def y_of(line: Line2D) -> list[float]:
    return np.asarray(line.get_ydata()).tolist()
