"""Several actions on the same samples, whose candidates are analysed together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg._utils.errors import ArgumentError
from liegg.actions.base import Action, MatrixAction
from liegg.actions.motion import Motion
from liegg.algebra.words.wording import coordinate_names


@dataclass(frozen=True, init=False, repr=False)
class Product(Action):
    """The candidates of several actions side by side: one spectrum, scale-free by the displacement.

    A finite motion applies one action after the other, so it is a group action where they commute,
    as maps of the plane do with maps of the colours. Generators are block diagonal matrices, one
    block per action, if all actions have matrices. Defects of restricted actions are relative to
    the product's own candidates.

    Attributes:
        actions: the actions.

    Examples:
        >>> from liegg.actions import Color, Image
        >>> both = Product(Image("affine"), Color())
        >>> both.size, both.ambient
        (18, 7)
    """

    actions: tuple[Action, ...]

    def __new__(cls, *actions: Action) -> "Product":
        """Give the product matrices where all actions have them."""
        matrices = all(isinstance(action, MatrixAction) for action in actions)
        return object.__new__(MatrixProduct if matrices else cls)

    def __init__(self, *actions: Action) -> None:
        if len(actions) < 2 or not all(isinstance(action, Action) for action in actions):
            raise ArgumentError(
                "Product takes two or more actions, for example Product(Image(), Color())."
            )
        object.__setattr__(self, "actions", actions)

    @property
    def components(self) -> tuple[Action, ...]:
        """The actions."""
        return self.actions

    def with_components(self, components: Sequence[Action]) -> "Product":
        """The product of other actions."""
        return Product(*components)

    @property
    def size(self) -> int:
        """Sum of the sizes."""
        return sum(action.size for action in self.actions)

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """One motion after the other."""
        for action, own in self._split(self._vector(h)[None]):
            x = action.act(own[0], x)
        return x

    def tangents(
        self, h: Float[Tensor, "t g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """Sum of the actions' own."""
        zero = torch.zeros((len(h), *x.shape), dtype=x.dtype, device=x.device)
        return sum((action.tangents(own, x) for action, own in self._split(h)), zero)

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k g"]:
        """The actions' own, side by side."""
        return torch.cat([action.contract(gradients, x) for action in self.actions], dim=2)

    def moment(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "g g"]:
        """The actions' own on the diagonal; between two, fields of one contracted with the other."""
        rows = []
        for i, action in enumerate(self.actions):
            # Blocks below the diagonal are filled in at the end.
            row = [x.new_zeros(action.size, other.size) for other in self.actions[:i]]
            row.append(action.displacement(action.moment(x), 1).dense())
            unit = torch.eye(action.size, dtype=x.dtype, device=x.device)
            for other in self.actions[i + 1 :]:
                between = [other.contract(action.field(h, x)[:, None], x).sum((0, 1)) for h in unit]
                row.append(torch.stack(between))
            rows.append(torch.cat(row, dim=1))
        upper = torch.cat(rows).triu()
        return upper + upper.triu(1).mT

    def steps(self, shape: tuple[int, ...]) -> Float[Tensor, " g"]:
        """The steps of the actions."""
        return torch.cat([action.steps(shape) for action in self.actions])

    def same_motions(self, other: Action) -> bool:
        """Whether the other is a product of the same actions."""
        return (
            isinstance(other, Product)
            and len(self.actions) == len(other.actions)
            and all(
                one.same_motions(two) for one, two in zip(self.actions, other.actions, strict=True)
            )
        )

    def settings(self) -> dict[str, Any]:
        """The settings of every action."""
        return {"kind": "product", "parts": [action.settings() for action in self.actions]}

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the actions, one after the other."""
        return tuple(word for action in self.actions for word in action.words)

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """The motions of the actions; one that belongs to the candidates comes before one that does not."""
        named: dict[str, Motion] = {}
        start = 0
        for action in self.actions:
            for name, motion in action.motions(shape, spread=spread).items():
                if motion.action is None:
                    own = action.as_coefficients(motion.generators)
                    padded = pad(own, (start, self.size - start - action.size))
                    named[name] = replace(motion, generators=padded)
                else:
                    named.setdefault(name, motion)
            start += action.size
        return named

    @property
    def stage(self) -> str | None:
        """A grid, if all actions move places and colours of one."""
        stages = {action.stage for action in self.actions}
        return "grid" if stages in ({"grid"}, {"grid", "colour"}) else None

    def staged(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """As the action on the grid has them."""
        grids = [action for action in self.actions if action.stage == "grid"]
        return grids[0].staged(x) if grids else x

    def code(self) -> str | None:
        """A call with the actions' own code; None if one has none."""
        codes = [action.code() for action in self.actions]
        named = [code for code in codes if code is not None]
        return f"liegg.Product({', '.join(named)})" if len(named) == len(codes) else None

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.actions))})"

    def _split(self, h: Float[Tensor, "t g"]) -> list[tuple[Action, Float[Tensor, "t p"]]]:
        """Each action with its own coefficients."""
        own = h.split([action.size for action in self.actions], dim=1)
        return list(zip(self.actions, own, strict=True))


class MatrixProduct(Product, MatrixAction):
    """A product of actions that all have matrices; `Product(...)` makes it where it can."""

    actions: tuple[MatrixAction, ...]
    words = MatrixAction.words  # pyright: ignore[reportIncompatibleMethodOverride]

    @property
    def ambient(self) -> int:
        """Sum of the sides."""
        return sum(action.ambient for action in self.actions)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the actions' coordinates; `1` for the last of affine maps."""
        return tuple(name for action in self.actions for name in _axes(action))

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Block diagonal matrices."""
        out = coefficients.new_zeros(len(coefficients), self.ambient, self.ambient)
        for (_, own), action, inside in zip(
            self._split(coefficients), self.actions, self._blocks, strict=True
        ):
            out[:, inside, inside] = action.matrices(own)
        return out

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Coefficients of the blocks; raise `ArgumentError` for entries outside them."""
        side = self.ambient
        if matrices.ndim != 3 or matrices.shape[1:] != (side, side):
            raise ArgumentError(
                f"generators have shape {tuple(matrices.shape)}; expected block diagonal "
                f"[d, {side}, {side}], because different actions move independently. To move several tensors together, "
                "pass one action object for all of them."
            )
        own, rest = [], matrices.clone()
        for action, inside in zip(self.actions, self._blocks, strict=True):
            own.append(action.coefficients(matrices[:, inside, inside]))
            rest[:, inside, inside] = 0
        if bool((rest != 0).any()):
            raise ArgumentError(
                "a generator of a Product has entries outside its diagonal blocks, one per action."
            )
        return torch.cat(own, dim=1)

    @property
    def _blocks(self) -> list[slice]:
        sides = [action.ambient for action in self.actions]
        return [slice(end - side, end) for side, end in zip(sides, accumulate(sides), strict=True)]


def _axes(action: MatrixAction) -> tuple[str, ...]:
    """Names of the coordinates of one part, and of the constant axis if its maps are affine."""
    inner, colour = action.ambient - action.homogeneous, action.stage == "colour"
    names = action.axes
    if isinstance(action, MatrixProduct):
        return action.axes
    if names is None and colour:
        names = ("the values",) if inner == 1 else [f"channel {i + 1}" for i in range(inner)]
    constant = ("1 (offset)" if colour else "1",) if action.homogeneous else ()
    return (*coordinate_names(inner, names), *constant)
