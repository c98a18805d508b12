"""Models that are not PyTorch: scikit-learn, ONNX and the same in torch, trained on an O(5)-invariant function.

Runs in an environment of its own (`make peer-foreign`). Stores results/foreign.json, and runs its part of docs/howto-packages.md.
"""

import argparse
import math
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import onnx
import shown
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.neural_network import MLPRegressor

import liegg
from liegg.studies.provenance import provenance, write_json

N, TRAINING, SAMPLES = 5, 4000, 500
PACKAGES = ("scikit-learn", "onnx", "onnxruntime", "onnx2torch", "jax")


def target(x: np.ndarray) -> np.ndarray:
    """An O(5)-invariant function."""
    return np.sqrt(1 + np.square(x).sum(1))


def ridge_in_torch(model: KernelRidge) -> Any:
    """The same kernel ridge regression, with derivatives."""
    places, weights = torch.tensor(model.X_fit_), torch.tensor(model.dual_coef_)

    def predict(x: torch.Tensor) -> torch.Tensor:
        square = (x[:, None] - places).square().sum(2)
        return ((-model.gamma * square).exp() * weights).sum(1)

    return predict


def network_in_torch(model: MLPRegressor) -> torch.nn.Module:
    """The same network, its weights copied."""
    layers: list[torch.nn.Module] = []
    for weight, bias in zip(model.coefs_, model.intercepts_, strict=True):
        layer = torch.nn.Linear(*weight.shape, dtype=torch.float64)
        layer.weight.data, layer.bias.data = torch.tensor(weight.T), torch.tensor(bias)
        layers += [layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def network_in_jax(model: MLPRegressor) -> Any:
    """The same network in JAX, in its default precision float32."""
    weights = [
        (jnp.asarray(w), jnp.asarray(b))
        for w, b in zip(model.coefs_, model.intercepts_, strict=True)
    ]

    def network(x: Any) -> Any:
        for weight, bias in weights[:-1]:
            x = jnp.tanh(x @ weight + bias)
        return x @ weights[-1][0] + weights[-1][1]

    return network


def network_in_onnx(model: MLPRegressor, path: Path, dtype: str) -> Path:
    """The same network as an ONNX file, in float32 as usual or in float64."""
    kind = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}[dtype]
    nodes, numbers, name = [], [], "x"
    for place, pair in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        for letter, values in zip("wb", pair, strict=True):
            numbers.append(numpy_helper.from_array(values.astype(dtype), f"{letter}{place}"))
        nodes.append(helper.make_node("Gemm", [name, f"w{place}", f"b{place}"], [f"g{place}"]))
        name = f"g{place}"
        if place < len(model.coefs_) - 1:
            nodes.append(helper.make_node("Tanh", [name], [f"t{place}"]))
            name = f"t{place}"
    ends = [
        helper.make_tensor_value_info("x", kind, ["b", N]),
        helper.make_tensor_value_info(name, kind, ["b", 1]),
    ]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], numbers)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
        str(path),
    )
    return path


def declare_detection() -> None:
    """Let onnx2torch be imported beside a torchvision that was built for another torch.

    It imports torchvision, which declares two operators in its compiled part and fails without them. No network here uses them.
    """
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in ("nms", "qnms"):
            schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            torch.library.define(f"torchvision::{name}", schema)


def described(sym: liegg.Symmetries) -> dict[str, Any]:
    """What was found, as JSON values."""
    errors = sym.settings.get("errors", [])
    return {
        "says": str(sym).splitlines()[0],
        "nullity": sym.nullity,
        "name": sym.name,
        "grades": list(sym.decision.grades[:10]),
        "largest_defect_found": float(sym.defects[sym.nullity - 1]) if sym.nullity else None,
        "next_defect": float(sym.defects[sym.nullity]) if sym.nullity < len(sym.defects) else None,
        "route": sym.settings["route"],
        "dtype": sym.settings["dtype"],
        "largest_error": max(errors) if errors else None,
        "finite": sym.settings.get("finite"),
        "warnings": list(sym.decision.warnings),
        "notes": list(sym.notes),
        "answers": [str(answer) for answer in sym.answers],
    }


def agreement(finite: liegg.Symmetries, exact: liegg.Symmetries) -> dict[str, Any]:
    """Roots of the defects of the same directions: how far apart, and whether within the stated error."""
    truth = exact.accumulated.defect(
        finite.accumulated.solution.directions, trivial_tolerance=1e-12
    )
    off = (finite.defects.sqrt() - truth.sqrt()).abs()
    found = {"largest_difference": float(off.max())}
    if "errors" not in finite.settings:
        return found
    errors = torch.tensor(finite.settings["errors"], dtype=torch.float64).sqrt()
    return found | {"within": int((off <= errors).sum()), "of": len(off)}


def main() -> None:
    """Train, analyse, print and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--files", type=Path, default=Path(), help="folder for the ONNX files")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    drawn = np.random.default_rng(0)
    x, held = drawn.normal(size=(TRAINING, N)), drawn.normal(size=(SAMPLES, N))
    action = liegg.Linear(N)
    ridge = KernelRidge(kernel="rbf", gamma=0.02, alpha=1e-5).fit(x, target(x))
    network = MLPRegressor(
        hidden_layer_sizes=(64, 64),
        activation="tanh",
        solver="lbfgs",
        alpha=1e-6,
        max_iter=3000,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it stops at the number of iterations
        network.fit(x, target(x))
    forest = RandomForestRegressor(100, random_state=0).fit(x, target(x))
    rows: dict[str, Any] = {}

    def analysed(
        title: str, model: Any, exact: liegg.Symmetries | None = None, data: Any = held
    ) -> liegg.Symmetries:
        start = time.perf_counter()
        sym = liegg.discover(model, data, action)
        rows[title] = described(sym) | {"seconds": time.perf_counter() - start}
        if exact is not None:
            rows[title]["agreement"] = agreement(sym, exact)
        print(f"{title}\n{sym}\n{rows[title].get('agreement')}\n")
        return sym

    exact = analysed("kernel ridge, torch", ridge_in_torch(ridge))
    analysed("kernel ridge, scikit-learn", ridge, exact)
    exact = analysed("network, torch", network_in_torch(network))
    analysed("network, scikit-learn", network, exact)
    for dtype in ("float64", "float32"):
        path = network_in_onnx(network, chosen.files / f"network-{dtype}.onnx", dtype)
        model = liegg.foreign.from_onnx(path, how="runtime")
        analysed(f"network, ONNX in {dtype}", model, exact)
    declare_detection()
    converted = liegg.foreign.from_onnx(path, how="torch")
    analysed("network, ONNX converted to torch", converted, exact)
    analysed("network, JAX in float32", network_in_jax(network), exact)
    analysed("random forest, scikit-learn", forest)
    scores = {"kernel ridge": ridge, "network": network, "random forest": forest}
    record = provenance("make peer-foreign", seconds=time.perf_counter() - begin)
    record["versions"] |= {name: version(name) for name in PACKAGES}
    results = {
        "study": "foreign",
        "rows": rows,
        "scores": {name: model.score(held, target(held)) for name, model in scores.items()},
        "provenance": record,
    }
    if not all(math.isfinite(score) for score in results["scores"].values()):
        raise SystemExit("a model could not be trained")
    write_json(results, chosen.out / "foreign.json")


if __name__ == "__main__":
    main()
    shown.check("foreign")
