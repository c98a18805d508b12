"""Irreducible representations of the rotations of space, in the basis of real spherical harmonics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked_fields
from liegg._utils.errors import ArgumentError
from liegg.actions.representations.representation import Representation
from liegg.algebra.catalog import so

Order = Literal["e3nn", "standard"]

LARGEST_DEGREE = 64
"""Largest degree l: its values have 129 numbers."""


@checked_fields
@dataclass(frozen=True, repr=False)
class Irrep(Representation):
    r"""Rotations of space on values of degree l: 2l + 1 numbers that rotate as spherical harmonics do.

    A value is a vector $v$ with $v(Rx) = D^l(R)\, v(x)$ for $v(x) = (Y_{l,-l}(x), \dots, Y_{l,l}(x))$, the
    real spherical harmonics without Condon-Shortley phase. The three candidates are the rotations
    so(3), as $3 \times 3$ matrices of space; reflections, and so parity, are not asked about.

    Attributes:
        l: the degree: 1 for vectors, 2 for traceless symmetric matrices.
        order: `"e3nn"` has the polar axis y, so that l = 1 is (x, y, z) and l = 2 is (xz, xy, y² − (x² + z²)/2,
            yz, (z² − x²)/2) up to a common factor √3 in four of them; `"standard"` has the polar axis z, so
            that l = 1 is (y, z, x) and l = 2 is (xy, yz, z² − (x² + y²)/2, xz, (x² − y²)/2) likewise. The
            order m = −l … l is the same.
        copies: values per sample, `[copies, 2l + 1]` or flat, copy after copy; None for any number of them.
        names: of the three coordinates of space, as for `Linear`.

    Examples:
        >>> quarter = torch.pi / 2 * so(3)[0]  # x to y
        >>> moved = Irrep(1).act(quarter, torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64))
        >>> moved.round(decimals=6).abs().tolist()
        [[0.0, 1.0, 0.0]]
    """

    n = 3
    l: int  # noqa: E741
    order: Order = "e3nn"
    copies: int | None = 1
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.l == 0:
            raise ArgumentError(
                "Irrep(0) is a scalar, which no rotation moves. Leave output_action out: the question is "
                "then whether the output stays the same."
            )
        if not 1 <= self.l <= LARGEST_DEGREE:
            raise ArgumentError(
                f"Irrep({self.l}): expected a degree from 1 to {LARGEST_DEGREE}, for example Irrep(2)."
            )
        self._check_numbers(f"Irrep({self.l})")

    @property
    def value_shape(self) -> tuple[int, ...]:
        """`[2l + 1]`."""
        return (2 * self.l + 1,)

    @property
    def basis(self) -> Float[Tensor, "3 3 3"]:
        """so(3), of unit length."""
        return so(3) / 2**0.5

    @property
    def other_conventions(self) -> tuple["Irrep", ...]:
        """The other order of the components."""
        return (replace(self, order="standard" if self.order == "e3nn" else "e3nn"),)

    @property
    def images(self) -> Float[Tensor, "3 m m"]:
        """The generators of the rotations of spherical harmonics."""
        return _images(self.l, self.order)


@lru_cache(maxsize=16)
def _images(degree: int, order: Order) -> Float[Tensor, "3 m m"]:
    """Images of the unit basis of so(3); the tensor is shared, and must not be written into."""
    about = dict(zip("xyz", _rotations(degree), strict=True))
    if order == "e3nn":  # its harmonics are the standard ones of the coordinates (z, x, y)
        about = {"z": about["x"], "x": about["y"], "y": about["z"]}
    # so(3) lists x to y (about z), x to z (about −y), y to z (about x)
    return torch.stack([about["z"], -about["y"], about["x"]]) / 2**0.5


def _rotations(degree: int) -> tuple[Tensor, Tensor, Tensor]:
    r"""Generators of the rotations about x, y and z of the real spherical harmonics, polar axis z.

    With the ladder matrices $J_k$ of the complex ones, whose values move by $i \bar J_k$, in the basis
    $Y_{m} = \sqrt2\,\mathrm{Re}$, $Y_{-m} = \sqrt2\,\mathrm{Im}$ of $(-1)^m Y_l^m$ for $m > 0$.
    """
    m = torch.arange(-degree, degree + 1, dtype=torch.float64)
    raising = torch.diag((degree * (degree + 1) - m[:-1] * (m[:-1] + 1)).sqrt(), -1)
    raising = raising.to(torch.complex128)
    lowering = raising.mT
    spins = ((raising + lowering) / 2, (raising - lowering) / 2j, torch.diag(m.to(raising.dtype)))
    real = _real_basis(degree)
    images = [real @ (1j * spin.conj()) @ real.mH for spin in spins]
    return images[0].real.contiguous(), images[1].real.contiguous(), images[2].real.contiguous()


def _real_basis(degree: int) -> Tensor:
    """Unitary matrix from the values of complex harmonics to those of the real ones."""
    size, half = 2 * degree + 1, 0.5**0.5
    real = torch.zeros(size, size, dtype=torch.complex128)
    real[degree, degree] = 1.0
    for m in range(1, degree + 1):
        sign = (-1) ** m
        real[degree + m, degree + m], real[degree + m, degree - m] = sign * half, half
        real[degree - m, degree + m], real[degree - m, degree - m] = -1j * sign * half, 1j * half
    return real
