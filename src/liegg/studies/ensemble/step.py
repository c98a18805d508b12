"""One step of Adam for all networks at once, replayed as a CUDA graph on a GPU."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg.studies.ensemble.problems import Problem
from liegg.studies.ensemble.stack import Stack

WARM_UP_STEPS = 3
"""Steps before a graph is captured, in which libraries initialise themselves."""


@dataclass(frozen=True)
class Schedule:
    """How networks are trained.

    Attributes:
        batch_size: samples per step.
        rate: learning rate of Adam.
        frozen: number of first layers that are not trained.
    """

    batch_size: int = 512
    rate: float = 1e-3
    frozen: int = 0


class Step:
    """Changes the weights of a stack in place.

    Args:
        stack: the networks; their weights are trained.
        problem: its losses are minimised.
        schedule: batch size, learning rate and number of frozen layers.
        graph: replay a CUDA graph; by default on a CUDA device.
    """

    def __init__(
        self, stack: Stack, problem: Problem, schedule: Schedule, *, graph: bool | None = None
    ) -> None:
        self._stack, self._problem = stack, problem
        like, frozen = stack.weights[0], schedule.frozen
        self._device = like.device
        self._use_graph = like.is_cuda if graph is None else graph
        self._leaves = [*stack.weights[frozen:], *stack.biases[frozen:]]
        for leaf in self._leaves:
            leaf.requires_grad_()
        self._adam = torch.optim.Adam(
            self._leaves, lr=schedule.rate, fused=True, capturable=like.is_cuda
        )
        self._share = like.new_zeros(len(stack), schedule.batch_size)
        self._chosen = torch.zeros_like(self._share, dtype=torch.int64)
        self._steps = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, chosen: Int[Tensor, "s b"], share: Float[Tensor, "s b"]) -> None:
        """Take a step.

        Args:
            chosen: samples of each network.
            share: weight of each in its network's mean: one over their number, and zero for padding.
        """
        if not self._use_graph:
            self._eager(chosen, share)
            return
        with torch.cuda.device(self._device):  # streams and graphs belong to the current device
            self._replay(chosen, share)

    def _replay(self, chosen: Tensor, share: Tensor) -> None:
        self._chosen.copy_(chosen)
        self._share.copy_(share)
        if self._steps < WARM_UP_STEPS:
            # Warm-up must run on a side stream before the capture.
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self._eager(self._chosen, self._share)
            torch.cuda.current_stream().wait_stream(side)
            self._steps += 1
            return
        if self._graph is None:
            self._adam.zero_grad(set_to_none=True)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._eager(self._chosen, self._share)
        self._graph.replay()

    def _eager(self, chosen: Tensor, share: Tensor) -> None:
        self._adam.zero_grad(set_to_none=True)
        # No weight is shared, so the sum over networks does not mix their gradients.
        (self._problem.losses(self._stack, chosen) * share).sum().backward()
        self._adam.step()

    def moments(self) -> dict[str, Tensor]:
        """Adam's state by name, for a checkpoint; empty before the first step."""
        state = self._adam.state_dict()["state"]
        return {
            f"adam.{index}.{name}": value
            for index, values in state.items()
            for name, value in values.items()
        }

    def restore(self, moments: dict[str, Tensor]) -> None:
        """Restore Adam's state; the caller restores the weights."""
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in moments.items():
            _, index, name = key.split(".")
            state.setdefault(int(index), {})[name] = value
        self._adam.load_state_dict(self._adam.state_dict() | {"state": state})

    def close(self) -> None:
        """Leave the weights as plain tensors without gradients."""
        self._graph = None
        for leaf in self._leaves:
            leaf.requires_grad_(False)
            leaf.grad = None
