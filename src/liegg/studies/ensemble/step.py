"""One step of Adam for all networks at once; on a GPU replayed as a CUDA graph, so that no launch waits for Python."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg.studies.ensemble.problems import Problem
from liegg.studies.ensemble.stack import Stack

EAGER = 3
"""Steps taken one by one before a graph is captured: libraries set themselves up in them."""


class Step:
    """Changes the weights of a stack in place.

    Args:
        stack: the networks; their weights are trained.
        problem: gives the losses.
        batch_size: samples to a step.
        rate: learning rate.
        frozen: first layers whose weights stay as they are.
        graph: replay a CUDA graph; by default on a CUDA device.
    """

    def __init__(
        self,
        stack: Stack,
        problem: Problem,
        batch_size: int,
        rate: float,
        *,
        frozen: int = 0,
        graph: bool | None = None,
    ) -> None:
        self._stack, self._problem = stack, problem
        device = self._device = stack.weights[0].device
        self._wanted = device.type == "cuda" if graph is None else graph
        self._trained = [*stack.weights[frozen:], *stack.biases[frozen:]]
        for leaf in self._trained:
            leaf.requires_grad_()
        self._adam = torch.optim.Adam(
            self._trained, lr=rate, fused=True, capturable=device.type == "cuda"
        )
        self._chosen = torch.zeros(len(stack), batch_size, dtype=torch.int64, device=device)
        self._share = torch.zeros(
            len(stack), batch_size, dtype=stack.weights[0].dtype, device=device
        )
        self._taken = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, chosen: Int[Tensor, "s b"], share: Float[Tensor, "s b"]) -> None:
        """Take a step.

        Args:
            chosen: samples of each network.
            share: what each counts in its network's mean: one over their number, and zero for a place that holds no sample.
        """
        if not self._wanted:
            self._eager(chosen, share)
            return
        with torch.cuda.device(self._device):  # streams and graphs belong to the current device
            self._replayed(chosen, share)

    def _replayed(self, chosen: Tensor, share: Tensor) -> None:
        self._chosen.copy_(chosen)
        self._share.copy_(share)
        if self._taken < EAGER:
            side = (
                torch.cuda.Stream()
            )  # a graph may be captured only of work that was warmed up beside the main stream
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self._eager(self._chosen, self._share)
            torch.cuda.current_stream().wait_stream(side)
            self._taken += 1
            return
        if self._graph is None:
            self._adam.zero_grad(set_to_none=True)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._eager(self._chosen, self._share, clear=False)
        self._graph.replay()

    def _eager(self, chosen: Tensor, share: Tensor, *, clear: bool = True) -> None:
        if clear:
            self._adam.zero_grad(set_to_none=True)
        # The sum over networks keeps their gradients apart: no weight is shared.
        (self._problem.losses(self._stack, chosen) * share).sum().backward()
        self._adam.step()

    def moments(self) -> dict[str, Tensor]:
        """Adam's state by name, to be kept; empty before the first step."""
        state = self._adam.state_dict()["state"]
        return {
            f"adam.{index}.{name}": value
            for index, values in state.items()
            for name, value in values.items()
        }

    def restore(self, moments: dict[str, Tensor]) -> None:
        """Go on from kept moments; the weights are restored by their owner."""
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in moments.items():
            _, index, name = key.split(".")
            state.setdefault(int(index), {})[name] = value
        self._adam.load_state_dict(self._adam.state_dict() | {"state": state})

    def close(self) -> None:
        """Leave the weights as plain tensors without gradients."""
        self._graph = None
        for leaf in self._trained:
            leaf.requires_grad_(False)
            leaf.grad = None
