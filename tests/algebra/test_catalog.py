"""Every algebra of the catalogue: dimension, closure under the bracket, and the form it preserves."""

from typing import Any, cast

import numpy as np
import pytest
import torch

import liegg
from liegg import algebra
from liegg._utils.errors import ArgumentError

SIZES = range(1, 6)


def form(p, q):
    return np.diag([1.0] * p + [-1.0] * q)


def area(m):
    return np.block([[np.zeros((m, m)), np.eye(m)], [-np.eye(m), np.zeros((m, m))]])


def preserves(h, g):
    return not (h.T @ g + g @ h).any()


def is_unitary(h):
    n = len(h) // 2
    turn = np.block([[np.zeros((n, n)), -np.eye(n)], [np.eye(n), np.zeros((n, n))]])
    return preserves(h, np.eye(2 * n)) and not (h @ turn - turn @ h).any()


def commutes_with_i(h):
    n = len(h) // 2
    turn = np.block([[np.zeros((n, n)), -np.eye(n)], [np.eye(n), np.zeros((n, n))]])
    return not (h @ turn - turn @ h).any()


def hermitian(h, p, q):
    """Preserves the real part of the form and commutes with i, so the imaginary part as well."""
    return commutes_with_i(h) and preserves(h, np.kron(np.eye(2), form(p, q)))


def complex_trace(h):
    n = len(h) // 2
    return np.trace(h[:n, :n]) + 1j * np.trace(h[n:, :n])


def is_heisenberg(h):
    """First row and last column only, zero where both begin and end."""
    return not h[1:, :-1].any() and not h[-1].any() and h[0, 0] == 0


def is_affine(h):
    return not h[-1].any()


# name, generators, dimension, what defines it
ENTRIES = [
    *(
        (f"so({n})", algebra.so(n), n * (n - 1) // 2, lambda h: preserves(h, np.eye(len(h))))
        for n in SIZES
    ),
    *(
        (f"o({n})", algebra.o(n), n * (n - 1) // 2, lambda h: preserves(h, np.eye(len(h))))
        for n in SIZES
    ),
    *(
        (
            f"so({p},{q})",
            algebra.so(p, q),
            (p + q) * (p + q - 1) // 2,
            lambda h, p=p, q=q: preserves(h, form(p, q)),
        )
        for p in range(4)
        for q in range(1, 4)
    ),
    *((f"gl({n})", algebra.gl(n), n * n, lambda h: True) for n in SIZES),
    *((f"sl({n})", algebra.sl(n), n * n - 1, lambda h: np.trace(h) == 0) for n in SIZES),
    *(
        (f"sp({2 * m})", algebra.sp(2 * m), m * (2 * m + 1), lambda h, m=m: preserves(h, area(m)))
        for m in range(1, 4)
    ),
    *((f"u({n})", algebra.u(n), n * n, is_unitary) for n in range(1, 5)),
    *(
        (
            f"su({n})",
            algebra.su(n),
            n * n - 1,
            lambda h, n=n: is_unitary(h) and np.trace(h[n:, :n]) == 0,
        )
        for n in range(1, 5)
    ),
    *(
        (f"u({p},{q})", algebra.u(p, q), (p + q) ** 2, lambda h, p=p, q=q: hermitian(h, p, q))
        for p, q in ((0, 2), (1, 1), (1, 2), (2, 1))
    ),
    *(
        (
            f"su({p},{q})",
            algebra.su(p, q),
            (p + q) ** 2 - 1,
            lambda h, p=p, q=q: hermitian(h, p, q) and complex_trace(h) == 0,
        )
        for p, q in ((0, 2), (1, 1), (1, 2), (2, 1))
    ),
    *((f"gl({n},C)", algebra.gl(n, "C"), 2 * n * n, commutes_with_i) for n in range(1, 4)),
    *(
        (
            f"sl({n},C)",
            algebra.sl(n, "C"),
            2 * n * n - 2,
            lambda h: commutes_with_i(h) and complex_trace(h) == 0,
        )
        for n in range(1, 4)
    ),
    *(
        (
            f"se({p},{q})",
            algebra.se(p, q),
            (p + q) * (p + q + 1) // 2,
            lambda h, p=p, q=q: is_affine(h) and preserves(h[:-1, :-1], form(p, q)),
        )
        for p, q in ((0, 2), (1, 1), (1, 3), (2, 2))
    ),
    *((f"heis({d})", algebra.heis(d), d, is_heisenberg) for d in (3, 5, 7)),
    (
        "so(3) ⊕ so(1,2)",
        algebra.direct_sum(algebra.so(3), algebra.so(1, 2)),
        6,
        lambda h: (
            preserves(h, np.diag([1.0, 1, 1, 1, -1, -1]))
            and preserves(h, np.diag([1.0, 1, 1, 0, 0, 0]))
        ),
    ),
    (
        "so(2) ⊕ sl(3)",
        algebra.direct_sum(algebra.so(2), algebra.sl(3)),
        9,
        lambda h: (
            preserves(h, np.diag([1.0, 1, 0, 0, 0]))
            and not h[:2, 2:].any()
            and not h[2:, :2].any()
            and np.trace(h) == 0
        ),
    ),
    *(
        (
            f"se({n})",
            algebra.se(n),
            n * (n + 1) // 2,
            lambda h: is_affine(h) and preserves(h[:-1, :-1], np.eye(len(h) - 1)),
        )
        for n in SIZES
    ),
    *((f"aff({n})", algebra.aff(n), n * (n + 1), is_affine) for n in SIZES),
    *(
        (
            f"translation({n})",
            algebra.translation(n),
            n,
            lambda h: is_affine(h) and not h[:, :-1].any(),
        )
        for n in SIZES
    ),
    *(
        (f"scaling({n})", algebra.scaling(n), 1, lambda h: (h == np.eye(len(h))).all())
        for n in SIZES
    ),
    *(
        (f"diagonal({n})", algebra.diagonal(n), n, lambda h: (h == np.diag(np.diag(h))).all())
        for n in SIZES
    ),
    *(
        (f"shear({n})", algebra.shear(n), n * (n - 1) // 2, lambda h: (h == np.triu(h, 1)).all())
        for n in SIZES
    ),
]

EVERY_ENTRY = [e[1:] for e in ENTRIES]


def test_dimension():
    for generators, dimension, _defines in EVERY_ENTRY:
        assert generators.dtype == torch.float64
        assert len(generators) == dimension
        if dimension:
            assert np.linalg.matrix_rank(generators.flatten(1).numpy()) == dimension


def test_preserves_what_defines_it():
    for generators, _dimension, defines in EVERY_ENTRY:
        assert all(defines(h) for h in generators.numpy())


def test_closed_under_the_bracket():
    for generators, dimension, _defines in EVERY_ENTRY:
        g = generators.numpy()
        for bracket in (a @ b - b @ a for a in g for b in g):
            span, target = g.reshape(dimension, -1).T, bracket.ravel()
            coordinates = np.linalg.lstsq(span, target, rcond=None)[0]
            np.testing.assert_allclose(span @ coordinates, target, atol=1e-12)


def test_entries_are_small_integers():
    for generators, _dimension, _defines in EVERY_ENTRY:
        assert set(np.unique(generators)) <= {-1.0, 0.0, 1.0}


def test_the_turn_of_the_plane_is_counter_clockwise():
    moved = torch.linalg.matrix_exp(torch.pi / 2 * liegg.so(2)[0]) @ torch.tensor(
        [1.0, 0.0], dtype=torch.float64
    )
    torch.testing.assert_close(moved, torch.tensor([0.0, 1.0], dtype=torch.float64))


def test_the_heisenberg_bracket_is_that_of_positions_and_momenta():
    q1, q2, p1, p2, centre = algebra.heis(5)
    assert torch.equal(algebra.bracket(q1, p1), centre)
    assert torch.equal(algebra.bracket(q2, p2), centre)
    for one, other in ((q1, q2), (p1, p2), (q1, p2), (q2, p1), (q1, centre), (p1, centre)):
        assert not algebra.bracket(one, other).any()


def test_the_smallest_heisenberg_algebra_is_all_shears():
    assert algebra.grassmann_distance(algebra.heis(3), algebra.shear(3)) < 1e-12


def test_definite_forms_of_either_sign_are_the_unitary_and_euclidean_algebras():
    assert algebra.grassmann_distance(algebra.su(0, 2), algebra.su(2)) < 1e-12
    assert torch.equal(algebra.se(2, 0), algebra.se(2))
    assert algebra.se(0, 3).shape == algebra.se(3).shape


def test_parts_of_a_direct_sum_act_on_their_own_coordinates_in_order():
    whole = algebra.direct_sum(algebra.so(2), algebra.scaling(1), algebra.so(3))
    assert whole.shape == (5, 6, 6)
    torch.testing.assert_close(
        whole[0], torch.block_diag(algebra.so(2)[0], torch.zeros(4, 4, dtype=torch.float64))
    )
    assert whole[1].nonzero().tolist() == [[2, 2]]
    torch.testing.assert_close(whole[2:, 3:, 3:], algebra.so(3))
    assert not whole[2:, :3].any()
    assert torch.equal(algebra.direct_sum(algebra.so(3)), algebra.so(3))


def test_public_names_are_the_catalogue():
    for name in ("scaling", "se", "so", "translation"):
        assert getattr(liegg, name) is getattr(algebra, name)
    others = ("aff", "diagonal", "direct_sum", "gl", "heis", "o", "shear", "sl", "sp", "su", "u")
    for name in others:
        assert name in algebra.__all__
        with pytest.raises(AttributeError, match=rf"it is liegg\.algebra\.{name} now"):
            getattr(liegg, name)


def test_errors():
    for make, text in [
        (
            lambda: algebra.so(0),
            r"so\(\): p \+ q is 0; expected a positive dimension, for example so\(3\)",
        ),
        (
            lambda: algebra.so(-1, 3),
            r"so\(-1, 3\): p and q must not be negative, for example so\(1, 3\)",
        ),
        (lambda: algebra.o(0), r"so\(\): p \+ q is 0"),
        (lambda: algebra.sp(3), r"sp\(3\): the dimension must be even"),
        (lambda: algebra.sp(0), r"sp\(0\): the dimension must be even and positive"),
        *(
            (
                lambda name=name: getattr(algebra, name)(0),
                rf"{name}\(\): n is 0; expected a positive .* example {name}\(3\)",
            )
            for name in ("gl", "sl", "u", "su", "translation", "scaling", "diagonal", "shear")
        ),
        (
            lambda: algebra.su(-1, 3),
            r"su\(-1, 3\): p and q must not be negative, for example su\(1, 2\)",
        ),
        (lambda: algebra.u(3, -1), r"su\(3, -1\): p and q must not be negative"),
        (lambda: algebra.se(3, -1), r"so\(3, -1\): p and q must not be negative"),
        (lambda: algebra.sl(2, cast("Any", "H")), r"field='H': expected 'R' or 'C'"),
        (lambda: algebra.gl(2, cast("Any", "c")), r"field='c': expected 'R' or 'C'"),
        (lambda: algebra.gl(0, "C"), r"gl\(\): n is 0; expected a positive dimension"),
        (
            lambda: algebra.heis(4),
            r"heis\(4\): the dimension must be odd and at least 3; heis\(3\) is the smallest",
        ),
        (lambda: algebra.heis(1), r"heis\(1\): the dimension must be odd and at least 3"),
        (lambda: algebra.se(0), "is 0; expected a positive dimension"),
        (lambda: algebra.aff(0), "is 0; expected a positive dimension"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            make()
