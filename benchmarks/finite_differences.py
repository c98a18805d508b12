"""Finite differences against exact derivatives on 60 functions, stored as results/finite-differences.json.

Each function is analysed twice, as a model of torch with its own derivatives and by `route="finite"`. A defect is right if
its root is within the root of the stated error of the defect that exact derivatives give the same direction. An answer is
confidently wrong if another number of symmetries is claimed without saying that it is undecided, or if a direction is called
exact that exact derivatives break.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import liegg
from result_files import options, store

SAMPLES, QUICK_SAMPLES = 400, 150

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Case:
    """A function with its samples.

    Attributes:
        family: what is special about it.
        name: what it is.
        function: the function, without noise.
        n: dimension of its samples.
        noise: standard deviation of the noise that finite differences see, relative to the spread of the output.
        repeats: whether the noise of a sample is always the same.
        dtype: precision of the samples and of the function.
        scale: factor of the samples.
    """

    family: str
    name: str
    function: Function
    n: int = 3
    noise: float = 0.0
    repeats: bool = True
    dtype: torch.dtype = torch.float64
    scale: float | tuple[float, ...] = 1.0


def network(seed: int, n: int, activation: Function, features: Function | None = None) -> Function:
    """A small random network, of the samples or of features of them."""
    drawn = torch.Generator().manual_seed(seed)
    width = n if features is None else features(torch.zeros(1, n)).shape[1]
    first, second, last = (
        torch.randn(a, b, generator=drawn, dtype=torch.float64) / math.sqrt(a)
        for a, b in ((width, 24), (24, 24), (24, 2))
    )

    def call(x: Tensor) -> Tensor:
        y = x if features is None else features(x)
        return activation(activation(y @ first.to(y)) @ second.to(y)) @ last.to(y)

    return call


def norm_features(x: Tensor) -> Tensor:
    """Squared length, and a product that rotations keep."""
    square = x.square().sum(1, keepdim=True)
    return torch.cat([square / x.shape[1], square.sqrt()], dim=1)


def smooth() -> dict[str, Function]:
    """Polynomials and other functions in closed form, with and without symmetries."""
    return {
        "|x|²": lambda x: x.square().sum(1),
        "|x|⁴": lambda x: x.square().sum(1).square(),
        "x₁² + x₂²": lambda x: x[:, 0].square() + x[:, 1].square(),
        "x₁x₂x₃": lambda x: x.prod(1),
        "x₁² + 2x₂² + 3x₃²": lambda x: (x.square() * torch.arange(1.0, 4).to(x)).sum(1),
        "x₁³ + x₂x₃": lambda x: x[:, 0] ** 3 + x[:, 1] * x[:, 2],
        "sin |x|²": lambda x: x.square().sum(1).sin(),
        "exp(−|x|²/2)": lambda x: (-x.square().sum(1) / 2).exp(),
        "x₁² − x₂² − x₃²": lambda x: x[:, 0].square() - x[:, 1:].square().sum(1),
        "(x₁ + x₂)²": lambda x: (x[:, 0] + x[:, 1]).square(),
        "√(1 + |x|²)": lambda x: (1 + x.square().sum(1)).sqrt(),
        "x₁ eˣ²": lambda x: x[:, 0] * x[:, 1].exp(),
        "(|x|², x₁)": lambda x: torch.stack([x.square().sum(1), x[:, 0]], 1),
        "|x|² + 0.01 x₁": lambda x: x.square().sum(1) + 0.01 * x[:, 0],
        "|x|² + 0.1 x₁": lambda x: x.square().sum(1) + 0.1 * x[:, 0],
    }


def networks() -> dict[str, Function]:
    """Random networks; those of the length of a sample are invariant under rotations."""
    found: dict[str, Function] = {}
    for number, (name, activation) in enumerate(
        {"tanh": torch.tanh, "softplus": torch.nn.functional.softplus, "ReLU": torch.relu}.items()
    ):
        for seed in (1, 2):
            found[f"{name} network {seed}"] = network(10 * number + seed, 3, activation)
        found[f"{name} network of |x|"] = network(10 * number + 3, 3, activation, norm_features)
    found["sine network"] = network(41, 3, torch.sin)
    return found


def cases() -> list[Case]:
    """The 60 functions."""
    functions = smooth()
    found = [Case("closed form", name, function) for name, function in functions.items()]
    found += [Case("network", name, function) for name, function in networks().items()]
    invariant, broken = functions["sin |x|²"], functions["x₁² + 2x₂² + 3x₃²"]
    half = network(51, 3, torch.tanh, norm_features)
    for power in (12, 10, 8, 6, 5, 4, 3):
        noise = 10.0**-power
        found.append(Case("noise", f"sin |x|², noise 1e-{power}", invariant, noise=noise))
        found.append(Case("noise", f"quadratic, noise 1e-{power}", broken, noise=noise))
        repeats = power % 2 == 0
        title = f"network of |x|, noise 1e-{power}"
        found.append(Case("noise", title, half, noise=noise, repeats=repeats))
    for name in ("|x|²", "x₁³ + x₂x₃", "√(1 + |x|²)", "|x|² + 0.1 x₁"):
        function = functions[name]
        found.append(Case("float32", f"{name}, float32", function, dtype=torch.float32))
    relu = networks()["ReLU network of |x|"]
    found.append(Case("float32", "ReLU network of |x|, float32", relu, dtype=torch.float32))
    sizes: dict[str, float | tuple[float, ...]] = {
        "samples of size 1e6": 1e6,
        "samples of size 1e-6": 1e-6,
        "features from 1e-3 to 1e3": (1e-3, 1.0, 1e3),
    }
    for name, scale in sizes.items():
        found.append(Case("scale", f"|x|², {name}", functions["|x|²"], scale=scale))
        rough = lambda x, s=scale: functions["sin |x|²"](x / torch.tensor(s).to(x))  # noqa: E731
        found.append(Case("scale", f"sin |x/s|², {name}", rough, scale=scale))
    shifted = lambda x: 1e6 + x.square().sum(1)  # noqa: E731
    found.append(Case("scale", "10⁶ + |x|²", shifted))
    found.append(Case("scale", "|x|² + 0.1 x₁ on R⁵", functions["|x|² + 0.1 x₁"], n=5))
    found.append(Case("scale", "tanh network on R⁵", network(61, 5, torch.tanh), n=5))
    return found


def samples_of(case: Case, count: int) -> Tensor:
    """Normal samples."""
    drawn = torch.Generator().manual_seed(7)
    x = torch.randn(count, case.n, generator=drawn, dtype=torch.float64)
    return (x * torch.tensor(case.scale, dtype=torch.float64)).to(case.dtype)


def noisy(case: Case, x: Tensor) -> Function:
    """The function with its noise: of a sample always the same, as of a solver, or drawn anew."""
    spread = float(case.function(x).double().std())
    drawn = torch.Generator().manual_seed(11)

    def call(x: Tensor) -> Tensor:
        y = case.function(x.clone())  # a tensor: on arrays it would run in float64
        if not case.noise:
            return y
        if case.repeats:  # the last digits of the sample, scrambled
            bits = (x.double().sum(1) * 1e7).sin() * 1e9
            uniform = (bits - bits.floor()).reshape(-1, *[1] * (y.ndim - 1)).expand_as(y)
            return y + math.sqrt(12) * case.noise * spread * (uniform - 0.5)
        return y + case.noise * spread * torch.randn(y.shape, generator=drawn, dtype=y.dtype)

    return call


def analyse(case: Case, count: int) -> dict[str, Any]:
    """Both analyses of a function, and how they compare."""
    x, action = samples_of(case, count), liegg.Linear(case.n)
    exact = liegg.discover(case.function, x.double(), action, run=liegg.Run(hidden="ignore"))
    finite = liegg.discover(noisy(case, x), x, action, run=liegg.Run(route="finite"))
    row: dict[str, Any] = {
        "family": case.family,
        "function": case.name,
        "exact": exact.nullity,
        "finite": finite.nullity,
        "undecided": finite.decision.undecided,
        "warned": bool(finite.decision.warnings),
        "noise": finite.settings["finite"]["noise"],
        "evaluations": finite.settings["finite"]["evaluations"],
    }
    errors = torch.tensor(finite.settings.get("errors", []), dtype=torch.float64)
    if not len(errors):
        return row | {"directions": 0, "right": 0, "error": None, "off": None, "wrong": False}
    directions = finite.accumulated.solution.directions
    truth = exact.accumulated.defect(directions, trivial_tolerance=1e-12)
    # Both are relative to the mean sensitivity, which has an error of its own.
    ratio = math.sqrt(
        exact.accumulated.solution.sensitivity / finite.accumulated.solution.sensitivity
    )
    off = (finite.defects.sqrt() - truth.sqrt() * ratio).abs()
    right = off <= errors.sqrt() + 1e-12
    claimed = finite.nullity != exact.nullity and not finite.decision.undecided
    said = any("may be" in warning for warning in finite.decision.warnings)
    called_exact = finite.decision.exact > exact.decision.exact
    return row | {
        "directions": len(errors),
        "right": int(right.sum()),
        "error": float(errors.max()),
        "off": float(off.square().max()),
        "wrong": bool((claimed and not said) or called_exact),
    }


def main() -> None:
    """Analyse, print, store."""
    parser = options(
        __doc__, "finite-differences.json", quick="every fourth function, fewer samples"
    )
    chosen = parser.parse_args()
    begin, rows = time.perf_counter(), []
    for case in cases()[:: 4 if chosen.quick else 1]:
        rows.append(analyse(case, QUICK_SAMPLES if chosen.quick else SAMPLES))
        row = rows[-1]
        print(
            f"{row['family']:<12} {row['function']:<34} exact {row['exact']} finite {row['finite']} "
            f"right {row['right']}/{row['directions']} error {row['error']} wrong {row['wrong']}"
        )
    total = {name: sum(row[name] for row in rows) for name in ("directions", "right", "wrong")}
    store({"functions": rows, **total}, chosen.out, "make bench", begin=begin)
    print(total)


if __name__ == "__main__":
    main()
