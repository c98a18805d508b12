"""Unknown keywords are answered with the nearest one, with advice, or with all of them."""

import inspect
from dataclasses import asdict, dataclass, replace

import pytest

from liegg._utils.arguments import checked, checked_fields
from liegg._utils.errors import ArgumentError
from liegg.discovery.discover import ADVICE, discover


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
    with pytest.raises(TypeError):
        measure()  # pyright: ignore[reportCallIssue]


def test_fields_of_records():
    with pytest.raises(ArgumentError, match=r"Size\(\) has no argument 'hieght'.*height="):
        Size(hieght=3)  # pyright: ignore[reportCallIssue]
    assert replace(Size(), width=5) == Size(width=5)
    assert asdict(Size(height=3)) == {"height": 3, "width": 2}
    assert list(inspect.signature(Size).parameters) == ["height", "width"]


def test_no_advice_is_about_an_argument_that_discover_has():
    assert not ADVICE.keys() & inspect.signature(discover).parameters.keys()
