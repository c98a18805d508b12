"""Names under noise: the right one, or "unknown" or "not sure"; never a confident wrong one."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal, regular
from liegg._utils.diagnoses import Diagnosis
from liegg.algebra.closure import closure

NOISE = (1e-5, 1e-2)


def padded(linear):
    return torch.nn.functional.pad(linear, (0, 1, 0, 1))


def similarities(n):
    return torch.cat([liegg.se(n), padded(liegg.scaling(n))])


AFFINE = {
    **{f"translation({k})": liegg.translation(k) for k in (1, 2, 3, 4)},
    "se(2)": liegg.se(2),
    "se(3)": liegg.se(3),
    "sim(2)": similarities(2),
    "sim(3)": similarities(3),
    "aff(1)": liegg.algebra.aff(1),
    "aff(2)": liegg.algebra.aff(2),
    "so(2)": padded(liegg.so(2)),
    "so(3)": padded(liegg.so(3)),
    "aff(1) ⊕ aff(1)": torch.cat([padded(liegg.algebra.diagonal(2)), liegg.translation(2)]),
}
LINEAR = {
    **{f"so({n})": liegg.so(n) for n in (2, 3, 4)},
    "so(1,2)": liegg.so(1, 2),
    "diagonal(3)": liegg.algebra.diagonal(3),
    "so(2) ⊕ so(2)": liegg.algebra.direct_sum(liegg.so(2), liegg.so(2)),
    "translation(2)": liegg.translation(2),
    "se(2)": liegg.se(2),
    "aff(1)": liegg.algebra.aff(1),
}

NOT_RIGID = {*(f"translation({k})" for k in (1, 2, 3, 4)), "se(2)", "so(2)", "so(2) ⊕ so(2)"}
"""Every error turns these into others: translations into a slow scaling, rotations into spirals."""


def off(generators, noise, seed, *, affine):
    """Orthonormal generators mixed at random, in other coordinates, each off by `noise`; affine ones by affine matrices."""
    d, n, _ = generators.shape
    frame = torch.eye(n, dtype=torch.float64)
    m = n - 1 if affine else n
    frame[:m, :m] = regular(m, seed=seed, condition=2.0)
    rows = torch.linalg.qr((frame @ generators @ torch.linalg.inv(frame)).flatten(1).mT)[0].mT
    rows = torch.linalg.qr(normal(d, d, seed=seed + 1))[0] @ rows
    error = normal(d, n, n, seed=seed + 2) / math.sqrt(m * n)
    error[:, m:] = 0
    return rows.unflatten(1, (n, n)) + noise * error


def table(algebras, factor, *, affine):
    """How often each algebra is given each name; sure names and others apart."""
    seen = {}
    for name, generators in algebras.items():
        seen[name] = Counter()
        for seed, noise in enumerate(NOISE):
            stated = None if factor is None else factor * noise
            given_ = off(generators, noise, 17 * seed + len(name), affine=affine)
            found = liegg.identify(given_, uncertainty=stated, homogeneous=affine or None)
            seen[name][found.name, found.confident] += 1
    return seen


@pytest.mark.slow
def test_with_the_noise_stated_the_name_is_right():
    for algebras, affine, factor in [
        (AFFINE, True, 1.0),
        (AFFINE, True, 10.0),
        (LINEAR, False, 3.0),
    ]:
        for name, names in table(algebras, factor, affine=affine).items():
            assert {given_ for given_, _ in names} == {name}, (name, names)
            # Of 2; a name may be unsure where an uncertainty of 0.1 is stated.
            assert (names[name, True] >= 1) == (name not in NOT_RIGID), (name, names)


@pytest.mark.slow
def test_without_a_stated_noise_no_wrong_name_is_sure():
    for algebras, affine in [(AFFINE, True), (LINEAR, False)]:
        for name, names in table(algebras, None, affine=affine).items():
            if len(algebras[name]) > 1:
                assert set(names) == {(name, name not in NOT_RIGID)}, (name, names)
            assert not {given_ for given_, sure in names if sure} - {name}, (name, names)


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 4),
    exponent=st.floats(-8, -2),
    factor=st.floats(1, 30),
)
def test_translations_stay_translations(seed, k, exponent, factor):
    """Their noise hardly shows in brackets, which are translations whatever the noise; small constants are no constants."""
    noise = 10**exponent
    generators = off(liegg.translation(k), noise, seed, affine=True)
    found = liegg.identify(generators, uncertainty=factor * noise)
    assert found.name == f"translation({k})"
    # An error makes a rotation about a far point of one, and aff(1) with a small constant of two.
    assert not found.confident
    doubt = Diagnosis.NOT_RIGID if k > 1 else Diagnosis.OTHER_ACTION
    assert found.reasons[-1].diagnosis is doubt


def test_translations_along_some_axes():
    for k in [2, 3]:
        for of in [3, 4]:
            for seed in range(2):
                assert (
                    liegg.identify(
                        off(liegg.translation(of)[:k], 1e-3, seed, affine=True), uncertainty=3e-3
                    ).name
                    == f"translation({k})"
                )


def test_small_constants_count_only_where_the_uncertainty_is_smaller():
    """A slow scaling beside translations is exactly aff(1), and within an uncertainty of its own size translations."""
    for slope in [1e-5, 1e-3]:
        near = liegg.translation(2).clone()
        near[1, 0, 0] = slope
        for uncertainty in (None, 1e-3 * slope):
            exact = liegg.identify(near, uncertainty=uncertainty)
            assert (exact.name, exact.confident) == ("aff(1)", True)
        for factor in (1, 10, 100):
            assert liegg.identify(near, uncertainty=factor * slope).name == "translation(2)"


# What brackets show of affine noise


def test_noise_of_translations_is_seen_to_its_size():
    for seed in range(5):
        generators = off(liegg.translation(3), 1e-4, seed, affine=True)
        assert closure(generators, affine=True).noise == pytest.approx(1e-4, rel=0.9)
        assert closure(generators).noise < 1e-6  # a last row would show more, but there is none


def test_affine_noise_explains_the_brackets_that_it_causes():
    for name in ["se(3)", "sim(2)", "aff(1) ⊕ aff(1)"]:
        rows, size = off(AFFINE[name], 0.0, 3, affine=True), 1e-5
        n = rows.shape[1]
        caused = []
        for seed in range(40):
            error = normal(*rows.shape, seed=seed) / math.sqrt(n * (n - 1))
            error[:, -1] = 0
            caused.append(closure(rows + size * error).rms ** 2)
        assert closure(rows, uncertainty=size, affine=True).explained == pytest.approx(
            math.sqrt(sum(caused) / 40), rel=0.25
        )


# What cannot be told


def test_a_single_matrix_near_a_simpler_one_is_not_named_surely():
    for slope in [1e-6, 1e-3, 1e-2]:
        found = liegg.identify(torch.tensor([[[slope, 1.0], [0.0, 0.0]]], dtype=torch.float64))
        assert not found.confident
        last = found.reasons[-1]
        assert last.diagnosis is Diagnosis.NEAR_SIMPLER_ALGEBRA
        assert last.values == {"name": "translation(1)", "uncertainty": 0.05}


def test_no_name_is_sure_where_everything_lies_within_the_error():
    for seed in range(4):
        found = liegg.identify(
            off(padded(liegg.so(2)), 1e-2, seed, affine=True), uncertainty=1.0, homogeneous=True
        )
        assert not found.confident
        assert found.margin <= 1
