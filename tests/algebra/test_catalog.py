"""Every algebra of the catalogue: dimension, closure under the bracket, and the form it preserves."""

import numpy as np
import pytest
import torch

import liegg
from liegg import algebra
from liegg._errors import ArgumentError

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


def is_affine(h):
    return not h[-1].any()


# name, generators, dimension, what defines it
ENTRIES = [
    *((f"so({n})", algebra.so(n), n * (n - 1) // 2, lambda h: preserves(h, np.eye(len(h)))) for n in SIZES),
    *((f"o({n})", algebra.o(n), n * (n - 1) // 2, lambda h: preserves(h, np.eye(len(h)))) for n in SIZES),
    *(
        (f"so({p},{q})", algebra.so(p, q), (p + q) * (p + q - 1) // 2, lambda h, p=p, q=q: preserves(h, form(p, q)))
        for p in range(4) for q in range(1, 4)
    ),
    *((f"gl({n})", algebra.gl(n), n * n, lambda h: True) for n in SIZES),
    *((f"sl({n})", algebra.sl(n), n * n - 1, lambda h: np.trace(h) == 0) for n in SIZES),
    *((f"sp({2 * m})", algebra.sp(2 * m), m * (2 * m + 1), lambda h, m=m: preserves(h, area(m))) for m in range(1, 4)),
    *((f"u({n})", algebra.u(n), n * n, is_unitary) for n in range(1, 5)),
    *(
        (f"su({n})", algebra.su(n), n * n - 1, lambda h, n=n: is_unitary(h) and np.trace(h[n:, :n]) == 0)
        for n in range(1, 5)
    ),
    *(
        (f"se({n})", algebra.se(n), n * (n + 1) // 2, lambda h: is_affine(h) and preserves(h[:-1, :-1], np.eye(len(h) - 1)))
        for n in SIZES
    ),
    *((f"aff({n})", algebra.aff(n), n * (n + 1), is_affine) for n in SIZES),
    *((f"translation({n})", algebra.translation(n), n, lambda h: is_affine(h) and not h[:, :-1].any()) for n in SIZES),
    *((f"scaling({n})", algebra.scaling(n), 1, lambda h: (h == np.eye(len(h))).all()) for n in SIZES),
    *((f"diagonal({n})", algebra.diagonal(n), n, lambda h: (h == np.diag(np.diag(h))).all()) for n in SIZES),
    *((f"shear({n})", algebra.shear(n), n * (n - 1) // 2, lambda h: (h == np.triu(h, 1)).all()) for n in SIZES),
]  # fmt: skip

every_entry = pytest.mark.parametrize(("generators", "dimension", "defines"), [e[1:] for e in ENTRIES], ids=[e[0] for e in ENTRIES])


@every_entry
def test_dimension(generators, dimension, defines):
    assert generators.dtype == torch.float64
    assert len(generators) == dimension
    if dimension:
        assert np.linalg.matrix_rank(generators.flatten(1).numpy()) == dimension


@every_entry
def test_preserves_what_defines_it(generators, dimension, defines):
    assert all(defines(h) for h in generators.numpy())


@every_entry
def test_closed_under_the_bracket(generators, dimension, defines):
    g = generators.numpy()
    for bracket in (a @ b - b @ a for a in g for b in g):
        span, target = g.reshape(dimension, -1).T, bracket.ravel()
        coordinates = np.linalg.lstsq(span, target, rcond=None)[0]
        np.testing.assert_allclose(span @ coordinates, target, atol=1e-12)


@every_entry
def test_entries_are_small_integers(generators, dimension, defines):
    assert set(np.unique(generators)) <= {-1.0, 0.0, 1.0}


def test_the_turn_of_the_plane_is_counter_clockwise():
    moved = torch.linalg.matrix_exp(torch.pi / 2 * liegg.so(2)[0]) @ torch.tensor([1.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(moved, torch.tensor([0.0, 1.0], dtype=torch.float64))


def test_public_names_are_the_catalogue():
    for name in ("aff", "diagonal", "gl", "o", "scaling", "se", "shear", "sl", "so", "sp", "su", "translation", "u"):
        assert getattr(liegg, name) is getattr(algebra, name)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: algebra.so(0), r"so\(\): p \+ q is 0; expected a positive dimension, for example so\(3\)"),
        (lambda: algebra.so(-1, 3), r"so\(-1, 3\): p and q must not be negative, for example so\(1, 3\)"),
        (lambda: algebra.o(0), r"so\(\): p \+ q is 0"),
        (lambda: algebra.sp(3), r"sp\(3\): the dimension must be even and positive; sp\(4\) is sp\(4, R\)"),
        (lambda: algebra.sp(0), r"sp\(0\): the dimension must be even and positive"),
        *((lambda name=name: getattr(algebra, name)(0), rf"{name}\(\): n is 0; expected a positive .* example {name}\(3\)")
          for name in ("gl", "sl", "u", "su", "translation", "scaling", "diagonal", "shear")),
        (lambda: algebra.se(0), "is 0; expected a positive dimension"),
        (lambda: algebra.aff(0), "is 0; expected a positive dimension"),
    ],
)  # fmt: skip
def test_errors(make, text):
    with pytest.raises(ArgumentError, match=text):
        make()
