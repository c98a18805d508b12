"""Words for a finite transformation: reflection, rotation, swap of coordinates, inversion."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.finite.unbounded import is_unbounded
from liegg.algebra.words.motions import Matrix
from liegg.algebra.words.wording import (
    Vector,
    coordinate_names,
    first_largest,
    listed,
    number,
    vector,
)

IN_SUITABLE_COORDINATES = " (in suitable coordinates)"
"""For transformations that are orthogonal in other coordinates only."""

UNIT_FACTOR = 1e-3
"""Difference of a factor from ±1 that is written."""

LARGEST_WHOLE = 4
"""Largest entry of an axis that is written in whole numbers, such as (1, 1, −1)."""


def element_words(
    matrix: Num[Tensor, "..."],
    *,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool = False,
    frame: Float[Tensor, "m m"] | None = None,
    tolerance: float = 1e-6,
) -> str:
    """Words for the transformation x → hx: "reflection x₁ → −x₁", "rotation by 72°", "swaps x and y".

    Args:
        matrix: h, of finite order up to the tolerance.
        coordinates: names of the coordinates; x₁, x₂, ... otherwise.
        homogeneous: whether h is `[[L, t], [0, 1]]`, the affine map x → Lx + t.
        frame: coordinates as columns in which h is orthogonal, if it is not in the given ones.
        tolerance: differences of entries that count as none.

    Returns:
        The words; "identity" for the identity.

    Raises:
        ArgumentError: not a finite square matrix, or a wrong number of names.

    Examples:
        >>> element_words(torch.diag(torch.tensor([-1.0, 1.0])), coordinates="xy")
        Traceback (most recent call last):
        liegg._utils.errors.ArgumentError: coordinates are 'xy'; expected 2 names, for example ("x", "y").
        >>> element_words(torch.diag(torch.tensor([-1.0, 1.0])), coordinates=["x", "y"])
        'reflection x → −x'
        >>> element_words(torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
        'cycles x₁ → x₂ → x₃ → x₁'
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ArgumentError(
            f"the element has shape {tuple(matrix.shape)}; expected one matrix [n, n]."
        )
    if matrix.is_complex() or not bool(matrix.isfinite().all()):
        raise ArgumentError(
            "the element has complex entries, NaN or infinity; expected a real one."
        )
    n = len(matrix) - homogeneous
    names = coordinate_names(n, coordinates)
    h = matrix.detach().to(torch.float64).cpu().numpy()
    linear, shift = h[:n, :n], h[:n, n:].sum(1)
    axes = np.eye(n) if frame is None else frame[:n, :n].to(torch.float64).cpu().numpy()
    if abs(linear - np.eye(n)).max() <= tolerance:
        if abs(shift).max(initial=0.0) <= tolerance:
            return "identity"
        return f"translation by {vector(shift)}"
    words = linear_words(linear, names, axes, tolerance)
    return _with_point(words, linear, shift, names, tolerance=tolerance) if homogeneous else words


def linear_words(linear: Matrix, names: Sequence[str], frame: Matrix, tolerance: float) -> str:
    """Words for a linear map that is not the identity."""
    words = monomial_words(linear, names, tolerance)
    if words:
        return words
    orthogonal = np.linalg.solve(frame, linear @ frame)
    one = np.eye(len(linear))
    if abs(linear - linear[0, 0] * one).max() <= tolerance * abs(linear[0, 0]):
        return f"scaling by {number(float(linear[0, 0]))}"
    if abs(linear.T @ linear - one).max() <= 4 * tolerance:
        return _orthogonal(linear, linear, one, names, tolerance=tolerance)
    if abs(orthogonal.T @ orthogonal - one).max() <= 1e3 * tolerance:
        return _orthogonal(orthogonal, linear, frame, names, tolerance=tolerance)
    return _spectrum(linear, tolerance)


def monomial_words(matrix: Float[np.ndarray, "n n"], names: Sequence[str], tolerance: float) -> str:
    """Words for a matrix with one entry in every row and column; empty for others, and for rotations of space.

    >>> monomial_words(np.array([[0.0, 2**0.5], [0.5**0.5, 0.0]]), ("x", "y"), 1e-6)
    'swaps x and 1.41 y'
    """
    n = len(matrix)
    large = abs(matrix) > 4 * tolerance * abs(matrix).max()
    if (large.sum(0) != 1).any() or (large.sum(1) != 1).any():
        return ""
    images = large.argmax(0)  # axis j goes to axis images[j]
    factors = matrix[images, np.arange(n)]
    signs = np.sign(factors)
    unit = abs(abs(factors) - 1).max() <= UNIT_FACTOR
    if (images == np.arange(n)).all():
        return _signs(signs, names) if unit else ""
    moved = [j for j in range(n) if images[j] != j]
    cycles = cycles_of(images.tolist())
    kept = all(
        signs[j] > 0 and abs(factors[j] - 1) <= UNIT_FACTOR for j in range(n) if images[j] == j
    )
    if kept and unit and (signs > 0).all():
        return " and ".join(cycle_words([names[j] for j in cycle]) for cycle in cycles)
    if kept and len(moved) == 2:
        return _scaled_swap(moved, factors, names)
    if unit and n > 3:
        texts = [
            f"{names[j]} → {'−' if signs[j] < 0 else ''}{names[images[j]]}"
            for j in range(n)
            if images[j] != j or signs[j] < 0
        ]
        return ", ".join(texts)
    return ""


def _signs(signs: Float[np.ndarray, " n"], names: Sequence[str]) -> str:
    """Words for a diagonal matrix of signs."""
    n, flips = len(signs), [i for i in range(len(signs)) if signs[i] < 0]
    if not flips:
        return "identity"
    if len(flips) == 1:
        return f"reflection {names[flips[0]]} → −{names[flips[0]]}"
    if len(flips) == n:
        return "rotation by 180°" if n == 2 else "inversion"
    if n == 3:
        return f"rotation by 180° about {names[next(i for i in range(3) if i not in flips)]}"
    return f"changes the signs of {listed([names[i] for i in flips])}"


def _scaled_swap(
    axes: Sequence[int], factors: Float[np.ndarray, " n"], names: Sequence[str]
) -> str:
    """Words for two axes that change places with factors: x ↔ c·y; empty if they turn instead."""
    i, j = axes
    if factors[i] * factors[j] < 0 or abs(factors[i] * factors[j] - 1) > UNIT_FACTOR:
        return ""
    # x' = factors[j] y
    one, other, factor = (i, j, factors[j]) if abs(factors[j]) >= 1 else (j, i, factors[i])
    if abs(abs(factor) - 1) <= UNIT_FACTOR:
        one, other, factor = i, j, np.sign(factors[j])
    size = "" if abs(factor) == 1 else f"{number(abs(float(factor)))} "
    return f"swaps {names[one]} and {'−' if factor < 0 else ''}{size}{names[other]}"


def cycles_of(images: Sequence[int]) -> list[list[int]]:
    """The cycles of a permutation that are longer than one, each from its smallest member.

    >>> cycles_of([1, 0, 2])
    [[0, 1]]
    """
    seen: set[int] = set()
    cycles = []
    for start in range(len(images)):
        cycle, place = [], start
        while place not in seen:
            seen.add(place)
            cycle.append(place)
            place = images[place]
        if len(cycle) > 1:
            cycles.append(cycle)
    return cycles


def cycle_words(names: Sequence[str], *, of: str = "") -> str:
    """One cycle in words.

    >>> cycle_words(["x", "y"]), cycle_words(["x", "y", "z"])
    ('swaps x and y', 'cycles x → y → z → x')
    """
    if len(names) == 2:
        return f"swaps {of}{names[0]} and {names[1]}"
    return f"cycles {of}{' → '.join([*names, names[0]])}"


def _orthogonal(
    matrix: Matrix, given: Matrix, frame: Matrix, names: Sequence[str], *, tolerance: float
) -> str:
    """Words for an orthogonal map; directions are those of the map in the given coordinates."""
    n, one = len(matrix), np.eye(len(matrix))
    note = "" if matrix is given else IN_SUITABLE_COORDINATES
    proper = np.linalg.det(matrix) > 0
    if abs(matrix + one).max() <= tolerance * 4:
        return "inversion" if n > 2 else "rotation by 180°"
    if n == 2 and proper:
        angle = math.atan2(matrix[1, 0] - matrix[0, 1], np.trace(matrix))
        return f"rotation by {degrees(angle)}{note}"
    if n == 3 and (proper or abs(np.trace(matrix) - 1) > 10 * tolerance):
        sign = 1 if proper else -1
        axis = _fixed(given * sign)
        inside = np.linalg.solve(frame, axis) * np.sign(np.linalg.det(frame))
        cross = matrix - matrix.T
        turn = np.array([cross[2, 1], cross[0, 2], cross[1, 0]]) @ inside / np.linalg.norm(inside)
        angle = math.atan2(float(turn), float(np.trace(matrix)) - sign)
        kind = "rotation" if proper else "rotoreflection"
        return f"{kind} by {degrees(angle)} about {axis_words(axis, names, tolerance)}{note}"
    values = np.linalg.eigvals(matrix)
    reversed_ = int((abs(values + 1) <= 1e-3).sum())
    fixed = int((abs(values - 1) <= 1e-3).sum())
    if reversed_ == 1 and fixed == n - 1:
        normal = axis_words(_fixed(-given), names, tolerance)
        if note:
            return f"reflection{note} that reverses {normal}"
        where = {2: "line", 3: "plane"}.get(n, "hyperplane")
        return f"reflection in the {where} with normal {normal}"
    return _spectrum(matrix, tolerance) + note


def _fixed(matrix: Matrix) -> Vector:
    """The unit vector that a map fixes, its first largest entry positive."""
    _, _, right = np.linalg.svd(matrix - np.eye(len(matrix)))
    return right[-1] * np.sign(right[-1][first_largest(right[-1])])


def axis_words(axis: Vector, names: Sequence[str], tolerance: float) -> str:
    """A direction by the name of its axis, in small whole numbers, or as a unit vector.

    >>> axis_words(np.array([1.0, 1.0, -1.0]) / 3**0.5, "xyz", 1e-6)
    '(1, 1, −1)'
    """
    largest = first_largest(axis)
    others = np.delete(axis, largest)
    if (abs(others) <= 4 * tolerance).all():
        return names[largest]
    smallest = abs(axis)[abs(axis) > 4 * tolerance].min()
    whole = axis / smallest
    if abs(whole).max() < LARGEST_WHOLE + 0.5 and (
        abs(whole - whole.round()).max() <= 10 * tolerance / smallest
    ):
        return f"({', '.join(number(value) for value in whole.round().tolist())})"
    return vector(axis)


def degrees(angle: float) -> str:
    """An angle in degrees, whole where that is exact to a hundredth.

    >>> degrees(math.pi / 2), degrees(-2 * math.pi / 7), degrees(-math.pi)
    ('90°', '−51.43°', '180°')
    """
    value = round(math.degrees(angle), 2)
    return f"{number(180.0 if value == -180 else value)}°"


def _spectrum(matrix: Matrix, tolerance: float) -> str:
    """Words for a map of many dimensions, by its eigenvalues."""
    values = np.linalg.eigvals(matrix.astype(np.complex128))
    near = max(1e-3, 10 * tolerance)
    if (abs(abs(values) - 1) > near).any():
        shown = sorted({f"{number(float(abs(value)))}" for value in values})
        return f"linear map with eigenvalues of size {listed(shown)}"
    reversed_ = int((abs(values + 1) <= near).sum())
    turned = [value for value in values if value.imag > near]
    angles = sorted(
        {degrees(float(np.angle(value))): float(np.angle(value)) for value in turned}.items(),
        key=lambda pair: pair[1],
    )
    parts = []
    if turned:
        planes = f" in {len(turned)} planes" if len(turned) > 1 else " in a plane"
        parts.append(f"rotation by {listed([text for text, _ in angles])}{planes}")
    if reversed_:
        parts.append(
            "reflection" if reversed_ == 1 else f"reversal of a subspace of dimension {reversed_}"
        )
    if is_unbounded(torch.from_numpy(matrix)):
        parts.append("shear")
    return " with ".join(parts)


def _with_point(
    words: str, linear: Matrix, shift: Vector, names: Sequence[str], *, tolerance: float
) -> str:
    """Words for x → Lx + t: those for L, the fixed point nearest the origin, and what remains of a translation."""
    centre = np.linalg.pinv(np.eye(len(linear)) - linear, rcond=1e-6) @ shift
    rest = shift - (centre - linear @ centre)
    further = words
    if (abs(centre) >= 0.005).any():
        flipped = int(abs(centre).argmax())
        plain = f"reflection {names[flipped]} → −{names[flipped]}"
        if words == plain and not (abs(rest) > 10 * tolerance).any():
            return f"reflection {names[flipped]} → {number(2 * centre[flipped])} − {names[flipped]}"
        through = "reflection" in words or " about " in words
        further += f" {'through' if through else 'about'} the point {vector(centre)}"
    if (abs(rest) > 10 * tolerance).any():
        further += f" with translation by {vector(rest)}"
    return further
