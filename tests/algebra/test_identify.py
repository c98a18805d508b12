"""The name of an algebra: right in any basis and coordinates, honest about noise, silent where nothing fits."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal, regular
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra import bracket, closure_residual, principal_angles, so


def hidden(
    generators: torch.Tensor, seed: int, condition: float = 10.0, noise: float = 0.0
) -> torch.Tensor:
    """The algebra in other coordinates and a mixed orthonormal basis, each generator off by `noise`."""
    d, n, _ = generators.shape
    frame = regular(n, seed=seed, condition=condition)
    rows = torch.linalg.qr((frame @ generators @ torch.linalg.inv(frame)).flatten(1).mT)[0].mT
    rows = torch.linalg.qr(normal(d, d, seed=seed + 2))[0] @ rows + noise / n * normal(
        d, n * n, seed=seed + 3
    )
    return rows.unflatten(1, (n, n))


def spin(twice: int) -> torch.Tensor:
    """so(3) on the harmonic polynomials of degree `twice` / 2 in three variables, by brackets with symmetric traceless matrices."""
    basis = torch.linalg.svd(torch.eye(9, dtype=torch.float64).unflatten(1, (3, 3)).flatten(1))[
        2
    ].unflatten(1, (3, 3))
    symmetric = (basis + basis.mT) / 2
    symmetric = symmetric - symmetric.diagonal(dim1=1, dim2=2).sum(1)[
        :, None, None
    ] / 3 * torch.eye(3)
    inside = torch.linalg.svd(symmetric.flatten(1))[2][: twice + 1].unflatten(1, (3, 3))
    return torch.stack(
        [torch.einsum("aij,bij->ab", inside, bracket(turn, inside)) for turn in so(3)]
    )


# The representation decides between algebras that are alike


def test_coincidences_are_told_apart_by_what_they_act_on():
    for generators, name, other in [
        (liegg.so(3), "so(3)", "su(2)"),
        (liegg.algebra.su(2), "su(2)", "so(3)"),
        (liegg.so(1, 2), "so(1,2)", "sl(2,R)"),
        (liegg.algebra.sl(2), "sl(2,R)", "so(1,2)"),
        (liegg.so(4), "so(4)", "so(3) ⊕ so(3)"),
        (liegg.algebra.direct_sum(liegg.so(3), liegg.so(3)), "so(3) ⊕ so(3)", "so(4)"),
        (liegg.so(1, 3), "so(1,3)", "sl(2,C)"),
        (liegg.algebra.sl(2, "C"), "sl(2,C)", "so(1,3)"),
        (liegg.so(2), "so(2)", "u(1)"),
        (liegg.so(6), "so(6)", "su(4)"),
        (liegg.algebra.su(4), "su(4)", "so(6)"),
        (liegg.so(2, 3), "so(2,3)", "sp(4,R)"),
        (liegg.algebra.sp(4), "sp(4,R)", "so(2,3)"),
        (liegg.so(3, 3), "so(3,3)", "sl(4,R)"),
        (liegg.algebra.sl(4), "sl(4,R)", "so(3,3)"),
        (liegg.so(2, 4), "so(2,4)", "su(2,2)"),
        (liegg.algebra.su(2, 2), "su(2,2)", "so(2,4)"),
        (liegg.algebra.su(1, 1), "sl(2,R)", "su(1,1)"),
        (liegg.so(2, 2), "so(2,2)", "sl(2,R) ⊕ sl(2,R)"),
    ]:
        found = liegg.identify(hidden(generators, 11, condition=30.0))
        assert found.name == name
        assert other in found.aliases
        assert found.confident
        assert {found.name, *found.aliases} & set(found.abstract)  # the structure constants agree


def test_another_representation_is_named_by_its_structure():
    for seed in range(3):
        found = liegg.identify(hidden(spin(4), seed, condition=20.0))
        assert (found.name, found.meaning) == (
            "so(3)",
            "in a representation other than the usual one",
        )
        noisy = liegg.identify(hidden(spin(4), seed, condition=2.0, noise=1e-3))
        assert noisy.name == "so(3)"
        assert closure_residual(noisy.generators) < 1e-9


# Basis and coordinates do not matter


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    which=st.sampled_from(
        [(liegg.so(1, 2), "so(1,2)"), (liegg.se(2), "se(2)"), (liegg.algebra.u(2), "u(2)")]
    ),
)
def test_any_basis_and_scale_gives_the_same_algebra(seed, which):
    generators, name = which
    given_ = hidden(generators, seed, condition=50.0)
    mixed = (
        torch.einsum("ab,bij->aij", normal(len(generators), len(generators), seed=seed), given_)
        * 1e3
    )
    one, other = liegg.identify(given_), liegg.identify(mixed)
    assert one.name == other.name == name
    assert (
        float(principal_angles(one.generators.flatten(1), other.generators.flatten(1)).max()) < 1e-7
    )
    assert float(principal_angles(one.generators.flatten(1), given_.flatten(1)).max()) < 1e-7


def test_the_same_call_gives_the_same_answer():
    generators = hidden(liegg.algebra.direct_sum(so(3), so(3)), 4, noise=1e-3)
    one, other = (liegg.identify(generators, uncertainty=1e-3) for _ in range(2))
    assert (one.name, one.aliases, one.confident) == (other.name, other.aliases, other.confident)
    assert (one.angle, one.margin) == pytest.approx((other.angle, other.margin))
    torch.testing.assert_close(one.generators, other.generators)


# Noise


def test_exact_input_is_exact():
    found = liegg.identify(hidden(so(5), 1))
    assert found.uncertainty == 1e-9
    assert found.angle < 1e-12
    assert closure_residual(found.generators) < 1e-12


def test_noise_is_estimated_from_the_brackets():
    for generators in [
        so(5),
        liegg.algebra.sp(4),
        liegg.se(3),
        liegg.algebra.su(3),
        liegg.algebra.heis(5),
    ]:
        for noise in [1e-3, 3e-2]:
            found = liegg.identify(hidden(generators, 3, condition=2.0, noise=noise))
            stated = liegg.identify(
                hidden(generators, 3, condition=2.0, noise=noise), uncertainty=noise
            )
            assert found.name == stated.name != "unknown"
            assert 0.7 * noise < found.uncertainty < 3 * noise
            assert stated.uncertainty == noise
            assert 0.3 * noise < found.angle < 2 * noise  # the noise itself, not more
            assert closure_residual(found.generators) < 1e-9


def test_a_stated_uncertainty_is_never_lowered():
    """Closure does not show errors towards other algebras, however closed the matrices are."""
    for uncertainty in [0.05, 0.2]:
        found = liegg.identify(hidden(so(5), 3, condition=2.0, noise=1e-3), uncertainty=uncertainty)
        assert found.name == "so(5)"
        assert found.uncertainty == uncertainty
        assert found.confident == (uncertainty < 0.1)
    # In coordinates 10 : 1 an error of 0.2 may have made it of se(4).
    found = liegg.identify(hidden(so(5), 3, noise=1e-3), uncertainty=0.2)
    assert not found.confident


def test_an_algebra_stretched_beyond_the_noise_is_given_the_simpler_name():
    # diag(1, 1, s) turns so(3) into se(2) as s grows; only the uncertainty can say where one ends and the other begins.
    stretched = torch.diag(torch.tensor([1.0, 1.0, 1e-3], dtype=torch.float64))
    generators = torch.linalg.qr((stretched @ so(3) @ torch.linalg.inv(stretched)).flatten(1).mT)[
        0
    ].mT.unflatten(1, (3, 3))
    assert liegg.identify(generators).name == "so(3)"
    assert liegg.identify(generators + 1e-3 / 3 * normal(3, 3, 3), uncertainty=1e-3).name == "se(2)"


def test_close_rivals_make_it_unsure():
    # A rotation along an ellipse of axes 30 : 1 is next to a shear.
    turn = torch.tensor([[[1e-4, -1.0], [1 / 900, 1e-4]]], dtype=torch.float64)
    found = liegg.identify(turn, uncertainty=4e-4)
    assert found.name == "so(2)"
    assert not found.confident
    assert found.reasons[-1].diagnosis is Diagnosis.OTHER_ACTION
    shear = next(other for other in found.alternatives if other.name == "translation(1)")
    assert 1 < shear.needs / 4e-4 < 1.5
    assert str(found).startswith("so(2), rotations of a plane (not sure)")
    spiral = liegg.identify(turn, uncertainty=1e-5)
    assert (spiral.name, spiral.confident) == ("R", True)


def test_a_single_matrix_says_nothing_of_its_noise():
    turn = so(2) + 1e-3 * normal(1, 2, 2)
    found = liegg.identify(turn)
    assert (found.name, found.confident) == ("R", False)
    assert found.alternatives[0].name == "so(2)"
    assert found.reasons[-1].diagnosis is Diagnosis.NEAR_SIMPLER_ALGEBRA
    assert found.reasons[-1].values == {"name": "so(2)", "uncertainty": 0.05}
    assert liegg.identify(turn, uncertainty=1e-2).name == "so(2)"


def test_no_uncertainty_at_all_may_be_stated():
    assert liegg.identify(normal(1, 3, 3), uncertainty=0).name == "R"
    assert liegg.identify(so(3), uncertainty=0.0).name == "so(3)"
    assert not liegg.identify(normal(3, 3, 3), uncertainty=0).known


def test_an_uncertainty_for_each_generator():
    generators = hidden(so(4), 3, noise=1e-2)
    one = liegg.identify(generators, uncertainty=torch.full((6,), 1e-2))
    assert one.name == "so(4)"
    assert one.uncertainty == pytest.approx(1e-2)


def test_float32_is_taken_as_such():
    found = liegg.identify(hidden(so(1, 3), 3, condition=3.0).float())
    assert found.name == "so(1,3)"
    assert found.uncertainty <= 1e-5


def test_a_simpler_limit_is_never_named_surely():
    """Coordinates stretched 10 : 1 bring these within the noise of heis(3) and of a shear."""
    for generators, name in [(liegg.se(2), "se(2)"), (so(2), "so(2)"), (so(1, 1), "so(1,1)")]:
        for factor in [1, 5]:
            for seed in range(4):
                found = liegg.identify(
                    hidden(generators, seed, condition=10.0, noise=1e-2), uncertainty=factor * 1e-2
                )
                assert found.name == name or not found.confident


def test_affine_matrices_are_not_compared_with_what_is_not_affine():
    # so(4) in coordinates stretched 14 : 1 is as near to these, but has no zero row.
    noise = torch.nn.functional.pad(normal(6, 3, 4), (0, 0, 0, 1))
    generators = (
        torch.linalg.qr(liegg.se(3).flatten(1).mT)[0].mT.unflatten(1, (4, 4)) + 1e-2 / 4 * noise
    )
    found = liegg.identify(generators, uncertainty=1e-2)
    assert (found.name, found.confident) == ("se(3)", True)
    assert {other.name for other in found.alternatives}.isdisjoint({"so(4)", "so(1,3)"})


# Sums and parts


def test_sums_and_copies_in_any_coordinates():
    for generators, name in [
        (liegg.algebra.direct_sum(liegg.se(2), so(3)), "se(2) ⊕ so(3)"),
        (liegg.algebra.direct_sum(liegg.se(3), liegg.se(3)), "se(3) ⊕ se(3)"),
        (liegg.algebra.direct_sum(so(1, 1), so(1, 1)), "so(1,1) ⊕ so(1,1)"),
        (liegg.algebra.direct_sum(so(1, 1), so(3)), "so(3) ⊕ so(1,1)"),
        (liegg.algebra.direct_sum(liegg.algebra.su(2), liegg.algebra.su(2)), "su(2) ⊕ su(2)"),
        (liegg.algebra.direct_sum(so(2), liegg.algebra.diagonal(2)), "so(2) ⊕ R²"),
        (liegg.algebra.direct_sum(liegg.scaling(2), torch.zeros(0, 1, 1)), "scaling(2)"),
        (liegg.algebra.direct_sum(so(2), liegg.algebra.gl(2)), "gl(2,R) ⊕ so(2)"),
        (liegg.algebra.direct_sum(liegg.algebra.sl(2), so(4)), "so(4) ⊕ sl(2,R)"),
        (torch.stack([torch.block_diag(a, a) for a in so(2)]), "u(1)"),
        (torch.stack([torch.block_diag(a, a) for a in liegg.algebra.gl(2)]), "gl(2,R)"),
        (torch.stack([torch.block_diag(a, -a.mT) for a in liegg.algebra.sl(3)]), "sl(3,R)"),
    ]:
        assert liegg.identify(generators).name == name
        assert liegg.identify(hidden(generators, 1, condition=100.0)).name == name


def test_translations_beyond_what_the_linear_part_moves():
    for linear, k, name in [
        (so(2), 3, "se(2) ⊕ R"),
        (so(3), 4, "se(3) ⊕ R"),
        (liegg.algebra.sl(2), 3, "saff(2) ⊕ R"),
        (so(1, 2), 4, "e(1,2) ⊕ R"),
    ]:
        side = k + 1
        padded = torch.nn.functional.pad(
            linear, (0, side - linear.shape[1], 0, side - linear.shape[1])
        )
        assert liegg.identify(torch.cat([padded, liegg.translation(k)])).name == name


def test_the_words_say_copies_and_duals():
    both = torch.stack([torch.block_diag(a, a) for a in so(3)])
    assert liegg.identify(both).meaning == "rotations of 3 dimensions, the same on 2 subspaces"
    assert (
        liegg.identify(-liegg.se(3).mT).meaning
        == "rigid motions of 3 dimensions: rotations and translations, as they act on covectors"
    )


def test_the_catalogue_as_it_stands():
    for generators in [
        liegg.algebra.sp(4),
        liegg.algebra.sp(6),
        so(4),
        liegg.algebra.su(3),
        liegg.algebra.aff(3),
        liegg.algebra.heis(5),
        liegg.algebra.shear(4),
        liegg.algebra.diagonal(3),
        liegg.se(1, 3),
    ]:
        found = liegg.identify(generators)
        assert found.confident
        assert found.dimension == len(generators)


# What is not a known algebra


def test_a_span_that_is_not_closed_is_not_named():
    found = liegg.identify(liegg.algebra.sl(2)[:2])
    assert not found.known
    assert found.title() == "unknown algebra of dimension 2"
    assert found.reasons[0].diagnosis is Diagnosis.NOT_CLOSED
    assert found.reasons[0].values == {"rms": pytest.approx(2**0.5), "generated": 3}
    assert math.isnan(found.angle)
    assert found.invariants is None
    assert found.abstract == ()


def test_random_spans_are_not_named():
    for uncertainty in [None, 1e-2]:
        for d, n in [(2, 3), (3, 3), (3, 4), (5, 4), (10, 5)]:
            for seed in range(2):
                assert not liegg.identify(normal(d, n, n, seed=seed), uncertainty=uncertainty).known


def test_an_algebra_without_a_name_keeps_its_invariants():
    # Upper triangular matrices of size 4: solvable, of dimension 10, in no list.
    upper = torch.cat([liegg.algebra.diagonal(4), liegg.algebra.shear(4)])
    found = liegg.identify(hidden(upper, 2, condition=5.0))
    assert not found.known
    assert found.invariants is not None
    assert (
        found.invariants.dimension,
        found.invariants.solvable,
        found.invariants.derived_series,
    ) == (10, True, (10, 6, 3, 0))
    assert Diagnosis.SOLVABLE in [reason.diagnosis for reason in found.reasons]


def test_matrices_that_are_too_large_say_so():
    found = liegg.identify(so(20))
    assert not found.known
    assert found.reasons[0].diagnosis is Diagnosis.TOO_LARGE_TO_IDENTIFY
    assert found.reasons[0].values == {"count": 190, "side": 20}


def test_larger_ones_of_simple_kinds():
    for generators, name in [
        *((liegg.algebra.heis(d), f"heis({d})") for d in (7, 13, 27)),
        *((liegg.algebra.diagonal(n), f"diagonal({n})") for n in (6, 11)),
        *((liegg.translation(n), f"translation({n})") for n in (7, 11)),
        *((liegg.scaling(n), f"scaling({n})") for n in (7, 12)),
        (liegg.algebra.shear(8), "shear(8)"),
        (so(10), "so(10)"),
    ]:
        assert liegg.identify(hidden(generators, 3, condition=30.0)).name == name


def test_a_generator_that_is_left_out_makes_the_name_unsure():
    """sl(2) in units of 1 to 1000: in float32 one direction is lost beside the others, but not by rounding."""
    frame = torch.tensor([[0.6, 0.8], [-0.8, 0.6]]).double() @ torch.diag(
        torch.tensor([1.0, 1000.0]).double()
    )
    given = frame @ liegg.algebra.sl(2) @ torch.linalg.inv(frame)
    mixed = (normal(3, 3, seed=1) @ given.flatten(1)).unflatten(1, (2, 2))
    assert liegg.identify(mixed).name == "sl(2,R)"
    lost = liegg.identify(mixed.float())
    assert not (lost.confident and lost.name != "sl(2,R)")
    copies = torch.cat([liegg.so(3), liegg.so(3)[:1] + liegg.so(3)[1:2]])
    assert liegg.identify(copies).confident
