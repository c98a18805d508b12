r"""Name the algebra that matrices span, in any basis, with distance, alternatives and reasons.

Every known algebra near the span is fitted to it with free coordinates (`liegg.algebra.fit`). That
gives each a distance and the uncertainty it needs: the error of a unit generator that would explain
that distance. Of those that the uncertainty admits, the one from the smallest family is named,
because an algebra can always be stretched until it looks like a simpler one, never the other way
round. A span outside these families is named by its structure constants; what those do not decide
is unknown. A name is sure only if no possible error makes another algebra of it
(`liegg.algebra.stability`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.diagnoses import Diagnosis, Remark
from liegg._utils.one_at_a_time import outside_transformations
from liegg.algebra.bracket import structure_constants
from liegg.algebra.closure import ROUNDING_RESIDUAL, Closure, closure, generated, nearest_closed
from liegg.algebra.explanations import closure_reason, fit_reason, form_reasons, open_reason, rivals
from liegg.algebra.families.candidates import (
    CONFIDENT_MARGIN,
    PLAUSIBLE_STRETCH,
    Candidate,
    candidates,
    margin_of,
    simplest,
)
from liegg.algebra.forms.forms import preserved, preserved_forms
from liegg.algebra.given import (
    LARGEST_ESTIMATED_NOISE,
    Noise,
    as_tensor,
    balanced,
    is_affine,
    noise_of,
    span_of,
    stated_error,
)
from liegg.algebra.identification import Identification
from liegg.algebra.stability import name_by_constants, stability
from liegg.algebra.structure.abstract import abstract_name
from liegg.algebra.structure.real_forms import UNKNOWN
from liegg.algebra.subspace import canonical
from liegg.algebra.words.names import meaning, other_names
from liegg.algebra.words.wording import coordinate_names

LARGEST_CONFIDENT_NOISE = 0.3
"""Uncertainty beyond which no name is confident (17°): rotations and shears then look alike."""

COINCIDENCE_CHANCE = 1e-4
"""Largest chance of coincidence for a name without a stated uncertainty."""

SMALLEST_SEARCH_NOISE = 1e-7
"""Smallest noise with which candidates are searched, so that rounding does not hide one."""

LARGEST_EQUATIONS = 2e7
"""Numbers in the equations of the coordinates, dn⁴, up to which matrices are identified.

Takes seconds at most."""

NOTED_GROWTH = 2.0
"""Factor from the stated error to that of an orthonormal generator from which on a note says so."""

LARGEST_STRUCTURE = 40
"""Dimension up to which an algebra of no known family is named by its structure constants, which takes seconds; the work grows as
its sixth power and more."""


@checked()
@outside_transformations
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
            is off; one number, or one per generator, of which the root mean square is taken. It is
            never lowered, and grows where generators are nearly dependent. By default it is estimated from how
            far the span is from closed under the bracket. That
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
    return identified(
        as_tensor(generators),
        uncertainty=uncertainty,
        coordinates=coordinates,
        homogeneous=homogeneous,
    )


def identified(
    tensor: Tensor,
    *,
    uncertainty: Any,
    coordinates: Sequence[str] | None,
    homogeneous: bool | None,
    exact: bool = False,
    brief: bool = False,
) -> Identification:
    """As `identify`; with `exact`, the uncertainty is the rounding of what the matrices were computed from.

    Matrices that agree with a known algebra to that rounding are then that algebra. With `brief`, only the name, its generators and
    whether it is sure are needed: reasons that decide nothing more are left out, which can be most of the work.
    """
    found = _in_given_units(tensor, uncertainty, coordinates, homogeneous, exact=exact, brief=brief)
    return _in_other_units(found, tensor) if found.confident and len(found.span) else found


def _in_given_units(
    tensor: Tensor,
    uncertainty: Any,
    coordinates: Sequence[str] | None,
    homogeneous: bool | None,
    *,
    exact: bool = False,
    brief: bool = False,
) -> Identification:
    """The name of matrices in the units in which they are given."""
    if tensor.ndim == 3 and too_large(len(tensor), tensor.shape[1]):
        return unseen(len(tensor), tensor.shape[1])
    given = span_of(tensor)
    span, floor, rounding = given.generators, given.floor, given.rounding
    count = len(tensor)
    notes: list[Remark] = []
    if len(span) < count:
        notes.append(
            Diagnosis.DEPENDENT_GENERATORS(
                given=count, dependent=count - len(span), dimension=len(span)
            )
        )
    error = stated_error(uncertainty, count)
    if error is not None:
        growth = given.growth(error)
        notes += [Diagnosis.NEARLY_DEPENDENT(factor=growth)] if growth > NOTED_GROWTH else []
        error *= growth
    affine = is_affine(span, homogeneous)
    record = Identification(
        UNKNOWN,
        span,
        span,
        estimated=error is None,
        uncertainty=error or 0.0,
        notes=tuple(notes),
        homogeneous=affine,
        coordinates=None
        if coordinates is None
        else coordinate_names(tensor.shape[1] - affine, coordinates),
    )
    if not len(span):
        return _with_margin(record, math.inf, name="0", angle=0.0, meaning=meaning("0"))
    closed = closure(span, uncertainty=error or 0.0, affine=affine)
    noise = noise_of(error, closed, floor, rounding, exact=exact)
    found = _by_family(replace(record, closure=closed), closed, noise, brief=brief)
    if len(span) < count and rounding > floor:  # what was left out is small, but not rounding
        return replace(found, margin=min(found.margin, 1.0), confident=False)
    return found


def _in_other_units(found: Identification, tensor: Tensor) -> Identification:
    """Doubt a name that depends on entries which are lost beside the rounding of larger ones."""
    other = balanced(tensor)
    if other is None or closure(other).rms > ROUNDING_RESIDUAL:
        return found
    name = _in_given_units(other, None, None, None).name
    if name in (found.name, UNKNOWN):
        return found
    reasons = (*found.reasons, Diagnosis.OTHER_NAME_IN_UNITS(name=name))
    return _with_margin(found, min(found.margin, 1.0), reasons=reasons)


def too_large(count: int, side: int) -> bool:
    """Whether `count` matrices of this side are too large to be identified."""
    return count * side**4 > LARGEST_EQUATIONS


def unseen(count: int, side: int, reason: Remark | None = None) -> Identification:
    """The record of matrices that were not identified.

    Args:
        count: number of matrices, taken to be independent.
        side: their side.
        reason: why they were not identified; by default because they are too large.
    """
    empty = torch.zeros(0, side, side, dtype=torch.float64)
    reason = reason or Diagnosis.TOO_LARGE_TO_IDENTIFY(count=count, side=side)
    return Identification(UNKNOWN, empty, empty, reasons=(reason,), unseen=count)


def _with_margin(record: Identification, margin: float, **fields: Any) -> Identification:
    """A named record: the margin decides whether it is confident."""
    return replace(record, margin=margin, confident=margin >= CONFIDENT_MARGIN, **fields)


def _by_family(
    record: Identification, closed: Closure, noise: Noise, *, brief: bool
) -> Identification:
    """Name the span by the known algebras near it; where none fits, by its structure constants."""
    allowed, floor = noise.allowed, noise.floor
    search_noise = max(allowed, SMALLEST_SEARCH_NOISE)
    near = candidates(record.span, search_noise, stop_early=allowed <= floor)
    if record.homogeneous and allowed > floor:
        # An algebra that moves every covector is not affine, however little it moves one of them.
        near = [one for one in near if len(preserved("covectors", one.fit.generators).answers)]
    resolved = [one for one in near if not one.stretched(search_noise)]
    if record.estimated:
        bounds = (max(one.fit.at_most(), floor) for one in resolved if one.fit.freedom)
        allowed = min([allowed, *bounds])
    choice = simplest(near, allowed, COINCIDENCE_CHANCE if record.estimated else 1.0)
    alternatives = rivals(resolved, choice, allowed, floor)
    record = replace(record, uncertainty=allowed, alternatives=alternatives)
    if choice is None:
        return _by_structure(record, closed, noise)
    exact = canonical(choice.fit.generators)
    simpler = _simpler_algebra(record, choice, near)
    vague = bool(simpler) or allowed > LARGEST_CONFIDENT_NOISE
    name, aliases, words = _names(choice, exact, homogeneous=record.homogeneous)
    record = replace(
        record, name=name, generators=exact, aliases=aliases, meaning=words, angle=choice.fit.angle
    )
    margin = min(margin_of(choice, near, allowed), 1.0 if vague else math.inf)
    if brief and margin < CONFIDENT_MARGIN:
        return _with_margin(record, margin)
    bears, doubts = stability(choice, near, noise, name, affine=record.homogeneous)
    if brief:
        return _with_margin(record, min(margin, bears))
    forms = preserved_forms(exact)
    named = _with_margin(
        record,
        min(margin, bears),
        reasons=(
            closure_reason(closed),
            *form_reasons(forms),
            fit_reason(choice, allowed, floor),
            *simpler,
            *doubts,
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


def _by_structure(record: Identification, closed: Closure, noise: Noise) -> Identification:
    """Name the span by its structure constants; unknown where it is not closed or noise decides."""
    if len(record.span) > LARGEST_STRUCTURE:
        reason = Diagnosis.TOO_MANY_TO_NAME(count=len(record.span), most=LARGEST_STRUCTURE)
        return replace(record, reasons=(closure_reason(closed), reason))
    largest = LARGEST_ESTIMATED_NOISE
    if not record.estimated:
        largest = max(noise.allowed, SMALLEST_SEARCH_NOISE)
    # Small constants of noisy matrices are not constants.
    exact = closed.rms <= noise.floor and record.uncertainty <= noise.floor
    if not exact and closed.noise > 3 * largest:
        dimension = len(generated(record.span, tolerance=0.1))
        return replace(record, reasons=(open_reason(closed, dimension),))
    if len(record.span) == 1:
        return _one_parameter(record, largest, noise.floor)
    near = None if exact else nearest_closed(record.span)
    hidden = Diagnosis.HIDDEN_BY_NOISE(degrees=math.degrees(record.uncertainty))
    if near is not None and not near.converged:
        return replace(record, reasons=(closure_reason(closed), hidden))
    basis = record.span if near is None else near.generators
    abstract, margin, doubts = name_by_constants(
        basis, noise, exact=exact, affine=record.homogeneous
    )
    if abstract.name == UNKNOWN:
        return replace(record, reasons=(closure_reason(closed), *abstract.reasons))
    if not exact and record.estimated and margin < CONFIDENT_MARGIN:
        return replace(record, reasons=(closure_reason(closed), hidden))
    basis = canonical(basis)
    return _with_margin(
        record,
        margin,
        name=abstract.name,
        generators=basis,
        aliases=abstract.aliases[1:],
        meaning=meaning(abstract.name, usual=False) if exact else "",
        angle=0.0 if near is None else near.moved,
        reasons=(
            closure_reason(closed),
            *form_reasons(preserved_forms(basis)),
            *abstract.reasons,
            *doubts,
        ),
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
