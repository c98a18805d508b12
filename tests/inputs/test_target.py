"""Targets: what they mean, and which make no sense."""

import pytest
import torch

from liegg._utils.errors import ArgumentError
from liegg.inputs.target import check_target, plain_target, take, target_words

Z = torch.tensor([[1.0, 4.0, 2.0], [5.0, -1.0, 4.5]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (1, [[4.0], [-1.0]]),
        ((2, 0), [[2.0, 1.0], [4.5, 5.0]]),
        ("2 minus 0", [[1.0], [-0.5]]),
        ("margin", [[2.0], [0.5]]),
    ],
)
def test_parts_of_outputs(target, expected):
    assert take(target, Z).tolist() == expected


def test_probabilities_sum_to_one_and_forget_a_common_shift():
    for shift in (0.0, 100.0):
        probabilities = take("probabilities", Z + shift)
        assert torch.allclose(probabilities.sum(1), torch.ones(2, dtype=torch.float64))
        assert torch.allclose(
            probabilities[0, 1] / probabilities[0, 0], torch.e ** (Z[0, 1] - Z[0, 0])
        )
        assert torch.allclose(take("log_probabilities", Z + shift).exp(), probabilities)


def test_the_margin_keeps_the_class_of_the_unmoved_sample():
    moved = torch.stack([Z, Z.flip(1)])  # two motions
    assert take("margin", moved, Z.argmax(1))[..., 0].tolist() == [[2.0, 0.5], [2.0, -0.5]]
    assert take("margin", moved)[..., 0].tolist() == [[2.0, 0.5], [2.0, 0.5]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_low_precision(dtype):
    for target in (1, (0, 2), "0 minus 1", "margin", "probabilities"):
        assert torch.allclose(take(target, Z.to(dtype)).double(), take(target, Z), atol=0.01)
    assert take("probabilities", Z.to(dtype)).dtype == torch.float32


@pytest.mark.parametrize("target", [1, (0, 2), "0 minus 1", "margin", "log_probabilities"])
def test_derivatives_of_every_kind(target):
    function = lambda z: take(target, z[None])[0]  # noqa: E731
    forward, reverse = torch.func.jacfwd(function), torch.func.jacrev(function)
    torch.testing.assert_close(torch.func.vmap(forward)(Z), torch.func.vmap(reverse)(Z))


def test_the_plainest_form():
    assert plain_target(None) is None
    assert plain_target(3) == plain_target([3]) == 3
    assert plain_target([3, 1]) == (3, 1)
    assert plain_target(range(2)) == (0, 1)
    assert plain_target("  3 minus  5 ") == "3 minus 5"
    assert plain_target("margin") == "margin"


def test_forms_that_make_no_sense():
    classes = (-1, [0, -1], [], [1, 1], True)
    words = ("3", "3-5", "Margin", "", "1 minus 1", "3 minus", "probability")
    for target in (*classes, *words):
        with pytest.raises(ArgumentError, match="target="):
            plain_target(target)


@pytest.mark.parametrize(
    ("target", "shape", "text"),
    [
        (0, (5,), "one output only"),
        ("margin", (5, 1), "one output only"),
        (3, (5, 3), "no class 3. The last one is target=2"),
        ((0, 7), (5, 3), "no class 7"),
        ("0 minus 3", (5, 3), "no class 3"),
        ("probabilities", (5, 2, 3), r"shape \(2, 3\); expected one axis of classes"),
        ("margin", (5, 3, 4, 4), r"output=lambda y: y\[:, :, 0, 0\]"),
    ],
)
def test_targets_that_an_output_does_not_have(target, shape, text):
    with pytest.raises(ArgumentError, match=text):
        check_target(target, torch.randn(shape), "Net")


def test_targets_that_an_output_has():
    for target, shape in ((5, (5, 2, 3)), ("margin", (5, 3, 1, 1)), ("probabilities", (5, 2))):
        check_target(target, torch.randn(shape), "Net")
    check_target("margin", torch.randn(5, 3).softmax(1), "Net")


@pytest.mark.parametrize("target", ["probabilities", "log_probabilities"])
def test_probabilities_are_not_taken_twice(target):
    for dtype in (torch.float64, torch.float16):
        with pytest.raises(ArgumentError, match="are probabilities already"):
            check_target(target, torch.randn(5, 3).to(dtype).softmax(1), "Net")


def test_words():
    assert target_words(None) == ""
    assert target_words("log_probabilities") == "the log-probabilities"
    assert target_words(list(range(9))) == "the logits of 9 classes"
