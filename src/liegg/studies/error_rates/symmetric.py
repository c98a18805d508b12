"""Functions that are invariant by construction: networks of the invariants of classical groups.

Each set of invariants comes with the complete algebra that preserves it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.algebra import catalog
from liegg.studies.error_rates.cases import (
    CASE_DTYPES,
    CASE_SAMPLES,
    Case,
    Function,
    normal,
    pick,
    product,
    tanh_network,
)

Features = Callable[[Tensor], Tensor]

SYMMETRIC_OUTPUTS = (2, 3, 5)
LARGEST_CONDITION = 3.0
"""Largest condition number of a change of basis."""


@dataclass(frozen=True, eq=False)
class Invariants:
    """Functions of several vectors, with all generators that preserve each of them.

    Attributes:
        n: dimension of a vector.
        copies: vectors per sample.
        algebra: generators `[d, n, n]`, or homogeneous ones `[d, n+1, n+1]`.
        features: invariants `[b, k]` of samples `[b, copies, n]`.
        affine: whether the algebra moves the origin and needs affine candidates.
    """

    n: int
    copies: int
    algebra: Float[Tensor, "d m m"]
    features: Features
    affine: bool = False


def metric_invariants(p: int, q: int = 0, *, copies: int = 1) -> Invariants:
    r"""so(p, q): all products in a metric $η$. A generator preserves them only if $h^\top η + η h = 0$."""
    return Invariants(p + q, copies, catalog.so(p, q), metric_products(p, q))


def rotations(generator: torch.Generator) -> Invariants:
    """so(n): all inner products."""
    n = pick((2, 3, 4, 5, 6), generator)
    return metric_invariants(n, copies=pick((1, 2, 3), generator))


def boosts(generator: torch.Generator) -> Invariants:
    """so(p, q): all products of an indefinite metric."""
    p, q = pick(((1, 1), (1, 2), (2, 2), (1, 3), (2, 3)), generator)
    return metric_invariants(p, q, copies=pick((1, 2, 3), generator))


def blocks(generator: torch.Generator) -> Invariants:
    """so(k) ⊕ so(l): the inner products of both parts. Preserving both forms leaves no map between the parts."""
    k, rest = pick(((2, 2), (2, 3), (3, 3), (2, 4)), generator)
    masks = (torch.tensor([1.0] * k + [0.0] * rest), torch.tensor([0.0] * k + [1.0] * rest))
    algebra = catalog.direct_sum(catalog.so(k), catalog.so(rest))
    features = joined(*map(inner_products, masks))
    return Invariants(k + rest, pick((1, 2), generator), algebra, features)


def axes(generator: torch.Generator) -> Invariants:
    r"""Rotations of k coordinates about fixed axes: their inner products, and every other coordinate as it is.

    Coordinates that stay have zero rows in $h$, and preserving the form of the others makes their columns zero too.
    """
    k, fixed = pick(((2, 1), (2, 2), (3, 1), (3, 2)), generator)
    form = inner_products(torch.tensor([1.0] * k + [0.0] * fixed))
    algebra = pad(catalog.so(k), (0, fixed, 0, fixed))
    features = joined(form, lambda x: x[:, :, k:].flatten(1))
    return Invariants(k + fixed, pick((1, 2), generator), algebra, features)


def volumes(generator: torch.Generator) -> Invariants:
    """sl(n): determinants of n vectors. They are multiplied by the trace of a generator, so it must be zero."""
    n, more = pick((2, 3, 4), generator), pick((0, 1), generator)
    return Invariants(n, n + more, catalog.sl(n), determinants)


def areas(generator: torch.Generator) -> Invariants:
    r"""sp(n): the symplectic products of all pairs. A generator preserves one only if $h^\top J + J h = 0$."""
    return Invariants(
        n := pick((2, 4, 6), generator), pick((2, 3), generator), catalog.sp(n), symplectic_products
    )


def unitary(generator: torch.Generator) -> Invariants:
    """u(m) on R^2m: Hermitian products, whose real parts are preserved by so(2m) and whose imaginary parts by sp(2m)."""
    m = pick((2, 3), generator)
    features = joined(metric_products(2 * m), symplectic_products)
    return Invariants(2 * m, 2, catalog.u(m), features)


def scalings(generator: torch.Generator) -> Invariants:
    """Scaling: the direction of the complete sample. $hx$ is parallel to $x$ for all $x$ only if $h$ is a multiple of 1."""
    n, copies = pick((2, 3, 4, 5), generator), pick((1, 2), generator)
    return Invariants(
        n,
        copies,
        catalog.scaling(n),
        lambda x: x.flatten(1) / x.flatten(1).norm(dim=1, keepdim=True),
    )


def translations(generator: torch.Generator) -> Invariants:
    """Translations: all differences. $A(x_i - x_1) = 0$ leaves no linear part."""
    n, copies = pick((2, 3, 4, 5), generator), pick((2, 3), generator)
    return Invariants(
        n, copies, catalog.translation(n), lambda x: differences(x).flatten(1), affine=True
    )


def motions(generator: torch.Generator) -> Invariants:
    """se(n) and se(p, q): squared distances, of some metric. Its linear part preserves the metric, its translation is free."""
    p, q = pick(((2, 0), (3, 0), (4, 0), (1, 1), (1, 2)), generator)
    return motion_invariants(p, q, copies=pick((2, 3), generator))


def motion_invariants(p: int, q: int = 0, *, copies: int) -> Invariants:
    """se(p, q): products of the differences from the first vector, which determine all distances."""
    products = metric_products(p, q)
    return Invariants(
        p + q, copies, catalog.se(p, q), lambda x: products(differences(x)), affine=True
    )


INVARIANT_KINDS: dict[str, Callable[[torch.Generator], Invariants]] = {
    "so(n)": rotations,
    "so(p, q)": boosts,
    "so(k) ⊕ so(l)": blocks,
    "so(k) about axes": axes,
    "sl(n)": volumes,
    "sp(n)": areas,
    "u(m)": unitary,
    "scaling": scalings,
    "translations": translations,
    "se(n), se(p, q)": motions,
}


def joined(*parts: Features) -> Features:
    """Several sets of features side by side."""
    return lambda x: torch.cat([part(x) for part in parts], dim=1)


def differences(x: Float[Tensor, "b copies n"]) -> Float[Tensor, "b others n"]:
    """Differences of the vectors from the first one."""
    return x[:, 1:] - x[:, :1]


def metric_products(p: int, q: int = 0) -> Features:
    """Products of all pairs of vectors in the metric of signature (p, q)."""
    return inner_products(torch.tensor([1.0] * p + [-1.0] * q))


def inner_products(signs: Float[Tensor, " n"]) -> Features:
    """Products of all pairs of vectors, including a vector with itself, in the metric of these signs."""

    def products(x: Tensor) -> Tensor:
        left, right = zip(*combinations_with_replacement(range(x.shape[1]), 2), strict=True)
        return (x[:, list(left)] * signs.to(x) * x[:, list(right)]).sum(2)

    return products


def symplectic_products(x: Float[Tensor, "b copies n"]) -> Float[Tensor, "b k"]:
    """Area forms of all pairs of vectors (q₁…q_m, p₁…p_m)."""
    left, right = zip(*combinations(range(x.shape[1]), 2), strict=True)
    (q, p), (q2, p2) = (x[:, list(some)].chunk(2, dim=2) for some in (left, right))
    return (q * p2 - p * q2).sum(2)


def determinants(x: Float[Tensor, "b copies n"]) -> Float[Tensor, "b k"]:
    """Determinants of all choices of n vectors by Leibniz' formula, which works in every precision."""
    n = x.shape[2]
    orders = list(permutations(range(n)))
    signs = [round(float(torch.linalg.det(torch.eye(n)[list(order)]))) for order in orders]
    found = []
    for chosen in combinations(range(x.shape[1]), n):
        terms = [
            sign * x[:, chosen, order].prod(1) for sign, order in zip(signs, orders, strict=True)
        ]
        found.append(torch.stack(terms).sum(0))
    return torch.stack(found, dim=1)


def of_invariants(
    chosen: Invariants,
    outputs: int,
    generator: torch.Generator,
    *,
    basis: Float[Tensor, "n n"] | None = None,
    dtype: torch.dtype = torch.float64,
) -> Function:
    r"""A random network of invariants of the sample, which are shifted and scaled to unit variance.

    Its symmetries are exactly those of the invariants. Along a generator the output changes by
    $Dg \cdot D\varphi(x)\,hx$. Outside the algebra $D\varphi(x)\,hx$ is not zero, and with as many
    outputs as invariants $Dg$ is injective almost everywhere. With fewer, its kernel changes from
    sample to sample; the first defect outside the algebra, far above rounding in every case, shows
    that no generator stays in it.

    Args:
        chosen: the invariants.
        outputs: number of outputs.
        generator: random generator.
        basis: applied to every vector first; by default the identity.
        dtype: precision of the function.
    """
    basis = torch.eye(chosen.n, dtype=torch.float64) if basis is None else basis
    trial = (
        normal(2000, chosen.copies * chosen.n, generator).reshape(-1, chosen.copies, chosen.n)
        @ basis.mT
    )
    found = chosen.features(trial)
    head = tanh_network((found.shape[1], 24, 24, outputs), generator, dtype)
    matrix, centre, size = (part.to(dtype) for part in (basis.mT, found.mean(0), found.std(0)))

    def network(x: Float[Tensor, "b x"]) -> Float[Tensor, "b c"]:
        vectors = product(x.reshape(-1, chosen.n), matrix).reshape(len(x), -1, chosen.n)
        return head((chosen.features(vectors) - centre) / size)

    return network


def change_of_basis(n: int, generator: torch.Generator) -> Float[Tensor, "n n"]:
    """A random invertible matrix of condition at most `LARGEST_CONDITION`."""
    left, right = (torch.linalg.qr(normal(n, n, generator))[0] for _ in range(2))
    stretch = LARGEST_CONDITION ** (torch.rand(n, generator=generator, dtype=torch.float64) - 0.5)
    return left @ stretch.diag() @ right


def conjugated(
    algebra: Float[Tensor, "d m m"], basis: Float[Tensor, "n n"]
) -> Float[Tensor, "d m m"]:
    """Algebra of the function $f(Bx)$, where the algebra of $f$ is given: $B^{-1} h B$, homogeneous where that is."""
    translation = torch.eye(algebra.shape[-1] - len(basis), dtype=basis.dtype)
    wide = torch.block_diag(basis, translation)
    return torch.linalg.inv(wide) @ algebra @ wide


def exact(index: int, *, seed: int = 0) -> Case:
    """The case with this index: kinds in turn, every second in a random basis, the rest random.

    Args:
        index: index of the case, from 0.
        seed: seed of the series.
    """
    generator = torch.Generator().manual_seed(1_000_003 * seed + 500_000 + index)
    kind = tuple(INVARIANT_KINDS)[index % len(INVARIANT_KINDS)]
    chosen = INVARIANT_KINDS[kind](generator)
    n, copies = chosen.n, chosen.copies
    in_its_own_basis = index // len(INVARIANT_KINDS) % 2 == 0
    basis = torch.eye(n, dtype=torch.float64) if in_its_own_basis else change_of_basis(n, generator)
    outputs, samples, dtype = (
        pick(SYMMETRIC_OUTPUTS, generator),
        pick(CASE_SAMPLES, generator),
        pick(CASE_DTYPES, generator),
    )
    affine = chosen.affine or pick((True, False), generator)
    model = of_invariants(chosen, outputs, generator, basis=basis, dtype=dtype)
    algebra = conjugated(chosen.algebra, basis)
    if affine and not chosen.affine:
        algebra = pad(algebra, (0, 1, 0, 1))
    action = (Affine if affine else Linear)(n, copies=copies)
    return Case(
        "exact",
        kind,
        model,
        normal(samples, copies * n, generator, dtype),
        action,
        algebra,
        outputs,
    )
