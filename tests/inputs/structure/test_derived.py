"""Held leaves that were computed from points that move are recognised, and the result warns about them."""

from typing import Any

import pytest
import torch

import liegg
from liegg._utils.diagnoses import Diagnosis
from structures import molecules

MOVES = {"pos": liegg.Affine(3)}
SAMPLES = molecules(40)


def pairs(sample: dict[str, torch.Tensor]) -> torch.Tensor:
    i, j = sample["edge_index"]
    return sample["pos"][i] - sample["pos"][j]


def noise(d: torch.Tensor) -> torch.Tensor:
    return torch.rand(len(d), 2, generator=torch.Generator().manual_seed(len(d))).to(d)


FORMS: dict[str, Any] = {
    "differences": lambda one: pairs(one),
    "directions": lambda one: -pairs(one) / pairs(one).norm(dim=1, keepdim=True),
    "distances": lambda one: pairs(one).norm(dim=1, keepdim=True).float(),
    "squared distances": lambda one: torch.cat(
        [noise(pairs(one)), pairs(one).square().sum(1, keepdim=True)], 1
    ),
}


def energy(pos, edge_index, edge_attr, batch):
    """Not invariant as a function of the positions, if its attributes are differences."""
    i, j = edge_index
    each = torch.exp(-(pos[i] - pos[j]).square().sum(1)) * edge_attr[:, 0].cos()
    return pos.new_zeros(int(batch.max()) + 1).index_add(0, batch[i], each)


def warned(sym: liegg.Symmetries) -> list[dict[str, Any]]:
    remarks = [one for one in sym.decision.warnings if one.diagnosis is Diagnosis.DERIVED_LEAF]
    return [one.values for one in remarks]


@pytest.mark.parametrize("what", FORMS)
def test_attributes_of_edges_that_were_computed_from_positions(what):
    data = [one | {"edge_attr": FORMS[what](one)} for one in SAMPLES]
    (values,) = warned(liegg.discover(energy, data, MOVES, controls="none"))
    assert (values["leaf"], values["what"], values["moved"]) == ("'edge_attr'", what, "'pos'")
    assert ("A.vectors" in values["advice"]) == (what in ("differences", "directions"))


def test_attributes_that_move_break_what_they_broke():
    a = liegg.Affine(3)
    data = [one | {"edge_attr": FORMS["differences"](one)} for one in SAMPLES]
    sym = liegg.discover(energy, data, {"pos": a, "edge_attr": a.vectors}, controls="none")
    assert not warned(sym)
    assert (
        sym.decision.grades.count("exact") == 4
    )  # translations, and rotations about the first axis


@pytest.mark.parametrize(
    "other",
    [
        lambda one: noise(pairs(one)),
        lambda one: torch.zeros(len(pairs(one)), 3).double(),
        lambda one: pairs(one) + 0.01,
    ],
)
def test_other_attributes_are_no_reason_to_warn(other):
    data = [one | {"edge_attr": other(one)} for one in SAMPLES]
    assert not warned(liegg.discover(energy, data, MOVES, controls="none"))


def test_a_copy_of_the_positions():
    def model(x, pos, batch):
        return pos.new_zeros(int(batch.max()) + 1).index_add(0, batch, (x * pos).sum(1).tanh())

    data = [{"x": one["pos"], "pos": one["pos"]} for one in SAMPLES]
    (values,) = warned(liegg.discover(model, data, MOVES, controls="none"))
    assert values["what"] == "points"


def test_what_the_model_does_not_take_is_no_reason_to_warn():
    data = [{"pos": one["pos"], "other": one["pos"]} for one in SAMPLES]
    model = lambda pos: torch.cdist(pos, pos).sum((1, 2))  # noqa: E731
    assert not warned(liegg.discover(model, data, MOVES, controls="none"))


def test_matrices_of_distances():
    pos = torch.randn(60, 4, 3, generator=torch.Generator().manual_seed(0)).double()
    data = {"pos": pos, "d": torch.cdist(pos, pos)}
    model = lambda pos, d: (d * torch.cdist(pos, pos).square()).sum((1, 2))  # noqa: E731
    sym = liegg.discover(model, data, MOVES, controls="none")
    assert [values["what"] for values in warned(sym)] == ["distances"]


def test_a_model_that_uses_only_what_is_held_is_told_so():
    data = [one | {"edge_attr": pairs(one)} for one in SAMPLES]

    def model(pos, edge_index, edge_attr, batch):
        owner = batch[edge_index[0]]
        zero = torch.zeros(int(batch.max()) + 1).double()
        return zero.index_add(0, owner, edge_attr[:, 0].cos())

    with pytest.raises(liegg.LieggError, match=r"does not use 'pos'.*'edge_attr'"):
        liegg.discover(model, data, MOVES)
