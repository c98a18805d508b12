"""A function with known symmetries, its data, and the algebra that preserves it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Affine, Linear

Function = Callable[[Tensor], Tensor]
T = TypeVar("T")

ACTIVATIONS: dict[str, Function] = {"tanh": torch.tanh, "swish": torch.nn.functional.silu}
"""Analytic ones, so that a random network is an analytic function."""

GAIN = 2.5
"""Factor of the default weights that makes a network clearly nonlinear on unit data."""

DTYPES = (torch.float64, torch.float64, torch.float32, torch.float32, torch.bfloat16)
SAMPLES = (200, 500, 1000, 2000, 5000)
"""Precisions and numbers of samples, one of which a case takes at random."""

CLEARLY_NONLINEAR = 0.15
"""Smallest midpoint ratio (`inputs.nonlinearity`) of a function that is clearly nonlinear on its data.

Random networks with weights × 2.5 have 0.19 and more, those of default initialisation with one
output mostly less than 0.1. The latter are linear up to a tenth, and a linear function of one output
has n² − n exact symmetries.
"""


@dataclass(frozen=True, eq=False)
class Case:
    """A function with known symmetries.

    Attributes:
        family: `"asymmetric"`, `"exact"`, `"broken"` or `"confined"`.
        kind: kind of function, such as `"so(n)"`.
        model: the function, on batches of flat samples.
        data: samples `[N, copies · n]` in the precision of the function.
        action: candidate generators.
        algebra: a basis of all generators that preserve the function; empty for none.
        outputs: number of outputs.
    """

    family: str
    kind: str
    model: Function
    data: Float[Tensor, "b x"]
    action: Linear | Affine
    algebra: Float[Tensor, "d m m"]
    outputs: int

    @property
    def expected(self) -> int:
        """Dimension of the algebra."""
        return len(self.algebra)


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A multi-layer perceptron as a plain function of its weights.

    Attributes:
        weights: `[inputs, outputs]` of each layer.
        biases: `[outputs]` of each layer.
        activation: one of `ACTIVATIONS`.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    activation: str = "swish"

    def __call__(self, x: Float[Tensor, "b i"]) -> Float[Tensor, "b o"]:
        """Outputs of a batch."""
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = product(x, weight) + bias
            if layer < len(self.weights) - 1:
                x = ACTIVATIONS[self.activation](x)
        return x


def product(x: Float[Tensor, "b i"], weight: Float[Tensor, "i o"]) -> Float[Tensor, "b o"]:
    """Matrix product; half precision is summed in float32 and rounded, the same on every machine."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return (x.to(wide) @ weight.to(wide)).to(x.dtype)


def perceptron(
    sizes: tuple[int, ...],
    generator: torch.Generator,
    *,
    gain: float = 1.0,
    activation: str = "swish",
    dtype: torch.dtype = torch.float64,
) -> Perceptron:
    """A network with random weights: those of `nn.Linear`, uniform in ±1/√inputs, times a gain.

    Args:
        sizes: widths of its layers, from input to output.
        generator: random generator.
        gain: factor of all weights and biases; 1 is the default initialisation, which is nearly
            linear on unit data.
        activation: one of `ACTIVATIONS`.
        dtype: precision of the network; the weights are drawn in float64 and rounded.
    """

    def uniform(*shape: int, inputs: int) -> Tensor:
        drawn = torch.rand(shape, generator=generator, dtype=torch.float64)
        return ((2 * drawn - 1) * gain * inputs**-0.5).to(dtype)

    weights = tuple(uniform(inputs, outputs, inputs=inputs) for inputs, outputs in pairwise(sizes))
    biases = tuple(uniform(outputs, inputs=inputs) for inputs, outputs in pairwise(sizes))
    return Perceptron(weights, biases, activation)


def tanh_network(
    sizes: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype = torch.float64
) -> Perceptron:
    """A clearly nonlinear network with random weights."""
    return perceptron(sizes, generator, gain=GAIN, activation="tanh", dtype=dtype)


def normal(
    samples: int, width: int, generator: torch.Generator, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "b x"]:
    """Independent standard normal samples, drawn in float64 and rounded."""
    return torch.randn(samples, width, generator=generator, dtype=torch.float64).to(dtype)


def pick(options: tuple[T, ...], generator: torch.Generator) -> T:
    """One of some options at random."""
    return options[int(torch.randint(len(options), (), generator=generator))]


def nothing(side: int) -> Float[Tensor, "0 m m"]:
    """The algebra of a function without symmetry."""
    return torch.zeros(0, side, side, dtype=torch.float64)
