"""Arguments and samples of grids: what is refused, what comes back from settings, files and repr."""

import math
import re
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions import Grid, Restricted, action_from_settings

# Errors


WRONG_SHAPES = [
    (
        liegg.Image(),
        (28, 28, 3),
        r"shape \(28, 28, 3\), which looks like channels last; Image\(\) expects \[height, width\] or "
        r"\[channels, height, width\]\. Move them first: data\.permute\(0, 3, 1, 2\)\.",
    ),
    (
        liegg.Volume(),
        (8, 9, 10, 2),
        r"looks like channels last; Volume.*data\.permute\(0, 4, 1, 2, 3\)\.",
    ),
    (
        liegg.Image(),
        (16, 8, 4),
        r"If the last axis really is space, say so: Image\(shape=\(16, 8, 4\)\)\.",
    ),
    (
        liegg.Sequence(),
        (5000,),
        r"5000 places along an axis; Sequence\(\) takes at most 4096\. Cut it into shorter pieces",
    ),
    (
        liegg.Image(),
        (784,),
        r"a sample has shape \(784,\); Image\(\) expects \[height, width\] or \[channels, height, "
        r"width\]\. For flat samples state their shape: Image\(shape=\(28, 28\)\)\.",
    ),
    (liegg.Image(), (783,), r"state their shape: Image\(shape=\(\.\.\., \.\.\.\)\)\."),
    (
        liegg.Volume(),
        (27,),
        r"Volume\(\) expects \[depth, height, width\] or .* Volume\(shape=\(3, 3, 3\)\)\.",
    ),
    (
        liegg.Image(),
        (2, 3, 8, 8),
        r"shape \(2, 3, 8, 8\); Image\(\) expects \[height, width\] or \[channels, height, width\]",
    ),
    (liegg.Image(), (), r"shape \(\); Image\(\) expects"),
    (
        liegg.Sequence(),
        (2, 3, 9),
        r"shape \(2, 3, 9\); Sequence\(\) expects \[length\] or \[channels, length\]\.$",
    ),
    (
        liegg.Image(shape=(4, 5)),
        (21,),
        r"a sample has shape \(21,\); Image\(shape=\(4, 5\)\) expects that shape, or \(20,\)\.",
    ),
    (
        liegg.Image(shape=(4, 5)),
        (5, 4),
        r"shape \(5, 4\); Image\(shape=\(4, 5\)\) expects that shape",
    ),
    (liegg.Image(), (1, 1), r"shape \(1, 1\): a grid of one pixel cannot move\."),
    (liegg.Sequence(), (3, 1), "a grid of one pixel"),
    (liegg.Image("euclidean"), (784,), "For flat samples state their shape"),
]


def test_samples_that_do_not_fit():
    for action, shape, text in WRONG_SHAPES:
        with pytest.raises(ShapeError, match=text):
            action.check(shape)


def test_samples_that_fit():
    for shape in [(28, 28), (3, 28, 28), (1, 28), (5, 1), (4, 4, 4), (3, 3, 3), (28, 28, 28)]:
        liegg.Image().check(shape)
    liegg.Image(shape=(16, 8, 4)).check((16, 8, 4))  # a stated shape is believed
    liegg.Image(shape=(8, 8, 3)).check((192,))
    with pytest.raises(ShapeError):
        liegg.Image().check((16, 8, 4))


WRONG_KNOBS = [
    (
        {"derivative": "sobel"},
        "derivative='sobel': expected 'secant', 'spectral', 'central', 'gaussian' or 'paper'.",
    ),
    ({"border": "mirror"}, "border='mirror': expected 'replicate', 'zeros' or 'periodic'."),
    ({"sigma": 0.0}, "sigma=0.0: expected a width of 0.1 to 1000 pixels, for example sigma=1.0."),
    ({"sigma": -1}, "sigma=-1.0: expected a width of 0.1 to 1000"),
    ({"sigma": math.nan}, "sigma=nan: expected a number"),
    ({"sigma": math.inf}, "sigma=inf: expected a width of 0.1 to 1000"),
    ({"step": 0.0}, "step=0.0: expected a distance from 0.01 to 1 pixels, for example step=1.0."),
    ({"step": 1.5}, "step=1.5: expected a distance from 0.01 to 1"),
    ({"step": math.nan}, "step=nan: expected a number"),
    (
        {"shape": (784,)},
        r"Image\(shape=\(784,\)\): expected \(height, width\) or \(channels, height, width\).",
    ),
    ({"shape": (1, 3, 28, 28)}, r"Image\(shape=\(1, 3, 28, 28\)\): expected"),
    ({"shape": (0, 28)}, r"Image\(shape=\(0, 28\)\): expected"),
]


def test_invalid_arguments(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as users run it
    for knobs, text in WRONG_KNOBS:
        with pytest.raises(ArgumentError, match=text):
            liegg.Image(**knobs)


def test_a_shape_may_be_a_list(monkeypatch):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    assert liegg.Image(shape=[4, 5]) == liegg.Image(shape=(4, 5))  # pyright: ignore[reportArgumentType]


def test_shapes_of_the_other_dimensions_in_messages():
    with pytest.raises(
        ArgumentError,
        match=r"Sequence\(shape=\(1, 2, 3\)\): expected \(length,\) or \(channels, length\)\.",
    ):
        liegg.Sequence(shape=(1, 2, 3))
    with pytest.raises(
        ArgumentError,
        match=r"Volume\(shape=\(2, 3\)\): expected \(depth, height, width\) or \(channels, depth, ",
    ):
        liegg.Volume(shape=(2, 3))


# Settings, files, repr

ACTIONS = {
    "linear": liegg.Image(),
    "affine": liegg.Image(
        "affine", derivative="gaussian", sigma=0.7, border="periodic", shape=(4, 5)
    ),
    "similarity": liegg.Image("similarity"),
    "custom": liegg.Image(liegg.so(2), derivative="central", shape=(2, 5, 6)),
    "volume": liegg.Volume("affine", border="zeros"),
    "sequence": liegg.Sequence(derivative="paper"),
    "color": liegg.Color(channels=2),
    "tone": liegg.Color("tone", channels=2, shape=(2, 5, 6)),
    "product": liegg.Product(
        liegg.Image(), liegg.Color("tone", channels=2), liegg.Color("linear", channels=2)
    ),
}


def assert_same_action(one, other):
    assert type(one) is type(other)
    assert one.settings() == other.settings()
    if isinstance(one, Restricted):
        assert one.parent == other.parent
        assert torch.equal(one.basis, other.basis)
    elif isinstance(one, Grid):
        assert one == other


def test_settings_make_it_again():
    for action in ACTIONS.values():
        assert_same_action(action_from_settings(action.settings()), action)


def test_results_come_back_from_disk(tmp_path):
    for name, sample in [("affine", (20,)), ("custom", (60,)), ("product", (2, 5, 6))]:
        model = torch.nn.Sequential(torch.nn.Flatten(), mlp(math.prod(sample), 8, 2))
        sym = liegg.discover(model, normal(50, *sample), ACTIONS[name])
        again = liegg.load(sym.save(tmp_path / name))
        assert_same_action(again.action, ACTIONS[name])
        assert torch.equal(again.defects, sym.defects)
        assert torch.equal(again.coefficients, sym.coefficients)


PRINTED = [
    liegg.Image(),
    liegg.Image("affine", derivative="gaussian", sigma=0.7, border="periodic", shape=(4, 5)),
    liegg.Volume("affine", border="zeros"),
    liegg.Volume(derivative="paper"),
    liegg.Sequence(),
    liegg.Sequence("linear", derivative="central"),
    liegg.Product(liegg.Image(), liegg.Sequence()),
    liegg.Image(sigma=2.0),
    liegg.Color(),
    liegg.Color("linear", channels=1),
    liegg.Product(liegg.Image(), liegg.Color()),
]


def test_repr_makes_it_again():
    for action in PRINTED:
        assert eval(repr(action), dict(vars(liegg))) == action


def test_actions_are_values():
    assert liegg.Image(shape=(4, 5)) == liegg.Image(shape=(4, 5))
    assert hash(liegg.Image(shape=(4, 5))) == hash(liegg.Image(shape=(4, 5)))
    assert (
        len(
            {
                liegg.Image(),
                liegg.Image("affine"),
                liegg.Image(border="zeros"),
                liegg.Image(derivative="paper"),
                liegg.Volume(),
            }
        )
        == 5
    )


loose: Any = liegg
"""The package as a user without a type checker has it."""


WRONG_KINDS = [
    (
        lambda: loose.Image(np.eye(2)),
        "group=an array of shape (2, 2): expected 'linear', 'affine', 'similarity', 'euclidean' or a tensor",
    ),
    (
        lambda: loose.Image(torch.full((1, 2, 2), torch.nan)),
        "expected a real floating point tensor of finite numbers",
    ),
    (
        lambda: loose.Image(torch.eye(2, dtype=torch.complex64)[None]),
        "generators were given as torch.complex64",
    ),
    (lambda: loose.Image(sigma=None), "sigma=None: expected a number"),
    (lambda: loose.Image(shape="28x28"), "shape='28x28': expected a list or None"),
    (
        lambda: loose.Image(shape=(12.5, 12)),
        "shape=(12.5, 12): expected a list, each member a whole number or None",
    ),
    (lambda: loose.Color(channels=2.5), "channels=2.5: expected a whole number"),
    (
        lambda: loose.Image().restrict(np.eye(2, dtype=int)[None]),
        "generators were given as ndarray",
    ),
    (
        lambda: loose.Image().act(torch.zeros(5), torch.zeros(1, 4, 4)),
        "a motion was given as shape (5,); expected one generator",
    ),
    (
        lambda: loose.Image().act([0.0], torch.zeros(1, 4, 4)),
        "a motion was given as list; expected one generator",
    ),
    (
        lambda: loose.Image().act(torch.zeros(4), torch.zeros(2, 784)),
        "For flat samples state their shape: Image(shape=(28, 28))",
    ),
]


def test_wrong_kinds_of_arguments(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    for make, text in WRONG_KINDS:
        with pytest.raises(liegg.LieggError, match=re.escape(text)):
            make()


def test_smaller_groups_keep_their_name():
    for action in (
        liegg.Image("similarity"),
        liegg.Volume("euclidean"),
        liegg.Color("tone", channels=1),
    ):
        assert eval(repr(action), dict(vars(liegg))).settings() == action.settings()
        assert repr(action_from_settings(action.settings())) == repr(action)


def test_a_frame_that_makes_no_sense():
    with pytest.raises(ArgumentError, match="frame=-1: expected a number of pixels, 0 or more"):
        liegg.Image(frame=-1)
    with pytest.raises(ShapeError, match="a frame of 4 pixels leaves nothing of it"):
        liegg.Image(frame=4).check((8, 9))
