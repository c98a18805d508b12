"""Every public function, with arguments that are right: in the trials nonsense takes the place of each argument in turn."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import liegg


class Function(NamedTuple):
    """A public function, class or method.

    Attributes:
        name: as it is called, such as `plot.field`.
        call: the function.
        given: arguments that are right.
    """

    name: str
    call: Callable[..., Any]
    given: Mapping[str, Any] = MappingProxyType({})

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of all arguments, read from the function, so that a new one is tried too."""
        return tuple(inspect.signature(self.call).parameters)

    def with_value(self, name: str, value: Any) -> Any:
        """Call it with a value in place of one argument."""
        if inspect.signature(self.call).parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            return self.call(*self.given.get(name, ()), value)
        return self.call(**{**self.given, name: value})


def square(x: Tensor) -> Tensor:
    """|x|²."""
    return x.square().sum(1)


def fourth_powers(x: Tensor) -> Tensor:
    """A function with the symmetries of a square or a cube only."""
    return x.pow(4).sum(1)


def normal(*shape: int) -> Tensor:
    """The same normal numbers every time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@functools.cache
def network() -> nn.Sequential:
    """A small perceptron."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).double()


@functools.cache
def filters() -> nn.Sequential:
    """A small convolutional network."""
    torch.manual_seed(0)
    layers = (nn.Conv2d(1, 2, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(72, 2))
    return nn.Sequential(*layers).double()


@functools.cache
def sym() -> liegg.Symmetries:
    """Symmetries of the sphere."""
    return liegg.discover(square, normal(40, 3), liegg.Linear(3))


@functools.cache
def group() -> Any:
    """Symmetries of a square."""
    return liegg.discover_group(fourth_powers, normal(60, 2), liegg.Linear(2), starts=8)


@functools.cache
def layers() -> Any:
    """Symmetries of the layers of a network."""
    return liegg.discover_layers(network(), normal(40, 3), liegg.Linear(3))


@functools.cache
def errors() -> Any:
    """What the layers of a network do to rotations of images."""
    return liegg.layer_errors(filters(), normal(8, 1, 6, 6), liegg.Image("affine"), samples=4)


@functools.cache
def verified() -> Any:
    """A verification."""
    return liegg.verify(square, normal(20, 3), sym(), samples=10, points=4)


def verbs() -> Iterator[Function]:
    """Functions that call a model or read data."""
    data, action = normal(40, 3), liegg.Linear(3)
    asked = {"model": square, "data": data, "action": action}
    yield Function("discover", liegg.discover, asked)
    inner = {"model": network(), "data": data, "action": liegg.Linear(8), "at": "0"}
    yield Function("discover at a module", liegg.discover, inner)
    finite = {"model": fourth_powers, "data": normal(30, 2), "action": liegg.Linear(2), "starts": 4}
    yield Function("discover_group", liegg.discover_group, finite)
    yield Function("discover_layers", liegg.discover_layers, asked | {"model": network()})
    images = {"model": filters(), "data": normal(4, 1, 6, 6), "action": liegg.Image("affine")}
    yield Function("layer_errors", liegg.layer_errors, images)
    circle = nn.functional.normalize(normal(300, 2))
    distribution = {"data": circle, "action": liegg.Linear(2)}
    yield Function("discover_data", liegg.discover_data, distribution)
    labelled = distribution | {"question": "label", "labels": circle[:, 0]}
    yield Function("discover_data of labels", liegg.discover_data, labelled)
    yield Function("verify", liegg.verify, {"model": square, "data": data, "sym": sym()})
    yield Function("compare", liegg.compare, {"a": sym(), "b": sym()})
    yield Function("compare of layers", liegg.compare, {"a": layers(), "b": layers()})
    yield Function("compare of groups", liegg.compare, {"a": group(), "b": group()})
    yield Function("identify", liegg.identify, {"generators": liegg.so(3)})
    yield Function("load", liegg.load, {"folder": "nowhere"})
    yield Function("Run", liegg.Run)
    yield Function("Thresholds", liegg.Thresholds)


def assertions() -> Iterator[Function]:
    """`liegg.testing`."""
    tests, x = liegg.testing, normal(40, 3)
    given = {"model": square, "data": x, "generators": liegg.so(3)}
    yield Function("assert_invariant", tests.assert_invariant, given)
    elements = {"model": square, "data": x, "elements": -torch.eye(3, dtype=torch.float64)}
    yield Function("assert_invariant of elements", tests.assert_invariant, elements)
    identity = given | {"model": lambda x: x}
    yield Function("assert_equivariant", tests.assert_equivariant, identity)
    yield Function("assert_is_action", tests.assert_is_action, {"action": liegg.Linear(3), "x": x})
    both = {"one": liegg.so(3), "other": liegg.so(3)}
    yield Function("assert_same_span", tests.assert_same_span, both)
    yield Function("equivariance_error", tests.equivariance_error, {"model": square, "batch": x})
    yield Function("default_tolerance", tests.default_tolerance, {"unit": 1e-7})


def foreign() -> Iterator[Function]:
    """`liegg.foreign`."""
    yield Function("from_arrays", liegg.foreign.from_arrays, {"function": lambda x: x.sum(1)})
    yield Function("from_jax", liegg.foreign.from_jax, {"function": lambda x: x.sum(1)})
    yield Function("from_onnx", liegg.foreign.from_onnx, {"path": "missing.onnx"})


def actions() -> Iterator[Function]:
    """Constructors of actions."""
    given: dict[str, dict[str, Any]] = {
        **_each(("Affine", "Linear", "Tensor"), {"n": 3}),
        **_each(("Image", "Sequence", "Volume", "Color", "Channels", "Slots"), {}),
        "Irrep": {"l": 2},
        "Product": {"actions": (liegg.Linear(2), liegg.Linear(2))},
        "Blocks": {"sizes": [2, 2]},
        "Banded": {"n": 3},
        "Weights": {"groups": [0, 0, 1]},
        "KroneckerSum": {"sizes": [2, 2]},
        "Motion": {"generators": liegg.so(3)},
        "Grid": {"dimension": 2},
        "smooth": {"images": normal(2, 6, 6), "sigma": 1.0},
        "action_from_settings": {"settings": {"kind": "linear", "n": 3}},
        "Displacement": {"block": torch.eye(3, dtype=torch.float64)},
    }
    for name, arguments in given.items():
        yield Function(name, getattr(liegg.actions, name), arguments)
    yield Function("Linear(3).restrict", liegg.Linear(3).restrict, {"basis": liegg.so(3)})


def algebras() -> Iterator[Function]:
    """`liegg.algebra`."""
    a, so3 = liegg.algebra, liegg.so(3)
    flat, constants = so3.flatten(1), liegg.algebra.structure_constants(so3)
    matrix = so3[0]
    given: dict[str, dict[str, Any]] = {
        **_each(("aff", "diagonal", "gl", "o", "scaling", "shear", "sl", "translation"), {"n": 2}),
        **_each(("se", "so", "su", "u"), {"p": 2}),
        "sp": {"n": 2},
        "heis": {"dimension": 3},
        "direct_sum": {"algebras": (so3,)},
        **_each(
            (
                *("abstract_name", "adjoint", "invariants", "jacobi_residual"),
                *("killing_eigenvalues", "killing_form"),
            ),
            {"constants": constants},
        ),
        **_each(
            (
                *("adapted", "brackets_latex", "canonical", "closure", "closure_residual"),
                *("generated", "generators_latex", "invariant_subspaces", "nearest_closed"),
                *("orthonormal", "preserved_forms", "sparse_basis", "standard_frame"),
                "structure_constants",
            ),
            {"generators": so3},
        ),
        **_each(("describe", "vector_field", "vector_field_latex"), {"generator": matrix}),
        "bracket": {"a": so3, "b": so3},
        "close": {"elements": -torch.eye(3, dtype=torch.float64)[None]},
        "complex_structures": {"commutant": liegg.so(2)},
        "distance_to_span": {"vectors": flat, "span": flat},
        "frame_of": {"form": torch.eye(3, dtype=torch.float64)},
        "signature": {"form": torch.eye(3, dtype=torch.float64)},
        "grassmann_distance": {"one": flat, "other": flat},
        "principal_angles": {"one": flat, "other": flat},
        "hermitian_forms": {"generators": liegg.so(2), "structure": liegg.so(2)[0]},
        "matrix_latex": {"matrix": matrix},
        "project": {"matrices": so3, "span": so3},
    }
    for name, arguments in given.items():
        yield Function(f"algebra.{name}", getattr(a, name), arguments)


def results() -> Iterator[Function]:
    """Methods of results, and what reads them."""
    models = {"model": square, "data": normal(40, 3), "about": {"turn": liegg.so(3)[:1]}}
    yield Function("sym.about", sym().about)
    yield Function("sym.about with the model", sym().about, models)
    for name in ("angles", "bias"):
        yield Function(f"sym.{name}", getattr(sym(), name), {"reference": liegg.so(3)})
    for name in ("defect", "defect_interval"):
        yield Function(f"sym.{name}", getattr(sym(), name), {"generators": liegg.so(3)})
    yield Function("sym.table", sym().table)
    yield Function("sym.vector_fields", sym().vector_fields)
    yield Function("sym.answers.named", sym().about().named, {"name": "rotation"})
    for name in ("variance", "table", "about", "bias", "defect", "defect_interval", "remarks"):
        given = {"motions": {"turn": liegg.so(3)[:1]}} if name == "about" else {}
        given |= {"reference": liegg.so(3)} if "reference" in _arguments(layers(), name) else {}
        yield Function(f"layers.{name}", getattr(layers(), name), given)
    yield Function("layers[]", layers().__getitem__, {"which": 0})
    yield Function("group.table", group().table)
    yield Function("errors.table", errors().table)
    yield Function("verification.table", verified().table)
    yield Function("identification.latex", sym().identification.latex)
    for one in (sym(), layers(), group(), errors()):
        kind = type(one).__name__
        yield Function(f"{kind}.save", one.save, {"folder": "saved"})
        yield Function(f"{kind}.report", one.report, {"path": "page.html"})
    for one in (sym(), layers(), group()):
        found = liegg.compare(one, one)
        kind = type(found).__name__
        yield Function(f"{kind}.table", found.table)
        if hasattr(found, "report"):
            yield Function(f"{kind}.report", found.report, {"path": "page.html"})
        if hasattr(found, "named"):
            yield Function(f"{kind}.named", found.named, {"side": "a"})
    r = liegg.results
    for load in (r.load_group, r.load_layer_errors, r.load_layers):
        yield Function(load.__name__, load, {"folder": "nowhere"})
    yield Function("rank_among", r.rank_among, {"sym": sym(), "others": [sym(), sym()]})
    given = {"sym": sym(), "verification": verified()}
    yield Function("with_verification", r.with_verification, given)


def plots() -> Iterator[Function]:
    """`liegg.plot`."""
    given: dict[str, dict[str, Any]] = {
        "bias": {"sym": sym(), "reference": liegg.so(3), "name": "so(3)"},
        "comparison": {"a": sym(), "b": sym()},
        **_each(("controls", "defects", "generators", "overview", "spectrum"), {"sym": sym()}),
        "field": {"source": liegg.so(2)[0]},
        "figure": {},
        "layer_errors": {"result": errors()},
        "layers": {"result": layers()},
        "motion": {"sym": sym(), "samples": normal(4, 3)},
        **_each(("multiplication_table", "orbit"), {"source": group()}),
        "save_figure": {"fig": liegg.plot.figure(), "path": Path("figure.png")},
        "verification": {"source": verified()},
    }
    for name, arguments in given.items():
        yield Function(f"plot.{name}", getattr(liegg.plot, name), arguments)


def _each(names: Iterable[str], given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The same arguments for several functions."""
    return dict.fromkeys(names, given)


def _arguments(owner: Any, name: str) -> tuple[str, ...]:
    return tuple(inspect.signature(getattr(owner, name)).parameters)


def functions() -> Iterator[Function]:
    """All of them."""
    for part in (verbs, assertions, foreign, actions, algebras, results, plots):
        yield from part()
