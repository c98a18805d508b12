"""Simple linear motions, and which of them a matrix is: rotation, scaling, shear or boost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from liegg._utils.linalg import canonical_basis
from liegg.algebra.words.wording import direction, first_largest, listed, number, vector

Matrix = Float[np.ndarray, "n n"]


@dataclass(frozen=True)
class Motion:
    """A motion in words.

    Attributes:
        noun: what it is, such as "rotation".
        where: of which coordinates, with a leading space; empty if of all.
        speed: signed speed; amounts of other motions beside it are relative to this.
    """

    noun: str
    where: str
    speed: float

    def __str__(self) -> str:
        uniform = self.noun == "scaling" and not self.where
        return "uniform scaling" if uniform else self.noun + self.where

    def beside(self, other: "Motion") -> str:
        """This motion with its amount relative to another: "scaling 0.3"."""
        return f"{self.noun} {number(self.speed / other.speed)}{self.where}"


@dataclass(frozen=True)
class View:
    """What the words depend on besides the matrix.

    Attributes:
        names: of the coordinates.
        signs: of a diagonal metric, or None.
        tolerance: size of an entry that counts as zero; matrices have a largest entry of about one.
    """

    names: tuple[str, ...]
    signs: tuple[int, ...] | None
    tolerance: float

    def zero(self, values: np.ndarray | np.floating) -> bool:
        """Whether all entries, which may be sums of two, are below twice the tolerance."""
        return bool((abs(values) <= 2 * self.tolerance).all())

    @property
    def time(self) -> int | None:
        """The one axis whose sign differs from all others, if there are at least two others."""
        signs = self.signs or ()
        single = [i for i, sign in enumerate(signs) if signs.count(sign) == 1]
        return single[0] if len(single) == 1 else None


def simple(matrix: Matrix, view: View) -> Motion | None:
    """The simple motion that a matrix generates; None if it generates none.

    >>> view = View(("x", "y"), None, 1e-6)
    >>> str(simple(np.array([[0.0, 2.0], [0.0, 0.0]]), view))
    'shear of x by y'
    """
    motions = (kind(matrix, view) for kind in (scaling, rotation, boost, plane, rank_one))
    return next((motion for motion in motions if motion is not None), None)


def scaling(matrix: Matrix, view: View) -> Motion | None:
    """Diagonal matrices: one rate, two opposite ones, or several."""
    rates = matrix.diagonal()
    axes = (abs(rates) > view.tolerance).nonzero()[0].tolist()
    if not axes or not view.zero(matrix - np.diag(rates)):
        return None
    speed, names = float(rates[axes[0]]), [view.names[i] for i in axes]
    if view.zero(rates[axes] - speed):
        return Motion("scaling", "" if len(axes) == len(rates) else f" of {listed(names)}", speed)
    if len(axes) == 2 and view.zero(rates[axes].sum()):
        return Motion("squeeze", f" of {names[0]} against {names[1]}", speed)
    ratios = [number(float(rates[i]) / speed) for i in axes]
    each = [f"{name} (rate {ratio})" for name, ratio in zip(names, ratios, strict=True)]
    return Motion("scaling", f" of {listed(each)}", speed)


def rotation(matrix: Matrix, view: View) -> Motion | None:
    """Antisymmetric matrices: rotations in coordinate planes, about axes, in tilted planes."""
    if not view.zero(matrix + matrix.T):
        return None
    pairs, matrix = _pairs(matrix, view), (matrix - matrix.T) / 2
    if len({i for pair in pairs for i in pair}) == 2 * len(pairs):
        return _rotation_of_coordinates(matrix, pairs, view)
    if len(matrix) == 3:
        axis = matrix[[2, 0, 1], [1, 2, 0]]
        text, speed = direction(axis, view.names, view.tolerance)
        return Motion("rotation", f" about the axis {text}", speed)
    _, values, right = np.linalg.svd(matrix)
    speeds = values[::2][values[::2] > view.tolerance * len(matrix)]
    if not len(speeds):
        return None  # all speeds are below the tolerance
    if len(speeds) == 1:
        one, two = canonical_basis(torch.from_numpy(right[:2])).numpy()
        place = f" in the plane spanned by {vector(one)} and {vector(two)}"
        return Motion("rotation", place, float(two @ matrix @ one))
    ratios = listed([number(float(speed / speeds[0])) for speed in speeds])
    pace = "at equal speeds" if view.zero(speeds - speeds[0]) else f"at speeds {ratios}"
    return Motion("rotation", f" in {len(speeds)} tilted planes {pace}", float(speeds[0]))


def _rotation_of_coordinates(matrix: Matrix, pairs: list[tuple[int, int]], view: View) -> Motion:
    # Each plane is written in the order in which it rotates like the first one.
    speed, half = float(matrix[pairs[0][1], pairs[0][0]]), len(matrix) // 2
    planes = [(i, j) if float(matrix[j, i]) * speed > 0 else (j, i) for i, j in pairs]
    ratios = np.array([matrix[j, i] for i, j in planes]) / speed
    texts = [f"{view.names[i]}–{view.names[j]}" for i, j in planes]
    if len(pairs) == 1:
        return Motion("rotation", f" in {texts[0]}", speed)
    if not view.zero(ratios - 1):
        speeds = [number(float(ratio)) for ratio in ratios]
        texts = [f"{text} (speed {s})" for text, s in zip(texts, speeds, strict=True)]
    elif planes == [(i, i + half) for i in range(half)] and len(matrix) % 2 == 0:
        return Motion("common phase", "", speed)
    return Motion("rotation", f" in {listed(texts)} together", speed)


def plane(matrix: Matrix, view: View) -> Motion | None:
    """Two coordinates that drive each other: boosts without a time, hyperbolic and elliptic rotations."""
    pairs = _pairs(matrix, view)
    if len(pairs) != 1 or not view.zero(matrix.diagonal()):
        return None
    (i, j), names = pairs[0], view.names
    upper, lower = float(matrix[i, j]), float(matrix[j, i])
    if min(abs(upper), abs(lower)) <= view.tolerance:
        return None
    speed = math.copysign(math.sqrt(abs(upper * lower)), lower)
    equal = abs(upper - lower) <= 2 * view.tolerance
    if view.signs and view.signs[i] != view.signs[j] and equal:
        return Motion("boost", f" in {names[i]}–{names[j]}", speed)
    ratio = math.sqrt(abs(upper / lower))
    axes = "" if equal else f" (axes {number(max(ratio, 1.0))} : {number(max(1 / ratio, 1.0))})"
    noun = "hyperbolic rotation" if upper * lower > 0 else "elliptic rotation"
    return Motion(noun, f" in {names[i]}–{names[j]}{axes}", speed)


def boost(matrix: Matrix, view: View) -> Motion | None:
    """Symmetric matrices that drive one time axis and a direction of space."""
    if view.time is None:
        return None
    space = [i for i in range(len(matrix)) if i != view.time]
    rest = matrix.copy()
    rest[space, view.time] = rest[view.time, space] = 0
    if not view.zero(matrix - matrix.T) or not view.zero(rest):
        return None
    names = [view.names[i] for i in space]
    text, speed = direction(matrix[space, view.time], names, view.tolerance)
    return Motion("boost", f" along {text} (time {view.names[view.time]})", speed)


def rank_one(matrix: Matrix, view: View) -> Motion | None:
    """Matrices u vᵀ: shears along u by v·x where u ⊥ v, scalings along u where v = u."""
    left, values, right = np.linalg.svd(matrix)
    along, by = left[:, 0], right[0]
    if values[0] <= view.tolerance or not view.zero(matrix - values[0] * np.outer(along, by)):
        return None
    along, by = (unit * np.sign(unit[first_largest(unit)]) for unit in (along, by))
    speed = float(along @ matrix @ by)
    if view.zero(along - by):
        return Motion("scaling", f" along {vector(along)}", speed)
    if not view.zero(along @ by):
        return None
    text, _ = direction(along, view.names, view.tolerance)
    other, _ = direction(by, view.names, view.tolerance)
    return Motion("shear", f" {'of' if text in view.names else 'along'} {text} by {other}", speed)


def _pairs(matrix: Matrix, view: View) -> list[tuple[int, int]]:
    """Pairs i < j of coordinates of which one drives the other."""
    size = np.maximum(abs(matrix), abs(matrix.T))
    return [(i, j) for i, j in np.argwhere(np.triu(size, 1) > view.tolerance).tolist()]


def parts(matrix: Matrix, view: View) -> Sequence[tuple[Matrix, Matrix]]:
    """Ways to split a matrix: off a scaling, diagonal or rotation, or into two pairs of axes."""
    diagonal = np.diag(matrix.diagonal())
    uniform = np.eye(len(matrix)) * matrix.diagonal().mean()
    turn = (matrix - matrix.T) / 2
    ways = [(matrix - uniform, uniform), (matrix - diagonal, diagonal), (turn, matrix - turn)]
    pairs = _pairs(matrix, view)
    if len(pairs) == 2 and view.zero(diagonal):
        first = np.zeros_like(matrix)
        for i, j in (pairs[0], pairs[0][::-1]):
            first[i, j] = matrix[i, j]
        ways.insert(0, (first, matrix - first))
    return [way for way in ways if not any(view.zero(part) for part in way)]
