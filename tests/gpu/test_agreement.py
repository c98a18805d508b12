"""The same analysis on the CPU and on the GPU: equal counts, numbers to the rounding of the type."""

import pytest
import torch
from torch import nn

import liegg
from cases import FromInnerProducts, mlp, normal
from gpu.agreement import (
    FULL_PRECISION,
    PRODUCTS,
    SUBJECTS,
    TENSOR_FLOAT,
    TOLERANCES,
    assert_agree,
    convolutional,
    images,
    made,
)

TYPES = [torch.float64, torch.float32]
ROUTES = ["jvp", "vjp", "autograd"]


def both(device, model, x, action, **options):
    """Results on the CPU and on the device."""
    here = liegg.discover(model.cpu(), x.cpu(), action, **options)
    there = liegg.discover(model.to(device), x.to(device), action, **options)
    assert there.settings["device"] == device.type
    return here, there


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_discover(name, dtype, device, enter):
    model, x = made(name, dtype)
    subject = SUBJECTS[name]
    output_action = None if subject.output_action is None else subject.output_action()
    here, there = both(device, model, x, subject.action(), output_action=output_action)
    assert here.settings["route"] == there.settings["route"]
    enter(
        nullity=there.nullity,
        accumulators=[here.settings["accumulator"], there.settings["accumulator"]],
    )
    enter(**assert_agree(there, here, TOLERANCES[dtype]))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("outputs", ["each", "sum", 2])
def test_rows_of_every_route(route, outputs, device, enter):
    here, there = both(
        device,
        mlp(4, 32, 3),
        normal(300, 4),
        liegg.Linear(4),
        outputs=outputs,
        run=liegg.Run(route=route),
    )
    enter(**assert_agree(there, here, TOLERANCES[torch.float64]))


@pytest.mark.parametrize("route", ROUTES)
def test_rows_in_single_precision_and_many_batches(route, device, enter):
    model, x = mlp(4, 32, 3, dtype=torch.float32), normal(5000, 4).float()
    here, there = both(
        device, model, x, liegg.Linear(4), run=liegg.Run(route=route, batch_size=257)
    )
    enter(**assert_agree(there, here, TOLERANCES[torch.float32]))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ["network", "attention", "convolutions"])
def test_layers(name, dtype, device, enter):
    model, x = made(name, dtype)
    action = SUBJECTS[name].action()
    here = liegg.discover_layers(model.cpu(), x, action)
    there = liegg.discover_layers(model.to(device), x.to(device), action)
    assert there.names == here.names
    worst = 0.0
    for one, other in zip(there, here, strict=True):
        for problem in ("invariance", "unit"):
            figures = assert_agree(
                getattr(one, problem), getattr(other, problem), TOLERANCES[dtype]
            )
            worst = max(worst, figures["defects"])
    enter(layers=len(there), defects=worst)


def test_layers_of_an_equivariant_network(device, enter):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 3, 5, padding=2), nn.Tanh(), nn.Conv2d(3, 2, 3, padding=1))
    model, x, action = model.double().eval(), images(40), liegg.Image("affine")
    here = liegg.discover_layers(model, x, action, output_action=action)
    there = liegg.discover_layers(model.to(device), x.to(device), action, output_action=action)
    worst = 0.0
    for one, other in zip(there, here, strict=True):
        assert one.equivariance is not None
        assert other.equivariance is not None
        figures = assert_agree(one.equivariance, other.equivariance, TOLERANCES[torch.float64])
        worst = max(worst, figures["defects"])
    enter(layers=len(there), defects=worst)


def test_finite_transformations_and_comparisons(device, enter):
    model, x, held_out = FromInnerProducts(3), normal(300, 6), normal(60, 6, seed=3)
    action = liegg.Linear(3, copies=2)
    here = liegg.discover(model, x, action, held_out=held_out)
    other = FromInnerProducts(3, seed=4)
    compared = liegg.compare(here, liegg.discover(other, x, action))
    there = liegg.discover(model.to(device), x.to(device), action, held_out=held_out.to(device))
    also = liegg.compare(there, liegg.discover(other.to(device), x.to(device), action))
    assert there.verification is not None
    assert here.verification is not None
    assert there.verification.holds
    assert here.verification.holds
    apart = max(
        float((a.change - b.change).abs().max())
        for a, b in zip(there.verification.curves, here.verification.curves, strict=True)
    )
    assert apart < 1e-9
    assert also.to_dict().keys() == compared.to_dict().keys()
    enter(curves=apart, **assert_agree(there, here, TOLERANCES[torch.float64]))


def test_data_on_the_cpu_follows_the_model(device, enter):
    model, x = made("network", torch.float64)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=100)
    here = liegg.discover(model, x, liegg.Linear(4), run=liegg.Run(batch_size=100))
    for data in (x, loader, x.numpy()):
        there = liegg.discover(
            model.to(device), data, liegg.Linear(4), run=liegg.Run(batch_size=100)
        )
        assert there.settings["device"] == device.type
        enter(**assert_agree(there, here, TOLERANCES[torch.float64]))


def test_a_result_of_the_gpu_is_stored_and_read_without_one(device, tmp_path):
    model, x = made("inner products", torch.float32)
    sym = liegg.discover(model.to(device), x.to(device), liegg.Linear(5, copies=2))
    sym.save(tmp_path / "stored")
    again = liegg.load(tmp_path / "stored")
    assert (again.nullity, again.name) == (10, "so(5)")
    assert torch.equal(again.defects, sym.defects)
    assert str(again) == str(sym)


@pytest.mark.parametrize("kind", ["matrix products", "convolutions"])
def test_tensor_float(kind, cuda, enter):
    """TensorFloat-32 coarsens the numbers; what is exact stays exact, and the setting stays switched on."""
    convolves = kind == "convolutions"
    model, x = (
        (convolutional(), images(60).float())
        if convolves
        else (FromInnerProducts(5, dtype=torch.float32), normal(400, 10).float())
    )
    action = liegg.Image("affine") if convolves else liegg.Linear(5, copies=2)
    here = liegg.discover(model, x, action)
    place = PRODUCTS[1 if convolves else 0]
    fine = liegg.discover(model.to(cuda), x.to(cuda), action)
    assert fine.settings["unit"] == torch.finfo(torch.float32).eps
    place.fp32_precision = "tf32"
    coarse = liegg.discover(model, x.to(cuda), action)
    assert place.fp32_precision == "tf32"
    assert FULL_PRECISION != "tf32"
    assert coarse.settings["unit"] == 2.0**-10
    assert coarse.decision.exact == fine.decision.exact  # what rounding does is measured
    exact = assert_agree(fine, here, TOLERANCES[torch.float32])
    enter(ieee=exact["defects"], **assert_agree(coarse, here, TENSOR_FLOAT))
