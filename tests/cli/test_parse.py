"""Actions and parts of models as the command line writes them."""

import re
from typing import Any

import jaxtyping
import pytest

import liegg
from liegg.cli.parse import parse_action, parse_output, parse_target

ACTIONS = {
    "linear:5x2": liegg.Linear(5, copies=2),
    "affine:3x20": liegg.Affine(3, copies=20),
    "tensor:3": liegg.actions.Tensor(3),
    "tensor:3x4:3": liegg.actions.Tensor(3, rank=3, copies=4),
    "tensor:3:2:symmetric": liegg.actions.Tensor(3, symmetric=True),
    "tensor:3:2:antisymmetric": liegg.actions.Tensor(3, antisymmetric=True),
    "tensor:3:2:voigt": liegg.actions.Tensor(3, symmetric=True, form="voigt"),
    "irrep:2": liegg.actions.Irrep(2),
    "irrep:2x5:standard": liegg.actions.Irrep(2, order="standard", copies=5),
    "image": liegg.Image(),
    "image:similarity": liegg.Image("similarity"),
    "image:affine:28x28": liegg.Image("affine", shape=(28, 28)),
    "image:3x32x32:central:periodic": liegg.Image(
        shape=(3, 32, 32), derivative="central", border="periodic"
    ),
    "volume": liegg.Volume(),
    "image:frame=2": liegg.Image(frame=2),
    "image:spectral": liegg.Image(derivative="spectral"),
    "image:affine:step=0.5": liegg.Image("affine", step=0.5),
    "image:gaussian:sigma=2.5": liegg.Image(derivative="gaussian", sigma=2.5),
    "sequence:linear:64": liegg.Sequence("linear", shape=(64,)),
    "color": liegg.Color(),
    "color:linear:4": liegg.Color("linear", channels=4),
    "color:tone:1": liegg.Color("tone", channels=1),
    "color:3x32x32": liegg.Color(shape=(3, 32, 32)),
    "image + color:gains": liegg.Product(liegg.Image(), liegg.Color("gains")),
}


def test_text_becomes_an_action() -> None:
    for text in ACTIONS:
        assert parse_action(text).settings() == ACTIONS[text].settings()


def test_names_are_separated_by_commas() -> None:
    named = parse_action("affine:3", "m1, m2,r")
    assert named.settings() == liegg.Affine(3, names=["m1", "m2", "r"]).settings()
    both: Any = parse_action("linear:2 + affine:2", "a,b")
    assert both.axes == ("a", "b", "a", "b", "1")


def test_other_names_are_refused() -> None:
    for text, names, part in [
        ("image", "x,y", "--names"),
        ("linear:3", "a,b", "2 names"),
        ("linear:3", "a,b,", "is empty"),
        ("linear:3", "", "1 names"),
        ("linear:3", "a,b,a", "occurs twice"),
        ("linear:2+color", "a,b", "color"),
    ]:
        with pytest.raises(liegg.LieggError, match=re.escape(part)):
            parse_action(text, names)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("picture", "linear:NxCOPIES"),
        ("image:warped", "'warped'"),
        ("image:28", "'28'"),
        ("color:hue", "'hue'"),
        ("image+", "action 'image+'"),
        ("image:central:paper", "a second derivative, 'paper'"),
        ("image:", "nothing after a colon"),
    ],
)
def test_other_text_is_refused(text: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as users run it
    with pytest.raises(liegg.LieggError, match=re.escape(part)):
        parse_action(text)


def test_words_become_values() -> None:
    texts = ("3", " 3, 5", "3,3", "margin", "3 minus 5", "-1", None)
    assert [parse_target(text) for text in texts] == [
        *(3, [3, 5], [3, 3]),
        *("margin", "3 minus 5", "-1", None),
    ]
    assert [parse_output(text) for text in ("0", "-1", "logits", None)] == [0, -1, "logits", None]
