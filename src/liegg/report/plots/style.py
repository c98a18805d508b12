"""What all figures share: colours, an empty figure, plain axes, logarithmic axes, files."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxtyping import Float
from torch import Tensor

from liegg._utils.atomic_write import atomic_path
from liegg._utils.errors import ArgumentError, MissingExtraError
from liegg.report.numbers import decades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

FOUND, OTHER, THIRD, MUTED = "#0072b2", "#d55e00", "#009e73", "#6b6b6b"
"""Blue, vermilion and green of the Okabe-Ito palette, distinct for every kind of colour vision, and grey."""

SKY, AMBER, PURPLE = "#56b4e9", "#e69f00", "#cc79a7"
"""More of the same palette; lighter, so each is used with its own marker."""


METADATA = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Formats, with the metadata that would change from one run to the next."""


def matplotlib_types() -> dict[str, Any]:
    """The classes of matplotlib that annotations mention."""
    try:
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure, SubFigure
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "figures need matplotlib. Type: pip install 'liegg[plot]'"
        ) from error
    return {"Axes": Axes, "Figure": Figure, "SubFigure": SubFigure}


def figure(width: float = 7.0, height: float = 4.0) -> "Figure":
    """Make an empty figure of a size in inches, without a window or global state."""
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise ArgumentError(f"a figure of {width} × {height} inches; expected positive numbers.")
    Figure = matplotlib_types()["Figure"]
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def tidy(ax: "Axes", *, integer_ticks: bool = False) -> None:
    """Keep the left and lower edge of the frame, and faint horizontal lines.

    Args:
        ax: the axes.
        integer_ticks: the horizontal axis counts something.
    """
    from matplotlib.ticker import MaxNLocator

    if integer_ticks:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def legend(ax: "Axes", *, columns: int = 0) -> None:
    """Add a legend on white, so that no line crosses its text.

    Args:
        ax: the axes.
        columns: of a legend below the axes; 0 puts it inside, as does a figure without a layout engine, which would cut
            it off.
    """
    look = {
        "frameon": True,
        "facecolor": "white",
        "edgecolor": "none",
        "framealpha": 0.9,
        "fontsize": "small",
    }
    whole = ax.get_figure()
    engine = None if whole is None else getattr(whole, "get_layout_engine", lambda: None)()
    if not columns or engine is None or whole is None:
        ax.legend(loc="best", **look)
        return
    from matplotlib.transforms import ScaledTranslation

    # half an inch below the axes, where their ticks and label end
    below = ax.transAxes + ScaledTranslation(0, -0.5, whole.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        borderaxespad=0,
        ncols=columns,
        **look,
    )


def plain(text: str) -> str:
    r"""Escape a text for matplotlib: no formula between dollars, no leading underscore, which hides a legend entry.

    >>> plain("cost in $ and $"), plain("_Net")
    ('cost in \\$ and \\$', ' _Net')
    """
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def lowest(*values: Float[Tensor, "..."], also: Sequence[float] = ()) -> float:
    """Lower end of a logarithmic axis, as on the page: 12 decades below the largest number at most, where zeros are drawn.

    >>> import torch
    >>> lowest(torch.tensor([0.003, 0.4])), lowest(torch.tensor([0.0, 0.4]), also=[0.03])
    (0.001, 1e-12)
    """
    return decades(
        [*(one for value in values for one in value.detach().flatten().tolist()), *also]
    )[0]


def horizontal_line(ax: "Axes", height: float, dashes: str, label: str) -> None:
    """Draw a thin grey line across the axes."""
    ax.axhline(height, color=MUTED, linestyle=dashes, linewidth=1, label=label, zorder=1.5)


def write_centred(ax: "Axes", text: str) -> None:
    """Write a sentence into empty axes: what cannot be drawn, and why."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", wrap=True)


def save_figure(
    fig: "Figure | SubFigure | Axes",
    path: str | Path,
    *,
    formats: str | Sequence[str] = ("png", "svg"),
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
    owner = fig.figure
    if owner is None:
        raise ArgumentError(
            f"{fig!r} does not belong to a figure; expected a figure, or axes of one."
        )
    from matplotlib import rc_context

    paths = [path.with_name(f"{stem}.{ending}") for ending in wanted]
    with rc_context({"svg.hashsalt": "liegg", "pdf.fonttype": 42}):
        for ending, target in zip(wanted, paths, strict=True):
            with atomic_path(target) as part:
                owner.figure.savefig(part, format=ending, metadata=METADATA[ending])
    return paths
