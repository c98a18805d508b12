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
from torch import Tensor

from liegg._errors import ArgumentError
from liegg.algebra.abstract import abstract_name
from liegg.algebra.bracket import killing_form, structure_constants
from liegg.algebra.closure import Closure, closure, generated, nearest_closed
from liegg.algebra.fit import CHANCE, chi_square
from liegg.algebra.identification import Identification
from liegg.algebra.models.candidates import Candidate, candidates
from liegg.algebra.names import meaning, other_names
from liegg.algebra.real_forms import UNKNOWN
from liegg.algebra.reasons import closure_reason, fit_reason, form_reason, open_reason, rivals
from liegg.algebra.subspace import canonical, checked_generators, checked_uncertainty, orthonormal

EXACT = 1e-9
"""Uncertainty of matrices that are exact but for rounding, in coordinates stretched by up to 100."""

EXACT_SINGLE = 1e-5
"""The same for matrices that came in float32 or less."""

LARGEST_NOISE = 0.05
"""Largest uncertainty that is believed from brackets alone (3°): beyond, a span that is no algebra may pass for one."""

LUCK = 1e-4
"""Largest chance that a span which is no algebra comes as near, for a name without a stated uncertainty."""

SUSPICIOUS = 0.01
"""Chance below which a better fit of a larger family makes a name unsure; below `CHANCE` the larger family is named."""

PRUNING = 1e-7
"""Smallest noise with which candidates are looked for, so that rounding does not hide one."""

STRUCTURE = 1e-8
"""Relative tolerance of ranks of the structure constants of exact matrices."""

LARGEST_SIZE = 32
"""Largest matrices that are identified; the equations of their coordinates grow with the fourth power."""

MARGIN = 1.5
"""Smallest margin of a confident name: every other name would need an uncertainty larger by this."""


def identify(
    generators: Tensor | Iterable[Any],
    *,
    uncertainty: float | Tensor | None = None,
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
        >>> turn = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 0.0, 1.0]], dtype=torch.float64)
        >>> identify(turn @ so(3) @ torch.linalg.inv(turn)).name
        'so(3)'
    """
    given = _as_tensor(generators)
    matrices = checked_generators(given)
    span = orthonormal(matrices)
    stated = _stated(uncertainty, len(matrices))
    floor = EXACT if given.dtype == torch.float64 or not given.is_floating_point() else EXACT_SINGLE
    seen = Identification(
        UNKNOWN, span, span, estimated=stated is None, uncertainty=stated or 0.0, notes=_notes(matrices, span),
        coordinates=None if coordinates is None else tuple(coordinates),
        homogeneous=_homogeneous(span) if homogeneous is None else homogeneous,
    )  # fmt: skip
    if not len(span):
        return replace(seen, name="0", confident=True, margin=math.inf, angle=0.0, meaning=meaning("0"))
    if (n := span.shape[1]) > LARGEST_SIZE:
        limit = f"{LARGEST_SIZE} × {LARGEST_SIZE}"
        return replace(seen, reasons=(f"matrices of {n} × {n}; only up to {limit} are identified",))
    closed = closure(span, uncertainty=stated or 0.0)
    noise = _allowed(stated, closed, floor)
    found = candidates(span, max(noise, PRUNING))
    noise = min([noise, *(max(one.fit.at_most(), floor) for one in found if one.fit.freedom)])
    chosen = _simplest(found, noise, 1.0 if stated is not None else LUCK)
    seen = replace(seen, closure=closed, uncertainty=noise, alternatives=rivals(found, chosen, noise, floor))
    if chosen is None:
        return _by_structure(seen, closed, stated if stated is not None else LARGEST_NOISE, floor)
    exact = canonical(chosen.fit.generators)
    margin = _margin(chosen, found, noise)
    return replace(
        seen, name=chosen.name, generators=exact, aliases=other_names(chosen.name), margin=margin,
        meaning=meaning(chosen.name, homogeneous=seen.homogeneous),
        confident=margin >= MARGIN, angle=chosen.fit.angle,
        reasons=(closure_reason(closed), form_reason(exact), fit_reason(chosen, noise, floor)),
    )  # fmt: skip


def _by_structure(seen: Identification, closed: Closure, limit: float, floor: float) -> Identification:
    """A name from the structure constants alone, for what no model fits; unknown where the span is not closed or noise decides."""
    exact = closed.rms <= floor
    if not exact and closed.noise > 3 * limit:
        return replace(seen, reasons=(open_reason(closed, len(generated(seen.span, tolerance=0.1))),))
    if len(seen.span) == 1:
        return _one_parameter(seen, limit, floor)
    near = nearest_closed(seen.span)
    basis = seen.span if exact else near.generators
    constants = structure_constants(basis)
    abstract = abstract_name(constants, tolerance=STRUCTURE if floor == EXACT else math.sqrt(STRUCTURE))
    # Noise turns algebras into others that are alike up to small structure constants, unless the Killing form shows them all.
    values = torch.linalg.eigvalsh(killing_form(constants)).abs()
    seen_by_killing = float(values.min() / values.max()) if near.converged and float(values.max()) > 0 else 0.0
    margin = math.inf if exact else seen_by_killing / (10 * seen.uncertainty)
    if abstract.name == UNKNOWN or margin < 1:
        hidden = f"an uncertainty of {math.degrees(seen.uncertainty):.2g}° hides which of several algebras it is"
        return replace(seen, reasons=(closure_reason(closed), *(abstract.reasons if margin >= 1 else (hidden,))))
    basis = canonical(basis)
    return replace(
        seen, name=abstract.name, generators=basis, aliases=tuple(other for other in abstract.aliases if other != abstract.name),
        meaning=meaning(abstract.name, usual=False), margin=margin,
        confident=margin >= MARGIN, angle=0.0 if exact else near.moved,
        reasons=(closure_reason(closed), form_reason(basis), *abstract.reasons),
    )  # fmt: skip


def _one_parameter(seen: Identification, limit: float, floor: float) -> Identification:
    """A single matrix of no special kind. Brackets say nothing of its error, so a special kind near it is pointed out."""
    near = rivals(candidates(seen.span, limit), None, seen.uncertainty, floor)
    margin = min((one.needs / limit for one in near), default=math.inf)
    reasons = ["a single matrix generates a one-parameter group, whatever it is", form_reason(seen.span)]
    if seen.estimated and margin < MARGIN:
        reasons.append(
            f"it is near {near[0].name}: state the uncertainty, for example uncertainty={limit:g}, to let that explain the rest"
        )
    return replace(
        seen, name="R", meaning=meaning("R"), margin=margin, confident=margin >= MARGIN, angle=0.0, alternatives=near,
        reasons=tuple(reasons),
    )  # fmt: skip


def _as_tensor(generators: Tensor | Iterable[Any]) -> Tensor:
    if isinstance(generators, Tensor):
        return generators
    try:
        matrices = [torch.as_tensor(matrix) for matrix in generators]
        if matrices:
            return torch.stack(matrices)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(
            f"generators of type {type(generators).__name__}; expected matrices of one size, [d, n, n]. ({error})"
        ) from error
    raise ArgumentError("no generators given; expected matrices [d, n, n], for example liegg.identify(liegg.so(3)).")


def _stated(uncertainty: float | Tensor | None, count: int) -> float | None:
    if uncertainty is None:
        return None
    if isinstance(uncertainty, Tensor):
        if uncertainty.ndim and tuple(uncertainty.shape) != (count,):
            raise ArgumentError(
                f"uncertainty has shape {tuple(uncertainty.shape)}; expected one number, or one for each of {count} generators."
            )
        uncertainty = float(uncertainty.double().square().mean().sqrt())
    return checked_uncertainty(uncertainty)


def _notes(matrices: Tensor, span: Tensor) -> tuple[str, ...]:
    fewer = len(matrices) - len(span)
    if not fewer:
        return ()
    return (
        f"{len(matrices)} generators were given, {fewer} of them dependent on the others: their span has dimension {len(span)}",
    )


def _homogeneous(span: Tensor) -> bool:
    return bool((span[:, -1].abs() <= 1e-12).all()) and bool((span[:, :, -1].abs() > 1e-12).any()) and span.shape[1] > 1


def _allowed(stated: float | None, closed: Closure, floor: float) -> float:
    """Uncertainty to work with: the one stated, but no more than the brackets bear out; without one, what they suggest.

    Both are doubled, since brackets give it only roughly, and the first is raised further where few numbers speak.
    """
    if math.isnan(closed.noise):
        return floor if stated is None else max(stated, floor)
    if stated is None:
        return min(max(2 * closed.noise, floor), LARGEST_NOISE)
    numbers = len(closed.residuals) * 2  # at the least: one in each direction out of the span for every generator
    rough = max(2.0, math.sqrt(numbers / chi_square(numbers, CHANCE)))
    return max(min(stated, rough * closed.noise), floor)


def _simplest(found: list[Candidate], noise: float, luck: float) -> Candidate | None:
    """The admitted candidate of the smallest family, unless a larger one fits far better; none if luck may have put it there."""
    admitted = sorted((one for one in found if one.fit.needs() <= noise), key=lambda one: (one.fit.orbit, one.fit.needs()))
    for one in admitted:
        if _doubt(one, admitted, noise) <= 1:
            return one if one.fit.luck <= luck else None
    return None


def _doubt(chosen: Candidate, admitted: list[Candidate], noise: float, chance: float = CHANCE) -> float:
    """How much better larger families fit, over what their freedom alone explains but for a chance: a test of likelihood ratios."""
    larger = [one for one in admitted if one.fit.orbit > chosen.fit.orbit]
    gains = ((chosen.fit.misfit(noise) - one.fit.misfit(noise), one.fit.orbit - chosen.fit.orbit) for one in larger)
    return max((gain / chi_square(more, 1 - chance) for gain, more in gains), default=0.0)


def _margin(chosen: Candidate, found: list[Candidate], noise: float) -> float:
    """Times the uncertainty that another name as simple would need; near 1 where a larger family fits suspiciously better."""
    others = (one for one in found if one is not chosen and one.fit.orbit <= chosen.fit.orbit)
    margin = min((one.fit.needs() / noise for one in others), default=math.inf)
    admitted = [one for one in found if one.fit.needs() <= noise]
    if _doubt(chosen, admitted, noise, SUSPICIOUS) > 1:
        return min(margin, _doubt(chosen, admitted, noise) ** -0.5)
    return margin
