"""Stage 2, actions: how each candidate generator moves a sample."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError, ShapeError
from liegg._utils.forward_mode import jvp
from liegg._utils.linalg import orthonormal_rows


@dataclass(frozen=True)
class Displacement:
    r"""Mean squared motion of the data, $M = \mathrm{mean}\ \xi^\top \xi = I_{\text{repeat}} \otimes \text{block}$.

    The Kronecker form is what the linear and affine actions have; any other $M$ is its own block with `repeat = 1`. It is summed
    in float64 as it stands: a direction is called trivial at a relative 1e-12, four decades above the rounding of that sum.

    Attributes:
        block: symmetric positive semidefinite `[s, s]`.
        repeat: how often the block stands on the diagonal.
        noise: squared motion up to which a generator is taken to move by rounding alone, that is not at all.
    """

    block: Float[Tensor, "s s"]
    repeat: int = 1
    noise: float = 0.0

    @property
    def typical(self) -> float:
        """Mean squared motion per candidate generator."""
        return float(self.block.diagonal().mean())

    def dense(self) -> Float[Tensor, "g g"]:
        """The whole matrix `[g, g]`."""
        return torch.block_diag(*[self.block] * self.repeat)


class Action(ABC):
    r"""A family of one-parameter motions of a sample, linear in its $g$ coefficients.

    A subclass states `act`; the fields $\xi_a(x) = \frac{d}{dt}\,\mathrm{act}(t e_a, x)|_0$ follow from it by a forward
    derivative, and closed forms that are cheaper override them (`liegg.testing.assert_is_action` holds both to each other).
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """Number `g` of candidate generators."""

    @property
    @abstractmethod
    def ambient(self) -> int:
        """Side `n` of the generators' matrices."""

    @abstractmethod
    def check(self, shape: tuple[int, ...]) -> None:
        """Raise `ShapeError` unless a sample of this shape can be acted on."""

    @abstractmethod
    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Move samples by the finite motion exp(h).

        Args:
            h: coefficients `[g]`, or the generator's matrix `[n, n]`.
            x: samples `[b, *x]`.
        """

    @abstractmethod
    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Generators of the given coefficients, as matrices."""

    @property
    def homogeneous(self) -> bool:
        """Whether the matrices are affine maps in homogeneous form, with a zero last row."""
        return False

    @property
    def axes(self) -> tuple[str, ...] | None:
        """Names of the coordinates that the matrices act on; None where they have none."""
        return None

    @abstractmethod
    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Coefficients of the given matrices; raise `ArgumentError` for a matrix outside the family."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What makes this action again, as JSON values: `{"kind": ..., ...}`."""

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Velocity of each sample under the motion with coefficients `h`."""
        zero = torch.zeros_like(h)
        return jvp(lambda c: self.act(c, x), zero, h)[1]

    def precompute(self, x: Float[Tensor, "b ..."], into: Any = None) -> Any:
        """What `contract` and `moment` both need of a batch and take as `precomputed=`, computed once; None if there is no such.

        Args:
            x: the batch.
            into: what was derived of an earlier batch and is no longer needed, whose memory may be used again.
        """
        return None

    def rounding_motion(
        self, dtype: torch.dtype, input_square: float, shape: tuple[int, ...]
    ) -> float:
        """Squared motion that rounding alone may give a generator that does not move the data.

        Args:
            dtype: precision in which the displacement was summed.
            input_square: mean squared length of the samples.
            shape: shape of a sample.
        """
        return 0.0

    def tangents(
        self, h: Float[Tensor, "t g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """Velocities of each sample under several motions at once."""
        return torch.stack([self.field(row, x) for row in h])

    def fields(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b g ..."]:
        """Velocities of each sample under every candidate generator."""
        return self.tangents(torch.eye(self.size, dtype=x.dtype, device=x.device), x).transpose(
            0, 1
        )

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: Any = None,
    ) -> Float[Tensor, "b k g"]:
        r"""Polarization rows $\langle \partial f_k(x), \xi_a(x) \rangle$ from gradients of `k` outputs."""
        unit = torch.eye(self.size, dtype=x.dtype, device=x.device)
        flat = gradients.flatten(2)
        return torch.stack(
            [torch.einsum("bkx,bx->bk", flat, self.field(h, x).flatten(1)) for h in unit], dim=2
        )

    def outer_factors(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> tuple[Float[Tensor, "b k p"], Float[Tensor, "b k q"]] | None:
        r"""Two vectors $l, r$ for every row with row = $l \otimes r$, where the action has that form; else None."""
        return None

    def moment(self, x: Float[Tensor, "b ..."], precomputed: Any = None) -> Float[Tensor, "s s"]:
        """Statistic, additive over samples, from which `displacement` makes M."""
        xi = self.fields(x).flatten(2)
        return torch.einsum("bgx,bhx->gh", xi, xi)

    def moments(
        self,
        x: Float[Tensor, "b ..."],
        block: Int[Tensor, " b"],
        count: int,
        precomputed: Any = None,
    ) -> Float[Tensor, "p s s"]:
        """Moment of the samples of every block, zero for a block without samples.

        Args:
            x: the batch.
            block: block of every sample, from 0 to `count` - 1.
            count: number of blocks.
            precomputed: what `precompute` said of the batch.
        """
        sliced = isinstance(precomputed, tuple) and all(
            isinstance(part, Tensor) and len(part) == len(x) for part in precomputed
        )
        found: dict[int, Tensor] = {}
        for number in block.unique().tolist():
            some = _evenly((block == number).nonzero()[:, 0])
            found[number] = self.moment(
                x[some], precomputed=tuple(part[some] for part in precomputed) if sliced else None
            )
        zero = torch.zeros_like(next(iter(found.values())))
        return torch.stack([found.get(number, zero) for number in range(count)])

    def displacement(self, moment: Float[Tensor, "s s"], samples: int) -> Displacement:
        """Displacement M of the data whose moments were summed."""
        return Displacement(moment / samples)

    def feature_sizes(self, moment: Float[Tensor, "s s"]) -> Float[Tensor, " n"]:
        """Summed squares of each feature, where the action treats features of possibly different units alike; else empty."""
        return moment.new_zeros(0)

    def restrict(self, basis: Float[Tensor, "r ..."]) -> "Restricted":
        """Ask only about the span of given generators (or of coefficients), for example `Linear(3).restrict(liegg.so(3))`."""
        return Restricted.of(self, basis)

    def _vector(self, h: Float[Tensor, "..."]) -> Float[Tensor, " g"]:
        """Coefficients of one generator given as coefficients or as a matrix."""
        if not isinstance(h, Tensor) or (h.ndim != 2 and h.shape != (self.size,)):
            given = f"shape {tuple(h.shape)}" if isinstance(h, Tensor) else type(h).__name__
            raise ArgumentError(
                f"a motion was given as {given}; expected a tensor of {self.size} coefficients, or one generator "
                f"[{self.ambient}, {self.ambient}]."
            )
        return self.coefficients(h[None])[0] if h.ndim == 2 else h


def _evenly(places: Int[Tensor, " m"]) -> slice | Int[Tensor, " m"]:
    """Places that lie evenly as a slice, which needs no copy; others as they are."""
    first, step = int(places[0]), int(places[1] - places[0]) if len(places) > 1 else 1
    even = torch.equal(places, torch.arange(first, first + step * len(places), step))
    return slice(first, first + step * len(places), step) if even else places


@dataclass(frozen=True, eq=False, repr=False)
class Restricted(Action):
    """An action whose candidate generators are kept to a subspace of its parent's.

    Attributes:
        parent: the action that is restricted.
        basis: orthonormal coefficients `[r, g]` of the subspace in the parent's generators.
        label: what it is called, where it has a name of its own.
    """

    parent: Action
    basis: Float[Tensor, "r g"]
    label: str = ""

    CONTRACT_LIMIT = 1024
    """Parent generators up to which rows are taken for all of them and projected; above, one field at a time is cheaper."""

    @classmethod
    def of(cls, parent: Action, basis: Float[Tensor, "r ..."]) -> "Restricted":
        """Restrict `parent` to the span of matrices (or of coefficients `[r, g]`); dependent ones are reduced."""
        if (
            not isinstance(basis, Tensor)
            or not basis.is_floating_point()
            or not bool(torch.isfinite(basis).all())
        ):
            given = str(basis.dtype) if isinstance(basis, Tensor) else type(basis).__name__
            raise ArgumentError(
                f"generators were given as {given}; expected a real floating point tensor of finite numbers."
            )
        given = parent.coefficients(basis) if basis.ndim == 3 else basis
        if given.ndim != 2 or given.shape[1] != parent.size:
            raise ArgumentError(
                f"restrict() got shape {tuple(basis.shape)}; expected matrices [r, {parent.ambient}, {parent.ambient}] or "
                f"coefficients [r, {parent.size}], for example restrict(liegg.so({parent.ambient}))."
            )
        span = orthonormal_rows(given.detach().to("cpu", torch.float64))
        if span.shape[0] == 0:
            raise ArgumentError("restrict() got no generator other than zero; give at least one.")
        if isinstance(parent, Restricted):
            return cls(parent.parent, span @ parent.basis)
        return cls(parent, span)

    @property
    def projects(self) -> bool:
        """Whether the parent has so few generators that its rows are taken and projected."""
        return self.parent.size <= self.CONTRACT_LIMIT

    @property
    def size(self) -> int:
        """Dimension of the subspace."""
        return self.basis.shape[0]

    @property
    def ambient(self) -> int:
        """Side of the parent's matrices."""
        return self.parent.ambient

    def check(self, shape: tuple[int, ...]) -> None:
        """As the parent's."""
        self.parent.check(shape)

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The parent's motion."""
        return self.parent.act(self._lift(self._vector(h)), x)

    @property
    def homogeneous(self) -> bool:
        """As the parent's."""
        return self.parent.homogeneous

    @property
    def axes(self) -> tuple[str, ...] | None:
        """As the parent's."""
        return self.parent.axes

    def matrices(self, coefficients: Float[Tensor, "d r"]) -> Float[Tensor, "d n n"]:
        """The parent's matrices."""
        return self.parent.matrices(self._lift(coefficients))

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d r"]:
        """Coordinates in the subspace; raise `ArgumentError` for a matrix outside it."""
        outer = self.parent.coefficients(matrices)
        inner = outer @ self.basis.to(outer).mT
        gap = (self._lift(inner) - outer).norm(dim=1)
        if bool((gap > 1e-6 * outer.norm(dim=1) + 1e-300).any()):
            raise ArgumentError(
                f"generator {int(gap.argmax())} lies outside the {self.size}-dimensional space this action is restricted to."
            )
        return inner

    def settings(self) -> dict[str, Any]:
        """The parent's settings and the basis."""
        return {
            "kind": "restricted",
            "parent": self.parent.settings(),
            "basis": self.basis.tolist(),
            "label": self.label,
        }

    def field(self, h: Float[Tensor, " r"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The parent's field."""
        return self.parent.field(self._lift(h), x)

    def tangents(
        self, h: Float[Tensor, "t r"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """The parent's."""
        return self.parent.tangents(self._lift(h), x)

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: Any = None,
    ) -> Float[Tensor, "b k r"]:
        """Project the parent's rows, or take one field at a time where the parent has very many generators."""
        if not self.projects:
            return super().contract(gradients, x, precomputed)
        return self.parent.contract(gradients, x) @ self.basis.to(x).mT

    def moment(self, x: Float[Tensor, "b ..."], precomputed: Any = None) -> Float[Tensor, "s s"]:
        """The parent's statistic."""
        return self.parent.moment(x)

    def moments(
        self,
        x: Float[Tensor, "b ..."],
        block: Int[Tensor, " b"],
        count: int,
        precomputed: Any = None,
    ) -> Float[Tensor, "p s s"]:
        """Those of the parent."""
        return self.parent.moments(x, block, count)

    def rounding_motion(
        self, dtype: torch.dtype, input_square: float, shape: tuple[int, ...]
    ) -> float:
        """The parent's."""
        return self.parent.rounding_motion(dtype, input_square, shape)

    def displacement(self, moment: Float[Tensor, "s s"], samples: int) -> Displacement:
        """The parent's displacement between directions of the subspace."""
        outer = self.parent.displacement(moment, samples)
        side = outer.block.shape[0]
        rows = self.basis.to(moment).reshape(self.size, outer.repeat, side)
        return Displacement(torch.einsum("prs,st,qrt->pq", rows, outer.block, rows))

    def __repr__(self) -> str:
        return self.label or f"Restricted({self.parent!r}, size={self.size})"

    def feature_sizes(self, moment: Float[Tensor, "s s"]) -> Float[Tensor, " n"]:
        """The parent's."""
        return self.parent.feature_sizes(moment)

    def _lift(self, h: Float[Tensor, "... r"]) -> Float[Tensor, "... g"]:
        return h @ self.basis.to(h)


def as_vectors(
    x: Float[Tensor, "b ..."], n: int, copies: int, layout: str
) -> Float[Tensor, "b copies n"]:
    """View samples as `copies` vectors of dimension `n`, whichever of the accepted shapes they have."""
    if layout == "copies_first":
        return x.reshape(x.shape[0], copies, n)
    return x.reshape(x.shape[0], n, copies).mT


def from_vectors(
    vectors: Float[Tensor, "b copies n"], like: Float[Tensor, "b ..."], layout: str
) -> Float[Tensor, "b ..."]:
    """Inverse of `as_vectors`: back to the shape of `like`."""
    return (vectors if layout == "copies_first" else vectors.mT).reshape(like.shape)


def check_vectors(shape: tuple[int, ...], n: int, copies: int, layout: str, name: str) -> None:
    """Raise `ShapeError` unless a sample of this shape is `copies` vectors of dimension `n` in the stated layout."""
    stacked = (copies, n) if layout == "copies_first" else (n, copies)
    accepted = {stacked, (n * copies,)}
    if tuple(shape) in accepted or (tuple(shape) == () and n * copies == 1):
        return
    hint = " For a list of single samples pass torch.stack(samples)." if tuple(shape) == () else ""
    if tuple(shape) == stacked[::-1]:
        other = "vector_first" if layout == "copies_first" else "copies_first"
        hint = f" The axes are the other way round: pass {name}({n}, copies={copies}, layout='{other}')."
    elif len(shape) == 2:
        hint = f" For {shape[0]} vectors of dimension {shape[1]} pass {name}({shape[1]}, copies={shape[0]})."
    elif len(shape) == 1 and shape[0] % n == 0:
        hint = f" For {shape[0] // n} vectors of dimension {n} pass {name}({n}, copies={shape[0] // n})."
    elif len(shape) == 1:
        hint = f" For one vector of dimension {shape[0]} pass {name}({shape[0]})."
    elif len(shape) == 3:
        hint = " For pictures pass liegg.Image()."
    wanted = " or ".join(map(str, sorted(accepted, key=len)))
    raise ShapeError(
        f"a sample has shape {tuple(shape)}; {name}({n}, copies={copies}) expects {wanted}." + hint
    )


def check_sizes(n: int, copies: int, layout: str, name: str) -> None:
    """Raise `ArgumentError` for sizes or a layout that make no sense."""
    if n < 1 or copies < 1:
        raise ArgumentError(
            f"{name}({n}, copies={copies}): both must be positive, for example {name}(5, copies=2)."
        )
    if layout not in ("copies_first", "vector_first"):
        raise ArgumentError(
            f"layout={layout!r}: expected 'copies_first' (samples [copies, n]) or 'vector_first' (samples [n, copies])."
        )
