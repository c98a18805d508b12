"""The training of one group of networks: each with its own order and number of epochs, each kept at its best epoch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.errors import ArgumentError
from liegg.studies.ensemble.members import Member
from liegg.studies.ensemble.order import permutations
from liegg.studies.ensemble.problems import Problem
from liegg.studies.ensemble.stack import Stack, initialise
from liegg.studies.ensemble.step import Step


@dataclass(frozen=True)
class Schedule:
    """How networks are trained.

    Attributes:
        batch_size: samples to a step.
        rate: learning rate of Adam.
        patience: epochs without a better score after which a network stops; None trains to the end.
        frozen: first layers whose weights stay as they are.
    """

    batch_size: int = 512
    rate: float = 1e-3
    patience: int | None = None
    frozen: int = 0

    def __post_init__(self) -> None:
        if (
            self.batch_size < 1
            or not self.rate > 0
            or (self.patience is not None and self.patience < 1)
            or self.frozen < 0
        ):
            raise ArgumentError(
                f"{self}: expected a batch size and a patience of 1 or more, a rate above 0, and no fewer than 0 frozen layers."
            )


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks at the epoch that was kept.

    Attributes:
        stack: weights of each network after the first epoch of its highest score, or after its last where nothing is scored.
        score: that score; NaN where nothing is scored.
        epoch: that epoch, counted from 1.
    """

    stack: Stack
    score: Float[Tensor, " s"]
    epoch: Int[Tensor, " s"]


@runtime_checkable
class Keeper(Protocol):
    """Where the state of a training is kept from time to time, such as `liegg.studies.ensemble.checkpoint.Checkpoint`."""

    def load(self) -> dict[str, Tensor] | None:
        """State that was kept, on the CPU; None if there is none."""
        ...

    def due(self) -> bool:
        """Whether it is time to keep the state."""
        ...

    def save(self, state: dict[str, Tensor]) -> None:
        """Keep the state."""
        ...


@dataclass(frozen=True, eq=False)
class Pace:
    """Networks whose epochs begin and end together.

    Attributes:
        rows: their places in the group.
        samples: size of their training sets.
        steps: steps to an epoch.
        epochs: number of epochs.
    """

    rows: Int[Tensor, " r"]
    samples: int
    steps: int
    epochs: int


def train(
    members: Sequence[Member],
    problem: Problem,
    schedule: Schedule,
    *,
    start: Stack | None = None,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    graph: bool | None = None,
    keeper: Keeper | None = None,
    progress: Callable[[int], object] | None = None,
) -> Trained:
    """Train networks of one depth together; each comes out as if it had been alone, up to rounding.

    Args:
        members: the networks.
        problem: their losses and scores, with its tensors on the device.
        schedule: how they are trained.
        start: weights to begin with, which are copied; by default random ones of each network's seed.
        device: where.
        dtype: precision of weights and arithmetic.
        graph: replay a CUDA graph; by default on a CUDA device.
        keeper: where to keep the state from time to time, and to go on from.
        progress: called with the number of networks that ended an epoch, whenever some did.

    Raises:
        ArgumentError: the networks do not fit the problem or the schedule.
    """
    problem.check(members, schedule.patience)
    stack = _begin(members, start, schedule.frozen).to(device, dtype)
    seeds = torch.tensor([member.seed for member in members], device=device)
    paces = _paces(members, schedule.batch_size, device)
    last = max(pace.steps * pace.epochs for pace in paces)
    step = Step(
        stack, problem, schedule.batch_size, schedule.rate, frozen=schedule.frozen, graph=graph
    )
    kept = [leaf.detach().clone() for leaf in stack.leaves]
    score = torch.full((len(members),), -torch.inf, device=device)
    epoch_kept = torch.zeros(len(members), dtype=torch.int64, device=device)
    begun = 0
    state = None if keeper is None else keeper.load()
    if state is not None:
        begun = int(state["step"])
        score, epoch_kept = state["score"].to(device), state["epoch"].to(device)
        with torch.no_grad():
            for index, (leaf, best) in enumerate(zip(stack.leaves, kept, strict=True)):
                leaf.copy_(state[f"leaf.{index}"])
                best.copy_(state[f"kept.{index}"])
        step.restore({name: value for name, value in state.items() if name.startswith("adam.")})
        if progress is not None:
            progress(sum(min(pace.epochs, begun // pace.steps) * len(pace.rows) for pace in paces))
    orders = [_order(pace, seeds, begun) for pace in paces]
    for now in range(begun, last):
        for index, pace in enumerate(paces):
            if now < pace.steps * pace.epochs and (now % pace.steps == 0 or now == begun):
                problem.begin(now // pace.steps + 1)
                orders[index] = _order(pace, seeds, now)
        step(
            *_chosen(
                now,
                paces,
                orders,
                len(members),
                stack.weights[0],
                schedule.batch_size,
                whole=stack.weights[0].is_cuda,
            )
        )
        ended = [
            pace for pace in paces if (now + 1) % pace.steps == 0 and now < pace.steps * pace.epochs
        ]
        if not ended:
            continue
        with torch.no_grad():
            scores = problem.scores(stack)
            for pace in ended:
                epoch = (now + 1) // pace.steps
                if scores is None and epoch < pace.epochs:
                    continue
                better = torch.zeros_like(epoch_kept, dtype=torch.bool)
                better[pace.rows] = True if scores is None else scores[pace.rows] > score[pace.rows]
                if schedule.patience is not None:  # a network that waited too long stays as it is
                    better &= epoch - 1 - epoch_kept < schedule.patience
                if scores is not None:
                    score = torch.where(better, scores, score)
                epoch_kept = torch.where(better, epoch, epoch_kept)
                for best, leaf in zip(kept, stack.leaves, strict=True):
                    best.copy_(torch.where(better[:, None, None], leaf, best))
        if progress is not None:
            progress(sum(len(pace.rows) for pace in ended))
        if schedule.patience is not None and _all_waited(
            now + 1, paces, epoch_kept, schedule.patience
        ):
            break
        if keeper is not None and keeper.due():
            leaves = {f"leaf.{index}": leaf.detach() for index, leaf in enumerate(stack.leaves)}
            best = {f"kept.{index}": leaf for index, leaf in enumerate(kept)}
            keeper.save(
                leaves
                | best
                | step.moments()
                | {"step": torch.tensor(now + 1), "score": score, "epoch": epoch_kept}
            )
    step.close()
    return Trained(
        stack.with_leaves(kept),
        torch.where(score == -torch.inf, torch.nan, score).cpu(),
        epoch_kept.cpu(),
    )


def _begin(members: Sequence[Member], start: Stack | None, frozen: int) -> Stack:
    """Weights to begin with, which training may change."""
    sizes = tuple(member.sizes for member in members)
    if frozen >= len(sizes[0]) - 1:
        raise ArgumentError(
            f"frozen={frozen} layers of {len(sizes[0]) - 1}: expected fewer, so that something is trained."
        )
    if start is None:
        return initialise(sizes, [torch.Generator().manual_seed(member.seed) for member in members])
    if start.sizes != sizes:
        raise ArgumentError(f"start has networks with widths {start.sizes}; expected {sizes}.")
    return start.with_leaves([leaf.detach().clone() for leaf in start.leaves])


def _paces(members: Sequence[Member], batch_size: int, device: torch.device | str) -> list[Pace]:
    rows: dict[tuple[int, int], list[int]] = {}
    for index, member in enumerate(members):
        rows.setdefault((member.samples, member.epochs), []).append(index)
    return [
        Pace(torch.tensor(some, device=device), samples, -(-samples // batch_size), epochs)
        for (samples, epochs), some in rows.items()
    ]


def _order(pace: Pace, seeds: Int[Tensor, " s"], now: int) -> Int[Tensor, "r n"]:
    """Order of the samples in the epoch of this step; past the end, that of the last epoch."""
    epoch = torch.full_like(pace.rows, min(now, pace.steps * pace.epochs - 1) // pace.steps)
    return permutations(seeds[pace.rows], epoch, torch.full_like(epoch, pace.samples), pace.samples)


def _chosen(
    now: int,
    paces: list[Pace],
    orders: list[Tensor],
    members: int,
    like: Tensor,
    batch_size: int,
    *,
    whole: bool,
) -> tuple[Int[Tensor, "s b"], Float[Tensor, "s b"]]:
    """Samples of this step and what each counts. A network past its end repeats its last batch: nothing of it is kept any more."""
    parts = []
    for pace, order in zip(paces, orders, strict=True):
        at = min(now, pace.steps * pace.epochs - 1) % pace.steps
        parts.append(order[:, at * batch_size : (at + 1) * batch_size])
    width = batch_size if whole else max(part.shape[1] for part in parts)
    if len(parts) == 1 and parts[0].shape[1] == width:
        return parts[0], like.new_full((1, 1), 1 / width).expand(members, width)
    chosen = torch.zeros(members, width, dtype=torch.int64, device=like.device)
    share = like.new_zeros(members, width)
    for pace, part in zip(paces, parts, strict=True):
        chosen[pace.rows, : part.shape[1]] = part
        share[pace.rows, : part.shape[1]] = 1 / part.shape[1]
    return chosen, share


def _all_waited(now: int, paces: list[Pace], epoch_kept: Tensor, patience: int) -> bool:
    """Whether no network can become better any more; asks the device."""
    return all(
        now >= pace.steps * pace.epochs
        or bool((now // pace.steps - epoch_kept[pace.rows] >= patience).all())
        for pace in paces
    )
