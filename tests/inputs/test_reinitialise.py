"""Fresh weights: everything that can be reset is, what cannot is named, and the caller's model is left as it was."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize

from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, EmptyDataError, ModelError
from liegg.inputs.reinitialise import CALIBRATION_BATCHES, calibrate, reinitialise


class Bare(nn.Module):
    """A layer that resets itself, and a parameter that nothing resets."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.shift = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) + self.shift


class Mended(Bare):
    def reset_parameters(self) -> None:
        nn.init.normal_(self.shift)


class Halved(nn.Module):
    """Its reset calls its children's, and then does something to their weights."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))

    def reset_parameters(self) -> None:
        for part in self.inner:
            part.reset_parameters()  # pyright: ignore[reportCallIssue]
        self.inner[1].weight.zero_()  # pyright: ignore[reportCallIssue]

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class Spread(nn.Module):
    """A reset with an argument that has a default."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def reset_parameters(self, size: float = 7.0) -> None:
        nn.init.constant_(self.weight, size)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Demanding(Spread):
    """A reset that cannot be called without being told how."""

    def reset_parameters(self, size: float) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        nn.init.constant_(self.weight, size)


class Replacing(Spread):
    """A reset that makes new parameters."""

    def reset_parameters(self, size: float = 5.0) -> None:
        self.weight = nn.Parameter(torch.full((3,), size))


class Behind(Spread):
    """A reset that torch does not count as a write."""

    def reset_parameters(self, size: float = 3.0) -> None:
        self.weight.data.fill_(size)


class Tied(nn.Module):
    def __init__(self, kind: type[nn.Module] = Spread) -> None:
        super().__init__()
        self.one, self.two = kind(), kind()
        self.two.weight = self.one.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.two(torch.tanh(self.one(x)))


class Doubled(nn.Module):
    """A parametrization without an inverse."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 2, 3),
        nn.BatchNorm2d(2),
        nn.Flatten(),
        nn.Linear(32, 2),
    )


def parametrized(how: Callable[..., nn.Module], **knobs: Any) -> nn.Module:
    return nn.Sequential(how(nn.Linear(3, 4), **knobs), nn.Tanh(), how(nn.Linear(4, 4), **knobs))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)), (3,)),
    "norms": (
        lambda: nn.Sequential(
            nn.Linear(3, 4), nn.LayerNorm(4), nn.PReLU(), nn.GroupNorm(2, 4), nn.RMSNorm(4)
        ),
        (3,),
    ),
    "convolutional": (convolutional, (1, 8, 8)),
    "encoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2
        ),
        (5, 4),
    ),
    "attention": (lambda: Attending(), (5, 4)),
    "lstm": (lambda: First(nn.LSTM(3, 4, 2, batch_first=True)), (5, 3)),
    "weight norm": (lambda: parametrized(parametrizations.weight_norm), (3,)),
    "orthogonal": (lambda: parametrized(parametrizations.orthogonal), (3,)),
    "orthogonal, no base": (
        lambda: parametrized(parametrizations.orthogonal, use_trivialization=False),
        (3,),
    ),
    "spectral norm": (lambda: parametrized(parametrizations.spectral_norm), (3,)),
    "tied": (Tied, (3,)),
    "mended": (Mended, (3,)),
    "nested": (Halved, (3,)),
}


class First(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)[0]


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x)[0]


def trained(build: Callable[[], nn.Module]) -> nn.Module:
    """A model whose parameters and statistics are all away from where they started, with gradients and modes of their own."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = build()
        model.requires_grad_(True)
        for weight in model.parameters():
            weight.data += 0.1 + 0.1 * torch.rand_like(weight)
            weight.grad = torch.ones_like(weight)
        for buffer in model.buffers():
            if buffer.is_floating_point() and not any(
                parametrize.is_parametrized(part) for part in model.modules()
            ):
                buffer += 1.5
    next(model.parameters()).requires_grad_(False)
    list(model.modules())[-1].eval()
    return model


def state(model: nn.Module) -> dict[str, Any]:
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return {
        "modes": [part.training for part in model.modules()],
        "classes": [
            (type(p), [key for key, value in vars(type(p)).items() if isinstance(value, property)])
            for p in model.modules()
        ],
        "tensors": [
            (name, id(t), t._version, t.requires_grad, t.dtype, t.tolist()) for name, t in tensors
        ],
        "gradients": [None if p.grad is None else p.grad.tolist() for p in model.parameters()],
    }


def numpy_state() -> list[int]:
    state: Any = np.random.get_state()  # noqa: NPY002
    return state[1].tolist()


def values(model: nn.Module) -> dict[str, Any]:
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_is_fresh_and_the_model_is_as_it_was(name):
    build, shape = MODELS[name]
    model = trained(build)
    x = normal(6, *shape).float()
    with torch.no_grad():
        once = model(x)
    before, states = state(model), (torch.get_rng_state(), numpy_state())
    fresh = reinitialise(model, seed=3)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert numpy_state() == states[1]
    assert state(model) == before
    assert fresh.unchanged == ()
    pairs = list(zip(fresh.module.parameters(), model.parameters(), strict=True))
    assert not any(torch.equal(new, old) for new, old in pairs)
    assert [(w.requires_grad, w.grad) for w, _ in pairs] == [
        (w.requires_grad, None) for _, w in pairs
    ]
    assert [p.training for p in fresh.module.modules()] == [p.training for p in model.modules()]
    assert list(fresh.module.state_dict()) == list(model.state_dict())
    with torch.no_grad():
        y = fresh.module(x)
    assert y.shape == once.shape
    assert bool(y.isfinite().all())
    with torch.no_grad():
        assert state(model) == before


@pytest.mark.parametrize("name", MODELS)
def test_a_seed_gives_the_same_weights_whatever_they_were_before(name):
    build, _ = MODELS[name]
    model, other = trained(build), build()
    first = values(reinitialise(model, seed=5).module)
    torch.rand(7, generator=torch.default_generator)
    assert values(reinitialise(model, seed=5).module) == first
    weights = {
        key: value
        for key, value in values(reinitialise(other, seed=5).module).items()
        if "_u" not in key and "_v" not in key
    }
    assert weights == {
        key: first[key] for key in weights
    }  # spectral norm's vectors are where its iteration went
    if name not in ("tied", "norms"):
        assert values(reinitialise(model, seed=6).module) != first


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
@settings(max_examples=20, deadline=None)
def test_seeds_are_told_apart(one, other):
    first, second = (
        values(reinitialise(nn.Linear(4, 4), seed=seed).module) for seed in (one, other)
    )
    assert (first == second) == (one == other)


def test_weights_are_those_of_a_new_model():
    """The law of the weights is that of the class: a single layer drawn under the same seed is the same to the bit."""
    fresh = reinitialise(trained(lambda: nn.Linear(5, 7)), seed=11).module
    with torch.random.fork_rng():
        torch.manual_seed(11)
        new = nn.Linear(5, 7)
    assert values(fresh) == values(new)


def test_attention_is_reset_from_the_inside_out():
    fresh: Any = reinitialise(trained(Attending), seed=0).module.requires_grad_(False)
    assert (
        float(fresh.attention.out_proj.bias.abs().max()) == 0
    )  # the attention's own rule, not the linear layer's
    bound = (6 / 16) ** 0.5  # Xavier of [12, 4]
    assert 0.5 * bound < float(fresh.attention.in_proj_weight.abs().max()) <= bound


def test_a_parent_has_the_last_word():
    fresh: Any = reinitialise(trained(Halved), seed=0).module.requires_grad_(False)
    assert float(fresh.inner[1].weight.abs().max()) == 0
    assert float(fresh.inner[0].weight.abs().max()) > 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_dtype_is_kept(dtype):
    fresh = reinitialise(convolutional().to(dtype), seed=0).module
    assert {t.dtype for t in fresh.state_dict().values()} == {dtype, torch.int64}


# Parametrized weights


def test_weight_norm_stands_for_a_fresh_weight():
    fresh: Any = reinitialise(
        trained(lambda: parametrizations.weight_norm(nn.Linear(3, 4))), seed=2
    ).module
    with torch.random.fork_rng():
        torch.manual_seed(2)
        new: Any = parametrizations.weight_norm(nn.Linear(3, 4))
    assert values(fresh) == values(new)
    torch.testing.assert_close(fresh.weight, new.weight, rtol=0, atol=0)


@pytest.mark.parametrize(
    "knobs", [{}, {"use_trivialization": False}, {"orthogonal_map": "householder"}]
)
def test_orthogonal_weights_are_fresh_and_orthogonal(knobs):
    model: Any = trained(lambda: parametrizations.orthogonal(nn.Linear(4, 4), **knobs))
    fresh: Any = reinitialise(model, seed=2).module.requires_grad_(False)
    torch.testing.assert_close(fresh.weight @ fresh.weight.mT, torch.eye(4), atol=1e-5, rtol=0)
    assert float((fresh.weight - model.weight).detach().norm()) > 0.1


@pytest.mark.parametrize("training", [True, False])
def test_spectral_norm_is_that_of_the_fresh_weight(training):
    model = trained(lambda: parametrizations.spectral_norm(nn.Linear(6, 5))).train(training)
    fresh: Any = reinitialise(model, seed=2).module.eval().requires_grad_(False)
    assert abs(float(torch.linalg.matrix_norm(fresh.weight, 2)) - 1) < 1e-3


def test_a_parametrization_without_an_inverse_is_applied_to_a_fresh_weight():
    model: Any = nn.Linear(3, 3)
    parametrize.register_parametrization(model, "weight", Doubled())
    fresh: Any = reinitialise(model, seed=4).module
    with torch.random.fork_rng():
        torch.manual_seed(4)
        new = nn.Linear(3, 3)
    assert torch.equal(fresh.weight, 2 * new.weight)
    assert parametrize.is_parametrized(model, "weight")
    assert torch.equal(model.weight, 2 * model.parametrizations.weight.original)


def test_two_parametrized_tensors_of_one_module():
    model: Any = nn.Linear(3, 3)
    for name in ("weight", "bias"):
        parametrize.register_parametrization(model, name, Doubled())
    fresh: Any = reinitialise(model, seed=4)
    assert type(fresh.module) is type(model)
    assert fresh.unchanged == ()
    assert not torch.equal(fresh.module.bias, model.bias)


# Weights that are shared, replaced, or written behind torch's back


@pytest.mark.parametrize(("kind", "value"), [(Spread, 7.0), (Replacing, 5.0), (Behind, 3.0)])
def test_tied_weights_stay_tied(kind, value):
    fresh: Any = reinitialise(Tied(kind), seed=0)
    assert fresh.module.one.weight is fresh.module.two.weight
    assert fresh.module.one.weight.tolist() == [value] * 3
    assert fresh.unchanged == ()


def test_a_replaced_parameter_keeps_its_flag():
    model: Any = Replacing().double()
    model.weight.requires_grad_(False)
    weight: Any = reinitialise(model, seed=0).module.weight
    assert (weight.tolist(), weight.requires_grad, weight.dtype) == (
        [5.0] * 3,
        False,
        torch.float64,
    )


def test_a_reset_on_the_instance_does_not_reach_the_model():
    model: Any = nn.Sequential(nn.Linear(2, 2), Bare())
    shift = model[1].shift
    model[1].reset_parameters = lambda: shift.data.zero_()
    assert reinitialise(model, seed=0).unchanged == ("1.shift",)
    assert shift.tolist() == [1.0] * 3


def test_weights_that_were_never_trained_are_reset_all_the_same():
    assert reinitialise(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)), seed=0).unchanged == ()


# What cannot be reset


def test_bare_parameters_are_named():
    fresh: Any = reinitialise(nn.Sequential(Bare(), Mended()), seed=0)
    assert fresh.unchanged == ("0.shift",)
    assert [note.diagnosis for note in fresh.notes] == [Diagnosis.PARAMETERS_NOT_RESET]
    assert fresh.notes[0].values == {"n": 1, "total": 6, "names": "0.shift"}
    assert fresh.module[0].shift.tolist() == [1.0] * 3


def test_many_names_are_cut():
    fresh = reinitialise(nn.Sequential(*[Bare() for _ in range(7)]), seed=0)
    assert len(fresh.unchanged) == 7
    assert fresh.notes[0].values["names"] == "0.shift, 1.shift, 2.shift, 3.shift, 4.shift, …"


def test_a_reset_with_arguments():
    fresh: Any = reinitialise(nn.Sequential(Spread(), Demanding()), seed=0)
    assert fresh.module[0].weight.tolist() == [7.0] * 3
    assert fresh.unchanged == ("1.weight",)
    assert fresh.notes[0].diagnosis is Diagnosis.RESET_NOT_CALLED
    assert fresh.notes[0].values["module"] == "1"


class Broken(Spread):
    def reset_parameters(self, size: float = 0.0) -> None:
        raise KeyError("gone")


class Uncopied(nn.Linear):
    def __deepcopy__(self, memo: dict[int, Any]) -> "Uncopied":
        raise TypeError("no copies")


class Same(nn.Linear):
    def __deepcopy__(self, memo: dict[int, Any]) -> "Same":
        return self


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda x: x, "<lambda> is not an nn.Module"),
        (nn.Linear, "Linear is not an nn.Module"),
        (
            Demanding(),
            "Demanding cannot be re-initialised: no module has a reset_parameters method",
        ),
        (nn.Sequential(nn.Tanh()), "Sequential cannot be re-initialised: it has no parameters"),
        (nn.Sequential(Broken()), "the reset of 0 .Broken. failed: KeyError: 'gone'"),
        (Uncopied(2, 2), "Uncopied cannot be copied .no copies."),
        (Same(2, 2), "a copy of Same shares weights with it"),
    ],
)
def test_what_cannot_be_had_is_said(model, words):
    with pytest.raises(ArgumentError, match=words):
        reinitialise(model, seed=0)


def test_an_exported_program_is_no_module():
    program = torch.export.export(nn.Linear(2, 2), (torch.zeros(3, 2),))
    with pytest.raises(ArgumentError, match="ExportedProgram is not an nn"):
        reinitialise(program, seed=0)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_bad_seed(seed):
    with pytest.raises(ArgumentError, match="expected a whole number from 0"):
        reinitialise(nn.Linear(2, 2), seed=seed)


def test_lazy_parameters_must_exist():
    model = nn.Sequential(nn.LazyLinear(3))
    with pytest.raises(ModelError, match="Sequential has lazy parameters"):
        reinitialise(model, seed=0)
    model(torch.zeros(2, 5))
    assert reinitialise(model, seed=0).unchanged == ()


def test_compiled_and_inference_models():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    plain = values(reinitialise(model, seed=0).module)
    assert values(reinitialise(torch.compile(model, backend="eager"), seed=0).module) == plain
    with torch.inference_mode():
        made = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        assert values(reinitialise(made, seed=0).module) == plain
    fresh = reinitialise(made, seed=0)
    assert values(fresh.module) == plain
    fresh.module(torch.ones(2, 3)).sum().backward()


# Normalisation


def test_statistics_are_reset_and_calibrated():
    model = trained(convolutional)
    fresh = reinitialise(model, seed=0)
    assert [note.diagnosis for note in fresh.notes] == [Diagnosis.UNCALIBRATED]
    module: Any = fresh.module
    assert module[1].running_mean.tolist() == [0.0] * 4
    x = 3 + normal(500, 1, 8, 8).float()
    before = state(module)
    ready: Any = calibrate(module, x, batch_size=100)
    assert state(module) == before
    assert [p.training for p in ready.modules()] == [p.training for p in module.modules()]
    assert (ready[1].momentum, ready[4].momentum) == (0.1, 0.1)
    assert all(
        torch.equal(a, b) for a, b in zip(ready.parameters(), module.parameters(), strict=True)
    )
    ready.eval()
    with torch.no_grad():
        after = ready[:5](x)
    torch.testing.assert_close(after.mean((0, 2, 3)), torch.zeros(2), atol=0.02, rtol=0)
    torch.testing.assert_close(after.var((0, 2, 3)), torch.ones(2), atol=0.05, rtol=0)


def test_the_first_layer_has_the_moments_of_the_data():
    """Batches of one size: means average to the whole mean, variances to the mean of the batches' variances."""
    x = normal(60, 3)
    layer: Any = calibrate(nn.BatchNorm1d(3).double(), x, batch_size=20)
    torch.testing.assert_close(layer.running_mean, x.mean(0))
    torch.testing.assert_close(layer.running_var, x.reshape(3, 20, 3).var(1).mean(0))
    assert int(layer.num_batches_tracked) == 3
    assert values(calibrate(layer, x, batch_size=20)) == values(
        layer
    )  # what was there before does not count


def test_no_more_batches_than_asked_for_and_dropout_stays_off():
    x = normal(200, 3)
    net = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3)).double()
    few: Any = calibrate(net, x, batches=2, batch_size=10)
    torch.testing.assert_close(few[1].running_mean, x[:20].mean(0))
    usual: Any = calibrate(net, x, batch_size=10)
    assert int(usual[1].num_batches_tracked) == CALIBRATION_BATCHES
    assert usual[0].training


def test_without_statistics_calibration_is_a_copy():
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, track_running_stats=False))
    ready = calibrate(net, normal(10, 3))
    assert values(ready) == values(net)
    assert ready is not net


@pytest.mark.parametrize(
    ("knobs", "data", "error", "words"),
    [
        ({"batches": 0}, normal(4, 3), ArgumentError, "batches=0: expected a positive number"),
        (
            {"batch_size": 1},
            normal(4, 3),
            ArgumentError,
            "the model failed on a batch of shape .1, 3.*several samples",
        ),
        ({}, normal(4, 2), ArgumentError, "the model failed on a batch of shape .4, 2."),
        ({}, normal(0, 3), EmptyDataError, "no sample"),
    ],
)
def test_bad_calibrations(knobs, data, error, words):
    with pytest.raises(error, match=words):
        calibrate(nn.BatchNorm1d(3).double(), data, **knobs)
