"""Random directions among the candidates, all moving the data by the same amount."""

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions import Displacement
from liegg.discovery.verification.measure import Question


def speeds(h: Float[Tensor, "m g"], displacement: Displacement) -> Float[Tensor, " m"]:
    r"""Root mean square speed $\sqrt{h^\top M h}$ of the data under each direction."""
    parts = h.reshape(len(h), displacement.repeat, -1)
    return torch.einsum("mrs,st,mrt->m", parts, displacement.block, parts).clamp_min(0).sqrt()


def random_directions(
    displacement: Displacement, count: int, tolerance: float, seed: int
) -> Float[Tensor, "m g"]:
    r"""Directions of unit speed, uniform where it is a sphere: $h = M^{-1/2} z/|z|$ for normal $z$, on the range of $M$.

    Args:
        displacement: M of the data.
        count: number of directions.
        tolerance: share of the displacement of uncorrelated features below which nothing moves.
        seed: of the normal numbers.

    Examples:
        >>> stretched = Displacement(torch.diag(torch.tensor([4.0, 1.0], dtype=torch.float64)))
        >>> bool(
        ...     (speeds(random_directions(stretched, 9, 1e-12, seed=0), stretched) - 1).abs().max()
        ...     < 1e-12
        ... )
        True
    """
    whiten = _whitening(displacement, tolerance)
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(
        count, displacement.repeat, whiten.shape[1], generator=generator, dtype=torch.float64
    )
    return (z / z.flatten(1).norm(dim=1)[:, None, None] @ whiten.mT).flatten(1)


def moving(displacement: Displacement, tolerance: float) -> int:
    """Number of independent directions that move the data."""
    return displacement.repeat * _whitening(displacement, tolerance).shape[1]


def random_elements(
    span: Float[Tensor, "d g"], displacement: Displacement, count: int, seed: int
) -> Float[Tensor, "m d"]:
    """Combinations of directions that move the data: unit speed, uniform where it is a sphere."""
    parts = span.reshape(len(span), displacement.repeat, -1)
    between = torch.einsum("drs,st,ert->de", parts, displacement.block, parts)
    squares, axes = torch.linalg.eigh(between)
    independent = squares > 1e-12 * squares[-1]
    generator = torch.Generator().manual_seed(seed + 1)  # not the numbers of the controls
    z = torch.randn(count, int(independent.sum()), generator=generator, dtype=torch.float64)
    return z / z.norm(dim=1, keepdim=True) @ (axes[:, independent] / squares[independent].sqrt()).mT


def best_partners(question: Question, h: Float[Tensor, "m g"]) -> Float[Tensor, "m p"] | None:
    """Output directions that fit input directions of unit speed best; None for invariance.

    They are fitted by least squares on small motions. With any other output direction, a control
    would look worse than it is.
    """
    if question.output_action is None:
        return None
    y = question.y.reshape(len(question.y), *question.model.output_shape)
    step = question.eps ** (1 / 3) * question.spread
    moment = question.output_action.moment(y)
    inverse = torch.linalg.pinv(
        question.output_action.displacement(moment, 1).dense(), hermitian=True
    )
    total = torch.zeros(len(h), question.output_action.size, dtype=torch.float64, device=y.device)
    for part in question.parts:
        forth, back = question.outputs(torch.cat([h, -h]) * step, part).chunk(2)
        for i, slope in enumerate((forth - back) / (2 * step)):
            total[i] += question.output_action.contract(
                slope.reshape(y[part].shape)[:, None], y[part]
            ).sum((0, 1))
    return (total @ inverse.to(total)).cpu()


def _whitening(displacement: Displacement, tolerance: float) -> Float[Tensor, "s k"]:
    """Columns `W` with `Wᵀ M W = 1` on the range of a block of M, with its features scaled to 1."""
    block = displacement.block.cpu()
    lengths = block.diagonal().clamp_min(0).sqrt()
    lengths = torch.where(lengths.square() > displacement.noise, lengths, 0.0)
    scale = torch.where(lengths > 0, lengths, torch.inf)
    squares, axes = torch.linalg.eigh(block / scale[:, None] / scale)
    inside = squares > max(tolerance * float(squares[-1]), torch.finfo(block.dtype).tiny)
    return axes[:, inside] / squares[inside].sqrt() / scale[:, None]
