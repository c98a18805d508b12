"""Permutations of slots that probes of two slots suggest: a ring is found in whatever order its slots are given."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from liegg.actions.finite.slots import SlotSpace
from liegg.algebra.finite.automorphisms import Order, table_automorphisms
from liegg.discovery.group.setting import Setting

PROBES = 2
"""Triples of slot contents that are probed with."""

MOST_PROBED = 128
"""Slots up to which all pairs are probed: their number of evaluations is twice its square."""

EXACT_PROBE, NEAR_PROBE = 1e-6, 0.2
"""Difference of equal probes over their spread: of exact symmetries, and of others."""

LARGEST_NEAR = 32
"""Slots up to which others than exact symmetries are looked for: many probes are near one another by chance."""

PROBE_ROUNDING = 100.0
"""Rounding units of the output by which equal probes may differ."""

SOURCE = "permutation that probes suggest"
"""Where these permutations come from."""


def probed_permutations(
    setting: Setting, space: SlotSpace, components: Sequence[Sequence[int]]
) -> Iterator[tuple[Order, str]]:
    """Permutations that keep what two slots do to the output where all others have one content.

    If $F$ is invariant under a permutation, its value for samples with content b in slot i, c in slot j and a in all others is that
    for the permuted slots: exact equations, whatever the data. Only candidates follow from them, which are judged on samples. Outputs
    that move are not probed.

    Args:
        setting: model and samples.
        space: the slots.
        components: slots that are known to be exchangeable; the first of each is moved.
    """
    n = space.side
    if setting.output_spaces or n > MOST_PROBED:
        return
    firsts = [component[0] for component in components]
    values = probes(setting, space)
    spread = float(np.ptp(values, axis=(0, 1)).max()) if np.isfinite(values).all() else 0.0
    rounding = PROBE_ROUNDING * setting.search.eps * float(np.abs(values).max())
    if spread <= rounding:
        return
    for share in (EXACT_PROBE, NEAR_PROBE) if n <= LARGEST_NEAR else (EXACT_PROBE,):
        tolerance = max(rounding, share * spread)
        orders = list(table_automorphisms(values, tolerance, movable=firsts))
        yield from ((order, SOURCE) for order in orders)
        if orders:
            return


def probes(setting: Setting, space: SlotSpace) -> Float[np.ndarray, "n n c"]:
    """Outputs where slot i has one content, slot j another, and the rest a third; on the diagonal slot i alone differs."""
    question, n = setting.search, space.side
    x = question.x.double()
    contents = space.slots(x)
    generator = torch.Generator().manual_seed(setting.seed)
    room = max(1, question.capacity // question.x[0].numel())
    i, j = torch.cartesian_prod(torch.arange(n), torch.arange(n)).mT
    found = []
    for _ in range(PROBES):
        samples, slots = (torch.randint(most, (3,), generator=generator) for most in (len(x), n))
        rest, one, other = contents[samples.to(x.device), slots.to(x.device)]
        outputs = []
        for rows, columns in zip(i.split(room), j.split(room), strict=True):
            filled = rest.expand(len(rows), n, *rest.shape).clone()
            filled[range(len(rows)), columns] = other
            filled[range(len(rows)), rows] = one
            whole = x[samples[:1].to(x.device)].expand(len(rows), *x.shape[1:])
            outputs.append(_outputs(setting, space.filled(filled, whole)))
        found.append(torch.cat(outputs))
    return torch.cat(found, 1).reshape(n, n, -1).double().cpu().numpy()


def _outputs(setting: Setting, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c"]:
    """What is asked about, of samples that are not among the data."""
    question = setting.search
    complete = question.reply(x)
    target = question.model.target
    return complete if target is None else target(complete, complete.argmax(1))
