"""Intervals that cover the error of derivatives: the triangle inequality of roots."""

import torch

from liegg.decision.derivative_error import LEAST, widened


def test_roots_move_by_the_root_of_the_error():
    values = torch.tensor([0.04, 0.01, 0.25], dtype=torch.float64)
    errors = torch.tensor([0.01, 0.09, 0.0], dtype=torch.float64)
    bounds = torch.tensor([[0.01, 0.09], [torch.nan, torch.nan], [0.16, 0.36]]).double()
    found = widened(values, bounds, errors)
    expected = torch.tensor([[LEAST * 0.16, 0.16], [LEAST * 0.16, 0.16], [0.16, 0.36]]).double()
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)
    alone = widened(values, None, errors)
    torch.testing.assert_close(alone[2], values[2].expand(2))
