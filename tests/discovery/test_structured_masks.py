"""What counts as padding: the name of a mask, and the model that does not see the points that it calls padding."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg._utils.diagnoses import Diagnosis
from structures import POSITIONS, Graph, GraphNet, MaskedNet, joined, molecules, padded

FAST: dict[str, Any] = {"controls": "none"}
DRAW = torch.Generator().manual_seed(0)
POS = torch.randn(100, 5, 3, generator=DRAW, dtype=torch.float64)
FLAG = torch.rand(100, 5, generator=DRAW) < 0.5
MASK = torch.arange(5) < torch.randint(2, 6, (100, 1), generator=DRAW)


def remarks(sym: liegg.Symmetries) -> set[Diagnosis]:
    return {note.diagnosis for note in sym.notes}


def weighted(pos: Tensor, flag: Tensor) -> Tensor:
    """A rigidly invariant energy in which a flag is a feature of every atom."""
    w = 1 + flag.double()
    pairs = torch.exp(-(pos[:, :, None] - pos[:, None]).square().sum(-1))
    return (pairs * w[:, :, None] * w[:, None]).sum((1, 2))


def on_zeros(pos: Tensor, mask: Tensor) -> Tensor:
    """Rigidly invariant on the points that exist, if the others are zero."""
    mask = mask.reshape(len(pos), -1, 1)
    centre = pos.sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return ((pos - centre) * mask).norm(dim=-1).sum(1).sin()


@pytest.mark.parametrize("name", ["mask", "hydrogen_mask", "pad_mask", "valid"])
def test_a_feature_of_points_is_not_padding(name):
    def model(batch):
        return weighted(batch["pos"], batch[name])

    sym = liegg.discover(model, {"pos": POS, name: FLAG}, POSITIONS, **FAST)
    assert (sym.nullity, sym.name) == (6, "se(3)")
    assert Diagnosis.MASKED_POINTS not in remarks(sym)
    assert (Diagnosis.MASK_NOT_TAKEN in remarks(sym)) == (name != "hydrogen_mask")


def test_a_feature_of_points_in_a_tuple():
    sym = liegg.discover(weighted, (POS, FLAG), {0: liegg.Affine(3)}, **FAST)
    assert (sym.nullity, sym.name) == (6, "se(3)")
    assert Diagnosis.MASK_NOT_TAKEN in remarks(sym)


def test_the_mask_that_the_model_uses_is_taken_wherever_it_comes():
    net = MaskedNet().double()
    for first in ("ca_mask", "node_mask", "attention_mask"):
        data = {first: FLAG[:80], **padded()}
        sym = liegg.discover(lambda batch: net(batch["z"], batch["pos"], batch["mask"]), data, POSITIONS, **FAST)  # fmt: skip
        (note,) = [n for n in sym.notes if n.diagnosis is Diagnosis.MASKED_POINTS]
        assert "'mask'" in note
        assert sym.name == "se(3)"


def test_a_mask_that_the_model_is_not_given_says_nothing():
    sym = liegg.discover(lambda pos: weighted(pos, FLAG[:1]), {"pos": POS, "mask": MASK}, POSITIONS, **FAST)  # fmt: skip
    assert sym.name == "se(3)"
    assert not {Diagnosis.MASKED_POINTS, Diagnosis.MASK_NOT_TAKEN} & remarks(sym)


@pytest.mark.parametrize(
    "mask",
    [MASK, MASK.double(), MASK.long(), MASK[..., None]],
    ids=["bool", "float", "int", "axis"],
)
def test_every_form_of_a_mask(mask):
    data = {"pos": POS * MASK[..., None], "mask": mask}
    sym = liegg.discover(on_zeros, data, POSITIONS, **FAST)
    assert (sym.nullity, sym.name) == (6, "se(3)")
    assert set(sym.decision.grades[:6]) == {"exact"}
    assert Diagnosis.MASKED_POINTS in remarks(sym)


def test_padding_that_begins_late_in_the_data():
    """The first samples are complete: a feature is told from padding by those that are not."""
    flag = FLAG.clone()
    flag[:70] = True
    sym = liegg.discover(weighted, (POS, flag), {0: liegg.Affine(3)}, **FAST)
    assert sym.name == "se(3)"


def test_held_out_samples_have_the_mask_that_was_decided():
    sym = liegg.discover(
        on_zeros,
        {"pos": POS * MASK[..., None], "mask": MASK},
        POSITIONS,
        held_out={"pos": POS[:20] * MASK[20:40, :, None], "mask": MASK[20:40]},
        **FAST,
    )
    assert sym.verification is not None
    assert sym.verification.holds


@pytest.mark.parametrize("name", ["train_mask", "mask"])
def test_graphs_have_no_padding(name):
    samples = molecules(40)
    flags = [one | {name: one["z"] > 2} for one in samples]
    net = GraphNet().double()

    class Net(nn.Module):
        def forward(self, data):
            return net(data.z, data.pos, data.edge_index, data.batch)

    for model, data in (
        (Net(), [Graph(**one) for one in flags]),
        (lambda z, pos, edge_index, batch: net(z, pos, edge_index, batch), joined(flags)),
    ):
        sym = liegg.discover(model, data, POSITIONS, **FAST)
        assert sym.name == "se(3)"
        assert Diagnosis.MASKED_POINTS not in remarks(sym)


class Tokens(nn.Module):
    """Embeddings, of which the mean over tokens that exist is taken."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 4)

    def forward(self, input_ids, attention_mask):
        hidden = self.table(input_ids) * attention_mask[..., None]
        mean = hidden.sum(1) / attention_mask.sum(1, keepdim=True)
        return mean.norm(dim=1).sin()


def test_masks_at_an_inner_point_are_those_that_the_model_takes():
    torch.manual_seed(0)
    ids = torch.randint(0, 20, (100, 5))
    special = {"valid": (ids < 10).long()}
    mask = {"input_ids": ids, "attention_mask": MASK.long()}
    for data in (special | mask, mask | special):
        sym = liegg.discover(
            Tokens().double(), data, liegg.Linear(4, copies=5), at="embeddings", **FAST
        )
        assert sym.name == "so(4)"
        (note,) = [n for n in sym.notes if n.diagnosis is Diagnosis.MASKED_POINTS]
        assert "'attention_mask'" in note


@pytest.mark.parametrize("last", [False, True])
def test_padding_that_matters_in_some_samples_is_moved(last):
    """Samples with much padding come first or last; only they show that it is no padding."""
    pos = torch.randn(400, 5, 3, generator=DRAW, dtype=torch.float64)
    counts = torch.tensor([4] * 360 + [2] * 40 if last else [2] * 40 + [4] * 360)
    mask = torch.arange(5) < counts[:, None]

    def model(pos: Tensor, mask: Tensor) -> Tensor:
        pairs = torch.cdist(pos, pos) * (mask[:, :, None] & mask[:, None])
        few = mask.sum(1) == 2
        return pairs.sum((1, 2)) + few * (pos[..., 0].sin() * ~mask).sum(1)

    sym = liegg.discover(model, {"pos": pos, "mask": mask}, POSITIONS, **FAST)
    assert Diagnosis.MASK_NOT_TAKEN in remarks(sym)
    assert sym.decision.grades.count("exact") == 3
