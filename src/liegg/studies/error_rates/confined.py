"""Functions without symmetry on data that fills only a part of space."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Linear
from liegg.studies.error_rates.asymmetric import function
from liegg.studies.error_rates.cases import Case, normal, pick

REGIONS = ("cone", "orthant", "far away", "subspace")
FUNCTIONS = ("weights × 2.5", "cubic polynomial")
WIDTH = 0.3
"""Tangent of a typical angle of the cone, and relative spread of the data far from the origin."""


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
    if name == "orthant":
        return x.abs()
    if name == "subspace":
        return x - (x @ direction.mT) * direction
    if name == "far away":
        return 2 * direction + 2 * WIDTH * x
    across = x - (x @ direction.mT) * direction
    return (x @ direction.mT).abs() * (direction + WIDTH * across)


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
        pick((1, 2, 4), generator),
        pick((500, 1000, 2000), generator),
    )
    dtype = pick((torch.float64, torch.float32), generator)
    model = function(pick(FUNCTIONS, generator), n, outputs, generator, dtype=dtype)
    data = region(name, samples, n, generator).to(dtype)
    return Case(
        "confined", name, model, data, Linear(n), torch.zeros(0, n, n, dtype=torch.float64), outputs
    )
