"""Functions without any symmetry, on normal data and on data that fills only a part of space."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Affine, Linear
from liegg.studies.error_rates.cases import (
    ACTIVATIONS,
    CASE_DTYPES,
    CASE_SAMPLES,
    Case,
    Function,
    normal,
    nothing,
    perceptron,
    pick,
    product,
)

WEIGHT_GAINS = {"default weights": 1.0, "weights × 2.5": 2.5, "weights × 4": 4.0}
POLYNOMIAL_DEGREES = {"cubic polynomial": 3, "quartic polynomial": 4}
ASYMMETRIC_KINDS = (*WEIGHT_GAINS, *POLYNOMIAL_DEGREES)

ASYMMETRIC_OUTPUTS = (1, 2, 4)
LARGEST_INPUTS = {3: 12, 4: 6}
"""Largest number of inputs for each degree: the number of coefficients grows with that power."""

REGIONS = ("cone", "orthant", "far away", "subspace")
REGION_WIDTH = 0.3
"""Tangent of a typical angle of the cone, and relative spread of the data far from the origin."""


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A polynomial with all its coefficients.

    Attributes:
        terms: for each degree from 1 on, `[x, ..., x, c]`: coefficients of the products of inputs.
    """

    terms: tuple[Tensor, ...]

    def __call__(self, x: Float[Tensor, "b x"]) -> Float[Tensor, "b c"]:
        """Values on a batch."""
        total = product(x, self.terms[0])
        for term in self.terms[1:]:
            part = product(x, term.flatten(1)).unflatten(1, term.shape[1:])
            for _ in range(term.ndim - 2):
                part = (x.reshape(*x.shape, *[1] * (part.ndim - 2)) * part).sum(1)
            total = total + part
        return total


def polynomial(
    degree: int,
    inputs: int,
    outputs: int,
    generator: torch.Generator,
    *,
    dtype: torch.dtype = torch.float64,
) -> Polynomial:
    """A polynomial with normal coefficients.

    On standard normal data every degree has about the same share of the variance.
    """
    terms = []
    for power in range(1, degree + 1):
        drawn = torch.randn(
            (inputs,) * power + (outputs,), generator=generator, dtype=torch.float64
        )
        size = torch.arange(1, power + 1).prod().sqrt() * inputs ** (power / 2)
        terms.append((drawn / size).to(dtype))
    return Polynomial(tuple(terms))


def function(
    kind: str,
    inputs: int,
    outputs: int,
    generator: torch.Generator,
    *,
    dtype: torch.dtype = torch.float64,
) -> Function:
    r"""A random function of a kind, which has no symmetry.

    The determinant of the mean sensitivity over normal inputs is an analytic function of weights or
    coefficients, and zero exactly for functions with a symmetry; so these have measure zero as soon
    as one function of the kind has none. The polynomial $\sum_i x_i^k$ with $k \ge 3$ has none: in
    $\sum_i x_i^{k-1} (Ax + b)_i$ all monomials are different, so $A$ and $b$ are zero. Networks of
    two hidden layers approximate it together with its derivatives, on which the determinant depends
    continuously. (For $k = 2$ the monomials of $A_{ij}$ and $A_{ji}$ coincide: quadratic functions
    always have an $so(p, q)$, and are left out.) The smallest defect of a case, far above rounding,
    confirms this.

    Args:
        kind: one of `ASYMMETRIC_KINDS`.
        inputs: width of a sample.
        outputs: number of outputs.
        generator: random generator.
        dtype: precision.
    """
    if kind in POLYNOMIAL_DEGREES:
        return polynomial(POLYNOMIAL_DEGREES[kind], inputs, outputs, generator, dtype=dtype)
    hidden = (32,) * pick((2, 3), generator)
    activation = pick(tuple(ACTIVATIONS), generator)
    return perceptron(
        (inputs, *hidden, outputs),
        generator,
        gain=WEIGHT_GAINS[kind],
        activation=activation,
        dtype=dtype,
    )


def nonlinear_function(
    inputs: int, outputs: int, generator: torch.Generator, *, dtype: torch.dtype = torch.float64
) -> Function:
    """A random function of a clearly nonlinear kind."""
    kind = pick(("weights × 2.5", "cubic polynomial"), generator)
    return function(kind, inputs, outputs, generator, dtype=dtype)


def asymmetric(index: int, *, seed: int = 0) -> Case:
    """The case with this index: kinds in turn, everything else at random.

    Args:
        index: index of the case, from 0.
        seed: seed of the series.
    """
    generator = torch.Generator().manual_seed(1_000_003 * seed + index)
    kind = ASYMMETRIC_KINDS[index % len(ASYMMETRIC_KINDS)]
    n, copies = pick((2, 3, 4, 5, 6), generator), pick((1, 1, 2, 3), generator)
    copies = max(
        1, min(copies, LARGEST_INPUTS.get(POLYNOMIAL_DEGREES.get(kind, 0), n * copies) // n)
    )
    outputs, samples = pick(ASYMMETRIC_OUTPUTS, generator), pick(CASE_SAMPLES, generator)
    dtype, action = pick(CASE_DTYPES, generator), pick((Linear, Affine), generator)
    model = function(kind, n * copies, outputs, generator, dtype=dtype)
    data = normal(samples, n * copies, generator, dtype)
    return Case("asymmetric", kind, model, data, action(n, copies=copies), nothing(n), outputs)


def region(name: str, samples: int, n: int, generator: torch.Generator) -> Float[Tensor, "b n"]:
    """Samples of R^n in float64 that fill a part of it only.

    Args:
        name: `"cone"`, lengths of all sizes about one direction; `"orthant"`, positive numbers;
            `"far away"`, a small ball far from the origin; `"subspace"`, normal samples in n − 1
            dimensions.
        samples: number of samples.
        n: dimension.
        generator: random generator.
    """
    x = normal(samples, n, generator)
    direction = torch.nn.functional.normalize(normal(1, n, generator), dim=1)
    along = x @ direction.mT
    across = x - along * direction
    regions = {
        "cone": along.abs() * (direction + REGION_WIDTH * across),
        "orthant": x.abs(),
        "far away": 2 * direction + 2 * REGION_WIDTH * x,
        "subspace": across,
    }
    return regions[name]


def confined(index: int, *, seed: int = 0) -> Case:
    r"""The case with this index: regions in turn.

    A cone, an orthant and a ball contain open sets, on which an analytic function has no symmetry
    that it does not have everywhere: none. On a subspace, generators that vanish there do not move
    the data; for any other, $\nabla f(x) \cdot hx$ is not zero everywhere, since the gradient of a
    random function takes all directions on the subspace.

    Args:
        index: index of the case, from 0.
        seed: seed of the series.
    """
    generator = torch.Generator().manual_seed(1_000_003 * seed + 900_000 + index)
    name = REGIONS[index % len(REGIONS)]
    n, outputs, samples = (
        pick((3, 4, 5), generator),
        pick(ASYMMETRIC_OUTPUTS, generator),
        pick((500, 1000, 2000), generator),
    )
    dtype = pick((torch.float64, torch.float32), generator)
    model = nonlinear_function(n, outputs, generator, dtype=dtype)
    data = region(name, samples, n, generator).to(dtype)
    return Case("confined", name, model, data, Linear(n), nothing(n), outputs)
