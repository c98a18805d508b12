r"""Block bootstrap: how far the answer would move if other samples had been drawn.

Blocks are drawn with replacement and the pair $(A, M)$ is solved again for each draw, in the basis of the solution: with
$V^\top M V = 1$, $V^\top A V = \Lambda$ and $S = \Lambda^{-1/2}$ both $V^\top M_w V = C^\top C$ and
$S V^\top A_w V S = L L^\top$ are near the identity, and $1/\sqrt\lambda$ are the singular values of $C S L^{-\top}$. Its rows are
as large as the values they belong to, so that every $\lambda$ keeps its relative precision, however small or large it is relative
to the others. Where all values are of similar size, squaring loses nothing that matters, and the eigenvalues of the square, which
cost half as much, replace the singular values.
"""

import functools
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

BOOTSTRAP_DRAWS = 400
"""Bootstrap draws: a standard error is then right to 4 %."""

RESOLVED_DRAWS = 100
"""Draws for which the problem is solved again."""

RESOLVED_DIRECTIONS = 64
"""Directions of smallest defect that are solved again for every draw; the others stay fixed."""

RIDGE = 1e-9
"""Share of the diagonal added before a Cholesky factor: a draw with too few samples has none without it."""

SQUARED_RANGE = 1e-6
"""Smallest over largest eigenvalue above which a square may be solved: every eigenvalue then has ten correct digits."""


INVERSE_SHIFT = 1e-10
"""Distance of the shift of inverse iteration from an eigenvalue, relative to it; far above its rounding."""


GUMBEL_MEDIAN = -2 * math.log(math.log(2))
"""Median of the limit law of the largest of many squared standard normals, above its location."""


TINY = torch.finfo(torch.float64).tiny
"""Smallest positive number, below which nothing is divided by and no logarithm is taken."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of every block along the solution's directions.

    Attributes:
        changes: `[p, k, k]`, squared change of the output between every two of the solved directions, summed over a block.
        motions: `[p, k, k]`, squared motion of the data between every two of them.
        change: `[p, r]`, squared change along every direction.
        motion: `[p, r]`, its squared motion.
        total: `[p]`, what the block adds to the mean sensitivity, to first order.
        samples: `[p]`, samples in each block.
    """

    changes: Float[Tensor, "p k k"]
    motions: Float[Tensor, "p k k"]
    change: Float[Tensor, "p r"]
    motion: Float[Tensor, "p r"]
    total: Float[Tensor, " p"]
    samples: Float[Tensor, " p"]

    @property
    def solved(self) -> slice:
        """Which of the directions are solved again: the first."""
        return slice(self.changes.shape[1])


@functools.lru_cache(maxsize=8)
def draw_blocks(blocks: int, draws: int, seed: int) -> Float[Tensor, "d p"]:
    """How often each block is drawn: as many draws with replacement as there are blocks. Shared: not to be written to."""
    chosen = torch.randint(blocks, (draws, blocks), generator=torch.Generator().manual_seed(seed))
    return torch.zeros(draws, blocks, dtype=torch.float64).scatter_add_(
        1, chosen, torch.ones(draws, blocks, dtype=torch.float64)
    )


def resolve(
    moments: Moments,
    lengths: Float[Tensor, " r"],
    sensitivity: float,
    weights: Float[Tensor, "d p"],
    *,
    directions: int | None = None,
) -> tuple[Float[Tensor, "d r"], Float[Tensor, "d _ k"]]:
    """Solve the pair again for every draw.

    Args:
        moments: sums of every block.
        lengths: mean squared change of the output per squared motion of every direction found, ascending and positive.
        sensitivity: mean sensitivity κ of all the data.
        weights: from `draw_blocks`.
        directions: how many of the first directions are needed too; all of them cost twice as much as the defects alone. None
            for all.

    Returns:
        For every draw the logarithm of each defect over the one that was found, ascending by the found ones; and its directions in
        those that were solved, as rows (as many as needed, or more).
    """
    fixed = (weights @ moments.change) / (weights @ moments.motion).clamp_min(TINY)
    logs = (fixed / lengths).clamp_min(TINY).log()
    logs[:, moments.solved], mixing = solve(
        moments, lengths[moments.solved], weights, directions=directions
    )
    return logs - _log_sensitivities(moments, sensitivity, weights)[:, None], mixing


def usual_share(blocks: int) -> float:
    r"""Share of the largest of p squared standard normals in their sum, at its median.

    The largest is near $2\ln p - \ln\ln p - \ln\pi$, by a variable of Gumbel's law.

    >>> round(usual_share(32), 3), round(usual_share(12), 3)
    (0.165, 0.304)
    """
    place = 2 * math.log(blocks) - math.log(math.log(blocks)) - math.log(math.pi)
    return (place + GUMBEL_MEDIAN) / blocks


def direction_freedoms(
    moments: Moments, sensitivity: float, *, limit: float = math.inf, span: int | None = None
) -> Float[Tensor, " r"]:
    r"""Degrees of freedom of the interval of each defect, or of the mean defect of a span.

    Block p moves $\ln\delta^2$ by $u_p = a_p/\bar a - m_p/\bar m - (k_p/\kappa - n_p)/\bar n$ to first order. If one block carries more
    of $\sum u_p^2$ than normal variables would make it, a heavy tail is at work along this direction, even if the samples contribute
    evenly on the whole: from p - 1 degrees of freedom at the usual share they fall to 1 where one block carries all.

    Args:
        moments: sums of every block.
        sensitivity: mean sensitivity κ of all the data.
        limit: degrees of freedom that the samples allow in any direction.
        span: how many of the first directions span it; None for each direction by itself.
    """
    blocks, samples = len(moments.samples), moments.samples
    mean_sensitivity = (moments.total / sensitivity - samples) / samples.mean()
    parts = [moments.change, moments.motion]
    if span is not None:
        parts = [part[:, :span].sum(1, keepdim=True) for part in parts]
    shares = [part / part.mean(0).clamp_min(TINY) for part in parts]
    influence = (shares[0] - shares[1] - mean_sensitivity[:, None]).square()
    largest = influence.amax(0) / influence.sum(0).clamp_min(TINY)
    usual, most = usual_share(blocks), 1 / (blocks - 1)
    excess = ((largest - usual) / (1 - usual)).clamp_min(0)
    return (1 / (most + excess * (1 - most))).clamp(1.0, max(limit, 1.0))


def _log_sensitivities(
    moments: Moments, sensitivity: float, weights: Float[Tensor, "d p"]
) -> Float[Tensor, " d"]:
    """Logarithm of κ of every draw over that of all the data, to first order; κ itself to first order could be negative."""
    return (weights @ moments.total) / (weights @ moments.samples) / sensitivity - 1.0


def solve(
    moments: Moments,
    lengths: Float[Tensor, " k"],
    weights: Float[Tensor, "d p"],
    *,
    directions: int | None = None,
) -> tuple[Float[Tensor, "d k"], Float[Tensor, "d _ k"]]:
    """Solve the pair for weighted sums of the blocks: logarithms of the lengths over those given, and the first directions as rows."""
    if not len(lengths):
        return weights.new_zeros(len(weights), 0), weights.new_zeros(len(weights), 0, 0)
    scale = lengths.rsqrt()
    shares = weights / (weights @ moments.samples)[:, None]
    lower = _root(_weighted(shares, moments.changes) * (scale[:, None] * scale))
    motions = _root(_weighted(shares, moments.motions))
    between = torch.linalg.solve_triangular(lower, scale[:, None] * motions, upper=False)
    squares, vectors = _left_singular(between, count=directions)
    vectors = vectors[:, :, :directions]
    mixing = torch.linalg.solve_triangular(lower.mT, vectors, upper=True).mT * scale
    return -squares.clamp_min(TINY).log() - lengths.log(), mixing


def _weighted(shares: Float[Tensor, "d p"], sums: Float[Tensor, "p k k"]) -> Float[Tensor, "d k k"]:
    """Weighted sums over the blocks."""
    return (shares @ sums.flatten(1)).unflatten(1, sums.shape[1:])


def _root(matrices: Float[Tensor, "d k k"]) -> Float[Tensor, "d k k"]:
    """Lower Cholesky factors, of matrices near the identity or at worst without full rank; their diagonal is added to in place."""
    diagonal = matrices.diagonal(dim1=1, dim2=2)
    diagonal.add_(RIDGE * diagonal.mean(1, keepdim=True).clamp_min(RIDGE))
    return torch.linalg.cholesky_ex(matrices)[0]


def _left_singular(
    matrices: Float[Tensor, "d k k"], *, count: int | None = None
) -> tuple[Float[Tensor, "d k"], Float[Tensor, "d k _"]]:
    """Squared singular values, descending, and left singular vectors as columns: at least as many as are needed, None for all."""
    square, columns = matrices @ matrices.mT, matrices[:, :, :0]
    few = count is not None and count <= 1
    squares, columns = (
        (torch.linalg.eigvalsh(square), columns) if few else torch.linalg.eigh(square)
    )
    if bool((squares[:, 0] >= SQUARED_RANGE * squares[:, -1]).all()):
        if few and count:
            return squares.flip(1), _largest_vector(square, squares[:, -1])
        return squares.flip(1), columns.flip(2)
    # Of the transpose, whose rows are as large as the values that they belong to.
    _, values, right = torch.linalg.svd(matrices.mT)
    return values.square(), right.mT


def _largest_vector(
    square: Float[Tensor, "d k k"], value: Float[Tensor, " d"]
) -> Float[Tensor, "d k 1"]:
    """Unit eigenvectors of the largest eigenvalues, by two steps of inverse iteration: half the cost of all eigenvectors."""
    shifted = -square
    shifted.diagonal(dim1=1, dim2=2).add_(value[:, None] * (1 + INVERSE_SHIFT))
    lower = torch.linalg.cholesky_ex(shifted)[0]
    # Any start will do that no eigenvector is orthogonal to.
    vector = torch.linspace(1, 2, square.shape[1], dtype=torch.float64)[None, :, None]
    vector = vector.expand(len(square), -1, -1)
    for _ in range(2):
        vector = torch.cholesky_solve(vector, lower)
        vector = vector / torch.linalg.vector_norm(vector, dim=1, keepdim=True)
    return vector


def relative_interval(
    moments: Moments,
    lengths: Float[Tensor, " r"],
    sensitivity: float,
    weights: Float[Tensor, "d p"],
    *,
    level: float,
    limit: float = math.inf,
) -> Float[Tensor, "r 2"]:
    """Interval of every defect, relative to the one found; that of a Student distribution in the logarithm.

    Selecting the smallest defect biases it downwards; leave-one-block-out cross-fitting corrects this. Each block is evaluated
    along the directions that the other blocks choose, which errs upwards by as much. The interval is centred between the two, and
    as wide as the bootstrap and the difference of the two make it.

    Args:
        moments: sums of every block.
        lengths: mean squared change of the output per squared motion of every direction found, ascending and positive.
        sensitivity: mean sensitivity κ of all the data.
        weights: from `draw_blocks`.
        level: nominal coverage.
        limit: degrees of freedom that the samples allow in any direction, see `direction_freedoms`.
    """
    change, motion, _ = cross_fitted(moments, lengths)
    return _interval_of_ratios(
        change,
        motion,
        change.sum(0) / motion.sum(0).clamp_min(TINY) / lengths,
        _log_sensitivities(moments, sensitivity, weights),
        weights=weights,
        level=level,
        freedoms=direction_freedoms(moments, sensitivity, limit=limit),
    )


def relative_span_interval(
    moments: Moments,
    lengths: Float[Tensor, " r"],
    sensitivity: float,
    weights: Float[Tensor, "d p"],
    *,
    number: int,
    level: float,
    limit: float = math.inf,
) -> Float[Tensor, "2"]:
    """Interval of the mean defect of the span of the first directions, relative to the mean of those found.

    Unlike the single defects, the mean does not depend on how directions of nearly equal defect are mixed or ordered.

    Args:
        moments: sums of every block.
        lengths: mean squared change of the output per squared motion of every direction found, ascending and positive.
        sensitivity: mean sensitivity κ of all the data.
        weights: from `draw_blocks`.
        number: how many of the directions span it.
        level: nominal coverage.
        limit: degrees of freedom that the samples allow in any direction, see `direction_freedoms`.
    """
    first = slice(number)
    change, motion, others = cross_fitted(moments, lengths)
    # Directions of unit motion count equally in the mean.
    change, motion = ((part * others)[:, first].sum(1, keepdim=True) for part in (change, motion))
    crossed = change.sum(0) / motion.sum(0).clamp_min(TINY) / lengths[first].mean()
    return _interval_of_ratios(
        change,
        motion,
        crossed,
        _log_sensitivities(moments, sensitivity, weights),
        weights=weights,
        level=level,
        freedoms=direction_freedoms(moments, sensitivity, limit=limit, span=number),
    )[0]


def cross_fitted(
    moments: Moments, lengths: Float[Tensor, " r"]
) -> tuple[Float[Tensor, "p r"], Float[Tensor, "p r"], Float[Tensor, "p r"]]:
    """Squared change and motion of every block along the directions that the other blocks choose.

    Args:
        moments: sums of every block.
        lengths: mean squared change of the output per squared motion of every direction found, ascending and positive.

    Returns:
        Change and motion of each block, along directions of unit change in the other blocks; and the lengths of the directions
        there, by which they are multiplied for directions of unit motion. Directions that are not solved again keep theirs, of
        unit motion.
    """
    change, motion = moments.change.clone(), moments.motion.clone()
    scales, solved = torch.ones_like(change), lengths[moments.solved]
    without_one = 1.0 - torch.eye(len(moments.samples), dtype=torch.float64)
    logs, others = solve(moments, solved, without_one)
    change[:, moments.solved] = (others @ moments.changes).mul_(others).sum(2)
    motion[:, moments.solved] = (others @ moments.motions).mul_(others).sum(2)
    scales[:, moments.solved] = logs.exp() * solved
    return change, motion, scales


def _interval_of_ratios(
    change: Float[Tensor, "p r"],
    motion: Float[Tensor, "p r"],
    crossed: Float[Tensor, " r"],
    log_sensitivities: Float[Tensor, " d"],
    *,
    weights: Float[Tensor, "d p"],
    level: float,
    freedoms: Float[Tensor, " r"],
) -> Float[Tensor, "r 2"]:
    """Interval of ratios of sums over the blocks, relative to the ratios found.

    Args:
        change: of every block.
        motion: of every block.
        crossed: ratio of the sums over the one found.
        log_sensitivities: logarithm of κ of every draw over that of all the data.
        weights: from `draw_blocks`.
        level: nominal coverage.
        freedoms: degrees of freedom of each.
    """
    blocks, centre = weights.shape[1], crossed.clamp_min(TINY).log()
    ratios = ((weights @ change) / (weights @ motion).clamp_min(TINY)).clamp_min(TINY)
    logs = ratios.log() - log_sensitivities[:, None]
    spread = logs.std(0) * math.sqrt(blocks / (blocks - 1)) * student_quantiles(level, freedoms)
    wide = (spread.square() + centre.square()).sqrt()
    return torch.stack([(centre / 2 - wide).exp(), (centre / 2 + wide).exp()], dim=1)


def student_quantile(level: float, freedom: float) -> float:
    """Two-sided quantile of Student's distribution.

    >>> round(student_quantile(0.95, 31.0), 3)
    2.04
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2))


def student_quantiles(level: float, freedoms: Float[Tensor, " r"]) -> Float[Tensor, " r"]:
    """Two-sided quantile of Student's distribution for each number of degrees of freedom."""
    from scipy.special import stdtrit

    return torch.from_numpy(stdtrit(freedoms.numpy(), 0.5 + level / 2))


def span_angle(
    mixing: Float[Tensor, "d _ k"], directions: Float[Tensor, "k g"], number: int, *, level: float
) -> float:
    """Largest principal angle between the first directions and those of a draw, in the given share of draws.

    Args:
        mixing: the directions of every draw in those that were solved, from `resolve`.
        directions: coefficients of the solved directions, of unit motion.
        number: how many of them span the subspace.
        level: share of the draws.
    """
    if not number:
        return 0.0
    own = torch.linalg.qr(directions[:number].mT).Q
    basis = torch.linalg.qr((mixing[:, :number] @ directions).mT).Q
    sines = torch.linalg.svdvals(basis - own @ (own.mT @ basis))[:, 0].clamp_max(1.0)
    return math.asin(float(sines.quantile(level)))
