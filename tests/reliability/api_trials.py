"""Calls of the public functions with values that make no sense, and with odd ones that do."""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset

import liegg
from liegg._utils.diagnoses import Diagnosis
from reliability import functions
from reliability.functions import network, square, sym

Value = Any


class Trial(NamedTuple):
    """One call.

    Attributes:
        name: what is called with what.
        call: the call.
        right: whether an answer is right.
    """

    name: str
    call: Callable[[], Any]
    right: Callable[[Any], bool]


def data() -> torch.Tensor:
    """Forty samples."""
    return functions.normal(40, 3)


class _Odd:
    def __repr__(self) -> str:
        return "<odd>"


VALUES: dict[str, Value] = {
    "None": None,
    "'3'": "3",
    "b'3'": b"3",
    "2.5": 2.5,
    "-1": -1,
    "0": 0,
    "nan": math.nan,
    "inf": math.inf,
    "True": True,
    "10**30": 10**30,
    "1j": 1j,
    "[]": [],
    "[1, 2]": [1, 2],
    "['a', None]": ["a", None],
    "{}": {},
    "an object": _Odd(),
    "a vector": torch.tensor([1.0, 2.0]),
    "a matrix of nan": torch.full((3, 3), math.nan),
    "an array": np.arange(6).reshape(2, 3),
    "'rotation'": "rotation",
    "a lone surrogate": "\ud800",
    "a text with NUL": "a\0b",
    "a function": repr,
    "a class": int,
    "int64(3)": np.int64(3),
    "float32(2)": np.float32(2),
}
"""What is given in place of every argument."""


def is_so3(found: Any) -> bool:
    """A right answer to the question of `sym`: so(3), or no answer."""
    nothing = found.decision.sentence.diagnosis is Diagnosis.NOTHING_MOVES
    return (found.nullity, found.name) == (3, "so(3)") or found.decision.undecided or nothing


def is_so3_of_all(x: Any, found: Any) -> bool:
    """The same from all samples of a Dataset, not from those before it failed."""
    return is_so3(found) and (not isinstance(x, Dataset) or found.samples == len(x))  # pyright: ignore[reportArgumentType]


def on_sphere(**options: Any) -> Any:
    given = {"model": square, "data": data(), "action": liegg.Linear(3)} | options
    return liegg.discover(**given)


def tree() -> dict[str, Any]:
    """Samples as a dictionary."""
    return {"pos": data().reshape(-1, 2, 3), "z": torch.ones(len(data()) // 2, 2)}


def clouds() -> list[dict[str, Any]]:
    """Samples of different sizes."""
    return [{"pos": data()[:n], "z": torch.ones(n, 2)} for n in range(3, 23)]


def on_tree(**options: Any) -> Any:
    moves = {"pos": liegg.Affine(3, copies=None)}
    given = {"model": distances, "data": tree(), "action": moves} | options
    return liegg.discover(**given)


def distances(pos: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return (pos - pos.mean(1, keepdim=True)).square().sum((1, 2)) + z.sum(1)[:, 0]


def _at(path: Any) -> dict[Any, Any]:
    """A mapping with this path; what cannot be one is given as it is."""
    try:
        return {path: liegg.Affine(3, copies=None)}
    except TypeError:
        return path


def anything(_: Any) -> bool:
    return True


def targets() -> Iterator[tuple[str, Callable[[Value], Any], Callable[[Any], bool]]]:
    """Every argument of every public function, as a function of its value; and what a right answer is."""
    for function in functions.functions():
        for name in function.arguments:
            call = functools.partial(function.with_value, name)
            yield f"{function.name}({name}=v)", call, anything
    for name in ("model", "data", "action", "output_action", "outputs", "held_out"):
        yield f"sphere: {name}=v", lambda v, name=name: on_sphere(**{name: v}), _right(name)
    for name in ("controls", "thresholds", "run", "about"):
        yield f"sphere: {name}=v", lambda v, name=name: on_sphere(**{name: v}), is_so3
    for name in liegg.Run.__dataclass_fields__:
        yield (
            f"sphere: run=Run({name}=v)",
            lambda v, name=name: on_sphere(run=liegg.Run(**{name: v})),
            is_so3 if name != "bottom" else lambda found: found.nullity <= 3,
        )
    yield "sphere: about=v, afterwards", lambda v: sym().about({"turn": v}), anything
    for name in ("data", "action", "call", "output_action", "held_out"):
        yield f"tree: {name}=v", lambda v, name=name: on_tree(**{name: v}), anything
    yield "tree: action={v: A}", lambda v: on_tree(action=_at(v)), anything
    yield "tree: action={'pos': v}", lambda v: on_tree(action={"pos": v}), anything
    yield "tree: data={'pos': v}", lambda v: on_tree(data=tree() | {"pos": v}), anything
    yield "tree: data={'z': v}", lambda v: on_tree(data=tree() | {"z": v}), anything
    yield "tree: data=[..., v]", lambda v: on_tree(data=[*clouds(), v]), anything
    for name in ("data", "action", "call", "output_action", "held_out", "continuous"):
        yield (
            f"group of a tree: {name}=v",
            lambda v, name=name: group_of_tree(**{name: v}),
            anything,
        )
    for made, known in (("from_arrays", _foreign(liegg.foreign.from_arrays)),):
        yield f"{made} of a function that returns v", known, anything


def _foreign(make: Callable[[Any], Any]) -> Callable[[Value], Any]:
    """Discover with a foreign function that returns a value."""
    return lambda v: on_sphere(model=make(lambda x: v))


def group_of_tree(**options: Any) -> Any:
    moves = {"pos": liegg.Affine(3, copies=None)}
    given = {"model": distances, "data": tree(), "action": moves, "starts": 2} | options
    return liegg.discover_group(**given)


def _right(name: str) -> Callable[[Any], bool]:
    """What a right answer is where another question was asked: less than so(3) is none for |x|² on R³."""
    return anything if name in ("model", "output_action", "action") else is_so3


def nonsense() -> Iterator[Trial]:
    """Every value in place of every argument."""
    for target, call, right in targets():
        for text, value in VALUES.items():
            yield Trial(f"{target}, v = {text}", functools.partial(call, value), right)


class Broken(Dataset):
    """A data set that ends in its own way."""

    def __init__(self, error: BaseException):
        self.error = error

    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> torch.Tensor:
        if index == 20:
            raise self.error
        return data()[index]


class Later(nn.Module):
    """|x|² for samples like the first ones, something else for others."""

    def forward(self, x):
        return x.square().sum(1) + torch.where(x[:, 0] > 1.5, x[:, 0], torch.zeros_like(x[:, 0]))


def odd_data() -> Iterator[tuple[str, Any]]:
    """Data of every kind that torch and numpy have."""
    x = data()
    yield "sparse", x.to_sparse()
    yield "sparse rows", x.to_sparse_csr()
    yield "meta", x.to("meta")
    yield "nested", torch.nested.nested_tensor([x[:20], x[20:]])
    yield "jagged", torch.nested.nested_tensor([x[:20], x[20:30]], layout=torch.jagged)
    yield "float8", x.to(torch.float8_e4m3fn)
    yield "bfloat16", x.bfloat16()
    yield "complex", x.to(torch.complex128)
    yield "whole numbers", (10 * x).long()
    yield "bool", x > 0
    yield "quantised", torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8)
    yield "a scalar", torch.tensor(1.0)
    yield "no sample", x[:0]
    yield "no feature", x[:, :0]
    yield "one sample", x[:1]
    yield "nan", torch.where(x > 2, torch.nan, x)
    yield "inf", torch.where(x > 2, torch.inf, x)
    yield "requires grad", x.clone().requires_grad_()
    yield "inference", _inference(x)
    yield "transposed", x.mT.contiguous().mT
    yield "expanded", x[:1].expand(40, 3)
    yield "parameter", nn.Parameter(x.clone())
    yield "negative strides", x.numpy()[::-1]
    yield "big endian", x.numpy().astype(">f8")
    yield "half", x.numpy().astype(np.float16)
    yield "long double", x.numpy().astype(np.longdouble)
    yield "read-only", _read_only(x.numpy())
    yield "masked", np.ma.masked_array(x.numpy(), mask=x.numpy() > 1)
    yield "objects", x.numpy().astype(object)
    yield "texts", np.full((40, 3), "a")
    yield "dates", np.full((40, 3), np.datetime64("2020-01-01"))
    yield "a record array", np.zeros(40, dtype=[("a", float)])
    yield "a matrix", np.asmatrix(x.numpy())
    yield "lists", x.tolist()
    yield "ragged lists", [[1.0], [1.0, 2.0]]
    yield "a dict", {"x": x}
    yield "a set", {1.0, 2.0}
    yield "a text", "x.npy"
    yield "a path that is none", "nowhere.npy"
    yield "bytes", b"abc"
    yield "a generator", (one for one in x.split(10))
    yield "a range", range(40)
    yield "tuples with labels", [(one, 0) for one in x.split(10)]
    yield "batches of other lengths", [x[:10], x[10:11], x[11:]]
    yield "batches of other widths", [x[:10], x[10:, :2]]
    yield "batches of other types", [x[:10], x[10:].float()]
    yield "batches, one nan", [x[:20], x[20:] * torch.nan]
    yield "huge", x * 1e200
    yield "large", x * 1e70
    yield "tiny", x * 1e-200
    yield "small", x * 1e-70
    yield "underflowing", (x * 1e-30).float()
    yield "data set that stops", Broken(StopIteration())
    yield "data set that fails", Broken(RuntimeError("disk"))
    yield "data set with an index error", Broken(IndexError("no more"))
    yield "iterable that stops", _Stops(x)


class _Stops:
    """Re-iterable batches whose iterator raises StopIteration half way, from inside."""

    def __init__(self, x: torch.Tensor):
        self.x = x

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter([self.x[:20], self.x[20:]])


def _inference(x: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return x.clone()


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.setflags(write=False)
    return x


def odd_inputs() -> Iterator[Trial]:
    """Odd data for `discover`, `verify` and `discover_layers`."""
    for name, x in odd_data():
        right = functools.partial(is_so3_of_all, x)
        yield Trial(f"discover on {name}", functools.partial(on_sphere, data=x), right)
        yield Trial(f"held out: {name}", functools.partial(on_sphere, held_out=x), is_so3)
        yield Trial(
            f"verify on {name}", functools.partial(liegg.verify, square, x, sym()), anything
        )
        yield Trial(
            f"layers on {name}",
            functools.partial(liegg.discover_layers, network(), x, liegg.Linear(3)),
            anything,
        )


def odd_models() -> Iterator[Trial]:
    """Models that are no function of one sample, or return something else."""
    x = data()
    net = network()
    models: dict[str, Any] = {
        "returns None": lambda x: None,
        "returns a text": lambda x: "a",
        "returns a number": lambda x: 1.0,
        "returns a tuple": lambda x: (x, x),
        "returns a dict": lambda x: {"y": x},
        "returns an array": lambda x: x.detach().numpy(),
        "returns one row": lambda x: x[:1],
        "returns no column": lambda x: x[:, :0],
        "returns whole numbers": lambda x: x.long(),
        "returns complex numbers": lambda x: x.to(torch.complex128),
        "returns nan": lambda x: x * torch.nan,
        "returns a sparse tensor": lambda x: x.to_sparse(),
        "returns bool": lambda x: x > 0,
        "detached": lambda x: square(x.detach()),
        "under no_grad": lambda x: _no_grad(x),
        "class": lambda x: x.argmax(1),
        "random": lambda x: square(x) + torch.rand(len(x)),
        "mixes samples": lambda x: square(x - x.mean(0)),
        "raises": _raises,
        "raises StopIteration": lambda x: next(iter(())),
        "two arguments": lambda x, y: square(x),
        "no argument": lambda: 0,
        "prints": lambda x: (print(end=""), square(x))[1],
        "changes its input": lambda x: square(x.mul_(1)),
        "lazy": nn.LazyLinear(2),
        "training": nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout()).double(),
        "float32 weights": nn.Linear(3, 2),
        "on meta": nn.Linear(3, 2, device="meta"),
        "half": nn.Linear(3, 2).half(),
        "scripted": _quiet(lambda: torch.jit.script(nn.Linear(3, 2).double())),
        "quantised": _quiet(lambda: torch.ao.quantization.quantize_dynamic(nn.Linear(3, 2))),
        "a functional call": lambda x: torch.func.functional_call(
            net, dict(net.named_parameters()), x
        ),
        "vmapped": torch.func.vmap(lambda x: x.square().sum()),
        "reseeds": lambda x: (torch.manual_seed(1), square(x))[1],
        "a wrong width": nn.Linear(4, 2).double(),
        "an instance method": net.forward,
        "a class of modules": nn.Linear,
    }
    for name, model in models.items():
        yield Trial(f"model {name}", functools.partial(on_sphere, model=model), anything)
        yield Trial(
            f"verify, model {name}", functools.partial(liegg.verify, model, x, sym()), anything
        )
        yield Trial(
            f"layers, model {name}",
            functools.partial(liegg.discover_layers, model, x, liegg.Linear(3)),
            anything,
        )


def _no_grad(x):
    with torch.no_grad():
        return square(x)


def _raises(x):
    raise RuntimeError("out of order")


def _quiet(make: Callable[[], Any]) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except Exception:
            return nn.Identity()


def all_trials() -> Iterator[Trial]:
    """Everything."""
    yield from nonsense()
    yield from odd_inputs()
    yield from odd_models()
