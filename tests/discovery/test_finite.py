"""Analyses by finite differences: grades, errors, budget, noise, jumps and piecewise constant models."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, HiddenDerivativeError, RandomModelError

X = np.random.default_rng(0).normal(size=(200, 3))
FINITE = liegg.Run(route="finite")


def norm(x):
    return np.sqrt(1 + np.square(x).sum(1))


def noisy(level):
    drawn = np.random.default_rng(1)
    return lambda x: norm(x) + level * drawn.normal(size=len(x))


def members(remarks):
    return {remark.diagnosis for remark in remarks}


def test_a_defect_within_its_error_is_not_exact(tmp_path):
    sym = liegg.discover(norm, X, liegg.Linear(3))
    assert set(sym.decision.grades[:3]) == {"strong"}
    errors = sym.settings["errors"]
    assert len(errors) == 9
    assert all(0 <= float(low) <= float(high) for low, high in sym.intervals)
    # The interval of a direction reaches at least the stated error above its defect.
    assert float(sym.intervals[0, 1]) >= errors[0]
    sym.save(tmp_path / "run")
    again = liegg.load(tmp_path / "run")
    assert again.accumulated.error == max(errors)
    torch.testing.assert_close(
        again.defect_interval(liegg.so(3)), sym.defect_interval(liegg.so(3)), rtol=1e-12, atol=0
    )


def test_a_model_of_torch_by_finite_differences_has_the_same_defects():
    model = lambda x: torch.stack([x.square().sum(1), x[:, 0].sin() + x.prod(1)], 1)  # noqa: E731
    exact = liegg.discover(model, X, liegg.Linear(3))
    finite = liegg.discover(model, X, liegg.Linear(3), run=FINITE)
    off = (finite.defects.sqrt() - exact.defects.sqrt()).abs()
    errors = torch.tensor(finite.settings["errors"]).double()
    assert bool((off <= float(errors.max().sqrt()) + 1e-12).all())
    assert finite.settings["finite"]["calls"] > 18


@pytest.mark.parametrize(
    ("level", "found"), [(1e-8, {"strong"}), (1e-4, {"strong", "approximate"})]
)
def test_noise_lowers_the_grade(level, found):
    sym = liegg.discover(noisy(level), X, liegg.Linear(3))
    assert sym.nullity == 3
    assert set(sym.decision.grades[:3]) <= found
    assert Diagnosis.NOISY_MODEL in members(sym.notes)


def test_errors_that_hide_a_symmetry_leave_it_undecided():
    sym = liegg.discover(noisy(0.015), X, liegg.Linear(3))
    assert sym.nullity == 0
    assert sym.decision.undecided
    assert Diagnosis.ERROR_HIDES in members(sym.decision.warnings)
    with pytest.raises(RandomModelError, match="Finite differences take noise of up to 10 %"):
        liegg.discover(noisy(3.0), X, liegg.Linear(3))


def test_only_noise_decides_nothing():
    drawn = np.random.default_rng(2)
    sym = liegg.discover(lambda x: 1 + 1e-3 * drawn.normal(size=len(x)), X, liegg.Linear(3))
    assert sym.decision.undecided == 9
    assert Diagnosis.ONLY_NOISE in members(sym.decision.warnings)


def test_too_few_samples_are_undecided():
    sym = liegg.discover(norm, X[:4], liegg.Linear(3))
    assert sym.decision.undecided
    assert Diagnosis.TOO_FEW_SAMPLES in members(sym.decision.warnings)


def test_piecewise_constant_models_are_measured_by_finite_motions():
    sym = liegg.discover(lambda x: np.round(2 * norm(x)), X, liegg.Linear(3))
    assert sym.nullity == 0
    assert sym.decision.undecided == 9
    assert Diagnosis.STEP_FUNCTION in members(sym.decision.warnings)
    assert sym.settings["finite"]["piecewise"]
    rotation, scaling = sym.answers
    assert (rotation.name, rotation.grade, rotation.holds) == ("rotation", "no derivative", True)
    assert scaling.holds is False
    assert "changes the output by" in scaling.sentence


def test_jumps_that_short_steps_miss_are_refused():
    model = lambda x: np.square(x).sum(1) + np.floor(2 * x[:, 2])  # noqa: E731
    with pytest.raises(HiddenDerivativeError, match="jumps between samples"):
        liegg.discover(model, X, liegg.Linear(3))
    warned = liegg.discover(model, X, liegg.Linear(3), run=liegg.Run(hidden="warn"))
    assert Diagnosis.HIDDEN_DERIVATIVE in members(warned.decision.warnings)


def test_a_budget_takes_fewer_samples_and_says_so():
    run = liegg.Run(budget=22_000)
    many = np.tile(X, (10, 1))
    sym = liegg.discover(norm, many, liegg.Linear(3), run=run)
    assert sym.samples < 2000
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(many))
    assert liegg.discover(norm, dataset, liegg.Linear(3), run=run).samples == sym.samples
    assert Diagnosis.BUDGET in members(sym.notes)
    assert sym.settings["finite"]["evaluations"] <= 22_000
    with pytest.raises(ArgumentError, match="need at least"):
        liegg.discover(norm, X, liegg.Linear(3), run=liegg.Run(budget=100))
    with pytest.raises(ArgumentError, match="labels all samples"):
        liegg.discover(norm, many, liegg.Linear(3), run=replace(run, groups=range(len(many))))
    with pytest.raises(ArgumentError, match="has no length"):
        liegg.discover(norm, [X, X], liegg.Linear(3), run=run)
    with pytest.raises(ArgumentError, match="budget=5 with route='jvp'"):
        liegg.Run(budget=5, route="jvp")
    with pytest.raises(ArgumentError, match="has no derivatives of its own"):
        liegg.discover(norm, X, liegg.Linear(3), run=liegg.Run(route="vjp"))


def test_equivariance_and_parts_by_finite_differences():
    rotated = lambda x: x * norm(x)[:, None]  # noqa: E731
    sym = liegg.discover(rotated, X, liegg.Linear(3), output_action=liegg.Linear(3))
    exact = liegg.discover(
        lambda x: x * (1 + x.square().sum(1, keepdim=True)).sqrt(),
        X,
        liegg.Linear(3),
        output_action=liegg.Linear(3),
    )
    assert sym.nullity == exact.nullity >= 3
    part = liegg.discover(
        lambda x: np.stack([norm(x), x[:, 0]], 1), X, liegg.Linear(3), target=0, held_out=X[:50]
    )
    assert (part.nullity, part.verification.holds) == (3, True)


def test_models_inside_a_budget_of_whitened_outputs():
    two = lambda x: np.stack([norm(x), 1e3 * norm(x) ** 2], 1)  # noqa: E731
    assert liegg.discover(two, X, liegg.Linear(3), outputs="whitened").nullity == 3
