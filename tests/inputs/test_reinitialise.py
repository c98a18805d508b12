"""Fresh weights: everything that can be reset is, what cannot is named, and the caller's model is left as it was."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, EmptyDataError, ModelError
from liegg.inputs.reinitialise import CALIBRATION_BATCHES, calibrate, reinitialise
from reset_networks import (
    MODELS,
    Attending,
    Bare,
    Behind,
    Demanding,
    Doubled,
    Halved,
    Mended,
    Replacing,
    Spread,
    Tied,
    convolutional,
    state,
    trained,
    values,
)


def numpy_state() -> list[int]:
    state: Any = np.random.get_state()  # noqa: NPY002
    return state[1].tolist()


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
