"""Memory that runs out, numbers that are not finite, and how often the host waits for the GPU."""

import gc
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import nn

import liegg
from cases import mlp, normal
from gpu.agreement import TOLERANCES, assert_agree
from liegg._utils.device import DeferredCheck, to_device
from liegg._utils.errors import NonFiniteError


class Wide(nn.Module):
    """A network that holds a given number of bytes per sample while it runs."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, width), nn.Linear(width, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.tanh(self.first(x)))


@pytest.fixture
def bounded(cuda):
    """Bound the memory of this process; the GPU itself is never filled."""
    total = torch.cuda.get_device_properties(cuda).total_memory

    def bound(mebibytes: int) -> None:
        """Allow this much more than is in use now."""
        torch.cuda.empty_cache()
        size = torch.cuda.memory_reserved() + mebibytes * 2**20
        torch.cuda.set_per_process_memory_fraction(min(1.0, size / total))

    yield bound
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.cuda.empty_cache()


def wide(width: int) -> Wide:
    torch.manual_seed(0)
    return Wide(width).double().eval()


@pytest.mark.parametrize("route", ["jvp", "vjp"])
def test_batches_that_do_not_fit_are_halved(route, bounded, cuda, enter):
    """The first batches fit, later and larger ones do not: they are halved, and nothing is lost."""
    model, x = wide(4096).to(cuda), normal(6000, 4).to(cuda)
    batches = [x[:64], *x[64:].split(2968)]
    free = liegg.discover(model, batches, liegg.Linear(4), run=liegg.Run(route=route))
    sizes: list[int] = []
    bounded(400)
    sym = liegg.discover(
        model, batches, liegg.Linear(4), run=liegg.Run(route=route, progress=sizes.append)
    )
    assert sum(sizes) == sym.samples == 6000
    assert max(sizes) < 2968
    assert len(sym.notes) == len(free.notes) + 1  # that batches were halved
    enter(batch_sizes=sizes[:6], **assert_agree(sym, free, TOLERANCES[torch.float64]))


def test_one_sample_that_does_not_fit_is_an_error(bounded, cuda, enter):
    """A liegg error that names the memory; nothing is left on the device, and it works again."""
    model, x = wide(2**22).to(cuda), normal(100, 4).to(cuda)
    before = torch.cuda.memory_allocated()
    bounded(300)
    error = error_of(
        lambda: liegg.discover(model, x, liegg.Linear(4), run=liegg.Run(route="jvp", batch_size=50))
    )
    gc.collect()
    left = torch.cuda.memory_allocated() - before
    enter(error=error, bytes_left=left)
    assert error == "DeviceMemoryError"
    assert left < 2**20
    bounded(2**20)
    assert liegg.discover(mlp(4, 8, 2).to(cuda), x, liegg.Linear(4)).samples == 100


def error_of(work: Callable[[], object]) -> str:
    """Type of the error, without its traceback, which would hold tensors."""
    try:
        work()
    except Exception as error:
        return type(error).__name__
    return "none"


@pytest.mark.parametrize("where", ["output", "derivative"])
@pytest.mark.parametrize("batch_size", [50, 100, 1000])
def test_a_sample_that_is_not_finite_is_named(where, batch_size, device):
    """On a GPU the answer is read one batch later; the sample is the right one all the same."""
    x = normal(500, 3)
    x[431] = 0.0

    def model(x: torch.Tensor) -> torch.Tensor:
        square = x.square().sum(1)
        return square.sqrt() if where == "derivative" else 1 / square

    with pytest.raises(NonFiniteError, match="sample 431"):
        liegg.discover(model, x.to(device), liegg.Linear(3), run=liegg.Run(batch_size=batch_size))


def test_the_last_batch_is_checked_too(device):
    x = normal(500, 3)
    x[499] = 0.0
    with pytest.raises(NonFiniteError, match="sample 499"):
        liegg.discover(
            lambda x: x.square().sum(1).sqrt(),
            x.to(device),
            liegg.Linear(3),
            run=liegg.Run(batch_size=100),
        )


def test_an_answer_is_read_with_the_next_question(cuda):
    yes, no = torch.tensor(True, device=cuda), torch.tensor(False, device=cuda)

    def trouble() -> None:
        raise ZeroDivisionError

    late = DeferredCheck()
    late.submit(no, trouble)
    with pytest.raises(ZeroDivisionError):
        late.submit(yes, trouble)
    late.submit(no, trouble)
    with pytest.raises(ZeroDivisionError):
        late.resolve()


@pytest.mark.parametrize(
    "value",
    [torch.arange(3), normal(2, 3, 4, 4).to(memory_format=torch.channels_last)],
    ids=["numbers", "channels last"],
)
def test_what_is_sent_ahead_arrives(value, device):
    there = to_device(value, device)
    assert torch.equal(there.cpu(), value)
    assert there.stride() == value.stride()
    assert there.device.type == device.type
    assert to_device(value, device, torch.float64).dtype == torch.float64


def synchronisations(model, batches, **options) -> int:
    """How often torch made the host wait for the GPU, as far as torch can say."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            liegg.discover(model, batches, liegg.Linear(4), **options)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("called a synchronizing" in str(warning.message) for warning in caught)


@pytest.mark.parametrize("controls", ["random", "none"])
def test_the_host_waits_at_most_twice_per_batch(controls, cuda, enter):
    """Forty more batches cost at most eighty more waits that torch can see: for the hashes of the samples, and for those that
    enter the sketch of the data, which are rarer the more samples there were."""
    model, x = mlp(4, 32, 3, dtype=torch.float32).to(cuda), normal(6000, 4).float().to(cuda)
    few, many = (
        synchronisations(model, list(x[: 100 * count].split(100)), controls=controls)
        for count in (20, 60)
    )
    enter(synchronisations_of_20_batches=few, synchronisations_of_60_batches=many)
    assert many - few <= (80 if controls == "random" else 0)
