"""Functions that are invariant by construction, with exactly the given symmetries."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.studies.error_rates.cases import (
    DTYPES,
    SAMPLES,
    Case,
    Function,
    normal,
    perceptron,
    pick,
    product,
)
from liegg.studies.error_rates.invariants import KINDS, Invariants

GAIN = 2.5
"""Gain of the networks of invariants, which makes them clearly nonlinear."""

OUTPUTS = (2, 3, 5)
CONDITION = 3.0
"""Largest condition number of a change of basis."""


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
    head = perceptron(
        (found.shape[1], 24, 24, outputs), generator, gain=GAIN, activation="tanh", dtype=dtype
    )
    matrix, centre, size = (part.to(dtype) for part in (basis.mT, found.mean(0), found.std(0)))

    def network(x: Float[Tensor, "b x"]) -> Float[Tensor, "b c"]:
        vectors = product(x.reshape(-1, chosen.n), matrix).reshape(len(x), -1, chosen.n)
        return head((chosen.features(vectors) - centre) / size)

    return network


def change_of_basis(n: int, generator: torch.Generator) -> Float[Tensor, "n n"]:
    """A random invertible matrix of condition at most `CONDITION`."""
    left, right = (torch.linalg.qr(normal(n, n, generator))[0] for _ in range(2))
    stretch = CONDITION ** (torch.rand(n, generator=generator, dtype=torch.float64) - 0.5)
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
    kind = tuple(KINDS)[index % len(KINDS)]
    chosen = KINDS[kind](generator)
    n, copies = chosen.n, chosen.copies
    in_its_own_basis = index // len(KINDS) % 2 == 0
    basis = torch.eye(n, dtype=torch.float64) if in_its_own_basis else change_of_basis(n, generator)
    outputs, samples, dtype = (
        pick(OUTPUTS, generator),
        pick(SAMPLES, generator),
        pick(DTYPES, generator),
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
