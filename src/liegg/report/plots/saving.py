"""Figures on disk: whole or not there, and the same bytes for the same figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from liegg._utils.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

DATES = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Formats, with the metadata that must be left out for the same figure to give the same file."""


def save_figure(
    made: "Figure | SubFigure | Axes", path: str | Path, *, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write a figure in several formats beside each other.

    Args:
        made: the figure, or axes in it: what is written is the whole figure.
        path: with or without one of the endings; all files get the same name up to it. The folder is made if needed.
        formats: of `"png"`, `"svg"` and `"pdf"`, whatever the ending of the path. Fonts are put into a PDF as TrueType, as
            journals ask.

    Returns:
        The paths, in the order of the formats.

    Raises:
        ArgumentError: no format, or an unknown one.
    """
    wanted = [formats] if isinstance(formats, str) else list(dict.fromkeys(formats))
    if not wanted or not set(wanted) <= set(DATES):
        raise ArgumentError(
            f"formats={formats!r}: expected some of 'png', 'svg' and 'pdf', for example formats=(\"pdf\",)."
        )
    path = Path(path)
    stem = path.name.removesuffix(path.suffix) if path.suffix[1:].lower() in DATES else path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = _root(made)
    from matplotlib import rc_context

    paths = []
    with rc_context({"svg.hashsalt": "liegg", "pdf.fonttype": 42}):
        for ending in wanted:
            target = path.with_name(f"{stem}.{ending}")
            part = target.with_name(
                f".{target.name}.part"
            )  # and renamed, so that no half-drawn figure is left
            try:
                whole.savefig(part, format=ending, metadata=DATES[ending])
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
            paths.append(target)
    return paths


def _root(made: "Figure | SubFigure | Axes") -> "Figure":
    """The figure that axes or a part of a figure belong to."""
    from matplotlib.figure import Figure

    inner = made
    while not isinstance(inner, Figure):
        outer = inner.figure
        if outer is None or outer is inner:
            raise ArgumentError(
                f"{made!r} belongs to no figure; expected a figure, or axes of one."
            )
        inner = outer
    return inner
