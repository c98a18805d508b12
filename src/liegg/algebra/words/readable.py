"""Readable generators: with few entries, in words, and in the frame of a form."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Float, Num
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.algebra.catalog import so
from liegg.algebra.forms.frame import frame_of
from liegg.algebra.subspace import checked_uncertainty, principal_angles
from liegg.algebra.words.describe import describe
from liegg.algebra.words.sparse import sparse_basis
from liegg.algebra.words.wording import coordinate_names

WORD_DEVIATIONS = 5.0
"""Standard deviations of noise that words leave out; an entry's is the error over the side of the matrix."""

EQUAL_ENTRIES = 1e-6
"""Relative difference up to which entries count as equal, where no uncertainty is given."""

LARGEST_WORD_TOLERANCE = 0.24
"""Largest share of the largest entry that words leave out."""

LARGEST_ROUNDED_ERROR = 0.1
"""Error in radians up to which entries are rounded; those of a larger one say nothing."""

LARGEST_FRAME_ANGLE = 0.3
"""Angle in radians beyond which a span is not taken for so(p, q), however uncertain it is."""


@dataclass(frozen=True, eq=False)
class Readable:
    """A span in its most readable basis.

    Attributes:
        generators: few nonzero entries, in the original coordinates (`sparse_basis`).
        words: what each of them does.
        frame: columns are the axes of the frame, in original coordinates; None if neither form nor
            frame was given.
        framed: basis of the span in the frame, `frame⁻¹ A frame`: rotations first, then boosts,
            then all others. Not the images of `generators` one by one.
        framed_words: what each of `framed` does; the axes of the frame are named like the
            coordinates they are nearest to, with a prime where the frame is not the identity.
        rotations: number of `framed` generators that are antisymmetric.
        boosts: number of `framed` generators that are symmetric without a diagonal.
    """

    generators: Float[Tensor, "d n n"]
    words: tuple[str, ...]
    frame: Float[Tensor, "n n"] | None = None
    framed: Float[Tensor, "d n n"] | None = None
    framed_words: tuple[str, ...] = ()
    rotations: int = 0
    boosts: int = 0

    @property
    def frame_changes_words(self) -> bool:
        """Whether the words in the frame say more than the plain ones, primes aside."""
        plain, framed = (
            tuple(text.replace("′", "") for text in words)
            for words in (self.words, self.framed_words)
        )
        return bool(framed) and framed != plain


def adapted(
    generators: Num[Tensor, "d ..."],
    *,
    form: Float[Tensor, "m m"] | None = None,
    frame: Float[Tensor, "m m"] | None = None,
    homogeneous: bool = False,
    coordinates: Sequence[str] | None = None,
    uncertainty: float = 0.0,
) -> Readable:
    """The most readable basis of a span, in words, and one in the frame where a form is diag(±1).

    Args:
        generators: any basis of the span.
        form: a symmetric, non-degenerate form that the span preserves; on R^(n-1) if the generators
            are homogeneous.
        frame: axes as columns, the standard frame of the algebra, of the size of the form;
            `frame_of(form)` by default.
        homogeneous: whether the generators are affine, with a zero last row.
        coordinates: names of the coordinates; x₁, x₂, ... otherwise.
        uncertainty: error of each unit generator in radians; entries that it explains are rounded.

    Returns:
        The record. If the span is all of so(p, q) in the frame, within the uncertainty, `framed` is
        exactly that.

    Raises:
        ArgumentError: shapes that do not match, a singular form or frame, or what `describe`
            refuses.

    Examples:
        >>> from liegg.algebra import so
        >>> metric = torch.diag(torch.tensor([1.0, -1.0, -1.0], dtype=torch.float64))
        >>> adapted(so(1, 2), form=metric, coordinates=("t", "x", "y")).framed_words
        ('rotation in x–y', 'boost along x (time t)', 'boost along y (time t)')
    """
    rounding = min(checked_uncertainty(uncertainty), LARGEST_ROUNDED_ERROR)
    basis = sparse_basis(generators, uncertainty=rounding)
    n = basis.shape[1]
    inner = n - homogeneous
    names = coordinate_names(inner, coordinates)
    for given, what in ((form, "form"), (frame, "frame")):
        if given is not None and given.shape != (inner, inner):
            raise ArgumentError(
                f"the {what} has shape {tuple(given.shape)}; "
                f"expected ({inner}, {inner}), one axis per coordinate."
            )
    words = partial(describe, homogeneous=homogeneous, tolerance=word_tolerance(n, uncertainty))
    plain = Readable(basis, tuple(words(a, coordinates=names, form=form) for a in basis))
    if frame is not None:
        frame = frame.double()
        if not bool(frame.isfinite().all()) or not float(torch.linalg.cond(frame)) < 1e12:
            raise ArgumentError(
                "the frame is singular or not finite; expected independent axes as columns."
            )
    elif form is not None:
        frame = frame_of(form)
    else:
        return plain
    return with_frame(
        plain,
        generators,
        frame=frame,
        form=form,
        homogeneous=homogeneous,
        coordinates=names,
        uncertainty=uncertainty,
    )


def words_of_each(
    generators: Num[Tensor, "d n n"],
    *,
    coordinates: Sequence[str] | None,
    homogeneous: bool,
    tolerance: float,
) -> tuple[str, ...]:
    """Words for each generator alone: those of the readable basis of the line that it spans.

    So a generator has the same words wherever it is described.

    Args:
        generators: the matrices.
        coordinates: names of the coordinates; x₁, x₂, ... otherwise.
        homogeneous: whether they are affine, with a zero last row.
        tolerance: entries below this share of the largest count as zero, see `word_tolerance`;
            above a millionth they are also rounded, as far as the same error explains it.
    """
    error = tolerance / _share(generators.shape[1])
    names = {"coordinates": coordinates, "homogeneous": homogeneous}
    words = []
    for matrix in generators:
        if tolerance > EQUAL_ENTRIES and bool(matrix.any()):
            words += adapted(matrix[None], **names, uncertainty=error).words
        else:
            words.append(describe(matrix, **names, tolerance=tolerance))
    return tuple(words)


def word_tolerance(n: int, uncertainty: float) -> float:
    """Share of the largest entry of a matrix within which entries are equal: five deviations of noise.

    But no more than the error itself, which one entry cannot exceed: a rotation about another point
    is called that. The one rule for words, whoever asks: print, page, figures, verification or
    comparison.

    Args:
        n: side of the matrix.
        uncertainty: error of a unit generator in radians.

    Examples:
        >>> word_tolerance(3, 0.0), word_tolerance(3, 0.03), word_tolerance(10, 0.03)
        (1e-06, 0.03, 0.015)
    """
    return min(max(EQUAL_ENTRIES, _share(n) * uncertainty), LARGEST_WORD_TOLERANCE)


def _share(n: int) -> float:
    """Share of an error that one entry of a matrix of side n may have."""
    return min(WORD_DEVIATIONS / n, 1.0)


def with_frame(
    plain: Readable,
    generators: Num[Tensor, "d n n"],
    *,
    frame: Float[Tensor, "m m"],
    form: Float[Tensor, "m m"] | None,
    homogeneous: bool,
    coordinates: Sequence[str] | None,
    uncertainty: float,
    error: float | None = None,
) -> Readable:
    """Add the basis in a frame to a readable basis.

    Arguments are those of `adapted`; `error` is what words leave out, by default the uncertainty.
    """
    metric = None if form is None else frame.mT @ form.to(frame) @ frame
    inner, n = len(frame), generators.shape[1]
    extended = torch.block_diag(frame, torch.eye(n - inner).to(frame))
    framed, rotations, boosts = _in_frame(
        generators, extended, None if homogeneous else metric, uncertainty
    )
    same = torch.allclose(frame, torch.eye(inner).to(frame), rtol=0, atol=EQUAL_ENTRIES)
    names = coordinate_names(inner, coordinates)
    primed = names if same else tuple(f"{name}′" for name in names)
    words = partial(
        describe,
        homogeneous=homogeneous,
        tolerance=word_tolerance(n, uncertainty if error is None else error),
    )
    return replace(
        plain,
        frame=extended,
        framed=framed,
        framed_words=tuple(words(a, coordinates=primed, form=metric) for a in framed),
        rotations=rotations,
        boosts=boosts,
    )


def _in_frame(
    generators: Tensor, frame: Tensor, metric: Tensor | None, uncertainty: float
) -> tuple[Float[Tensor, "d n n"], int, int]:
    """Basis in a frame, rotations first, then boosts; with their numbers."""
    n = len(frame)
    basis = sparse_basis(generators, uncertainty=uncertainty, frame=frame)
    if metric is not None and len(basis) == n * (n - 1) // 2 > 0:
        # E_ji - signs[i] signs[j] E_ij for i < j: like `so(p, q)`, with signs in any order,
        # positive boosts.
        lower, signs = so(n).clamp(min=0), metric.diagonal().sign()
        full = lower - signs[:, None] * lower.mT * signs
        image = frame @ full @ torch.linalg.inv(frame)
        # The error of a form computed from the same generators is their uncertainty times the
        # squared condition number of its frame; measured, a tenth of that reaches the span.
        growth = max(5.0, float(torch.linalg.cond(frame)) ** 2 / 10)
        angle = float(principal_angles(image.flatten(1), generators.to(image).flatten(1))[-1])
        if angle <= max(EQUAL_ENTRIES, min(growth * uncertainty, LARGEST_FRAME_ANGLE)):
            basis = full
    tolerance = word_tolerance(n, uncertainty) * basis.flatten(1).abs().amax(1)[:, None, None]
    rotations = ((basis + basis.mT).abs() <= tolerance).flatten(1).all(1)
    symmetric = ((basis - basis.mT).abs() <= tolerance).flatten(1).all(1)
    boosts = ~rotations & symmetric & (basis.diagonal(dim1=1, dim2=2) == 0).all(1)
    order = torch.argsort(2 - 2 * rotations.int() - boosts.int(), stable=True)
    return basis[order], int(rotations.sum()), int(boosts.sum())
