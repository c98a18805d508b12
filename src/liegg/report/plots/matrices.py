"""Generators as matrices."""

from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from liegg._utils.errors import ArgumentError
from liegg.report.page.generators import names_of
from liegg.report.plots.style import figure, plain
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

ACROSS = 5
"""Matrices to a row."""

NAMED = 6
"""Side of a matrix up to which its rows and columns are named."""

LINE = 24
"""Letters to a line above a matrix, two lines at most."""


def generators(
    sym: Symmetries,
    made: "Figure | SubFigure | None" = None,
    *,
    most: int = 10,
    basis: Literal["found", "readable"] = "found",
) -> "Figure | SubFigure":
    """The found generators as matrices, blue for positive and red for negative entries.

    Args:
        sym: the result of `discover`.
        made: figure or subfigure to draw into; by default a new one.
        most: how many to draw; the title says how many there are.
        basis: `"found"`, orthonormal, smallest defect first; or `"readable"`, the same span with few entries, and in words.

    Raises:
        ArgumentError: there is no such basis.
    """
    if basis not in ("found", "readable"):
        raise ArgumentError(f"basis={basis!r}: expected 'found' or 'readable'.")
    if not sym.nullity:
        made = made or figure(7.0, 1.1)
        made.suptitle("no generator: no symmetry was found", fontsize="medium")
        return made
    readable = basis == "readable"
    every = sym.identification.readable.generators if readable else sym.generators
    shown = every[:most]
    rows = -(-len(shown) // ACROSS)
    columns = -(-len(shown) // max(rows, 1))
    made = made or figure(
        max(4.0, 1.5 + 1.15 * columns), 0.7 + (1.5 if readable else 1.35) * max(rows, 1)
    )
    about = "readable basis of the same span" if readable else "Frobenius-orthonormal"
    made.suptitle(
        f"{len(shown)} of {len(every)} generator{'' if len(every) == 1 else 's'}, {about}",
        fontsize="medium",
    )
    limit = float(shown.abs().max()) if len(shown) else 1.0
    axes = made.subplots(rows, columns, squeeze=False).flatten() if len(shown) else []
    names = names_of(sym)
    image = None
    for index, ax in enumerate(axes):
        if index >= len(shown):
            ax.set_axis_off()
            continue
        image = ax.imshow(shown[index].detach().numpy(), cmap="RdBu", vmin=-limit, vmax=limit)
        named = range(len(names)) if len(names) <= NAMED else []
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(list(named), [plain(names[i]) for i in named], fontsize="x-small")
        ax.tick_params(length=0, pad=1)
        title = short(sym.identification.readable.words[index]) if readable else f"{index + 1}"
        ax.set_title(plain(title), fontsize="x-small" if readable else "small")
    if image is not None:
        made.colorbar(image, ax=list(axes), shrink=0.8, label="entry")
    return made


def short(words: str, line: int = LINE) -> str:
    """Two lines of words, the second ending in dots if there are more."""
    lines = wrap(words, line)
    return "\n".join(lines if len(lines) <= 2 else [lines[0], lines[1][: line - 2].rstrip() + " …"])
