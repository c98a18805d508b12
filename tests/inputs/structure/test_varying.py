"""Values beside the tensors that differ between samples are given to no model."""

from enum import Enum
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import liegg
from liegg._utils.errors import DataError, VaryingValueError
from liegg.inputs.structure.varying import Varying

ACTION = {"pos": liegg.Affine(3)}
Sign = Enum("Sign", ["PLUS", "MINUS"])


def samples(*values: object) -> Any:
    """Four points each, and values in turn."""
    drawn = torch.Generator().manual_seed(0)
    return [
        {
            "pos": torch.randn(4, 3, generator=drawn, dtype=torch.float64),
            "kind": values[i % len(values)],
        }
        for i in range(60)
    ]


def radii(pos):
    return (pos - pos.mean(-2, keepdim=True)).norm(dim=-1).sum(-1)


@pytest.mark.parametrize("kinds", [("a", "b"), (["H", "C"], ["H", "N"]), (["H"], ["H", "H"])])
def test_a_text_that_the_model_uses_is_refused(kinds):
    """It was that of the first sample for all of them: half of these samples have no symmetry."""

    def model(pos, kind):
        return radii(pos) if kind[0] == "a" or "N" not in kind else pos[..., 0].sum(-1)

    with pytest.raises(VaryingValueError, match=r"uses 'kind.*Only tensors may differ"):
        liegg.discover(model, samples(*kinds), ACTION)


def test_a_text_that_the_model_does_not_use_is_ignored():
    sym = liegg.discover(lambda batch: radii(batch["pos"]), samples("a", "b"), ACTION)
    assert sym.name == "se(3)"


def test_lists_of_texts_in_batches():
    loader = DataLoader(samples("a", "b"), batch_size=20)
    assert liegg.discover(lambda batch: radii(batch["pos"]), loader, ACTION).name == "se(3)"

    def numbers(batch):
        return radii(batch["pos"]) * torch.tensor([ord(kind) for kind in batch["kind"]])

    with pytest.raises(VaryingValueError, match="list with one value per sample, such as 'a'"):
        liegg.discover(numbers, loader, ACTION)


@pytest.mark.parametrize(
    "kinds", [(None, "b"), (Sign.PLUS, Sign.MINUS), (np.float32(1), np.float32(2)), (1j, 2j)]
)
def test_numbers_and_what_is_compared_by_identity_are_refused_when_they_are_read(kinds):
    with pytest.raises(DataError, match=r"'kind'.* is .* first"):
        liegg.discover(lambda batch: radii(batch["pos"]), samples(*kinds), ACTION)


def test_a_list_of_numbers_is_no_tensor():
    data = {"pos": torch.randn(9, 4, 3), "q": [float(i) for i in range(9)]}
    with pytest.raises(DataError, match=r"'q' is a list of 9 numbers.*torch\.tensor\(q\)"):
        liegg.discover(lambda pos, q: radii(pos), data, ACTION)


@pytest.mark.parametrize("use", [str, len, bool, hash, iter, float])
def test_a_stand_in_is_not_converted(use):
    with pytest.raises(VaryingValueError, match="why"):
        use(Varying("why"))


def test_a_stand_in_is_not_looked_at():
    stand_in: Any = Varying("why")
    for use in (
        lambda: stand_in == "a",
        lambda: stand_in != "a",
        lambda: stand_in[0],
        lambda: stand_in.lower(),
        lambda: "a" in stand_in,
        lambda: {"a": 1}[stand_in],
        lambda: f"{stand_in}",
        lambda: stand_in(),
    ):
        with pytest.raises(VaryingValueError, match="why"):
            use()
    assert not hasattr(stand_in, "anything")
    assert "differs" in repr(stand_in)
