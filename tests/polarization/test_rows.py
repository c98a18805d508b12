"""Stage 3: every route gives the rows of a dense float64 reference, and the cheapest that works is taken."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

import liegg
from liegg.actions import Action
from liegg.polarization.plan import Plan
from row_functions import ROUTES, curved, dense_rows, draw, polarize, ready, rows_of

CASES: dict[str, tuple[Action, tuple[int, ...]]] = {
    "linear": (liegg.Linear(3), (3,)),
    "linear, flat copies": (liegg.Linear(3, copies=2), (6,)),
    "linear, copies": (liegg.Linear(3, copies=2), (2, 3)),
    "linear, vector first": (liegg.Linear(3, copies=2, layout="vector_first"), (3, 2)),
    "affine": (liegg.Affine(3), (3,)),
    "affine, copies": (liegg.Affine(2, copies=2), (2, 2)),
    "linear restricted": (liegg.Linear(3).restrict(liegg.so(3)), (3,)),
    "affine restricted": (liegg.Affine(2, copies=3).restrict(liegg.se(2)), (3, 2)),
}


@pytest.mark.parametrize(("action", "shape"), CASES.values(), ids=CASES)
def test_every_route_gives_the_rows_of_the_definition(action, shape):
    x = draw(5, *shape)
    for outputs in (1, 4):
        function = curved(outputs, x[0].numel())
        known = dense_rows(function, action, x)
        for route in ROUTES:
            rows = rows_of(function, action, x, "each", route)
            assert rows.dtype == torch.float64
            torch.testing.assert_close(rows, known, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("route", ROUTES)
def test_rows_of_a_known_function(route):
    x = torch.tensor([[2.0, 3.0]])
    rows = rows_of(
        lambda x: torch.stack([x[:, 0] * x[:, 1], 5 * x[:, 0]], 1),
        liegg.Linear(2),
        x,
        "each",
        route,
    )
    # f = x0 x1 has gradient (3, 2), f = 5 x0 has (5, 0); the row is gradient ⊗ x.
    assert rows.tolist() == [[[6.0, 9.0, 4.0, 6.0], [10.0, 15.0, 0.0, 0.0]]]
    assert not x.requires_grad  # the caller's tensor


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_rows_are_float64_whatever_the_model_s_dtype(dtype):
    weight, x = draw(3, 2, seed=1).to(dtype), draw(5, 3).to(dtype)
    wide = dense_rows(lambda x: (x @ weight.double()).tanh(), liegg.Linear(3), x.double())
    error = 8 * torch.finfo(dtype).eps * float(wide.abs().max())
    for route in ROUTES:
        rows = rows_of(lambda x: (x @ weight).tanh(), liegg.Linear(3), x, "each", route)
        assert rows.dtype == torch.float64
        torch.testing.assert_close(rows, wide, rtol=0, atol=error)


@pytest.mark.parametrize("route", ROUTES)
def test_sum_is_the_sum_of_the_rows(route):
    x, function, action = draw(6, 3), curved(4, 3), liegg.Affine(3)
    each, total = (
        rows_of(function, action, x, "each", route),
        rows_of(function, action, x, "sum", route),
    )
    assert total.shape == (6, 1, 12)
    torch.testing.assert_close(total, each.sum(1, keepdim=True), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("route", ROUTES)
def test_output_fields_stand_before_the_input_fields(route):
    x, function = draw(6, 3), curved(2, 3)
    with ready(function, x) as model:
        rows = polarize(
            model, liegg.Linear(3), x, Plan("each", route), output_action=liegg.Linear(2)
        )
    eta = liegg.Linear(2).fields(function(x))
    torch.testing.assert_close(rows[:, :, :4], -eta.mT)
    torch.testing.assert_close(
        rows[:, :, 4:], dense_rows(function, liegg.Linear(3), x), rtol=1e-12, atol=1e-12
    )


# Random combinations


@pytest.mark.parametrize("route", ROUTES)
def test_combinations_are_plus_and_minus_one_over_the_square_root_of_k(route):
    x, function, action, k = draw(6, 5), curved(5, 5), liegg.Linear(5), 2
    each, mixed = (
        rows_of(function, action, x, "each", route),
        rows_of(function, action, x, k, route),
    )
    weights = mixed @ torch.linalg.pinv(each)
    torch.testing.assert_close(weights.abs(), torch.full((6, k, 5), k**-0.5, dtype=torch.float64))


def test_combinations_are_the_same_whatever_the_route():
    x, function, action = draw(6, 3), curved(5, 3), liegg.Linear(3)
    jvp, vjp, autograd = (rows_of(function, action, x, 3, route, seed=4) for route in ROUTES)
    torch.testing.assert_close(jvp, vjp, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(autograd, vjp, rtol=1e-12, atol=1e-12)


def test_combinations_are_unbiased():
    """Mean of RᵀR over 400 seeds within five standard errors of the whole, entry by entry; about 1 in 10⁴ to fail by chance."""
    x, function, action = draw(20, 3), curved(5, 3), liegg.Linear(3)
    each = rows_of(function, action, x, "each", "vjp").flatten(0, 1)
    exact = each.mT @ each
    with ready(function, x) as model:
        drawn = [
            polarize(model, action, x, Plan(2, "vjp", seed)).flatten(0, 1) for seed in range(400)
        ]
    grams = torch.stack([rows.mT @ rows for rows in drawn])
    error, standard = grams.mean(0) - exact, grams.std(0) / len(grams) ** 0.5
    assert bool((error.abs() <= 5 * standard).all())
    assert (
        float(standard.max() / exact.diagonal().max()) < 0.04
    )  # tight enough to see a wrong scale


@pytest.mark.parametrize("route", ROUTES)
def test_combinations_do_not_depend_on_the_batching(route):
    x, function, action = draw(12, 4), lambda x: torch.sin(x) * x, liegg.Linear(4)
    whole = rows_of(function, action, x, 3, route)
    with ready(function, x) as model:
        starts = zip((0, 1, 5), x.split([1, 4, 7]), strict=True)
        pieces = [
            polarize(model, action, piece, Plan(3, route), first=start) for start, piece in starts
        ]
    torch.testing.assert_close(torch.cat(pieces), whole, rtol=1e-12, atol=1e-12)


def test_combinations_follow_the_seed_of_discover():
    one, again, other = (
        liegg.discover(
            curved(5, 3), draw(30, 3), liegg.Linear(3), outputs=2, run=liegg.Run(seed=seed)
        )
        for seed in (0, 0, 1)
    )
    torch.testing.assert_close(again.defects, one.defects, rtol=1e-9, atol=1e-12)
    assert not torch.allclose(other.defects, one.defects)
    assert one.accumulated.rows.rows == 60


# Memory


class Largest(TorchDispatchMode):
    """Remembers the largest tensor that any operation makes."""

    size = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else [out]:
            if isinstance(tensor, Tensor):
                self.size = max(self.size, tensor.numel())
        return out


@pytest.mark.parametrize("route", ["vjp", "autograd"])
@pytest.mark.parametrize("action", [liegg.Linear(12), liegg.Affine(12)], ids=["linear", "affine"])
def test_the_fields_of_all_generators_are_never_formed(monkeypatch, action, route):
    x, function = draw(32, 12), curved(1, 12)
    expected = dense_rows(function, action, x)

    def refuse(*_: Any) -> Tensor:
        raise RuntimeError("a field was formed")

    for name in ("field", "fields", "act"):
        monkeypatch.setattr(type(action), name, refuse)
    with Largest() as largest:
        rows = rows_of(function, action, x, "each", route)
    torch.testing.assert_close(rows, expected, rtol=1e-12, atol=1e-12)
    assert largest.size == rows.numel()  # [b, 1, g]: far from [b, g, *x]
    run = liegg.Run(route=route, hidden="ignore")  # which looks at one field at a few samples
    sym = liegg.discover(function, x, action, run=run)
    assert sym.accumulated.rows.rows == 32


def test_largest_sees_the_fields():
    with Largest() as largest:
        liegg.Linear(12).fields(draw(32, 12))
    assert largest.size == 32 * 144 * 12
