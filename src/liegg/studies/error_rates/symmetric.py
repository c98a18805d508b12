"""Functions that are invariant by construction, with exactly the given symmetries."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg.actions import Affine, Linear
from liegg.studies.error_rates.cases import (
    Case,
    Function,
    Perceptron,
    normal,
    perceptron,
    pick,
    product,
)
from liegg.studies.error_rates.invariants import KINDS, Features, Invariants

GAIN = 2.5
"""Gain of the networks of invariants, which makes them clearly nonlinear."""

DTYPES = (torch.float64, torch.float64, torch.float32, torch.float32, torch.bfloat16)
SAMPLES = (200, 500, 1000, 2000, 5000)
OUTPUTS = (2, 3, 5)
CONDITION = 3.0
"""Largest condition number of a change of basis."""


@dataclass(frozen=True, eq=False)
class OfInvariants:
    """A network of invariants of the sample in another basis.

    Attributes:
        features: invariants of samples `[b, copies, n]`.
        basis: `[n, n]`, applied to every vector first.
        centre: mean of the invariants, taken off.
        size: their standard deviations, divided out.
        head: the network.
    """

    features: Features
    basis: Float[Tensor, "n n"]
    centre: Float[Tensor, " k"]
    size: Float[Tensor, " k"]
    head: Perceptron

    def __call__(self, x: Float[Tensor, "b x"]) -> Float[Tensor, "b c"]:
        """Outputs of a batch of flat samples."""
        vectors = product(x.reshape(-1, len(self.basis)), self.basis.mT).reshape(
            len(x), -1, len(self.basis)
        )
        return self.head((self.features(vectors) - self.centre) / self.size)


def of_invariants(
    chosen: Invariants,
    outputs: int,
    generator: torch.Generator,
    *,
    basis: Float[Tensor, "n n"] | None = None,
    dtype: torch.dtype = torch.float64,
) -> Function:
    r"""A random network of invariants.

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
    return OfInvariants(
        chosen.features, basis.to(dtype), found.mean(0).to(dtype), found.std(0).to(dtype), head
    )


def change_of_basis(n: int, generator: torch.Generator) -> Float[Tensor, "n n"]:
    """A random invertible matrix of condition at most `CONDITION`."""
    left, right = (torch.linalg.qr(normal(n, n, generator))[0] for _ in range(2))
    stretch = CONDITION ** (torch.rand(n, generator=generator, dtype=torch.float64) - 0.5)
    return left @ stretch.diag() @ right


def conjugated(
    algebra: Float[Tensor, "d m m"], basis: Float[Tensor, "n n"]
) -> Float[Tensor, "d m m"]:
    """Algebra of the function $f(Bx)$, where the algebra of $f$ is given: $B^{-1} h B$, homogeneous where that is."""
    more = algebra.shape[-1] - len(basis)
    wide = torch.block_diag(basis, torch.eye(more, dtype=basis.dtype)) if more else basis
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
    rotate = bool(index // len(KINDS) % 2)
    basis = change_of_basis(n, generator) if rotate else torch.eye(n, dtype=torch.float64)
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
