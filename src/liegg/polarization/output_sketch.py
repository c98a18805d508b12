r"""Stage 3', combinations: rows of random combinations of the outputs in place of rows of every output.

With signs $s_{ij} = \pm 1/\sqrt k$ drawn for every sample by itself, $\sum_i (\sum_j s_{ij} v_j)^2$ is $\sum_j v_j^2$ on the mean.
What the draw adds to the error is a part of how samples differ, and blocks of samples show it like the rest. A direction in which
no output moves moves no combination either.
"""

from collections.abc import Iterator
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.random import WORD, coins

Outputs = Literal["each", "sum"] | int

CHUNK = 4096
"""Outputs that are combined in one product; a multiple of the signs that one number gives."""

NUMBERS = {"cpu": 2**18, "cuda": 2**24}
"""Numbers in the signs, and in what they are applied to, of one product: what a cache holds; what keeps a GPU busy."""


def weights(
    samples: int,
    outputs: int,
    count: int,
    *,
    seed: int = 0,
    first: int = 0,
    some: slice = slice(None),
    columns: slice = slice(None),
    dtype: torch.dtype = torch.float64,
    device: torch.device | None = None,
) -> Float[Tensor, "b k c"]:
    r"""Signs $\pm 1/\sqrt k$ of the combinations of some samples, by the numbers of sample, combination and output alone.

    Args:
        samples: how many there are.
        outputs: outputs of a sample.
        count: combinations of a sample.
        seed: of all signs.
        first: number of the first sample in the data.
        some: which combinations; all by default.
        columns: which outputs, from a multiple of 64 on; all by default.
        dtype: of the result.
        device: of the result.

    Examples:
        >>> whole = weights(5, 200, 4, seed=1)
        >>> torch.equal(
        ...     whole[3:, 1:2, 128:150],
        ...     weights(2, 200, 4, seed=1, first=3, some=slice(1, 2), columns=slice(128, 150)),
        ... )
        True
        >>> whole.unique()
        tensor([-0.5000,  0.5000], dtype=torch.float64)
    """
    begin, end, _ = columns.indices(outputs)
    width = -(-outputs // WORD)
    word = torch.arange(begin // WORD, -(-end // WORD), device=device)
    sample = torch.arange(first, first + samples, device=device)[:, None, None]
    chosen = torch.arange(count, device=device)[some, None]
    signs = coins(seed, (sample * count + chosen) * width + word, size=count**-0.5, dtype=dtype)
    return signs.flatten(2)[:, :, : end - begin]


def combined(
    values: Float[Tensor, "p b c"], outputs: Outputs, *, seed: int = 0, first: int = 0
) -> Float[Tensor, "p b k"]:
    """Combinations of what belongs to the outputs of some samples, in float64; the signs are never held all at once.

    Outputs are summed in chunks of one size, so that the result does not depend on how many samples come together.

    Args:
        values: some numbers for every sample and output, any float dtype.
        outputs: `"each"` leaves them as they are, `"sum"` sums them, `k` takes k random combinations.
        seed: of the signs.
        first: number of the first sample in the data.

    Examples:
        >>> combined(torch.tensor([[[1.0, 2.0]]]), "sum")
        tensor([[[3.]]], dtype=torch.float64)
        >>> combined(torch.tensor([[[1.0, 2.0]]]), 4, seed=2).abs()
        tensor([[[1.5000, 0.5000, 1.5000, 0.5000]]], dtype=torch.float64)
    """
    if outputs == "each":
        return values.double()
    if outputs == "sum":
        return values.sum(2, keepdim=True, dtype=torch.float64)
    count, (directions, samples, width) = int(outputs), values.shape
    result = torch.zeros(samples, count, directions, dtype=torch.float64, device=values.device)
    room = NUMBERS.get(values.device.type, NUMBERS["cpu"])
    step = max(1, room // ((count + directions) * min(width, CHUNK)))
    for begin in range(0, samples, step):
        piece = values[:, begin : begin + step].transpose(0, 1)
        for start in range(0, width, CHUNK):
            columns = slice(start, start + CHUNK)
            signs = weights(
                len(piece),
                width,
                count,
                seed=seed,
                first=first + begin,
                columns=columns,
                device=values.device,
            )
            result[begin : begin + step].baddbmm_(signs, piece[:, :, columns].double().mT)
    return result.permute(2, 0, 1)


def cotangents(
    y: Float[Tensor, "b c"], outputs: Outputs, together: int, *, seed: int = 0, first: int = 0
) -> Iterator[Float[Tensor, "t b c"]]:
    """Directions of the output whose reverse derivatives make the rows, some at a time.

    Args:
        y: outputs of some samples.
        outputs: as for `combined`.
        together: how many directions at a time, at most.
        seed: of the signs.
        first: number of the first sample in the data.
    """
    samples, width = y.shape
    if outputs == "each":
        for some in torch.arange(width, device=y.device).split(together):
            yield (
                torch.nn.functional.one_hot(some, width)
                .to(y.dtype)[:, None]
                .expand(-1, samples, -1)
            )
    elif outputs == "sum":
        yield torch.ones_like(y)[None]
    else:
        for start in range(0, int(outputs), together):
            yield weights(
                samples,
                width,
                int(outputs),
                seed=seed,
                first=first,
                some=slice(start, start + together),
                dtype=y.dtype,
                device=y.device,
            ).transpose(0, 1)
