"""An action placed at leaves of structured samples: these move, the rest is context that stays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg._utils.errors import ShapeError
from liegg.actions.base import Action, MatrixAction
from liegg.actions.derived import DerivedMatrices
from liegg.actions.displacement import Displacement
from liegg.actions.finite.placed import PlacedSlots
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.linear import VectorAction
from liegg.actions.motion import Motion
from liegg.actions.product import Product
from liegg.actions.restricted import Restricted
from liegg.inputs.structure.layout import Layout


@dataclass(frozen=True, init=False, repr=False)
class Placed(Action):
    """One family of generators at one or several leaves, which move together.

    Samples are rows of a `Layout`. Only the points that exist are moved; the numbers of other leaves, of
    padding and the sizes stay.

    Attributes:
        places: paths and the actions there, which have the same generators.
        columns: where the leaves are in a row.
    """

    places: tuple[tuple[str, Action], ...]
    columns: Layout

    def __new__(cls, places: Any = (), columns: Any = None) -> "Placed":
        """Give it matrices where all actions have them."""
        matrices = places and all(isinstance(action, MatrixAction) for _, action in places)
        return object.__new__(MatrixPlaced if matrices else cls)

    def __init__(self, places: tuple[tuple[str, Action], ...], columns: Layout) -> None:
        object.__setattr__(self, "places", tuple(places))
        object.__setattr__(self, "columns", columns)

    @property
    def structure(self) -> Layout:
        """The layout."""
        return self.columns

    @property
    def components(self) -> tuple[Action, ...]:
        """The actions at the leaves."""
        return tuple(action for _, action in self.places)

    @property
    def first(self) -> Action:
        """The action at the first leaf, which gives all of them words and sizes."""
        return self.places[0][1]

    @property
    def size(self) -> int:
        """Number of generators."""
        return self.first.size

    def with_structure(self, structure: Layout) -> "Placed":
        """The same actions at the leaves of another layout."""
        return Placed(self.places, structure)

    def movable(self, x: Float[Tensor, "b D"]) -> Bool[Tensor, "b D"]:
        """The numbers of its leaves, where points exist."""
        return self.columns.movable(x, [path for path, _ in self.places])

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples are rows of the layout, and every leaf suits its action."""
        if tuple(shape) != (self.columns.width,):
            raise ShapeError(
                f"a sample has shape {tuple(shape)}; expected the {self.columns.width} numbers of a row with "
                f"{', '.join(leaf.path for leaf in self.columns.leaves)}."
            )
        for path, action in self.places:
            action.check(self.columns.by_path[path].shape)

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b D"]) -> Float[Tensor, "b D"]:
        """Move every leaf."""
        h = self._vector(h)
        moved = {path: action.act(h, leaf) for path, action, leaf in self._leaves(x)}
        return self.columns.replaced(x, moved)

    def tangents(self, h: Float[Tensor, "t g"], x: Float[Tensor, "b D"]) -> Float[Tensor, "t b D"]:
        """Velocities of every leaf; zero elsewhere."""
        out = torch.zeros((len(h), *x.shape), dtype=x.dtype, device=x.device)
        for path, action, leaf in self._leaves(x):
            place = self.columns.by_path[path]
            velocities = action.tangents(h, leaf).reshape(len(h), len(x), -1)
            out[:, :, place.start : place.stop] = velocities
        return out * self.movable(x) if self._masked else out

    def contract(
        self, gradients: Float[Tensor, "b k D"], x: Float[Tensor, "b D"]
    ) -> Float[Tensor, "b k g"]:
        """Sum over the leaves."""
        if self._masked:
            gradients = gradients * self.movable(x)[:, None]
        rows = []
        for path, action, leaf in self._leaves(x):
            place = self.columns.by_path[path]
            slopes = gradients[:, :, place.start : place.stop].unflatten(2, place.shape)
            rows.append(action.contract(slopes, leaf))
        return torch.stack(rows).sum(0)

    def moment(self, x: Float[Tensor, "b D"]) -> Float[Tensor, "s s"]:
        """Sum over the leaves; of the fields themselves where points may be missing."""
        if self._masked:
            return super().moment(x)
        return torch.stack([action.moment(leaf) for _, action, leaf in self._leaves(x)]).sum(0)

    def moments(
        self, x: Float[Tensor, "b D"], block: Int[Tensor, " b"], count: int
    ) -> Float[Tensor, "p s s"]:
        """Sum over the leaves."""
        if self._masked:
            return super().moments(x, block, count)
        each = [action.moments(leaf, block, count) for _, action, leaf in self._leaves(x)]
        return torch.stack(each).sum(0)

    def displacement(self, moment: Float[Tensor, "s s"], samples: int) -> Displacement:
        """As the action at the first leaf makes it, unless points may be missing."""
        if self._masked:
            return Displacement(moment / samples)
        return self.first.displacement(moment, samples)

    def feature_sizes(self, moment: Float[Tensor, "s s"]) -> Float[Tensor, " n"]:
        """The sizes of the first action."""
        return self.first.feature_sizes(moment)

    def rounding_motion(
        self, dtype: torch.dtype, input_square: float, shape: tuple[int, ...]
    ) -> float:
        """The largest of the leaves."""
        return max(
            action.rounding_motion(dtype, input_square, self.columns.by_path[path].shape)
            for path, action in self.places
        )

    def steps(self, shape: tuple[int, ...]) -> Float[Tensor, " g"]:
        """The steps of the first action."""
        return self.first.steps(self._shape)

    def settings(self) -> dict[str, Any]:
        """Paths with the settings of their actions, and the layout."""
        places = [[path, action.settings()] for path, action in self.places]
        return {"kind": "placed", "places": places, "structure": self.columns.settings()}

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the first action."""
        return self.first.words

    def describe(
        self, coefficients: Float[Tensor, "d g"], *, tolerance: float = 1e-6
    ) -> tuple[str, ...]:
        """Words of the first action."""
        return self.first.describe(coefficients, tolerance=tolerance)

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """The motions of the first action that are among its candidates."""
        named = self.first.motions(self._shape, spread=spread)
        return {name: motion for name, motion in named.items() if motion.action is None}

    def spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """Permutations of the points, if all samples have the same number of them; matrices on vectors see `MatrixPlaced`."""
        if self._masked:
            return ()
        slots = {
            path: space
            for path, action in self.places
            for space in action.spaces(self.columns.by_path[path].shape)
            if isinstance(space, SlotSpace)
        }
        if not slots:
            return ()
        counted = self.columns.points if self.columns.points in slots else next(iter(slots))
        first, axes = slots[counted], len(self.columns.by_path[counted].shape)
        # A cell of three vectors is not one per point.
        together = tuple(
            (path, space)
            for path, space in slots.items()
            if space.side == first.side and len(self.columns.by_path[path].shape) == axes
        )
        return (PlacedSlots((first.side,), 0, first.noun, places=together, columns=self.columns),)

    @property
    def stage(self) -> str | None:
        """The stage of the first action, unless points may be missing."""
        return None if self._masked else self.first.stage

    def staged(self, x: Float[Tensor, "b D"]) -> Float[Tensor, "b ..."]:
        """The first leaf as its action draws it."""
        path, action = self.places[0]
        return action.staged(self.columns.values(x, self.columns.by_path[path]))

    def code(self) -> str | None:
        """A dictionary from paths to the actions' own code; None if one has none."""
        codes = {path: action.code() for path, action in self.places}
        if list(codes) == [""]:
            return codes[""]
        if None in codes.values():
            return None
        return "{" + ", ".join(f"{path!r}: {code}" for path, code in codes.items()) + "}"

    def __repr__(self) -> str:
        if len(self.places) == 1 and not self.places[0][0]:
            return repr(self.first)
        places = ", ".join(f"{path!r}: {action!r}" for path, action in self.places)
        return f"{{{places}}}"

    @property
    def _shape(self) -> tuple[int, ...]:
        """Shape of the first leaf."""
        return self.columns.by_path[self.places[0][0]].shape

    @property
    def _masked(self) -> bool:
        """Whether points may be missing."""
        each = [self.columns.by_path[path] for path, _ in self.places]
        return any(leaf.ragged is not None or leaf.mask for leaf in each)

    def _leaves(self, x: Float[Tensor, "b D"]) -> list[tuple[str, Action, Float[Tensor, "b ..."]]]:
        """Every path with its action and its numbers."""
        return [
            (path, action, self.columns.values(x, self.columns.by_path[path]))
            for path, action in self.places
        ]


class MatrixPlaced(Placed, DerivedMatrices):
    """Actions with matrices at leaves; `Placed(...)` makes it where it can."""

    @property
    def source(self) -> MatrixAction:
        """The action at the first leaf."""
        return cast("MatrixAction", self.first)

    def spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """Matrices on the vectors of all leaves, and permutations of the points."""
        if not all(isinstance(action, VectorAction) for _, action in self.places):
            return ()
        return (VectorSpace(self, self), *super().spaces(shape))

    @property
    def n(self) -> int:
        """Dimension of the vectors."""
        return self.ambient - self.homogeneous

    def factors(self, x: Float[Tensor, "b D"]) -> Float[Tensor, "b k m"]:
        """The vectors of all leaves; zero where points are missing."""
        parts = []
        for path, action, leaf in self._leaves(x):
            own = cast("VectorAction", action).factors(leaf)
            present = self.columns.present(x, self.columns.by_path[path])
            parts.append(own if present is None else own * present[..., None])
        return torch.cat(parts, dim=1)

    def apply_matrix(
        self, matrix: Float[Tensor, "m m"], x: Float[Tensor, "b D"]
    ) -> Float[Tensor, "b D"]:
        """Multiply the vectors of all leaves, where points exist."""
        moved = {
            path: cast("VectorAction", action).apply_matrix(matrix, leaf)
            for path, action, leaf in self._leaves(x)
        }
        return self.columns.replaced(x, moved)


def place(moves: Mapping[str, Action], structure: Layout) -> Action:
    """Actions at leaves: those that share generators move together, others apart as in a `Product`.

    Args:
        moves: the action at every path.
        structure: where the leaves are in a row.

    Raises:
        ShapeError: a leaf does not suit its action.
    """
    families: dict[tuple[int, ...], list[tuple[str, Action]]] = {}
    for path, action in moves.items():
        leaf = structure.by_path[path]
        fitted = action.fitted(leaf.shape)
        try:
            fitted.check(leaf.shape)
        except ShapeError as error:
            raise ShapeError(f"{path!r}: {error}") from error
        families.setdefault(action.family, []).append((path, fitted))
    groups = [_group(places, structure) for places in families.values()]
    return groups[0] if len(groups) == 1 else Product(*groups)


def _group(places: list[tuple[str, Action]], structure: Layout) -> Action:
    """Actions that share generators; a restriction is that of all of them together."""
    first = places[0][1]
    if not isinstance(first, Restricted):
        return Placed(tuple(places), structure)
    parents = [(path, action.parent) for path, action in places if isinstance(action, Restricted)]
    parent = Placed(tuple(parents), structure)
    return Restricted(parent, first.basis)


def places_of(action: Action) -> dict[str, Action]:
    """The actions at the leaves of structured samples, by path; none for plain samples."""
    if isinstance(action, Placed):
        return dict(action.places)
    return {path: one for part in action.components for path, one in places_of(part).items()}
