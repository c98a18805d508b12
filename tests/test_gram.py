"""The Gram path: allowed where the model's own rounding is coarser, and there as good as the R factor."""

import pytest
import torch

import liegg
from cases import normal
from liegg import accumulate, gram
from liegg._errors import NonFiniteError


def gram_factor(rows, *, sizes=(37, 200)):
    state = gram.init(rows.shape[1])
    start = 0
    while start < len(rows):
        size = sizes[start % len(sizes)]
        state = gram.update(state, rows[start : start + size])
        start += size
    return gram.factor(state)


@pytest.mark.parametrize(
    ("dtype", "yes"), [(torch.float64, False), (torch.float32, True), (torch.bfloat16, True), (torch.float16, True)]
)
def test_only_coarse_dtypes_are_allowed(dtype, yes):
    assert gram.allowed(dtype) is yes


@pytest.mark.parametrize("columns", [1, 3, 7, 64])
def test_the_factor_is_that_of_a_qr(columns):
    rows = normal(300, columns)
    ours, reference = gram_factor(rows), accumulate.update(accumulate.init(columns), rows)
    assert ours.rows == reference.rows == 300
    torch.testing.assert_close(ours.r, reference.r, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rank", [1, 5, 11])
def test_a_null_space_stays_below_the_rounding_of_float32(rank):
    rows = normal(400, rank) @ normal(rank, 12)
    values = torch.linalg.svdvals(gram_factor(rows).r)
    assert float(values[rank] / values[0]) ** 2 < torch.finfo(torch.float32).eps ** 2
    torch.testing.assert_close(values[:rank], torch.linalg.svdvals(rows)[:rank], rtol=1e-9, atol=0.0)


def test_columns_of_very_different_length_keep_their_digits():
    scale = torch.logspace(0, -12, 6, dtype=torch.float64)
    rows = normal(300, 6)
    reference = accumulate.update(accumulate.init(6), rows).r
    torch.testing.assert_close(gram_factor(rows * scale).r / scale, reference, rtol=1e-11, atol=1e-11)


def test_no_rows_and_columns_of_zeros():
    assert gram_factor(torch.zeros(0, 3)).r.tolist() == [[0.0] * 3] * 3
    rows = normal(50, 3)
    rows[:, 1] = 0
    assert gram_factor(rows).r[:, 1].abs().max() == 0


def test_a_matrix_that_no_ridge_mends_still_has_a_factor():
    state = gram.Gram(torch.tensor([[1.0, 1.0 + 1e-9], [0.0, 1.0]], dtype=torch.float64), 2)  # not quite a sum of squares
    r = gram.factor(state).r
    torch.testing.assert_close(r.mT @ r, torch.ones(2, 2, dtype=torch.float64), rtol=1e-8, atol=1e-8)


def test_a_bad_row_is_named():
    state = gram.update(gram.init(2), normal(4, 2))
    rows = normal(5, 2)
    rows[3, 1] = torch.nan
    with pytest.raises(NonFiniteError, match="polarization row 7 holds NaN or infinity"):
        gram.update(state, rows)


def test_float32_models_give_what_the_r_factor_gives(monkeypatch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    x = normal(500, 4).float()
    summed = liegg.discover(model, x, liegg.Linear(2, copies=2))
    monkeypatch.setattr(gram, "allowed", lambda dtype: False)
    folded = liegg.discover(model, x, liegg.Linear(2, copies=2))
    torch.testing.assert_close(summed.defects, folded.defects, rtol=1e-9, atol=0.0)
    torch.testing.assert_close(summed.spectrum.values, folded.spectrum.values, rtol=1e-9, atol=0.0)
    assert float(liegg.algebra.principal_angles(summed.spectrum.basis[:1], folded.spectrum.basis[:1]).max()) < 1e-9
