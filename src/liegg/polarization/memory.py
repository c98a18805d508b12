"""Memory stated in advance: what so many candidates need, and whether the device has it."""

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

Solver = Literal["full", "bottom"]
Accumulator = Literal["qr", "gram"]

NUMBER = 8
"""Bytes to a number: all of it is float64."""

SOLVER_SQUARES = {"full": 9, "bottom": 7}
"""Matrices `[g, g]` held at once. Full: factor whitened, its square, eigenvectors, workspace of two (LAPACK's own figure), the
small end apart, directions. Bottom: factor whitened, its square, the Cholesky factors and what they are made of."""

THIN = 12
"""Blocks of vectors `[g, count]` that the solver for the bottom holds."""

SHARE = 0.9
"""Share of what is free that may be used: the model, the data and everybody else need the rest."""


@dataclass(frozen=True)
class Memory:
    """Bytes that an analysis needs beside the model and its batches.

    Attributes:
        columns: number of candidates.
        factor: the factor and the Gram matrix that are kept, or those of each block of samples.
        rows: rows that wait to be folded in.
        folding: what folding them takes on top.
        solver: what solving takes on top of the factor.
    """

    columns: int
    factor: int
    rows: int
    folding: int
    solver: int

    @property
    def solving(self) -> int:
        """What is needed once the data has been read, which is done by the CPU."""
        return self.factor + self.solver

    @property
    def peak(self) -> int:
        """The most at one time: rows are gone when solving starts."""
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
    """Memory that `liegg.discover` will need for an action, beside the model and its batches; it looks itself before it begins.

    Args:
        action: the candidate generators.
        output_action: action on the outputs, for equivariance.
        dtype: precision of the model.
        rows: rows of a sample: its outputs, or 1 for their sum.
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


def estimate(
    columns: int,
    *,
    blocks: int = 1,
    accumulator: Accumulator = "qr",
    solver: Solver = "full",
    count: int = 20,
    side: int = 0,
) -> Memory:
    """Memory that so many candidates need.

    Args:
        columns: number of candidates, with those of an output action.
        blocks: blocks of samples that are kept apart, for intervals.
        accumulator: whether rows are folded by QR or summed to a Gram matrix.
        solver: `"full"` for all directions, `"bottom"` for the `count` smallest defects.
        count: how many, for the bottom.
        side: side of the moment that every block keeps beside its factor.

    Raises:
        ArgumentError: no candidates, or an unknown solver or accumulator.

    Examples:
        >>> print(estimate(10_000, accumulator="gram", solver="bottom"))
        10000 candidates: 8 GB at most (factor 1.6 GB, rows 3.2 GB, folding 3.2 GB, solving 5.62 GB)
    """
    if (
        columns < 1
        or blocks < 1
        or solver not in SOLVER_SQUARES
        or accumulator not in ("qr", "gram")
    ):
        raise ArgumentError(
            f"estimate({columns}, blocks={blocks}, accumulator={accumulator!r}, solver={solver!r}): expected positive numbers, "
            "'qr' or 'gram', and 'full' or 'bottom'."
        )
    square = columns**2 * NUMBER
    waiting = (
        block_rows(columns, torch.device("cpu")) * columns * NUMBER
    )  # on a GPU up to 128 MB more, where there are few
    folding = (
        2 * (square + waiting) if accumulator == "qr" else waiting
    )  # stacked on the factor and copied once by the QR
    thin = THIN * columns * count * NUMBER if solver == "bottom" else 0
    return Memory(
        columns,
        blocks * (2 * square + side**2 * NUMBER),
        waiting,
        folding,
        SOLVER_SQUARES[solver] * square + thin,
    )


def check(needed: Memory, *, device: torch.device | str = "cpu", free: int | None = None) -> None:
    """Raise `ArgumentError` if an analysis cannot fit into what the device has free.

    Args:
        needed: what `estimate` said.
        device: where the rows are folded; they are solved on the CPU.
        free: bytes that are free; by default what the device says.

    Raises:
        ArgumentError: it cannot fit; the message says by how much, and what to do.
    """
    where = torch.device(device)
    wanted = needed.peak
    there = free_bytes(where) if free is None else free
    if where.type != "cpu" and (there is None or wanted <= SHARE * there):
        where, wanted = torch.device("cpu"), needed.solving
        there = free_bytes(where) if free is None else free
    if there is None or wanted <= SHARE * there:
        return
    fits = int((SHARE * there / wanted) ** 0.5 * needed.columns)
    raise ArgumentError(
        f"{needed}, but {where.type} has {readable(there)} free: room for about {fits} candidates. Ask about fewer with "
        "action.restrict(...), liegg.Blocks, liegg.Banded, liegg.Weights or liegg.KroneckerSum; ask for the smallest defects "
        "alone with bottom=20; or use a device with more memory."
    )


def free_bytes(device: torch.device | str = "cpu") -> int | None:
    """Bytes that are free on a device, or that this process may still take; None where that cannot be known.

    What the system counts as available, cut by the limit of the process's control group where it has one.
    """
    where = torch.device(device)
    if where.type == "cuda":
        return torch.cuda.mem_get_info(where)[0]
    if where.type != "cpu":
        return None
    found = [size for size in (_available(), _allowed()) if size is not None]
    return min(found) if found else None


def _available() -> int | None:
    """Memory that can be had without swapping."""
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
    """What the limit of a container leaves; None without a limit. File pages it could give back count as free."""
    limit, used, parts = root / "memory.max", root / "memory.current", root / "memory.stat"
    if (
        not limit.is_file()
        or not used.is_file()
        or limit.read_text(encoding="utf-8").strip() == "max"
    ):
        return None
    lines = parts.read_text(encoding="utf-8").splitlines() if parts.is_file() else []
    back = next((int(line.split()[1]) for line in lines if line.startswith("inactive_file ")), 0)
    return int(limit.read_text(encoding="utf-8")) - int(used.read_text(encoding="utf-8")) + back


def readable(size: int | float) -> str:
    """Bytes in words.

    >>> readable(3_200_000_000), readable(512)
    ('3.2 GB', '512 B')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
