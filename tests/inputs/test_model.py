"""Stage 1': any model becomes a function in eval mode, the caller's is left exactly as it was, and a bad one is named."""

import copy
import functools
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ModelError
from liegg.inputs.model import eval_view
from liegg.inputs.probe import probe

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LINEAR = liegg.Linear(3)


def network() -> Any:
    """Dropout, batch norm with a history, a frozen weight, gradients and hooks, in train mode with one part in eval mode."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net: Any = nn.Sequential(
            nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 2)
        ).double()
        net(X)
        net(X).sum().backward()
    net[2].eval()
    net[0].bias.requires_grad_(False)
    net[4].bias.grad = None
    net[0].register_forward_hook(lambda *_: None)
    net[4].register_forward_pre_hook(lambda *_: None)
    return net


def snapshot(module: nn.Module) -> dict[str, Any]:
    """Everything of a module that a caller can see; tensors by identity and by value."""
    tensors = [*module.named_parameters(), *module.named_buffers()]
    return {
        "modes": [part.training for part in module.modules()],
        "identities": [
            (name, id(tensor), tensor.data_ptr(), tensor.requires_grad) for name, tensor in tensors
        ],
        "values": [
            tensor.detach().clone().view(torch.uint8).tolist()
            for _, tensor in tensors
            if tensor.ndim
        ],
        "gradients": [None if p.grad is None else p.grad.tolist() for p in module.parameters()],
        "hooks": [
            (len(part._forward_hooks), len(part._forward_pre_hooks)) for part in module.modules()
        ],
        "attributes": [sorted(vars(part)) for part in module.modules()],
    }


class Holder:
    """Not a module, but holds some."""

    def __init__(self, net: nn.Module) -> None:
        self.nets = {"main": [net]}

    def __call__(self, x: Tensor) -> Tensor:
        return self.nets["main"][0](x)

    def predict(self, x: Tensor) -> Tensor:
        return self(x)


def second(_: int, x: Tensor, net: nn.Module) -> Tensor:
    return net(x)


def default(net: nn.Module) -> Callable[[Tensor], Tensor]:
    return lambda x, inner=net: inner(x)


WRAPPINGS: dict[str, Callable[[nn.Module], Any]] = {
    "module": lambda net: net,
    "compiled module": lambda net: torch.compile(net, backend="eager"),
    "lambda": lambda net: lambda x: net(x),
    "lambda on a lambda": lambda net: lambda x, f=lambda x: net(x): f(x),
    "default argument": default,
    "inner function": lambda net: lambda x: torch.stack([net(row[None])[0] for row in x]),
    "partial": lambda net: functools.partial(second, 0, net=net),
    "bound method": lambda net: net.forward,
    "vmap": lambda net: torch.func.vmap(lambda row: net(row[None])[0]),
    "object": Holder,
    "method of an object": lambda net: Holder(net).predict,
}


@pytest.mark.parametrize("wrap", WRAPPINGS.values(), ids=WRAPPINGS)
def test_a_model_in_train_mode_is_analysed_in_eval_mode_and_left_as_it_was(wrap):
    net = network()
    known = liegg.discover(copy.deepcopy(net).eval(), X, LINEAR)
    model = wrap(net)
    before = snapshot(net)
    found = liegg.discover(model, X, LINEAR)
    assert snapshot(net) == before
    torch.testing.assert_close(
        found.accumulated.factor, known.accumulated.factor, rtol=1e-10, atol=1e-12
    )


def test_a_global_module_is_found_and_left_as_it_was():
    scope: dict[str, Any] = {"net": network()}
    exec("def inner(x): return net(x)\ndef model(x): return inner(x)", scope)
    before = snapshot(scope["net"])
    liegg.discover(scope["model"], X, LINEAR)
    assert snapshot(scope["net"]) == before


@pytest.mark.parametrize("fault", ["model", "data"])
def test_a_model_is_left_as_it_was_after_an_error(fault):
    net = network()
    before = snapshot(net)
    with pytest.raises(liegg.LieggError):
        liegg.discover(
            (lambda x: net(x)[0]) if fault == "model" else net,
            X if fault == "model" else X[:, :2],
            LINEAR,
        )
    assert snapshot(net) == before


class Counter(nn.Module):
    """Counts its calls in two buffers: one written in place, one replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("written", torch.zeros(1))
        self.register_buffer("replaced", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.get_buffer("written").add_(1)
        self.replaced = self.get_buffer("replaced") + 1
        return x.square().sum(1)


def test_buffers_that_move_in_eval_mode_are_put_back():
    counter = Counter()
    before = snapshot(counter)
    sym = liegg.discover(counter, X, LINEAR)
    assert snapshot(counter) == before
    assert sym.nullity == 3


def test_a_module_that_cannot_be_copied_is_analysed_in_place_and_put_back():
    locked: Any = nn.Sequential(network(), Counter())
    locked.lock = threading.Lock()
    before = snapshot(locked)
    sym = liegg.discover(locked, X, LINEAR)
    assert snapshot(locked) == before
    assert sym.notes[0].diagnosis is Diagnosis.MODEL_NOT_COPIED
    assert "cannot pickle" in sym.notes[0].values["error"]
    known = liegg.discover(nn.Sequential(network(), Counter()), X, LINEAR)
    torch.testing.assert_close(sym.accumulated.factor, known.accumulated.factor)


class Merging(nn.Linear):
    """Adds its low-rank part to the weight on eval and takes it away on train, as loralib does."""

    def __init__(self) -> None:
        super().__init__(3, 3, dtype=torch.float64)
        self.low = nn.Parameter(torch.full((3, 3), 0.5, dtype=torch.float64))

    def train(self, mode: bool = True) -> "Merging":
        super().train(mode)
        self.weight.data += -self.low if mode else self.low
        return self


class MergingEval(nn.Module):
    """Rewrites the weights of a child in `eval`."""

    def __init__(self, inner: nn.Linear) -> None:
        super().__init__()
        self.inner = inner

    def eval(self) -> "MergingEval":
        self.inner.weight.data.mul_(2)
        return super().eval()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class MergingParent(nn.Module):
    """Rewrites the weights of a child in `train`."""

    def __init__(self, inner: nn.Linear) -> None:
        super().__init__()
        self.inner = inner

    def train(self, mode: bool = True) -> "MergingParent":
        self.inner.weight.data.mul_(0.5 if mode else 2)
        return super().train(mode)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


def tied(inner: nn.Linear) -> nn.Module:
    """The same weight in a plain layer and under a `train` of its own; the plain one comes last."""
    plain = nn.Linear(3, 3, bias=False, dtype=torch.float64)
    plain.weight = inner.weight
    return nn.Sequential(MergingParent(inner), plain)


@pytest.mark.parametrize(
    "build",
    [
        Merging,
        lambda: nn.Sequential(Merging(), nn.Tanh()),
        lambda: MergingEval(nn.Linear(3, 3, dtype=torch.float64)),
        lambda: MergingParent(nn.Linear(3, 3, dtype=torch.float64)),
        lambda: tied(nn.Linear(3, 3, dtype=torch.float64)),
    ],
    ids=["own weight", "inside", "eval of a parent", "train of a parent", "tied"],
)
def test_a_train_method_that_rewrites_weights_does_not_reach_the_caller_s(build):
    net = build()
    before = snapshot(net)
    known = liegg.discover(
        copy.deepcopy(net).eval(), X, LINEAR
    )  # `eval` once here, once more inside
    found = liegg.discover(net, X, LINEAR)
    assert snapshot(net) == before
    assert not torch.equal(
        found.accumulated.factor, known.accumulated.factor
    )  # so the rewriting did happen, on the copy


def test_tied_weights_stay_tied():
    net: Any = nn.Sequential(
        nn.Linear(3, 3, bias=False), nn.Tanh(), nn.Linear(3, 3, bias=False)
    ).double()
    net[2].weight = net[0].weight
    before = snapshot(net)
    with eval_view(net) as model:
        inner: Any = model.function
        assert inner[0].weight is inner[2].weight
        assert inner[0].weight.data_ptr() == net[0].weight.data_ptr()
    liegg.discover(net, X, LINEAR)
    assert snapshot(net) == before


def test_a_module_with_lazy_parameters_is_refused():
    lazy = nn.LazyLinear(2)
    with pytest.raises(
        ModelError, match=re.escape("LazyLinear has lazy parameters that do not exist yet.")
    ):
        liegg.discover(lazy, X, LINEAR)
    assert isinstance(lazy.weight, nn.UninitializedParameter)


# Exported programs


def exported(module: nn.Module, *, dynamic: bool) -> torch.export.ExportedProgram:
    shapes = ({0: torch.export.Dim("batch")},) if dynamic else None
    return torch.export.export(
        module, (torch.randn(8, 3, dtype=torch.float64),), dynamic_shapes=shapes
    )


def test_an_exported_program_gives_what_its_module_gives():
    net = network().eval()
    found, known = (
        liegg.discover(exported(net, dynamic=True), X, LINEAR),
        liegg.discover(net, X, LINEAR),
    )
    torch.testing.assert_close(
        found.accumulated.factor, known.accumulated.factor, rtol=1e-10, atol=1e-12
    )


def test_an_exported_program_s_buffers_are_left_as_they_were():
    program = exported(Counter(), dynamic=True)
    liegg.discover(program, X, LINEAR)
    assert {name: float(value) for name, value in program.state_dict.items()} == {
        "written": 0.0,
        "replaced": 0.0,
    }


def test_an_exported_program_with_a_fixed_batch_says_what_to_type():
    text = re.escape(
        "an exported program needs a dynamic batch axis (dynamic_shapes={'x': {0: torch.export.Dim('batch')}})"
    )
    with pytest.raises(ModelError, match=text):
        liegg.discover(exported(nn.Linear(3, 1).double(), dynamic=False), X, LINEAR)


# Outputs


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (2, 1, 2)])
def test_outputs_of_any_shape_are_flattened(shape):
    weight = torch.randn(3, *shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    with eval_view(lambda x: torch.tensordot(x, weight, 1)) as model:
        probed = probe(model, X)
        assert probed.output_shape == shape
        assert torch.equal(probed(X), X @ weight.reshape(3, -1))


def test_a_model_that_works_in_place_on_its_input():
    net = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 2)).double()
    data = X.clone()
    found = liegg.discover(net, data, LINEAR)
    assert torch.equal(data, X)
    known = liegg.discover(lambda x: net[1](x.relu()), X, LINEAR)
    torch.testing.assert_close(found.accumulated.factor, known.accumulated.factor)


def test_of_a_constant_function_without_a_derivative_nothing_is_said():
    sym = liegg.discover(lambda x: torch.ones(len(x), 2, dtype=x.dtype), X, LINEAR)
    assert (sym.nullity, sym.decision.undecided) == (0, 9)
    assert sym.decision.warnings[0].diagnosis is Diagnosis.CONSTANT_OUTPUT


def test_a_caller_in_inference_mode():
    net = network()
    known = liegg.discover(net, X, LINEAR)
    with torch.inference_mode():
        found = liegg.discover(net, X.clone(), LINEAR)
        assert torch.is_inference_mode_enabled()
    torch.testing.assert_close(found.defects, known.defects, rtol=1e-9, atol=1e-12)


def test_names():
    def named(x: Tensor) -> Tensor:
        return x.sum(1)

    cases = [
        (network(), "Sequential"),
        (named, "named"),
        (Holder(network()), "Holder"),
        (network().forward, "forward"),
    ]
    for model, name in cases:
        with eval_view(model) as view:
            assert view.name == name
