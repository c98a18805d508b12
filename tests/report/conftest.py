"""Results that the figures are drawn from, and what all of them must leave alone."""

from dataclasses import replace

import matplotlib
import pytest
import torch
from matplotlib import _pylab_helpers

import liegg
from cases import FromInnerProducts, normal
from liegg.actions.grid.coordinates import coordinates


@pytest.fixture(autouse=True)
def style_is_left_alone():
    """No figure changes matplotlib's style, and none gets into pyplot's list of windows."""
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before
    assert not _pylab_helpers.Gcf.figs


@pytest.fixture(scope="session")
def exact():
    """|x|² on R³: so(3), exactly; verified."""
    return liegg.discover(
        lambda x: x.square().sum(1), normal(200, 3), liegg.Linear(3), held_out=normal(60, 3, seed=1)
    )


@pytest.fixture(scope="session")
def nearly():
    """|x|² with small cubic terms: rotations that hold approximately, with intervals, and not for ever."""

    def model(x):
        return x.square().sum(1) + 0.04 * (
            x**3 @ torch.tensor([1.0, 1.3, 0.7], dtype=torch.float64)
        )

    return liegg.discover(model, normal(400, 3), liegg.Linear(3), held_out=normal(60, 3, seed=1))


@pytest.fixture(scope="session")
def trained():
    """A network of inner products beside fresh weights."""
    return liegg.discover(
        FromInnerProducts(3),
        normal(200, 6),
        liegg.Linear(3, copies=2),
        controls="reinitialised",
        run=liegg.Run(control_draws=3),
    )


@pytest.fixture(scope="session")
def nothing():
    """A function without symmetry."""
    return liegg.discover(
        lambda x: x[:, 0] ** 2 + 3 * x[:, 0] * x[:, 1] + x[:, 1] ** 3,
        normal(100, 2),
        liegg.Linear(2),
    )


@pytest.fixture(scope="session")
def pictures():
    """Smooth pictures of 16 by 16."""
    place = coordinates((16, 16))
    generator = torch.Generator().manual_seed(0)
    centres = 0.9 * (torch.rand(80, 3, 1, 2, generator=generator, dtype=torch.float64) - 0.5)
    return torch.exp(-(place - centres).square().sum(-1) / 0.08).sum(1).reshape(80, 16, 16)


@pytest.fixture(scope="session")
def turned(pictures):
    """What looks at pictures through a ring: rotations."""
    ring = torch.exp(-((coordinates((16, 16)).norm(dim=1) - 0.4) ** 2) / 0.04).reshape(16, 16)
    return liegg.discover(lambda x: (x * ring).mean((1, 2)), pictures, liegg.Image())


@pytest.fixture
def undecided(exact):
    """A result in which nothing was decided about the first directions."""
    return replace(
        exact, decision=replace(exact.decision, nullity=0, undecided=3, grades=("none",) * 9)
    )
