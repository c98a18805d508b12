"""Results on disk: bit for bit, plain JSON, no pickle, and an error for everything that can be wrong."""

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import liegg
from cases import conjugated_map, height, lorentz, mlp, network, normal, plane
from liegg._utils.errors import RecordError
from liegg.actions import Restricted


def discovered(case):
    return liegg.discover(case.function, case.data, case.action)


def all_of_so():
    """A model that is invariant under every candidate: no defect is left to compare with."""
    return liegg.discover(
        lambda x: x.square().sum(1), normal(50, 3), liegg.Linear(3).restrict(liegg.so(3))
    )


RECORDS = {
    "invariance": lambda: discovered(lorentz()),
    "restricted action": lambda: discovered(height()),
    "trivial directions": lambda: discovered(plane()),
    "constant": lambda: liegg.discover(
        lambda x: torch.zeros_like(x[:, :2]), normal(100, 3), liegg.Linear(3)
    ),
    "infinite gap": lambda: all_of_so(),
    "squared": lambda: liegg.discover(
        mlp(3, 8, 2, dtype=torch.float32), normal(200, 3).float(), liegg.Linear(3)
    ),
    "restricted equivariance": lambda: liegg.discover(
        lambda x: x * x.square().sum(1, keepdim=True) + 0.1 * x.roll(1, 1) ** 2,
        normal(100, 3),
        liegg.Linear(3).restrict(liegg.sl(3)),
        output_action=liegg.Linear(3),
    ),
    "groups": lambda: liegg.discover(
        mlp(3, 8, 2), normal(200, 3), liegg.Linear(3), groups=[i % 20 for i in range(200)], seed=4
    ),
    "no intervals": lambda: liegg.discover(
        mlp(3, 8, 2), normal(200, 3), liegg.Linear(3), controls="none"
    ),
    "controlled and verified": lambda: liegg.discover(
        mlp(3, 8, 2),
        normal(200, 3),
        liegg.Linear(3),
        controls="reinitialised",
        held_out=normal(50, 3),
        run=liegg.Run(control_draws=2),
    ),
    "verified": lambda: liegg.discover(
        lambda x: x.square().sum(1), normal(50, 2), liegg.Linear(2), held_out=normal(50, 2)
    ),
    "bottom": lambda: liegg.discover(
        lambda x: x.square().sum(1), normal(200, 4), liegg.Linear(4), run=liegg.Run(bottom=8)
    ),
    "bottom and more": lambda: liegg.discover(
        lambda x: x.square().sum(1), normal(200, 4), liegg.Linear(4), run=liegg.Run(bottom=3)
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
        lambda x: x.unflatten(1, (2, 3)).square().sum(2), normal(200, 6), liegg.Blocks([3, 3])
    ),
    "along axes": lambda: liegg.discover(
        lambda x: (x @ x.mT).flatten(1),
        normal(200, 2, 3),
        liegg.KroneckerSum((2, 3), [None, liegg.so(3)]),
        run=liegg.Run(bottom=4),
    ),
    "band": lambda: liegg.discover(
        lambda x: x.square().sum(1), normal(100, 5), liegg.Banded(5, 2, shared=True, periodic=True)
    ),
    "weights": lambda: liegg.discover(
        lambda x: x[:, :3].prod(1), normal(100, 5), liegg.Weights([0, 1, 2, 3, -1])
    ),
    "none": lambda: discovered(network()),
    "nothing moves": lambda: liegg.discover(
        lambda x: x.sum(1), torch.zeros(20, 3), liegg.Linear(3)
    ),
    "undecided": lambda: liegg.discover(lambda x: x.square().sum(1), normal(4, 3), liegg.Linear(3)),
    "random combinations": lambda: liegg.discover(
        lambda x: x**2, normal(50, 3), liegg.Linear(3), outputs=2
    ),
    "equivariance": lambda: liegg.discover(
        (c := conjugated_map()).function, c.data, c.action, output_action=c.output_action
    ),
}


@pytest.fixture(scope="module", params=RECORDS.values(), ids=list(RECORDS))
def sym(request):
    return request.param()


def flat(record, prefix="") -> Iterator[tuple[str, Any]]:
    """Every value of a record by its name, however deep."""
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if field.name == "verification":
            yield prefix + field.name, None if value is None else value.to_dict()
            continue
        if (
            field.name == "kept"
        ):  # the R factor, which is what is stored, whether it was kept as such or as a Gram matrix
            yield from ((f"{prefix}factor", value.r), (f"{prefix}rows", value.rows))
        elif isinstance(value, tuple) and any(isinstance(part, torch.Tensor) for part in value):
            yield from ((f"{prefix}{field.name}.{i}", part) for i, part in enumerate(value))
        elif dataclasses.is_dataclass(value):
            yield f"{prefix}{field.name}.type", type(value)
            yield from flat(value, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, value


def assert_identical(one, other):
    left, right = dict(flat(one)), dict(flat(other))
    assert left.keys() == right.keys()
    for name, value in left.items():
        if isinstance(value, torch.Tensor):
            torch.testing.assert_close(value, right[name], rtol=0, atol=0, equal_nan=True, msg=name)
            assert value.dtype == right[name].dtype, name
        else:
            assert value == right[name], name
            assert type(value) is type(right[name]), name


def test_comes_back_bit_for_bit(sym, tmp_path):
    folder = sym.save(tmp_path / "a" / "run")
    assert folder == tmp_path / "a" / "run"
    assert_identical(liegg.load(folder), sym)


def test_what_comes_back_can_be_saved_again(sym, tmp_path):
    again = liegg.load(liegg.load(sym.save(tmp_path / "one")).save(tmp_path / "two"))
    assert_identical(again, sym)
    assert (tmp_path / "one/record.json").read_bytes() == (
        tmp_path / "two/record.json"
    ).read_bytes()


def test_what_comes_back_answers_the_same_questions(sym, tmp_path):
    again = liegg.load(sym.save(str(tmp_path)))
    assert str(again) == str(sym)
    assert again.to_dict() == sym.to_dict()
    assert torch.equal(again.generators, sym.generators)
    torch.testing.assert_close(
        again.defect(sym.generators), sym.defect(sym.generators), equal_nan=True, rtol=0, atol=0
    )
    every = sym.action.matrices(torch.eye(sym.action.size, dtype=torch.float64))
    torch.testing.assert_close(
        again.defect_interval(every), sym.defect_interval(every), equal_nan=True, rtol=0, atol=0
    )
    torch.testing.assert_close(again.intervals, sym.intervals, equal_nan=True, rtol=0, atol=0)


def test_certainty_is_the_same_read_or_made_again(sym, tmp_path):
    again = liegg.load(sym.save(tmp_path))
    assert again.certainty == sym.decision.certainty or vars(again.certainty) == vars(
        sym.decision.certainty
    )
    if sym.decision.certainty is not None:
        del vars(again)["certainty"]  # as it was stored: now from the blocks
        assert vars(again.certainty) == vars(sym.decision.certainty)


def test_blocks_are_stored_where_there_are_intervals(sym, tmp_path):
    arrays = load_file(sym.save(tmp_path) / "arrays.safetensors")
    assert ("blocks.rows" in arrays) == (sym.intervals is not None)


def test_a_record_of_format_2_has_its_intervals_but_none_of_other_directions(sym, tmp_path):
    """Format 2 was the same without the blocks."""
    folder = sym.save(tmp_path)
    arrays = load_file(folder / "arrays.safetensors")
    save_file(
        {k: v.clone() for k, v in arrays.items() if not k.startswith("blocks.")},
        folder / "arrays.safetensors",
    )
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    del record["blocks_squared"]
    (folder / "record.json").write_text(json.dumps(record | {"format": 2}), encoding="utf-8")
    again = liegg.load(folder)
    assert again.resampled is None
    assert str(again) == str(sym)
    torch.testing.assert_close(again.intervals, sym.intervals, equal_nan=True, rtol=0, atol=0)
    assert again.nullity_interval == sym.decision.nullity_interval
    every = sym.action.matrices(torch.eye(sym.action.size, dtype=torch.float64))
    assert bool(again.defect_interval(every).isnan().all())
    assert liegg.load(again.save(tmp_path / "again")).resampled is None


def test_the_json_is_plain(sym, tmp_path):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = (sym.save(tmp_path) / "record.json").read_text(encoding="utf-8")
    record = json.loads(text, parse_constant=refuse)
    assert (record["format"], record["nullity"]) == (3, sym.nullity)


def test_no_other_file_and_no_pickle(sym, tmp_path):
    sym.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"record.json", "arrays.safetensors"}
    arrays = (tmp_path / "arrays.safetensors").read_bytes()
    header = json.loads(arrays[8 : 8 + int.from_bytes(arrays[:8], "little")])
    assert {entry["dtype"] for entry in header.values()} == {"F64"}


def test_a_restricted_action_comes_back_as_one(tmp_path):
    action = liegg.load(discovered(height()).save(tmp_path)).action
    assert isinstance(action, Restricted)
    assert action.parent == liegg.Linear(3)


def test_infinite_gaps_come_back(tmp_path):
    sym = all_of_so()
    assert math.isinf(sym.decision.gap)
    assert liegg.load(sym.save(tmp_path)).decision == sym.decision


def test_an_earlier_result_is_replaced(tmp_path):
    discovered(lorentz()).save(tmp_path)
    second = discovered(height())
    second.save(tmp_path)
    assert_identical(liegg.load(tmp_path), second)


@pytest.fixture
def folder(tmp_path):
    return discovered(lorentz()).save(tmp_path / "run")


def damage_json(folder):
    (folder / "record.json").write_text("{", encoding="utf-8")


def edit(folder, **changes):
    path = folder / "record.json"
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8"
    )


def drop_key(folder):
    path = folder / "record.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["decision"]
    path.write_text(json.dumps(record), encoding="utf-8")


def cut_arrays(folder):
    path = folder / "arrays.safetensors"
    path.write_bytes(path.read_bytes()[:-9])


def drop_array(folder, name="factor"):
    arrays = load_file(folder / "arrays.safetensors")
    save_file({k: v.clone() for k, v in arrays.items() if k != name}, folder / "arrays.safetensors")


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (
            lambda f: (f / "record.json").unlink(),
            r"run is no stored result: record.json is missing. Make one with sym.save",
        ),
        (
            lambda f: (f / "arrays.safetensors").unlink(),
            "run is no stored result: arrays.safetensors is missing",
        ),
        (damage_json, r"run is damaged \(JSONDecodeError: .*\). Run the analysis again"),
        (
            lambda f: (f / "record.json").write_bytes(b"\xff\xfe\x00"),
            r"damaged \(UnicodeDecodeError",
        ),
        (lambda f: (f / "record.json").write_text("[]"), r"damaged \(TypeError"),
        (
            lambda f: (f / "arrays.safetensors").write_bytes(b"not arrays"),
            r"damaged \(SafetensorError",
        ),
        (cut_arrays, r"damaged \(SafetensorError"),
        (drop_key, r"damaged \(KeyError: 'decision'\)"),
        (drop_array, r"damaged \(KeyError: 'factor'\)"),
        (lambda f: drop_array(f, "blocks.total"), r"damaged \(KeyError: 'blocks.total'\)"),
        (
            lambda f: edit(f, format=4),
            "holds a record of format 4; this version reads formats 2 and 3",
        ),
        (
            lambda f: edit(f, format=1),
            "holds a record of format 1; this version reads formats 2 and 3",
        ),
        (lambda f: edit(f, action={"kind": "warp"}), "the stored action is of kind 'warp'"),
        (
            lambda f: edit(f, action={"kind": "linear", "n": -1}),
            r"damaged \(ArgumentError: Linear\(-1",
        ),
        (lambda f: edit(f, action={"kind": "linear", "sides": 3}), r"damaged \(TypeError: "),
    ],
)
def test_damage_is_named(folder, damage, text):
    damage(folder)
    with pytest.raises(RecordError, match=text):
        liegg.load(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(RecordError, match=r"nowhere is no stored result: record.json is missing"):
        liegg.load(tmp_path / "nowhere")


def test_a_path_that_is_a_file(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("mine")
    with pytest.raises(
        RecordError,
        match=r"run.json is a file; expected a folder to save into, for example .*run-run/",
    ):
        discovered(lorentz()).save(path)
    with pytest.raises(RecordError, match=r"run.json"):
        liegg.load(path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("step", [0, 1], ids=["before the arrays", "between arrays and record"])
def test_an_interrupted_save_never_mixes_two_results(folder, monkeypatch, step):
    """Killed between its renames, a save over an older result leaves a folder that says what is missing, never a mixture."""
    steps = []
    rename = Path.replace

    def interrupted(self, target):
        steps.append(target)
        if len(steps) > step:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        discovered(height()).save(folder)
    with pytest.raises(RecordError, match=r"record.json is missing"):
        liegg.load(folder)


def test_a_partial_file_beside_a_whole_result_is_ignored(folder):
    (folder / ".record.json.part").write_text("{")
    (folder / ".arrays.safetensors.part").write_bytes(b"")
    assert liegg.load(folder).nullity == 6
