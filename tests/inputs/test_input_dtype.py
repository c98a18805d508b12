"""Models of several precisions: given what they take, judged by the coarsest that lies on the way."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.precision import coarsest, record_dtypes
from liegg.inputs.batches import as_batches
from liegg.inputs.model import eval_view, with_input_dtype
from liegg.inputs.probe import probe

BFLOAT = torch.finfo(torch.bfloat16).eps
COARSE = Diagnosis.COARSE_ARITHMETIC(arithmetic="bfloat16", dtype="float32")


@pytest.fixture(autouse=True)
def plain_products(monkeypatch):
    """Some CPUs claim products of bfloat16 numbers that they do not have."""
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)


class Normed(nn.Module):
    """A network in bfloat16 with a normalisation in float32, and perhaps a constant in float32 before everything."""

    def __init__(self, *, constant: bool = False):
        super().__init__()
        if constant:
            self.register_buffer("scale", torch.tensor(1.0))
        self.first, self.norm, self.last = (
            nn.Linear(4, 16).bfloat16(),
            nn.LayerNorm(16),
            nn.Linear(16, 3).bfloat16(),
        )

    def forward(self, x):
        return self.last(self.norm(torch.tanh(self.first(x)).float()).bfloat16())


class Radial(nn.Module):
    """A function of the radius, computed under autocast and given back in float32."""

    def __init__(self, *, autocast: bool = True):
        super().__init__()
        self.net, self.autocast = (
            nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 6)),
            autocast,
        )

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
            return self.net(x.square().sum(1, keepdim=True)).float()


def made(kind, **options) -> nn.Module:
    torch.manual_seed(0)
    return kind(**options)


@pytest.mark.parametrize("constant", [False, True])
def test_a_model_gets_the_type_that_it_takes(constant):
    sym = liegg.discover(
        made(Normed, constant=constant), normal(60, 4).float(), liegg.Linear(4), controls="none"
    )
    assert (sym.settings["dtype"], sym.settings["unit"]) == ("bfloat16", BFLOAT)
    assert [note.diagnosis for note in sym.notes] == [Diagnosis.SEVERAL_WEIGHT_TYPES]
    assert sym.notes[0].values == {"types": "bfloat16, float32", "dtype": "bfloat16"}


def test_a_coarse_part_of_a_fine_model_counts():
    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3))

    def half(x):
        return net[1](torch.tanh(net[0](x)).bfloat16().float())

    sym = liegg.discover(half, normal(60, 4).float(), liegg.Linear(4), controls="none")
    assert sym.settings["unit"] == BFLOAT
    assert COARSE in sym.notes


@pytest.mark.parametrize("route", ["jvp", "vjp", "autograd"])
def test_autocast_inside_is_seen_though_the_output_does_not_show_it(route):
    x = normal(200, 4).float()
    sym = liegg.discover(made(Radial), x, liegg.Linear(4), run=liegg.Run(route=route))
    assert sym.nullity == 6
    assert (sym.settings["dtype"], sym.settings["unit"]) == ("float32", BFLOAT)
    assert COARSE in sym.notes
    fine = liegg.discover(
        made(Radial, autocast=False), x, liegg.Linear(4), run=liegg.Run(route=route)
    )
    assert fine.settings["unit"] == torch.finfo(torch.float32).eps
    assert fine.notes == ()
    assert sym.decision.exact == fine.decision.exact == 6
    torch.testing.assert_close(sym.defects[6:], fine.defects[6:], rtol=0.05, atol=0)


def test_layers_and_held_out_samples_of_a_mixed_model():
    net, x = made(Radial), normal(200, 4).float()
    found = liegg.discover_layers(net, x, liegg.Linear(4))
    assert {layer.invariance.settings["unit"] for layer in found} == {BFLOAT}
    assert {layer.invariance.nullity for layer in found} == {6}
    assert found.notes[0] == COARSE
    sym = liegg.discover(net, x, liegg.Linear(4), held_out=normal(50, 4, seed=3).float())
    assert sym.verification is not None
    assert sym.verification.holds


def test_layers_of_a_model_of_several_types():
    found = liegg.discover_layers(
        made(Normed, constant=True), normal(60, 4).float(), liegg.Linear(4)
    )
    assert found.names == ("first", "norm", "last")


def test_fresh_weights_of_a_model_of_several_types():
    net, x = made(Normed, constant=True), normal(60, 4).float()
    sym = liegg.discover(
        net, x, liegg.Linear(4), controls="reinitialised", run=liegg.Run(control_draws=2)
    )
    assert sym.controls.reinitialised is not None


def test_a_model_that_takes_nothing_fails_with_its_own_words():
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2).double())
    with pytest.raises(liegg.LieggError, match="the model failed on a batch of shape"):
        liegg.discover(net, normal(20, 4), liegg.Linear(4))


def test_one_type_is_not_asked_about():
    def unread():
        raise AssertionError("the data was read")
        yield

    class Lazy:
        def __iter__(self):
            return unread()

    with eval_view(nn.Linear(4, 2)) as model:
        assert with_input_dtype(model, as_batches(Lazy())) is model


def test_only_what_comes_from_the_input_counts():
    table = torch.ones(4, dtype=torch.float16)  # exact, whatever its type
    with eval_view(lambda x: (x * (table + table).double()).sum(1)) as model:
        assert probe(model, normal(5, 4)).arithmetic == torch.float64


def test_what_is_watched():
    x = torch.ones(3, requires_grad=True)
    with record_dtypes() as seen:
        (x.double() * 2).chunk(3)
        torch.ones(3).half()
    assert seen() == (torch.float64,)
    assert coarsest(torch.float64, None, torch.float32) == torch.float32
