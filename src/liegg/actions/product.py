"""Several actions on the same samples, asked about together."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.actions.base import Action
from liegg.algebra.words.wording import coordinate_names


@dataclass(frozen=True, init=False, repr=False)
class Product(Action):
    """The candidates of several actions side by side: one spectrum over all, scale-free by the displacement.

    Generators are block diagonal, one block to an action. A finite motion applies one action after the other, so it is a group
    action where they commute, as maps of the plane do with maps of the colours. Restricted parts are judged against the
    product's own candidates.

    Attributes:
        parts: the actions.

    Examples:
        >>> from liegg.actions import Color, Image
        >>> both = Product(Image("affine"), Color())
        >>> both.size, both.ambient
        (18, 7)
    """

    parts: tuple[Action, ...]

    def __init__(self, *parts: Action) -> None:
        if len(parts) < 2 or not all(isinstance(part, Action) for part in parts):
            raise ArgumentError(
                "Product takes two or more actions, for example Product(Image(), Color())."
            )
        object.__setattr__(self, "parts", parts)

    @property
    def size(self) -> int:
        """Sum of the sizes."""
        return sum(part.size for part in self.parts)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the parts' coordinates, one part after the other; `1` for the last of affine maps."""
        names: list[str] = []
        for part in self.parts:
            inner = part.ambient - part.homogeneous
            names += [*coordinate_names(inner, part.axes), *(["1"] if part.homogeneous else [])]
        return tuple(names)

    @property
    def ambient(self) -> int:
        """Sum of the sides."""
        return sum(part.ambient for part in self.parts)

    def check(self, shape: tuple[int, ...]) -> None:
        """Every action must fit."""
        for part in self.parts:
            part.check(shape)

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """One motion after the other."""
        for part, own in self._split(self._vector(h)[None]):
            x = part.act(own[0], x)
        return x

    def tangents(
        self, h: Float[Tensor, "t g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """Sum of the actions' own."""
        total = torch.zeros((len(h), *x.shape), dtype=x.dtype, device=x.device)
        for part, own in self._split(h):
            total = total + part.tangents(own, x)
        return total

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """As `tangents`, in one direction."""
        return self.tangents(h[None], x)[0]

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: Any = None,
    ) -> Float[Tensor, "b k g"]:
        """The actions' own, side by side."""
        return torch.cat([part.contract(gradients, x) for part in self.parts], dim=2)

    def moment(self, x: Float[Tensor, "b ..."], precomputed: Any = None) -> Float[Tensor, "g g"]:
        """The actions' own on the diagonal; between two, the fields of one contracted with the other, one field at a time."""
        rows = []
        for i, part in enumerate(self.parts):
            row = [
                x.new_zeros(part.size, other.size) for other in self.parts[:i]
            ]  # below the diagonal: filled in at the end
            row.append(part.displacement(part.moment(x), 1).dense())
            unit = torch.eye(part.size, dtype=x.dtype, device=x.device)
            for other in self.parts[i + 1 :]:
                row.append(
                    torch.stack(
                        [other.contract(part.field(h, x)[:, None], x).sum((0, 1)) for h in unit]
                    )
                )
            rows.append(torch.cat(row, dim=1))
        upper = torch.cat(rows).triu()
        return upper + upper.triu(1).mT

    def rounding_motion(
        self, dtype: torch.dtype, input_square: float, shape: tuple[int, ...]
    ) -> float:
        """The largest of the actions' own."""
        return max(part.rounding_motion(dtype, input_square, shape) for part in self.parts)

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Block diagonal matrices."""
        blocks = [part.matrices(own) for part, own in self._split(coefficients)]
        return (
            torch.stack([torch.block_diag(*each) for each in zip(*blocks, strict=True)])
            if len(coefficients)
            else (coefficients.new_zeros(0, self.ambient, self.ambient))
        )

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Coefficients of the blocks; raise `ArgumentError` for matrices of another size or with entries outside the blocks."""
        side = self.ambient
        if matrices.ndim != 3 or matrices.shape[1:] != (side, side):
            raise ArgumentError(
                f"generators have shape {tuple(matrices.shape)}; expected block diagonal [d, {side}, {side}]."
            )
        ends = list(accumulate(part.ambient for part in self.parts))
        found, rest = [], matrices.clone()
        for part, end in zip(self.parts, ends, strict=True):
            inside = slice(end - part.ambient, end)
            found.append(part.coefficients(matrices[:, inside, inside]))
            rest[:, inside, inside] = 0
        if bool((rest != 0).any()):
            raise ArgumentError(
                "a generator of a Product has entries outside its diagonal blocks, one block to an action."
            )
        return torch.cat(found, dim=1)

    def settings(self) -> dict[str, Any]:
        """The settings of every action."""
        return {"kind": "product", "parts": [part.settings() for part in self.parts]}

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.parts))})"

    def _split(self, h: Float[Tensor, "t g"]) -> list[tuple[Action, Float[Tensor, "t p"]]]:
        """Each action with its own coefficients."""
        return list(
            zip(self.parts, h.split([part.size for part in self.parts], dim=1), strict=True)
        )
