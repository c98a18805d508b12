"""The smallest defects alone against the full solution."""

import pytest
import torch

import liegg
import oracle
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.actions import Affine, Displacement, KroneckerSum, Linear, Restricted
from liegg.polarization import gram
from liegg.polarization import r_factor as accumulate
from liegg.spectrum.defects import defects, smallest_defects
from liegg.spectrum.spectrum import paper_spectrum

SIDE, COUNT = 300, 12


def of_quadratic_form(action, x, weights):
    """Rows and displacement of a function of one quadratic form."""
    rows = action.contract(
        (weights * x).reshape(len(x), 1, -1) * x.square().sum(1).cos()[:, None, None], x
    ).flatten(0, 1)
    return rows, action.displacement(action.moment(x), len(x))


WHOLE = {
    "linear": (Linear(24), normal(3000, 24)),
    "affine": (Affine(23), normal(3000, 23)),
    "a flat direction": (
        Linear(24),
        torch.cat([normal(3000, 23), normal(3000, 23).sum(1, keepdim=True)], 1),
    ),
    "grid, one large block": (KroneckerSum((17, 17)), normal(2500, 289)),
    "grid with a dark border": (
        KroneckerSum((18, 17)),
        normal(2500, 306) * (torch.arange(306) >= 17),
    ),
}


@pytest.mark.parametrize("kind", ["qr", "gram"])
@pytest.mark.parametrize(("action", "x"), WHOLE.values(), ids=list(WHOLE))
def test_defects_are_those_of_the_full_solution(action, x, kind):
    rows, displacement = of_quadratic_form(
        action, x, torch.linspace(1, 2, x.shape[1], dtype=torch.float64)
    )
    columns = rows.shape[1]
    given = (
        accumulate.update(accumulate.init(columns), rows).r
        if kind == "qr"
        else gram.update(gram.init(columns), rows)
    )
    full = defects(given, displacement, len(x))
    low, how = smallest_defects(given, displacement, len(x), COUNT)
    floor = 1e-20 if kind == "qr" else 1e-11
    torch.testing.assert_close(low.values, full.values[:COUNT], rtol=1e-6, atol=floor)
    assert bool(((low.values - full.values[:COUNT]).abs() <= how.residuals + floor).all())
    assert low.sensitivity == pytest.approx(full.sensitivity, rel=1e-9)
    assert how.moving == len(full.values)
    assert float(how.residuals.max()) < 1e-9
    parts = low.directions.reshape(COUNT, displacement.repeat, -1)
    moved = torch.einsum("drs,st,drt->d", parts, displacement.block, parts)
    changed = (low.directions @ (rows.mT @ rows)).mul(low.directions).sum(1) / len(x)
    torch.testing.assert_close(changed / moved / low.sensitivity, low.values, rtol=1e-6, atol=1e-10)
    torch.testing.assert_close(low.directions.norm(dim=1), torch.ones(COUNT, dtype=torch.float64))


def test_without_displacement_it_is_the_papers_spectrum():
    factor = torch.linalg.qr(normal(2 * SIDE, SIDE), mode="r").R
    found = paper_spectrum(factor, SIDE, 10, smallest=COUNT)
    torch.testing.assert_close(
        found.values, paper_spectrum(factor, SIDE, 10).values[:COUNT], rtol=1e-9, atol=0
    )


def test_a_sensitivity_of_ones_own():
    factor, displacement = normal(SIDE, SIDE), Displacement(torch.eye(SIDE, dtype=torch.float64))
    own, given_one = (
        smallest_defects(factor, displacement, 10, 3, sensitivity=kappa)[0] for kappa in (None, 2.0)
    )
    torch.testing.assert_close(own.values * own.sensitivity, 2.0 * given_one.values)
    assert bool(
        (smallest_defects(factor, displacement, 10, 3, sensitivity=0.0)[0].values == 0).all()
    )


def test_nothing_moves_the_data():
    found, how = smallest_defects(
        normal(4, 4), Displacement(torch.zeros(4, 4, dtype=torch.float64)), 10, 2
    )
    assert (len(found.values), len(found.trivial), how.moving) == (0, 4, 0)


def waves(x):
    """Two outputs without symmetries but for the last rotations of the plane."""
    flat = x.flatten(1)
    return torch.stack(
        [flat[:, 0].sin() + flat[:, 1] ** 2 / 3, flat[:, -2:].square().sum(1) * flat[:, 0].cos()],
        dim=1,
    )


def oracle_defects(function, x, action):
    """All defects by scipy from dense rows and fields."""
    basis = action.matrices(torch.eye(action.size, dtype=torch.float64)).numpy()
    xi = oracle.fields(x.flatten(1).numpy(), basis)
    return oracle.defects(oracle.polarization(oracle.jacobians(function, x), xi), xi).values


ACTIONS = {
    "linear": liegg.Linear(6),
    "affine": liegg.Affine(5),
    "restricted": liegg.Linear(6).restrict(torch.cat([liegg.so(6), liegg.algebra.diagonal(6)])),
    "blocks": liegg.actions.Blocks([3, 3]),
    "axes": liegg.actions.KroneckerSum((2, 3)),
    "band": liegg.actions.Banded(6),
}


@pytest.mark.parametrize("action", ACTIONS.values(), ids=list(ACTIONS))
def test_discover_finds_the_first_of_the_full_solution(action):
    controls = "none" if action.homogeneous else "random"
    x = normal(300, 5 if action.homogeneous else 6)
    full = liegg.discover(waves, x, action, controls=controls)
    low = liegg.discover(waves, x, action, controls=controls, run=liegg.Run(bottom=5))
    torch.testing.assert_close(low.defects, full.defects[:5], rtol=1e-8, atol=1e-28)
    torch.testing.assert_close(low.spectrum.values, full.spectrum.values[:5], rtol=1e-8, atol=1e-28)
    torch.testing.assert_close(low.intervals, full.intervals[:5], rtol=1e-6, atol=0, equal_nan=True)
    assert low.accumulated.solution.sensitivity == pytest.approx(
        full.accumulated.solution.sensitivity, rel=1e-12
    )
    assert low.decision.unsolved == len(full.defects) - 5
    assert low.decision.control == pytest.approx(full.decision.control, rel=1e-8)
    if (
        float(full.defects[4]) > full.decision.thresholds.threshold
    ):  # then nothing that was left out could count
        assert (low.nullity, low.decision.grades, low.name) == (
            full.nullity,
            full.decision.grades[:5],
            full.name,
        )
        assert low.decision.sentence.diagnosis is full.decision.sentence.diagnosis
        assert (low.decision.certainty is None) == (full.decision.certainty is None)
        assert low.decision.nullity_interval == full.decision.nullity_interval
    exact = None if action.homogeneous else oracle_defects(waves, x, action)
    if exact is not None and not isinstance(
        action, Restricted
    ):  # restricted ones have their parent's unit
        assert low.defects.tolist() == pytest.approx(exact[:5].tolist(), rel=1e-8, abs=1e-12)


def test_discover_without_the_rest():
    """Enough candidates for the solver of the bottom alone; without blocks."""
    x = normal(1500, 24)
    weights = torch.linspace(1, 2, 24, dtype=torch.float64)

    def function(x):
        return torch.stack(
            [(weights * x.square()).sum(1).div(24).sin(), x[:, 0] * x[:, 1] + x[:, 2].tanh()], dim=1
        )

    full = liegg.discover(function, x, liegg.Linear(24), controls="none")
    low = liegg.discover(function, x, liegg.Linear(24), controls="none", run=liegg.Run(bottom=20))
    found = low.accumulated.bottom
    assert found is not None
    assert found.steps > 0
    torch.testing.assert_close(low.defects, full.defects[:20], rtol=1e-8, atol=1e-25)
    assert bool(((low.defects - full.defects[:20]).abs() <= found.residuals + 1e-20).all())
    assert low.decision.grades == full.decision.grades[:20]
    assert low.to_dict()["bottom"] == {
        "requested": 20,
        "moving": 576,
        "residuals": found.residuals.tolist(),
        "steps": found.steps,
    }


def sphere(x):
    return x.square().sum(1)


def test_at_least_as_many_as_were_asked_for():
    sym = liegg.discover(sphere, normal(300, 5), liegg.Linear(5), run=liegg.Run(bottom=4))
    assert (sym.nullity, sym.decision.is_lower_bound, sym.decision.unsolved, sym.name) == (
        4,
        True,
        21,
        "unknown",
    )
    assert sym.decision.sentence.values["lower_bound"]
    assert [w.diagnosis for w in sym.decision.warnings] == [Diagnosis.MORE_MAY_FOLLOW]
    inside = liegg.discover(sphere, normal(300, 5), liegg.Linear(5), run=liegg.Run(bottom=12))
    assert (
        inside.nullity,
        inside.decision.is_lower_bound,
        inside.decision.unsolved,
        inside.name,
    ) == (10, False, 13, "so(5)")
    assert not inside.decision.sentence.values["lower_bound"]


def test_all_of_them_may_be_asked_for():
    sym = liegg.discover(sphere, normal(300, 3), liegg.Linear(3), run=liegg.Run(bottom=50))
    assert (len(sym.defects), sym.decision.unsolved, sym.decision.is_lower_bound, sym.name) == (
        9,
        0,
        False,
        "so(3)",
    )
    assert sym.settings["bottom"] == 50


def test_equivariance_and_reinitialised_models():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)
    ).double()
    full, low = (
        liegg.discover(
            model,
            normal(200, 3),
            liegg.Linear(3),
            output_action=liegg.Linear(3),
            controls="reinitialised",
            run=liegg.Run(control_draws=2, bottom=number),
        )
        for number in (None, 4)
    )
    torch.testing.assert_close(low.defects, full.defects[:4], rtol=1e-8, atol=1e-20)
    one, other = low.controls.reinitialised, full.controls.reinitialised
    assert one is not None
    assert other is not None
    torch.testing.assert_close(one.along, other.along[:, : one.along.shape[1]], rtol=1e-6, atol=0)


def test_how_many_is_a_number(monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    for number in (0, -3, True, 2.5):
        with pytest.raises(ArgumentError, match=f"bottom={number}: expected"):
            liegg.Run(bottom=number)  # pyright: ignore[reportArgumentType]
