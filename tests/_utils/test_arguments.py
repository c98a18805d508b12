"""Unknown keywords are answered with the nearest one, with advice, or with all of them."""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import check_functions, checked, checked_fields, shown
from liegg._utils.conversion import MismatchError, convert
from liegg._utils.errors import ArgumentError
from liegg.discovery.discover import ADVICE, discover
from liegg.discovery.run import Run


@checked({"device": "Move the model.", "verify": "Pass held_out=."})
def measure(x, *, held_out=None, batch_size=1):
    """Measure."""
    return x, held_out, batch_size


@checked_fields
@dataclass(frozen=True, kw_only=True)
class Size:
    height: int = 1
    width: int = 2


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("heldout", "held_out="),
        ("batchsize", "batch_size="),
        ("Device", "Move the model."),
        ("verifiy", "Pass held_out=."),
        ("colour", "x, held_out, batch_size"),
    ],
)
def test_unknown_keywords_are_answered(name, answer):
    with pytest.raises(ArgumentError, match=rf"measure\(\) has no argument '{name}'") as caught:
        measure(1, **{name: 2})
    assert answer in str(caught.value)


def test_known_keywords_pass_and_the_function_stays_itself():
    assert measure(1, held_out=2) == (1, 2, 1)
    assert measure(x=1) == (1, None, 1)
    assert (measure.__name__, measure.__doc__) == ("measure", "Measure.")
    assert list(inspect.signature(measure).parameters) == ["x", "held_out", "batch_size"]
    with pytest.raises(ArgumentError, match=r"measure\(\): missing a required argument: 'x'"):
        measure()  # pyright: ignore[reportCallIssue]


def test_fields_of_records():
    with pytest.raises(ArgumentError, match=r"Size\(\) has no argument 'hieght'.*height="):
        Size(hieght=3)  # pyright: ignore[reportCallIssue]
    assert replace(Size(), width=5) == Size(width=5)
    assert asdict(Size(height=3)) == {"height": 3, "width": 2}
    assert list(inspect.signature(Size).parameters) == ["height", "width"]


def test_no_advice_is_about_an_argument_that_discover_has():
    assert not ADVICE.keys() & inspect.signature(discover).parameters.keys()


MATRICES = Float[Tensor, "d n n"]


def test_values_that_fit_are_converted():
    for hint, given, expected in [
        (int, 3, 3),
        (int, np.int64(3), 3),
        (int, torch.tensor(3), 3),
        (float, 3, 3.0),
        (float, np.float32(2), 2.0),
        (float, torch.tensor(2.5), 2.5),
        (float, math.inf, math.inf),
        (bool, np.True_, True),
        (int | None, None, None),
        (float | None, 2, 2.0),
        (Literal["each", "sum"] | int, np.int32(4), 4),
        (Literal["each", "sum"] | int, "sum", "sum"),
        (str | Path, "run", Path("run")),
        (Path | None, "run", Path("run")),
        (tuple[int, ...], [np.int64(2), 3], (2, 3)),
        (Sequence[int], np.array([2, 3]), [2, 3]),
        (Callable[[int], object] | None, print, print),
        (Any, "anything", "anything"),
    ]:
        converted = convert(given, hint)
        assert (converted, type(converted)) == (expected, type(expected))


def test_values_that_do_not_fit_say_what_was_expected():
    for hint, given, expected in [
        (int, True, "a whole number"),
        (int, np.True_, "a whole number"),
        (int, torch.tensor(True), "a whole number"),
        (int, 3.0, "a whole number"),
        (int, "3", "a whole number"),
        (int, torch.tensor([1, 2]), "a whole number"),
        (float, math.nan, "a number"),
        (float, True, "a number"),
        (float, 1j, "a number"),
        (float, 10**400, "a number"),
        (bool, 1, "True or False"),
        (str, b"a", "a text"),
        (str, "\ud800", "Unicode"),
        (Literal["a", "b"], "c", "'a' or 'b'"),
        (Literal["a"] | int | None, 2.5, "'a', a whole number or None"),
        (Path, "a\0b", "control characters"),
        (Path, "", "control characters"),
        (Path, 3, "a path"),
        (tuple[int, ...], "12", "a list"),
        (tuple[int, ...], [1, "2"], "each member a whole number"),
        (Callable[[int], object], 3, "a function"),
        (type[torch.nn.Module], 3, "a class"),
        (torch.nn.Module, 3, "a Module"),
        (MATRICES, torch.zeros(3, 3), r"a tensor \[d, n, n\]"),
        (MATRICES, torch.zeros(1, 3, 2), r"a tensor \[d, n, n\]"),
        (MATRICES, torch.zeros(1, 3, 3).to_sparse(), r"a tensor \[d, n, n\]"),
        (MATRICES, torch.zeros(1, 3, 3, device="meta"), "with values"),
        (MATRICES, np.full((1, 2, 2), "a"), r"a tensor \[d, n, n\]"),
    ]:
        with pytest.raises(MismatchError, match=expected):
            convert(given, hint)


def test_arrays_become_tensors_of_real_numbers():
    for given in [
        np.arange(9.0).reshape(1, 3, 3)[:, ::-1],
        np.arange(9).reshape(1, 3, 3),
        torch.arange(9).reshape(1, 3, 3),
        np.zeros((0, 3, 3), dtype=np.float32),
    ]:
        converted = convert(given, MATRICES)
        assert converted.is_floating_point()
        assert converted.tolist() == given.tolist()


def test_long_values_are_shown_short():
    assert len(shown("a" * 1000)) < 60
    assert len(shown(list(range(1000)))) < 60
    assert shown(np.zeros((2, 3))) == "an array of shape (2, 3)"


def test_a_tensor_stays_one_where_a_list_is_allowed_too():
    labels = torch.tensor([1, 0, 1])
    assert convert(labels, Tensor | np.ndarray | Sequence[Any] | None) is labels
    assert Run(groups=labels).groups is labels
    assert Run(groups=[1, 0, 1]).groups == [1, 0, 1]


def joined(*parts: Float[Tensor, "d n n"], span: Float[Tensor, "e n n"] | None = None) -> int:
    """Count."""
    return len(parts)


def test_functions_of_a_package_are_checked_where_they_leave_it():
    package: dict[str, Any] = {"joined": joined, "Size": Size, "NUMBER": 3}
    check_functions(package, ["joined", "Size", "NUMBER"])
    assert package["joined"] is not joined
    assert package["Size"] is Size
    again = package | {}
    check_functions(again, ["joined"])
    assert again["joined"] is package["joined"]
    square = torch.zeros(1, 2, 2)
    assert package["joined"](square, np.zeros((3, 2, 2)), span=square) == 2
    for given in (("a",), (square, torch.zeros(2, 2)), (torch.zeros(1, 2, 3),)):
        with pytest.raises(ArgumentError, match="parts="):
            package["joined"](*given)


def paired(
    one: Float[Tensor, "d n"], other: Float[Tensor, "e n"] | None = None
) -> tuple[torch.dtype, torch.dtype]:
    """Types."""
    return one.dtype, one.dtype if other is None else other.dtype


@pytest.mark.parametrize(
    "given",
    [
        (torch.zeros(2, 3), torch.zeros(2, 4)),
        (torch.tensor([[math.nan]]),),
        (torch.zeros(1, 1), torch.tensor([[math.inf]])),
    ],
)
def test_tensors_that_do_not_fit_each_other_are_refused(given):
    package: dict[str, Any] = {"paired": paired}
    check_functions(package, ["paired"])
    assert package["paired"](torch.zeros(2, 3), torch.zeros(1, 3).double()) == (torch.float64,) * 2
    with pytest.raises(ArgumentError):
        package["paired"](*given)


def watched(progress: Callable[[int, int], object], pair: tuple[str, str] = ("a", "b")) -> None:
    """Call it."""
    progress(1, 2)


@pytest.mark.parametrize(
    "given", [{"progress": repr}, {"progress": int}, {"progress": lambda x: x}]
)
def test_functions_that_take_other_arguments_are_refused(given):
    with pytest.raises(ArgumentError, match="a function of 2 arguments"):
        checked()(watched)(**given)
    checked()(watched)(print)
    with pytest.raises(ArgumentError, match="a list of 2"):
        checked()(watched)(print, ())  # pyright: ignore[reportArgumentType]
