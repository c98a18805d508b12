"""Training of one group of networks; each has its own order, epochs and best epoch; with checkpoints."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from liegg._utils.atomic_write import atomic_path
from liegg._utils.checks import checksum
from liegg._utils.errors import ResultsError
from liegg._utils.random import STRIDE, splitmix64
from liegg.studies.ensemble.members import Member
from liegg.studies.ensemble.problems import Problem
from liegg.studies.ensemble.stack import Stack, initialise
from liegg.studies.ensemble.step import Schedule, Step

INTERVAL = 30.0
"""Seconds between two checkpoints: the most that is lost when a run is killed."""


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks at their best epochs.

    Attributes:
        stack: weights after the first epoch of the highest score, or after the last epoch if
            nothing is scored.
        score: that score; NaN if nothing is scored.
        epoch: that epoch, counted from 1.
    """

    stack: Stack
    score: Float[Tensor, " s"]
    epoch: Int[Tensor, " s"]


@dataclass(frozen=True, eq=False)
class Pace:
    """Networks whose epochs begin and end together.

    Attributes:
        rows: their indices in the group.
        samples: size of their training sets.
        steps: steps per epoch.
        epochs: number of epochs.
    """

    rows: Int[Tensor, " r"]
    samples: int
    steps: int
    epochs: int

    @property
    def last(self) -> int:
        """Number of steps in all epochs."""
        return self.steps * self.epochs

    def order(self, seeds: Int[Tensor, " s"], step: int) -> Int[Tensor, "r n"]:
        """Order of the samples in the epoch of a step; past the end, that of the last epoch."""
        epoch = min(step, self.last - 1) // self.steps
        return permutations(seeds[self.rows], epoch, self.samples)


class Checkpoint:
    """State of one training in a file.

    Args:
        path: the file, `*.safetensors`.
        seconds: time between two checkpoints.
    """

    def __init__(self, path: Path, seconds: float = INTERVAL) -> None:
        self._path, self._seconds, self._last = path, seconds, time.monotonic()

    def due(self) -> bool:
        """Whether it is time for the next checkpoint."""
        return time.monotonic() - self._last >= self._seconds

    def save(self, state: dict[str, Tensor]) -> None:
        """Write the state atomically; a crash leaves the previous checkpoint intact."""
        state = {name: value.detach().cpu().contiguous() for name, value in state.items()}
        with atomic_path(self._path) as part:
            save_file(state, part, metadata={"checksum": _checksum(state)})
        self._last = time.monotonic()

    def load(self) -> dict[str, Tensor] | None:
        """The stored state on the CPU; None if there is none.

        Raises:
            ResultsError: the file is damaged.
        """
        if not self._path.is_file():
            return None
        try:
            with safe_open(self._path, "pt") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                if (file.metadata() or {}).get("checksum") != _checksum(state):
                    raise ValueError("its checksum is wrong")
        except (SafetensorError, OSError, ValueError) as error:
            raise ResultsError(
                f"{self._path} is damaged: {error}. Remove it to train these networks again."
            ) from error
        return state

    def remove(self) -> None:
        """Remove the file, if there is one."""
        self._path.unlink(missing_ok=True)


def _checksum(state: dict[str, Tensor]) -> str:
    return checksum(*(state[name] for name in sorted(state)))


def permutations(seeds: Int[Tensor, " s"], epoch: int, count: int) -> Int[Tensor, "s n"]:
    """A random order of each network's samples for one epoch, the same on every device.

    A row depends on its own seed, the epoch and the count alone. So an order needs no state to be
    kept, a network sees the same one alone and among others, and a run that was stopped resumes as
    if it had not been.

    Args:
        seeds: one per network.
        epoch: the epoch that begins.
        count: number of samples.
    """
    epochs = torch.full_like(seeds, epoch + 1)
    keys = splitmix64(splitmix64(seeds * STRIDE) + epochs * STRIDE)
    places = torch.arange(1, count + 1, device=seeds.device)
    return splitmix64(keys[:, None] + places * STRIDE).sort(dim=1, stable=True).indices


def train(
    members: Sequence[Member],
    problem: Problem,
    schedule: Schedule,
    *,
    start: Stack | None = None,
    device: torch.device | str = "cpu",
    graph: bool | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> Trained:
    """Train networks of one depth together; each result equals that of a separate training.

    The two agree up to rounding.

    Args:
        members: the networks.
        problem: their losses and scores, with its tensors on the device.
        schedule: how they are trained.
        start: initial weights, which are copied and whose precision is kept; by default random ones
            of each network's seed in float32.
        device: device of the training.
        graph: replay a CUDA graph; by default on a CUDA device.
        checkpoint: where the state is stored from time to time, and resumed from.
        progress: called with the number of networks that ended an epoch, whenever some did.
    """
    seeds = torch.tensor([member.seed for member in members], device=device)
    stack = start or initialise([member.sizes for member in members], seeds.tolist())
    leaves = [leaf.detach().to(device, copy=True) for leaf in stack.leaves]
    stack = stack.with_leaves(leaves)
    paces = _paces(members, schedule.batch_size, device)
    step = Step(stack, problem, schedule, graph=graph)
    best = Trained(
        stack.with_leaves([leaf.detach().clone() for leaf in stack.leaves]),
        torch.full((len(members),), -torch.inf, device=device),
        torch.zeros(len(members), dtype=torch.int64, device=device),
    )
    tensors = {f"leaf.{index}": leaf for index, leaf in enumerate(stack.leaves)}
    tensors |= {f"kept.{index}": leaf for index, leaf in enumerate(best.stack.leaves)}
    tensors |= {"score": best.score, "epoch": best.epoch}
    begin = 0
    state = None if checkpoint is None else checkpoint.load()
    if state is not None:
        begin = int(state["step"])
        with torch.no_grad():
            for name, tensor in tensors.items():
                tensor.copy_(state[name])
        step.restore({name: value for name, value in state.items() if name.startswith("adam.")})
        progress(sum(min(pace.epochs, begin // pace.steps) * len(pace.rows) for pace in paces))
    orders = [pace.order(seeds, begin) for pace in paces]
    for now in range(begin, max(pace.last for pace in paces)):
        for index, pace in enumerate(paces):
            if now < pace.last and (now % pace.steps == 0 or now == begin):
                problem.begin(now // pace.steps + 1)
                orders[index] = pace.order(seeds, now)
        step(*_batch(now, paces, orders, stack.weights[0], batch_size=schedule.batch_size))
        ended = [pace for pace in paces if (now + 1) % pace.steps == 0 and now < pace.last]
        if not ended:
            continue
        with torch.no_grad():
            scores = problem.scores(stack)
            for pace in ended:
                _keep_best(best, stack, scores, pace, epoch=(now + 1) // pace.steps)
        progress(sum(len(pace.rows) for pace in ended))
        if checkpoint is not None and checkpoint.due():
            checkpoint.save(tensors | step.moments() | {"step": torch.tensor(now + 1)})
    step.close()
    score = torch.where(best.score == -torch.inf, torch.nan, best.score)
    return Trained(best.stack, score.cpu(), best.epoch.cpu())


def _keep_best(
    best: Trained, stack: Stack, scores: Float[Tensor, " s"] | None, pace: Pace, *, epoch: int
) -> None:
    """Keep the networks that ended an epoch with their highest score; unscored ones at the last."""
    rows = pace.rows
    if scores is None and epoch < pace.epochs:
        return
    if scores is not None:
        rows = rows[scores[rows] > best.score[rows]]
        best.score[rows] = scores[rows]
    best.epoch[rows] = epoch
    for kept, leaf in zip(best.stack.leaves, stack.leaves, strict=True):
        kept[rows] = leaf[rows]


def _paces(members: Sequence[Member], batch_size: int, device: torch.device | str) -> list[Pace]:
    rows: dict[tuple[int, int], list[int]] = {}
    for index, member in enumerate(members):
        rows.setdefault((member.samples, member.epochs), []).append(index)
    return [
        Pace(torch.tensor(some, device=device), samples, -(-samples // batch_size), epochs)
        for (samples, epochs), some in rows.items()
    ]


def _batch(
    now: int, paces: list[Pace], orders: list[Tensor], like: Tensor, *, batch_size: int
) -> tuple[Int[Tensor, "s b"], Float[Tensor, "s b"]]:
    """Samples of this step and their weights in the mean.

    A network past its end repeats its last batch; nothing of it is kept any more.
    """
    parts = []
    for pace, order in zip(paces, orders, strict=True):
        at = min(now, pace.last - 1) % pace.steps
        parts.append(order[:, at * batch_size : (at + 1) * batch_size])
    # A CUDA graph needs batches of one size.
    width = batch_size if like.is_cuda else max(part.shape[1] for part in parts)
    if len(parts) == 1 and parts[0].shape[1] == width:
        return parts[0], like.new_full((1, 1), 1 / width).expand(len(like), width)
    chosen = torch.zeros(len(like), width, dtype=torch.int64, device=like.device)
    share = like.new_zeros(len(like), width)
    for pace, part in zip(paces, parts, strict=True):
        chosen[pace.rows, : part.shape[1]] = part
        share[pace.rows, : part.shape[1]] = 1 / part.shape[1]
    return chosen, share
