"""Maps of a tensor along its axes: Kronecker sums of small matrices instead of a large one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import checked
from liegg._utils.errors import ArgumentError, ShapeError
from liegg._utils.linalg import fix_signs
from liegg.actions.structured.constructors import algebra_as_list, algebra_basis
from liegg.actions.structured.sparse import Map, StructuredAction


@dataclass(frozen=True, eq=False)
class Axis:
    r"""Candidates along one axis; the identity is separate, as it is the same map along every axis.

    Attributes:
        side: length of the axis.
        basis: orthonormal traceless matrices, flat; None for all of sl(k), whose basis is implicit.
        traced: matrix of the span that is orthogonal to the basis; 0 if all of it is traceless.
    """

    side: int
    basis: Float[Tensor, "r kk"] | None
    traced: Float[Tensor, "k k"]

    @property
    def count(self) -> int:
        """Number of traceless candidates."""
        return self.side**2 - 1 if self.basis is None else len(self.basis)

    def project(self, whole: Float[Tensor, "b k kk"]) -> Float[Tensor, "b k r"]:
        """Inner products with the traceless candidates, from those with the unit matrices."""
        if self.basis is not None:
            return whole @ self.basis.to(whole).mT
        diagonal = whole.unflatten(2, (self.side, self.side)).diagonal(dim1=2, dim2=3)
        return torch.cat(
            [
                whole[..., _beside(self.side).to(whole.device)],
                diagonal @ _helmert(self.side).to(whole),
            ],
            dim=2,
        )

    def trace(self, whole: Float[Tensor, "b k kk"]) -> Float[Tensor, "b k"]:
        """Inner products with the candidate that has a trace."""
        return whole @ self.traced.to(whole).flatten()

    def lift(self, h: Float[Tensor, "t r"], trace: Float[Tensor, " t"]) -> Float[Tensor, "t k k"]:
        """Matrices with these coefficients."""
        if self.basis is not None:
            flat = h @ self.basis.to(h)
        else:
            beside, level = h.split([self.side * (self.side - 1), self.side - 1], dim=1)
            flat = torch.diag_embed(level @ _helmert(self.side).to(h).mT).flatten(1)
            flat = flat.index_add(1, _beside(self.side).to(h.device), beside)
        flat = flat + trace[:, None] * self.traced.to(h).flatten()
        return flat.unflatten(1, (self.side, self.side))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class KroneckerSum(StructuredAction):
    r"""Linear maps along the axes of a tensor, $A \otimes 1 \otimes 1 + 1 \otimes B \otimes 1 + 1 \otimes 1 \otimes C$.

    All of $\mathfrak{gl}(k_1) \oplus \dots \oplus \mathfrak{gl}(k_F)$, with the identity counted once:
    $\sum k_f^2 - F + 1$ candidates instead of $\prod k_f^2$, and no matrix larger than an axis. The
    candidates are orthonormal as matrices of all $n$ numbers. As for `Blocks`, the mean sensitivity
    is that of these candidates alone.

    Attributes:
        sizes: length of every axis; samples have this shape (up to axes of length 1) or are flat.
        algebras: candidates along each axis, `[r, k, k]`; None for all of gl(k).

    Examples:
        >>> KroneckerSum((28, 28)).size, KroneckerSum((10, 15, 20)).size
        (1567, 723)
        >>> from liegg.algebra import so
        >>> KroneckerSum((28, 28), [so(28), None]).size
        1162
    """

    sizes: tuple[int, ...]
    algebras: tuple[Float[Tensor, "_ _ _"] | None, ...]

    @checked(owner="KroneckerSum")
    def __init__(
        self, sizes: Sequence[int], algebras: Sequence[Float[Tensor, "_ _ _"] | None] | None = None
    ) -> None:
        sides = tuple(sizes)
        if not sides or min(sides) < 1:
            raise ArgumentError(
                f"sizes={sides}: expected the length of every axis, for example KroneckerSum((28, 28))."
            )
        own = (None,) * len(sides) if algebras is None else tuple(algebras)
        if len(own) != len(sides):
            raise ArgumentError(
                f"{len(own)} algebras were given for {len(sides)} axes; give one per axis, None for all of gl(k)."
            )
        object.__setattr__(self, "sizes", sides)
        object.__setattr__(self, "algebras", own)
        _ = self._axes  # raises for invalid algebras

    @cached_property
    def _axes(self) -> tuple[Axis, ...]:
        return tuple(
            axis_of(side, own) for side, own in zip(self.sizes, self.algebras, strict=True)
        )

    @cached_property
    def _mix(self) -> Float[Tensor, "q f"]:
        """Orthonormal combinations of the matrices with a trace, so that the identity counts once."""
        means = torch.stack([axis.traced.diagonal().mean() for axis in self._axes])
        lengths = torch.stack([axis.traced.square().sum() / axis.side for axis in self._axes])
        # Inner products of all n numbers: of A ⊗ 1 and 1 ⊗ B they are those of the traces.
        products = torch.outer(means, means).fill_diagonal_(0) + torch.diag(lengths)
        squares, vectors = torch.linalg.eigh(self.ambient * products)
        kept = squares > 1e-10 * squares[-1].clamp_min(1e-300)
        return fix_signs((vectors[:, kept] / squares[kept].sqrt()).mT.contiguous())

    @property
    def size(self) -> int:
        """Number of independent candidates."""
        return sum(axis.count for axis in self._axes) + len(self._mix)

    @property
    def ambient(self) -> int:
        """Numbers in a sample."""
        return math.prod(self.sizes)

    def check(self, shape: tuple[int, ...]) -> None:
        """The axes themselves, or flat."""
        if tuple(s for s in shape if s != 1) != tuple(s for s in self.sizes if s != 1) and tuple(
            shape
        ) != (self.ambient,):
            raise ShapeError(
                f"a sample has shape {tuple(shape)}; {self!r} expects {self.sizes}, or {self.ambient} numbers flat."
            )

    def contract(
        self, gradients: Float[Tensor, "b k ..."], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "b k g"]:
        """Slope times number, summed along all lines of each axis."""
        tensor = x.reshape(-1, *self.sizes)
        slopes = gradients.reshape(*gradients.shape[:2], *self.sizes)
        whole = []
        for f, side in enumerate(self.sizes):
            lines = tensor.movedim(f + 1, -1).reshape(len(x), 1, -1, side)
            ends = slopes.movedim(f + 2, -1).reshape(*slopes.shape[:2], -1, side)
            whole.append((ends.mT @ lines).flatten(2))
        return self._project(whole)

    def matrices(self, coefficients: Float[Tensor, "d g"]) -> Float[Tensor, "d n n"]:
        """Dense matrices, meant for few generators."""
        out = coefficients.new_zeros(len(coefficients), self.ambient, self.ambient)
        for f, matrix in enumerate(self._along(coefficients)):
            self._lines(out, f).add_(matrix[..., None, None])
        return out

    def settings(self) -> dict[str, Any]:
        """Kind, axes and algebras."""
        algebras = algebra_as_list(self.algebras)
        return {"kind": "kronecker", "sizes": list(self.sizes), "algebras": algebras}

    def __repr__(self) -> str:
        return f"KroneckerSum({self.sizes}, size={self.size})"

    def _lines(self, matrices: Float[Tensor, "d n n"], f: int) -> Float[Tensor, "d k k p q"]:
        """View of the entries between numbers that differ along axis `f` alone."""
        sides = (math.prod(self.sizes[:f]), self.sizes[f], math.prod(self.sizes[f + 1 :]))
        apart = matrices.reshape(-1, *sides, *sides)
        return apart.diagonal(dim1=1, dim2=4).diagonal(dim1=2, dim2=4)

    def _project(self, whole: list[Float[Tensor, "b k _"]]) -> Float[Tensor, "b k g"]:
        """Inner products with the candidates, from those with the unit matrices along each axis."""
        each = list(zip(self._axes, whole, strict=True))
        found = [axis.project(own) * (axis.side / self.ambient) ** 0.5 for axis, own in each]
        traces = torch.stack([axis.trace(own) for axis, own in each], dim=2)
        return torch.cat([*found, traces @ self._mix.to(traces).mT], dim=2)

    def _along(self, h: Float[Tensor, "t g"]) -> list[Float[Tensor, "t _ _"]]:
        """Matrix along each axis of the generators with coefficients `h`."""
        *parts, last = h.split([*(axis.count for axis in self._axes), len(self._mix)], dim=1)
        traces = last @ self._mix.to(h)
        return [
            axis.lift(own * (axis.side / self.ambient) ** 0.5, trace)
            for axis, own, trace in zip(self._axes, parts, traces.unbind(1), strict=True)
        ]

    def _maps(self, h: Float[Tensor, "t g"]) -> list[tuple[Map, Float[Tensor, ""]]]:
        """Sums of the matrices along the axes."""
        return [
            (partial(self._apply, along), torch.stack([m.abs().sum(1).max() for m in along]).sum())
            for along in zip(*self._along(h), strict=True)
        ]

    def _apply(
        self, along: Sequence[Float[Tensor, "_ _"]], flat: Float[Tensor, "b n"]
    ) -> Float[Tensor, "b n"]:
        """Apply one matrix along each axis of every sample, and add."""
        tensor = flat.unflatten(1, self.sizes)
        moved = [
            (tensor.movedim(f, -1) @ matrix.mT).movedim(-1, f)
            for f, matrix in enumerate(along, start=1)
        ]
        return torch.stack(moved).sum(0).flatten(1)

    def _coordinates(self, matrices: Float[Tensor, "d n n"]) -> Float[Tensor, "d g"]:
        """From partial traces."""
        axes = range(len(self.sizes))
        traces = [self._lines(matrices, f).sum((-2, -1)).flatten(1)[:, None] for f in axes]
        return self._project(traces)[:, 0]

    def _displaced(self, numbers: Float[Tensor, "b n"], *, samples: bool) -> Float[Tensor, "g g"]:
        r"""For $E_{ij}$ on one axis and $E_{kl}$ on another it is $\langle x_{jk} x_{il} \rangle$, summed over the rest."""
        numbers = numbers.reshape(*((-1,) if samples else self.sizes), *self.sizes)
        axes = range(len(self.sizes))
        rows = [
            self._project([self._pairs(numbers, f, g, samples=samples)[None] for g in axes])[0]
            for f in axes
        ]
        return self._project([part.mT[None] for part in rows])[0]

    def _pairs(
        self, numbers: Float[Tensor, "..."], f: int, g: int, *, samples: bool
    ) -> Float[Tensor, "kk ll"]:
        """The same between the unit matrices along axis `f` and those along axis `g`."""
        axes = len(self.sizes)
        first, second = range(axes), [axes + e if e in (f, g) else e for e in range(axes)]
        kept = [f, axes + f] if f == g else [f, g, axes + f, axes + g]
        if samples:
            pairs = torch.einsum(numbers, [2 * axes, *first], numbers, [2 * axes, *second], kept)
        else:
            pairs = torch.einsum(numbers, [*first, *second], kept)
        if f == g:
            return torch.kron(torch.eye(self.sizes[f]).to(pairs), pairs)
        return pairs.permute(2, 0, 1, 3).flatten(0, 1).flatten(1)


def axis_of(side: int, given: Float[Tensor, "r k k"] | None) -> Axis:
    """Split candidates along an axis into traceless ones and the one with a trace.

    Args:
        side: length of the axis.
        given: matrices that span the candidates; None for all of gl(k).

    Raises:
        ArgumentError: matrices of another size, not finite, or all zero.

    Examples:
        >>> axis_of(3, None).count, axis_of(3, torch.eye(3, dtype=torch.float64)[None]).count
        (8, 0)
    """
    identity = torch.eye(side, dtype=torch.float64)
    if given is None:
        return Axis(side, None, identity)
    basis = algebra_basis(given, side).flatten(1)
    traced = identity.flatten() @ basis.mT
    if float(traced.norm()) <= 1e-10:
        return Axis(side, basis, torch.zeros_like(identity))
    orthogonal = torch.linalg.svd(traced[None], full_matrices=True).Vh[1:]
    return Axis(side, orthogonal @ basis, (traced @ basis).unflatten(0, (side, side)))


def _beside(side: int) -> Tensor:
    """Places beside the diagonal of a flat square matrix."""
    return torch.arange(side * side).reshape(side, side)[~torch.eye(side, dtype=torch.bool)]


def _helmert(side: int) -> Float[Tensor, "k l"]:
    """Orthonormal columns orthogonal to (1, ..., 1): the l-th is l ones, then -l, scaled."""
    from scipy.linalg import helmert

    return torch.from_numpy(helmert(side)).mT
