"""Stage 2, actions: how each candidate generator moves a sample."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg._utils.forward_mode import jvp
from liegg.actions.displacement import Displacement
from liegg.actions.finite.space import Space
from liegg.actions.flow import flow, flows
from liegg.actions.generators import real_generators
from liegg.actions.motion import Motion
from liegg.actions.settings import motions
from liegg.algebra.words.readable import words_of_each
from liegg.algebra.words.wording import combination
from liegg.inputs.structure.layout import Layout

if TYPE_CHECKING:
    from liegg.actions.restricted import MatrixRestricted, Restricted


class Action(ABC):
    r"""A family of one-parameter motions of a sample, linear in its $g$ coefficients.

    A subclass defines `size` and one of `act` (the finite motion), `field` or `fields` (the
    velocities). Everything else has a default. Fields follow from `act` by a forward derivative,
    $\xi_a(x) = \frac{d}{dt}\,\mathrm{act}(t e_a, x)|_0$; `act` follows from the fields by
    Runge-Kutta integration. Closed forms that are cheaper may override any method;
    `liegg.testing.assert_is_action` checks that all of them agree.

    Examples:
        >>> class Wave(Action):
        ...     size, words = 2, ("phase", "amplitude")
        ...
        ...     def fields(self, x):
        ...         return torch.stack([torch.cos(x), x], dim=1)
        >>> Wave().describe(torch.tensor([[2.0, -1.0]]))
        ('phase − 0.5 amplitude',)
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """Number `g` of candidate generators."""

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Move samples by the finite motion exp(h).

        By default the field is integrated; samples for which this does not converge become NaN.

        Args:
            h: coefficients `[g]`, or the generator's matrix `[n, n]` where the action has matrices.
            x: samples `[b, *x]`.
        """
        coefficients = self._vector(h)
        return flow(lambda moved, _: self.field(coefficients, moved), x)

    def act_all(self, h: Float[Tensor, "m g"], x: Tensor) -> Float[Tensor, "m b ..."]:
        """Move the same samples by several finite motions; override it to share work."""
        if not self._overrides("fields") or self._overrides("field") or self._overrides("act"):
            return torch.stack([self.act(row, x) for row in h])
        return flows(self.fields, h.to(x), x)

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Velocity of each sample under the motion with coefficients `h`."""
        if self._overrides("fields") or self._overrides("tangents"):
            return self.tangents(h[None], x)[0]
        if not self._overrides("act"):
            name = type(self).__name__
            ways = f"{name}.act(h, x), {name}.field(h, x) or {name}.fields(x)"
            raise NotImplementedError(f"{name} does not say how samples move: define {ways}.")
        return jvp(lambda c: self.act(c, x), torch.zeros_like(h), h)[1]

    def tangents(
        self, h: Float[Tensor, "t g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """Velocities of each sample under several motions at once."""
        if self._overrides("fields") and not self._overrides("field"):
            return torch.einsum("tg,bg...->tb...", h.to(x), self.fields(x))
        return torch.stack([self.field(row, x) for row in h])

    def fields(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b g ..."]:
        """Velocities of each sample under every candidate generator."""
        return self.tangents(torch.eye(self.size).to(x), x).transpose(0, 1)

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise `ShapeError` unless a sample of this shape can be acted on; any by default."""
        for action in self.components:
            action.check(shape)

    def spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """What finite elements move in samples of this shape: vectors, channels, a grid, slots."""
        return tuple(space for action in self.components for space in action.spaces(shape))

    def output_spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """What finite elements may do to outputs of this shape, where the action is one on outputs."""
        each = (space for action in self.components for space in action.output_spaces(shape))
        return tuple(each) or self.spaces(shape)

    # Actions that are made of others

    @property
    def components(self) -> tuple["Action", ...]:
        """The actions that this one is made of, such as those of a `Product`; none for an elementary action."""
        return ()

    def with_components(self, components: Sequence["Action"]) -> "Action":
        """The same action made of others; an action without components stays as it is."""
        return self

    @property
    def parts(self) -> tuple["Action", ...]:
        """The elementary actions that this one is made of, without restrictions; itself if it is elementary."""
        return tuple(part for action in self.components for part in action.parts) or (self,)

    @property
    def interpolates(self) -> bool:
        """Whether finite motions resample a grid."""
        return any(action.interpolates for action in self.components)

    @property
    def other_conventions(self) -> tuple["Action", ...]:
        """The same motions in conventions with which this one may be confused, such as another order of the components."""
        return ()

    # Structured samples

    def fitted(self, shape: tuple[int, ...]) -> "Action":
        """The action for a leaf of this shape in a tree: one vector becomes any number of them, where there are several."""
        return self.with_components([action.fitted(shape) for action in self.components])

    @property
    def family(self) -> tuple[int, ...]:
        """Identifies the generators: actions at several leaves of a tree that share them move together."""
        return (id(self),)

    @property
    def structure(self) -> Layout | None:
        """Where the leaves of structured samples are in a row; None if samples are plain tensors."""
        each = (action.structure for action in self.components)
        return next((structure for structure in each if structure is not None), None)

    def with_structure(self, structure: Layout) -> "Action":
        """The same motions of structured samples with another layout, such as one for more points."""
        return self.with_components([one.with_structure(structure) for one in self.components])

    def movable(self, x: Float[Tensor, "b ..."]) -> Bool[Tensor, "b ..."] | None:
        """Which numbers of the samples are moved, while the rest is context that stays; None for all of them."""
        masks = [action.movable(x) for action in self.components]
        known = [mask for mask in masks if mask is not None]
        return torch.stack(known).any(0) if known and len(known) == len(masks) else None

    def moving(self, x: Float[Tensor, "b ..."], change: Tensor | None = None) -> Tensor:
        """The samples, or a change of them, with zeros in place of context; as they are if all of their numbers are moved."""
        values, movable = x if change is None else change, self.movable(x)
        return values if movable is None else torch.where(movable, values, 0.0)

    # How it is called, stored and drawn

    def settings(self) -> dict[str, Any]:
        """JSON values from which the action can be rebuilt: `{"kind": ..., ...}`.

        The default names the class; `liegg.load` then needs `action=`, or a registered kind.
        """
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        return {"kind": "custom", "class": name, "size": self.size}

    @property
    def words(self) -> tuple[str, ...]:
        """A name for each candidate generator."""
        return tuple(f"candidate {i}" for i in range(1, self.size + 1))

    def describe(
        self, coefficients: Float[Tensor, "d g"], *, tolerance: float = 1e-6
    ) -> tuple[str, ...]:
        """Words for motions of any size; coefficients below this share of the largest count as zero."""
        return tuple(combination(row, self.words, tolerance) for row in coefficients.tolist())

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """Named motions, such as "rotation", for samples of a shape and a spread of values."""
        return {}

    def named(self, names: Sequence[Any]) -> "Action":
        """The same motions with names for the numbers of a sample, where these are its coordinates.

        Nothing changes where it has names, or where the labels are numbers or duplicates.
        """
        return self.with_components([action.named(names) for action in self.components])

    @property
    def has_matrices(self) -> bool:
        """Whether generators can be written as matrices: true for every `MatrixAction`."""
        return isinstance(self, MatrixAction)

    @property
    def stage(self) -> str | None:
        """How a moved sample is drawn: as `"points"`, `"grid"` or `"colour"`; None for not at all."""
        return None

    def staged(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Samples as they are drawn: points `[b, k, n]`, signals `[b, c, *sides]`."""
        return x

    def code(self) -> str | None:
        """Python expression that rebuilds the action; None if there is none."""
        return None

    # Restriction to a subspace of the candidates

    def restrict(self, basis: Float[Tensor, "r ..."]) -> "Restricted":
        """Ask only about the span of given generators."""
        from liegg.actions.restricted import Restricted

        return Restricted.of(self, basis)

    @property
    def row_action(self) -> "Action":
        """Action whose polarization rows are taken; `project` maps its columns to this action's."""
        return self

    def project(self, r: Float[Tensor, "m p"]) -> Float[Tensor, "m q"]:
        """Columns of `row_action` to this action's; columns before them (of the outputs) stay."""
        return r

    def whole_coefficients(self, h: Float[Tensor, "... g"]) -> Float[Tensor, "... G"]:
        """Coefficients in the candidates of the action that this one was restricted from."""
        return h

    def own_coefficients(self, h: Float[Tensor, "... G"]) -> Float[Tensor, "... g"]:
        """Inverse of `whole_coefficients` on its range, an orthogonal projection elsewhere."""
        return h

    def same_motions(self, other: "Action") -> bool:
        """Whether two actions have the same candidate motions, even if they compute them differently."""
        return motions(self.settings()) == motions(other.settings())

    def as_coefficients(self, generators: Any, name: str = "generators") -> Float[Tensor, "d g"]:
        """Coefficients of generators given as coefficients `[d, g]`, or as matrices `[d, n, n]`.

        Args:
            generators: what the user gave.
            name: the argument, for the error message.

        Raises:
            ArgumentError: not a finite real tensor, another shape, or matrices outside the family.
        """
        tensor = real_generators(generators, name, self._generator_shapes)
        if tensor.ndim == 2 and tensor.shape[1] == self.size:
            return tensor
        if tensor.ndim == 3 and isinstance(self, MatrixAction):
            return self.coefficients(tensor)
        expected = f"{self._generator_shapes}, generators of {self!r}"
        raise ArgumentError(f"{name} have shape {tuple(tensor.shape)}; expected {expected}.")

    # What a pass over the data needs; the defaults are right for every action

    def precompute(self, x: Float[Tensor, "b ..."], into: Any = None) -> Any:
        """Quantities of a batch that rows and moments share; None for none.

        Of an action that has some, `contract`, `moment` and `moments` take them as the keyword `precomputed`.

        Args:
            x: the batch.
            into: the result for an earlier batch, whose memory may be used again.
        """
        return None

    def rounding_motion(
        self, dtype: torch.dtype, input_square: float, shape: tuple[int, ...]
    ) -> float:
        """Squared motion that rounding alone may give to a generator that does not move the data.

        Args:
            dtype: precision in which the displacement was summed.
            input_square: mean squared length of the samples.
            shape: shape of a sample.
        """
        each = (one.rounding_motion(dtype, input_square, shape) for one in self.components)
        return max(each, default=0.0)

    def steps(self, shape: tuple[int, ...]) -> Float[Tensor, " g"]:
        """Size of a finite motion per candidate, with which its field is compared; 0 for none."""
        return torch.zeros(self.size, dtype=torch.float64)

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k g"]:
        r"""Polarization rows $\langle \partial f_k(x), \xi_a(x) \rangle$ from gradients of `k` outputs."""
        flat = gradients.flatten(2)
        if self._overrides("fields"):
            return torch.einsum("bkx,bgx->bkg", flat, self.fields(x).flatten(2))
        unit = torch.eye(self.size, dtype=x.dtype, device=x.device)
        return torch.stack(
            [torch.einsum("bkx,bx->bk", flat, self.field(h, x).flatten(1)) for h in unit], dim=2
        )

    def outer_factors(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> tuple[Float[Tensor, "b k p"], Float[Tensor, "b k q"]] | None:
        r"""Vectors $l, r$ with row = $l \otimes r$ for every row, where the action has that form."""
        return None

    def moment(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "s s"]:
        """Statistic, additive over samples, from which `displacement` makes M."""
        xi = self.fields(x).flatten(2)
        return torch.einsum("bgx,bhx->gh", xi, xi)

    def moments(
        self, x: Float[Tensor, "b ..."], block: Int[Tensor, " b"], count: int
    ) -> Float[Tensor, "p s s"]:
        """Moment of the samples of every block, of which there are `count`; zero for a block without samples."""
        places = {index: (block == index).nonzero()[:, 0] for index in block.unique().tolist()}
        sums = {index: self.moment(x[some]) for index, some in places.items()}
        zero = torch.zeros_like(next(iter(sums.values())))
        return torch.stack([sums.get(index, zero) for index in range(count)])

    def displacement(self, moment: Float[Tensor, "s s"], samples: int) -> Displacement:
        """Displacement M of the data whose moments were summed."""
        return Displacement(moment / samples)

    def feature_sizes(self, moment: Float[Tensor, "s s"]) -> Float[Tensor, " n"]:
        """Summed squares of each feature, where features may have different units; else empty."""
        return moment.new_zeros(0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(Action, name)

    @property
    def _generator_shapes(self) -> str:
        return f"coefficients [d, {self.size}]"

    def _vector(self, h: Float[Tensor, "..."]) -> Float[Tensor, " g"]:
        """Coefficients of one generator given as coefficients or as a matrix."""
        if isinstance(h, Tensor) and h.shape == (self.size,):
            return h
        if not isinstance(h, Tensor) or h.ndim != 2 or not self.has_matrices:
            given = f"shape {tuple(h.shape)}" if isinstance(h, Tensor) else type(h).__name__
            one = self._generator_shapes.replace("[d, ", "[")
            raise ArgumentError(f"a motion was given as {given}; expected one generator: {one}.")
        return self.as_coefficients(h[None])[0]


class MatrixAction(Action):
    """An action whose generators are matrices of a linear or affine map, `[n, n]`."""

    @property
    @abstractmethod
    def ambient(self) -> int:
        """Side `n` of the generators' matrices."""

    @abstractmethod
    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Generators of the given coefficients, as matrices."""

    @abstractmethod
    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Coefficients of matrices; raise `ArgumentError` for a matrix outside the family."""

    @property
    def homogeneous(self) -> bool:
        """Whether the matrices are affine maps in homogeneous form, with a zero last row."""
        return False

    @property
    def axes(self) -> tuple[str, ...] | None:
        """Names of the coordinates that the matrices act on; None where they have none."""
        return None

    def restrict(self, basis: Float[Tensor, "r ..."]) -> "MatrixRestricted":
        """Ask only about the span of given generators, such as `Linear(3).restrict(liegg.so(3))`."""
        return cast("MatrixRestricted", super().restrict(basis))

    @property
    def words(self) -> tuple[str, ...]:
        """What each candidate generator does."""
        return self.describe(torch.eye(self.size, dtype=torch.float64))

    def describe(
        self, coefficients: Float[Tensor, "d g"], *, tolerance: float = 1e-6
    ) -> tuple[str, ...]:
        """Words for the motions of the matrices, such as "rotation in x–y"."""
        return words_of_each(
            self.matrices(coefficients),
            coordinates=self.axes,
            homogeneous=self.homogeneous,
            tolerance=tolerance,
        )

    @property
    def _generator_shapes(self) -> str:
        return f"{super()._generator_shapes} or matrices [d, {self.ambient}, {self.ambient}]"
