"""Large candidate spaces: gl(n) with g = n² columns and 4 g rows, all directions against the bottom alone.

Writes results/bench-candidates-cpu.json, or -cuda.json with --device cuda. Each case runs in a process of its own, so that its peak
memory can be told.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from liegg.actions import Displacement, Linear
from liegg.polarization import gram
from liegg.polarization import r_factor as accumulate
from liegg.polarization.memory import estimate
from liegg.spectrum.defects import defects, smallest_defects
from measure import in_process, peak_bytes, reset_peak, resident_bytes
from result_files import RESULTS, store

COUNT = 20
CASES = ("qr", "full", "bottom", "full_network", "bottom_network")
ROWS = 4
"""Rows to a column."""


def problem(
    n: int, device: torch.device, *, network: bool
) -> tuple[gram.Gram, Displacement, int, float]:
    """Sum over the rows of a function, and the seconds it took.

    Either a function of one quadratic form, which n (n - 1) / 2 directions keep: a large null space, found in one step. Or a random
    network without any symmetry, whose defects have no gap anywhere: the hardest case for a solver of the bottom alone.
    """
    samples = ROWS * n * n
    generator = torch.Generator().manual_seed(0)
    weights = torch.linspace(1, 4, n, dtype=torch.float64, device=device)
    hidden = (torch.randn(n, 2 * n, generator=generator, dtype=torch.float64) / n**0.5).to(device)
    action, state = Linear(n), gram.init(n * n, device)
    moment = torch.zeros(n, n, dtype=torch.float64, device=device)
    seconds = 0.0
    for _ in range(ROWS):
        x = torch.randn(samples // ROWS, n, generator=generator, dtype=torch.float64).to(device)
        if network:
            slopes = (1 - torch.tanh(x @ hidden).square()) @ hidden.mT
        else:
            slopes = weights * x * torch.cos((x.square() @ weights)[:, None] / n)
        begin = now(device)
        state = gram.update_products(state, slopes, x)
        moment += action.moment(x)
        seconds += now(device) - begin
    return state, action.displacement(moment, samples), samples, seconds


def now(device: torch.device) -> float:
    """Time when all that was asked of the device is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def one(n: int, what: str, device: torch.device) -> dict[str, Any]:
    """One case: rows folded by QR, or a spectrum solved by one of the solvers."""
    solve: Callable[[], Any]
    if what == "qr":
        rows = torch.randn(
            ROWS * n * n, n * n, generator=torch.Generator().manual_seed(0), dtype=torch.float64
        ).to(device)
        solve = lambda: accumulate.update(accumulate.init(n * n, device), rows)  # noqa: E731
        found: dict[str, Any] = {}
    else:
        state, displacement, samples, seconds = problem(n, device, network=what.endswith("network"))
        found = {"gram_seconds": seconds}
        if what.startswith("full"):
            solve = lambda: (defects(state, displacement, samples), None)  # noqa: E731
        else:
            solve = lambda: smallest_defects(state, displacement, samples, COUNT)  # noqa: E731
    before = settled(device)
    begin = now(device)
    solved = solve()
    found["seconds"] = now(device) - begin
    found["extra_bytes"] = (
        torch.cuda.max_memory_allocated(device) if device.type == "cuda" else peak_bytes()
    ) - before
    if what != "qr":
        found["smallest"] = solved[0].values[:4].tolist()
    if what.startswith("bottom"):
        found |= {"residual": float(solved[1].residuals.max()), "steps": solved[1].steps}
    said = estimate(n * n, solver="bottom" if what.startswith("bottom") else "full", count=COUNT)
    found["estimated_bytes"] = said.folding + said.factor if what == "qr" else said.solver
    return found


def settled(device: torch.device) -> int:
    """Bytes in use now, from which on the largest are counted."""
    if device.type != "cuda":
        reset_peak()
        return resident_bytes()
    torch.linalg.eigh(torch.eye(64, dtype=torch.float64, device=device))  # starts the library
    torch.cuda.reset_peak_memory_stats(device)
    return torch.cuda.memory_allocated(device)


def case(n: int, device: str, skip: Sequence[str]) -> dict[str, Any]:
    """All of one size, with what was predicted of its memory."""
    row: dict[str, Any] = {"n": n, "columns": n * n, "rows": ROWS * n * n}
    for what in CASES:
        if what not in skip:
            row[what] = in_process(Path(__file__), "--one", str(n), what, "--device", device)
            print(
                f"gl({n}) {what}: "
                + ", ".join(f"{key} {value}" for key, value in row[what].items()),
                flush=True,
            )
    for end in ("", "_network"):
        if f"full{end}" in row and f"bottom{end}" in row:
            row[f"ratio{end}"] = row[f"full{end}"]["seconds"] / row[f"bottom{end}"]["seconds"]
    return row


def main() -> None:
    """Run, print a line to a case, store the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="one small size and the network alone, for a look"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sizes", type=int, nargs="*", help="sides n, in place of 48, 64 and 100")
    parser.add_argument("--skip", nargs="*", default=[], choices=CASES, help="what not to run")
    parser.add_argument("--one", nargs=2, metavar=("N", "WHAT"), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one(int(chosen.one[0]), chosen.one[1], torch.device(chosen.device))))
        return
    begin = time.perf_counter()
    sizes = chosen.sizes or ([28] if chosen.quick else [48, 64, 100])
    skip = [*chosen.skip, *(("full", "bottom") if chosen.quick else ())]
    cases = [case(n, chosen.device, skip) for n in sizes]
    where = torch.device(chosen.device).type
    command = " ".join(["python", "benchmarks/candidates.py", *sys.argv[1:]])
    out = chosen.out or RESULTS / f"bench-candidates-{where}.json"
    store({"cases": cases}, out, command, begin=begin, device=where)
    print(f"stored in {out}")


if __name__ == "__main__":
    main()
