"""Test functions of a distribution: smooth functions of a sample whose means a symmetry must not change."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError, one_line
from liegg._utils.forward_mode import jvp
from liegg._utils.linalg import symmetric_eigen
from liegg.actions import Action

SCALES, FULL_NUMBERS = (0.5, 1.0, 1.5), 3
"""Frequencies of Fourier features in units of one over the size of the data: coarse, middle, fine; and how many numbers of a sample they
are for. With more numbers they fall, so that a wave has the same length: else most waves are averaged away."""

MONOMIAL_DEGREE = 4
"""Degree of the monomials that are taken by name."""

FEW_NUMBERS = 16
"""Numbers of a sample up to which summing outer products is cheaper than a row per sample."""

SMOOTH_SHARE = 0.08
"""Width of the random filters for images, as a share of their side: finer ones see pixel noise, coarser ones no shape."""


UNEQUAL_AXES, MOST_AXES = 4.0, 64
"""Longest over shortest principal axis from which on functions are scaled along each; and for how many numbers, at most."""

SHORTEST_AXIS = 1e-9
"""Length of a principal axis, as a share of the longest, below which the data does not vary along it."""


class TestFunctions(ABC):
    """A family of functions of a sample.

    A subclass defines `size`, `kind` and `values`; `rows` follows by forward derivatives.
    """

    kind: str
    """What the functions are, in words."""

    __test__ = False  # pytest would take the name for a class of tests

    @property
    @abstractmethod
    def size(self) -> int:
        """Number `k` of functions."""

    @property
    def name(self) -> str:
        """How many functions there are, and what they are."""
        return f"{self.size} {self.kind}"

    @abstractmethod
    def values(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k"]:
        """Values of a batch."""

    def rows(self, action: Action, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k g"]:
        r"""Derivatives $\langle \nabla\phi_k(x), \xi_a(x) \rangle$ along every candidate generator."""
        fields = action.fields(x).transpose(0, 1)
        return torch.stack([jvp(self.values, x, field)[1] for field in fields], dim=2)

    def row_sums(
        self, action: Action, x: Float[Tensor, "b ..."], block: Int[Tensor, " b"], count: int
    ) -> Float[Tensor, "p k g"]:
        """Derivatives, summed over the samples of every block.

        Args:
            action: candidate generators.
            x: the batch.
            block: block of every sample.
            count: number of blocks.
        """
        rows = self.rows(action, x)
        return rows.new_zeros(count, *rows.shape[1:]).index_add_(0, block, rows)


@dataclass(frozen=True, eq=False)
class FourierFeatures(TestFunctions):
    r"""Random Fourier features $\cos(\omega_k \cdot x + b_k)$.

    Attributes:
        frequencies: `[k, numbers]`, in units of one over the numbers of a sample.
        phases: `[k]`.
        kind: what the frequencies are, in words.
    """

    frequencies: Float[Tensor, "k m"]
    phases: Float[Tensor, " k"]
    kind: str = "random Fourier features"

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.frequencies)

    def values(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k"]:
        """Values of a batch."""
        return (x.flatten(1) @ self.frequencies.mT + self.phases).cos()

    def rows(self, action: Action, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k g"]:
        """Derivatives in closed form."""
        slopes = -(x.flatten(1) @ self.frequencies.mT + self.phases).sin()
        along = action.fields(x).flatten(2) @ self.frequencies.mT
        return (along * slopes[:, None]).transpose(1, 2)

    def row_sums(
        self, action: Action, x: Float[Tensor, "b ..."], block: Int[Tensor, " b"], count: int
    ) -> Float[Tensor, "p k g"]:
        """Summed derivatives; of samples of few numbers by products of matrices, without a row per sample."""
        numbers = self.frequencies.shape[1]
        if numbers > FEW_NUMBERS:
            return super().row_sums(action, x, block, count)
        slopes = -(x.flatten(1) @ self.frequencies.mT + self.phases).sin()
        fields = action.fields(x).flatten(1)
        sums = x.new_zeros(count, self.size, action.size)
        for place in block.unique().tolist():
            chosen = block == place
            moved = (slopes[chosen].mT @ fields[chosen]).unflatten(1, (action.size, numbers))
            sums[place] = (moved * self.frequencies[:, None]).sum(2)
        return sums


@dataclass(frozen=True, eq=False)
class Features(TestFunctions):
    """Functions given as a differentiable callable on batches, such as the features of a network.

    Attributes:
        function: `[b, *x] -> [b, ...]`.
        count: number of functions: outputs per sample.
        kind: what they are, in words.
    """

    function: Callable[[Tensor], Tensor]
    count: int
    kind: str

    @property
    def size(self) -> int:
        """Number of functions."""
        return self.count

    def values(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k"]:
        """Values of a batch."""
        return self.function(x).flatten(1)


@dataclass(frozen=True, eq=False)
class Monomials(TestFunctions):
    """All monomials up to a degree of the numbers of a sample, about the centre of the data and in units of its size.

    Low moments alone see an so(n) in everything that looks like a Gaussian.

    Attributes:
        exponents: `[k, numbers]`, whole numbers.
        centre: `[numbers]`, of the data: powers of numbers far from 0 would cancel.
        unit: size of the data.
    """

    exponents: Float[Tensor, "k m"]
    centre: Float[Tensor, " m"]
    unit: float

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.exponents)

    @property
    def kind(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the functions are."""
        return f"monomials up to degree {int(self.exponents.sum(1).max())}"

    def values(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k"]:
        """Values of a batch."""
        x = ((x.flatten(1) - self.centre.to(x)) / self.unit)[:, None]
        powers, product = torch.ones_like(x), torch.ones_like(x[..., :1]).expand(-1, self.size, 1)
        exponents = self.exponents.to(x.device)
        for degree in range(1, int(self.exponents.max()) + 1):
            powers = powers * x
            factor = torch.where(exponents == degree, powers, 1.0)
            product = product * factor.prod(2, keepdim=True)
        return product[..., 0]

    def gradients(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b k m"]:
        """Derivatives by every number of a sample, in units of the size of the data."""
        numbers = self.exponents.shape[1]
        parts = []
        for place in range(numbers):
            lowered = self.exponents.clone()
            lowered[:, place] = (lowered[:, place] - 1).clamp_min(0)
            parts.append(
                self.exponents[:, place] * Monomials(lowered, self.centre, self.unit).values(x)
            )
        return torch.stack(parts, 2)


def fourier_features(
    x: Float[Tensor, "b ..."],
    count: int,
    *,
    seed: int,
    grid: tuple[int, ...] | None = None,
    scales: tuple[float, ...] = SCALES,
) -> FourierFeatures:
    """Random Fourier features for samples like these.

    The frequencies have one isotropic scale, that of the data. If its principal axes have very different lengths, every second
    function has the scale of each axis instead, since the others see no shape along the short ones. On a grid they are smooth
    filters, scaled so that each sees the same spread.

    Args:
        x: some samples.
        count: number of functions.
        seed: of the frequencies.
        grid: channels and sides of a grid; None for numbers without an order.
        scales: frequencies in units of one over the size of the data.
    """
    generator = torch.Generator().manual_seed(seed)
    flat = x.flatten(1).double()
    frequencies = torch.randn(count, flat.shape[1], generator=generator, dtype=torch.float64)
    if grid is not None:
        frequencies = _smoothed(frequencies.reshape(count, *grid)).flatten(1)
        spread = ((flat - flat.mean(0)) @ frequencies.mT).square().mean(0).sqrt()
        frequencies = frequencies / spread.clamp_min(torch.finfo(spread.dtype).tiny)[:, None]
    else:
        frequencies = _scaled(frequencies, flat) * math.sqrt(min(1.0, FULL_NUMBERS / flat.shape[1]))
    sizes = torch.tensor(scales, dtype=torch.float64).repeat(math.ceil(count / len(scales)))
    phases = 2 * math.pi * torch.rand(count, generator=generator, dtype=torch.float64)
    kind = "random Fourier features" if grid is None else "random smooth filters"
    return FourierFeatures(frequencies * sizes[:count, None], phases, kind)


def _scaled(noise: Float[Tensor, "k m"], flat: Float[Tensor, "b m"]) -> Float[Tensor, "k m"]:
    """Frequencies on the scale of the data; every second on that of each principal axis, if these are very different."""
    size = data_size(flat)
    if flat.shape[1] > MOST_AXES:
        return noise / size
    middle = flat - flat.median(0).values
    near = middle[middle.square().sum(1) <= middle.square().sum(1).median() * 4]  # no outliers
    squares, axes = symmetric_eigen(near.mT @ near / len(near))
    varies = squares > SHORTEST_AXIS**2 * squares[-1]
    lengths = torch.where(varies, squares.clamp_min(0).sqrt(), size)
    if not bool(varies.any()) or lengths[varies].max() < UNEQUAL_AXES * lengths[varies].min():
        return noise / size
    along = (noise @ axes) / lengths @ axes.mT
    is_second = torch.arange(len(noise)) // len(SCALES) % 2 == 1
    return torch.where(is_second[:, None], along, noise / size)


def monomials(x: Float[Tensor, "b ..."], degree: int) -> Monomials:
    """All monomials of degree 1 to `degree` in the numbers of a sample."""
    flat = x.flatten(1)
    numbers = range(flat.shape[1])
    exponents = [
        [factors.count(place) for place in numbers]
        for total in range(1, degree + 1)
        for factors in combinations_with_replacement(numbers, total)
    ]
    powers = torch.tensor(exponents, dtype=torch.float64)
    return Monomials(powers, flat.double().mean(0), data_size(flat))


def data_size(flat: Float[Tensor, "b m"]) -> float:
    """Root mean square of a number about its median, by the median over the samples: outliers do not move it.

    If most samples are the same it is the mean over the samples.
    """
    squares = (flat - flat.median(0).values).square().mean(1)
    size = float(squares.median()) or float(squares.mean())
    return max(math.sqrt(size), torch.finfo(torch.float64).tiny)


def _smoothed(noise: Float[Tensor, "k c ..."]) -> Float[Tensor, "k c ..."]:
    """Noise on a grid, smoothed along its sides by a Gaussian window."""
    for axis, side in enumerate(noise.shape[2:], start=2):
        places = torch.arange(side, dtype=noise.dtype)
        window = torch.exp(-((places[:, None] - places) / (SMOOTH_SHARE * side)).square() / 2)
        noise = (noise.movedim(axis, -1) @ window).movedim(-1, axis)
    return noise


def as_test_functions(functions: Any, x: Float[Tensor, "b ..."]) -> TestFunctions:
    """The user's test functions: a family, or a callable on batches.

    Args:
        functions: what the user gave.
        x: some samples, on which a callable is tried.
    """
    if isinstance(functions, TestFunctions):
        return functions
    if isinstance(functions, str) and functions == "monomials":
        return monomials(x, MONOMIAL_DEGREE)
    if not callable(functions):
        raise ArgumentError(
            f"functions={functions!r}: expected their number, 'monomials', or a differentiable callable on batches."
        )
    function: Callable[[Tensor], Any] = functions
    try:
        values = function(x[:2])
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(
            f"functions failed on a batch of shape {tuple(x[:2].shape)} ({one_line(error)}); expected a differentiable "
            "callable on batches."
        ) from error
    if not isinstance(values, Tensor) or values.ndim < 1 or len(values) != len(x[:2]):
        raise ArgumentError(
            "functions must return a tensor with one row of values per sample, such as the features of a network."
        )
    if not values.is_floating_point() or not bool(values.isfinite().all()):
        raise ArgumentError("functions must return finite floating point numbers.")
    name = getattr(functions, "__name__", type(functions).__name__)
    return Features(function, values[0].numel(), f"features of {name}")
