"""Functions with known symmetries, their data and what is true of them: cases of a series, and traps."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, Affine, Linear

Function = Callable[[Tensor], Tensor]
T = TypeVar("T")

ACTIVATIONS: dict[str, Function] = {"tanh": torch.tanh, "swish": torch.nn.functional.silu}
"""Analytic ones, so that a random network is an analytic function."""

NONLINEAR_GAIN = 2.5
"""Factor of the default weights that makes a network clearly nonlinear on unit data."""

CASE_DTYPES = (torch.float64, torch.float64, torch.float32, torch.float32, torch.bfloat16)
CASE_SAMPLES = (200, 500, 1000, 2000, 5000)
"""Precisions and numbers of samples, one of which a case takes at random."""

CLEARLY_NONLINEAR = 0.15
"""Smallest midpoint ratio (`inputs.nonlinearity`) of a function that is clearly nonlinear on its data.

Random networks with weights × 2.5 have 0.19 and more, those of default initialisation with one
output mostly less than 0.1. The latter are linear up to a tenth, and a linear function of one output
has n² − n exact symmetries.
"""

TRAP_SAMPLES = (300, 500, 1000)
FEWER_SAMPLES = (200, 500, 1000)
"""Numbers of samples, one of which a trap takes at random."""

POPULATION_SAMPLES = 6000
"""Samples of the population, from which the true defects are computed."""

Draw = Callable[[int, torch.Generator], Tensor]
"""Draws a number of samples of a distribution."""


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Trap:
    """A case that a rule may be wrong about, with its known answer.

    Attributes:
        model: the function as it is analysed.
        data: its samples.
        action: candidate generators.
        algebra: a basis of all candidates that preserve the function; empty for none.
        label: what is special about this one, such as its size.
        output_action: action on the outputs, for equivariance.
        held_out: samples on which the symmetries are verified by finite transformations.
        strict: whether only the algebra and its broken part may be counted. Otherwise other
            directions may be counted too, if their true defects are as small as their grade says.
        decidable: whether the data show the symmetries. Otherwise "undecided" is the right answer.
        refused: whether the model should be refused, or reported with a warning.
        population: many samples of the same distribution, for the true defects; None where the
            algebra says everything.
        reference: the function in float64, with the true derivative; None if `model` has it.
        names: right names of the algebra, in which `*` stands for any text; empty to take those of
            the exact algebra.
        broken: a basis of candidates beside the algebra that preserve the function nearly: all of
            them are found, at a grade that their true defects allow, or none.
        violating: share of all samples that violate what the others obey exactly; 0 for none. "Exact" is then honest if the
            result says that as many may.
    """

    model: Function
    data: Tensor
    action: Action
    algebra: Float[Tensor, "d m m"]
    label: str = ""
    output_action: Action | None = None
    held_out: Tensor | None = None
    strict: bool = True
    decidable: bool = True
    refused: bool = False
    population: Callable[[], Tensor] | None = None
    reference: Function | None = None
    names: tuple[str, ...] = ()
    broken: Float[Tensor, "k m m"] | None = None
    violating: float = 0.0


Maker = Callable[[torch.Generator, int], Trap]
"""Makes the trap of an index from a random generator."""


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
    return perceptron(sizes, generator, gain=NONLINEAR_GAIN, activation="tanh", dtype=dtype)


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


def seeded(family: str, index: int, *, seed: int) -> torch.Generator:
    """The random generator of a case: another one for every family, index and series."""
    return torch.Generator().manual_seed(zlib.crc32(f"{family} {seed} {index}".encode()))


def matches(name: str, right: tuple[str, ...]) -> bool:
    """Whether a name is one of the right ones, up to words after a comma; `*` stands for any text.

    >>> matches("se(3), up to motions that do not move this data", ("se(3)",))
    True
    >>> matches("so(3) ⊕ R", ("so(3)",))
    False
    """
    return any(fnmatchcase(given, one) for given in (name, name.split(", ")[0]) for one in right)


def unit(side: int, *places: tuple[int, int]) -> Float[Tensor, "d m m"]:
    """Matrices with a single one each.

    >>> unit(2, (0, 1))
    tensor([[[0., 1.],
             [0., 0.]]], dtype=torch.float64)
    """
    matrices = torch.zeros(len(places), side, side, dtype=torch.float64)
    for k, (i, j) in enumerate(places):
        matrices[k, i, j] = 1
    return matrices


def drawn(
    draw: Draw, generator: torch.Generator, samples: int = POPULATION_SAMPLES
) -> Callable[[], Tensor]:
    """A population of a distribution, drawn when it is needed."""
    seed = int(torch.randint(2**31, (), generator=generator))
    return lambda: draw(samples, torch.Generator().manual_seed(seed))


def normal_draws(width: int) -> Draw:
    """Draws of standard normal numbers."""
    return lambda count, generator: normal(count, width, generator)


def more(
    width: int, generator: torch.Generator, samples: int = POPULATION_SAMPLES
) -> Callable[[], Tensor]:
    """A population of standard normal samples."""
    return drawn(normal_draws(width), generator, samples)


def uniform(
    low: float | int, high: float | int, generator: torch.Generator, *, logarithmic: bool = False
) -> float:
    """A random number between two."""
    share = float(torch.rand((), generator=generator, dtype=torch.float64))
    return low * (high / low) ** share if logarithmic else low + (high - low) * share


def orthogonal(n: int, generator: torch.Generator) -> Float[Tensor, "n n"]:
    """A random orthogonal matrix."""
    return torch.linalg.qr(normal(n, n, generator))[0]
