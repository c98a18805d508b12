"""Networks of the studies trained together on the GPU: CUDA graphs take the same steps."""

import pytest
import torch
from torch import Tensor

from liegg.studies.ensemble import Classification, Member, Schedule, initialise, train
from liegg.studies.ensemble.training import Checkpoint

SIZES = [(2, 8, 8, 3), (2, 5, 5, 3), (2, 11, 7, 3)]
MEMBERS = [Member(sizes, seed, 96, 8) for seed, sizes in enumerate(SIZES, start=1)]
SCHEDULE = Schedule(batch_size=20, rate=1e-2)
START = initialise(SIZES, [member.seed for member in MEMBERS]).to(dtype=torch.float64)


def points(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Three clusters of points in the plane, one per class."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 3
    centres = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]], dtype=torch.float64)
    noise = torch.randn(count, 2, generator=generator, dtype=torch.float64)
    return centres[labels] + 0.8 * noise, labels


def task(device: torch.device, *, changing: bool = False) -> Classification:
    (x, labels), (more, classes) = points(96, 0), points(30, 1)
    x, more = x.to(device), more.to(device)

    def samples(epoch: int) -> Tensor:
        return x + epoch / 10 if changing else x

    return Classification(samples, labels.to(device), (more, classes.to(device)))


def assert_close(one, other) -> None:
    for a, b in zip(one.stack.leaves, other.stack.leaves, strict=True):
        torch.testing.assert_close(a.cpu(), b.cpu(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("changing", [False, True])
def test_a_replayed_graph_takes_the_same_steps(changing, cuda):
    graph, plain = (
        train(
            MEMBERS,
            task(cuda, changing=changing),
            SCHEDULE,
            device="cuda",
            start=START,
            graph=graph,
        )
        for graph in (True, False)
    )
    assert graph.epoch.tolist() == plain.epoch.tolist()
    assert_close(graph, plain)


def test_training_agrees_with_the_cpu(device):
    here = train(MEMBERS, task(torch.device("cpu")), SCHEDULE, start=START)
    there = train(MEMBERS, task(device), SCHEDULE, device=device.type, start=START)
    assert there.epoch.tolist() == here.epoch.tolist()
    assert_close(there, here)


class KilledError(Exception):
    """Stands for whatever ends a run."""


class Memory(Checkpoint):
    """Holds the last state; ends the run after a given number of states."""

    def __init__(self, last: int, state: dict[str, Tensor] | None = None) -> None:
        self.last, self.state, self.saved = last, state, 0

    def load(self) -> dict[str, Tensor] | None:
        return self.state

    def due(self) -> bool:
        return True

    def save(self, state: dict[str, Tensor]) -> None:
        self.state = {name: value.detach().clone() for name, value in state.items()}
        self.saved += 1
        if self.saved == self.last:
            raise KilledError


def test_a_killed_run_resumes(device):
    whole = train(MEMBERS, task(device), SCHEDULE, device=device.type, start=START)
    memory = Memory(5)
    with pytest.raises(KilledError):
        train(MEMBERS, task(device), SCHEDULE, device=device.type, start=START, checkpoint=memory)
    after = train(
        MEMBERS,
        task(device),
        SCHEDULE,
        device=device.type,
        start=START,
        checkpoint=Memory(-1, memory.state),
    )
    assert_close(after, whole)
