"""The Gram path: allowed where the model's own rounding is coarser, and there as good as the R factor."""

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.linalg import FULL_SVD_LIMIT, orthonormal_rows
from liegg.actions import Displacement
from liegg.polarization import gram, r_factor
from liegg.spectrum.defects import defects


def gram_factor(rows, *, sizes=(37, 200)):
    state = gram.init(rows.shape[1])
    start = 0
    while start < len(rows):
        size = sizes[start % len(sizes)]
        state = gram.update(state, rows[start : start + size])
        start += size
    return gram.factor(state)


@pytest.mark.parametrize(
    ("dtype", "yes"),
    [(torch.float64, False), (torch.float32, True), (torch.bfloat16, True), (torch.float16, True)],
)
def test_only_coarse_dtypes_are_allowed(dtype, yes):
    assert gram.allowed(dtype) is yes


@pytest.mark.parametrize("columns", [1, 3, 7, 64])
def test_the_factor_is_that_of_a_qr(columns):
    rows = normal(300, columns)
    ours, reference = gram_factor(rows), r_factor.update(r_factor.init(columns), rows)
    assert ours.rows == reference.rows == 300
    torch.testing.assert_close(ours.r, reference.r, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rank", [1, 5, 11])
def test_a_null_space_stays_below_the_rounding_of_float32(rank):
    rows = normal(400, rank) @ normal(rank, 12)
    values = torch.linalg.svdvals(gram_factor(rows).r)
    assert float(values[rank] / values[0]) ** 2 < torch.finfo(torch.float32).eps ** 2
    torch.testing.assert_close(
        values[:rank], torch.linalg.svdvals(rows)[:rank], rtol=1e-9, atol=0.0
    )


def test_columns_of_very_different_length_keep_their_digits():
    scale = torch.logspace(0, -12, 6, dtype=torch.float64)
    rows = normal(300, 6)
    reference = r_factor.update(r_factor.init(6), rows).r
    torch.testing.assert_close(
        gram_factor(rows * scale).r / scale, reference, rtol=1e-11, atol=1e-11
    )


def test_no_rows_and_columns_of_zeros():
    assert gram_factor(torch.zeros(0, 3)).r.tolist() == [[0.0] * 3] * 3
    rows = normal(50, 3)
    rows[:, 1] = 0
    assert gram_factor(rows).r[:, 1].abs().max() == 0


def test_a_matrix_that_no_ridge_mends_still_has_a_factor():
    state = gram.Gram(
        torch.tensor([[1.0, 1.0 + 1e-9], [0.0, 1.0]], dtype=torch.float64), 2
    )  # not quite a sum of squares
    r = gram.factor(state).r
    torch.testing.assert_close(
        r.mT @ r, torch.ones(2, 2, dtype=torch.float64), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize(("copies", "side", "kept"), [(1, 6, 4), (3, 5, 5), (4, 7, 3), (9, 2, 1)])
def test_between_is_the_dense_product(copies, side, kept):
    rows, columns = normal(120, copies * side), normal(side, kept, seed=1)
    state = gram.update(gram.init(copies * side), rows)
    whole = torch.block_diag(*[columns] * copies)
    torch.testing.assert_close(
        state.between(columns).triu(),
        (whole.mT @ rows.mT @ rows @ whole).triu(),
        rtol=1e-12,
        atol=1e-11,
    )
    torch.testing.assert_close(  # untouched
        state.matrix, gram.update(gram.init(copies * side), rows).matrix, rtol=1e-12, atol=1e-11
    )


@pytest.mark.parametrize(("p", "q", "m"), [(1, 1, 5), (3, 4, 10), (4, 3, 5000)])
def test_products_are_summed_as_their_rows_are(p, q, m):
    left, right = normal(m, p), normal(m, q, seed=1)
    start = gram.update(gram.init(p * q), normal(7, p * q, seed=2))
    rows = torch.einsum("mi,mj->mij", left, right).flatten(1)
    known = gram.update(gram.Gram(start.matrix.clone(), start.rows), rows)
    found = gram.update_products(start, left, right)
    torch.testing.assert_close(found.matrix.triu(), known.matrix.triu(), rtol=1e-12, atol=1e-11)
    assert found.rows == known.rows == m + 7


@pytest.mark.parametrize(
    "action", [liegg.Linear(6), liegg.Affine(6), liegg.Linear(6, layout="vector_first")]
)
@pytest.mark.parametrize("outputs", ["each", "sum", 2])
def test_rows_that_are_products_give_what_the_r_factor_gives(monkeypatch, action, outputs):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    x = normal(3000, 6).float()
    summed = liegg.discover(model, x, action, outputs=outputs, run=liegg.Run(route="vjp"))
    assert "gram" in summed.settings["accumulator"]
    monkeypatch.setattr(gram, "allowed", lambda dtype: False)
    folded = liegg.discover(model, x, action, outputs=outputs, run=liegg.Run(route="vjp"))
    torch.testing.assert_close(
        summed.defects, folded.defects, rtol=1e-5, atol=0.0
    )  # float32 rows against float64 products


@pytest.mark.parametrize("null", [0, 3])
def test_a_large_sum_is_solved_as_its_factor_is(null):
    """Above the limit of the full SVD the sum itself is solved, with the factor for the small end alone."""
    columns = 3 * 200
    assert columns > FULL_SVD_LIMIT
    rows = normal(1500, columns)
    if null:
        rows = rows - rows @ (basis := torch.linalg.qr(normal(columns, null, seed=3))[0]) @ basis.mT
    state = gram.update(gram.init(columns), rows)
    block = normal(800, 200, seed=2)
    displacement = Displacement(block.mT @ block, repeat=3)
    summed = defects(state, displacement, 1500)
    assert ("r" in vars(state)) is bool(null)
    folded = defects(r_factor.update(r_factor.init(columns), rows).r, displacement, 1500)
    torch.testing.assert_close(summed.values[null:], folded.values[null:], rtol=1e-8, atol=0.0)
    assert float(summed.values[:null].sum()) < torch.finfo(torch.float32).eps ** 2
    spans = [orthonormal_rows(found.directions[: null or 1]) for found in (summed, folded)]
    torch.testing.assert_close(*[span.mT @ span for span in spans], rtol=0.0, atol=1e-6)
    assert summed.sensitivity == pytest.approx(folded.sensitivity, rel=1e-10)


def test_float32_models_give_what_the_r_factor_gives(monkeypatch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    x = normal(500, 4).float()
    summed = liegg.discover(model, x, liegg.Linear(2, copies=2))
    monkeypatch.setattr(gram, "allowed", lambda dtype: False)
    folded = liegg.discover(model, x, liegg.Linear(2, copies=2))
    torch.testing.assert_close(summed.defects, folded.defects, rtol=1e-9, atol=0.0)
    torch.testing.assert_close(summed.spectrum.values, folded.spectrum.values, rtol=1e-9, atol=0.0)
    assert (
        float(
            liegg.algebra.principal_angles(
                summed.spectrum.basis[:1], folded.spectrum.basis[:1]
            ).max()
        )
        < 1e-9
    )
