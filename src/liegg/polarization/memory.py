"""Memory estimates: what a number of candidates needs, and whether the device has it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from liegg._utils.errors import ArgumentError
from liegg.actions import Action
from liegg.polarization import gram
from liegg.polarization.r_factor import block_rows
from liegg.polarization.sample_blocks import count_for

BYTES = 8
"""Bytes per number: everything is float64."""

SOLVER_SQUARES = {"full": 9, "bottom": 7}
"""Matrices `[g, g]` held at once.

Full: whitened factor, its square, eigenvectors, two of workspace (LAPACK), the small end,
    directions.
Bottom: whitened factor, its square, the Cholesky factors and their operands."""

BOTTOM_VECTORS = 12
"""Blocks of vectors `[g, count]` that the solver for the smallest defects holds."""

NEGLIGIBLE = 2**24
"""Bytes that are there on any device that has loaded torch."""

USABLE = 0.9
"""Fraction of the free memory that may be used: the model, the data and others need the rest."""


@dataclass(frozen=True)
class Memory:
    """Bytes that an analysis needs besides the model and its batches.

    Attributes:
        columns: number of candidates.
        factor: factor and Gram matrix, of each block of samples.
        rows: rows that wait to be folded in.
        folding: additional memory for folding them.
        solver: additional memory for solving.
    """

    columns: int
    factor: int
    rows: int
    folding: int
    solver: int

    @property
    def solving(self) -> int:
        """Bytes needed after the pass, on the CPU."""
        return self.factor + self.solver

    @property
    def peak(self) -> int:
        """Most bytes at one time: the rows are freed before solving starts."""
        return max(self.factor + self.rows + self.folding, self.solving)

    def __str__(self) -> str:
        parts = (
            ("factor", self.factor),
            ("rows", self.rows),
            ("folding", self.folding),
            ("solving", self.solver),
        )
        listed = ", ".join(f"{name} {readable(size)}" for name, size in parts)
        return f"{self.columns} candidates: {readable(self.peak)} at most ({listed})"


def expected(
    action: Action,
    *,
    output_action: Action | None = None,
    dtype: torch.dtype = torch.float32,
    rows: int = 1,
    controls: bool = True,
    bottom: int | None = None,
) -> Memory:
    """Memory that `liegg.discover` needs for an action, besides the model and its batches.

    `discover` makes this check itself before it starts.

    Args:
        action: the candidate generators.
        output_action: action on the outputs, for equivariance.
        dtype: precision of the model.
        rows: rows per sample: number of outputs, or 1 for their sum.
        controls: as for `discover`.
        bottom: as for `discover`.

    Examples:
        >>> from liegg.actions import Linear
        >>> print(expected(Linear(100), bottom=20))
        10000 candidates: 8 GB at most (factor 1.6 GB, rows 3.2 GB, folding 3.2 GB, solving 5.62 GB)
    """
    columns = action.row_action.size + (0 if output_action is None else output_action.size)
    squared = gram.allowed(dtype) and output_action is None and rows == 1
    return estimate(
        columns,
        blocks=count_for(columns) if controls else 1,
        accumulator="gram" if squared else "qr",
        solver="full" if bottom is None else "bottom",
        count=bottom or 0,
    )


def least(action: Action, bottom: int | None = None) -> Memory:
    """Memory that `liegg.discover` needs at least, whatever the model is: known before the model is called.

    Args:
        action: the candidate generators.
        bottom: as for `discover`.
    """
    ways = [
        expected(action, dtype=dtype, controls=False, bottom=bottom)
        for dtype in (torch.float32, torch.float64)
    ]
    return min(ways, key=lambda way: way.peak)


def estimate(
    columns: int,
    *,
    blocks: int = 1,
    accumulator: Literal["qr", "gram"] = "qr",
    solver: Literal["full", "bottom"] = "full",
    count: int = 20,
    side: int = 0,
) -> Memory:
    """Memory that a number of candidates needs.

    Args:
        columns: number of candidates, including those of an output action.
        blocks: number of blocks of samples, for intervals.
        accumulator: whether rows are folded by QR or summed to a Gram matrix.
        solver: `"full"` for all directions, `"bottom"` for the `count` smallest defects.
        count: number of smallest defects.
        side: side of the moment of each block.

    Examples:
        >>> print(estimate(10_000, accumulator="gram", solver="bottom"))
        10000 candidates: 8 GB at most (factor 1.6 GB, rows 3.2 GB, folding 3.2 GB, solving 5.62 GB)
    """
    square = columns**2 * BYTES
    # On a GPU up to 128 MB more, for few columns.
    waiting = block_rows(columns, torch.device("cpu")) * columns * BYTES
    # Rows are stacked on the factor, and the QR makes one copy.
    folding = 2 * (square + waiting) if accumulator == "qr" else waiting
    thin = BOTTOM_VECTORS * columns * count * BYTES if solver == "bottom" else 0
    return Memory(
        columns,
        blocks * (2 * square + side**2 * BYTES),
        waiting,
        folding,
        SOLVER_SQUARES[solver] * square + thin,
    )


def check(needed: Memory, *, device: torch.device | str = "cpu", free: int | None = None) -> None:
    """Raise `ArgumentError` if an analysis does not fit into the free memory of the device.

    Args:
        needed: result of `estimate`.
        device: device of the rows; the problem is solved on the CPU.
        free: free bytes; by default what the device reports, which is not asked about a few megabytes.

    Raises:
        ArgumentError: it does not fit; the message says by how much, and what to do.
    """
    stages = {torch.device("cpu"): needed.solving} | {torch.device(device): needed.peak}
    for place, size in stages.items():
        if free is None and size <= NEGLIGIBLE:
            continue
        available = free_bytes(place) if free is None else free
        if available is not None and size > USABLE * available:
            fits = int((USABLE * available / size) ** 0.5 * needed.columns)
            raise ArgumentError(
                f"{needed}, but {place.type} has {readable(available)} free, enough for about "
                f"{fits} candidates. Use fewer with action.restrict(...) or liegg.actions.Blocks, "
                "Banded, Weights or KroneckerSum; ask only for the smallest defects with "
                "run=liegg.Run(bottom=20); or use a device with more memory."
            )


def free_bytes(device: torch.device | str = "cpu") -> int | None:
    """Free bytes on a device; None if unknown.

    On the CPU what the system reports as available, or what the control group of a container
    allows.
    """
    where = torch.device(device)
    if where.type == "cuda":
        return torch.cuda.mem_get_info(where)[0]
    if where.type != "cpu":
        return None
    return min((size for size in (_available(), _allowed()) if size is not None), default=None)


def _available() -> int | None:
    """Memory that is available without swapping."""
    listing = Path("/proc/meminfo")
    if listing.is_file():
        lines = listing.read_text(encoding="utf-8").splitlines()
        return next(
            (int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")),
            None,
        )
    names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
    pages = next((name for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES") if name in names), None)
    return None if pages is None else os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")


def _allowed(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Memory that a container may still use; None if unlimited."""
    texts = {
        name: (root / name).read_text(encoding="utf-8").strip()
        for name in ("memory.max", "memory.current", "memory.stat")
        if (root / name).is_file()
    }
    if texts.get("memory.max", "max") == "max" or "memory.current" not in texts:
        return None
    stat = (line.split() for line in texts.get("memory.stat", "").splitlines())
    reclaimable = next((int(size) for name, size in stat if name == "inactive_file"), 0)
    return int(texts["memory.max"]) - int(texts["memory.current"]) + reclaimable


def readable(size: int | float) -> str:
    """A number of bytes with its unit.

    >>> readable(3_200_000_000), readable(512)
    ('3.2 GB', '512 B')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
