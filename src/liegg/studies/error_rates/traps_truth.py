"""The truth about a trap: angles to its algebra, defects of its population, and right names."""

import contextlib
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import LieggError
from liegg._utils.linalg import orthonormal_rows
from liegg.actions import Action, MatrixAction
from liegg.algebra.identify import identify, too_large
from liegg.discovery.discover import discover
from liegg.results.symmetries import Symmetries
from liegg.studies.error_rates.cases import Trap

STILL_SHARE = 1e-12
"""Share of the largest motion below which a direction of a span does not move the population."""


class Measured:
    """The truth about directions of a trap: angles to its algebra, and defects of its population.

    Attributes:
        algebra: orthonormal coefficients of the algebra, without what does not move the data.
        known: the same, with the broken part.
        still: directions that do not move the data, about which nothing is known.
    """

    def __init__(self, trap: Trap, sym: Symmetries) -> None:
        self.still = sym.accumulated.solution.trivial
        self.algebra = self._span(trap.action, trap.algebra)
        broken = trap.algebra[:0] if trap.broken is None else trap.broken
        self.known = self._span(trap.action, torch.cat([trap.algebra, broken]))
        self._large = None
        if trap.population is not None:
            # A model that is refused here was refused before; then nothing is asked of the truth.
            with contextlib.suppress(LieggError):
                self._large = discover(
                    trap.reference or trap.model,
                    trap.population(),
                    trap.action,
                    output_action=trap.output_action,
                    controls="none",
                )

    def _span(self, action: Action, matrices: Float[Tensor, "d m m"]) -> Float[Tensor, "k g"]:
        if not len(matrices):
            return self.still.new_zeros(0, action.size)
        return orthonormal_rows(self._moving(action.as_coefficients(matrices)))

    def _moving(self, rows: Float[Tensor, "d g"]) -> Float[Tensor, "d g"]:
        """Without the part that does not move the data, about which nothing is known."""
        rows = rows.to(torch.float64)
        return rows - rows @ self.still.mT @ self.still

    def outside(self, rows: Float[Tensor, "d g"], *, known: bool = False) -> float:
        """Largest angle of a direction of a span from the algebra, in radians.

        Args:
            rows: coefficients that span it.
            known: take the algebra with its broken part.
        """
        span = orthonormal_rows(self._moving(rows)) if len(rows) else rows
        algebra = self.known if known else self.algebra
        if not len(span):
            return 0.0
        if not len(algebra):
            return torch.pi / 2
        rest = span - span @ algebra.mT @ algebra
        return float(torch.linalg.matrix_norm(rest, 2).clamp(max=1).asin())

    def defects(self, rows: Float[Tensor, "d g"]) -> list[float] | None:
        """Defects of the population in a span, ascending; None if they were not measured."""
        if self._large is None:
            return None
        sums, rows = self._large.accumulated, rows.to(torch.float64)
        changes = sums.changes(rows)
        parts = rows.unflatten(1, (sums.displacement.repeat, len(sums.displacement.block)))
        moved = (parts @ sums.displacement.block).flatten(1) @ rows.mT
        lengths, axes = torch.linalg.eigh(moved)
        moving = lengths > STILL_SHARE * lengths.max() if len(rows) else lengths > 0
        whiten = axes[:, moving] / lengths[moving].sqrt()
        values = torch.linalg.svdvals((changes.mT @ whiten).mT).square()
        missing = whiten.shape[1] - len(values)
        found = torch.cat([values, values.new_zeros(max(missing, 0))]).flip(0) / sums.samples
        return (found / sums.solution.sensitivity).tolist()

    def following(self, count: int) -> float:
        """Defect of the population after the smallest ones; infinite if there is none."""
        if self._large is None or count >= len(self._large.defects):
            return inf
        return float(self._large.defects[count])

    def defect(self, rows: Float[Tensor, "d g"]) -> float | None:
        """Largest defect of the population in a span; None if it was not measured."""
        found = self.defects(rows)
        return found[-1] if found else None


def right_names(trap: Trap, *, broken: bool = False) -> tuple[str, ...]:
    """Names of the true algebra, with its broken part on request; none if it has no name."""
    if trap.names:
        return trap.names
    parts = [trap.algebra] + ([trap.broken] if broken and trap.broken is not None else [])
    matrices = torch.cat(parts)
    if not len(matrices) or too_large(len(matrices), matrices.shape[-1]):
        return ()
    homogeneous = isinstance(trap.action, MatrixAction) and trap.action.homogeneous
    found = identify(matrices, homogeneous=homogeneous)
    return (found.name, *found.aliases) if found.known else ()
