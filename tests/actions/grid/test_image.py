# pyright: reportAttributeAccessIssue=false
"""Images, volumes and sequences: which generators are asked about."""

from itertools import product
from typing import Any

import jaxtyping
import pytest
import torch

import liegg
from liegg import algebra
from liegg._utils.errors import ArgumentError
from liegg.actions import Grid, Restricted
from liegg.testing import assert_same_span

MAKERS = {1: liegg.Sequence, 2: liegg.Image, 3: liegg.Volume}
GROUPS = ("linear", "affine", "similarity", "euclidean")
SIZES = {1: (1, 2, 2, 1), 2: (4, 6, 4, 3), 3: (9, 12, 7, 6)}


def test_sizes():
    for dimension in MAKERS:
        assert tuple(MAKERS[dimension](group).size for group in GROUPS) == SIZES[dimension]
        sides = tuple(MAKERS[dimension](group).ambient for group in GROUPS)
        assert sides == (
            dimension,
            *[dimension + 1] * 3,
        )  # homogeneous where there are translations


def test_defaults():
    assert liegg.Image() == liegg.Image("linear")
    assert liegg.Volume() == liegg.Volume("linear")
    assert liegg.Sequence() == liegg.Sequence("affine")
    for action in (liegg.Image(), liegg.Volume(), liegg.Sequence()):
        assert (action.settings()["derivative"], action.settings()["border"]) == (
            "secant",
            "replicate",
        )
        assert action.settings()["step"] == 1.0


def test_groups_are_closed_under_the_bracket():
    for dimension, group in product(MAKERS, GROUPS):
        action = MAKERS[dimension](group)
        matrices = action.matrices(torch.eye(action.size, dtype=torch.float64))
        assert algebra.closure_residual(matrices) < 1e-12


def test_groups_span_what_their_names_say():
    for d, make in MAKERS.items():
        stretch = torch.nn.functional.pad(liegg.scaling(d), (0, 1, 0, 1))
        known: dict[Any, torch.Tensor] = {
            "linear": liegg.algebra.gl(d),
            "affine": liegg.algebra.aff(d),
            "euclidean": liegg.se(d),
        }
        known["similarity"] = torch.cat([liegg.se(d), stretch])
        for group, span in known.items():
            action = make(group)
            matrices = action.matrices(torch.eye(action.size, dtype=torch.float64))
            assert_same_span(matrices, span, tolerance=1e-12)


def test_generators_of_your_own():
    for generators, parent, size in [
        (liegg.so(2), liegg.Image(), 1),
        (liegg.algebra.sl(2), liegg.Image(), 3),
        (torch.cat([liegg.so(2), 2 * liegg.so(2)]), liegg.Image(), 1),
        (liegg.se(2), liegg.Image("affine"), 3),
        (liegg.translation(2), liegg.Image("affine"), 2),
    ]:
        action = liegg.Image(generators)
        assert isinstance(action, Restricted)
        assert action.parent == parent
        assert action.size == size
        assert_same_span(
            action.matrices(torch.eye(size, dtype=torch.float64)), generators, tolerance=1e-12
        )


def test_knobs_reach_the_whole_action():
    knobs = {"derivative": "gaussian", "border": "zeros", "sigma": 0.5, "shape": (4, 5)}
    for group in ("euclidean", "similarity", liegg.se(2)):
        action = liegg.Image(group, **knobs)
        assert isinstance(action, Restricted)
        assert action.parent == Grid(2, True, "gaussian", "zeros", 0.5, (4, 5))
    assert liegg.Image("linear", **knobs) == Grid(2, False, "gaussian", "zeros", 0.5, (4, 5))
    assert liegg.Volume(liegg.so(3), border="zeros").settings()["parent"]["border"] == "zeros"
    assert liegg.Sequence("euclidean", border="zeros").settings()["parent"]["border"] == "zeros"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: liegg.Image("rotation"),  # pyright: ignore[reportArgumentType]
            r"group='rotation': expected 'linear', 'affine', 'similarity', 'euclidean' or a tensor \[r, n, n\]\.",
        ),
        (
            lambda: liegg.Volume("so3"),  # pyright: ignore[reportArgumentType]
            "group='so3': expected 'linear'",
        ),
        (
            lambda: liegg.Image(liegg.so(2)[0]),
            r"group=a tensor of shape \(2, 2\): expected .* or a tensor \[r, n, n\]\.",
        ),
        (lambda: liegg.Image(liegg.so(4)), r"group has shape \(6, 4, 4\); Image expects"),
        (
            lambda: liegg.Volume(liegg.so(2)),
            r"group has shape \(1, 2, 2\); Volume expects generators \[r, 3, 3\] or .*\[r, 4, 4\], "
            r"for example liegg\.so\(3\)\.",
        ),
        (
            lambda: liegg.Sequence(liegg.so(3)),
            r"group has shape \(3, 3, 3\); Sequence expects generators \[r, 1, 1\]",
        ),
        (lambda: liegg.Image(liegg.so(3)), "last row other than zero"),
        (lambda: liegg.Image(torch.zeros(2, 2, 2)), "no generator other than zero"),
    ],
)
def test_errors(monkeypatch, make, text):
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks
    with pytest.raises(ArgumentError, match=text):
        make()
