r"""Name the algebra that matrices span, in any basis, with distance, alternatives and reasons.

Every known algebra near the span is fitted to it with free coordinates (`liegg.algebra.fit`). That
gives each a distance and the uncertainty it needs: the error of a unit generator that would explain
that distance. Of those that the uncertainty admits, the one from the smallest family is named,
because an algebra can always be stretched until it looks like a simpler one, never the other way
round. A span outside these families is named by its structure constants; what those do not decide
is unknown.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.bracket import killing_eigenvalues, structure_constants
from liegg.algebra.closure import Closure, closure, generated, nearest_closed
from liegg.algebra.explanations import closure_reason, fit_reason, form_reasons, open_reason, rivals
from liegg.algebra.families.candidates import (
    CONFIDENT_MARGIN,
    PLAUSIBLE_STRETCH,
    Candidate,
    candidates,
    margin_of,
    simplest,
)
from liegg.algebra.fit import REFUSAL_CHANCE, chi_square
from liegg.algebra.forms.forms import preserved, preserved_forms
from liegg.algebra.identification import Identification
from liegg.algebra.structure.abstract import abstract_name
from liegg.algebra.structure.real_forms import UNKNOWN
from liegg.algebra.subspace import canonical, checked_generators, checked_uncertainty
from liegg.algebra.words.names import meaning, other_names
from liegg.algebra.words.wording import coordinate_names

EXACT_DOUBLE = 1e-9
"""Uncertainty of matrices that are exact up to rounding, at condition numbers up to 100."""

EXACT_SINGLE = 1e-5
"""The same for matrices in float32 or less."""

LARGEST_ESTIMATED_NOISE = 0.05
"""Largest uncertainty that is taken from brackets alone (3°), so that no other span passes."""

LARGEST_CONFIDENT_NOISE = 0.3
"""Uncertainty beyond which no name is confident (17°): rotations and shears then look alike."""

SECOND_ORDER_FACTOR = 3.0
"""Multiple of the squared uncertainty up to which noise in brackets is of second order."""

COINCIDENCE_CHANCE = 1e-4
"""Largest chance of coincidence for a name without a stated uncertainty."""

SMALLEST_SEARCH_NOISE = 1e-7
"""Smallest noise with which candidates are searched, so that rounding does not hide one."""

STRUCTURE_TOLERANCE = 1e-8
"""Relative tolerance for ranks of the structure constants of exact matrices."""

LARGEST_EQUATIONS = 2e7
"""Numbers in the equations of the coordinates, dn⁴, up to which matrices are identified.

Takes seconds at most."""


@checked()
def identify(
    generators: Tensor | Iterable[Any],
    *,
    uncertainty: Any = None,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool | None = None,
) -> Identification:
    """Name the Lie algebra that matrices span, in any basis and any coordinates.

    Args:
        generators: matrices `[d, n, n]`: a tensor, an array or a list of them. Dependent ones are
            reduced, and a note says so.
        uncertainty: relative error of a unit generator, which is the angle in radians by which it
            is off; one number, or one per generator, of which the root mean square is taken. By
            default it is estimated from how far the span is from closed under the bracket. That
            carries no information about a single matrix, which is then taken to be exact.
        coordinates: names of the coordinates, for the words.
        homogeneous: whether the matrices are affine, with a zero last row. By default they are if
            their last rows are zero and their last columns are not.

    Returns:
        The identification; `name` is "unknown" where nothing fits or the uncertainty is too large
        to decide.

    Raises:
        ArgumentError: no matrices, not square, complex, not finite, or an invalid uncertainty.

    Examples:
        >>> from liegg.algebra import so
        >>> frame = torch.tensor(
        ...     [[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 0.0, 1.0]], dtype=torch.float64
        ... )
        >>> identify(frame @ so(3) @ torch.linalg.inv(frame)).name
        'so(3)'
    """
    tensor = _as_tensor(generators)
    matrices = checked_generators(tensor)
    if len(matrices) and float(size := matrices.abs().max()) > 0:
        matrices = matrices / size  # squares of very large or small numbers would overflow
    if too_large(len(matrices), matrices.shape[1]):
        return unseen(len(matrices), matrices.shape[1])
    single = tensor.is_floating_point() and tensor.dtype != torch.float64
    floor = EXACT_SINGLE if single else EXACT_DOUBLE
    span = _independent(matrices, tolerance=1e-5 if single else 1e-10)
    error = _checked_error(uncertainty, len(matrices))
    affine = _is_affine(span, homogeneous)
    record = Identification(
        UNKNOWN,
        span,
        span,
        estimated=error is None,
        uncertainty=error or 0.0,
        notes=(
            Diagnosis.DEPENDENT_GENERATORS(
                given=len(matrices), dependent=len(matrices) - len(span), dimension=len(span)
            ),
        )
        if len(span) < len(matrices)
        else (),
        homogeneous=affine,
        coordinates=None
        if coordinates is None
        else coordinate_names(matrices.shape[1] - affine, coordinates),
    )
    if not len(span):
        return _with_margin(record, math.inf, name="0", angle=0.0, meaning=meaning("0"))
    closed = closure(span, uncertainty=error or 0.0, affine=affine)
    return _by_family(replace(record, closure=closed), closed, error, floor)


def too_large(count: int, side: int) -> bool:
    """Whether `count` matrices of this side are too large to be identified."""
    return count * side**4 > LARGEST_EQUATIONS


def unseen(count: int, side: int, reason: str | None = None) -> Identification:
    """The record of matrices that were not identified.

    Args:
        count: number of matrices, taken to be independent.
        side: their side.
        reason: why they were not identified; by default because they are too large.
    """
    empty = torch.zeros(0, side, side, dtype=torch.float64)
    if reason is None:
        reason = Diagnosis.TOO_LARGE_TO_IDENTIFY(count=count, side=side)
    remark = reason if isinstance(reason, Remark) else Diagnosis.TEXT(text=reason)
    return Identification(UNKNOWN, empty, empty, reasons=(remark,), unseen=count)


def _with_margin(record: Identification, margin: float, **fields: Any) -> Identification:
    """A named record: the margin decides whether it is confident."""
    return replace(record, margin=margin, confident=margin >= CONFIDENT_MARGIN, **fields)


def _by_family(
    record: Identification, closed: Closure, error: float | None, floor: float
) -> Identification:
    """Name the span by the known algebras near it; where none fits, by its structure constants."""
    noise = _allowed_noise(error, closed, floor)
    search_noise = max(noise, SMALLEST_SEARCH_NOISE)
    near = candidates(record.span, search_noise, stop_early=noise <= floor)
    if record.homogeneous and noise > floor:
        # An algebra that moves every covector is not affine, however little it moves one of them.
        near = [one for one in near if len(preserved("covectors", one.fit.generators).answers)]
    resolved = [one for one in near if not one.stretched(search_noise)]
    noise = min([noise, *(max(one.fit.at_most(), floor) for one in resolved if one.fit.freedom)])
    choice = simplest(near, noise, 1.0 if error is not None else COINCIDENCE_CHANCE)
    alternatives = rivals(resolved, choice, noise, floor)
    record = replace(record, uncertainty=noise, alternatives=alternatives)
    if choice is None:
        largest = LARGEST_ESTIMATED_NOISE if error is None else max(error, SMALLEST_SEARCH_NOISE)
        return _by_structure(record, closed, largest, floor)
    exact = canonical(choice.fit.generators)
    forms = preserved_forms(exact)
    simpler = _simpler_algebra(record, choice, near)
    vague = bool(simpler) or noise > LARGEST_CONFIDENT_NOISE
    name, aliases, words = _names(choice, exact, homogeneous=record.homogeneous)
    named = _with_margin(
        record,
        min(margin_of(choice, near, noise), 1.0 if vague else math.inf),
        name=name,
        generators=exact,
        aliases=aliases,
        meaning=words,
        angle=choice.fit.angle,
        reasons=(
            closure_reason(closed),
            *form_reasons(forms),
            fit_reason(choice, noise, floor),
            *simpler,
        ),
    )
    vars(named)["forms"] = forms  # cached there on demand: not computed again
    return named


def _simpler_algebra(
    record: Identification, choice: Candidate, near: list[Candidate]
) -> tuple[Remark, ...]:
    """Point out a simpler algebra near a single matrix named in implausible coordinates.

    Nothing tells whether the small difference is error, since brackets carry no information about a
    single matrix.
    """
    if not record.estimated or len(record.span) > 1 or choice.stretch <= PLAUSIBLE_STRETCH:
        return ()
    simpler = [
        one.name
        for one in near
        if one.fit.orbit < choice.fit.orbit and one.fit.needs() <= LARGEST_ESTIMATED_NOISE
    ]
    return tuple(
        Diagnosis.NEAR_SIMPLER_ALGEBRA(name=name, uncertainty=LARGEST_ESTIMATED_NOISE)
        for name in simpler[:1]
    )


def _names(
    choice: Candidate, exact: Tensor, *, homogeneous: bool
) -> tuple[str, tuple[str, ...], str]:
    """Name, other names and meaning.

    A semidirect sum may have a better name as an abstract algebra.
    """
    member = choice.member
    if "⋉" in member.name:
        abstract = abstract_name(structure_constants(exact))
        if abstract.name != UNKNOWN and "⋉" not in abstract.name:
            return abstract.name, abstract.aliases[1:], meaning(member.name)
    words = meaning(member.name, homogeneous=homogeneous, dual=member.dual, copies=member.copies)
    return member.name, other_names(member.name), words


def _by_structure(
    record: Identification, closed: Closure, largest_noise: float, floor: float
) -> Identification:
    """Name the span by its structure constants; unknown where it is not closed or noise decides."""
    # Small constants of noisy matrices are not constants.
    exact = closed.rms <= floor and record.uncertainty <= floor
    if not exact and closed.noise > 3 * largest_noise:
        dimension = len(generated(record.span, tolerance=0.1))
        return replace(record, reasons=(open_reason(closed, dimension),))
    if len(record.span) == 1:
        return _one_parameter(record, largest_noise, floor)
    near = nearest_closed(record.span)
    basis = record.span if exact else near.generators
    constants = structure_constants(basis)
    double = floor == EXACT_DOUBLE
    abstract = abstract_name(
        constants, tolerance=STRUCTURE_TOLERANCE if double else math.sqrt(STRUCTURE_TOLERANCE)
    )
    # Noise changes an algebra into others that differ by small structure constants, unless the
    # Killing form is clearly regular.
    values = killing_eigenvalues(constants).abs()
    regular = near.converged and float(values.max()) > 0
    regularity = float(values.min() / values.max()) if regular else 0.0
    margin = math.inf if exact else regularity / (10 * record.uncertainty)
    if margin < 1:
        noise = Diagnosis.HIDDEN_BY_NOISE(degrees=math.degrees(record.uncertainty))
        return replace(record, reasons=(closure_reason(closed), noise))
    if abstract.name == UNKNOWN:
        return replace(record, reasons=(closure_reason(closed), *abstract.reasons))
    basis = canonical(basis)
    return _with_margin(
        record,
        margin,
        name=abstract.name,
        generators=basis,
        aliases=abstract.aliases[1:],
        meaning=meaning(abstract.name, usual=False) if exact else "",
        angle=0.0 if exact else near.moved,
        reasons=(closure_reason(closed), *form_reasons(preserved_forms(basis)), *abstract.reasons),
    )


def _one_parameter(record: Identification, largest_noise: float, floor: float) -> Identification:
    """Name a single matrix of no special kind, and point out a special kind near it."""
    near = rivals(candidates(record.span, largest_noise), None, record.uncertainty, floor)
    margin = min((rival.needs / largest_noise for rival in near), default=math.inf)
    reasons = [Diagnosis.ONE_PARAMETER_GROUP(), *form_reasons(preserved_forms(record.span))]
    if record.estimated and margin < CONFIDENT_MARGIN:
        reasons.append(Diagnosis.NEAR_SIMPLER_ALGEBRA(name=near[0].name, uncertainty=largest_noise))
    return _with_margin(
        record,
        margin,
        name="R",
        meaning=meaning("R"),
        angle=0.0,
        alternatives=near,
        reasons=tuple(reasons),
    )


def _as_tensor(generators: Tensor | Iterable[Any]) -> Tensor:
    if isinstance(generators, Tensor):
        return generators.detach()
    try:
        matrices = [_matrix(matrix) for matrix in generators]
        if matrices:
            return torch.stack(matrices)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = type(generators).__name__
        raise ArgumentError(
            f"generators of type {kind}; expected matrices of one size, [d, n, n]. ({error})"
        ) from error
    raise ArgumentError(
        "no generators given; expected matrices [d, n, n], for example liegg.identify(liegg.so(3))."
    )


def _matrix(matrix: Any) -> Tensor:
    """A tensor or array as it is; Python numbers as float64, since they are exact."""
    if isinstance(matrix, Tensor):
        return matrix.detach()
    return torch.as_tensor(matrix, dtype=None if hasattr(matrix, "dtype") else torch.float64)


def _independent(matrices: Float[Tensor, "d n n"], tolerance: float) -> Float[Tensor, "r n n"]:
    """Orthonormal generators of the span; every matrix counts the same, whatever its size."""
    sizes = matrices.flatten(1).norm(dim=1)
    rows = matrices.flatten(1)[sizes > 0] / sizes[sizes > 0, None]
    return orthonormal_rows(rows, tolerance=tolerance).unflatten(1, matrices.shape[1:])


def _checked_error(uncertainty: Any, count: int) -> float | None:
    """Root mean square of the stated uncertainty; None where it is to be estimated."""
    if uncertainty is None:
        return None
    try:
        errors = torch.as_tensor(uncertainty, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        errors = torch.tensor(-1.0)
    if isinstance(uncertainty, bool) or bool((errors < 0).any()):
        raise ArgumentError(
            f"uncertainty={uncertainty!r}; expected the relative error of a unit generator, "
            "for example 0.01."
        )
    if errors.ndim and tuple(errors.shape) != (count,):
        raise ArgumentError(
            f"uncertainty has shape {tuple(errors.shape)}; expected one number, "
            f"or one for each of {count} generators."
        )
    error = checked_uncertainty(float(errors.square().mean().sqrt()))
    if error >= math.pi / 2:
        raise ArgumentError(
            f"uncertainty={uncertainty!r} is an angle in radians by which a generator is off; from "
            "π/2 on nothing is known about it. Expected less, for example 0.01."
        )
    return error


def _is_affine(span: Float[Tensor, "d n n"], homogeneous: bool | None) -> bool:
    """Whether the matrices are affine: as stated, or if only their last rows are zero."""
    zero = bool((span[:, -1:].abs() <= 1e-12).all())
    if homogeneous is None:
        return zero and span.shape[1] > 1 and bool((span[:, :, -1:].abs() > 1e-12).any())
    if homogeneous and not zero:
        raise ArgumentError(
            "homogeneous=True, but a last row is not zero; affine generators are [[a, t], [0, 0]]."
        )
    return homogeneous


def _allowed_noise(error: float | None, closed: Closure, floor: float) -> float:
    """Uncertainty to work with: as stated, but not more than the brackets support.

    Else what they suggest.

    Both are doubled, since brackets give it only roughly, and the first is raised further where few
    numbers support it. Brackets of translations show affine noise only to second order, and support
    nothing.
    """
    second_order = error is not None and closed.explained <= SECOND_ORDER_FACTOR * error**2
    if math.isnan(closed.noise) or second_order:
        return max(error or 0.0, floor)
    if error is None:
        return min(max(2 * closed.noise, floor), LARGEST_ESTIMATED_NOISE)
    # At least one number in each direction out of the span for every generator.
    numbers = len(closed.residuals) * 2
    factor = max(2.0, math.sqrt(numbers / chi_square(numbers, REFUSAL_CHANCE)))
    return max(min(error, factor * closed.noise), floor)
