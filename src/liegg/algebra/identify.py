r"""Which algebra is it? A name for a span of matrices, whatever the basis, with its distance, its rivals and the reasons.

Every known algebra near the span is fitted to it with its coordinates left free (`liegg.algebra.fit`), which gives each a distance
and the uncertainty it needs: the error of a unit generator that would explain that distance. Of those that the uncertainty admits
the one from the smallest family is named, because an algebra can always be stretched until it looks like a simpler one, never the
other way round. What is in no list is named by its structure constants, and what those do not decide is called unknown.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.linalg import orthonormal_rows
from liegg.algebra.bracket import killing_form, structure_constants
from liegg.algebra.closure import Closure, closure, generated, nearest_closed
from liegg.algebra.explanations import closure_reason, fit_reason, form_reason, open_reason, rivals
from liegg.algebra.families.candidates import PLAUSIBLE, Candidate, candidates
from liegg.algebra.families.choice import MARGIN, margin_of, simplest
from liegg.algebra.fit import CHANCE, chi_square
from liegg.algebra.forms.forms import preserved_forms
from liegg.algebra.identification import Identification
from liegg.algebra.structure.abstract import abstract_name
from liegg.algebra.structure.real_forms import UNKNOWN
from liegg.algebra.subspace import canonical, checked_generators, checked_uncertainty
from liegg.algebra.words.names import meaning, other_names

EXACT = 1e-9
"""Uncertainty of matrices that are exact but for rounding, in coordinates stretched by up to 100."""

EXACT_SINGLE = 1e-5
"""The same for matrices that came in float32 or less."""

LARGEST_NOISE = 0.05
"""Largest uncertainty that is believed from brackets alone (3°): beyond, a span that is no algebra may pass for one."""

VAGUE = 0.3
"""Uncertainty beyond which no name is sure (17°): a turn, a shear and a scaling then lie within each other's errors."""

BLIND = 3.0
"""Multiple of the stated uncertainty up to which the share of noise that shows in brackets may itself be made by noise."""

LUCK = 1e-4
"""Largest chance that a span which is no algebra comes as near, for a name without a stated uncertainty."""

PRUNING = 1e-7
"""Smallest noise with which candidates are looked for, so that rounding does not hide one."""

STRUCTURE = 1e-8
"""Relative tolerance of ranks of the structure constants of exact matrices."""

LARGEST = 2e7
"""Numbers in the equations of the coordinates, dn⁴, up to which matrices are identified, so that it takes seconds at most."""


def identify(
    generators: Tensor | Iterable[Any],
    *,
    uncertainty: Any = None,
    coordinates: Sequence[str] | None = None,
    homogeneous: bool | None = None,
) -> Identification:
    """Name the Lie algebra that matrices span, in any basis and any coordinates.

    Args:
        generators: matrices `[d, n, n]`, a tensor, an array or a list of them. Dependent ones are reduced, and the result says so.
        uncertainty: relative error of a unit generator, which is the angle in radians by which it is off; one number, or one
            for each generator, of which the root mean square is taken. By default it is estimated from how far the span is from
            closed under the bracket, which says nothing of a single matrix: that is then taken to be exact.
        coordinates: names of the coordinates, for the words.
        homogeneous: the matrices are affine, with a zero last row. By default they are if their last rows are zero and their
            last columns are not.

    Returns:
        The identification; `name` is "unknown" where nothing fits or the uncertainty does not let one tell.

    Raises:
        ArgumentError: no matrices, not square, complex, not finite, or an uncertainty that is none.

    Examples:
        >>> from liegg.algebra import so
        >>> turn = torch.tensor(
        ...     [[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 0.0, 1.0]], dtype=torch.float64
        ... )
        >>> identify(turn @ so(3) @ torch.linalg.inv(turn)).name
        'so(3)'
    """
    given = _as_tensor(generators)
    matrices = checked_generators(given)
    if too_large(len(matrices), matrices.shape[1]):
        return unseen(len(matrices), matrices.shape[1])
    single = given.is_floating_point() and given.dtype != torch.float64
    floor = EXACT_SINGLE if single else EXACT
    span = _independent(matrices, tolerance=1e-5 if single else 1e-10)
    stated = _stated(uncertainty, len(matrices))
    seen = Identification(
        UNKNOWN,
        span,
        span,
        estimated=stated is None,
        uncertainty=stated or 0.0,
        notes=_notes(matrices, span),
        homogeneous=_homogeneous(span, homogeneous),
    )
    seen = replace(seen, coordinates=_named(coordinates, matrices.shape[1] - seen.homogeneous))
    if not len(span):
        return replace(
            seen, name="0", confident=True, margin=math.inf, angle=0.0, meaning=meaning("0")
        )
    closed = closure(span, uncertainty=stated or 0.0, affine=seen.homogeneous)
    noise = _allowed(stated, closed, floor)
    found = candidates(span, max(noise, PRUNING), short=noise <= floor)
    if (
        seen.homogeneous and noise > floor
    ):  # nothing that moves every covector is affine, however little it moves one
        found = [one for one in found if len(preserved_forms(one.fit.generators).fixed_covectors)]
    seen_well = [one for one in found if not one.stretched(max(noise, PRUNING))]
    noise = min([noise, *(max(one.fit.at_most(), floor) for one in seen_well if one.fit.freedom)])
    chosen = simplest(found, noise, 1.0 if stated is not None else LUCK)
    seen = replace(
        seen,
        closure=closed,
        uncertainty=noise,
        alternatives=rivals(seen_well, chosen, noise, floor),
    )
    if chosen is None:
        return _by_structure(
            seen, closed, max(stated, PRUNING) if stated is not None else LARGEST_NOISE, floor
        )
    exact = canonical(chosen.fit.generators)
    simpler = _limit(seen, chosen, found)
    margin = min(margin_of(chosen, found, noise), 1.0 if simpler or noise > VAGUE else math.inf)
    name, aliases, words = _called(chosen, exact, homogeneous=seen.homogeneous)
    return replace(
        seen,
        name=name,
        generators=exact,
        aliases=aliases,
        meaning=words,
        margin=margin,
        confident=margin >= MARGIN,
        angle=chosen.fit.angle,
        reasons=(
            closure_reason(closed),
            form_reason(exact),
            fit_reason(chosen, noise, floor),
            *simpler,
        ),
    )


def too_large(count: int, side: int) -> bool:
    """Whether so many matrices of this side are too large to be identified."""
    return count * side**4 > LARGEST


def unseen(count: int, side: int, reason: str | None = None) -> Identification:
    """What is said of matrices that were not looked at.

    Args:
        count: number of matrices, taken to be independent.
        side: their side.
        reason: why they were not; by default that they are too large.
    """
    none = torch.zeros(0, side, side, dtype=torch.float64)
    why = (
        f"{count} matrices of {side} × {side} are too large to be identified"
        if reason is None
        else reason
    )
    return Identification(UNKNOWN, none, none, reasons=(why,), unseen=count)


def _limit(seen: Identification, chosen: Candidate, found: list[Candidate]) -> tuple[str, ...]:
    """That a simpler algebra lies near a single matrix named in coordinates stretched beyond what is plausible.

    Nothing tells whether the little that keeps them apart is error, since brackets say nothing of a single matrix.
    """
    if not seen.estimated or len(seen.span) > 1 or chosen.stretch <= PLAUSIBLE:
        return ()
    near = [
        one
        for one in found
        if one.fit.orbit < chosen.fit.orbit and one.fit.needs() <= LARGEST_NOISE
    ]
    return tuple(_state(one.name, LARGEST_NOISE) for one in near[:1])


def _state(name: str, limit: float) -> str:
    return f"it is near {name}: state the uncertainty, for example uncertainty={limit:g}, to let that explain the rest"


def _called(
    chosen: Candidate, exact: Tensor, *, homogeneous: bool
) -> tuple[str, tuple[str, ...], str]:
    """Name, other names and meaning of a model; one described as a semidirect sum may have a better name as an abstract algebra."""
    model = chosen.model
    if "⋉" in model.name:
        abstract = abstract_name(structure_constants(exact))
        if abstract.name != UNKNOWN and "⋉" not in abstract.name:
            return (
                abstract.name,
                tuple(other for other in abstract.aliases if other != abstract.name),
                meaning(model.name),
            )
    words = meaning(model.name, homogeneous=homogeneous, dual=model.dual, copies=model.copies)
    return model.name, other_names(model.name), words


def _by_structure(
    seen: Identification, closed: Closure, limit: float, floor: float
) -> Identification:
    """A name from the structure constants alone, for what no model fits; unknown where the span is not closed or noise decides."""
    exact = (
        closed.rms <= floor and seen.uncertainty <= floor
    )  # small constants of noisy matrices are no constants
    if not exact and closed.noise > 3 * limit:
        return replace(
            seen, reasons=(open_reason(closed, len(generated(seen.span, tolerance=0.1))),)
        )
    if len(seen.span) == 1:
        return _one_parameter(seen, limit, floor)
    near = nearest_closed(seen.span)
    basis = seen.span if exact else near.generators
    constants = structure_constants(basis)
    abstract = abstract_name(
        constants, tolerance=STRUCTURE if floor == EXACT else math.sqrt(STRUCTURE)
    )
    # Noise turns algebras into others that are alike up to small structure constants, unless the Killing form shows them all.
    values = torch.linalg.eigvalsh(killing_form(constants)).abs()
    seen_by_killing = (
        float(values.min() / values.max()) if near.converged and float(values.max()) > 0 else 0.0
    )
    margin = math.inf if exact else seen_by_killing / (10 * seen.uncertainty)
    if abstract.name == UNKNOWN or margin < 1:
        hidden = f"an uncertainty of {math.degrees(seen.uncertainty):.2g}° hides which of several algebras it is"
        return replace(
            seen,
            reasons=(closure_reason(closed), *(abstract.reasons if margin >= 1 else (hidden,))),
        )
    basis = canonical(basis)
    return replace(
        seen,
        name=abstract.name,
        generators=basis,
        aliases=tuple(other for other in abstract.aliases if other != abstract.name),
        meaning=meaning(abstract.name, usual=False) if exact else "",
        margin=margin,
        confident=margin >= MARGIN,
        angle=0.0 if exact else near.moved,
        reasons=(closure_reason(closed), form_reason(basis), *abstract.reasons),
    )


def _one_parameter(seen: Identification, limit: float, floor: float) -> Identification:
    """A single matrix of no special kind. Brackets say nothing of its error, so a special kind near it is pointed out."""
    near = rivals(candidates(seen.span, limit), None, seen.uncertainty, floor)
    margin = min((one.needs / limit for one in near), default=math.inf)
    reasons = [
        "a single matrix generates a one-parameter group, whatever it is",
        form_reason(seen.span),
    ]
    if seen.estimated and margin < MARGIN:
        reasons.append(_state(near[0].name, limit))
    return replace(
        seen,
        name="R",
        meaning=meaning("R"),
        margin=margin,
        confident=margin >= MARGIN,
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
        given = type(generators).__name__
        raise ArgumentError(
            f"generators of type {given}; expected matrices of one size, [d, n, n]. ({error})"
        ) from error
    raise ArgumentError(
        "no generators given; expected matrices [d, n, n], for example liegg.identify(liegg.so(3))."
    )


def _matrix(matrix: Any) -> Tensor:
    """A tensor or array as it is; numbers of Python are exact."""
    if isinstance(matrix, Tensor):
        return matrix.detach()
    return (
        torch.as_tensor(matrix)
        if hasattr(matrix, "dtype")
        else torch.tensor(matrix, dtype=torch.float64)
    )


def _independent(matrices: Float[Tensor, "d n n"], tolerance: float) -> Float[Tensor, "r n n"]:
    """Orthonormal generators of the span, each matrix counted alike whatever its size."""
    sizes = matrices.flatten(1).norm(dim=1)
    rows = matrices.flatten(1)[sizes > 0] / sizes[sizes > 0, None]
    return orthonormal_rows(rows, tolerance=tolerance).unflatten(1, matrices.shape[1:])


def _stated(uncertainty: Any, count: int) -> float | None:
    if uncertainty is None:
        return None
    try:
        each = torch.as_tensor(uncertainty, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(
            f"uncertainty={uncertainty!r}; expected the relative error of a unit generator, for example 0.01."
        ) from error
    if isinstance(uncertainty, bool) or bool((each < 0).any()):
        raise ArgumentError(
            f"uncertainty={uncertainty!r}; expected the relative error of a unit generator, for example 0.01."
        )
    if each.ndim and tuple(each.shape) != (count,):
        raise ArgumentError(
            f"uncertainty has shape {tuple(each.shape)}; expected one number, or one for each of {count} generators."
        )
    return checked_uncertainty(float(each.square().mean().sqrt()))


def _notes(matrices: Tensor, span: Tensor) -> tuple[str, ...]:
    fewer = len(matrices) - len(span)
    if not fewer:
        return ()
    return (
        f"{len(matrices)} generators were given, {fewer} of them dependent on the others: their span has dimension {len(span)}",
    )


def _homogeneous(span: Float[Tensor, "d n n"], stated: bool | None) -> bool:
    """Whether the matrices are affine: as stated, or if their last rows are zero and their last columns are not."""
    zero = bool((span[:, -1:].abs() <= 1e-12).all())
    if stated and not zero:
        raise ArgumentError(
            "homogeneous=True, but a last row is not zero; affine generators are [[a, t], [0, 0]]."
        )
    return (
        stated
        if stated is not None
        else zero and span.shape[1] > 1 and bool((span[:, :, -1:].abs() > 1e-12).any())
    )


def _named(coordinates: Sequence[str] | None, count: int) -> tuple[str, ...] | None:
    if coordinates is not None and len(coordinates) != count:
        raise ArgumentError(
            f"{len(coordinates)} names of coordinates, {tuple(coordinates)}; expected {count}, one for each."
        )
    return None if coordinates is None else tuple(coordinates)


def _allowed(stated: float | None, closed: Closure, floor: float) -> float:
    """Uncertainty to work with: the one stated, but no more than the brackets bear out; without one, what they suggest.

    Both are doubled, since brackets give it only roughly, and the first is raised further where few numbers speak. Brackets of
    translations are blind to affine noise but for its own square, and bear nothing out.
    """
    if math.isnan(closed.noise) or (stated is not None and closed.explained <= BLIND * stated**2):
        return floor if stated is None else max(stated, floor)
    if stated is None:
        return min(max(2 * closed.noise, floor), LARGEST_NOISE)
    numbers = (
        len(closed.residuals) * 2
    )  # at the least: one in each direction out of the span for every generator
    rough = max(2.0, math.sqrt(numbers / chi_square(numbers, CHANCE)))
    return max(min(stated, rough * closed.noise), floor)
