"""The four families: functions that have the symmetries they are said to have, and data where it is said to be."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import liegg
from liegg.studies.error_rates import broken as breaking
from liegg.studies.error_rates.asymmetric import (
    ASYMMETRIC_KINDS,
    LARGEST_INPUTS,
    POLYNOMIAL_DEGREES,
    REGIONS,
    asymmetric,
    confined,
    function,
    polynomial,
    region,
)
from liegg.studies.error_rates.broken import BASES, broken, slope
from liegg.studies.error_rates.cases import Case, normal
from liegg.studies.error_rates.symmetric import (
    INVARIANT_KINDS,
    LARGEST_CONDITION,
    change_of_basis,
    conjugated,
    exact,
)


def defects_of(case: Case) -> torch.Tensor:
    return liegg.discover(case.model, case.data, case.action).defects


@pytest.mark.parametrize("make", [asymmetric, exact, confined])
def test_cases_are_the_same_every_time_and_others_for_other_seeds(make) -> None:
    one, again, other, fresh = make(7), make(7), make(8), make(7, seed=1)
    assert torch.equal(one.data, again.data)
    assert torch.equal(one.model(one.data), again.model(again.data))
    assert one.kind == again.kind == fresh.kind != other.kind
    assert one.data.shape != fresh.data.shape or not torch.equal(one.data, fresh.data)


def test_the_global_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    for make in (asymmetric, exact, confined):
        make(3)
    broken("so(3)", 0.1, 50)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("kind", ASYMMETRIC_KINDS)
def test_asymmetric_functions_have_no_exact_symmetry(kind: str) -> None:
    """The smallest defect of a finite sample is no rounding, so that no generator satisfies even these samples."""
    source = torch.Generator().manual_seed(0)
    model = function(kind, 4, 1, source)
    for action in (liegg.Linear(4), liegg.Affine(2, copies=2)):
        assert float(liegg.discover(model, normal(400, 4, source), action).defects[0]) > 1e-4


def test_asymmetric_cases_are_of_all_kinds_and_not_too_wide() -> None:
    cases = [asymmetric(index) for index in range(25)]
    assert [case.kind for case in cases[:5]] == list(ASYMMETRIC_KINDS)
    assert {case.expected for case in cases} == {0}
    assert {case.data.dtype for case in cases} == {torch.float64, torch.float32, torch.bfloat16}
    for case in cases:
        assert (
            case.data.shape[1]
            == case.action.n * (case.action.copies or 1)
            <= LARGEST_INPUTS.get(POLYNOMIAL_DEGREES.get(case.kind, 0), 18)
        )
        assert case.model(case.data).shape == (len(case.data), case.outputs)


def test_a_polynomial_is_the_sum_of_its_terms() -> None:
    made = polynomial(3, 4, 2, torch.Generator().manual_seed(0))
    x = np.random.default_rng(0).standard_normal((6, 4))
    a, b, c = (term.numpy() for term in made.terms)
    by_hand = (
        np.einsum("bi,ic->bc", x, a)
        + np.einsum("bi,bj,ijc->bc", x, x, b)
        + np.einsum("bi,bj,bk,ijkc->bc", x, x, x, c)
    )
    assert made(torch.from_numpy(x)).numpy() == pytest.approx(by_hand)


def test_exact_cases_do_not_change_under_finite_motions_of_their_algebra_and_under_no_other() -> (
    None
):
    seen = set()
    for index in range(20):
        case = exact(index)
        if case.data.dtype != torch.float64:
            continue
        seen.add(case.kind)
        before = case.model(case.data)
        for coefficients in case.action.coefficients(case.algebra)[[0, -1]]:
            moved = case.action.act(0.3 * coefficients, case.data)
            assert float((moved - case.data).abs().max()) > 0.01
            assert float((case.model(moved) - before).abs().max()) < 1e-8
        defects = defects_of(case)
        assert float(defects[case.expected - 1]) < 1e-27
        assert float(defects[case.expected]) > 1e-3
    assert len(seen) >= 7
    assert seen <= set(INVARIANT_KINDS)


def test_changes_of_basis_are_well_conditioned_and_conjugate_the_algebra() -> None:
    bases = [change_of_basis(4, torch.Generator().manual_seed(seed)) for seed in range(10)]
    assert 1.2 < max(np.linalg.cond(basis.numpy()) for basis in bases) <= LARGEST_CONDITION + 1e-9
    basis = bases[0]
    turned = conjugated(liegg.so(4), basis)
    form = basis.mT @ basis
    assert float((turned.mT @ form + form @ turned).abs().max()) < 1e-12
    assert float(conjugated(liegg.translation(4), basis)[:, :4, :4].abs().max()) == 0


@pytest.mark.parametrize("kind", BASES)
def test_only_the_broken_part_changes_along_the_algebra(kind: str) -> None:
    """Its sensitivity is exactly proportional to ε²; at ε = 0 the symmetry is exact, and nothing else is."""
    case = broken(kind, 0.0, 400)
    defects = defects_of(case)
    assert float(defects[case.expected - 1]) < 1e-27
    assert float(defects[case.expected]) > 0.1

    def sensitivity(strength: float) -> torch.Tensor:
        other = broken(kind, strength, 400)
        sym = liegg.discover(other.model, case.data, case.action)
        return sym.accumulated.variance(case.action.coefficients(case.algebra))

    assert (sensitivity(0.5) / sensitivity(0.005)).tolist() == pytest.approx(
        [1e4] * case.expected, rel=1e-6
    )


def test_both_parts_have_unit_variance() -> None:
    for strength, wanted in ((0.0, 1.0), (1e4, 1e8)):
        case = broken("sp(4)", strength, 20_000)
        assert float(case.model(case.data).var(0).sum()) == pytest.approx(wanted, rel=0.1)


def test_every_analysis_has_samples_of_its_own() -> None:
    first = broken("so(3)", 0.1, 100).data
    for other in (
        broken("so(3)", 0.1, 100, draw=1),
        broken("so(3)", 0.01, 100),
        broken("so(1, 2)", 0.1, 100),
    ):
        assert not torch.equal(first, other.data)
    assert torch.equal(
        broken("so(3)", 0.1, 100, draw=1).model(first), broken("so(3)", 0.1, 200).model(first)
    )


def test_coverage_is_counted_direction_by_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals that hold everything, nothing, and the smallest direction alone."""
    truth = breaking.reference("so(3)", 0.1, 2000)

    def counted(*rows: tuple[float, float]) -> tuple[int, int, int]:
        def with_intervals(*arguments) -> liegg.Symmetries:
            intervals = torch.tensor([*rows, *[(9.0, 9.0)] * 6], dtype=torch.float64)
            return replace(liegg.discover(*arguments), intervals=intervals)

        monkeypatch.setattr(breaking, "discover", with_intervals)
        told = breaking.repeated("so(3)", 0.1, 60, 2, truth=truth)
        return told["stated"], told["covered_smallest"], told["covered_all"]

    assert counted((0, 1), (0, 1), (0, 1)) == (2, 2, 6)
    assert counted((1, 2), (1, 2), (1, 2)) == (2, 0, 0)
    assert counted((0, 1), (1, 2), (1, 2)) == (2, 2, 2)


def test_slope() -> None:
    assert slope([(x, 3 * x**1.5) for x in (1e-3, 1e-2, 0.1, 1.0)]) == pytest.approx(1.5)


def test_regions_are_where_they_are_said_to_be() -> None:
    source = torch.Generator().manual_seed(0)
    parts = {name: region(name, 4000, 4, source).numpy() for name in REGIONS}
    assert parts["orthant"].min() >= 0
    assert np.linalg.matrix_rank(parts["subspace"], tol=1e-9) == 3
    centre = parts["far away"].mean(0)
    assert np.linalg.norm(centre) == pytest.approx(2, abs=0.1)
    assert (parts["far away"] - centre).std(0) == pytest.approx([0.6] * 4, abs=0.05)
    directions = parts["cone"] / np.linalg.norm(parts["cone"], axis=1, keepdims=True)
    axis = directions.mean(0) / np.linalg.norm(directions.mean(0))
    assert np.median(directions @ axis) > 0.85
    assert np.linalg.matrix_rank(parts["cone"]) == 4


def test_confined_cases_have_no_exact_symmetry() -> None:
    for index in range(8):
        case = confined(index)
        sym = liegg.discover(case.model, case.data, case.action)
        assert len(sym.accumulated.solution.trivial) == (
            case.action.n if case.kind == "subspace" else 0
        )
        assert float(sym.defects[0]) > 1e-5
