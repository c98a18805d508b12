"""The linear and the affine action: all maps of one or several vectors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg._utils.arguments import checked_fields
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions.displacement import Displacement
from liegg.actions.finite.slots import SlotSpace
from liegg.actions.finite.space import Space
from liegg.actions.finite.vectors import VectorSpace
from liegg.actions.generators import check_side
from liegg.actions.motion import Motion
from liegg.actions.names import check_noun, checked_names, with_names
from liegg.actions.settings import field_settings
from liegg.actions.values import LARGEST_NAMED, ValueAction
from liegg.algebra.catalog import scaling, translation

Layout = Literal["copies_first", "vector_first"]


@dataclass(frozen=True, repr=False)
class VectorAction(ValueAction):
    r"""The same map of each of several vectors; base of `Linear` and `Affine`.

    The generators are the unit matrices $E_{ij}$, row by row, with fields $\xi_{ij}(x) = e_i \tilde x_j$,
    where $\tilde x$ is $x$ for linear maps and $(x, 1)$ for affine ones.
    """

    n: int
    copies: int | None = 1
    layout: Layout = "copies_first"
    names: Sequence[str] | None = None
    noun: str = field(default="slot", kw_only=True)

    def __post_init__(self) -> None:
        check_noun(self.noun)
        name = type(self).__name__
        if self.n < 1 or (self.copies is not None and self.copies < 1):
            raise ArgumentError(
                f"{name}({self.n}, copies={self.copies}): both must be positive, for example "
                f"{name}(5, copies=2)."
            )
        object.__setattr__(self, "names", checked_names(self.names, self.n, f"{name}({self.n})"))

    def named(self, names: Sequence[Any]) -> "VectorAction":
        """The action with these names, if it has none and they are names of its components."""
        return with_names(self, names, self.n) if self.copies == 1 else self

    def fitted(self, shape: tuple[int, ...]) -> "VectorAction":
        """The action on any number of vectors, if it is on one and a leaf has several."""
        return replace(self, copies=None) if self.copies == 1 and self._several(shape) else self

    @property
    def ambient(self) -> int:
        """n, or n + 1 where the matrices are homogeneous."""
        return self.n + self.homogeneous

    @property
    def size(self) -> int:
        """Number of entries of the matrices, without a zero last row."""
        return self.n * self.ambient

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples are `[copies, n]` (or the other layout) or flat."""
        shape, n, copies, name = tuple(shape), self.n, self.copies, type(self).__name__
        first = self.layout == "copies_first"
        if copies is None:
            self._check_any(shape)
            return
        stacked = (copies, n) if first else (n, copies)
        accepted = {stacked, (n * copies,)}
        if shape in accepted or (shape == () and n * copies == 1):
            return
        hint = " For a list of single samples pass torch.stack(samples)." if shape == () else ""
        if shape == stacked[::-1]:
            other = "vector_first" if first else "copies_first"
            hint = f" The axes are swapped: pass {name}({n}, copies={copies}, layout='{other}')."
        elif 0 in shape:
            hint = " There is no number in it."
        elif len(shape) == 2:
            vectors = f"{shape[0]} vectors of dimension {shape[1]}"
            hint = f" For {vectors} pass {name}({shape[1]}, copies={shape[0]})."
        elif shape == (n,):
            hint = f" For one vector of dimension {n} pass {name}({n})."
        elif len(shape) == 1 and shape[0] % n == 0:
            count = shape[0] // n
            hint = f" For {count} vectors of dimension {n} pass {name}({n}, copies={count})."
        elif len(shape) == 1:
            hint = f" For one vector of dimension {shape[0]} pass {name}({shape[0]})."
        elif len(shape) == 3:
            hint = " For images pass liegg.Image()."
        wanted = " or ".join(map(str, sorted(accepted, key=len)))
        raise ShapeError(
            f"a sample has shape {shape}; {name}({n}, copies={copies}) expects {wanted}." + hint
        )

    def _check_any(self, shape: tuple[int, ...]) -> None:
        """Raise `ShapeError` unless a sample is any number of vectors."""
        if self._several(shape) and 0 not in shape:
            return
        wanted = f"[k, {self.n}]" if self.layout == "copies_first" else f"[{self.n}, k]"
        name = f"{type(self).__name__}({self.n}, copies=None)"
        raise ShapeError(
            f"a sample has shape {shape}; {name} expects {wanted}, any number of vectors of dimension {self.n}."
        )

    def _several(self, shape: tuple[int, ...]) -> bool:
        """Whether a sample is a list of vectors; leading axes of size 1, as cells `[1, n, n]` of graphs have, do not count."""
        while len(shape) > 2 and shape[0] == 1:
            shape = shape[1:]
        vector = shape[-1:] if self.layout == "copies_first" else shape[:1]
        return len(shape) == 2 and vector == (self.n,)

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the exponential of the generator's matrix to every vector."""
        (matrix,) = self.matrices(self._vector(h).to(device=x.device, dtype=x.dtype)[None])
        return self.apply_matrix(torch.linalg.matrix_exp(matrix), x)

    def field(self, h: Float[Tensor, " g"], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Apply the generator itself to every vector."""
        return self.apply_matrix(self.matrices(h.to(device=x.device, dtype=x.dtype)[None])[0], x)

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k g"]:
        r"""Outer products $\sum_{\text{copies}} \partial f \otimes \tilde x$; no field is formed."""
        slopes = self.staged(gradients.flatten(0, 1)).unflatten(0, gradients.shape[:2])
        return torch.einsum("bkci,bcj->bkij", slopes, self.factors(x)).flatten(2)

    def outer_factors(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> tuple[Float[Tensor, "b k n"], Float[Tensor, "b k m"]] | None:
        r"""For one vector the row is $\partial f \otimes \tilde x$; for several it is a sum of these."""
        if self.copies != 1:
            return None
        slopes = gradients.flatten(2)
        return slopes, self.factors(x).expand(-1, slopes.shape[1], -1)

    def feature_sizes(self, moment: Float[Tensor, "m m"]) -> Float[Tensor, " n"]:
        """Summed squares of the components."""
        return moment.diagonal()[: self.n]

    def displacement(self, moment: Float[Tensor, "m m"], samples: int) -> Displacement:
        """Identity ⊗ mean second moment, because fields with different `i` are orthogonal."""
        return Displacement(moment / samples, repeat=self.n)

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d m m"]:
        """Fold rows of coefficients into matrices, with a zero last row if they are homogeneous."""
        rows = coefficients.unflatten(1, (self.n, self.ambient))
        return pad(rows, (0, 0, 0, self.ambient - self.n))

    def settings(self) -> dict[str, Any]:
        """Kind, n, copies, layout; and names and noun, if there are any."""
        return field_settings(self, optional=("names", "noun"), omitted=("points",))

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """Rotation, scaling, and translation of affine maps."""
        named = super().motions(shape, spread=spread)
        if self.n <= LARGEST_NAMED:
            growth = self.coefficients(scaling(self.n))
            named["scaling"] = Motion(growth, math.log(1.25), "%")
        if self.homogeneous and self.n <= LARGEST_NAMED:
            named["translation"] = Motion(self.coefficients(translation(self.n)))
        return named

    @property
    def stage(self) -> str:
        """Points."""
        return "points"

    def staged(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b copies n"]:
        """The vectors of every sample."""
        if self.layout == "copies_first":
            return x.reshape(x.shape[0], self.copies or -1, self.n)
        return x.reshape(x.shape[0], self.n, self.copies or -1).mT

    def __repr__(self) -> str:
        names = "" if self.names is None else f", names={self.names!r}"
        names += "" if self.noun == "slot" else f", noun={self.noun!r}"
        made = f"n={self.n}, copies={self.copies}, layout={self.layout!r}{names}"
        return f"{type(self).__name__}({made})"

    def factors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b copies m"]:
        r"""The vectors $\tilde x$ that the matrices multiply: $x$, or $(x, 1)$ for affine maps."""
        vectors = self.staged(x)
        return pad(vectors, (0, 1), value=1.0) if self.homogeneous else vectors

    def spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """Matrices on the vectors, and permutations of the vectors if there are several."""
        maps = VectorSpace(self, self)
        copies = self.copies or math.prod(shape) // self.n
        if copies < 2:
            return (maps,)
        first = self.layout == "copies_first"
        stacked = (copies, self.n) if first else (self.n, copies)
        return (maps, SlotSpace(stacked, 0 if first else 1, self.noun))

    def apply_matrix(
        self, matrix: Float[Tensor, "m m"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        """Every vector times a matrix of the group itself, homogeneous for affine maps.

        Products are in float32 at least: in half precision they are coarse, and some CPUs lack them.
        """
        wide = torch.promote_types(x.dtype, torch.float32)
        linear, shift = matrix[: self.n].to(wide).tensor_split([self.n], dim=1)
        moved = self.staged(x).to(wide) @ linear.mT
        if shift.shape[1]:
            moved = moved + shift[:, 0]
        stacked = moved if self.layout == "copies_first" else moved.mT
        return stacked.to(x.dtype).reshape(x.shape)


@checked_fields
@dataclass(frozen=True, repr=False)
class Linear(VectorAction):
    r"""Every linear map of $\mathbb{R}^n$, the same on each of `copies` vectors: $x_k \mapsto e^{h} x_k$.

    The generators are the unit matrices $E_{ij}$, row by row, with fields $\xi_{ij}(x) = e_i x_j$.

    Attributes:
        n: dimension of a vector.
        copies: vectors per sample; None for any number of them, `[k, n]`, which may vary between samples; `[1, k, n]`, as cells
            of graphs are, is accepted too.
        layout: `"copies_first"` for samples `[copies, n]` or flat, copy after copy;
            `"vector_first"` for `[n, copies]` or flat, component after component.
        names: of the n components, the same for every vector; words, formulas and figures use them.
            By default x₁, x₂, ..., or the names of the columns of a table.
        noun: what one of the vectors is called where they are permuted, such as "atom"; see `liegg.discover_group`.

    Examples:
        >>> Linear(3, names=["m1", "m2", "r"]).words[1]
        'shear of m1 by m2'
        >>> turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
        >>> moved = Linear(2).act(torch.pi / 2 * turn, torch.tensor([[1.0, 0.0]]))
        >>> torch.allclose(moved, torch.tensor([[0.0, 1.0]]), atol=1e-6)
        True
    """

    def coefficients(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """Flatten matrices row by row."""
        check_side(matrices, self)
        return matrices.flatten(1)

    @property
    def vectors(self) -> "Linear":
        """How velocities and forces move where this action moves positions: the same."""
        return self


@checked_fields
@dataclass(frozen=True, repr=False)
class Affine(VectorAction):
    r"""Every affine map of $\mathbb{R}^n$, the same on each of `copies` vectors.

    The generators are homogeneous matrices `[n+1, n+1]` with a zero last row; coefficients are their
    first $n$ rows, row by row, with fields $\xi_{ij}(x) = e_i \tilde x_j$ for $\tilde x = (x, 1)$.

    Attributes:
        n: dimension of a vector.
        copies: as for `Linear`.
        layout: as for `Linear`.
        names: as for `Linear`.
        noun: as for `Linear`.

    Examples:
        >>> Affine(2).size
        6
    """

    @property
    def homogeneous(self) -> bool:
        """They are."""
        return True

    @property
    def vectors(self) -> "Vectors":
        """How velocities and forces move where this action moves positions: by the linear part of the same maps.

        >>> A = Affine(3, copies=None)
        >>> moves = {"pos": A, "vel": A.vectors}
        """
        return Vectors(self.n, self.copies, self.layout, self.names, self, noun=self.noun)

    def coefficients(self, matrices: Float[Tensor, "d m m"]) -> Float[Tensor, "d g"]:
        """Flatten homogeneous matrices; `[d, n, n]` are linear parts without translation."""
        side = self.n + 1
        if matrices.ndim == 3 and matrices.shape[1:] == (self.n, self.n):
            matrices = pad(matrices, (0, 1, 0, 1))
        if matrices.ndim != 3 or matrices.shape[1:] != (side, side):
            raise ArgumentError(
                f"generators have shape {tuple(matrices.shape)}; expected homogeneous "
                f"[d, {side}, {side}] with a zero last row, or linear parts [d, {self.n}, {self.n}]."
            )
        size = matrices.abs().amax(dim=(1, 2))[:, None]
        if bool((matrices[:, self.n].abs() > 1e-12 * size).any()):
            raise ArgumentError(
                "a homogeneous generator has a last row other than zero; affine motions have none."
            )
        return matrices[:, : self.n].flatten(1)


@dataclass(frozen=True, repr=False)
class Vectors(Affine):
    r"""The affine maps of another action, on vectors: $v \mapsto e^{L} v$ with the linear part $L$; made by `Affine.vectors`.

    Differences of positions, velocities and forces move so. The generators are those of the affine action, and
    translations do not move anything.

    Attributes:
        points: the action on positions whose generators these are; None for none.
    """

    points: Affine | None = None

    @property
    def family(self) -> tuple[int, ...]:
        """The family of the action on positions."""
        return (id(self),) if self.points is None else self.points.family

    @property
    def vectors(self) -> "Vectors":
        """Itself."""
        return self

    def code(self) -> str:
        """The code of the action on positions, for vectors."""
        return f"liegg.{Affine(self.n, self.copies, self.layout, self.names, noun=self.noun)!r}.vectors"

    def factors(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b copies m"]:
        """The vectors with a last component of zero."""
        return pad(self.staged(x), (0, 1))

    def apply_matrix(
        self, matrix: Float[Tensor, "m m"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b ..."]:
        """The linear part alone."""
        linear = matrix.clone()
        linear[:, self.n :] = 0
        return super().apply_matrix(linear, x)
