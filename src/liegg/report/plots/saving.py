"""Write figures atomically; the same figure gives the same bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from liegg._utils.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

METADATA = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Formats, with the metadata that would change from one run to the next."""


def save_figure(
    fig: "Figure | SubFigure | Axes", path: str | Path, *, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write a figure in several formats.

    Args:
        fig: the figure, or axes in it; the complete figure is written.
        path: with or without an ending; all files get this name up to it. The folder is made if needed.
        formats: some of `"png"`, `"svg"` and `"pdf"`, whatever the ending of the path. A PDF holds its fonts as TrueType, as
            journals ask.

    Returns:
        The paths, in the order of the formats.

    Raises:
        ArgumentError: there is no format, or an unknown one.
    """
    wanted = [formats] if isinstance(formats, str) else list(dict.fromkeys(formats))
    if not wanted or not set(wanted) <= set(METADATA):
        raise ArgumentError(
            f"formats={formats!r}: expected some of 'png', 'svg' and 'pdf', for example formats=(\"pdf\",)."
        )
    path = Path(path)
    stem = path.name.removesuffix(path.suffix) if path.suffix[1:].lower() in METADATA else path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    root = _root(fig)
    from matplotlib import rc_context

    paths = []
    with rc_context({"svg.hashsalt": "liegg", "pdf.fonttype": 42}):
        for ending in wanted:
            target = path.with_name(f"{stem}.{ending}")
            part = target.with_name(f".{target.name}.part")  # renamed when it is complete
            try:
                root.savefig(part, format=ending, metadata=METADATA[ending])
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
            paths.append(target)
    return paths


def _root(fig: "Figure | SubFigure | Axes") -> "Figure":
    """The figure that axes or a subfigure belong to."""
    from matplotlib.figure import Figure

    inner = fig
    while not isinstance(inner, Figure):
        outer = inner.figure
        if outer is None or outer is inner:
            raise ArgumentError(
                f"{fig!r} does not belong to a figure; expected a figure, or axes of one."
            )
        inner = outer
    return inner
