"""A finite group of matrices, or the group of components of a Lie group: a frozen record."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.diagnoses import Remark, plural, remark_from_dict, stored_remark
from liegg.algebra.finite.multiplication import (
    GroupInvariants,
    conjugacy_classes,
    element_orders,
    group_invariants,
    inverses,
)
from liegg.algebra.finite.names import ALIASES

NOT_CLOSED = "does not close"
"""The name where there is no finite group."""


@dataclass(frozen=True, eq=False, repr=False)
class FiniteGroup:
    """A finite group with one matrix for each element, the identity first.

    Where there is a continuous part, the elements are its components, each with one simple matrix from it.

    Attributes:
        elements: matrices; those that were given if they do not close.
        table: number of the element `elements[i] @ elements[j]`; empty if they do not close.
        name: the usual name, "O_h" or "D₄"; "does not close" where there is no finite group.
        abstract: the name of the abstract group, "S₄ × Z₂".
        schoenflies: the point group of space; empty in other dimensions and for components.
        words: what each element does.
        sources: number of the element that each given matrix is; empty if they do not close.
        frame: coordinates as columns in which the elements are orthogonal; None for components.
        dimension: of the continuous part.
        coordinates: names of the coordinates, for words.
        homogeneous: whether the matrices are affine maps in homogeneous form.
        tolerance: relative error of the given matrices.
        reason: why the matrices do not close, or are too many to list; None if they are a group.
        known_order: number of elements where a rule gives it though they are too many to list.
    """

    elements: Float[Tensor, "m n n"]
    table: Int[Tensor, "t t"]
    name: str
    abstract: str
    schoenflies: str
    words: tuple[str, ...]
    sources: tuple[int, ...]
    frame: Float[Tensor, "n n"] | None
    dimension: int
    coordinates: tuple[str, ...] | None
    homogeneous: bool
    tolerance: float
    reason: Remark | None = None
    known_order: int | None = None

    @property
    def closed(self) -> bool:
        """Whether the elements are a group, and all are listed."""
        return self.reason is None

    @property
    def order(self) -> int | None:
        """Number of elements, or of components; None if they do not close and no rule gives it."""
        return len(self.table) if self.closed else self.known_order

    @property
    def too_large(self) -> bool:
        """Whether the elements are generators of a named group with too many elements to list."""
        return not self.closed and self.name != NOT_CLOSED

    @cached_property
    def orders(self) -> Int[Tensor, " t"]:
        """The order of each element."""
        return torch.from_numpy(element_orders(self._table))

    @cached_property
    def inverses(self) -> Int[Tensor, " t"]:
        """The number of the inverse of each element."""
        return (
            torch.from_numpy(inverses(self._table)) if self.closed else self.table[0:0, 0:0].sum(1)
        )

    @cached_property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Conjugacy classes, each as the numbers of its elements."""
        if not self.closed:
            return ()
        labels = conjugacy_classes(self._table)
        return tuple(
            tuple(np.flatnonzero(labels == k).tolist()) for k in range(int(labels.max()) + 1)
        )

    @cached_property
    def invariants(self) -> GroupInvariants | None:
        """Numbers that isomorphic groups share; None if the elements do not close."""
        return group_invariants(self._table) if self.closed else None

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of the same group."""
        names = (self.schoenflies, self.abstract, *ALIASES.get(self.abstract, ()))
        return tuple(name for name in dict.fromkeys(names) if name and name != self.name)

    @property
    def _table(self) -> np.ndarray:
        return self.table.numpy()

    def title(self) -> str:
        """Name, order and other names in one line."""
        if self.reason is not None:
            order = f" (order {self.order}, too many to list)" if self.order else f": {self.reason}"
            return f"{self.name}{order}"
        others = f", also {', '.join(self.aliases)}" if self.aliases else ""
        count = plural(len(self.table), "component") if self.dimension else f"order {self.order}"
        return f"{self.name} ({count}{others})"

    def lines(self) -> list[str]:
        """The full account, line by line."""
        if not self.closed:
            return [self.title()]
        rows = zip(self.orders.tolist(), self.words, strict=True)
        return [
            self.title(),
            "   order  element",
            *(f"  {order:>6}  {words}" for order, words in rows),
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"FiniteGroup(name={self.name!r}, order={self.order})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        invariants = self.invariants
        return {
            "name": self.name,
            "abstract": self.abstract,
            "schoenflies": self.schoenflies,
            "aliases": list(self.aliases),
            "order": self.order,
            "dimension": self.dimension,
            "closed": self.closed,
            "reason": None if self.reason is None else stored_remark(self.reason),
            "elements": self.elements.tolist(),
            "words": list(self.words),
            "orders": self.orders.tolist(),
            "classes": [list(members) for members in self.classes],
            "table": self.table.tolist(),
            "sources": list(self.sources),
            "frame": None if self.frame is None else self.frame.tolist(),
            "coordinates": None if self.coordinates is None else list(self.coordinates),
            "homogeneous": self.homogeneous,
            "tolerance": self.tolerance,
            "invariants": None if invariants is None else vars(invariants),
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "FiniteGroup":
        """Read what `to_dict` wrote."""
        elements = torch.tensor(stored["elements"], dtype=torch.float64)
        m = len(stored["table"])
        coordinates, frame, reason = (stored[key] for key in ("coordinates", "frame", "reason"))
        return cls(
            elements=elements,
            table=torch.tensor(stored["table"], dtype=torch.long).reshape(m, m),
            name=stored["name"],
            abstract=stored["abstract"],
            schoenflies=stored["schoenflies"],
            words=tuple(stored["words"]),
            sources=tuple(stored["sources"]),
            frame=None if frame is None else torch.tensor(frame, dtype=torch.float64),
            dimension=stored["dimension"],
            coordinates=None if coordinates is None else tuple(coordinates),
            homogeneous=stored["homogeneous"],
            tolerance=stored["tolerance"],
            reason=None if reason is None else remark_from_dict(reason),
            known_order=None if reason is None else stored["order"],
        )
