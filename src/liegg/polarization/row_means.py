"""One pass over a data set: means of the derivatives of test functions along every candidate, and their covariance."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg.actions import Action
from liegg.polarization import displacement, extremes
from liegg.polarization.displacement import InputSums, Workspace
from liegg.polarization.extremes import Extremes
from liegg.polarization.test_functions import TestFunctions

COVARIANCE_SAMPLES, FEWEST_COVERED = 20_000, 1_000
"""Most samples from which the covariance of the derivatives is taken, and how many are taken whatever their cost."""

COVARIANCE_PRODUCTS = 2 * 10**10
"""Products that the covariance may cost: a second on one core."""

WINDOW = 32
"""Consecutive samples within which neighbours are compared with the others."""

LARGEST_COVARIANCE = 4096
"""Test functions times candidates, at most: the covariance then has 128 MB."""


class RowSums(NamedTuple):
    """Sums over samples; see `merge`.

    Attributes:
        rows: `[p, k, g]`, summed derivatives of each block of samples.
        counts: `[p]`, samples of each block.
        square: `[k g, k g]`, summed products of derivatives, of some samples.
        squared: `[k g]`, summed derivatives of these samples.
        covered: number of these samples.
        values: `[k]`, summed values of the functions.
        products: `[k, k]`, summed products of the values.
        nearby: `[2]`, halved squared differences of neighbours and variances in windows of consecutive samples, of all values, summed.
        inputs: sums over the samples themselves.
        extremes: the farthest samples, and the range of every number.
    """

    rows: Float[Tensor, "p k g"]
    counts: Float[Tensor, " p"]
    square: Float[Tensor, "q q"]
    squared: Float[Tensor, " q"]
    covered: int
    values: Float[Tensor, " k"]
    products: Float[Tensor, "k k"]
    nearby: Float[Tensor, " 2"]
    inputs: InputSums
    extremes: Extremes


def covariance_samples(columns: int) -> int:
    """Samples from which a covariance of this many columns is taken.

    >>> covariance_samples(400), covariance_samples(2500), covariance_samples(4096)
    (20000, 3200, 1192)
    """
    affordable = COVARIANCE_PRODUCTS // max(columns, 1) ** 2
    return min(COVARIANCE_SAMPLES, max(FEWEST_COVERED, affordable))


class RowMeans(NamedTuple):
    r"""Means of the derivatives, which vanish along a symmetry, and their noise.

    Attributes:
        mean: `[k, g]`, the mean of $\langle \nabla\phi_k, \xi_a \rangle$.
        covariance: `[k, g, k, g]`, covariance of the derivatives of one sample.
        values: `[k, k]`, covariance of the functions.
        blocks: `[p, k, g]`, the mean of each block of samples.
        counts: `[p]`, samples of each block.
        runs: `[s, k, g]`, the mean of each run of consecutive samples; one run if their order is not used.
        run_counts: `[s]`, samples of each run.
        alike: variance between neighbours over that in windows of consecutive samples: 1 if they are independent there.
        samples: number of samples.
        covered: number of samples from which the covariance was taken.
        moment: summed moments, from which the action computes the displacement.
        noise: squared motion that rounding may give a generator that does not move the data.
        spread: mean squared distance of the samples from their mean.
        extremes: the farthest samples, and the range of every number.
    """

    mean: Float[Tensor, "k g"]
    covariance: Float[Tensor, "k g k g"]
    values: Float[Tensor, "k k"]
    blocks: Float[Tensor, "p k g"]
    counts: Float[Tensor, " p"]
    runs: Float[Tensor, "s k g"]
    run_counts: Float[Tensor, " s"]
    alike: float
    samples: int
    covered: int
    moment: Float[Tensor, "s s"]
    noise: float
    spread: float
    extremes: Extremes


def init(
    functions: TestFunctions,
    action: Action,
    first: Float[Tensor, "b ..."],
    blocks: int,
    *,
    classes: int = 1,
) -> RowSums:
    """Sums over no samples.

    Args:
        functions: the test functions.
        action: candidate generators.
        first: a batch of the data, for shapes.
        blocks: number of blocks of samples.
        classes: number of classes; every function is multiplied with the indicator of each.
    """
    k, g = functions.size * classes, action.size
    zeros = first.new_zeros
    return RowSums(
        rows=zeros(blocks, k, g),
        counts=zeros(blocks),
        square=zeros(k * g, k * g),
        squared=zeros(k * g),
        covered=0,
        values=zeros(k),
        products=zeros(k, k),
        nearby=zeros(2),
        inputs=displacement.init(action, first),
        extremes=extremes.init(first),
    )


def update(
    state: RowSums,
    functions: TestFunctions,
    workspace: Workspace,
    x: Float[Tensor, "b ..."],
    *,
    block: Int[Tensor, " b"],
    covers: Bool[Tensor, " b"],
    label: Int[Tensor, " b"] | None = None,
    first: int = 0,
) -> RowSums:
    """Add the samples of a batch.

    Args:
        state: sums over the samples so far.
        functions: the test functions.
        workspace: the action, and memory to reuse.
        x: the batch, in float64.
        block: block of every sample.
        covers: the samples from which the covariance is taken.
        label: class of every sample; None without classes.
        first: position of the first of these samples in the data.
    """
    workspace.prepare(x)
    action, values, blocks = workspace.action, functions.values(x), len(state.counts)
    label = torch.zeros_like(block) if label is None else label
    classes = state.rows.shape[1] // functions.size
    square, squared, covered = state.square, state.squared, state.covered
    places = covers.nonzero()[: covariance_samples(len(squared)) - covered, 0]
    if len(places):
        rows = functions.rows(action, x[places])
        flat = by_class(rows.flatten(1), label[places], classes).flatten(1)
        square, squared = square + flat.mT @ flat, squared + flat.sum(0)
        covered += len(flat)
    sums = functions.row_sums(action, x, block * classes + label, blocks * classes)
    nearby = state.nearby + _nearby(values)
    values = by_class(values, label, classes)
    return RowSums(
        rows=state.rows + sums.reshape(state.rows.shape),
        counts=state.counts + torch.bincount(block, minlength=blocks),
        square=square,
        squared=squared,
        covered=covered,
        values=state.values + values.sum(0),
        products=state.products + values.mT @ values,
        nearby=nearby,
        inputs=displacement.update(state.inputs, x, workspace),
        extremes=extremes.update(state.extremes, x, first),
    )


def merge(one: RowSums, other: RowSums) -> RowSums:
    """Sums over the samples of both, which must have started from the same `init`."""
    return RowSums(
        rows=one.rows + other.rows,
        counts=one.counts + other.counts,
        square=one.square + other.square,
        squared=one.squared + other.squared,
        covered=one.covered + other.covered,
        values=one.values + other.values,
        products=one.products + other.products,
        nearby=one.nearby + other.nearby,
        inputs=displacement.merge(one.inputs, other.inputs),
        extremes=extremes.merge(one.extremes, other.extremes),
    )


def _nearby(values: Float[Tensor, "b k"]) -> Float[Tensor, " 2"]:
    """Halved squared differences of neighbours, and variances in windows: on average equal for independent samples."""
    size = min(WINDOW, len(values))
    if size < 2:
        return values.new_zeros(2)
    windows = values[: len(values) // size * size].unflatten(0, (-1, size))
    steps = windows.diff(dim=1).square().sum() / (2 * (size - 1))
    return torch.stack([steps, windows.var(1).sum()])


def by_class(
    values: Float[Tensor, "b k"], label: Int[Tensor, " b"], classes: int
) -> Float[Tensor, "b ck"]:
    """Numbers of every sample in the columns of its class, and 0 in those of the others."""
    if classes == 1:
        return values
    spread = values.new_zeros(len(values), classes, values.shape[1])
    spread[torch.arange(len(values)), label] = values
    return spread.flatten(1)


def finalise(
    state: RowSums, action: Action, first: Float[Tensor, "b ..."], *, runs: int = 1
) -> RowMeans:
    """Means and covariances of all samples.

    Args:
        state: sums of all samples.
        action: candidate generators.
        first: a batch of the data.
        runs: number of runs of consecutive samples; the block of a sample is then its block times this number, plus its run.
    """
    (_, k, g), samples = state.rows.shape, state.inputs.samples
    centre = state.squared / state.covered
    covariance = (state.square / state.covered - torch.outer(centre, centre)).reshape(k, g, k, g)
    average = state.values / samples
    moment, _, noise = displacement.finalise(state.inputs, action, first)
    rows, counts = state.rows.reshape(-1, runs, k, g), state.counts.reshape(-1, runs)
    of_blocks, of_runs = (
        (rows.sum(axis), counts.sum(axis), counts.sum(axis).clamp_min(1)[:, None, None])
        for axis in (1, 0)
    )
    return RowMeans(
        mean=state.rows.sum(0) / samples,
        covariance=covariance * (state.covered / max(state.covered - 1, 1)),
        values=state.products / samples - torch.outer(average, average),
        blocks=of_blocks[0] / of_blocks[2],
        counts=of_blocks[1],
        runs=of_runs[0] / of_runs[2],
        run_counts=of_runs[1],
        alike=float(state.nearby[0] / state.nearby[1]) if float(state.nearby[1]) > 0 else 1.0,
        samples=samples,
        covered=state.covered,
        moment=moment,
        noise=noise,
        spread=displacement.spread(state.inputs),
        extremes=state.extremes,
    )
