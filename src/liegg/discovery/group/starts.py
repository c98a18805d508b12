"""Where a search over matrices begins: structured elements first, then random ones in both components."""

import itertools

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import LieggError
from liegg.algebra.forms.commutant import invariant_subspaces
from liegg.algebra.forms.forms import preserved_forms

Starts = list[tuple[str, Float[Tensor, "n n"]]]

MOST_PATTERNS = 6
"""Largest dimension in which all sign patterns are tried; above it one sign, all but one, and all."""

MOST_SWAPS = 24
"""Largest dimension in which axes are exchanged pairwise."""

SAME = 1e-9
"""Relative distance of starts that count as equal."""


def axis_starts(n: int) -> Starts:
    """−1, sign flips, transpositions and cyclic shifts of the coordinates."""
    one = torch.eye(n, dtype=torch.float64)
    found = [("−1", -one)]
    found += [("sign flip", torch.diag(signs)) for signs in _signs(n)]
    if n <= MOST_SWAPS:
        for i, j in itertools.combinations(range(n), 2):
            order = list(range(n))
            order[i], order[j] = j, i
            found += [("swap of axes", one[order]), ("swap of axes", -one[order])]
        found += [("cyclic shift of axes", one.roll(k, 0)) for k in range(1, n)]
    return _distinct(found)


def spectral_starts(moment: Float[Tensor, "n n"], gradients: Float[Tensor, "n n"]) -> Starts:
    r"""Sign patterns of the eigenvectors of $\Sigma C$.

    What preserves the second moment $\Sigma$ of the data and the mean square $C$ of the gradients commutes with $\Sigma C$, so a simple
    spectrum leaves signs.

    Args:
        moment: second moment of the data.
        gradients: mean outer product of the gradients.
    """
    root, inverse = _roots(moment)
    _, axes = torch.linalg.eigh(root @ gradients @ root)
    into, out = root @ axes, axes.mT @ inverse
    return [("sign of an eigenvector", into @ torch.diag(s) @ out) for s in _signs(len(moment))]


def algebra_starts(
    algebra: Float[Tensor, "d n n"], moment: Float[Tensor, "n n"], *, uncertainty: float = 0.0
) -> Starts:
    """±1 on each invariant part of an algebra, and reflections of the quadratic forms it preserves.

    A matrix that commutes with an irreducible part is a multiple of 1 there (Schur). Reflections of a preserved form represent the
    outer automorphism of so(p, q); on a form of both signs there is one for each sign.

    Args:
        algebra: generators.
        moment: second moment of the data.
        uncertainty: relative error of each unit generator.
    """
    if not len(algebra):
        return []
    found: Starts = []
    try:
        parts = invariant_subspaces(algebra, uncertainty=uncertainty)
        forms = preserved_forms(algebra, uncertainty=uncertainty).symmetric
    except LieggError:
        return []
    found += _signs_on(parts)
    root, inverse = _roots(moment)
    for form in forms:
        values, axes = torch.linalg.eigh(root @ form @ root)
        if float(values.abs().min()) < 1e-6 * float(values.abs().max()):
            continue
        into, out = root @ axes, axes.mT @ inverse
        found += [("reflection of a form", into @ torch.diag(s) @ out) for s in _signs(len(form))]
    return _distinct(found)


def random_starts(
    count: int, metrics: list[Float[Tensor, "n n"]], generator: torch.Generator
) -> Float[Tensor, "s n n"]:
    """Random elements of the orthogonal groups of several metrics, both determinants alike, and of GL(n).

    Args:
        count: number of starts.
        metrics: second moments that the elements preserve, in turn.
        generator: of the random numbers.
    """
    n = len(metrics[0])
    found = []
    for k in range(count):
        z = torch.randn(n, n, generator=generator, dtype=torch.float64)
        q, r = torch.linalg.qr(z)
        q = q * r.diagonal().sign()
        if (float(torch.linalg.det(q)) > 0) != (k % 2 == 0):
            q[:, 0] = -q[:, 0]
        root, inverse = _roots(metrics[(k // 2) % len(metrics)])
        h = root @ q @ inverse
        if k % 8 >= 6:
            stretch = 0.3 * torch.randn(n, n, generator=generator, dtype=torch.float64)
            h = root @ torch.linalg.matrix_exp(stretch) @ inverse @ h
        found.append(h)
    return torch.stack(found)


def _signs(n: int) -> list[Float[Tensor, " n"]]:
    """Sign patterns other than all positive: all of them in few dimensions."""
    if n <= MOST_PATTERNS:
        patterns = itertools.product((1.0, -1.0), repeat=n)
        return [torch.tensor(p, dtype=torch.float64) for p in patterns if min(p) < 0]
    one = torch.ones(n, dtype=torch.float64)
    single = [torch.where(torch.arange(n) == i, -1.0, 1.0).double() for i in range(n)]
    return [-one, *single, *(-s for s in single)]


def _signs_on(parts: list[Float[Tensor, "n _"]]) -> Starts:
    """±1 on every invariant subspace, given by bases that together span the space."""
    basis = torch.cat(parts, dim=1)
    n = basis.shape[0]
    if basis.shape[1] != n or float(torch.linalg.cond(basis)) > 1e6:
        return [("−1", -torch.eye(n, dtype=torch.float64))]
    sizes = [part.shape[1] for part in parts]
    inverse = torch.linalg.inv(basis)
    found = []
    for signs in _signs(len(parts)):
        each = torch.cat([s.expand(k) for s, k in zip(signs, sizes, strict=True)])
        found.append(("sign of an invariant part", basis @ torch.diag(each) @ inverse))
    return found


def _roots(metric: Float[Tensor, "n n"]) -> tuple[Tensor, Tensor]:
    """Square root and inverse root of a second moment; directions without any are left as they are."""
    values, axes = torch.linalg.eigh(metric)
    largest = float(values[-1]) or 1.0
    values = values.clamp_min(1e-8 * largest).sqrt()
    return (axes * values) @ axes.mT, (axes / values) @ axes.mT


def _distinct(starts: Starts) -> Starts:
    """Starts without repeats."""
    kept: Starts = []
    for words, matrix in starts:
        if all(float((matrix - other).norm()) > SAME * float(matrix.norm()) for _, other in kept):
            kept.append((words, matrix))
    return kept
