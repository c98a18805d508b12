"""Cost of finite verification relative to discovery for images, stored as results/bench-verification.json.

Compared are time and sample evaluations of `verify` with `effort="auto"` and `effort="full"`, and their verdicts.
"""

import json
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

import liegg
from liegg.discovery.verification.selected_times import Effort
from liegg.results import Verification
from result_files import options, store

IMAGES = 16


def plain(side: int) -> nn.Module:
    """A small convolutional network with a fully connected head: no symmetry, one candidate is followed."""
    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(1, 8, 3, padding=1), nn.SiLU(), nn.AvgPool2d(2)),
        *(nn.Conv2d(8, 16, 3, padding=1), nn.SiLU(), nn.AdaptiveAvgPool2d(4)),
        *(nn.Flatten(), nn.Linear(256, 10)),
    )


def rotating(side: int) -> Callable[[Tensor], Tensor]:
    """A function of means over rings about the centre: one rotation."""
    axis = torch.linspace(-1, 1, side)
    radius = (axis[:, None] ** 2 + axis**2).sqrt()
    rings = torch.stack([torch.exp(-((radius - r) ** 2) / 0.05) for r in (0.0, 0.3, 0.6, 0.9)])
    torch.manual_seed(0)
    head = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 10)).requires_grad_(False)

    def function(x: Tensor) -> Tensor:
        both = torch.cat([x, x.square()], dim=1)
        return head(torch.einsum("bchw,rhw->bcr", both, rings / rings.sum((1, 2), True)).flatten(1))

    return function


def translating(side: int) -> nn.Module:
    """Convolutions of a periodic image and a mean over all pixels: two translations."""
    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(1, 8, 5, padding=2, padding_mode="circular"), nn.SiLU()),
        *(nn.Conv2d(8, 16, 3, padding=1, padding_mode="circular"), nn.SiLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)),
    )


CASES = {
    "no symmetry": (plain, liegg.Image("affine")),
    "one rotation": (rotating, liegg.Image("affine")),
    "two translations": (
        translating,
        liegg.Image("affine", derivative="spectral", border="periodic"),
    ),
}


def blobs(count: int, side: int, seed: int) -> Tensor:
    """Smooth images of three blobs each."""
    generator = torch.Generator().manual_seed(seed)
    place = torch.linspace(-1, 1, side)
    centres = 0.3 * torch.randn(count, 3, 2, 1, 1, generator=generator).clamp(-1.5, 1.5)
    heights = 0.5 + torch.rand(count, 3, 1, 1, generator=generator)
    across, up = place[None, None, None, :], -place[None, None, :, None]
    squares = (across - centres[:, :, 0]) ** 2 + (up - centres[:, :, 1]) ** 2
    return (heights * torch.exp(-14 * squares)).sum(1)[:, None]


def counted(model: Callable[[Tensor], Tensor]) -> tuple[Callable[[Tensor], Tensor], list[int]]:
    """The model, and a list to which every call adds its number of samples."""
    calls: list[int] = []

    def function(x: Tensor) -> Tensor:
        calls.append(len(x))
        return model(x)

    return function, calls


def evaluations(work: Callable[[Callable[[Tensor], Tensor]], object], model: object) -> int:
    """Samples that the model evaluates during some work."""
    function, calls = counted(model)  # pyright: ignore[reportArgumentType]
    work(function)
    return sum(calls)


def processor_seconds(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median processor time of each piece of work, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            begin = time.process_time()
            work()
            if turn:  # the first turn fills caches
                times[name].append(time.process_time() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def verdict(found: Verification) -> dict[str, object]:
    """What a reader takes from a verification."""
    curves = [*found.curves, *([] if found.group is None else [found.group]), *found.others]
    return {
        "holds": found.holds,
        "each_holds": [curve.holds for curve in curves],
        "radius": [curve.radius / curve.longest for curve in curves],
        "control_radius": [curve.control_radius / curve.longest for curve in curves],
        "points": [len(curve.times) for curve in curves],
    }


def measured(name: str, side: int, repeats: int) -> dict[str, object]:
    """One network and one size of images."""
    build, action = CASES[name]
    model, x, held_out = build(side), blobs(IMAGES, side, 0), blobs(IMAGES, side, 1)
    discover = lambda f: liegg.discover(f, x, action)  # noqa: E731
    sym = discover(model)
    works: dict[str, Callable[[], object]] = {"discovery": lambda: discover(model)}
    counts = {"discovery": evaluations(discover, model)}
    found, seconds = {}, {}
    efforts: tuple[Effort, ...] = ("auto", "full")
    for effort in efforts:
        verify = partial(liegg.verify, data=held_out, sym=sym, effort=effort)
        works[effort] = lambda verify=verify: verify(model)
        counts[effort] = evaluations(verify, model)
        begin = time.process_time()
        found[effort] = verdict(verify(model))
        seconds[effort] = time.process_time() - begin
    seconds |= processor_seconds({name: works[name] for name in ("discovery", "auto")}, repeats)
    return {
        "case": name,
        "side": side,
        "images": IMAGES,
        "symmetries": sym.nullity,
        "evaluations": counts,
        "processor_seconds": seconds,
        "ratio": seconds["auto"] / seconds["discovery"],
        "full_ratio": seconds["full"] / seconds["discovery"],
        "verdicts": found,
    }


def main() -> None:
    """Run, print, store."""
    parser = options(__doc__, "bench-verification.json", quick="small images, for a look")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    sides, repeats = ((24,), 1) if chosen.quick else ((28, 64), 3)
    results = {"cases": [measured(name, side, repeats) for side in sides for name in CASES]}
    print(json.dumps(results, indent=1))
    store(results, chosen.out, "make bench", begin=begin)


if __name__ == "__main__":
    main()
