"""Figures of finite groups: the multiplication table, and the orbit of a sample."""

from colorsys import hsv_to_rgb
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.finite.group import FiniteGroup
from liegg.report.plots.style import FOUND, MUTED, OTHER, figure, plain, write_centred
from liegg.results.group_symmetries import GroupSymmetries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED_ELEMENTS = 24
"""Order up to which the elements are named beside the table."""

NUMBERED_ELEMENTS = 16
"""Order up to which the products are written into the table."""

LABEL_LETTERS = 34
"""Letters of an element's words beside the table."""

JOINED_ELEMENTS = 24
"""Elements up to which lines join the images of a point to it."""


def group_of(source: GroupSymmetries | FiniteGroup) -> FiniteGroup | None:
    """The group of matrices of a result, or the group itself."""
    return source.group if isinstance(source, GroupSymmetries) else source


def multiplication_table(source: GroupSymmetries | FiniteGroup, ax: "Axes | None" = None) -> "Axes":
    """Draw the multiplication table: the colour of a field is the element `row · column`.

    Colours of one hue are one conjugacy class. Elements that do not close have no table; the axes then say so.

    Args:
        source: the result of `discover_group`, or a group.
        ax: axes to draw into; by default a new figure.

    Examples:
        >>> import torch, liegg
        >>> ax = multiplication_table(liegg.algebra.close(-torch.eye(2)[None]))
        >>> ax.get_title()
        'C₂'
    """
    group = group_of(source)
    m = 0 if group is None or not group.closed else len(group.table)
    named = 0 < m <= NAMED_ELEMENTS
    side = 2.6 + 0.16 * min(m, 24)
    ax = ax or figure(side + (3.0 if named else 0.6), side).subplots()
    if group is None or not group.closed:
        ax.set_axis_off()
        text = "No group of matrices was searched." if group is None else group.title()
        write_centred(ax, plain(text))
        return ax
    colours = element_colours(group)
    ax.imshow(
        colours[group.table.numpy()],
        interpolation="nearest",
        aspect="equal",
        extent=(0.5, m + 0.5, m + 0.5, 0.5),
    )
    ax.set_title(plain(_short(group.name, 60)), fontsize="medium")
    ax.set_xlabel("first applied (right factor)")
    if named:
        ax.set_yticks(
            range(1, m + 1), [plain(f"{_short(w)}  {i + 1}") for i, w in enumerate(group.words)]
        )
        ax.set_xticks(range(1, m + 1), [str(i + 1) for i in range(m)])
        ax.tick_params(labelsize="x-small", length=0)
    else:
        ax.set_yticks([1, m])
        ax.set_xticks([1, m])
        ax.set_ylabel("then applied (left factor)")
    if m <= NUMBERED_ELEMENTS:
        for (i, j), product in np.ndenumerate(group.table.numpy()):
            ax.text(
                j + 1,
                i + 1,
                str(product + 1),
                ha="center",
                va="center",
                fontsize="x-small",
                color="black" if is_light(colours[product]) else "white",
            )
    return ax


def _short(words: str, length: int = LABEL_LETTERS) -> str:
    return words if len(words) <= length else f"{words[: length - 1]}…"


def element_colours(group: FiniteGroup) -> Float[np.ndarray, "m 3"]:
    """One colour per element, red, green and blue up to 1: the hue by its class, the lightness within the class."""
    colours = np.zeros((len(group.table), 3))
    for k, members in enumerate(group.classes):
        hue = (0.58 + k * 0.618034) % 1.0  # golden ratio: neighbours differ
        for place, element in enumerate(members):
            share = place / max(len(members) - 1, 1)
            colours[element] = hsv_to_rgb(hue, 0.75 - 0.45 * share, 0.55 + 0.4 * share)
    colours[0] = 0.93  # the identity
    return colours


def is_light(colour: Float[np.ndarray, " 3"]) -> bool:
    """Whether dark text can be read on a colour."""
    return float(colour @ [0.3, 0.59, 0.11]) > 0.55


def orbit(
    source: GroupSymmetries | FiniteGroup,
    point: Float[Tensor, " n"] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the images of a point under all elements: vermilion the point, blue its images.

    Points of three or more dimensions are drawn in the plane of the two largest principal axes of the orbit.

    Args:
        source: the result of `discover_group`, or a group.
        point: coordinates of the point; by default one in general position.
        ax: axes to draw into; by default a new figure.

    Raises:
        ArgumentError: the point does not have as many coordinates as the elements, or is not finite.
    """
    group = group_of(source)
    ax = ax or figure(4.2, 4.4).subplots()
    if group is None or not len(group.elements):
        ax.set_axis_off()
        write_centred(ax, "No group of matrices was searched.")
        return ax
    images, flat = orbit_points(group, point), flat_orbit(group, point)
    n = images.shape[1]
    names = (*(group.coordinates or tuple(f"x{i + 1}" for i in range(n))), "")
    labels = names[:2] if n <= 2 else ("first principal axis of the orbit", "second")
    if len(flat) <= JOINED_ELEMENTS:
        for image in flat[1:]:
            ax.plot(
                *zip(flat[0], image, strict=True), color=MUTED, linewidth=0.5, alpha=0.5, zorder=1
            )
    ax.plot(flat[1:, 0], flat[1:, 1], "o", color=FOUND, markersize=6, zorder=2, label="images")
    ax.plot(*flat[:1].T, "D", color=OTHER, markersize=8, zorder=3, label="point")
    distinct = len(np.unique(images.numpy().round(6), axis=0))
    ax.set_title(plain(f"{_short(group.name, 40)}: orbit of {distinct} points"), fontsize="medium")
    ax.set_xlabel(plain(labels[0]))
    ax.set_ylabel(plain(labels[1]))
    ax.set_aspect("equal", adjustable="datalim")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def orbit_points(
    group: FiniteGroup, point: Float[Tensor, " n"] | None = None
) -> Float[Tensor, "m n"]:
    """The images of a point under all elements, the point itself first."""
    n = group.elements.shape[1] - group.homogeneous
    if point is None:
        point = 0.35 + 0.75 * torch.arange(n, dtype=torch.float64)
    point = torch.as_tensor(point, dtype=torch.float64).detach().cpu()
    if point.shape != (n,) or not bool(point.isfinite().all()):
        raise ArgumentError(
            f"point has shape {tuple(point.shape)}; expected {n} finite coordinates, as the elements have."
        )
    images = group.elements[:, :n, :n] @ point
    return images + group.elements[:, :n, n] if group.homogeneous else images


def flat_orbit(
    group: FiniteGroup, point: Float[Tensor, " n"] | None = None
) -> Float[np.ndarray, "m 2"]:
    """The images of a point in two dimensions: a line, the plane, or the plane in which they spread most."""
    images = orbit_points(group, point).numpy()
    if images.shape[1] == 1:
        return np.concatenate([images, np.zeros_like(images)], 1)
    return images if images.shape[1] == 2 else images @ _principal_plane(images)


def _principal_plane(points: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "n 2"]:
    """The plane in which points spread most, rotated slightly so that axes of symmetry do not hide points."""
    _, _, right = np.linalg.svd(points - points.mean(0), full_matrices=True)
    third = right[2] if len(right) > 2 else 0.0
    return np.stack([right[0] + 0.25 * third, right[1] + 0.15 * third], 1)
