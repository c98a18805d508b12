"""Cost of an analysis beside plain passes over the same data, on one device: a network of ResNet-50 size on large images.

`python benchmarks/scale.py --device cuda` writes results/bench-scale-cuda.json; `--quick` is a small form for the tests.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

import liegg
from result_files import RESULTS, store


class Bottleneck(nn.Module):
    """Three convolutions and a way around them."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        after = 4 * width
        self.inner = nn.Sequential(
            nn.Conv2d(before, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, after, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        same = before == after and stride == 1
        self.around = (
            nn.Identity()
            if same
            else nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps of the next block."""
        return torch.relu(self.inner(x) + self.around(x))


def residual(
    widths: tuple[int, ...] = (64, 128, 256, 512),
    depths: tuple[int, ...] = (3, 4, 6, 3),
    classes: int = 1000,
) -> nn.Module:
    """The usual network of 50 layers and 25.6 million parameters, with random weights."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [
        nn.Conv2d(3, widths[0], 7, 2, 3, bias=False),
        nn.BatchNorm2d(widths[0]),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    before = widths[0]
    for number, (width, depth) in enumerate(zip(widths, depths, strict=True)):
        for block in range(depth):
            layers.append(Bottleneck(before, width, 2 if number and not block else 1))
            before = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


def timed(work: Callable[[], object], device: torch.device, repeats: int) -> float:
    """Median seconds of a few runs, after one that warms up."""
    found = []
    for turn in range(repeats + 1):
        if device.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        found += [time.perf_counter() - start] if turn else []
    return statistics.median(found)


def plain(model: nn.Module, x: Tensor, size: int, *, weights: bool = False) -> None:
    """One forward and backward pass over the same data: the gradient of the input, or of the weights too, as in training."""
    for batch in x.split(size):
        leaf = batch.to(next(model.parameters()).device, non_blocking=True).requires_grad_()
        model(leaf).sum().backward(inputs=[leaf, *(model.parameters() if weights else ())])


def backwards(model: nn.Module, x: Tensor, size: int, outputs: int) -> None:
    """One backward pass for each of the first outputs."""
    for batch in x.split(size):
        leaf = batch.to(next(model.parameters()).device, non_blocking=True).requires_grad_()
        y = model(leaf)
        for column in range(outputs):
            torch.autograd.grad(y[:, column].sum(), leaf, retain_graph=True)


def cost(device: torch.device, *, quick: bool) -> dict:
    """Seconds of plain passes, and the readings' ratios to the forward and backward pass that takes the input's gradient."""
    model = residual((8, 16, 16, 16), (1, 1, 1, 1), 20) if quick else residual()
    model = model.to(device).eval()
    count, side, size, repeats, few = (16, 32, 8, 1, 2) if quick else (8192, 224, 128, 3, 10)
    x = torch.randn(count, 3, side, side, generator=torch.Generator().manual_seed(0))
    if device.type == "cuda":
        x = x.to(device)
    some = x[: count // 4]
    base = timed(lambda: plain(model, x, size), device, repeats)
    training = timed(lambda: plain(model, x, size, weights=True), device, 1)
    outputs = model(x[:1]).shape[1]
    one = timed(lambda: plain(model, some, size), device, repeats)
    several = timed(lambda: backwards(model, some, size, few), device, 1)
    model.requires_grad_(False)
    found = {
        "samples": count,
        "samples_each": len(some),
        "side": side,
        "batch_size": size,
        "outputs": outputs,
        "parameters": sum(p.numel() for p in model.parameters()),
        "plain_s": base,
        "plain_each_s": one,
        "with_weights": training / base,
        "backward_per_output": (several - one) / (few - 1) * outputs / one,
        "backward_per_output_measured": few,
    }
    action = liegg.Image("affine")
    for reading in ("sum", "each"):
        given, unit = (x, base) if reading == "sum" else (some, one)
        for controls in ("none", "random"):
            if device.type == "cuda":
                torch.cuda.reset_peak_memory_stats()
            seconds = timed(
                lambda reading=reading, controls=controls, given=given: liegg.discover(
                    model,
                    given,
                    action,
                    outputs=reading,
                    controls=controls,
                    run=liegg.Run(batch_size=size),
                ),
                device,
                repeats if reading == "sum" else 1,
            )
            name = f"{reading}{'_controls' if controls == 'random' else ''}"
            found[name] = seconds / unit
            if device.type == "cuda":
                found[f"{name}_peak_gb"] = (
                    torch.cuda.max_memory_allocated() - x.numel() * x.element_size()
                ) / 1e9
    return found


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description="Cost of an analysis at scale.")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args()
    device = torch.device(args.device)
    out = args.out or RESULTS / f"bench-scale-{device.type}.json"
    begin = time.perf_counter()
    measured = cost(device, quick=args.quick)
    command = f"python benchmarks/scale.py --device {args.device}"
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    store({"cost": measured, "quick": args.quick}, out, command, begin=begin, device=where)


if __name__ == "__main__":
    main()
