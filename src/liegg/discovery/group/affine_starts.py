"""Where a search over affine maps begins: linear maps about many points, of which a few samples choose the best."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.setting import Setting
from liegg.discovery.group.starts import Moments, about, random_starts

CENTRES = 16
"""Maps about random points that are looked at, over the number of starts."""

FARTHEST_CENTRE = 2.5
"""Largest distance of these points from the mean, in the data's own coordinates."""

LARGEST_FOLD = 6
"""Rotations by a third to a sixth of a turn are tried about these points."""

LOOKED_AT = 32
"""Samples by which they are compared."""


def affine_starts(
    setting: Setting,
    space: VectorSpace,
    moments: Moments,
    structured: Sequence[Float[Tensor, "m m"]],
    *,
    count: int,
    generator: torch.Generator,
) -> Float[Tensor, "s m m"]:
    """Random affine starts; where nothing moves continuously, half of them about the points that suit them best, and translations.

    Nothing says about which point a function is symmetric, or by which periods, and a descent does not find that from far away. So
    many maps about random points, structured ones, rotations by usual angles and random ones, are tried on a few samples.

    Args:
        setting: model and samples.
        space: what they act on.
        moments: the data's own coordinates.
        structured: homogeneous matrices that are tried about other points, too.
        count: number of starts.
        generator: of the random numbers.
    """
    plain = torch.stack([about(h, moments.mean) for h in random_starts(count, moments, generator)])
    if not count or len(setting.algebra_on(space)):
        return plain
    n, number = len(moments.mean), CENTRES * count
    linear = random_starts(number, moments, generator)
    if structured:
        known = torch.stack(list(structured))[:, :n, :n]
        linear[::4] = known.repeat(number, 1, 1)[: len(linear[::4])]
    if n > 1:
        linear[1::2] = _rotations(len(linear[1::2]), moments, generator)
    points = torch.randn(number, n, generator=generator, dtype=torch.float64)
    lengths = FARTHEST_CENTRE * torch.rand(number, 1, generator=generator, dtype=torch.float64)
    points = moments.mean + points / points.norm(dim=1, keepdim=True) * lengths @ moments.roots[0]
    tried = torch.stack([about(h, point) for h, point in zip(linear, points, strict=True)])
    best = _costs(setting, space, tried).argsort()[: count // 2]
    periods = torch.eye(n + 1, dtype=torch.float64).repeat(number // 4, 1, 1)
    periods[:, :n, n] = (points - moments.mean)[: len(periods)]
    near = _costs(setting, space, periods).argsort()[: count // 8]
    return torch.cat([plain[: count - len(best) - len(near)], tried[best], periods[near]])


def _rotations(count: int, moments: Moments, generator: torch.Generator) -> Float[Tensor, "s n n"]:
    """Rotations by usual angles in random planes, orthogonal in the data's own coordinates."""
    n, (root, inverse) = len(moments.mean), moments.roots
    axes = torch.linalg.qr(torch.randn(count, n, n, generator=generator, dtype=torch.float64)).Q
    angles = 2 * torch.pi / (torch.arange(count) % (LARGEST_FOLD - 2) + 3)
    turns = torch.eye(n, dtype=torch.float64).repeat(count, 1, 1)
    turns[:, 0, 0] = turns[:, 1, 1] = angles.cos().double()
    turns[:, 1, 0], turns[:, 0, 1] = angles.sin().double(), -angles.sin().double()
    return root @ axes @ turns @ axes.mT @ inverse


def _costs(
    setting: Setting, space: VectorSpace, elements: Float[Tensor, "s m m"]
) -> Float[Tensor, " s"]:
    """Squared change of the output by every map, relative to how far it moves the samples, up to their spread.

    Without that, maps near the identity would be best.
    """
    question = setting.search
    x, y = question.x[:LOOKED_AT].double(), question.y[:LOOKED_AT]
    room = max(1, question.capacity // x.numel())
    found = []
    for some in elements.split(room):
        moved = space.apply_all(some, x)
        replies = question.reply(moved.flatten(0, 1)).unflatten(0, moved.shape[:2])
        change = (question.taken(replies, slice(0, len(x))) - y).square().sum(2).mean(1)
        motion = (moved - x).flatten(2).square().sum(2).mean(1) / question.spread**2
        found.append((change / motion.clamp(max=1.0)).cpu())
    return torch.cat(found).nan_to_num(nan=torch.inf)
