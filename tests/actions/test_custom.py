# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false, reportAttributeAccessIssue=false
"""An action of one's own, without matrices, goes through every verb: quadratic fields of the plane."""

import json

import pytest
import torch
from torch import Tensor

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError, RecordError
from liegg.actions import Action, action_from_settings, register
from liegg.testing import assert_invariant, assert_is_action


class Quadratic(Action):
    """The twelve vector fields of the plane of degree at most two."""

    size = 12
    words = tuple(f"{m}∂{c}".lstrip("1") for c in "xy" for m in ("1", "x", "y", "x²", "xy", "y²"))

    def field(self, h, x):
        a, b = x.unbind(1)
        monomials = torch.stack([torch.ones_like(a), a, b, a * a, a * b, b * b], dim=1)
        return monomials @ h.to(x).reshape(2, 6).mT

    def act(self, h, x, steps=16):
        for _ in range(steps):
            k1 = self.field(h, x) / steps
            k2 = self.field(h, x + k1 / 2) / steps
            k3 = self.field(h, x + k2 / 2) / steps
            k4 = self.field(h, x + k3) / steps
            x = x + (k1 + 2 * k2 + 2 * k3 + k4) / 6
        return x


class Fields(Action):
    """Four of the fields, without a flow: ∂x, x∂y, ∂y, y∂x."""

    size, words = 4, ("∂x", "x∂y", "∂y", "y∂x")

    def fields(self, x):
        a, b = x.unbind(1)
        one, zero = torch.ones_like(a), torch.zeros_like(a)
        pairs = [(one, zero), (zero, a), (zero, one), (b, zero)]
        return torch.stack([torch.stack(pair, dim=1) for pair in pairs], dim=1)


X = normal(500, 2)
PARABOLA = torch.tensor([1.0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0], dtype=torch.float64)[None]
"""∂x + 2x ∂y, which keeps y − x²; so do its multiples by x and by y."""


def parabola(x):
    return torch.sin(x[:, 1] - x[:, 0].square())


def bent(x, size=0.02):
    return parabola(x) + size * torch.sin(3 * x[:, 0])


def broken(x):
    return bent(x, 0.3)


@pytest.fixture(scope="module")
def sym():
    return liegg.discover(parabola, X[:300], Quadratic(), held_out=X[300:])


def test_its_laws_hold():
    assert_is_action(Quadratic(), 0.3 * X[:20])
    assert_is_action(Fields(), X[:20], tolerance=1e-9)
    assert_is_action(Fields().restrict(torch.eye(4)[:2].double()), X[:20], tolerance=1e-9)


def test_fields_alone_are_integrated():
    h = torch.tensor([0.5, 2.0, 0.0, 0.0], dtype=torch.float64)
    expected = X + torch.stack([torch.full((500,), 0.5), 2 * (X[:, 0] + 0.25)], dim=1)
    torch.testing.assert_close(Fields().act(h, X), expected.double())
    torch.testing.assert_close(
        Quadratic().act(PARABOLA[0], X)[:, 0], X[:, 0] + 1, rtol=1e-9, atol=1e-9
    )


def test_discover_finds_the_fields_and_names_them(sym):
    assert (sym.nullity, sym.name) == (3, "unknown")
    assert sym.words == ("0.5 ∂x + x∂y", "0.5 x∂x + x²∂y", "0.5 y∂x + xy∂y")
    assert float(sym.defect(PARABOLA)) < 1e-25
    assert all(words in str(sym) for words in sym.words)
    with pytest.raises(ArgumentError, match="matrices"):
        _ = sym.generators
    assert_invariant(parabola, X, PARABOLA, action=Quadratic())


def test_the_result_is_written_and_read(sym, tmp_path):
    record = json.loads(json.dumps(sym.to_dict(), allow_nan=False))
    assert (record["generators"], record["action"]["kind"]) == (None, "custom")
    folder = sym.save(tmp_path / "result")
    again = liegg.load(folder, action=Quadratic())
    assert str(again) == str(sym)
    torch.testing.assert_close(again.coefficients, sym.coefficients, rtol=0, atol=0)
    with pytest.raises(RecordError, match=r"kind 'custom' \(.*Quadratic\).*action=\.\.\."):
        liegg.load(folder)


def test_finite_motions_are_verified(sym):
    first = sym.verification.curves[0]
    assert len(sym.verification.curves) == 3
    assert first.holds
    assert float(first.change.max()) < 1e-16
    assert first.control_radius < 0.2 * first.longest
    given = liegg.verify(parabola, X[300:], Quadratic(), PARABOLA, points=7, controls=2)
    assert given.holds
    nothing = liegg.discover(broken, X[:300], Fields().restrict(torch.eye(4).double()[:2]))
    near = liegg.verify(broken, X[300:], nothing, points=7, controls=2)
    assert (nothing.nullity, near.curves) == (0, ())
    assert near.other_words[0].endswith("∂x + x∂y")
    assert near.other_generators is not None
    assert near.other_generators.shape == (len(near.others), 2)


def test_two_models_are_compared(sym):
    other = liegg.discover(bent, X[:300], Quadratic())
    compared = liegg.compare(sym, other)
    assert (compared.shared, compared.only_a) == (other.nullity, 3 - other.nullity)
    pair = compared.directions[0]
    assert pair.generator is not None
    assert pair.generator.shape == (12,)
    assert "∂" in pair.words
    json.dumps(compared.to_dict(), allow_nan=False)
    with pytest.raises(ArgumentError, match="same candidates"):
        liegg.compare(sym, liegg.discover(parabola, X, Fields()))


def test_layers_and_reinitialised_controls():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    ).double()
    layers = liegg.discover_layers(net, X[:100], Quadratic())
    assert len(layers) == 3
    assert "Quadratic(size=12)" in str(layers)
    control = liegg.discover(
        net, X[:100], Quadratic(), controls="reinitialised", run=liegg.Run(control_draws=2)
    )
    assert control.controls.reinitialised is not None


def test_restrictions_and_products_with_matrices():
    quadratic = Quadratic().restrict(torch.eye(12, dtype=torch.float64)[:9])
    assert not quadratic.has_matrices
    one = liegg.discover(parabola, X[:200], quadratic)
    assert (one.nullity, one.words) == (1, ("0.5 ∂x + x∂y",))
    shift = Quadratic().restrict(torch.eye(12, dtype=torch.float64)[:1])
    both = liegg.Product(liegg.Linear(2), shift)
    assert (both.size, both.has_matrices) == (5, False)
    assert_is_action(shift, X[:20], tolerance=1e-9)
    mixed = liegg.discover(parabola, X[:200], both)
    assert (mixed.nullity, mixed.words) == (1, ("shear of x₂ by x₁ + 0.5 ∂x",))
    assert liegg.verify(parabola, X[300:], mixed, points=7, controls=2).holds is not None


def test_a_registered_kind_is_made_again():
    class Scaled(Fields):
        def __init__(self, scale=1.0):
            self.scale = scale

        def settings(self):
            return {"kind": "scaled-fields", "scale": self.scale}

    register("scaled-fields", Scaled)
    restricted = Scaled(2.0).restrict(torch.eye(4, dtype=torch.float64)[:1])
    again = action_from_settings(json.loads(json.dumps(restricted.settings())))
    assert again.parent.scale == 2.0
    assert again.same_motions(restricted)
    for kind in ("linear", "custom"):
        with pytest.raises(ArgumentError, match="is taken"):
            register(kind, Scaled)


def test_an_action_that_moves_nothing_says_what_to_define():
    class Empty(Action):
        size = 1

    with pytest.raises(NotImplementedError, match=r"define Empty.act\(h, x\)"):
        Empty().act(torch.ones(1), X)
    with pytest.raises(TypeError, match="size"):
        type("Sizeless", (Action,), {})()
    with pytest.raises(ArgumentError, match=r"shape \(3,\); expected one generator: .*\[4\]"):
        Fields().act(torch.ones(3), X)
    assert Fields().describe(torch.zeros(1, 4)) == ("no motion",)
    many = type("Many", (Fields,), {"size": 9, "words": tuple("abcdefghi")})()
    (text,) = many.describe(torch.arange(1.0, 10.0)[None])
    assert text.endswith("and 4 smaller terms")


def test_the_page_shows_words(sym, tmp_path):
    page = sym.report(tmp_path / "page.html", samples=X[:4]).read_text(encoding="utf-8")
    assert all(words in page for words in sym.words)


def test_faults_of_an_action_are_not_taken_for_faults_of_the_model():
    def model(x: Tensor) -> Tensor:
        return x.sum(1)

    class Empty(Action):
        size = 2

    class Short(Empty):
        def fields(self, x: Tensor) -> Tensor:
            return x[:, :1, None]

    class Failing(Empty):
        def fields(self, x: Tensor) -> Tensor:
            raise KeyError("radius")

    for action, expected in (
        (Empty(), r"define Empty\.act\(h, x\), Empty\.field"),
        (Short(), r"Short (returns velocities|fails)"),
        (Failing(), "Failing fails for a sample of shape .*KeyError: 'radius'"),
    ):
        with pytest.raises(ArgumentError, match=expected):
            liegg.discover(model, X, action)
        with pytest.raises(ArgumentError, match=expected):
            liegg.discover_data(X.repeat(50, 1), action)


def test_attributes_that_a_result_does_not_have_are_no_attributes():
    sym = liegg.discover(lambda x: x.square().sum(1), X, Fields())
    assert not hasattr(sym, "generators")
    assert not hasattr(sym, "output_generators")
    with pytest.raises(ArgumentError, match="output_action="):
        _ = sym.output_generators
