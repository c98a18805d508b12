"""Where a search over matrices begins: structured elements first, then random ones in both components."""

import itertools
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import LieggError
from liegg.actions.finite.vectors import VectorSpace
from liegg.algebra.finite.compact import roots
from liegg.algebra.finite.components import sign_changes, sign_patterns
from liegg.algebra.finite.outer import outer_elements
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.forms.forms import preserved_forms
from liegg.algebra.subspace import linear_part, orthonormal
from liegg.discovery.group.candidate import Candidate
from liegg.discovery.group.setting import Setting

Starts = list[tuple[str, Float[Tensor, "n n"]]]

OUTPUT_COMBINATIONS = 4
"""Random combinations of outputs whose gradients and residuals are taken where there are more outputs."""

MOST_SWAPS = 24
"""Largest dimension in which axes are exchanged pairwise."""

SAME_START = 1e-9
"""Relative distance of starts that count as equal."""


@dataclass(frozen=True, eq=False)
class Moments:
    """The data's own coordinates.

    Attributes:
        mean: mean of the vectors; zero for linear maps.
        moment: second moment about it.
        gradients: mean outer product of the gradients.
    """

    mean: Float[Tensor, " n"]
    moment: Float[Tensor, "n n"]
    gradients: Float[Tensor, "n n"]

    @cached_property
    def roots(self) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n n"]]:
        """The square root of the second moment and its inverse."""
        return roots(self.moment)

    @property
    def rank(self) -> int:
        """Dimension that the vectors span."""
        values = torch.linalg.eigvalsh(self.moment)
        return int((values > 1e-10 * values[-1]).sum())


def moments_of(setting: Setting, space: VectorSpace) -> Moments:
    """Moments of the data and of the gradients, on the search samples."""
    question = setting.search
    x = question.x.clone().requires_grad_()
    with torch.enable_grad():
        y = question.model(x)
        generator = torch.Generator().manual_seed(setting.seed)
        slopes = []
        for _ in range(min(OUTPUT_COMBINATIONS, y.shape[1])):
            weights = torch.randn(y.shape[1], generator=generator, dtype=torch.float64).to(y)
            if y.requires_grad:
                slope = torch.autograd.grad(
                    (y * weights).sum(), x, retain_graph=True, materialize_grads=True
                )[0]
                slopes.append(space.vectors(slope.double()).flatten(0, 1).cpu())
    vectors = space.factors(question.x.double()).flatten(0, 1).cpu()
    n, mean = space.n, torch.zeros(space.n, dtype=torch.float64)
    if space.homogeneous:  # of the points: vectors have no place
        mean = vectors[:, :n].mT @ vectors[:, n] / vectors[:, n].sum().clamp_min(1.0)
    centred = vectors[:, :n] - (vectors[:, n:] * mean if space.homogeneous else 0.0)
    gradient = torch.cat(slopes) if slopes else torch.zeros_like(centred)
    gradient = gradient.nan_to_num(0.0, 0.0, 0.0)
    return Moments(
        mean, centred.mT @ centred / len(centred), gradient.mT @ gradient / max(1, len(gradient))
    )


def structured(
    space: VectorSpace, moments: Moments, algebra: Float[Tensor, "d n n"], *, uncertainty: float
) -> list[Candidate]:
    """Elements that can be stated without a search: signs, swaps, cycles, eigenvectors, forms of the algebra.

    Args:
        space: what they act on.
        moments: the data's own coordinates.
        algebra: generators of the continuous symmetries, homogeneous for affine maps.
        uncertainty: relative error of each unit generator.
    """
    n = len(moments.moment)
    linear = linear_part(orthonormal(algebra), n)
    starts = [
        *axis_starts(n),
        *spectral_starts(moments),
        *algebra_starts(linear, moments, uncertainty=uncertainty),
    ]
    if space.homogeneous:
        centres = [moments.mean]
        if float(moments.mean.norm()) > 1e-3 * float(moments.moment.diagonal().sum().sqrt()):
            centres.append(torch.zeros_like(moments.mean))
        starts = [(words, about(h, centre)) for words, h in starts for centre in centres]
    return [Candidate(((space, h),), words) for words, h in starts]


def about(h: Float[Tensor, "n n"], centre: Float[Tensor, " n"]) -> Float[Tensor, "m m"]:
    """The homogeneous matrix of a linear map about a centre."""
    n = len(h)
    matrix = torch.eye(n + 1, dtype=torch.float64)
    matrix[:n, :n] = h
    matrix[:n, n] = centre - h @ centre
    return matrix


def axis_starts(n: int) -> Starts:
    """−1, sign flips, transpositions and cyclic shifts of the coordinates."""
    one = torch.eye(n, dtype=torch.float64)
    found = [("−1", -one)]
    found += [("sign flip", torch.diag(signs)) for signs in sign_patterns(n)]
    if n <= MOST_SWAPS:
        for i, j in itertools.combinations(range(n), 2):
            order = list(range(n))
            order[i], order[j] = j, i
            found += [("swap of axes", one[order]), ("swap of axes", -one[order])]
        found += [("cyclic shift of axes", one.roll(k, 0)) for k in range(1, n)]
    return _distinct(found)


def spectral_starts(moments: Moments) -> Starts:
    r"""Sign patterns of the eigenvectors of $\Sigma C$.

    What preserves the second moment $\Sigma$ of the data and the mean square $C$ of the gradients commutes with $\Sigma C$, so a simple
    spectrum leaves signs.
    """
    root, _ = moments.roots
    return _axis_signs("sign of an eigenvector", moments, root @ moments.gradients @ root)


def algebra_starts(
    algebra: Float[Tensor, "d n n"], moments: Moments, *, uncertainty: float = 0.0
) -> Starts:
    """±1 on each invariant part of an algebra, reflections of the quadratic forms it preserves, and outer automorphisms.

    A matrix that commutes with an irreducible part is a multiple of 1 there (Schur). Reflections of a preserved form represent the
    outer automorphism of so(p, q); on a form of both signs there is one for each sign. Others are reflections of one part, complex
    conjugations and exchanges of isomorphic parts.

    Args:
        algebra: generators.
        moments: the data's own coordinates.
        uncertainty: relative error of each unit generator.
    """
    if not len(algebra):
        return []
    try:
        parts = invariant_subspaces(algebra, uncertainty=uncertainty)
        forms = preserved_forms(algebra, uncertainty=uncertainty).symmetric
    except LieggError:
        return []
    starts: Starts = [("sign of an invariant part", h) for h in sign_changes(parts)]
    root, _ = moments.roots
    for form in forms:
        inside = root @ form @ root
        if float(torch.linalg.cond(inside)) < 1e6:
            starts += _axis_signs("reflection of a form", moments, inside)
    identity = torch.eye(algebra.shape[1], dtype=torch.float64)
    starts += outer_elements(algebra, parts, [identity, moments.moment], uncertainty=uncertainty)
    return _distinct(starts)


def _axis_signs(words: str, moments: Moments, form: Float[Tensor, "n n"]) -> Starts:
    """Sign patterns along the eigenvectors of a form in the data's own coordinates."""
    root, inverse = moments.roots
    _, axes = torch.linalg.eigh(form)
    into, out = root @ axes, axes.mT @ inverse
    return [(words, into @ signs.diag() @ out) for signs in sign_patterns(len(form))]


def random_starts(
    count: int, moments: Moments, generator: torch.Generator
) -> Float[Tensor, "s n n"]:
    """Random elements of the orthogonal groups of several metrics, both determinants alike, and of GL(n).

    The metrics are that of the given coordinates, that of the data, and that of the gradients where they span the space.

    Args:
        count: number of starts.
        moments: the data's own coordinates.
        generator: of the random numbers.
    """
    n = len(moments.moment)
    one = torch.eye(n, dtype=torch.float64)
    metrics = [(one, one), moments.roots]
    values = torch.linalg.eigvalsh(moments.gradients)
    if float(values[0]) > 1e-6 * float(values[-1]):
        metrics.append(roots(torch.linalg.inv(moments.gradients)))
    starts = []
    for k in range(count):
        z = torch.randn(n, n, generator=generator, dtype=torch.float64)
        q, r = torch.linalg.qr(z)
        q = q * r.diagonal().sign()
        if (float(torch.linalg.det(q)) > 0) != (k % 2 == 0):
            q[:, 0] = -q[:, 0]
        root, inverse = metrics[(k // 2) % len(metrics)]
        h = root @ q @ inverse
        if k % 8 >= 6:
            stretch = 0.3 * torch.randn(n, n, generator=generator, dtype=torch.float64)
            h = root @ torch.linalg.matrix_exp(stretch) @ inverse @ h
        starts.append(h)
    return torch.stack(starts)


def _distinct(starts: Starts) -> Starts:
    """Starts without repeats."""
    kept: Starts = []
    for words, matrix in starts:
        if all(
            float((matrix - other).norm()) > SAME_START * float(matrix.norm()) for _, other in kept
        ):
            kept.append((words, matrix))
    return kept
