"""Means of further test functions along a few directions, against dense sums in float64."""

import torch

import liegg
from known_data import data_set
from liegg.polarization import span_means
from liegg.polarization.test_functions import fourier_features

ACTION = liegg.Linear(3)


def test_means_and_covariance_are_those_of_the_dense_rows() -> None:
    x = data_set("shell", 80)
    functions = fourier_features(x, 6, seed=1, scales=(3.0,))
    along = torch.randn(9, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    label, covers = torch.arange(80) % 2, torch.ones(80) > 0
    empty = span_means.init(12, 9, 2)
    parts = [
        span_means.update(
            empty, functions, ACTION, along, x=x[p], covers=covers[p], most=80, label=label[p]
        )
        for p in (slice(0, 30), slice(30, 80))
    ]
    sums = span_means.finalise(span_means.merge(*parts))
    rows = torch.zeros(80, 2, 6, 9, dtype=torch.float64)
    rows[torch.arange(80), label] = functions.rows(ACTION, x)
    values = torch.zeros(80, 2, 6, dtype=torch.float64)
    values[torch.arange(80), label] = functions.values(x)
    torch.testing.assert_close(sums.mean, rows.flatten(1, 2).mean(0))
    dense = torch.cov((rows.flatten(1, 2) @ along).flatten(1).mT)
    torch.testing.assert_close(sums.covariance.reshape(24, 24), dense)
    torch.testing.assert_close(sums.values, torch.cov(values.flatten(1).mT, correction=0))
    assert sums.samples == sums.covered == 80
