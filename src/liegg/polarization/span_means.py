"""Means of the derivatives of further test functions, with their covariance along a few directions only."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from liegg.actions import Action
from liegg.polarization.row_means import by_class
from liegg.polarization.test_functions import TestFunctions


class SpanSums(NamedTuple):
    """Sums over samples; additive.

    Attributes:
        rows: `[k, g]`, summed derivatives along every candidate.
        samples: number of samples.
        square: `[k d, k d]`, summed products of derivatives along the directions, of some samples.
        squared: `[k d]`, summed derivatives along the directions, of these samples.
        values: `[k]`, summed values of the functions, of these samples.
        products: `[k, k]`, summed products of these values.
        covered: number of these samples.
    """

    rows: Float[Tensor, "k g"]
    samples: int
    square: Float[Tensor, "q q"]
    squared: Float[Tensor, " q"]
    values: Float[Tensor, " k"]
    products: Float[Tensor, "k k"]
    covered: int


class SpanMeans(NamedTuple):
    """Means of the derivatives, and their noise along some directions.

    Attributes:
        mean: `[k, g]`, along every candidate.
        covariance: `[k, d, k, d]`, of one sample, along the directions.
        values: `[k, k]`, covariance of the functions.
        samples: number of samples.
        covered: number of samples from which the covariances were taken.
    """

    mean: Float[Tensor, "k g"]
    covariance: Float[Tensor, "k d k d"]
    values: Float[Tensor, "k k"]
    samples: int
    covered: int


def init(functions: int, candidates: int, directions: int) -> SpanSums:
    """Sums over no samples.

    Args:
        functions: number of functions, times that of classes.
        candidates: number of candidates.
        directions: number of directions.
    """
    zeros = torch.zeros(0, dtype=torch.float64).new_zeros
    columns = functions * directions
    return SpanSums(
        rows=zeros(functions, candidates),
        samples=0,
        square=zeros(columns, columns),
        squared=zeros(columns),
        values=zeros(functions),
        products=zeros(functions, functions),
        covered=0,
    )


def update(
    state: SpanSums,
    functions: TestFunctions,
    action: Action,
    directions: Float[Tensor, "g d"],
    *,
    x: Float[Tensor, "b ..."],
    covers: Bool[Tensor, " b"],
    most: int,
    label: Int[Tensor, " b"] | None = None,
) -> SpanSums:
    """Add the samples of a batch.

    Args:
        state: sums over the samples so far.
        functions: the test functions.
        action: the candidate generators.
        directions: coefficients of the directions, as columns.
        x: the batch, in float64.
        covers: the samples from which covariances are taken.
        most: number of these, at most.
        label: class of every sample; None without classes.
    """
    label = torch.zeros(len(x), dtype=torch.int64) if label is None else label
    classes = len(state.values) // functions.size
    rows = functions.row_sums(action, x, label, classes).flatten(0, 1)
    state = state._replace(rows=state.rows + rows, samples=state.samples + len(x))
    places = covers.nonzero()[: most - state.covered, 0]
    if not len(places):
        return state
    values = by_class(functions.values(x[places]), label[places], classes)
    along = (functions.rows(action, x[places]) @ directions).flatten(1)
    flat = by_class(along, label[places], classes)
    return state._replace(
        square=state.square + flat.mT @ flat,
        squared=state.squared + flat.sum(0),
        values=state.values + values.sum(0),
        products=state.products + values.mT @ values,
        covered=state.covered + len(flat),
    )


def merge(one: SpanSums, other: SpanSums) -> SpanSums:
    """Sums over the samples of both."""
    return SpanSums._make(a + b for a, b in zip(one, other, strict=True))


def finalise(state: SpanSums) -> SpanMeans:
    """Means and covariances of all samples."""
    k, covered = len(state.values), max(state.covered, 1)
    centre, average = state.squared / covered, state.values / covered
    covariance = (state.square / covered - torch.outer(centre, centre)) * (
        covered / max(covered - 1, 1)
    )
    directions = len(centre) // max(k, 1)
    return SpanMeans(
        mean=state.rows / max(state.samples, 1),
        covariance=covariance.reshape(k, directions, k, directions),
        values=state.products / covered - torch.outer(average, average),
        samples=state.samples,
        covered=state.covered,
    )
