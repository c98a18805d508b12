"""How models are called with structured samples: with everything that they take."""

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

import liegg
from liegg._utils.errors import (
    BatchMixingError,
    DataError,
    HiddenDerivativeError,
    ModelError,
    NonFiniteError,
    RandomModelError,
    ShapeError,
)
from structures import POSITIONS, CloudNet, clouds

FAST: dict[str, Any] = {"controls": "none"}
DRAW = torch.Generator().manual_seed(0)
POS = torch.randn(100, 5, 3, generator=DRAW, dtype=torch.float64)
FIELD = torch.randn(100, 3, generator=DRAW, dtype=torch.float64)


def energy(pos):
    return torch.exp(-(pos[:, :, None] - pos[:, None]).square().sum(-1)).sum((1, 2))


def required(pos, **inputs):
    return in_field(pos, inputs)


def optional(pos=None, **inputs):
    return in_field(pos, inputs)


def everything(**inputs):
    return in_field(inputs.pop("pos"), inputs)


def in_field(pos, inputs):
    e = energy(pos)
    return e + (pos.mean(1) * inputs["field"]).sum(-1).sin() if "field" in inputs else e


@pytest.mark.parametrize("model", [required, optional, everything])
def test_a_model_of_any_keywords_gets_all_tensors(model):
    sym = liegg.discover(model, {"pos": POS, "field": FIELD}, POSITIONS, **FAST)
    assert sym.nullity == 0, "the field breaks all symmetries"
    assert "field=..." in sym.notes[0]


CLOUD = CloudNet().double()
CLOUDS = clouds(30, 9)
POINTS = liegg.Affine(3, copies=None)


def with_batch(x, batch):
    return torch.cat([CLOUD(x[batch == one][None]) for one in range(int(batch.max()) + 1)])


class Clouds(Dataset):
    def __len__(self):
        return len(CLOUDS)

    def __getitem__(self, place):
        return CLOUDS[place]


LABELLED: Any = [(one, 0) for one in CLOUDS]
TWICE: Any = [(one, one) for one in CLOUDS]
FORMS = {
    "arrays": [one.numpy() for one in CLOUDS],
    "with labels": [(one, torch.tensor(0)) for one in CLOUDS],
    "arrays with labels": [(one.numpy(), 0) for one in CLOUDS],
    "Dataset": Clouds(),
    "loader of one": DataLoader(Clouds(), batch_size=1),
    "loader of samples": DataLoader(Clouds(), batch_size=None),
    "loader of lists": DataLoader(Clouds(), batch_size=8, collate_fn=list),
    "loader of tuples": DataLoader(Clouds(), batch_size=8, collate_fn=tuple),
    "loader of pairs": DataLoader(LABELLED, 8, collate_fn=list),
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS)
def test_clouds_in_every_container(data):
    sym = liegg.discover(CLOUD, data, POINTS, **FAST)
    assert (sym.name, sym.samples) == ("se(3)", 30)


def test_a_function_of_points_and_the_number_of_their_cloud():
    sym = liegg.discover(with_batch, CLOUDS, POINTS, **FAST)
    assert (sym.name, sym.samples) == ("se(3)", 30)
    assert "batch=...), graphs joined to one" in sym.notes[0]


def test_clouds_that_were_read_as_something_else_are_named():
    pairs = DataLoader(TWICE, batch_size=1, collate_fn=lambda one: [*one[0]])
    with pytest.raises(ShapeError, match=r"lists of tensors.*loader.dataset"):
        liegg.discover(CLOUD, pairs, POINTS)
    advice = r"^the data is a list of tensors.*one sample.*pass liegg.Affine\(n=3, copies=None.*As batches"
    with pytest.raises(ModelError, match=advice):
        liegg.discover(lambda x: x.mean(2), CLOUDS, liegg.Affine(3))
    with pytest.raises(ShapeError, match=advice):
        liegg.discover(lambda x: x.norm(dim=-1).sum(-1), CLOUDS, liegg.Affine(3))
    with pytest.raises(BatchMixingError, match=advice):
        liegg.discover(lambda x: x - x.mean(0), CLOUDS, liegg.Affine(3))
    with pytest.raises(ShapeError, match=advice):
        liegg.discover(CLOUD, CLOUDS, liegg.Affine(3, copies=3))
    with pytest.raises(ShapeError, match=r"torch.stack\(data\)"):
        liegg.discover(CLOUD, [CLOUDS[0]] * 9, liegg.Affine(3, copies=len(CLOUDS[0])))
    with pytest.raises(RandomModelError, match="two calls of"):
        liegg.discover(lambda x: x + torch.rand_like(x), CLOUDS, liegg.Affine(3))
    with pytest.raises(ShapeError, match=r"one shape.*copies=None"):
        liegg.discover(CLOUD, Clouds(), liegg.Affine(3, copies=3))


def test_a_package_that_a_model_misses_is_named():
    def neighbours(pos, z):
        raise ImportError("'radius_graph' requires 'pyg-lib>=0.6.0'")

    with pytest.raises(
        ModelError, match=r"package that is not installed.*'pyg-lib>=0.6.0'"
    ) as caught:
        liegg.discover(neighbours, {"pos": torch.ones(9, 2, 3), "z": torch.ones(9)}, POSITIONS)
    assert "call=" not in str(caught.value)


def test_points_without_the_number_of_their_graph_are_named():
    data = {"pos": torch.cat(CLOUDS), "z": torch.ones(sum(map(len, CLOUDS)))}
    with pytest.raises(ModelError, match=r"^'pos' was read as .* samples of one vector.*'batch'"):
        liegg.discover(lambda pos, z: pos.norm(dim=1).sum()[None], data, {"pos": liegg.Affine(3)})


def test_a_loader_of_lists_of_dictionaries():
    """Batches as torch-geometric's DataListLoader gives them."""
    samples = [{"z": torch.ones(len(one), dtype=torch.long), "x": one} for one in CLOUDS]
    loader = DataLoader(samples, batch_size=4, collate_fn=list)  # pyright: ignore[reportArgumentType]
    sym = liegg.discover(lambda x, z: CLOUD(x), loader, {"x": POINTS}, **FAST)
    assert (sym.name, sym.samples) == ("se(3)", 30)


def test_outputs_per_point_of_samples_sorted_by_size():
    def per_point(x):
        return torch.sin((x - x.mean(1, keepdim=True)).norm(dim=-1))

    data = [POS[i % 100, :3] for i in range(70)] + [POS[i] for i in range(30)]
    sym = liegg.discover(per_point, data, POINTS, **FAST)
    assert (sym.nullity, sym.samples) == (6, 100)


def own_gradient(x):
    x.requires_grad_(True)
    return -torch.autograd.grad(energy(x).sum(), x, create_graph=True)[0]


def without_graph(x):
    x.requires_grad = True
    return {"energy": energy(x), "forces": -torch.autograd.grad(energy(x).sum(), x)[0]}


def by_backward(x):
    x.requires_grad_()
    energy(x).sum().backward()
    return -x.grad


def detached(x):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        return -torch.autograd.grad(energy(x).sum(), x)[0]


SAME_SIZE = (POS, liegg.Affine(3, copies=5), liegg.Linear(3, copies=5))
NAMED = ({"x": POS}, {"x": liegg.Affine(3)}, liegg.Linear(3))
RAGGED = ([one[: 3 + i % 3] for i, one in enumerate(POS)], POINTS, liegg.Linear(3))


@pytest.mark.parametrize(
    ("model", "route", "samples"),
    [
        (own_gradient, "vjp", SAME_SIZE),
        (own_gradient, "vjp", RAGGED),
        (without_graph, "vjp", NAMED),
        (by_backward, "finite", NAMED),
        (detached, "finite", RAGGED),
    ],
)
def test_a_model_that_takes_a_gradient_of_its_own(model, route, samples):
    """Forces turn with the positions; derivatives are exact unless the model detaches them, and a note says so."""
    data, action, out = samples
    field = "forces" if model is without_graph else None
    sym = liegg.discover(model, data, action, output_action=out, output=field, **FAST)
    assert (sym.nullity, sym.name, sym.settings["route"]) == (6, "se(3)", route)
    assert any("detaches it" in note for note in sym.notes) == (route == "finite")
    assert not POS.requires_grad


def test_a_model_that_takes_a_gradient_of_its_own_is_verified():
    """Without derivatives it still gets autograd for its own."""
    data, action, out = SAME_SIZE
    sym = liegg.discover(own_gradient, data, action, output_action=out, **FAST)
    assert liegg.verify(own_gradient, data[:20], sym).holds


@pytest.mark.parametrize("inside", [torch.clone, torch.detach])
def test_forces_in_a_field_keep_what_it_leaves(inside):
    """A quadratic field along z leaves the rotation about z and the translations across it."""

    def forces(x):
        x = inside(x).requires_grad_()
        total = energy(x).sum() + x[..., 2].square().sum()
        return -torch.autograd.grad(total, x)[0]

    data, action, out = SAME_SIZE
    sym = liegg.discover(forces, data, action, output_action=out, **FAST)
    assert (sym.nullity, sym.name) == (3, "se(2)")


def test_a_gradient_of_its_own_beside_a_detached_term_is_refused():
    """The derivative of such a sum is that of another function."""

    def half(x):
        return own_gradient(x) + x.detach().pow(3)

    data, action, out = SAME_SIZE
    with pytest.raises(HiddenDerivativeError):
        liegg.discover(half, data, action, output_action=out, **FAST)


class Table(dict):
    """Like a TensorDict."""

    batch_dims = 1

    def __init__(self, values: Any, batch_size: Any) -> None:
        super().__init__(values)
        self.batch_size = batch_size

    def select(self, *keys):
        return Table({key: self[key] for key in keys}, self.batch_size)


class TableModule(torch.nn.Module):
    """Like a TensorDictModule: it adds its output to a TensorDict, and takes keywords too."""

    in_keys, out_keys = ("pos",), ("energy",)

    def forward(self, table=None, **inputs):
        if table is None:
            return energy(inputs["pos"])
        return Table({**table, "energy": energy(table["pos"])}, table.batch_size)


@pytest.mark.parametrize("output", ["energy", None])
def test_a_module_of_tensordicts_returns_its_fields(output):
    data = Table({"pos": POS, "field": FIELD}, [100])
    sym = liegg.discover(TableModule(), data, {("pos",): liegg.Affine(3)}, output=output, **FAST)
    assert (sym.nullity, sym.name) == (6, "se(3)")


def test_numbers_that_are_not_finite():
    label = torch.full((100,), torch.nan)
    sym = liegg.discover(energy, {"pos": POS, "label": label}, POSITIONS, **FAST)
    assert sym.name == "se(3)", "the model does not take the label"
    holes = POS.clone()
    holes[7, 3] = torch.nan
    with pytest.raises(NonFiniteError, match=r"'pos' of sample 7 holds NaN.*nan_to_num"):
        liegg.discover(energy, {"pos": holes}, POSITIONS)


def test_a_tensor_called_batch_that_does_not_number_graphs():
    data = {"x": FIELD, "batch": torch.arange(100) % 4}
    with pytest.raises(DataError, match=r"not in ascending order.*another name"):
        liegg.discover(lambda x, batch: x.norm(dim=1), data, {"x": liegg.Linear(3)})
