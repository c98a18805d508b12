"""Maps of the values of an image: laws, a dense reference, and models whose colour symmetry is known."""

from itertools import product

import jaxtyping
import numpy as np
import pytest
import scipy.linalg
import torch
from torch import Tensor

import liegg
from cases import mlp, normal, units
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Channels, Restricted, action_from_settings
from liegg.testing import assert_is_action, assert_same_span

GROUPS = ("affine", "linear", "gains", "tone")

SAMPLES = [
    (1, (4, 5), None),
    (1, (1, 4, 5), None),
    (1, (7,), None),
    (1, (20,), (1, 4, 5)),
    (2, (2, 9), None),
    (3, (3, 4, 5), None),
    (3, (60,), (3, 4, 5)),
    (3, (3, 2, 3, 4), None),
    (3, (3, 1), None),
]


def test_laws():
    for (channels, sample, shape), group in product(SAMPLES, GROUPS):
        action = liegg.Color(group, channels=channels, shape=shape)
        action.check(sample)
        assert_is_action(action, normal(4, *sample), tolerance=1e-12)


def test_sizes():
    for channels, sizes in [
        (1, (2, 1, 1, 2)),
        (2, (6, 4, 2, 2)),
        (3, (12, 9, 3, 2)),
        (4, (20, 16, 4, 2)),
    ]:
        assert tuple(liegg.Color(group, channels=channels).size for group in GROUPS) == sizes
        assert tuple(liegg.Color(group, channels=channels).ambient for group in GROUPS) == (
            channels + 1,
            channels,
            *[channels + 1] * 2,
        )


def test_what_the_groups_span():
    def span(group):
        action = liegg.Color(group)
        return action.matrices(torch.eye(action.size, dtype=torch.float64))

    assert_same_span(span("affine"), liegg.algebra.aff(3), tolerance=1e-12)
    assert_same_span(span("linear"), liegg.algebra.gl(3), tolerance=1e-12)
    assert_same_span(span("gains"), units(4, (0, 0), (1, 1), (2, 2)), tolerance=1e-12)
    contrast, brightness = (
        units(4, (0, 0), (1, 1), (2, 2)).sum(0),
        units(4, (0, 3), (1, 3), (2, 3)).sum(0),
    )
    assert_same_span(span("tone"), torch.stack([contrast, brightness]), tolerance=1e-12)


def test_defaults():
    assert liegg.Color() == Channels(3, True, None)
    for group in ("gains", "tone"):
        action = liegg.Color(group)
        assert isinstance(action, Restricted)
        assert action.parent == liegg.Color()  # judged against all affine maps


# Dense reference


def reference_fields(x, channels, *, offsets):
    """Velocities `[b, g, c, p]` of values `[b, c, p]`, entry by entry: unit matrix E_ij puts value j (or 1) into channel i."""
    columns = channels + offsets
    out = np.zeros((len(x), channels * columns, *x.shape[1:]))
    for i in range(channels):
        for j in range(columns):
            out[:, i * columns + j, i] = x[:, j] if j < channels else 1.0
    return out


def test_dense_reference():
    for (channels, sample, shape), group in product(SAMPLES, GROUPS[:2]):
        action = liegg.Color(group, channels=channels, shape=shape)
        x, gradients = normal(4, *sample), normal(4, 2, *sample, seed=1)
        wanted = reference_fields(
            x.numpy().reshape(4, channels, -1), channels, offsets=group == "affine"
        )
        flat = wanted.reshape(4, action.size, -1)
        np.testing.assert_allclose(action.fields(x).flatten(2), flat, rtol=0, atol=1e-15)
        rows = np.einsum("bkp,bgp->bkg", gradients.flatten(2).numpy(), flat)
        np.testing.assert_allclose(action.contract(gradients, x), rows, rtol=0, atol=1e-13)
        displacement = action.displacement(action.moment(x), 4).dense()
        np.testing.assert_allclose(
            displacement, np.einsum("bgp,bhp->gh", flat, flat) / 4, rtol=0, atol=1e-13
        )


def test_a_finite_motion_is_the_exponential_at_every_pixel():
    h = torch.nn.functional.pad(normal(3, 4, seed=1) / 2, (0, 0, 0, 1))
    x = normal(2, 3, 4, 5)
    homogeneous = np.concatenate([x.numpy(), np.ones((2, 1, 4, 5))], axis=1)
    wanted = np.einsum("ij,bjyx->biyx", scipy.linalg.expm(h.numpy()), homogeneous)[:, :3]
    np.testing.assert_allclose(liegg.Color().act(h, x), wanted, rtol=0, atol=1e-13)


def test_tone_is_one_factor_and_one_offset_for_all_channels():
    x = normal(2, 3, 4, 5)
    contrast, brightness = (
        units(4, (0, 0), (1, 1), (2, 2)).sum(0),
        units(4, (0, 3), (1, 3), (2, 3)).sum(0),
    )
    torch.testing.assert_close(liegg.Color("tone").act(np.log(2) * contrast, x), 2 * x)
    torch.testing.assert_close(liegg.Color("tone").act(0.3 * brightness, x), x + 0.3)


# Models whose symmetry is known


def pictures(samples, channels, seed=0):
    """Positive values, away from 0."""
    return torch.exp(normal(samples, channels, 4, 5, seed=seed) / 2)


def test_ratios_of_channels_know_no_common_gain():
    # log(r/g) and log(g/b) at every pixel change under h by the difference of (hx)ᵢ/xᵢ; all are equal for every x only if h is a
    # multiple of the identity: 1.
    head = mlp(40, 16, 3)
    sym = liegg.discover(
        lambda x: head((x[:, 1:] / x[:, :-1]).log().flatten(1)),
        pictures(200, 3),
        liegg.Color("linear"),
    )
    assert sym.nullity == 1
    assert sym.decision.exact == 1
    assert sym.angles(liegg.scaling(3)).max() < 1e-12


def test_ratios_under_all_affine_maps_and_under_gains():
    head = mlp(40, 16, 3)
    common = torch.nn.functional.pad(liegg.scaling(3), (0, 1, 0, 1))
    for group in ("affine", "gains", "tone"):
        sym = liegg.discover(
            lambda x: head((x[:, 1:] / x[:, :-1]).log().flatten(1)),
            pictures(200, 3),
            liegg.Color(group),
        )
        assert sym.nullity == 1
        assert sym.angles(common).max() < 1e-12


def test_centred_values_know_no_offset():
    # x - mean(x) over the pixels, channel by channel: the three offsets, and with a random network nothing else.
    head = mlp(60, 16, 3)
    sym = liegg.discover(
        lambda x: head((x - x.mean((2, 3), keepdim=True)).flatten(1)),
        pictures(200, 3),
        liegg.Color("affine"),
    )
    assert sym.nullity == 3
    assert sym.decision.exact == 3
    assert sym.angles(liegg.translation(3)).max() < 1e-12


def standardised(x: Tensor) -> Tensor:
    flat = x.flatten(1)
    flat = flat - flat.mean(1, keepdim=True)
    return flat / flat.norm(dim=1, keepdim=True)


@pytest.mark.parametrize("group", ["tone", "affine"])
@pytest.mark.parametrize("axis", [True, False], ids=["[1, h, w]", "[h, w]"])
def test_standardised_grey_images_know_neither_brightness_nor_contrast(group, axis):
    head, x = mlp(20, 16, 3), pictures(200, 1)
    sym = liegg.discover(
        lambda x: head(standardised(x)), x if axis else x[:, 0], liegg.Color(group, channels=1)
    )
    assert sym.nullity == 2
    assert_same_span(sym.generators, liegg.algebra.aff(1), tolerance=1e-12)


def test_grey_brightness_alone():
    head = mlp(20, 16, 3)
    sym = liegg.discover(
        lambda x: head(x.flatten(1) - x.flatten(1)[:, :1]),
        pictures(200, 1),
        liegg.Color("tone", channels=1),
    )
    assert sym.nullity == 1
    assert sym.angles(liegg.translation(1)).max() < 1e-12


def test_a_random_network_sees_every_colour_change():
    head = mlp(60, 16, 3)
    assert (
        liegg.discover(lambda x: head(x.flatten(1)), pictures(200, 3), liegg.Color()).nullity == 0
    )


def test_flat_samples_are_found_alike():
    head, x = mlp(60, 16, 3), pictures(200, 3)
    stacked = liegg.discover(lambda x: head(x.flatten(1)), x, liegg.Color())
    flat = liegg.discover(head, x.flatten(1), liegg.Color(shape=(3, 4, 5)))
    torch.testing.assert_close(flat.defects, stacked.defects, rtol=1e-10, atol=0)


# Settings, errors


@pytest.mark.parametrize(
    "action",
    [liegg.Color(), liegg.Color("linear", channels=2), liegg.Color(shape=(3, 4, 5))],
    ids=repr,
)
def test_settings_make_it_again(action):
    assert action_from_settings(action.settings()) == action


@pytest.mark.parametrize("group", ["gains", "tone"])
def test_settings_make_a_smaller_group_again(group):
    action = liegg.Color(group, shape=(3, 4, 5))
    again = action_from_settings(action.settings())
    assert isinstance(action, Restricted)
    assert isinstance(again, Restricted)
    assert again.parent == action.parent
    assert torch.equal(again.basis, action.basis)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: liegg.Color("hue"),  # pyright: ignore[reportArgumentType]
            ArgumentError,
            r"group='hue': expected 'affine', 'linear', 'gains' or 'tone'\.",
        ),
        (
            lambda: liegg.Color(channels=0),
            ArgumentError,
            r"channels=0: expected a positive number, for example channels=3\.",
        ),
        (
            lambda: liegg.Color("gains", channels=-1),
            ArgumentError,
            "channels=-1: expected a positive number",
        ),
        (
            lambda: liegg.Color().check((28, 28)),
            ShapeError,
            r"a sample has shape \(28, 28\); Color\(channels=3\) expects \[3, ...\]"
            r", channels first\. For grey images pass Color\(channels=1\); for 28 channels Color\(channels=28\)\.",
        ),
        (
            lambda: liegg.Color().check((28, 28, 3)),
            ShapeError,
            r"The channels are last: move them first, data\.movedim\(-1, 1\)\.",
        ),
        (
            lambda: liegg.Color().check((3,)),
            ShapeError,
            r"shape \(3,\); Color\(channels=3\) expects \[3, ...\]",
        ),
        (
            lambda: liegg.Color().check(()),
            ShapeError,
            r"shape \(\); Color\(channels=3\) expects \[3, ...\], channels first\.$",
        ),
        (
            lambda: liegg.Color("tone").check((4, 5, 5)),
            ShapeError,
            r"for 4 channels Color\(channels=4\)\.",
        ),
        (
            lambda: liegg.Color(shape=(3, 4, 5)).check((61,)),
            ShapeError,
            r"a sample has shape \(61,\); Color\(shape=\(3, 4, 5\)\) expects that shape, or \(60,\)\.",
        ),
        (
            lambda: liegg.Color(shape=(3, 4, 5)).check((3, 5, 4)),
            ShapeError,
            r"Color\(shape=\(3, 4, 5\)\) expects that shape",
        ),
        (
            lambda: liegg.Color().coefficients(torch.zeros(1, 5, 5)),
            ArgumentError,
            r"expected homogeneous \[d, 4, 4\]",
        ),
        (
            lambda: liegg.Color("linear").coefficients(torch.zeros(1, 4, 4)),
            ArgumentError,
            r"expected \[d, 3, 3\]",
        ),
    ],
)
def test_errors(monkeypatch, make, error, text):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    with pytest.raises(error, match=text):
        make()


def test_samples_that_fit():
    for channels, shape in [
        (1, (28, 28)),
        (1, (1, 28, 28)),
        (1, (784,)),
        (1, (3, 28, 28)),
        (3, (3, 28, 28)),
        (3, (3, 9)),
        (2, (2, 2)),
    ]:
        liegg.Color(channels=channels).check(shape)
