"""Values that a linear map of space moves in their own way: tensors, spherical harmonics."""

import copy
import math
from abc import abstractmethod
from dataclasses import fields
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions.displacement import Displacement
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.generators import check_inside, check_side
from liegg.actions.linear import Linear
from liegg.actions.names import checked_names
from liegg.actions.settings import field_settings
from liegg.actions.values import ValueAction

LARGEST_IMAGES = 2**24
"""Numbers in the matrices of a representation up to which they are built: 128 MB."""


class Representation(ValueAction):
    r"""A linear representation $\rho$ of matrices $h$, on each of `copies` values: $v \mapsto e^{\rho(h)} v$.

    Generators are the $n \times n$ matrices $h$ of space, so that they have the same names as those of
    `Linear(n)`. A subclass defines `n`, `copies`, `names`, `value_shape`, `basis` and `images`, which is
    linear and obeys $\rho([a, b]) = [\rho(a), \rho(b)]$.
    """

    @property
    @abstractmethod
    def value_shape(self) -> tuple[int, ...]:
        """Shape of one value."""

    @property
    @abstractmethod
    def basis(self) -> Float[Tensor, "g n n"]:
        """Matrices of the candidate generators, orthonormal."""

    @property
    @abstractmethod
    def images(self) -> Float[Tensor, "g m m"]:
        r"""What each candidate does to a value, flattened: $\rho$ of the basis."""

    @property
    def ambient(self) -> int:
        """n."""
        return self.n

    @property
    def size(self) -> int:
        """Dimension of the algebra."""
        return len(self.basis)

    def code(self) -> str:
        """The constructor call."""
        return f"liegg.actions.{self!r}"

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples are `[copies, *value]`, `[*value]` for one copy, or flat."""
        shape, value, copies = tuple(shape), self.value_shape, self.copies
        numbers, count = math.prod(value), math.prod(shape) // math.prod(value)
        several = {(count, *value), (count * numbers,)} if count else set()
        accepted = several if copies is None else {(copies, *value), (copies * numbers,)}
        accepted |= {value} if copies in (1, None) else set()
        if shape in accepted:
            return
        hint = f" For {count} values pass copies={count}." if shape in several and count > 1 else ""
        listed = [f"(..., {str(value)[1:]}"]
        if copies is not None:
            listed = map(str, sorted(accepted, key=lambda one: (len(one), one)))
        raise ShapeError(
            f"a sample has shape {shape}; {self!r} expects {' or '.join(listed)}.{hint}"
        )

    def fitted(self, shape: tuple[int, ...]) -> "Representation":
        """The action on any number of values, if it is on one and a leaf has several."""
        several = len(shape) == len(self.value_shape) + 1 and tuple(shape[1:]) == self.value_shape
        if not several or self.copies != 1:
            return self
        other = copy.copy(self)
        object.__setattr__(other, "copies", None)
        return other

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the exponential of the image to every value."""
        return self._apply(torch.linalg.matrix_exp(self._image(self._vector(h), x)), x)

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the image itself to every value."""
        return self._apply(self._image(h, x), x)

    def fields(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b g ..."]:
        """Apply every image to every value."""
        wide = torch.promote_types(x.dtype, torch.float32)
        images = self.images.to(device=x.device, dtype=wide)
        moved = torch.einsum("gij,bcj->bgci", images, self.factors(x).to(wide))
        return moved.to(x.dtype).reshape(len(x), self.size, *x.shape[1:])

    def output_spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """All linear maps of the values: a finite element does to a tensor what suits it best."""
        values = Linear(math.prod(self.value_shape), copies=None)
        return (VectorSpace(values, values),)

    def displacement(self, moment: Float[Tensor, "m m"], samples: int) -> Displacement:
        r"""$\mathrm{tr}(\rho_a S \rho_b^\top)$ with the mean second moment $S$."""
        images = self.images.to(moment)
        return Displacement(torch.einsum("gij,hij->gh", images @ (moment / samples), images))

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Combinations of the basis."""
        return torch.einsum("dg,gij->dij", coefficients, self.basis.to(coefficients))

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Coordinates in the basis; raise `ArgumentError` for a matrix outside the algebra."""
        check_side(matrices, self)
        inner = torch.einsum("dij,gij->dg", matrices, self.basis.to(matrices))
        outside = (matrices - self.matrices(inner)).flatten(1).norm(dim=1)
        hint = f" Pass generators such as liegg.so({self.n})."
        check_inside(outside, matrices.flatten(1).norm(dim=1), self, hint)
        return inner

    def settings(self) -> dict[str, Any]:
        """Kind and fields; flags and names only where they are set."""
        return field_settings(self, optional=("symmetric", "antisymmetric", "names"))

    def __repr__(self) -> str:
        first, *others = fields(cast("Any", self))
        words = [str(getattr(self, first.name))]
        for field in others:
            value = getattr(self, field.name)
            if value != field.default or field.name == "rank":
                words.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(words)})"

    def _check_numbers(self, call: str) -> None:
        """Raise `ArgumentError` for invalid copies or names."""
        if self.copies is not None and self.copies < 1:
            raise ArgumentError(
                f"{call}: copies={self.copies} must be positive, or None for any number of values."
            )
        object.__setattr__(self, "names", checked_names(self.names, self.n, call))

    def _image(self, h: Float[Tensor, " g"], x: Tensor) -> Float[Tensor, "m m"]:
        """The image of one generator, in float32 at least."""
        wide = torch.promote_types(x.dtype, torch.float32)
        h = h.to(device=x.device, dtype=wide)
        return torch.einsum("g,gij->ij", h, self.images.to(h))

    def _apply(
        self, matrix: Float[Tensor, "m m"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        return (self.factors(x).to(matrix.dtype) @ matrix.mT).to(x.dtype).reshape(x.shape)

    def factors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b copies m"]:
        """The values of every sample, each flattened."""
        numbers = math.prod(self.value_shape)
        copies = math.prod(x.shape[1:]) // numbers if self.copies is None else self.copies
        return x.reshape(len(x), copies, numbers)
