"""The same call gives the same bits, and nothing of the caller's is changed."""

import random
from collections.abc import Callable
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg._utils.errors import ModelError
from liegg._utils.random import seeded


@pytest.fixture(autouse=True)
def _without_type_checks(monkeypatch):
    """As users run it: beartype itself draws from Python's generator to pick the items it looks at."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


X = torch.randn(300, 6, generator=torch.Generator().manual_seed(0))


def network() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return nn.Sequential(
            nn.Linear(6, 16), nn.BatchNorm1d(16), nn.SiLU(), nn.Dropout(0.2), nn.Linear(16, 3)
        )


def invariant(x: Tensor) -> Tensor:
    """Exactly so(3) invariant, three outputs: norms and inner product of two vectors."""
    one, other = x[:, :3], x[:, 3:]
    return torch.stack([one.square().sum(1), other.square().sum(1), (one * other).sum(1)], 1)


QUESTIONS: dict[str, Callable[[], liegg.Symmetries]] = {
    "network": lambda: liegg.discover(network(), X, liegg.Linear(3, copies=2)),
    "small batches": lambda: liegg.discover(
        network(), X, liegg.Linear(3, copies=2), run=liegg.Run(batch_size=7)
    ),
    "affine": lambda: liegg.discover(network(), X, liegg.Affine(3, copies=2)),
    "exact": lambda: liegg.discover(invariant, X, liegg.Linear(3, copies=2)),
    "jvp": lambda: liegg.discover(
        invariant, X, liegg.Linear(3, copies=2), run=liegg.Run(route="jvp")
    ),
    "autograd": lambda: liegg.discover(
        invariant, X, liegg.Linear(3, copies=2), run=liegg.Run(route="autograd")
    ),
    "random combinations": lambda: liegg.discover(
        invariant, X, liegg.Linear(3, copies=2), outputs=2
    ),
    "equivariance": lambda: liegg.discover(
        invariant, X, liegg.Linear(3, copies=2), output_action=liegg.Linear(3)
    ),
}


def bits(sym: liegg.Symmetries) -> dict[str, bytes]:
    arrays = {
        "spectrum": sym.spectrum.values,
        "basis": sym.spectrum.basis,
        "defects": sym.defects,
        "directions": sym.accumulated.solution.directions,
        "generators": sym.generators,
        "coefficients": sym.coefficients,
        "factor": sym.accumulated.factor,
        "displacement": sym.accumulated.displacement.block,
    }
    if sym.output_action is not None:
        arrays["output generators"] = sym.output_generators
    return {name: array.contiguous().numpy().tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_second_call_gives_identical_bits(ask):
    torch.manual_seed(random.randrange(2**31))  # the caller's generators do not matter
    one = ask()
    torch.manual_seed(random.randrange(2**31))
    two = ask()
    assert bits(one) == bits(two)
    assert one.decision == two.decision
    assert one.to_dict() == two.to_dict()


def surroundings() -> dict[str, Any]:
    """Everything global that a library could leave changed."""
    state = np.random.get_state(legacy=True)  # noqa: NPY002
    return {
        "torch": torch.get_rng_state().tolist(),
        "numpy": [part.tolist() if isinstance(part, np.ndarray) else part for part in state],
        "python": random.getstate(),
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "print options": repr(torch.tensor([1 / 3, 1e-9])),
    }


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_nothing_global_is_changed(ask):
    before = surroundings()
    ask()
    assert surroundings() == before


def test_nothing_global_is_changed_by_an_error():
    def draws(x: Tensor) -> Tensor:
        return x.sum(1) + torch.rand(len(x)) + random.random() + np.random.rand()  # noqa: NPY002

    before = surroundings()
    with pytest.raises(ModelError):
        liegg.discover(draws, X, liegg.Linear(6))
    assert surroundings() == before


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_the_caller_s_grad_mode_is_kept_and_does_not_matter(mode):
    known = bits(QUESTIONS["network"]())
    with mode():
        before = surroundings()
        found = QUESTIONS["network"]()
        assert surroundings() == before
    assert bits(found) == known


def test_the_caller_s_default_dtype_is_kept_and_does_not_matter():
    net = network()
    known = bits(liegg.discover(net, X, liegg.Linear(3, copies=2)))
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        found = liegg.discover(net, X, liegg.Linear(3, copies=2))
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(default)
    assert bits(found) == known


@pytest.mark.parametrize("route", ["jvp", "vjp", "autograd"])
def test_the_data_is_left_as_it_was(route):
    data = X.clone().requires_grad_()
    data.square().sum().backward()
    gradient, version, pointer = data.grad, data._version, data.data_ptr()
    liegg.discover(network(), data, liegg.Linear(3, copies=2), run=liegg.Run(route=route))
    assert torch.equal(data, X)
    assert data.requires_grad
    assert data.grad is gradient
    assert gradient is not None
    assert torch.equal(gradient, 2 * X)
    assert (data._version, data.data_ptr()) == (version, pointer)


def test_an_array_is_left_as_it_was():
    array = X.numpy().copy()
    array.flags.writeable = False
    liegg.discover(invariant, array, liegg.Linear(3, copies=2))
    assert np.array_equal(array, X.numpy())
    assert not array.flags.writeable


@pytest.mark.parametrize("ask", ["invariance", "equivariance"])
def test_the_model_is_left_as_it_was(ask):
    net = network().train()
    state = {name: value.clone() for name, value in net.state_dict().items()}
    liegg.discover(
        net,
        X,
        liegg.Linear(3, copies=2),
        output_action=liegg.Linear(3) if ask == "equivariance" else None,
    )
    assert net.training
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in net.parameters())


def test_the_result_holds_nothing_of_the_caller_s():
    net, data = network(), X.clone()
    sym = liegg.discover(net, data, liegg.Linear(3, copies=2))
    known = bits(sym)
    data.zero_()
    for parameter in net.parameters():
        parameter.data.zero_()
    assert bits(sym) == known
    assert not sym.accumulated.factor.requires_grad


# The seeded block itself


def draw_all() -> tuple[float, float, float]:
    return float(torch.rand(())), float(np.random.rand()), random.random()  # noqa: NPY002


def test_seeded_repeats_its_draws_and_puts_the_generators_back():
    before = surroundings()
    with seeded(3):
        one = draw_all()
    with seeded(3):
        again = draw_all()
    with seeded(4):
        other = draw_all()
    assert surroundings() == before
    assert one == again
    assert not set(one) & set(other)


def test_seeded_puts_the_generators_back_after_an_error():
    before = surroundings()

    def fail() -> None:
        with seeded(3):
            draw_all()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert surroundings() == before


@pytest.mark.parametrize("seed", [0, -1, 2**40])
def test_seeded_takes_any_integer(seed):
    with seeded(seed):
        assert all(0 <= value < 1 for value in draw_all())


def test_seeded_queues_nothing_for_an_accelerator_that_is_not_started(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "manual_seed_all", calls.append)
    with seeded(0):
        draw_all()
    assert calls == []
