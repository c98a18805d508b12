"""What the slider moves: samples and motions."""

import base64

import numpy as np
import pytest
import torch

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.actions import Product
from liegg.report.page.stage import motions_of, stage_of
from liegg.results.run_folder import STORED_SAMPLES


def stage(action, samples):
    result = stage_of(action, samples)
    assert result is not None
    return result


def test_images_have_256_levels(images):
    x = images[:3]
    drawn = stage(liegg.Image(), x)
    levels = np.stack(
        [np.frombuffer(base64.b64decode(one), np.uint8) for one in drawn["samples"]]
    ).reshape(x.shape)
    step = (drawn["high"] - drawn["low"]) / 255
    np.testing.assert_allclose(drawn["low"] + levels * step, x, atol=0.51 * step)


@pytest.mark.parametrize(
    ("action", "shape", "sides"),
    [
        (liegg.Image(), (9, 7), (1, 9, 7)),
        (liegg.Image("euclidean", shape=(9, 7)), (63,), (1, 9, 7)),
        (liegg.Image(), (5, 9, 7), (1, 9, 7)),
        (liegg.Image(), (3, 300, 200), (3, 96, 64)),
        (liegg.Color(), (3, 9, 7), (3, 9, 7)),
        (Product(liegg.Image("euclidean"), liegg.Color("tone")), (3, 9, 7), (3, 9, 7)),
    ],
    ids=repr,
)
def test_images_of_every_kind(action, shape, sides):
    drawn = stage(action, normal(9, *shape))
    assert drawn["kind"] == "image"
    assert (drawn["channels"], drawn["height"], drawn["width"]) == sides
    assert len(drawn["samples"]) == STORED_SAMPLES


@pytest.mark.parametrize(
    ("shape", "drawn_shape", "notes"),
    [((12,), (1, 12), 0), ((9, 700), (6, 256), 2), ((2, 5), (2, 5), 0)],
    ids=str,
)
def test_signals_along_a_line(shape, drawn_shape, notes):
    x = normal(3, *shape)
    drawn = stage(liegg.Sequence(border="periodic"), x)
    values = np.array(drawn["samples"])
    assert (drawn["kind"], drawn["border"]) == ("signal", "periodic")
    assert values.shape == (3, *drawn_shape)
    assert drawn["length"] == drawn_shape[1]
    assert (values.min(), values.max()) == pytest.approx((drawn["low"], drawn["high"]), rel=1e-5)
    assert drawn["note"].count(" drawn ") + drawn["note"].count(" drawn.") == notes
    if not notes:
        np.testing.assert_allclose(values, x.reshape(3, *drawn_shape), rtol=1e-5)


def test_volumes_have_256_levels():
    x = normal(2, 5, 6, 7)
    drawn = stage(liegg.Volume(), x)
    levels = np.stack([np.frombuffer(base64.b64decode(one), np.uint8) for one in drawn["samples"]])
    step = (x.max() - x.min()).item() / 255
    assert (drawn["kind"], drawn["sides"]) == ("volume", [5, 6, 7])
    np.testing.assert_allclose(x.min().item() + levels.reshape(x.shape) * step, x, atol=0.51 * step)
    large = stage(liegg.Volume(), normal(6, 2, 48, 24, 30))
    assert (large["sides"], len(large["samples"])) == ([24, 12, 15], 4)


@pytest.mark.parametrize("action", [liegg.Sequence("affine"), liegg.Volume("affine")], ids=repr)
def test_motions_of_signals_and_volumes_are_blocks_of_places(action):
    shape = (12,) if action.ambient == 2 else (5, 5, 5)
    x = normal(60, *shape)
    sym = liegg.discover(lambda x: x.flatten(1).square().sum(1), x, action)
    motions = motions_of(sym, stage(action, x[:2]))["list"]
    assert motions
    side = action.ambient
    assert all(np.shape(motion["place"]) == (side, side) for motion in motions)
    assert all(motion["colour"] is None for motion in motions)


@pytest.mark.parametrize("layout", ["copies_first", "vector_first"])
def test_vectors_of_either_layout(layout):
    x = normal(2, 4, 3)
    samples = x if layout == "copies_first" else x.mT
    drawn = stage(liegg.Affine(3, copies=4, layout=layout), samples.numpy())
    np.testing.assert_allclose(drawn["samples"], x, rtol=1e-5)
    assert drawn["homogeneous"]


@pytest.mark.parametrize(
    ("action", "shape"),
    [(liegg.Color(channels=4), (4, 5, 5)), (Product(liegg.Image(), liegg.Image("affine")), (5, 5))],
    ids=repr,
)
def test_what_cannot_be_drawn_says_so(action, shape):
    drawn = stage(action, normal(2, *shape))
    assert drawn["kind"] == "none"
    assert drawn["note"]


@pytest.mark.parametrize(
    "samples",
    [torch.zeros(3), torch.full((2, 5), torch.nan), torch.zeros(0, 5)],
    ids=["flat", "nan", "none"],
)
def test_samples_without_meaning(samples):
    with pytest.raises(ArgumentError, match="finite numbers"):
        stage_of(liegg.Linear(5), samples)


def test_motions_are_the_generators_with_their_curves(rotations):
    motions = motions_of(rotations, stage(rotations.action, normal(2, 5)))["list"]
    assert [motion["curve"] for motion in motions] == [f"generator-{i}" for i in range(10)]
    places = [motion["place"] for motion in motions]
    np.testing.assert_allclose(places, rotations.generators, atol=1e-6)
    for motion, curve in zip(motions, rotations.verification.curves, strict=True):
        extent = (motion["longest"], motion["both"], motion["period"])
        assert extent == (curve.longest, curve.both_ways, curve.period)
        i, j = motion["plane"]
        assert abs(motion["place"][i][j]) == pytest.approx(0.5**0.5)


def test_candidates_are_unit_generators_with_their_defects(asymmetric):
    motion = motions_of(asymmetric, stage(asymmetric.action, normal(2, 3)))["list"][0]
    first = asymmetric.action.matrices(asymmetric.accumulated.solution.directions[:1])[0]
    np.testing.assert_allclose(motion["place"], first / first.norm(), atol=1e-5)
    assert motion["defect"]


def test_a_product_moves_places_and_colours(images):
    action = Product(liegg.Image("affine"), liegg.Color())
    sym = liegg.discover(lambda x: x.square().mean((1, 2, 3)), images, action)
    motions = motions_of(sym, stage(action, images[:2]))["list"]
    assert motions
    for motion in motions:
        assert (len(motion["place"]), len(motion["colour"])) == (3, 4)
