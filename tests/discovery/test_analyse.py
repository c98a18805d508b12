"""One analysis: known algebras, the oracle's numbers, and what must not matter."""

import numpy as np
import pytest
import torch

import liegg
import liegg.testing
import oracle
from cases import (
    CASES,
    FromInnerProducts,
    analysed,
    conjugated_rotation,
    lorentz,
    mlp,
    norm_case,
    normal,
    sphere,
    sphere_case,
)
from liegg.algebra.subspace import distance_to_span


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_function_of_known_symmetry(case):
    """The count and the span by mathematics, every number by the oracle from dense rows."""
    generators = case.action.matrices(torch.eye(case.action.size, dtype=torch.float64)).numpy()
    xi = oracle.fields(
        case.data.numpy(), generators, copies=case.copies, vector_first=case.vector_first
    )
    e = oracle.polarization(oracle.jacobians(case.function, case.data), xi)
    sym = analysed(case)
    solution = sym.accumulated.solution

    # the count, and nothing undecided
    assert sym.nullity == sym.decision.exact == case.nullity
    assert (len(solution.trivial), sym.decision.undecided) == (case.trivial, 0)

    # the span, in an orthonormal basis; both null spaces agree on it
    assert torch.linalg.matrix_rank(case.generators.flatten(1)) == case.nullity
    assert oracle.angle(sym.generators.numpy(), case.generators.numpy()) < 1e-12
    gram = torch.einsum("aij,bij->ab", sym.generators, sym.generators)
    one = torch.eye(sym.nullity, dtype=torch.float64)
    torch.testing.assert_close(gram, one, rtol=0, atol=1e-12)
    if case.nullity and not case.trivial:
        span = case.action.as_coefficients(case.generators)
        assert sym.bias(case.generators)[: case.nullity].max() < 1e-12
        assert distance_to_span(sym.coefficients, span).max() < 1e-12
        assert sym.angles(case.generators).max() < 1e-12

    # the paper's spectrum and the defects
    values, _ = oracle.spectrum(e, len(xi))
    np.testing.assert_allclose(sym.spectrum.values, values, rtol=1e-8, atol=1e-14 * values[-1])
    expected, unit = oracle.defects(e, xi), solution.sensitivity
    lengths = expected.values * expected.sensitivity
    np.testing.assert_allclose(sym.defects * unit, lengths, rtol=1e-8, atol=1e-12)
    if sym.action.row_action is sym.action:  # else its unit is that of its parent, see below
        assert unit == pytest.approx(expected.sensitivity, rel=1e-10)

    # any other direction
    h = normal(3, case.action.size, seed=5)
    others = [oracle.defect(e, xi, row.numpy(), unit) for row in h]
    np.testing.assert_allclose(sym.defect(case.action.matrices(h)), others, rtol=1e-8)
    variance = np.sum((e @ h.numpy().T) ** 2, axis=0) / len(xi)
    np.testing.assert_allclose(sym.accumulated.variance(h), variance, rtol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_invariant_model_restricted_to_its_algebra_keeps_all_of_it(dtype):
    x = normal(400, 3).to(dtype)
    sym = liegg.discover(lambda x: x.norm(dim=1).sin(), x, liegg.Linear(3).restrict(liegg.so(3)))
    assert (sym.nullity, sym.decision.exact) == (3, 3)
    liegg.testing.assert_invariant(
        lambda x: x.norm(dim=1), x, liegg.so(3), action=liegg.Linear(3).restrict(liegg.so(3))
    )


def test_a_restricted_action_gives_the_defects_of_its_parent():
    def nearly(x):
        return x.square().sum(1) + 0.05 * x[:, 0]

    x = normal(400, 3)
    parent, inner = (
        liegg.discover(nearly, x, action)
        for action in (liegg.Linear(3), liegg.Linear(3).restrict(liegg.so(3)))
    )
    torch.testing.assert_close(
        inner.defect(liegg.so(3)), parent.defect(liegg.so(3)), rtol=1e-10, atol=1e-25
    )
    assert inner.nullity == 3
    assert inner.accumulated.solution.sensitivity == pytest.approx(
        parent.accumulated.solution.sensitivity, rel=1e-12
    )


@pytest.mark.parametrize("offset", [1e3, 1e4])
def test_few_samples_far_from_the_origin_decide_nothing(offset):
    inner, outer = normal(4, 8, seed=1).float(), normal(8, 1, seed=2).float()
    for seed in range(5):
        x = (normal(12, 4, seed=seed) + offset).float()
        sym = liegg.discover(
            lambda x: torch.tanh((x - offset) @ inner * 0.3) @ outer, x, liegg.Linear(4)
        )
        assert sym.nullity == 0
        assert sym.settings["accumulator"] == "qr"


def test_an_offset_makes_no_direction_trivial():
    sym = liegg.discover(
        lambda x: (x - 1000).norm(dim=1).sin(), normal(1000, 3) + 1000, liegg.Affine(3)
    )
    assert (sym.nullity, len(sym.accumulated.solution.trivial)) == (3, 0)


def test_float32_equivariance_with_dependent_outputs():
    def copied(x):
        a, b = x[:, :3], x[:, 3:]
        y = torch.linalg.cross(a, b) + a * b.square().sum(1, keepdim=True).sin()
        return torch.cat([y, y[:, :1]], 1)

    x = normal(500, 6)
    double, single = (
        liegg.discover(copied, x.to(t), liegg.Linear(3, copies=2), output_action=liegg.Linear(4))
        for t in (torch.float64, torch.float32)
    )
    assert double.nullity == single.nullity == 3
    assert oracle.angle(double.output_generators.numpy(), single.output_generators.numpy()) < 1e-5


@pytest.mark.parametrize("n", range(2, 9))
def test_the_papers_sphere(n):
    case = sphere_case(n)
    sym = liegg.discover(case.function, sphere(max(200, 2 * n * n), n), case.action)
    assert sym.nullity == n * (n - 1) // 2
    assert sym.angles(liegg.so(n)).max() < 1e-12


def test_invariant_by_construction():
    sym = liegg.discover(FromInnerProducts(5), normal(500, 10), liegg.Linear(5, copies=2))
    values = sym.spectrum.values
    assert sym.nullity == sym.decision.exact == 10
    assert bool((values[:10] <= 1e-25 * values[-1]).all())
    assert sym.bias(liegg.so(5))[:10].max() <= 1e-9
    assert distance_to_span(sym.coefficients, liegg.so(5).flatten(1)).max() <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_float32_models(seed):
    """Rounding of the model is all that is left: ten variances six decades apart from the rest, angles of float32 size."""
    model = FromInnerProducts(5, dtype=torch.float32, seed=seed)
    sym = liegg.discover(model, normal(500, 10, seed=seed), liegg.Linear(5, copies=2))
    assert sym.settings["dtype"] == "float32"
    assert sym.nullity == 10
    assert sym.generators.dtype == torch.float64
    assert sym.angles(liegg.so(5)).max() < 1e-5
    assert float(sym.spectrum.values[9] / sym.spectrum.values[10]) < 1e-9


@pytest.mark.parametrize("n", [2, 3, 5])
def test_float32_functions(n):
    case = norm_case(n)
    sym = liegg.discover(case.function, case.data.float(), case.action)
    assert sym.nullity == sym.decision.exact == case.nullity
    assert sym.angles(liegg.so(n)).max() < 1e-6


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_the_batch_size_does_not_matter(size):
    case = lorentz()
    one, other = (
        liegg.discover(case.function, case.data, case.action, run=liegg.Run(batch_size=b))
        for b in (50, size)
    )
    torch.testing.assert_close(one.spectrum.values, other.spectrum.values, rtol=1e-10, atol=1e-25)
    torch.testing.assert_close(one.defects, other.defects, rtol=1e-10, atol=1e-25)
    torch.testing.assert_close(one.generators, other.generators, rtol=0, atol=1e-12)


def test_the_order_of_the_samples_does_not_matter():
    case = lorentz()
    one, other = (
        liegg.discover(case.function, x, case.action) for x in (case.data, case.data.flip(0))
    )
    torch.testing.assert_close(one.defects, other.defects, rtol=1e-10, atol=1e-25)
    torch.testing.assert_close(one.generators, other.generators, rtol=0, atol=1e-12)


def test_a_second_call_finds_the_same():
    model = mlp(3, 16, 4)
    one, two = (liegg.discover(model, normal(100, 3), liegg.Linear(3), outputs=2) for _ in range(2))
    torch.testing.assert_close(one.accumulated.factor, two.accumulated.factor, rtol=0, atol=1e-12)
    torch.testing.assert_close(one.defects, two.defects, rtol=1e-9, atol=0)
    torch.testing.assert_close(one.intervals, two.intervals, rtol=1e-8, atol=0)
    assert (one.decision.grades, one.settings, one.notes) == (
        two.decision.grades,
        two.settings,
        two.notes,
    )


def test_conditioned_forms_keep_their_exact_count():
    """|Px|² with condition 5 is exactly symmetric in three directions; stretching the flat axis of P hardly changes it, but a
    fourth direction of small defect (0.006) is no part of the algebra, and the widest gap comes before it."""
    case = conjugated_rotation(condition=5.0)
    sym = liegg.discover(case.function, case.data, case.action)
    assert (sym.nullity, sym.decision.exact) == (3, 3)
    assert oracle.angle(sym.generators.numpy(), case.generators.numpy()) < 1e-12


def test_scalar_samples_and_scalar_outputs():
    sym = liegg.discover(
        lambda x: x**3, normal(100, 1)[:, 0], liegg.Linear(1), output_action=liegg.Linear(1)
    )
    assert sym.nullity == 1  # scaling the input by s scales the output by s³
    torch.testing.assert_close(
        sym.output_generators / sym.generators, torch.full((1, 1, 1), 3.0, dtype=torch.float64)
    )


@pytest.mark.parametrize("power", [1.0, 4.0, 6.0, 10.0, 30.0])
def test_exact_directions_are_counted_whatever_follows_them(power):
    """|Bx|² for ever more stretched B: the seventh defect falls to nothing, but the six exact ones stay what they are."""
    stretch = torch.diag(power ** torch.arange(4, dtype=torch.float64))
    sym = liegg.discover(
        lambda x: torch.log1p((x @ stretch).square().sum(1)), normal(2000, 4), liegg.Linear(4)
    )
    assert sym.nullity >= 6
    assert sym.decision.grades[:6] == ("exact",) * 6
