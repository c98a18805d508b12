"""Whitened outputs: defects do not depend on how outputs are scaled, mixed or repeated."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.discovery.output_whitening import inverse_root

X = normal(300, 3)


def outputs(x):
    """Two outputs: one keeps all rotations, one keeps none."""
    return torch.stack([x.square().sum(1), torch.sin(2 * x[:, 0]) + x[:, 1]], dim=1)


def asked(function, x=X, **how):
    return liegg.discover(function, x, liegg.Linear(3), controls="none", outputs="whitened", **how)


PLAIN = asked(outputs).defects


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 1000), more=st.integers(0, 4), scale=st.floats(-4, 4))
def test_any_mixture_of_the_outputs_has_the_same_defects(seed, more, scale):
    mixture = normal(2, 2 + more, seed=seed)
    mixture[0] *= 10**scale
    singular = torch.linalg.svdvals(mixture)
    # The error of a mixture grows with its condition number.
    tolerance = 1e-12 * float(singular[0] / singular[-1]) ** 2
    found = asked(lambda x: outputs(x) @ mixture).defects
    assert torch.allclose(found, PLAIN, rtol=max(tolerance, 1e-9))


@pytest.mark.parametrize("times", [1, 8, 64])
def test_a_repeated_output_counts_once(times):
    def repeated(x):
        y = outputs(x)
        return torch.cat([y[:, :1].expand(-1, times), y[:, 1:]], dim=1)

    sym = asked(repeated)
    assert torch.allclose(sym.defects, PLAIN, rtol=1e-9)
    assert sym.settings["outputs"] == "whitened"
    assert sym.settings["whitening"]["independent"] == 2
    assert sym.settings["whitening"]["outputs"] == times + 1


def test_the_defects_are_those_of_a_dense_oracle():
    """δ² with the inverse of S = Cov(y) + s · mean(E M⁻¹ Eᵀ) / g between the rows."""
    x = X[:256]
    slopes = torch.func.vmap(torch.func.jacrev(lambda one: outputs(one[None])[0]))(x)
    rows = torch.einsum("bci,bj->bcij", slopes, x).flatten(2)
    fields = torch.einsum("ik,bj->bikj", torch.eye(3, dtype=x.dtype), x).flatten(2)
    moved = torch.einsum("bia,bic->ac", fields, fields) / len(x)
    y = outputs(x)
    spread = (x - x.mean(0)).square().sum(1).mean()
    together = torch.einsum("bca,ad,bed->ce", rows, moved.inverse(), rows) / len(x) / 9
    square = torch.cov(y.mT, correction=0) + spread * together
    a = torch.einsum("bca,ce,bed->ad", rows, square.inverse(), rows) / len(x)
    values = torch.linalg.eigvals(torch.linalg.solve(moved, a)).real.sort().values
    assert torch.allclose(asked(outputs, x).defects, values / values.mean(), rtol=1e-9)


def test_probabilities_that_sum_to_one_have_one_output_less():
    weights = normal(1, 3, seed=4)
    sym = asked(lambda x: (x.square().sum(1, keepdim=True) @ weights).softmax(1))
    assert (sym.nullity, sym.decision.grades[:3]) == (3, ("exact",) * 3)
    assert sym.settings["whitening"]["independent"] == 2


def test_an_output_that_the_data_leave_constant_counts_all_the_same():
    sphere = torch.nn.functional.normalize(X, dim=1)
    sym = asked(
        lambda x: torch.stack([x.square().sum(1), (x[:, 0] / x.norm(dim=1)) ** 2], dim=1), sphere
    )
    assert sym.nullity == 1  # rotations about the first axis; scaling changes the constant output


def test_one_output_and_half_precision():
    assert asked(lambda x: x.square().sum(1)).nullity == 3
    assert asked(lambda x: torch.stack([x.square().sum(1)] * 2, 1), X.bfloat16()).nullity == 3


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ArgumentError, match="8 samples"):
        asked(lambda x: x.repeat(1, 2)[:, :4], X[:7])
    with pytest.raises(ArgumentError, match="output_action"):
        asked(lambda x: x**3, output_action=liegg.Linear(3))


def test_classes_are_those_of_the_outputs_as_they_are():
    sym = liegg.discover(
        lambda x: x**3, X, liegg.Linear(3), outputs="whitened", about={"turn": liegg.so(3)[:1]}
    )
    (answer,) = sym.answers
    plain = liegg.discover(lambda x: x**3, X, liegg.Linear(3), about={"turn": liegg.so(3)[:1]})
    first, second = (one.finite for one in (answer, plain.answers[0]))
    assert first is not None and second is not None  # noqa: PT018
    assert first.share == second.share


def test_inverse_root_leaves_out_zero_columns():
    rows = torch.tensor([[1.0, 0.0, 2.0], [1.0, 0.0, -2.0]], dtype=torch.float64)
    root, values = inverse_root(rows, cut=1e-12)
    assert torch.allclose(root.mT @ root, torch.diag(torch.tensor([0.5, 0.0, 0.125]).double()))
    assert len(values) == 2
