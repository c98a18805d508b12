"""What a pass over the data leaves: enough to answer questions about any direction."""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.linalg import without_zero_rows
from liegg.actions import Displacement
from liegg.decision.block_statistics import BlockStatistics
from liegg.decision.derivative_error import widened
from liegg.decision.distribution import MeanStatistics
from liegg.decision.intervals import bootstrap
from liegg.polarization.gram import Gram
from liegg.polarization.r_factor import RFactor
from liegg.spectrum.defects import Bottom, Defects, defect_of

SQUARED_FLOOR = 1e-13
"""Defect below which squared rows of the blocks show their own rounding; all that is known is that it is below."""

MOVING_SHARE = 1e-10
"""Share of the largest squared motion in a span below which a direction of it does not move the data."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Accumulated:
    r"""Sums over the data and the solution of the pair $(A, M)$.

    Attributes:
        rows: R factor or Gram matrix of the polarization rows, with columns `[−η | ξ]`.
        displacement: how far each direction moves the data.
        solution: defects of every direction that moves the data; trivial directions apart.
        partner: `[m, g]`, output coefficients that suit each input coefficient best; None for invariance.
        samples: number of samples.
        blocks: the same sums for every block of samples; None without intervals.
        bottom: how the smallest defects were solved for, if only these were wanted; else None.
        seed: of the bootstrap draws.
        means: of test functions, for a data set; None for a model.
        error: largest defect that errors of the derivatives alone can give a direction; 0 if there is only rounding.
    """

    rows: RFactor | Gram
    displacement: Displacement
    solution: Defects
    partner: Float[Tensor, "m g"] | None
    samples: int
    blocks: BlockStatistics | None = None
    bottom: Bottom | None = None
    seed: int = 0
    means: MeanStatistics | None = None
    error: float = 0.0

    @property
    def factor(self) -> Float[Tensor, "p q"]:
        """Matrix with `factorᵀ factor = EᵀE` for all columns `[−η | ξ]`; without an output action `q` is `g`."""
        return self.rows.r

    def changes(
        self, h: Float[Tensor, "d g"], k: Float[Tensor, "d m"] | None = None
    ) -> Float[Tensor, "d p"]:
        """The factor applied to directions; the mean square of a row is the variance of a direction.

        Args:
            h: coefficients of the directions.
            k: output coefficients of each; by default those that suit best.
        """
        if self.partner is not None:
            h = torch.cat([self.partners(h) if k is None else k.to(h), h], dim=1)
        return h @ without_zero_rows(self.factor).mT

    def partners(self, h: Float[Tensor, "d g"]) -> Float[Tensor, "d m"]:
        """Output coefficients that suit given input coefficients best; none for invariance."""
        return h.new_zeros(len(h), 0) if self.partner is None else h @ self.partner.mT

    def variance(self, h: Float[Tensor, "d g"]) -> Float[Tensor, " d"]:
        """Symmetry variance of directions: mean squared change of the output per unit of coefficients."""
        return self.changes(h.to(self.factor)).square().sum(1) / self.samples

    def defect(
        self,
        h: Float[Tensor, "d g"],
        k: Float[Tensor, "d m"] | None = None,
        *,
        trivial_tolerance: float,
    ) -> Float[Tensor, " d"]:
        """Defect δ² of directions; NaN for one that does not move the data.

        Args:
            h: coefficients of the directions.
            k: output coefficients of each; by default those that suit best.
            trivial_tolerance: share of the displacement below which a direction does not move the data.
        """
        h = h.to(self.factor)
        return defect_of(
            h,
            self.changes(h, k),
            self.displacement,
            self.samples,
            sensitivity=self.solution.sensitivity,
            trivial_tolerance=trivial_tolerance,
        )

    def largest_defect(self, h: Float[Tensor, "d g"]) -> float:
        """Largest defect of any direction in the span of given ones that moves the data."""
        h = h.to(self.factor)
        parts = h.unflatten(1, (-1, len(self.displacement.block)))
        motion = (parts @ self.displacement.block).flatten(1) @ h.mT
        squares, axes = torch.linalg.eigh(motion)
        moving = squares > MOVING_SHARE * squares[-1].clamp_min(torch.finfo(h.dtype).tiny)
        if not bool(moving.any()) or self.solution.sensitivity <= 0:
            return 0.0
        whiten = axes[:, moving] / squares[moving].sqrt()
        changes = whiten.mT @ self.changes(h)
        largest = float(torch.linalg.matrix_norm(changes, ord=2)) ** 2
        return largest / self.samples / self.solution.sensitivity

    def interval(
        self, h: Float[Tensor, "d g"], values: Float[Tensor, " d"], *, floor: float, level: float
    ) -> Float[Tensor, "d 2"]:
        """Interval of the defects of directions that were fixed before the data was seen; NaN without blocks.

        Args:
            h: coefficients of the directions.
            values: their defects.
            floor: defect below which a direction is exact and has no interval.
            level: nominal coverage.
        """
        if self.means is not None:
            return self.means.interval(h, values, scale=self.solution.sensitivity, level=level)
        if self.error > 0:
            sampled = replace(self, error=0.0).interval(h, values, floor=floor, level=level)
            bounds = widened(values, sampled, torch.full_like(values, self.error))
            return torch.where((values > floor)[:, None], bounds, torch.nan)
        fixed = replace(self.solution, directions=h.to(self.factor), values=values)
        draws = bootstrap(self.blocks, fixed, floor=floor, seed=self.seed, solved=0)
        if self.blocks is None or draws is None:
            return values.new_full((len(values), 2), torch.nan)
        bounds = draws.bounds(level=level)
        if self.blocks.squared and not isinstance(self.rows, Gram):
            unresolved = (values > floor) & (values <= SQUARED_FLOOR)
            bounds[unresolved] = bounds.new_tensor([0.0, SQUARED_FLOOR])
        return bounds

    def means_interval(self, h: Float[Tensor, "d g"], *, level: float) -> tuple[float, float]:
        """Interval of the mean defect of directions of equal motion, from the means of a data set; NaN for a model.

        Args:
            h: coefficients of the directions.
            level: nominal coverage.
        """
        scale = self.solution.sensitivity
        if self.means is None or scale <= 0:
            return math.nan, math.nan
        low, high = self.means.test(h).bounds(level)
        return low / scale, high / scale
