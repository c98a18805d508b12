"""A trap: a function, its data and candidates, what is true of it, and what its data can show."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action
from liegg.studies.error_rates.cases import Function, normal

TRAP_SAMPLES = (300, 500, 1000)
FEWER_SAMPLES = (200, 500, 1000)
"""Numbers of samples, one of which a trap takes at random."""

POPULATION = 6000
"""Samples of the population, from which the true defects are computed."""

Draw = Callable[[int, torch.Generator], Tensor]
"""Draws a number of samples of a distribution."""


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
    draw: Draw, generator: torch.Generator, samples: int = POPULATION
) -> Callable[[], Tensor]:
    """A population of a distribution, drawn when it is needed."""
    seed = int(torch.randint(2**31, (), generator=generator))
    return lambda: draw(samples, torch.Generator().manual_seed(seed))


def normal_draws(width: int) -> Draw:
    """Draws of standard normal numbers."""
    return lambda count, generator: normal(count, width, generator)


def more(width: int, generator: torch.Generator, samples: int = POPULATION) -> Callable[[], Tensor]:
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
