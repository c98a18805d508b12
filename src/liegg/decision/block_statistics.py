r"""Block statistics: sensitivity and displacement of every block of samples.

For any direction $h$, block $p$ gives $h^\top A_p h$ and $h^\top M_p h$; their sums over the blocks are those of all the data.
An interval needs nothing else, for the directions found and for any others.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Action, Displacement
from liegg.polarization.evidence import EFFECTIVE_PER_FREEDOM
from liegg.polarization.gram import Gram
from liegg.polarization.sample_blocks import Parts
from liegg.spectrum.defects import whitening


@dataclass(frozen=True, eq=False)
class BlockStatistics:
    """Sums over the samples of every block.

    Attributes:
        rows: `[p, q, g]`, factor of the rows of each block, the output generators eliminated; or their Gram matrix.
        motions: `[p, s, s]`, block of the displacement.
        total: `[p]`, what the block adds to the mean sensitivity κ, to first order; times its samples.
        samples: `[p]`, samples in each block.
        squared: whether `rows` are Gram matrices.
        limit: degrees of freedom that the samples allow, however many blocks there are.
    """

    rows: Float[Tensor, "p q g"]
    motions: Float[Tensor, "p s s"]
    total: Float[Tensor, " p"]
    samples: Float[Tensor, " p"]
    squared: bool
    limit: float = math.inf

    @property
    def freedom(self) -> float:
        """Degrees of freedom of an interval: as many as blocks but one, fewer where single samples carry the variance."""
        return max(1.0, min(len(self.samples) - 1.0, self.limit))

    def change(
        self, h: Float[Tensor, "r g"], some: slice
    ) -> tuple[Float[Tensor, "p r"], Float[Tensor, "p k k"]]:
        """Squared change of the output along directions, and between every two of some of them."""
        moved = self.rows @ h.mT
        if self.squared:
            return (h.mT * moved).sum(1).clamp_min(0), h[some] @ moved[:, :, some]
        return moved.square().sum(1), moved[:, :, some].mT @ moved[:, :, some]

    def motion(self, h: Float[Tensor, "r g"]) -> Float[Tensor, "p r"]:
        """Squared motion along directions."""
        parted = h.unflatten(1, (-1, self.motions.shape[1]))
        products = (parted.mT @ parted).flatten(1)
        return self.motions.flatten(1) @ products.mT

    def motion_between(self, h: Float[Tensor, "k g"]) -> Float[Tensor, "p k k"]:
        """Squared motion between every two directions."""
        parted = h.unflatten(1, (-1, self.motions.shape[1]))
        return (parted @ self.motions[:, None]).flatten(2) @ h.mT


def block_statistics(
    parts: Parts,
    action: Action,
    partner: Float[Tensor, "m g"] | None,
    row_displacement: Displacement,
    *,
    trivial_tolerance: float,
    limit: float,
) -> BlockStatistics:
    """Sums of every block for the candidates.

    Args:
        parts: rows and moments of the blocks, of the row action, after the columns of the output action.
        action: the candidate generators.
        partner: output coefficients of each input coefficient, held fixed: they are the best, so that to first order they make no
            difference; None for invariance.
        row_displacement: displacement of the action whose rows were taken, whose mean sensitivity is the unit.
        trivial_tolerance: as for `liegg.spectrum.defects.defects`.
        limit: degrees of freedom that the samples allow.
    """
    wide = action.row_action
    squared = isinstance(parts.rows[0], Gram)
    rows = torch.stack(
        [block.matrix if isinstance(block, Gram) else block.r for block in parts.rows]
    )
    motions = torch.stack([action.displacement(moment, 1).block for moment in parts.moments])
    row_motions = motions
    if wide is not action:
        row_motions = torch.stack([wide.displacement(m, 1).block for m in parts.moments])
    whiten, _ = whitening(row_displacement, trivial_tolerance)
    row_motions = whiten.mT @ row_motions @ whiten
    total = _sensitivities(
        parts,
        rows,
        row_motions,
        whiten,
        copies=row_displacement.repeat,
        n_output_generators=0 if partner is None else len(partner),
    )
    moved = row_motions.diagonal(dim1=1, dim2=2).sum(1)
    if partner is not None or wide is not action:
        inner = torch.eye(action.size, dtype=torch.float64)
        inner = inner if wide is action else action.whole_coefficients(inner)
        columns = inner.mT if partner is None else torch.cat([partner, inner.mT])
        rows = rows @ columns
        rows = columns.mT @ rows if squared else torch.linalg.qr(rows, mode="r").R
    return BlockStatistics(
        rows.contiguous(),
        motions.contiguous(),
        total,
        torch.tensor(parts.samples, dtype=torch.float64),
        squared,
        min(limit, motion_freedom(effective_motion(moved), parts.evidence.effective)),
    )


def effective_motion(moved: Float[Tensor, " p"]) -> float:
    """Number of samples of equal motion that would make the sums of the blocks differ as they do; infinite if they are equal."""
    relative = float(moved.var() / moved.mean().square().clamp_min(torch.finfo(moved.dtype).tiny))
    return len(moved) / relative if relative > 0 else math.inf


def motion_freedom(moving: float, effective: float) -> float:
    """Degrees of freedom that the samples leave which carry the motion of the data.

    Where these are fewer than those that carry the sensitivity, they are others: what the former change is seldom seen, and it
    decides the defect.

    Args:
        moving: effective number of samples that carry the motion.
        effective: effective number of samples that carry the sensitivity; infinite if not known.
    """
    if not math.isfinite(effective):
        return math.inf
    return moving / EFFECTIVE_PER_FREEDOM * math.sqrt(min(1.0, moving / effective))


def _sensitivities(
    parts: Parts,
    rows: Float[Tensor, "p q q"],
    motions: Float[Tensor, "p k k"],
    whiten: Float[Tensor, "s k"],
    *,
    copies: int,
    n_output_generators: int,
) -> Float[Tensor, " p"]:
    r"""What each block adds to $\kappa = \mathrm{tr}(M^+ A) / \mathrm{rank}\, M$, to first order in its weight; times its samples.

    $\kappa(w) \approx \mathrm{tr}(M^+ A_w) - \mathrm{tr}(M^+ M_w M^+ A) + \mathrm{tr}(M^+ A)$, over the rank.
    """
    side, kept = whiten.shape
    if isinstance(parts.rows[0], Gram):
        own = rows[:, n_output_generators:, n_output_generators:]
        blocks = own.reshape(-1, copies, side, copies, side).diagonal(dim1=1, dim2=3).sum(-1)
        changes = whiten.mT @ blocks @ whiten
    else:
        moved = rows[:, :, n_output_generators:].reshape(len(rows), -1, side) @ whiten
        changes = moved.mT @ moved
    mean = changes.sum(0) / sum(parts.samples)
    samples = torch.tensor(parts.samples, dtype=torch.float64)
    each = (
        changes.diagonal(dim1=1, dim2=2).sum(1)
        - (motions * mean).sum((1, 2))
        + samples * float(mean.trace())
    )
    return each / (copies * kept)
