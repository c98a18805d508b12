"""A name without its reasons is the name with them."""

import pytest
import torch
from torch import Tensor

from liegg.algebra.catalog import gl, heis, se, sl, so, sp
from liegg.algebra.identify import identified

CASES = {
    "so(3)": so(3),
    "so(1,3)": so(1, 3),
    "so(4)": so(4),
    "se(2)": se(2),
    "se(3)": se(3),
    "gl(2,R)": gl(2),
    "sl(2,R)": sl(2),
    "sp(4,R)": sp(4),
    "Heisenberg": heis(3),
    "one generator": so(3)[:1],
    "not closed": so(3)[:2],
    "zero last columns": torch.eye(25, dtype=torch.float64).reshape(25, 5, 5)[:20],
}


@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.1])
@pytest.mark.parametrize("case", CASES)
def test_the_name_and_whether_it_is_sure_do_not_depend_on_reasons(case, noise):
    check(CASES[case], noise)


@pytest.mark.parametrize("case", ["so(3)", "gl(2,R)", "one generator"])
def test_nor_with_more_noise_than_any_sure_name_bears(case):
    check(CASES[case], 0.35)


def check(generators: Tensor, noise: float) -> None:
    """Compare both names of generators in other coordinates, with noise."""
    drawn = torch.Generator().manual_seed(1)
    frame = torch.randn(*generators.shape[1:], generator=drawn, dtype=torch.float64)
    frame = torch.linalg.qr(frame).Q @ torch.diag(torch.linspace(0.8, 1.25, len(frame)).double())
    generators = frame @ generators @ torch.linalg.inv(frame)
    size = generators.flatten(1).norm(dim=1)[:, None, None] / generators.shape[1]
    off = torch.randn(generators.shape, generator=drawn, dtype=torch.float64)
    generators = generators + noise * size * off
    options = {"uncertainty": noise, "coordinates": None, "homogeneous": None}
    long, brief = (identified(generators, **options, brief=brief) for brief in (False, True))
    assert brief.name == long.name
    assert brief.confident == long.confident
    assert torch.equal(brief.generators, long.generators)
