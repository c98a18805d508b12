r"""Is a matrix in the identity component of a Lie group? And which element of a coset is nearest the identity?

The component $G_0$ consists of all products of exponentials of the algebra. One exponential reaches
all of it only for compact groups; in $SL(2, \mathbb R)$ it misses whole regions. So
$h\,e^{a_1} e^{a_2} \cdots$ is moved towards the identity by Levenberg–Marquardt steps $a_i$ in the algebra,
from several starts: $h \in G_0$ if and only if the identity is reached.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from liegg.algebra.forms.forms import Forms

STEPS = 60
"""Levenberg–Marquardt steps from each start."""

STARTS = 24
"""Random starts after the first, which is the matrix itself."""

FEW_STARTS = 4
"""Random starts for an element that is shown, which need not be the very nearest."""

DAMPING = 1e-3, 4.0, 1e12
"""First damping, factor by which it changes, and the value at which a start has converged."""


BESIDE = 0.05
"""Coefficients of the first start."""

SMALL_GAIN, SMALL_STEP = 1e-6, 1e-8
"""Relative gain and length of a step at which a start has converged."""


def violation(matrices: Float[Tensor, "k n n"], forms: Forms) -> Float[Tensor, " k"]:
    """How far matrices are from preserving what the identity component preserves; relative, zero for its elements.

    Forms, fixed vectors and covectors, what commutes with the algebra, volume and orientation.
    """
    size = torch.linalg.matrix_norm(matrices, 2).clamp_min(1.0)
    determinant = torch.linalg.det(matrices)
    parts = [torch.where(determinant > 0, 0.0, 2.0).to(matrices)]
    if forms.traceless:
        parts.append((determinant.abs() - 1).abs() / size ** matrices.shape[1])
    for q in (*forms.symmetric, *forms.antisymmetric):
        parts.append(_norms(matrices.mT @ q @ matrices - q) / size**2)
    if len(forms.commutant):
        moved = matrices[:, None] @ forms.commutant - forms.commutant @ matrices[:, None]
        parts.append(moved.flatten(2).norm(dim=2).amax(1) / size)
    for vectors, own in ((forms.fixed_vectors, matrices), (forms.fixed_covectors, matrices.mT)):
        if len(vectors):
            parts.append((own @ vectors.mT - vectors.mT).norm(dim=1).amax(1) / size)
    return torch.stack(parts).amax(0)


def nearest_to_identity(
    matrices: Float[Tensor, "k n n"],
    algebra: Float[Tensor, "d n n"],
    *,
    goal: float = 1e-9,
    starts: int = STARTS,
) -> Float[Tensor, "k n n"]:
    r"""The element of each coset $hG_0$ that is nearest the identity, as far as the starts show.

    The distance is $\|M - 1\|^2 + \|M^{-1} - 1\|^2$ for $M = hg$. The first start is near $h$ itself; matrices that
    then are not within `goal` of the identity are started again from random elements of their coset.

    Args:
        matrices: invertible.
        algebra: orthonormal generators.
        goal: distance at which no further start is needed.
        starts: random starts.

    Returns:
        The nearest elements found.
    """
    if not len(algebra) or not len(matrices):
        return matrices
    # Half a turn is a saddle, so the first start is a little beside the matrix.
    beside = torch.cos(1.0 + torch.arange(len(algebra))).to(algebra)
    aside = torch.linalg.matrix_exp(torch.einsum("d,dij->ij", BESIDE * beside, algebra))
    best = _descend(matrices @ aside, algebra, goal)
    generator = torch.Generator().manual_seed(0)
    open_ = (distance(best) > goal).nonzero().flatten()
    if not len(open_) or not starts:
        return best
    k, n = len(open_), matrices.shape[1]
    # Sizes up to half a turn: unit generators of a rotation turn by 1/√2 of their length.
    size = torch.linspace(0.5, 5.0, starts).to(algebra)
    for _ in range(2):
        coefficients = torch.randn(starts, len(algebra), generator=generator, dtype=torch.float64)
        coefficients = coefficients / coefficients.norm(dim=1, keepdim=True) * size[:, None]
        factors = torch.linalg.matrix_exp(torch.einsum("sd,dij->sij", coefficients, algebra))
        moved = (matrices[open_, None] @ factors).reshape(k * starts, n, n)
        reached = _descend(moved, algebra, goal).reshape(k, starts, n, n)
        values = distance(reached.flatten(0, 1)).reshape(k, starts)
        values, place = values.min(1)
        better = values < distance(best[open_]) * (1 - 1e-6)
        best[open_[better]] = reached[torch.arange(k), place][better]
        if bool((distance(best[open_]) <= goal).all()):
            break
        size = size / 5  # the second round: near the matrix
    return best


def polished(
    matrices: Float[Tensor, "k n n"], algebra: Float[Tensor, "d n n"]
) -> Float[Tensor, "k n n"]:
    """The elements of cosets nearest the identity, with a few random starts, to rounding."""
    near = nearest_to_identity(matrices, algebra, goal=0.0, starts=FEW_STARTS)
    return _descend(near, algebra, 0.0, small_gain=0.0)


def distance(matrices: Float[Tensor, "k n n"]) -> Float[Tensor, " k"]:
    """Distance of matrices from the identity, the larger one of themselves and their inverses."""
    one = torch.eye(matrices.shape[1]).to(matrices)
    return torch.maximum(_norms(matrices - one), _norms(torch.linalg.inv(matrices) - one))


def _norms(matrices: Float[Tensor, "k n n"]) -> Float[Tensor, " k"]:
    return torch.linalg.matrix_norm(matrices)


def _objective(
    matrices: Float[Tensor, "k n n"],
) -> tuple[Float[Tensor, " k"], Float[Tensor, "k n n"]]:
    one = torch.eye(matrices.shape[1]).to(matrices)
    inverse, info = torch.linalg.inv_ex(matrices)
    value = (matrices - one).square().sum((1, 2)) + (inverse - one).square().sum((1, 2))
    bad: Bool[Tensor, " k"] = (info != 0) | ~value.isfinite()
    return torch.where(bad, torch.inf, value), inverse


def _descend(
    matrices: Float[Tensor, "k n n"],
    algebra: Float[Tensor, "d n n"],
    goal: float,
    small_gain: float = SMALL_GAIN,
) -> Float[Tensor, "k n n"]:
    """Levenberg–Marquardt steps M → M exp(a), a in the algebra, until M is within `goal` of the identity."""
    first, factor, last = DAMPING
    current = matrices.clone()
    value, inverse = _objective(current)
    damping = torch.full_like(value, first)
    one = torch.eye(len(algebra)).to(matrices)
    identity = torch.eye(matrices.shape[1]).to(matrices)
    for _ in range(STEPS):
        moving = (damping < last) & (value > goal**2) & value.isfinite()
        if not bool(moving.any()):
            break
        m, w = current[moving], inverse[moving]
        # d(M exp a) = M a, d(exp(-a) M⁻¹) = -a M⁻¹
        j = torch.cat([(m[:, None] @ algebra).flatten(2), -(algebra @ w[:, None]).flatten(2)], 2)
        residual = torch.cat([(m - identity).flatten(1), (w - identity).flatten(1)], 1)
        gram, slope = j @ j.mT, (j @ residual[:, :, None])
        scale = gram.diagonal(dim1=1, dim2=2).mean(1).clamp_min(1e-30)
        step = torch.linalg.solve(gram + (damping[moving] * scale)[:, None, None] * one, -slope)
        size = step.norm(dim=1, keepdim=True)
        step = step / (size / 2).clamp_min(1.0)
        trial = m @ torch.linalg.matrix_exp(torch.einsum("kd,dij->kij", step[:, :, 0], algebra))
        trial_value, trial_inverse = _objective(trial)
        better = trial_value < value[moving]
        places = moving.nonzero().flatten()
        taken = places[better]
        current[taken], inverse[taken] = trial[better], trial_inverse[better]
        # Steps that are small or gain nothing any more have converged.
        gain = (value[taken] - trial_value[better]) / value[taken]
        value[taken] = trial_value[better]
        damping[taken] = torch.where(gain > small_gain, damping[taken] / factor, last)
        damping[places[~better]] *= factor * 2
        damping[places[size.flatten() < SMALL_STEP]] = last
    return current
