"""Structured samples from end to end: every form of the data, every way of calling, against a dense reference."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

import liegg
import oracle
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import (
    ArgumentError,
    DtypeError,
    HiddenDerivativeError,
    ModelError,
    ShapeError,
)
from liegg.testing import assert_same_span
from structures import (
    POSITIONS,
    CloudNet,
    Forces,
    Graph,
    GraphNet,
    MaskedNet,
    clouds,
    joined,
    molecules,
    padded,
)

NET = GraphNet().double()
FAST: dict[str, Any] = {"controls": "none"}


def broken(z: Tensor, pos: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    """An energy with a weak field along one axis."""
    field = pos.new_zeros(int(batch.max()) + 1, 1).index_add(0, batch, pos[:, :1] * z[:, None])
    return NET(z, pos, edge_index, batch) + 0.01 * field.sin()


def remarks(sym: liegg.Symmetries) -> list[Diagnosis]:
    return [note.diagnosis for note in sym.notes]


def reference(model, samples: list[dict[str, Tensor]]) -> oracle.Solution:
    """Defects from jacobians of one molecule at a time, and fields in numpy."""
    most, units = 3 * max(len(one["pos"]) for one in samples), np.eye(12).reshape(12, 3, 4)
    rows, fields = [], []
    for one in samples:
        alone = {
            "z": one["z"],
            "edge_index": one["edge_index"],
            "batch": torch.zeros_like(one["z"]),
        }
        slope = torch.autograd.functional.jacobian(
            lambda p, a=alone: model(pos=p, **a)[0], one["pos"]
        )
        points = np.concatenate([one["pos"].numpy(), np.ones((len(one["pos"]), 1))], 1)
        xi = np.einsum("gij,nj->gni", units, points).reshape(12, -1)
        rows.append(slope.reshape(1, -1).numpy() @ xi.T)
        fields.append(np.pad(xi, ((0, 0), (0, most - xi.shape[1]))))
    return oracle.defects(np.concatenate(rows), np.stack(fields))


def test_ragged_graphs_agree_with_a_dense_reference():
    samples = molecules(40)
    sym = liegg.discover(broken, samples, POSITIONS, **FAST)
    wanted = reference(broken, samples).values
    np.testing.assert_allclose(sym.defects.numpy(), wanted, rtol=1e-7, atol=1e-14)


class Graphs(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, place):
        return self.samples[place], 0.5


SAMPLES = molecules(40)
FORMS = {
    "list": SAMPLES,
    "joined": joined(SAMPLES),
    "batches": [joined(SAMPLES[:13]), joined(SAMPLES[13:])],
    "graphs": [Graph(**one) for one in SAMPLES],
    "joined graphs": Graph(**joined(SAMPLES)),
    "Dataset with labels": Graphs(SAMPLES),
    "loader": DataLoader(SAMPLES, batch_size=7, collate_fn=joined),  # pyright: ignore[reportArgumentType]
    "loader of samples": DataLoader(SAMPLES, batch_size=None),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("action", [POSITIONS, {"pos": liegg.Affine(3)}])
def test_every_form_of_graphs_gives_the_same_answer(data, action):
    sym = liegg.discover(broken, data, action, **FAST)
    expected = liegg.discover(broken, SAMPLES, POSITIONS, **FAST)
    assert sym.samples == 40
    torch.testing.assert_close(sym.defects, expected.defects, rtol=1e-7, atol=1e-14)
    assert {Diagnosis.CALLED_AS, Diagnosis.HELD_LEAVES, Diagnosis.RAGGED_SAMPLES} <= {*remarks(sym)}


def test_forces_turn_with_the_atoms():
    sym = liegg.discover(
        Forces(NET), SAMPLES, {"pos": liegg.Affine(3)}, output_action=liegg.Linear(3), **FAST
    )
    assert (sym.nullity, sym.name) == (6, "se(3)")
    assert_same_span(sym.generators, liegg.se(3))
    turns = sym.output_generators
    assert turns is not None
    sizes = turns.flatten(1).norm(dim=1)
    assert_same_span(turns[sizes > 1e-6 * sizes.max()], liegg.so(3))


def test_positions_as_outputs_of_ragged_samples_need_a_linear_action():
    def shifted(z, pos, edge_index, batch):
        return pos + 1

    with pytest.raises(ShapeError, match="moves outputs of zero"):
        liegg.discover(shifted, SAMPLES, POSITIONS, output_action=liegg.Affine(3), **FAST)


class Batch(NamedTuple):
    z: Tensor
    pos: Tensor
    mask: Tensor


@dataclass
class Cloud:
    z: Tensor
    pos: Tensor
    mask: Tensor


PADDED, MASKED = padded(), MaskedNet().double()


@pytest.mark.parametrize(
    ("model", "data", "action"),
    [
        (MaskedNet(), PADDED, {"pos": liegg.Affine(3)}),
        (MaskedNet(), Batch(**PADDED), POSITIONS),
        (MaskedNet(), Cloud(**PADDED), POSITIONS),
        (MaskedNet(), PADDED, liegg.Affine(3, copies=None)),
        (MaskedNet(), tuple(PADDED.values()), {1: liegg.Affine(3)}),
        (MaskedNet(), list(PADDED.values()), {"1": liegg.Affine(3)}),
        (
            MaskedNet(),
            [{k: v[i : i + 20] for k, v in PADDED.items()} for i in range(0, 80, 20)],
            POSITIONS,
        ),
        (MaskedNet(), [{k: v[i] for k, v in PADDED.items()} for i in range(80)], POSITIONS),
        (lambda batch: MASKED(**batch), PADDED, POSITIONS),
        (lambda data: MASKED(**data["in"]), {"in": PADDED}, {"in.pos": liegg.Affine(3)}),
    ],
)
def test_padded_clouds_in_every_container(model, data, action):
    if isinstance(model, nn.Module):
        model = model.double()
    sym = liegg.discover(model, data, action, **FAST)
    assert (sym.name, sym.samples) == ("se(3)", 80)
    expected = liegg.discover(MaskedNet().double(), PADDED, POSITIONS, **FAST)
    torch.testing.assert_close(sym.defects, expected.defects, rtol=1e-6, atol=1e-13)


def test_a_loader_of_dictionaries_and_one_action():
    rows = [{key: leaf[i] for key, leaf in PADDED.items()} for i in range(80)]
    loader = DataLoader(rows, batch_size=16)  # pyright: ignore[reportArgumentType]
    sym = liegg.discover(MaskedNet().double(), loader, liegg.Affine(3, copies=None), **FAST)
    assert (sym.name, sym.samples) == ("se(3)", 80)


def test_padding_does_not_move():
    """What is in the padding has no influence, and does not count as displaced."""
    other = PADDED | {"pos": torch.where(PADDED["mask"][..., None], PADDED["pos"], 99.0)}
    one, two = (
        liegg.discover(MaskedNet().double(), data, POSITIONS, **FAST) for data in (PADDED, other)
    )
    torch.testing.assert_close(one.defects, two.defects, rtol=1e-6, atol=1e-12)
    torch.testing.assert_close(
        one.accumulated.displacement.dense(), two.accumulated.displacement.dense()
    )
    assert Diagnosis.MASKED_POINTS in remarks(one)


def one_cloud(x: Tensor) -> Tensor:
    return CLOUD(x[None])[0]


def with_mask(x: Tensor, mask: Tensor) -> Tensor:
    count = mask.sum(1)[:, None, None]
    centred = (x - x.sum(1, keepdim=True) / count) * mask[..., None]
    return (centred.square().sum(-1).sin() * mask).sum(1, keepdim=True)


def many(clouds: list[Tensor]) -> Tensor:
    if not isinstance(clouds, list):
        raise TypeError("a list was expected")
    return torch.cat([CLOUD(cloud[None]) for cloud in clouds])


CLOUD = CloudNet().double()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CLOUD, "model(batch), samples of one size at a time"),
        (one_cloud, "model(batch), one sample at a time"),
        (with_mask, "model(*batch), padded with zeros and with a mask"),
        (many, "model(batch), a list with one tensor per sample"),
    ],
)
def test_clouds_of_three_to_fifty_points(model, words):
    data = clouds()
    sym = liegg.discover(model, data, liegg.Affine(3, copies=None), **FAST)
    assert (sym.name, sym.samples, sym.nullity) == ("se(3)", 60, 6)
    assert words in sym.notes[0]


def test_jagged_tensors():
    data = torch.nested.as_nested_tensor(clouds(30, 9), layout=torch.jagged)

    def model(x: Tensor) -> Tensor:
        if not x.is_nested:
            raise TypeError("a jagged tensor was expected")
        return torch.cat([CLOUD(cloud[None]) for cloud in x.unbind()])

    for function in (model, CLOUD):
        sym = liegg.discover(function, data, liegg.Affine(3, copies=None), **FAST)
        assert (sym.name, sym.samples) == ("se(3)", 30)


def test_nodes_edges_and_their_attributes_one_graph_at_a_time():
    def model(x, edge_index, edge_attr):
        i, j = edge_index
        return (torch.exp(-(x[i] - x[j]).square().sum(-1)) * edge_attr[:, 0]).sum()[None]

    data = [
        (one["pos"], one["edge_index"], one["edge_index"].sum(0)[:, None].double())
        for one in SAMPLES
    ]
    sym = liegg.discover(model, data, {0: liegg.Affine(3)}, **FAST)
    assert (sym.name, sym.samples) == ("se(3)", 40)


def test_the_callers_own_way_of_calling():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = MaskedNet()

        def forward(self, first, other):
            return self.net(first["z"], other, first["mask"])

    model = Odd().double()
    sym = liegg.discover(
        model,
        PADDED,
        POSITIONS,
        call=lambda model, batch: model(batch, batch["pos"]),
        controls="reinitialised",
        run=liegg.Run(control_draws=2),
    )
    assert sym.name == "se(3)"
    assert sym.model == "Odd"
    with pytest.raises(
        ModelError, match=r"Odd does not take samples with 'pos', 'z', 'mask'. Tried.*call="
    ):
        liegg.discover(model, PADDED, POSITIONS)
    with pytest.raises(ArgumentError, match="call= is for structured samples"):
        liegg.discover(
            CLOUD, torch.ones(5, 4, 3), liegg.Affine(3, copies=4), call=lambda m, b: m(b)
        )


def test_what_moves_together_and_what_moves_apart():
    draw = torch.Generator().manual_seed(2)
    pos, vel = torch.randn(2, 200, 4, 3, generator=draw, dtype=torch.float64)

    def model(pos, vel):
        centred = pos - pos.mean(1, keepdim=True)
        angular = torch.linalg.cross(centred, vel).sum(1).square().sum(1)
        return torch.stack([angular, vel.square().sum((1, 2)), centred.square().sum((1, 2))], 1)

    A = liegg.Affine(3)
    data = {"pos": pos, "vel": vel}
    together = liegg.discover(model, data, {"pos": A, "vel": A.vectors}, **FAST)
    assert together.name == "se(3)"
    apart = liegg.discover(model, data, {"pos": A, "vel": liegg.Linear(3)}, **FAST)
    assert apart.nullity == 6
    assert apart.action.size == 21
    shifted = liegg.discover(model, data, {"pos": A, "vel": A}, **FAST)
    assert shifted.name == "so(3)", "a translation of velocities changes the output"


def test_verification_answers_files_and_comparison(tmp_path):
    held_out = molecules(30, seed=5, most=11)  # larger ones than before
    sym = liegg.discover(
        NET,
        SAMPLES,
        POSITIONS,
        held_out=held_out,
        about=("rotation",),
        run=liegg.Run(groups=[i // 2 for i in range(40)]),
    )
    assert sym.name == "se(3)"
    assert sym.verification is not None
    assert sym.verification.holds
    assert sym.answers.named("rotation").finite is not None
    sym.save(tmp_path / "run")
    again = liegg.load(tmp_path / "run")
    assert again.action == sym.action
    assert liegg.verify(NET, held_out, again).holds
    assert again.about("rotation", model=NET, data=held_out).named("rotation").grade == "exact"
    assert liegg.compare(sym, again).shared == 6
    sym.report(tmp_path / "page.html")


def test_a_pass_is_resumed(tmp_path):
    run = liegg.Run(checkpoint=tmp_path / "state", checkpoint_every=0, batch_size=8)
    calls = 0

    def stop(samples: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        liegg.discover(NET, SAMPLES, POSITIONS, run=replace(run, progress=stop))
    sym = liegg.discover(NET, SAMPLES, POSITIONS, run=run)
    expected = liegg.discover(NET, SAMPLES, POSITIONS)
    torch.testing.assert_close(sym.defects, expected.defects, rtol=1e-6, atol=1e-14)


def test_layers_of_a_graph_network():
    result = liegg.discover_layers(NET, SAMPLES, POSITIONS)
    assert [layer.name for layer in result] == [
        "message.0",
        "message.1",
        "message.2",
        "readout",
        "output",
    ]
    assert [layer.invariance.nullity for layer in result] == [6] * 5
    assert result["output"].kind == "GraphNet"
    with pytest.raises(ArgumentError, match="layers need one call of the model per batch"):
        liegg.discover_layers(CLOUD, clouds(20), liegg.Affine(3, copies=None))


def test_a_float32_model_takes_float32():
    seen = set()

    class Watch(MaskedNet):
        def forward(self, z, pos, mask):
            seen.update((z.dtype, pos.dtype, mask.dtype))
            return super().forward(z, pos, mask)

    sym = liegg.discover(Watch(), PADDED | {"pos": PADDED["pos"].float()}, POSITIONS)
    assert seen == {torch.int64, torch.float32, torch.bool}
    assert sym.settings["dtype"] == "float32"
    assert (sym.name, sym.decision.grades[:6]) == ("se(3)", ("exact",) * 6)
    assert Diagnosis.COARSE_ARITHMETIC not in remarks(sym)


def test_hidden_changes_are_seen_behind_context():
    def model(z, pos, mask):
        return pos.square().sum((1, 2)) + 3 * pos.detach()[:, 0, 0] + z.sum(1)

    with pytest.raises(HiddenDerivativeError):
        liegg.discover(model, PADDED, POSITIONS)


def test_context_has_no_influence_on_the_spread():
    """Large numbers that stay change neither effects nor grades."""

    def model(pos, number):
        return (
            (pos - pos.mean(1, keepdim=True)).square().sum((1, 2))
            + 0.05 * pos[:, 0, 0]
            + 0 * number[:, 0]
        )

    draw = torch.Generator().manual_seed(3)
    data = {"pos": PADDED["pos"], "number": torch.randint(0, 2, (80, 1), generator=draw)}
    large = data | {"number": 1_000_000 * data["number"]}
    one, two = (liegg.discover(model, each, POSITIONS) for each in (data, large))
    torch.testing.assert_close(
        torch.tensor(one.decision.response), torch.tensor(two.decision.response)
    )
    assert one.decision.grades == two.decision.grades


@pytest.mark.parametrize(
    ("data", "action", "error", "text"),
    [
        (
            PADDED,
            {"positions": liegg.Affine(3)},
            ArgumentError,
            "no such path.*'pos' .80, 5, 3. float64",
        ),
        (PADDED, {"z": liegg.Linear(5)}, DtypeError, "cannot be moved.*at="),
        (PADDED, {}, ArgumentError, "moves nothing"),
        (PADDED, {"pos": "rotation"}, ArgumentError, "expected an action"),
        (
            PADDED | {"z": PADDED["z"][:79]},
            POSITIONS,
            ShapeError,
            "'z' has 79 samples, 'pos' has 80",
        ),
        (
            PADDED | {"mask": PADDED["mask"][:, :4]},
            POSITIONS,
            ShapeError,
            "the mask 'mask' has shape .4,.",
        ),
        (SAMPLES[0], POSITIONS, ShapeError, "without a vector 'batch'"),
        (
            PADDED | {"vel": PADDED["pos"]},
            liegg.Affine(3),
            ArgumentError,
            "2 floating point tensors",
        ),
        (iter(SAMPLES), POSITIONS, liegg.LieggError, "one-shot"),
        ([], POSITIONS, liegg.LieggError, "no sample"),
        (3, POSITIONS, liegg.LieggError, "data is a int"),
    ],
)
def test_bad_structures(data, action, error, text):
    with pytest.raises(error, match=text):
        liegg.discover(MaskedNet().double(), data, action)


def test_nothing_of_the_caller_changes():
    net, batch = MaskedNet().double().train(), padded(20)
    before = {key: leaf.clone() for key, leaf in batch.items()}
    liegg.discover(net, batch, POSITIONS, **FAST)
    assert net.training
    assert all(torch.equal(batch[key], leaf) for key, leaf in before.items())
