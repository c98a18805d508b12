r"""Is a matrix in the identity component of a Lie group? And which element of a coset is nearest the identity?

The component $G_0$ consists of all products of exponentials of the algebra. One exponential reaches
all of it only for compact groups; in $SL(2, \mathbb R)$ it misses whole regions. So
$h\,e^{a_1} e^{a_2} \cdots$ is moved towards the identity by Levenberg–Marquardt steps $a_i$ in the algebra,
from several starts: $h \in G_0$ if and only if the identity is reached.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.algebra.finite.levenberg_marquardt import Schedule, descend
from liegg.algebra.forms.forms import Forms

TOWARDS_IDENTITY = Schedule(
    steps=60,
    longest=2.0,
    damping=1e-3,
    less=1 / 4,
    more=8.0,
    stuck=1e12,
    small_gain=1e-6,
    small_step=1e-8,
)
"""Steps of the descent to the identity."""

STARTS_IN_COSET = 24
"""Random starts after the first, which is the matrix itself."""

LONGEST_START = 5.0
"""Longest coefficients of a start, up to half a turn: unit generators of a rotation turn by 1/√2 of their length."""

FEW_STARTS_IN_COSET = 4
"""Random starts for an element that is shown, which need not be the very nearest."""

SCANNED_IN_COSET, SCAN_DESCENTS = 1000, 4
"""Random elements of a compact group whose distance is looked at, and those of them that are descended from."""

LONGEST_SCAN = 150.0
"""Longest coefficients of these: a unit generator whose planes turn at rates 3 and 5 returns after 2π√68; rates up to 12 return sooner
than this."""

GROWTH = 1e-6
"""Largest real part of an eigenvalue of a rotation, over the largest eigenvalue."""

BESIDE_START = 0.05
"""Coefficients of the first start."""


def violation(
    matrices: Float[Tensor, "k n n"], forms: Forms, subspaces: Sequence[Float[Tensor, "n _"]] = ()
) -> Float[Tensor, " k"]:
    """How far matrices are from preserving what the identity component preserves; relative, zero for its elements.

    Forms, fixed vectors and covectors, what commutes with the algebra, volume, and the orientation of invariant subspaces.

    Args:
        matrices: invertible.
        forms: what the algebra preserves.
        subspaces: bases of invariant subspaces; used where they span the space.
    """
    size = torch.linalg.matrix_norm(matrices, 2).clamp_min(1.0)
    determinant = torch.linalg.det(matrices)
    parts = [_reversed(determinant)]
    if len(subspaces) > 1 and sum(basis.shape[1] for basis in subspaces) == matrices.shape[1]:
        frame = torch.cat(list(subspaces), 1)
        duals = torch.linalg.inv(frame).split([basis.shape[1] for basis in subspaces])
        blocks = (dual @ matrices @ b for b, dual in zip(subspaces, duals, strict=True))
        parts += [_reversed(torch.linalg.det(block)) for block in blocks]
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


def _reversed(determinants: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
    """2 where orientation is reversed, else 0."""
    return torch.where(determinants > 0, 0.0, 2.0).to(determinants)


def nearest_to_identity(
    matrices: Float[Tensor, "k n n"],
    algebra: Float[Tensor, "d n n"],
    *,
    goal: float = 1e-9,
    starts: int = STARTS_IN_COSET,
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
    aside = torch.linalg.matrix_exp(torch.einsum("d,dij->ij", BESIDE_START * beside, algebra))
    best = _descend(matrices @ aside, algebra, goal)
    generator = torch.Generator().manual_seed(0)
    open_ = (distance(best) > goal).nonzero().flatten()
    if not len(open_) or not starts:
        return best
    size = torch.linspace(0.5, LONGEST_START, starts).to(algebra)
    for round_ in range(3):
        if round_ < 2:
            factors = _random_elements(algebra, size / 5**round_, generator)
            moved = matrices[open_, None] @ factors
        else:
            moved = _scanned(matrices[open_], algebra, starts, generator)
        reached = _descend(moved.flatten(0, 1), algebra, goal).reshape(moved.shape)
        values = distance(reached.flatten(0, 1)).reshape(moved.shape[:2])
        values, place = values.min(1)
        better = values < distance(best[open_]) * (1 - 1e-6)
        best[open_[better]] = reached[torch.arange(len(open_)), place][better]
        if bool((distance(best[open_]) <= goal).all()):
            break
    return best


def _random_elements(
    algebra: Float[Tensor, "d n n"], sizes: Float[Tensor, " s"], generator: torch.Generator
) -> Float[Tensor, "s n n"]:
    """Exponentials of random combinations of these sizes."""
    drawn = torch.randn(len(sizes), len(algebra), generator=generator, dtype=torch.float64)
    drawn = drawn / drawn.norm(dim=1, keepdim=True) * sizes[:, None]
    return torch.linalg.matrix_exp(torch.einsum("sd,dij->sij", drawn, algebra))


def _scanned(
    matrices: Float[Tensor, "k n n"],
    algebra: Float[Tensor, "d n n"],
    starts: int,
    generator: torch.Generator,
) -> Float[Tensor, "k s n n"]:
    """Elements of each coset near the identity, out of many; of a group that is not compact, a few at random.

    Planes that turn at rates 3 and 5 pass the identity once while they turn three and five times, and there are other minima of the
    distance on the way.
    """
    rates = torch.linalg.eigvals(algebra + algebra.roll(1, 0))
    compact = bool(rates.real.abs().max() <= GROWTH * rates.abs().max().clamp_min(GROWTH))
    count, longest = (SCANNED_IN_COSET, LONGEST_SCAN) if compact else (starts, LONGEST_START)
    factors = _random_elements(algebra, torch.linspace(0.0, longest, count).to(algebra), generator)
    few = min(starts, SCAN_DESCENTS)
    nearest = [distance(one @ factors).topk(few, largest=False).indices for one in matrices]
    return torch.stack([one @ factors[rows] for one, rows in zip(matrices, nearest, strict=True)])


def polished(
    matrices: Float[Tensor, "k n n"], algebra: Float[Tensor, "d n n"]
) -> Float[Tensor, "k n n"]:
    """The elements of cosets nearest the identity, with a few random starts, to rounding."""
    near = nearest_to_identity(matrices, algebra, goal=0.0, starts=FEW_STARTS_IN_COSET)
    return _descend(near, algebra, 0.0, TOWARDS_IDENTITY._replace(small_gain=0.0))


def distance(matrices: Float[Tensor, "k n n"]) -> Float[Tensor, " k"]:
    """Distance of matrices from the identity, the larger one of themselves and their inverses."""
    one = torch.eye(matrices.shape[1]).to(matrices)
    return torch.maximum(_norms(matrices - one), _norms(torch.linalg.inv(matrices) - one))


def _norms(matrices: Float[Tensor, "k n n"]) -> Float[Tensor, " k"]:
    return torch.linalg.matrix_norm(matrices)


def _descend(
    matrices: Float[Tensor, "k n n"],
    algebra: Float[Tensor, "d n n"],
    goal: float,
    schedule: Schedule = TOWARDS_IDENTITY,
) -> Float[Tensor, "k n n"]:
    """Steps M → M exp(a), a in the algebra, until M is within `goal` of the identity."""
    one = torch.eye(matrices.shape[1]).to(matrices)

    def residual(current: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
        inverse, info = torch.linalg.inv_ex(current)
        inverse = torch.where((info == 0)[:, None, None], inverse, torch.inf)
        values = torch.cat([(current - one).flatten(1), (inverse - one).flatten(1)], 1)
        # d(M exp a) = M a, d(exp(-a) M⁻¹) = -a M⁻¹
        forth = (current[:, None] @ algebra).flatten(2)
        back = -(algebra @ inverse[:, None]).flatten(2)
        return values.nan_to_num(nan=1e150, posinf=1e150), torch.cat([forth, back], 2).mT

    def move(current: Tensor, step: Tensor) -> Tensor:
        return current @ torch.linalg.matrix_exp(torch.einsum("kd,dij->kij", step, algebra))

    done = goal**2 / (2 * matrices[0].numel())  # of the mean square; the goal is a norm
    return descend(matrices, residual, move, schedule._replace(done=done))[0]
