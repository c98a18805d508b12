"""All models near a span: names, order, what is dropped, and the best few."""

import math

import pytest
import torch

from cases import normal, regular
from liegg.algebra import (
    closure_residual,
    diagonal,
    gl,
    heis,
    orthonormal,
    se,
    shear,
    sl,
    so,
    sp,
    su,
)
from liegg.algebra.families.candidates import (
    LARGER_FAMILY_CHANCE,
    PART_NOISE_FACTOR,
    PLAUSIBLE_STRETCH,
    PROPOSALS_PER_PART,
    Candidate,
    best,
    candidates,
    margin_of,
    simplest,
)
from liegg.algebra.families.record import Member
from liegg.algebra.fit import Fit, chi_square

NOISE = 1e-7
ALGEBRAS = {
    "so(3)": so(3),
    "sl(3,R)": sl(3),
    "sp(4,R)": sp(4),
    "su(2)": su(2),
    "sl(2,C)": sl(2, "C"),
    "se(3)": se(3),
    "shear(4)": shear(4),
    "heis(5)": heis(5),
    "diagonal(3)": diagonal(3),
}
FEW = {name: ALGEBRAS[name] for name in ("so(3)", "sp(4,R)", "su(2)", "se(3)", "shear(4)")}


def conjugated(generators, condition=10.0, seed=7):
    p = regular(generators.shape[1], seed=seed, condition=condition)
    return orthonormal(p @ generators @ torch.linalg.inv(p))


def noisy(span, size, seed=0):
    return orthonormal(span + size * normal(*span.shape, seed=seed) / span.shape[1])


def apart(one, other):
    a, b = (candidate.fit.generators.flatten(1) for candidate in (one, other))
    return float((a - a @ b.mT @ b).norm())


def test_an_exact_algebra_is_the_only_candidate_that_fits():
    for name, generators in ALGEBRAS.items():
        found = candidates(conjugated(generators), NOISE)
        assert [one.name for one in found if one.fit.needs() <= NOISE] == [name]
        fitting = next(one for one in found if one.name == name)
        assert fitting.fit.distance < 1e-12
        assert closure_residual(fitting.fit.generators) < 1e-12


def test_under_noise_the_algebra_is_among_the_admitted_and_none_is_simpler():
    for name, generators in FEW.items():
        size = 1e-2
        found = candidates(noisy(conjugated(generators, 3.0), size), 1.2 * size)
        admitted = [one for one in found if one.fit.needs() <= 1.2 * size]
        assert min(admitted, key=lambda one: one.fit.orbit).name == name


def test_candidates_are_distinct():
    for _name, generators in FEW.items():
        found = candidates(noisy(conjugated(generators), 1e-2), 1e-2)
        assert len({one.name for one in found}) == len(found)
        for i, one in enumerate(found):
            assert len(one.fit.generators) == len(generators)
            assert all(
                one.fit.orbit != other.fit.orbit or apart(one, other) > 1e-3 for other in found[:i]
            )


def test_a_stretched_look_alike_is_told_from_what_it_looks_like():
    for dual in [False, True]:
        # so(3) stretched a million to one is se(2) to 1e-12.
        stretch = torch.diag(torch.tensor([1.0, 1.0, 1e-6 if dual else 1e6], dtype=torch.float64))
        change = regular(3, condition=2.0) @ stretch
        span = orthonormal(change @ so(3) @ torch.linalg.inv(change))
        found = candidates(span, NOISE)
        assert [one.name for one in found if one.fits(NOISE) and not one.stretched(NOISE)] == [
            "se(2)"
        ]
        assert next(best(span, NOISE)).name == "se(2)"


def test_moderate_stretching_does_not_hide_so3():
    stretch = torch.diag(torch.tensor([1.0, 1.0, 100.0], dtype=torch.float64))
    span = orthonormal(stretch @ so(3) @ torch.linalg.inv(stretch))
    fitting = [one for one in candidates(span, NOISE) if one.fit.needs() <= NOISE]
    assert [one.name for one in fitting] == ["so(3)"]
    assert fitting[0].stretch == pytest.approx(100, rel=0.01)


def test_in_short_nothing_else_is_tried_where_a_kind_with_the_smallest_family_fits():
    for name, span in (
        ("gl(2,R)", orthonormal(gl(2))),
        ("sl(2,R)", orthonormal(sl(2))),
        ("heis(3)", conjugated(heis(3))),
    ):
        assert [one.name for one in candidates(span, NOISE, stop_early=True)] == [name]
    tried = {one.name for one in candidates(noisy(conjugated(heis(3)), 1e-3), 1e-3)}
    assert tried > {"heis(3)"}


# Which of two


def candidate(distance, stretch):
    return Candidate(
        Member("so(3)", so(3), stretch=2.0), Fit(so(3), distance, distance, 5, 13, stretch / 2)
    )


def test_stretch_is_that_of_the_model_and_of_its_fit():
    assert candidate(0.1, 6.0).stretch == 6.0


def test_stretching_beyond_what_noise_lets_one_see():
    assert not candidate(0.1, 299.0).stretched(1e-4)
    assert candidate(0.1, 301.0).stretched(1e-4)
    assert not candidate(0.1, PLAUSIBLE_STRETCH).stretched(
        1.0
    )  # some stretching may always be there
    assert candidate(0.1, 2 * PLAUSIBLE_STRETCH).stretched(1.0)


def test_whether_noise_explains_the_distance():
    one = candidate(0.1, 1.0)
    assert one.fits(1.001 * one.fit.needs())
    assert not one.fits(0.999 * one.fit.needs())


def test_the_nearer_is_better_and_of_equally_near_the_less_stretched():
    assert candidate(0.1, 9.0).better(candidate(0.2, 1.0))
    assert not candidate(0.2, 1.0).better(candidate(0.1, 9.0))
    assert candidate(0.1, 1.0).better(candidate(0.1, 9.0))
    assert candidate(0.10005, 1.0).better(candidate(0.1, 9.0))  # the same place
    assert candidate(3e-13, 1.0).better(candidate(0.0, 9.0))  # the same up to rounding
    assert not candidate(0.1, 9.0).better(candidate(0.1, 9.0))


# The best few


def test_the_best_is_the_algebra_itself_fitted():
    for name, generators in FEW.items():
        span = conjugated(generators)
        models = list(best(span, NOISE))
        assert models[0].name == name
        rows, target = orthonormal(models[0].generators).flatten(1), span.flatten(1)
        assert float((rows - rows @ target.mT @ target).norm()) < 1e-12
        assert len(models) <= PROPOSALS_PER_PART


def test_the_best_are_near_and_carry_their_stretch():
    span = noisy(conjugated(so(3), 5.0), 1e-2)
    found = {one.name: one for one in candidates(span, 1e-2)}
    for member in best(span, 1e-2):
        assert found[member.name].fit.needs() <= PART_NOISE_FACTOR * 1e-2
        assert member.stretch == pytest.approx(found[member.name].stretch)
        torch.testing.assert_close(member.generators, found[member.name].fit.generators)


def test_nothing_far_is_among_the_best_and_nothing_has_one_model():
    assert list(best(orthonormal(normal(3, 3, 3)), 1e-6)) == []
    (member,) = best(torch.zeros(0, 2, 2, dtype=torch.float64), NOISE)
    assert (member.name, member.generators.shape) == ("", (0, 2, 2))


ALLOWED = 0.01


def rival(
    name: str, orbit: int, needs: float, *, stretch: float = 1.0, freedom: int = 10
) -> Candidate:
    """A candidate of 3 × 3 matrices that an uncertainty of `needs` just explains."""
    distance = needs * chi_square(freedom, 1 - 1e-4) ** 0.5 / 3
    generators = torch.zeros(2, 3, 3, dtype=torch.float64)
    return Candidate(
        Member(name, generators, stretch=stretch),
        Fit(generators, distance, distance, orbit, freedom, 1.0),
    )


def test_the_smallest_family_that_noise_admits_is_named():
    small, large, far = (rival("small", 3, 0.009), rival("large", 5, 0.008), rival("far", 1, 0.02))
    assert simplest([large, far, small], ALLOWED, 1.0) is small
    assert simplest([far], ALLOWED, 1.0) is None


def test_of_equal_families_the_nearest_is_named():
    one, other = rival("one", 3, 0.009), rival("other", 3, 0.004)
    assert simplest([one, other], ALLOWED, 1.0) is other


def test_a_larger_family_is_named_where_its_freedom_does_not_explain_how_much_better_it_fits():
    small = rival("small", 3, 0.0099)
    limit = (
        small.fit.misfit(ALLOWED) - chi_square(2, 1 - LARGER_FAMILY_CHANCE)
    ) ** 0.5 / small.fit.misfit(ALLOWED) ** 0.5
    as_explained, better = (
        rival("large", 5, 0.0099 * limit * 1.01),
        rival("large", 5, 0.0099 * limit * 0.99),
    )
    assert simplest([small, as_explained], ALLOWED, 1.0) is small
    assert simplest([small, better], ALLOWED, 1.0) is better


def test_stretched_look_alikes_are_not_named():
    assert simplest([rival("stretched", 3, 0.001, stretch=1e3)], ALLOWED, 1.0) is None
    assert simplest([rival("stretched", 3, 1e-7, stretch=1e3)], 1e-6, 1.0) is not None


def test_luck_is_not_named():
    lucky = rival("lucky", 3, 0.009, freedom=1)
    assert lucky.fit.coincidence > 1e-4
    assert simplest([lucky], ALLOWED, 1.0) is lucky
    assert simplest([lucky], ALLOWED, 1e-4) is None


def test_the_margin_is_what_another_name_as_simple_would_need():
    chosen = rival("chosen", 3, 0.009)
    assert margin_of(chosen, [chosen], ALLOWED) == math.inf
    assert margin_of(
        chosen, [chosen, rival("simpler", 2, 0.05), rival("equal", 3, 0.03)], ALLOWED
    ) == pytest.approx(3.0)
    assert margin_of(chosen, [chosen, rival("larger", 4, 0.011)], ALLOWED) == math.inf


def test_a_larger_family_that_fits_leaves_it_open_unless_it_is_stretched():
    for stretch, margin in [(PLAUSIBLE_STRETCH * 0.9, 1.0), (PLAUSIBLE_STRETCH * 1.1, math.inf)]:
        chosen, larger = (rival("chosen", 3, 0.009), rival("larger", 5, 0.0089, stretch=stretch))
        assert margin_of(chosen, [chosen, larger], ALLOWED) == margin
