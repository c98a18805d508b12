r"""Rows of random combinations of the outputs in place of rows of every output.

With independent signs $s_{ij} = \pm 1/\sqrt k$ for every sample, the expectation of
$\sum_i (\sum_j s_{ij} v_j)^2$ is $\sum_j v_j^2$. The error of the random signs is part of the
difference between samples, so blocks of samples show it like any other. A direction that moves no
output moves no combination.
"""

from collections.abc import Iterator
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.random import WORD, rademacher

Outputs = Literal["each", "sum"] | int
"""Which outputs have rows: every one, the paper's sum, or a number of random combinations."""

OUTPUTS_AT_ONCE = 4096
"""Outputs that are combined in one product; a multiple of `WORD`."""

PRODUCT_NUMBERS = {"cpu": 2**18, "cuda": 2**24}
"""Numbers in one product, which fit a CPU cache or keep a GPU busy."""


def combination_signs(
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
    r"""Signs $\pm 1/\sqrt k$, which depend on the indices of sample, combination and output alone.

    Args:
        samples: number of samples.
        outputs: outputs per sample.
        count: combinations per sample.
        seed: seed of all signs.
        first: position of the first sample in the data.
        some: which combinations; all by default.
        columns: which outputs, starting at a multiple of 64; all by default.
        dtype: dtype of the result.
        device: device of the result.

    Examples:
        >>> whole = combination_signs(5, 200, 4, seed=1)
        >>> torch.equal(
        ...     whole[3:, 1:2, 128:150],
        ...     combination_signs(
        ...         2, 200, 4, seed=1, first=3, some=slice(1, 2), columns=slice(128, 150)
        ...     ),
        ... )
        True
        >>> whole.unique()
        tensor([-0.5000,  0.5000], dtype=torch.float64)
    """
    begin, end, _ = columns.indices(outputs)
    width = -(-outputs // WORD)
    word = torch.arange(begin // WORD, -(-end // WORD), device=device)
    sample = torch.arange(first, first + samples, device=device)[:, None, None]
    combination = torch.arange(count, device=device)[some, None]
    signs = rademacher(
        seed, (sample * count + combination) * width + word, size=count**-0.5, dtype=dtype
    )
    return signs.flatten(2)[:, :, : end - begin]


def combine(
    values: Float[Tensor, "p b c"], outputs: Outputs, *, seed: int = 0, first: int = 0
) -> Float[Tensor, "p b k"]:
    """Combinations of values of the outputs, in float64; the signs are never held all at once.

    Outputs are summed in chunks of one size, so the result does not depend on the batch size.

    Args:
        values: numbers for every sample and output, any float dtype.
        outputs: `"each"` returns them, `"sum"` sums them, `k` takes k random combinations.
        seed: seed of the signs.
        first: position of the first sample in the data.

    Examples:
        >>> combine(torch.tensor([[[1.0, 2.0]]]), "sum")
        tensor([[[3.]]], dtype=torch.float64)
        >>> combine(torch.tensor([[[1.0, 2.0]]]), 4, seed=2).abs()
        tensor([[[1.5000, 0.5000, 1.5000, 0.5000]]], dtype=torch.float64)
    """
    if outputs == "each":
        return values.double()
    if outputs == "sum":
        return values.sum(2, keepdim=True, dtype=torch.float64)
    count, (directions, samples, width) = int(outputs), values.shape
    result = torch.zeros(samples, count, directions, dtype=torch.float64, device=values.device)
    room = PRODUCT_NUMBERS.get(values.device.type, PRODUCT_NUMBERS["cpu"])
    step = max(1, room // ((count + directions) * min(width, OUTPUTS_AT_ONCE)))
    for begin in range(0, samples, step):
        piece = values[:, begin : begin + step].transpose(0, 1)
        for start in range(0, width, OUTPUTS_AT_ONCE):
            columns = slice(start, start + OUTPUTS_AT_ONCE)
            signs = combination_signs(
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
    """Output directions whose reverse derivatives are the rows, some at a time.

    Args:
        y: outputs of some samples.
        outputs: as for `combine`.
        together: most directions at a time.
        seed: seed of the signs.
        first: position of the first sample in the data.
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
            yield combination_signs(
                samples,
                width,
                int(outputs),
                seed=seed,
                first=first,
                some=slice(start, start + together),
                dtype=y.dtype,
                device=y.device,
            ).transpose(0, 1)
