"""Words for the motion that a generator makes: rotation, shear, scaling and so on."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.subspace import checked_matrix
from liegg.algebra.words.motions import Matrix, Motion, View, parts, simple
from liegg.algebra.words.wording import (
    CONSTANTS,
    Vector,
    coordinate_names,
    direction,
    listed,
    number,
    vector,
)


def describe(
    generator: Num[Tensor, "..."],
    *,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool = False,
    form: Float[Tensor, "m m"] | None = None,
    tolerance: float = 1e-6,
) -> str:
    """Words for the motion x' = Ax: "rotation in x₁–x₂", "shear of x by y", "uniform scaling".

    Neither the size of the generator nor its sign matters. A sum of two simple motions is the first
    "with" the second, whose amount is relative to the first. Any other motion is described by the
    eigenvalues of the matrix as given.

    Args:
        generator: the matrix A.
        coordinates: names of the coordinates; x₁, x₂, ... otherwise.
        homogeneous: whether A is `[[L, t], [0, 0]]`, the affine motion x' = Lx + t.
        form: a metric on the coordinates. If it is diagonal and the motion preserves it, then axes
            of opposite sign make a boost, which without a form is a hyperbolic rotation, and
            rotations are those of the metric. The one axis whose sign differs from at least two
            others is the time. Other forms say nothing about the coordinates.
        tolerance: entries below this share of the largest count as zero, and entries within twice
            that as equal; below 0.25.

    Returns:
        The words; "no motion" for zero.

    Raises:
        ArgumentError: not a square matrix, not finite, homogeneous without a zero last row, or a
            wrong number of names.

    Examples:
        >>> from liegg.algebra import se, so
        >>> describe(so(3)[1])
        'rotation in x₁–x₃'
        >>> describe(se(2)[0] + 2 * se(2)[1] - se(2)[2], homogeneous=True)
        'rotation about the point (1.0, 2.0)'
        >>> describe(
        ...     so(1, 3)[0],
        ...     coordinates=("t", "x", "y", "z"),
        ...     form=torch.diag(torch.tensor([1.0, -1.0, -1.0, -1.0])),
        ... )
        'boost along x (time t)'
    """
    matrix = checked_matrix(generator, "generator").detach().numpy()
    if not 0 <= tolerance < 0.25:
        raise ArgumentError(
            f"tolerance is {tolerance}; expected a share of the largest entry below 0.25, "
            "for example 1e-6."
        )
    n = len(generator) - homogeneous
    names = coordinate_names(n, coordinates)
    if form is not None and form.shape != (n, n):
        raise ArgumentError(
            f"the form has shape {tuple(form.shape)}; expected ({n}, {n}), one axis per coordinate."
        )
    size = float(abs(matrix).max()) if matrix.size else 0.0
    if size == 0:
        return "no motion"
    matrix = np.where(abs(matrix) > tolerance * size, matrix / size, 0.0)
    if homogeneous and matrix[n].any():
        raise ArgumentError(
            f"the last row of the generator is {matrix[n].tolist()}; "
            "expected zeros, as homogeneous matrices have."
        )
    constant = [not homogeneous and name in CONSTANTS for name in names]
    if any(constant) and not matrix[constant].any():
        return _of_product(matrix, names, size, tolerance)
    linear, shift = matrix[:n, :n], matrix[:n, n:].sum(1)
    if not linear.any():
        return f"translation along {direction(shift, names, tolerance)[0]}"
    scale, signs = _metric(linear, form, tolerance)
    return _motion(scale[:, None] * linear / scale, shift, View(names, signs, tolerance), size)


def _motion(linear: Matrix, shift: Vector, view: View, size: float) -> str:
    """Words for the motion x' = Lx + t."""
    words, motion = _linear(linear, view, size)
    further = _affine(linear, shift, motion, view) if shift.any() else ""
    if further.startswith(" about") and words == f"rotation in {'–'.join(view.names)}":
        return f"rotation{further}"  # of the whole plane
    return words + further


def _of_product(matrix: Matrix, names: tuple[str, ...], size: float, tolerance: float) -> str:
    """Words for a motion of a product, some of whose axes are always 1."""
    kept = [i for i, name in enumerate(names) if name not in CONSTANTS]
    linear = matrix[np.ix_(kept, kept)]
    if not linear.any():
        return _offsets(matrix, names, tolerance)
    # All constant axes are the same number, so that they are one.
    shift = matrix[kept].sum(1) - linear.sum(1)
    view = View(tuple(names[i] for i in kept), None, tolerance)
    return _motion(linear, shift, view, size)


def _offsets(matrix: Matrix, names: tuple[str, ...], tolerance: float) -> str:
    """Words for the motion of a product that only shifts: each of its parts in its own words."""
    motions = []
    for column in np.flatnonzero(matrix.any(0)).tolist():
        noun, preposition = CONSTANTS[names[column]]
        moved = np.flatnonzero(matrix[:, column]).tolist()
        values = matrix[moved, column]
        own = [names[i] for i in moved]
        if noun == "offset" and abs(values - values[0]).max() <= 2 * tolerance:
            text, speed = listed(own), float(values[0])
        else:
            text, speed = direction(values, own, tolerance)
            text = text if len(own) == 1 else f"{text} of {listed(own)}"
        motions.append(Motion(noun, f" {preposition} {text}", speed))
    first, *others = motions
    return " with ".join([str(first), *(motion.beside(first) for motion in others)])


def _metric(
    linear: Matrix, form: Tensor | None, tolerance: float
) -> tuple[Vector, tuple[int, ...] | None]:
    """Scales of the axes in which a diagonal form is diag(±1), and its signs.

    Ones and None if it does not apply.
    """
    ones = np.ones(len(linear))
    if form is None:
        return ones, None
    metric = form.to(torch.float64).numpy()
    metric = metric / abs(metric).max()
    weights, image = metric.diagonal(), metric @ linear
    off_diagonal = abs(metric - np.diag(weights))
    if off_diagonal.max() > tolerance or abs(weights).min() <= tolerance:
        return ones, None
    signs = tuple(int(sign) for sign in np.sign(weights))
    if (abs(weights) >= 1 - 2 * tolerance).all():
        return ones, signs
    preserved = (abs(image + image.T) <= 2 * tolerance).all()
    return (np.sqrt(abs(weights)), signs) if preserved else (ones, None)


def _linear(matrix: Matrix, view: View, size: float) -> tuple[str, Motion]:
    """Words for a linear motion, and the motion to which further amounts are relative."""
    motion = simple(matrix, view)
    if motion is not None:
        return str(motion), motion
    for one, two in parts(matrix, view):
        if (first := simple(one, view)) and (second := simple(two, view)):
            return f"{first} with {second.beside(first)}", first
    words = _spectrum(matrix, view, size)
    return words, Motion(words, "", 1 / size)


def _affine(linear: Matrix, shift: Vector, motion: Motion, view: View) -> str:
    """Further words for x' = Lx + t = L(x - c) + s: a centre c, and a remaining translation s."""
    centre = -np.linalg.pinv(linear, rcond=max(1e-9, view.tolerance)) @ shift
    rest = shift + linear @ centre
    words = ""
    if not view.zero(centre) and (abs(centre) >= 0.005).any():  # which two decimals show
        has_axis = motion.where.startswith(" about the axis ")
        words += f" {'through' if has_axis else 'about'} the point {vector(centre)}"
    if not view.zero(rest):
        text, length = direction(rest, view.names, view.tolerance)
        words += f" with {Motion('translation', f' along {text}', length).beside(motion)}"
    return words


def _spectrum(matrix: Matrix, view: View, size: float) -> str:
    if view.zero(np.linalg.matrix_power(matrix, len(matrix))):
        rank = np.linalg.matrix_rank(matrix, tol=view.tolerance * np.linalg.norm(matrix, 2))
        return f"nilpotent linear map of rank {rank}"
    counts: Counter[str] = Counter()
    values = np.linalg.eigvals(matrix.astype(np.complex128)).tolist()
    # Four decimals: the eigenvalues of a Jordan block are not known better.
    rounded = [(round(value.real, 4), round(value.imag, 4)) for value in values]
    for real, imaginary in sorted(rounded, reverse=True):
        if imaginary > 0:
            lead = f"{number(real * size)} ± " if real else "±"
            counts[f"{lead}{number(imaginary * size)}i"] += 1
        elif not imaginary:
            counts[number(real * size)] += 1
    texts = [text + (f" (×{count})" if count > 1 else "") for text, count in counts.items()]
    return f"linear map with eigenvalues {listed(texts)}"
