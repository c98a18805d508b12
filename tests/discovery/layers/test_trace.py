"""What a network calls, and which outputs are functions of one sample each."""

import pytest
import torch
from torch import nn

from cases import normal
from liegg._utils.errors import ArgumentError, ModelError
from liegg.discovery.layers.hooks import network_of
from liegg.discovery.layers.trace import trace


def calls(model, x=None, pick=lambda _call, _module: None):
    found, _ = trace(network_of(model, "Net"), normal(10, 3) if x is None else x, pick)
    return {call.name: call for call in found}


class Apply(nn.Module):
    def __init__(self, function, inner=None):
        super().__init__()
        self.function, self.inner = function, inner

    def forward(self, x):
        return self.function(x if self.inner is None else self.inner(x))


def test_leaves_blocks_and_the_very_same_tensors():
    block = Apply(lambda x: x + 1, nn.Linear(3, 3).double())
    found = calls(nn.Sequential(block, nn.Sequential(nn.Tanh(), nn.Identity())))
    assert list(found) == ["0.inner", "0", "1.0", "1.1", "1", "output"]
    assert {name: call.leaf for name, call in found.items()} == dict(
        zip(found, [True, False, True, True, False, False], strict=True)
    )
    assert {name for name, call in found.items() if call.new} == {"0.inner", "0", "1.0", "1.1"}
    assert {name: call.same for name, call in found.items() if call.same} == {
        "1.1": "1.0",
        "1": "1.0",
        "output": "1.0",
    }


def test_a_tensor_that_was_written_into_is_another():
    found = calls(nn.Sequential(nn.Linear(3, 3).double(), nn.ReLU(inplace=True)))
    assert found["1"].same == ""
    assert found["output"].same == "1"


def test_shapes_are_those_of_one_sample():
    found = calls(Apply(lambda x: x.reshape(-1, 3), Apply(lambda x: x.reshape(-1, 1))))
    assert found["inner"].shape == (3, 1)
    assert found["output"].shape == (3,)
    assert calls(Apply(lambda x: x.sum(1)))["output"].shape == ()


def test_problems():
    for function, message in [
        (
            lambda x: x.T.clone() + torch.ones(3, 3),
            "has shape (3, 3) for 3 samples: its first axis is not that of the samples",
        ),
        (
            lambda x: torch.stack([x, x, x, x]),
            "has shape (4, 3, 3) for 3 samples: its first axis is not that of the samples",
        ),
        (lambda x: x.sum(), "has shape () for 3 samples: its first axis"),
        (lambda x: x[:, :0], "has shape (3, 0) for 3 samples: its first axis"),
        (lambda x: x - x.mean(0), "for a sample changes by"),
        (lambda x: x.flip(0), "for a sample changes by"),
        (lambda x: x.argmax(1), "is a tensor of torch.int64"),
        (lambda x: (x, x), ""),
    ]:
        problem = calls(Apply(function))["output"].problem
        assert message in problem if message else not problem


def test_what_only_some_samples_show_is_found():
    """Three samples show none of it; a few in 500 do."""
    x = normal(500, 3)
    rare = (x[:, :1] > 2.2).to(x)
    assert 1 <= int(rare.sum()) <= 20
    above = lambda x: (x[:, :1] > 2.2).to(x)  # noqa: E731
    for function, kind in [
        (lambda x: x - x.mean(0) if len(x) > 64 else x, "mixing"),
        (lambda x: x + above(x) * x.mean(), "mixing"),
        (lambda x: x + above(x) * 0.01 * torch.rand((), dtype=x.dtype), "random"),
        (lambda x: x + above(x), "neither"),
    ]:
        call = calls(Apply(function), x)["output"]
        assert ("for a sample changes by" in call.problem) is (kind == "mixing")
        assert (call.random > 0) is (kind == "random")


def test_a_lone_sample_does_not_hide_its_axis():
    found = calls(Apply(lambda x: x.sum(1), Apply(lambda x: x.T.clone())), normal(1, 3))
    assert "its first axis is not that of the samples" in found["inner"].problem


def test_randomness_is_measured_and_rounding_is_not():
    assert calls(Apply(lambda x: x + torch.rand_like(x)))["output"].random > 0.01
    assert (
        calls(
            nn.Sequential(nn.Linear(3, 300), nn.Tanh(), nn.Linear(300, 2)), normal(10, 3).float()
        )["output"].random
        == 0
    )


def test_writing_into_the_input_is_noticed():
    x = normal(10, 3)
    given = x.clone()
    for function, writes in ((lambda x: x.mul_(1.0), True), (lambda x: x.mul(1.0), False)):
        assert trace(network_of(Apply(function), "Net"), x, lambda *_: None)[1] is writes
    assert torch.equal(x, given)


def test_calls_that_depend_on_the_number_of_samples_are_a_problem():
    class Shy(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3).double()

        def forward(self, x):
            return self.inner(x) if len(x) > 1 else x

    assert "it is not called for every sample alone" in calls(Shy())["inner"].problem


def test_a_picked_entry_must_exist():
    with pytest.raises(
        ArgumentError, match=r"no field 2 in what layer .* returned, a tuple with fields 0 "
    ):
        calls(Apply(lambda x: (x, x)), pick=lambda _call, _module: 2)


def test_failures_say_what_was_tried():
    with pytest.raises(
        ModelError,
        match=r"Net failed on a batch of shape \(3, 3\), dtype torch.float64: ZeroDivisionError",
    ):
        calls(Apply(lambda x: 1 / 0))


def test_modules_inside_a_transform_of_the_networks_own_are_a_problem():
    class Each(nn.Module):
        def __init__(self, outputs):
            super().__init__()
            self.inner = nn.Linear(3, outputs).double()

        def forward(self, x):
            return torch.func.vmap(self.inner)(x)

    for outputs in (2, 3, 6):
        found = calls(Each(outputs))
        assert found["inner"].problem
        assert not found["output"].problem
