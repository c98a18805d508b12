"""Results on disk: equal to the bit, plain JSON, no pickle, and an error for everything that can be wrong."""

import functools
import hashlib
import json
import math
import sys
import tempfile
from pathlib import Path
from types import FunctionType

import pytest
import torch
from safetensors.torch import load_file, save_file

import liegg
from cases import conjugated_map, height, lorentz, mlp, network, normal, plane, square
from liegg._utils.errors import RecordError
from liegg.actions import Action, Restricted
from stored import accept_changes, assert_identical


def discovered(case):
    return liegg.discover(case.function, case.data, case.action)


def all_of_so():
    """A model that is invariant under every candidate: no defect is left to compare with."""
    return liegg.discover(square, normal(50, 3), liegg.Linear(3).restrict(liegg.so(3)))


def bent(x):
    return x * x.square().sum(1, keepdim=True) + 0.1 * x.roll(1, 1) ** 2


class Twist(Action):
    """Rotation about the third axis by an angle that grows with the height, and scaling."""

    @property
    def size(self):
        return 2

    def act(self, h, x):
        angle = h[0] * x[:, 2]
        c, s = angle.cos(), angle.sin()
        rotated = torch.stack([c * x[:, 0] - s * x[:, 1], s * x[:, 0] + c * x[:, 1], x[:, 2]], 1)
        return rotated * h[1].exp()


def twisted():
    return liegg.discover(lambda x: x[:, :2].square().sum(1), normal(100, 3), Twist())


VERIFIED = ("verified", "re-initialised")
RECORDS = {
    "invariance": lambda: discovered(lorentz()),
    "restricted action": lambda: discovered(height()),
    "trivial directions": lambda: discovered(plane()),
    "constant": lambda: liegg.discover(
        lambda x: torch.zeros_like(x[:, :2]), normal(100, 3), liegg.Linear(3)
    ),
    "infinite gap": all_of_so,
    "squared": lambda: liegg.discover(
        mlp(3, 8, 2, dtype=torch.float32), normal(200, 3).float(), liegg.Linear(3)
    ),
    "restricted equivariance": lambda: liegg.discover(
        bent,
        normal(100, 3),
        liegg.Linear(3).restrict(liegg.algebra.sl(3)),
        output_action=liegg.Linear(3),
    ),
    "groups": lambda: liegg.discover(
        mlp(3, 8, 2),
        normal(200, 3),
        liegg.Linear(3),
        run=liegg.Run(seed=4, groups=[i % 20 for i in range(200)]),
    ),
    "too few blocks": lambda: liegg.discover(mlp(2, 8, 1), normal(5, 2), liegg.Linear(2)),
    "no intervals": lambda: liegg.discover(
        mlp(3, 8, 2), normal(200, 3), liegg.Linear(3), controls="none"
    ),
    "re-initialised": lambda: liegg.discover(
        mlp(3, 8, 2),
        normal(200, 3),
        liegg.Linear(3),
        controls="reinitialised",
        held_out=normal(50, 3),
        run=liegg.Run(control_draws=2),
    ),
    "verified": lambda: liegg.discover(
        square, normal(50, 2), liegg.Linear(2), held_out=normal(50, 2)
    ),
    "bottom": lambda: liegg.discover(
        square, normal(200, 4), liegg.Linear(4), run=liegg.Run(bottom=8)
    ),
    "bottom and more": lambda: liegg.discover(
        square, normal(200, 4), liegg.Linear(4), run=liegg.Run(bottom=3)
    ),
    "bottom, no blocks": lambda: liegg.discover(
        mlp(4, 8, 2), normal(200, 4), liegg.Linear(4), controls="none", run=liegg.Run(bottom=3)
    ),
    "bottom of equivariance": lambda: liegg.discover(
        (c := conjugated_map()).function,
        c.data,
        c.action,
        output_action=c.output_action,
        run=liegg.Run(bottom=2),
    ),
    "blocks on the diagonal": lambda: liegg.discover(
        lambda x: x.unflatten(1, (2, 3)).square().sum(2),
        normal(200, 6),
        liegg.actions.Blocks([3, 3]),
    ),
    "along axes": lambda: liegg.discover(
        lambda x: (x @ x.mT).flatten(1),
        normal(200, 2, 3),
        liegg.actions.KroneckerSum((2, 3), [None, liegg.so(3)]),
        run=liegg.Run(bottom=4),
    ),
    "band": lambda: liegg.discover(
        square, normal(100, 5), liegg.actions.Banded(5, 2, shared=True, periodic=True)
    ),
    "weights": lambda: liegg.discover(
        lambda x: x[:, :3].prod(1), normal(100, 5), liegg.actions.Weights([0, 1, 2, 3, -1])
    ),
    "images": lambda: liegg.discover(
        lambda x: x.square().sum((1, 2, 3)), normal(20, 1, 8, 8), liegg.Image()
    ),
    "a product": lambda: liegg.discover(
        lambda x: x.square().sum((1, 2, 3)),
        normal(40, 3, 8, 8),
        liegg.Product(liegg.Image(), liegg.Color()),
    ),
    "a vector field": twisted,
    "none": lambda: discovered(network()),
    "nothing moves": lambda: liegg.discover(
        lambda x: x.sum(1), torch.zeros(20, 3), liegg.Linear(3)
    ),
    "undecided": lambda: liegg.discover(square, normal(4, 3), liegg.Linear(3)),
    "random combinations": lambda: liegg.discover(
        lambda x: x**2, normal(50, 3), liegg.Linear(3), outputs=2
    ),
    "equivariance": lambda: liegg.discover(
        (c := conjugated_map()).function, c.data, c.action, output_action=c.output_action
    ),
}


@functools.cache
def result(name):
    return RECORDS[name]()


@pytest.fixture(scope="module", params=RECORDS)
def sym(request):
    return result(request.param)


def read(folder, sym):
    """The stored result; the vector field of this file must be given again."""
    return liegg.load(folder, action=sym.action if isinstance(sym.action, Twist) else None)


def test_comes_back_bit_for_bit_and_can_be_saved_again(sym, tmp_path):
    folder = sym.save(tmp_path / "a" / "run")
    assert folder == tmp_path / "a" / "run"
    again = read(folder, sym)
    assert_identical(again, sym)
    assert_identical(read(again.save(str(tmp_path / "two")), sym), sym)
    assert_files_are_plain(folder, sym)
    assert_same_answers(again, sym)


def assert_same_answers(again, sym):
    assert str(again) == str(sym)
    assert again.to_dict() == sym.to_dict()
    every = torch.eye(sym.action.size, dtype=torch.float64)
    assert_identical(again.defect(every), sym.defect(every))
    assert_identical(again.defect_interval(every), sym.defect_interval(every))
    if sym.action.has_matrices:
        assert_identical(again.generators, sym.generators)
    if sym.output_action is not None:
        assert_identical(again.output_generators, sym.output_generators)
    assert_identical(again.spectrum, sym.spectrum)


def assert_files_are_plain(folder, sym):
    """JSON without constants of its own, float64 arrays, no other file, and blocks where there are intervals."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = (folder / "record.json").read_text(encoding="utf-8")
    record = json.loads(text, parse_constant=refuse)
    assert (record["format"], record["nullity"]) == (5, sym.nullity)
    assert {path.name for path in folder.iterdir()} == {
        "record.json",
        "arrays.safetensors",
        "manifest.json",
    }
    arrays = load_file(folder / "arrays.safetensors")
    assert {array.dtype for array in arrays.values()} == {torch.float64}
    assert ("blocks.rows" in arrays) == (sym.accumulated.blocks is not None)


# Loading and printing compute nothing.


def refused(name):
    def raises(*_, **__):
        raise AssertionError(f"{name} was called")

    return raises


def forbid_computation(monkeypatch):
    """Whatever decides, names or solves raises, wherever it was imported to."""
    for name, value in list(vars(torch.linalg).items()):
        if callable(value) and not isinstance(value, type) and not name.startswith("_"):
            monkeypatch.setattr(torch.linalg, name, refused(f"torch.linalg.{name}"))
    for name in ("quantile", "std", "svd", "einsum", "matmul", "sort", "randn", "median"):
        monkeypatch.setattr(torch, name, refused(f"torch.{name}"))
    for name in ("__matmul__", "matmul", "quantile", "std", "svd", "median"):
        monkeypatch.setattr(torch.Tensor, name, refused(f"Tensor.{name}"))
    count = 0
    for module in [m for name, m in list(sys.modules.items()) if name.startswith("liegg")]:
        for name, value in list(vars(module).items()):
            home = getattr(value, "__module__", "") or ""
            decides = home.startswith("liegg.decision.") and name != "runs"  # words, not a decision
            if isinstance(value, FunctionType) and (decides or name in ("identify", "account_of")):
                monkeypatch.setattr(module, name, refused(f"{home}.{name}"))
                count += 1
    assert count > 40


def test_loading_and_printing_compute_nothing(tmp_path, monkeypatch):
    names = [name for name in RECORDS if name not in VERIFIED]
    expected = {}
    for name in names:
        sym = result(name)
        sym.save(tmp_path / name)
        expected[name] = (sym.action, str(sym), repr(sym), sym.to_dict())
    forbid_computation(monkeypatch)
    with pytest.raises(AssertionError, match="was called"):
        liegg.discover(square, normal(50, 2), liegg.Linear(2))
    for name, (action, text, line, record) in expected.items():
        # the constructor of this action makes the basis of an axis orthonormal
        own = action if isinstance(action, Twist | liegg.actions.KroneckerSum) else None
        again = liegg.load(tmp_path / name, action=own)
        assert (str(again), repr(again), again.to_dict()) == (text, line, record), name


# Actions.


def test_a_restricted_action_comes_back_as_one(tmp_path):
    action = liegg.load(result("restricted action").save(tmp_path)).action
    assert isinstance(action, Restricted)
    assert action.parent == liegg.Linear(3)


def test_an_action_of_ones_own_is_given_again(tmp_path):
    sym = twisted()
    folder = sym.save(tmp_path)
    with pytest.raises(RecordError, match="action="):
        liegg.load(folder)
    with pytest.raises(RecordError, match="9 candidates; the stored result has 2"):
        liegg.load(folder, action=liegg.Linear(3))
    again = liegg.load(folder, action=Twist())
    assert (again.nullity, again.words, again.name) == (sym.nullity, sym.words, "unknown")
    assert sym.nullity == 1
    assert sym.defect(torch.tensor([[1.0, 0.0]], dtype=torch.float64)) < 1e-20


def test_numbers_that_are_not_finite_come_back(tmp_path):
    """Derivatives that overflow leave a floor that is not a number."""
    sym = liegg.discover(lambda x: square(x) * 1e200, normal(200, 3), liegg.Linear(3))
    again = liegg.load(sym.save(tmp_path))
    assert math.isnan(sym.decision.floor)
    assert math.isnan(again.decision.floor)
    assert math.isnan(again.decision.response)
    assert str(again) == str(sym)
    assert math.isinf(result("infinite gap").decision.gap)  # it comes back bit for bit


def test_an_earlier_result_is_replaced(tmp_path):
    result("invariance").save(tmp_path)
    second = result("restricted action")
    second.save(tmp_path)
    assert_identical(liegg.load(tmp_path), second)


# Damage.


@pytest.fixture
def folder(tmp_path):
    return result("invariance").save(tmp_path / "run")


def edit(folder, **changes):
    """Replace entries of the record; None removes one."""
    path = folder / "record.json"
    record = json.loads(path.read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in record.items() if changes.get(key, 0) is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


def drop_array(folder, name):
    arrays = load_file(folder / "arrays.safetensors")
    save_file({k: v.clone() for k, v in arrays.items() if k != name}, folder / "arrays.safetensors")
    edit(folder, arrays=hashlib.sha256((folder / "arrays.safetensors").read_bytes()).hexdigest())


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


DAMAGE = {
    "no record": (lambda f: (f / "record.json").unlink(), "record.json is missing"),
    "no arrays": (lambda f: (f / "arrays.safetensors").unlink(), "arrays.safetensors is missing"),
    "half a record": (lambda f: cut(f / "record.json"), "JSONDecodeError"),
    "no text": (lambda f: (f / "record.json").write_bytes(b"\xff\xfe"), "damaged"),
    "a list": (lambda f: (f / "record.json").write_text("[]"), "damaged"),
    "no tensors": (lambda f: (f / "arrays.safetensors").write_bytes(b"no"), "belongs to another"),
    "half the arrays": (lambda f: cut(f / "arrays.safetensors"), "belongs to another"),
    "no decision": (lambda f: edit(f, decision=None), "decision"),
    "no rows": (lambda f: drop_array(f, "rows"), "'rows'"),
    "no block": (lambda f: drop_array(f, "blocks.total"), "'total'"),
    "no candidates": (lambda f: drop_array(f, "account.candidates"), "damaged"),
    "a later format": (lambda f: edit(f, format=6), "format 6"),
    "a format without a manifest": (lambda f: edit(f, format=4), "format 4"),
    "another size": (lambda f: edit(f, action={"kind": "linear", "n": 5}), "25 candidates"),
    "an older format": (lambda f: edit(f, format=1), "format 1"),
    "an unknown action": (lambda f: edit(f, action={"kind": "warp"}), "'warp'"),
    "an impossible action": (lambda f: edit(f, action={"kind": "linear", "n": -1}), "damaged"),
    "a foreign setting": (lambda f: edit(f, action={"kind": "linear", "sides": 3}), "damaged"),
    "thresholds": (lambda f: edit(f, decision={"certainty": None}), "damaged"),
}


def test_damage_is_named():
    for name, (damage, text) in DAMAGE.items():
        with tempfile.TemporaryDirectory() as place:
            folder = result("invariance").save(Path(place) / "run")
            damage(folder)
            for found in (f"{folder}", text):  # by its checksum; by its content
                with pytest.raises(RecordError, match=found):
                    pytest.fail(f"{name}: loaded {liegg.load(folder)!r}")
                accept_changes(folder)


def test_a_flipped_bit_an_edited_number_and_foreign_arrays_are_named(folder, tmp_path):
    other = result("restricted action").save(tmp_path / "other")
    good = {name: (folder / name).read_bytes() for name in ("record.json", "arrays.safetensors")}
    flipped = bytearray(good["arrays.safetensors"])
    flipped[-1] ^= 1
    edited = good["record.json"].replace(b'"nullity": 6', b'"nullity": 5', 1)
    assert edited != good["record.json"]
    for name, content in (
        ("arrays.safetensors", bytes(flipped)),
        ("arrays.safetensors", (other / "arrays.safetensors").read_bytes()),
        ("record.json", edited),
        ("record.json", (other / "record.json").read_bytes()),
    ):
        (folder / name).write_bytes(content)
        with pytest.raises(RecordError, match=rf"{name} was changed since liegg wrote it"):
            liegg.load(folder)
        (folder / name).write_bytes(good[name])
    assert liegg.load(folder).nullity == 6
    (folder / "manifest.json").unlink()
    with pytest.raises(RecordError, match=r"manifest\.json is missing"):
        liegg.load(folder)


def test_a_result_of_the_format_before_is_read(folder):
    """Format 4 had the same record, and no manifest."""
    edit(folder, format=4)
    (folder / "manifest.json").unlink()
    assert_identical(liegg.load(folder), result("invariance"))
    with pytest.raises(RecordError, match=r"already holds record\.json"):
        result("invariance").save(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(RecordError, match="nowhere is not a stored result"):
        liegg.load(tmp_path / "nowhere")


def test_a_path_that_is_a_file(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("mine")
    with pytest.raises(RecordError, match=r"run.json is a file"):
        result("invariance").save(path)
    with pytest.raises(RecordError, match=r"run.json"):
        liegg.load(path)
    assert path.read_text() == "mine"
