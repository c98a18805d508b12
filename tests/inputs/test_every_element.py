"""Data that ends early or fails is an error in every form; data that is complete is read to its end."""

import re

import pytest
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import liegg
from cases import normal, square
from liegg._utils.errors import DataError, ShapeError
from liegg.inputs.every_element import every_element

X = normal(100, 3)


class Fails(Dataset):
    """100 samples, of which number 40 raises something."""

    def __init__(self, error: Exception, *, tree: bool = False) -> None:
        self.error, self.tree = error, tree

    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, index: int):
        if index == 40:
            raise self.error
        return {"pos": X[index][None]} if self.tree else X[index]


class Streams(IterableDataset):
    """A number of samples, of as many as it declares."""

    def __init__(self, count: int, declared: int | None) -> None:
        self.count, self.declared = count, declared

    def __len__(self) -> int:
        if self.declared is None:
            raise TypeError("unknown")
        return self.declared

    def __iter__(self):
        return iter(X[: self.count])


EARLY = {
    "Dataset": (Fails(StopIteration()), "after 40 samples: StopIteration"),
    "loader": (DataLoader(Fails(StopIteration()), 10), "after 4 of 10 batches"),
    "iterable": (Streams(40, 100), "after 40 of 100 samples"),
    "loader of an iterable": (DataLoader(Streams(40, 100), 16), "after 3 of 7 batches"),
    "failing loader": (DataLoader(Fails(OSError("disk")), 10), "after 4 batches: OSError: disk"),
}


@pytest.mark.parametrize("kind", EARLY)
def test_data_that_ends_early_is_refused_by_every_verb(kind):
    data, text = EARLY[kind]
    action = liegg.Linear(3)
    calls = {
        "discover": lambda: liegg.discover(square, data, action),
        "verify": lambda: liegg.verify(square, data, action, liegg.so(3)),
        "discover_data": lambda: liegg.discover_data(data, action),
        "discover_layers": lambda: liegg.discover_layers(nn.Linear(3, 1).double(), data, action),
    }
    for verb, call in calls.items():
        # A loader of a Dataset may be indexed, and then names the sample.
        with pytest.raises(DataError, match=f"{re.escape(text)}|could not be read after") as error:
            call()
        if verb == "discover":
            assert text in str(error.value)


def test_a_worker_that_ends_early_is_seen():
    loader = DataLoader(Fails(StopIteration()), 10, num_workers=1)
    with pytest.raises(DataError, match="after 4 of 10 batches"):
        for _ in every_element(loader):
            pass


@pytest.mark.parametrize("error", [StopIteration(), OSError("disk")])
@pytest.mark.parametrize("loads", [False, True])
def test_structured_samples_that_end_early_are_refused(error, loads):
    data = Fails(error, tree=True)

    def model(pos: Tensor) -> Tensor:
        return pos.square().sum((1, 2))

    with pytest.raises(DataError, match="after 4"):
        liegg.discover(model, DataLoader(data, 10) if loads else data, {"pos": liegg.Linear(3)})


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (TensorDataset(X), 100),
        ([X, X], 2),
        (DataLoader(TensorDataset(X), 30), 4),
        (DataLoader(TensorDataset(X), 30, drop_last=True), 3),
        (DataLoader(TensorDataset(X), batch_size=None), 100),
        (Streams(40, 40), 40),
        (Streams(40, None), 40),
        (Streams(40, 30), 40),
        (DataLoader(Streams(40, 40), 30), 2),
        (DataLoader(Streams(40, 40), 30, drop_last=True), 1),
        (DataLoader(Streams(40, None), 30), 2),
        (DataLoader(Streams(40, 40), batch_size=None), 40),
    ],
)
def test_complete_data_is_read_to_its_end(data, count):
    assert len(list(every_element(data))) == count


def test_an_iterable_of_another_kind_may_count_what_it_likes():
    class Batches:
        def __len__(self) -> int:
            return len(X)  # samples, not batches

        def __iter__(self):
            return iter(X.split(30))

    assert len(list(every_element(Batches()))) == 4


def test_errors_of_liegg_pass():
    with pytest.raises(ShapeError, match="mine"):
        list(every_element(Fails(ShapeError("mine"))))
