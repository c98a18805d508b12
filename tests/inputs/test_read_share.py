"""The share of the spread on which an output depends: known shares, and what it does not depend on."""

import pytest
import torch
from torch import Tensor

from liegg.inputs.model import Model
from liegg.inputs.probe import probe
from liegg.inputs.read_share import READ_CHANGE, read_share

X = torch.randn(2000, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
SIZES = torch.tensor([1.0, 2.0, 10.0], dtype=torch.float64)


def share(function, x: Tensor = X * SIZES, **options) -> float:
    return read_share(probe(Model(function, "f"), x), x, **options)


def test_an_output_that_reads_everything():
    assert share(lambda x: (x / SIZES).sin()) == pytest.approx(1)


def test_what_is_ignored_does_not_count_however_large():
    variances = (X * SIZES).var(0, correction=0)
    expected = float(variances[:2].sum() / variances.sum())
    assert share(lambda x: x[:, :2].sin()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("part", [0.1, 0.5])
def test_what_hardly_matters_counts_in_part(part):
    """The last number changes the output by so little a share, relative to what is needed to count as a whole."""
    weights = torch.tensor([1.0, 0.0, (part * READ_CHANGE) ** 0.5], dtype=torch.float64)
    variances = X.var(0, correction=0)
    relative = float(
        variances[2] / variances[0]
    )  # of the changes, which are known exactly for a linear function
    expected = float((variances[0] + part * relative * variances[2]) / variances.sum())
    assert share(lambda x: x @ weights[:, None], X) == pytest.approx(expected, rel=1e-6)


def test_only_what_may_move_counts():
    movable = torch.tensor([True, True, False]).expand(len(X), 3)
    assert share(lambda x: x, movable=movable) == pytest.approx(1)
    first = movable & torch.tensor([True, False, False])
    assert share(lambda x: x[:, :1], movable=first) == pytest.approx(1)


def test_nothing_is_known_of_a_constant():
    assert share(lambda x: 0 * x[:, :1]) == 1
    assert share(lambda x: x[:, :1], X[:1]) == 1
