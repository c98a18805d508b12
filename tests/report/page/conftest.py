"""Results that pages are made from."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal


def radial(x):
    """Sums over rings, which a rotation of the image does not change."""
    side = torch.linspace(-1, 1, x.shape[-1], dtype=x.dtype)
    distance = (side[:, None].square() + side.square()).sqrt()
    rings = torch.stack(
        [torch.exp(-((distance - middle) / 0.2).square()) for middle in (0.0, 0.25, 0.5)]
    )
    return torch.einsum("bchw,khw->bck", x, rings).flatten(1).tanh()


@pytest.fixture(scope="session")
def images():
    """Smooth images with three channels that vanish towards the border."""
    fine = nn.functional.interpolate(normal(70, 3, 5, 5), size=(20, 20), mode="bicubic")
    axis = torch.linspace(-1, 1, 20, dtype=torch.float64)
    window = torch.sigmoid(12 * (0.65 - (axis[:, None].square() + axis.square()).sqrt()))
    return fine * window / 10


@pytest.fixture(scope="session")
def rotations():
    """|x|² on R⁵: so(5), verified."""
    x = normal(160, 5)
    return liegg.discover(lambda x: x.square().sum(1), x[:120], liegg.Linear(5), held_out=x[120:])


@pytest.fixture(scope="session")
def image_rotations(images):
    """A function of images with one rotation."""
    action = liegg.Image("affine")
    return liegg.discover(radial, images[:50], action, held_out=images[50:])


@pytest.fixture(scope="session")
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).double()


@pytest.fixture(scope="session")
def asymmetric(network):
    """A network without a symmetry, with every control."""
    return liegg.discover(
        network,
        2 * normal(200, 3),
        liegg.Linear(3),
        controls="reinitialised",
        held_out=normal(50, 3, seed=1),
    )


def sides(x):
    """Two classes: the right and the left half of the plane."""
    return torch.stack([x[:, 0], -x[:, 0]], dim=1)


@pytest.fixture(scope="session")
def plane():
    """Samples in the plane."""
    return normal(60, 2)


@pytest.fixture(scope="session")
def classified(plane):
    """Halves of the plane under a rotation, which changes the class of half of the samples."""
    return liegg.discover(sides, plane, liegg.Linear(2), about={"turn": liegg.so(2)})


@pytest.fixture(scope="session")
def classified_images():
    """Images of 6 by 6 in one of three classes, and what the standard motions change."""
    x, weights = normal(40, 3, 6, 6), normal(108, 3, seed=1)
    about = list(liegg.Image().motions((3, 6, 6)))
    model = lambda x: (x.flatten(1) @ weights).tanh()  # noqa: E731
    return liegg.discover(model, x, liegg.Image(), about=about, target="classes"), x
