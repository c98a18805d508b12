"""Stage 1: whatever the user has becomes the same batches, lazily, and bad data is named."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    TensorDataset,
)

import liegg
from liegg._utils.errors import NonFiniteError
from liegg.inputs.batches import Batches, as_batches, evenly_spaced

X = torch.randn(10, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(10)
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
INFINITY, NAN = float("inf"), float("nan")


def square(x: Tensor) -> Tensor:
    return x.square().sum(1)


class Items(Dataset):
    """Map-style dataset over a list, counting what is read."""

    def __init__(self, items: Any) -> None:
        self.items, self.reads = items, 0

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        return self.items[index]


class Stream(IterableDataset):
    def __iter__(self) -> Iterator[Tensor]:
        return iter(X)


class Batched:
    """Any object whose `__iter__` starts afresh."""

    def __iter__(self) -> Iterator[Tensor]:
        return iter(X.split(3))


def assert_same_sums(one: liegg.Symmetries, other: liegg.Symmetries) -> None:
    """Equal but for the rounding of float64 sums; a factor itself is unique only up to signs."""
    a, b = (sym.accumulated.factor.mT @ sym.accumulated.factor for sym in (one, other))
    torch.testing.assert_close(a, b, rtol=0.0, atol=1e-12 * float(b.abs().max()))


def read_only() -> np.ndarray:
    array = X.numpy().copy()
    array.flags.writeable = False
    return array


SOURCES = {
    "tensor": X,
    "array": X.numpy(),
    "read-only array": read_only(),
    "big-endian array": X.numpy().astype(">f8"),
    "strided array": X.numpy().repeat(2, axis=0)[::2],
    "Dataset": Items(list(X)),
    "Dataset of arrays": Items(list(read_only())),
    "Dataset of big-endian arrays": Items(list(X.numpy().astype(">f8"))),
    "Dataset with labels": TensorDataset(X, LABELS),
    "Dataset with labels that no loader can stack": Items([(x, None) for x in X]),
    "IterableDataset": Stream(),
    "DataLoader": DataLoader(Items(list(X)), batch_size=4),
    "DataLoader with labels": DataLoader(TensorDataset(X, LABELS), batch_size=4),
    "list of batches": list(X.split(4)),
    "list of array batches": [X[:4].numpy(), X[4:].numpy()],
    "list of labelled batches": [(X[:4], LABELS[:4]), (X[4:], LABELS[4:])],
    "batches with an empty one": [X[:4], X[:0], X[4:]],
    "custom re-iterable": Batched(),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_kind_of_data_gives_the_samples_in_order_twice_and_the_same_symmetries(source):
    batches = as_batches(source, batch_size=4)
    for _ in range(2):
        assert torch.equal(torch.cat(list(batches)), X)
    found = liegg.discover(square, source, liegg.Linear(3), run=liegg.Run(batch_size=4))
    known = liegg.discover(square, X, liegg.Linear(3))
    assert found.samples == 10
    torch.testing.assert_close(
        *(s.accumulated.factor.mT @ s.accumulated.factor for s in (found, known)),
        rtol=1e-12,
        atol=1e-12,
    )


def test_memory_map_is_read_and_left_alone(tmp_path):
    np.save(tmp_path / "x.npy", X.numpy())
    before = (tmp_path / "x.npy").read_bytes()
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert torch.equal(torch.cat(list(as_batches(mapped, batch_size=3))), X)
    assert (tmp_path / "x.npy").read_bytes() == before


@pytest.mark.parametrize(
    "source", [X, X.numpy(), TensorDataset(X, LABELS)], ids=["tensor", "array", "Dataset"]
)
def test_batch_size(source):
    shapes = {
        size: [len(batch) for batch in as_batches(source, batch_size=size)]
        for size in (1, 4, 10, 11)
    }
    assert shapes == {1: [1] * 10, 4: [4, 4, 2], 10: [10], 11: [10]}


def test_loaders_keep_their_own_batch_size():
    loader = DataLoader(TensorDataset(X), batch_size=3)
    assert [len(batch) for batch in as_batches(loader, batch_size=7)] == [3, 3, 3, 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("device", DEVICES)
def test_batches_come_in_the_dtype_and_on_the_device_asked_for(dtype, device):
    for source in (X, X.numpy(), TensorDataset(X), list(X.split(4))):
        batches = list(Batches(source, 4, dtype=dtype, device=torch.device(device)))
        assert all(batch.dtype == dtype and batch.device.type == device for batch in batches)
        assert torch.equal(torch.cat(batches).cpu(), X.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("device", DEVICES)
def test_data_follows_the_model(dtype, device):
    sym = liegg.discover(nn.Linear(3, 1, dtype=dtype, device=device), X, liegg.Linear(3))
    assert sym.settings["dtype"] == str(dtype).removeprefix("torch.")
    assert sym.settings["device"] == device


def test_without_parameters_the_data_keeps_its_own_dtype():
    assert liegg.discover(square, X.float(), liegg.Linear(3)).settings["dtype"] == "float32"


def test_batches_carry_no_graph():
    x = X.clone().requires_grad_()
    assert not any(batch.requires_grad for batch in as_batches(x * 2))


# Streaming


class Watched(np.ndarray):
    """Array that records how many samples each access takes."""

    taken: list[int]

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if isinstance(key, slice):
            self.taken.append(len(part))
        return part


def test_an_array_is_never_taken_whole():
    array = X.numpy().view(Watched)
    array.taken = []
    run = liegg.Run(batch_size=4, hidden="ignore")  # which reads some samples once more
    liegg.discover(square, array, liegg.Linear(3), run=run)
    assert array.taken == [4, 4, 2]


def test_a_dataset_is_read_once_and_no_further_than_the_batch_at_work():
    dataset, seen, reads = Items(list(X)), [], []

    def progress(count: int) -> None:
        seen.append(count)
        reads.append(dataset.reads)

    liegg.discover(square, dataset, liegg.Linear(3), run=liegg.Run(batch_size=4, progress=progress))
    assert seen == [4, 4, 2]
    assert reads == [4, 8, 10]


def test_nothing_is_read_before_iteration():
    dataset = Items(list(X))
    batches = as_batches(dataset, batch_size=4)
    assert dataset.reads == 0
    next(iter(batches))
    assert dataset.reads == 4


# Generators


def shuffled(generator: torch.Generator) -> dict[str, Any]:
    class Noisy(Items):
        def __init__(self) -> None:
            super().__init__(list(X))
            self.generator = generator

        def __getitem__(self, index: int) -> Tensor:
            return super().__getitem__(index) + torch.rand(3, generator=self.generator)

    return {
        "loader": DataLoader(TensorDataset(X), batch_size=4, shuffle=True, generator=generator),
        "sampler": DataLoader(
            TensorDataset(X), batch_size=4, sampler=RandomSampler(X, generator=generator)
        ),
        "batch sampler": DataLoader(
            TensorDataset(X),
            batch_sampler=BatchSampler(RandomSampler(X, generator=generator), 4, drop_last=False),
        ),
        "dataset": Noisy(),
        "dataset of a loader": DataLoader(Noisy(), batch_size=4),
    }


@pytest.mark.parametrize("owner", shuffled(torch.Generator()))
def test_generators_of_the_data_are_left_as_they_were(owner):
    generator = torch.Generator().manual_seed(5)
    source = shuffled(generator)[owner]
    next(iter(source if isinstance(source, DataLoader) else [source[0]]))
    before = generator.get_state()
    one = liegg.discover(square, source, liegg.Linear(3))
    assert torch.equal(generator.get_state(), before)
    two = liegg.discover(square, source, liegg.Linear(3))
    assert_same_sums(one, two)


def test_generators_are_left_as_they_were_after_an_error():
    generator = torch.Generator().manual_seed(5)
    loader = DataLoader(TensorDataset(X * NAN), batch_size=2, shuffle=True, generator=generator)
    before = generator.get_state()
    with pytest.raises(NonFiniteError):
        liegg.discover(square, loader, liegg.Linear(3))
    assert torch.equal(generator.get_state(), before)


def test_a_loader_that_shuffles_by_the_global_generator_gives_the_same_answer_twice():
    loader = DataLoader(TensorDataset(X), batch_size=4, shuffle=True)
    one, two = (liegg.discover(square, loader, liegg.Linear(3)) for _ in range(2))
    assert_same_sums(one, two)


@pytest.mark.parametrize(
    ("shape", "size"), [((3,), 2048), ((784,), 2048), ((3, 224, 224), 13), ((2**22,), 1)]
)
def test_large_samples_come_in_small_batches(shape, size):
    batches = as_batches(torch.zeros(1).expand(2100, *shape))
    assert batches.prepared(None, None).size == size
    assert len(next(iter(batches))) == size


@pytest.mark.parametrize(
    ("shape", "size"), [((3,), 2**14), ((784,), 2**14), ((3, 224, 224), 111), ((2**24,), 1)]
)
def test_a_gpu_gets_larger_batches(shape, size):
    samples = torch.zeros(1).expand(2100, *shape)
    assert as_batches(samples).prepared(torch.float32, torch.device("cuda")).size == size
    assert as_batches(samples, batch_size=7).prepared(torch.float32, torch.device("cuda")).size == 7
    assert as_batches([samples]).prepared(None, None).size is None


def test_the_first_sample_of_a_dataset_decides_its_batches(monkeypatch):
    monkeypatch.setattr("liegg.inputs.pieces.BATCH_ELEMENTS", 40)
    dataset = TensorDataset(torch.zeros(9, 10), torch.zeros(9))
    assert [len(batch) for batch in as_batches(dataset)] == [4, 4, 1]
    assert [len(batch) for batch in as_batches(dataset, batch_size=6)] == [6, 3]


@pytest.mark.parametrize(
    ("numbers", "expected"), [(2, 200), (2**16, 64), (2**19, 8), (2**22, 8)], ids=str
)
def test_fewer_large_samples_are_taken_but_never_less_than_eight(numbers, expected):
    x = torch.zeros(1).expand(200, numbers)
    places = evenly_spaced(x, 256)
    assert len(places) == len(places.unique()) == expected
    assert (int(places[0]), int(places[-1])) == (0, 199)
    assert len(evenly_spaced(x, 3)) == 3
