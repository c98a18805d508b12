"""How often control models call symmetries learned, rightly and wrongly, stored as results/learned-control.json.

| family | truth |
|---|---|
| untrained | the model is one more draw of the re-initialised models: nothing was learned |
| symmetric target | trained on a function of the length of a vector: the rotations were learned |
| other target | trained on a function without symmetry: training changed the model, but taught it no symmetry |
| shuffled, null | trained on shuffled targets, as its 19 controls were: nothing was learned |
| shuffled, symmetric target | trained on a function of the length; the controls on shuffled targets |
| shuffled, other target | trained on a function without symmetry; the controls on shuffled targets |
"""

import json
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

import liegg
from liegg.decision.controls import CONTROL_DRAWS, RankTest
from result_files import options, store

ACTIVATIONS = (nn.SiLU, nn.Tanh, nn.ReLU)
SCALES = (0.3, 1.0, 3.0)
SAMPLES, WIDTH, STEPS, RATE = 120, 24, 400, 1e-2


def perceptron(case: int, numbers: int, hidden: int, outputs: int, seed: int) -> nn.Sequential:
    """Network with the weights that torch gives it."""
    torch.manual_seed(seed)
    activation = ACTIVATIONS[case % len(ACTIVATIONS)]
    widths = [numbers, *[WIDTH] * hidden]
    parts = [part for i, o in pairwise(widths) for part in (nn.Linear(i, o), activation())]
    return nn.Sequential(*parts, nn.Linear(WIDTH, outputs))


def length(x: Tensor) -> Tensor:
    """Function of the length."""
    return x.square().sum(1)


def other(x: Tensor) -> Tensor:
    """Function without linear symmetries: every direction of R^n and every plane moves it."""
    powers = torch.arange(1, x.shape[1] + 1, dtype=x.dtype)
    return (
        torch.sin(powers * x + 0.4 * powers).sum(1)
        + 0.3 * x.pow(3).sum(1)
        + x.roll(1, 1).mul(x).sum(1)
    )


def trained(networks: list[nn.Sequential], x: Tensor, targets: Tensor, steps: int) -> None:
    """Train networks of one architecture side by side, each on its own targets `[networks, samples]`."""
    weights, _ = stack_module_state(networks)
    weights = {name: value.detach().requires_grad_() for name, value in weights.items()}
    optimiser = torch.optim.Adam(weights.values(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    targets = (targets - targets.mean(1, keepdim=True)) / targets.std(1, keepdim=True)
    outputs = vmap(lambda one: functional_call(networks[0], one, (x,))[:, 0])
    for _ in range(steps):
        optimiser.zero_grad()
        (outputs(weights) - targets).square().mean(1).sum().backward()
        optimiser.step()
        schedule.step()
    for place, network in enumerate(networks):
        network.load_state_dict({name: value[place].detach() for name, value in weights.items()})


def samples(case: int, numbers: int, scale: float = 1.0, count: int = SAMPLES) -> Tensor:
    """Normal samples."""
    return scale * torch.randn(count, numbers, generator=torch.Generator().manual_seed(case))


def untrained(case: int, steps: int) -> RankTest:
    """A network as torch makes it, among re-initialised ones."""
    numbers, hidden = 2 + case % 3, 1 + case // 9 % 2
    network = perceptron(case // 3, numbers, hidden, 1 + case // 18 % 2, seed=100_000 + case)
    x = samples(case, numbers, SCALES[case // 36 % 3])
    return reinitialised(network, x, case)


def fitted(function: Callable[[Tensor], Tensor]) -> Callable[[int, int], RankTest]:
    """A network trained on a function, among re-initialised ones."""

    def one(case: int, steps: int) -> RankTest:
        numbers = 2 + case % 2
        network = perceptron(case // 2, numbers, 2, 1, seed=200_000 + case)
        x = samples(case, numbers, count=4 * SAMPLES)
        trained([network], x, function(x)[None], steps)
        return reinitialised(network, x[:SAMPLES], case)

    return one


def reinitialised(network: nn.Module, x: Tensor, seed: int) -> RankTest:
    """The test of a discovery."""
    sym = liegg.discover(
        network,
        x,
        liegg.Linear(x.shape[1]),
        controls="reinitialised",
        run=liegg.Run(control_draws=CONTROL_DRAWS, seed=seed),
    )
    control = sym.controls.reinitialised
    assert control is not None
    assert control.test is not None
    return control.test


def shuffled(function: Callable[[Tensor], Tensor] | None) -> Callable[[int, int], RankTest]:
    """A network trained on a function (or on shuffled targets), among networks trained on shuffled targets."""

    def one(case: int, steps: int) -> RankTest:
        numbers = 2 + case % 2
        networks = [
            perceptron(case // 2, numbers, 2, 1, seed=300_000 + 100 * case + i)
            for i in range(CONTROL_DRAWS + 1)
        ]
        x = samples(case, numbers, count=4 * SAMPLES)
        y = (function or length)(x)
        generator = torch.Generator().manual_seed(case)
        targets = torch.stack([y[torch.randperm(len(y), generator=generator)] for _ in networks])
        if function is not None:
            targets[0] = y
        trained(networks, x, targets, steps)
        action = liegg.Linear(numbers)
        sym, *controls = (
            liegg.discover(network, x[:SAMPLES], action, controls="none") for network in networks
        )
        return liegg.results.rank_among(sym, controls)

    return one


FAMILIES: dict[str, tuple[Callable[[int, int], RankTest], int, int]] = {
    "untrained": (untrained, 216, 3),
    "symmetric target": (fitted(length), 12, 2),
    "other target": (fitted(other), 12, 2),
    "shuffled, null": (shuffled(None), 12, 2),
    "shuffled, symmetric target": (shuffled(length), 6, 1),
    "shuffled, other target": (shuffled(other), 6, 1),
}
"""Each family with its number of cases, in full and for a look."""


def summary(tests: list[RankTest]) -> dict[str, Any]:
    """How many were called learned, and the p values."""
    return {
        "cases": len(tests),
        "learned": sum(test.learned for test in tests),
        "share": sum(test.learned for test in tests) / len(tests),
        "p": [round(test.p, 6) for test in tests],
        "dimensions": [test.dimension for test in tests],
        "same_span_only": sum(test.same_span_only for test in tests),
    }


def main() -> None:
    """Run, print, store."""
    parser = options(
        __doc__.splitlines()[0] if __doc__ else None,
        "learned-control.json",
        quick="few cases and steps, for a look",
    )
    parser.add_argument("--only", nargs="*", choices=list(FAMILIES), help="run these again")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    families = json.loads(chosen.out.read_text())["families"] if chosen.only else {}
    for name, (one, full, quick) in FAMILIES.items():
        if chosen.only and name not in chosen.only:
            continue
        cases, steps = (quick, 60) if chosen.quick else (full, STEPS)
        families[name] = summary([one(case, steps) for case in range(cases)])
        print(name, json.dumps({k: v for k, v in families[name].items() if k != "p"}), flush=True)
        results = {"draws": CONTROL_DRAWS, "families": families}
        store(results, chosen.out, "python benchmarks/learned_control.py", begin=begin)


if __name__ == "__main__":
    main()
