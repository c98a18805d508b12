"""What the command line names by text."""

import re
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import torch

import liegg
from liegg.cli.files import first_samples, load_model, load_parts, parse_action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("linear:5x2", liegg.Linear(5, copies=2)),
        ("image", liegg.Image()),
        ("image:affine", liegg.Image("affine")),
        ("image:affine:28x28", liegg.Image("affine", shape=(28, 28))),
        (
            "image:3x32x32:central:periodic",
            liegg.Image(shape=(3, 32, 32), derivative="central", border="periodic"),
        ),
        ("volume", liegg.Volume()),
        ("image:frame=2", liegg.Image(frame=2)),
        ("image:gaussian:sigma=2.5", liegg.Image(derivative="gaussian", sigma=2.5)),
        ("sequence:linear:64", liegg.Sequence("linear", shape=(64,))),
        ("color", liegg.Color()),
        ("color:linear:4", liegg.Color("linear", channels=4)),
        ("color:3x32x32", liegg.Color(shape=(3, 32, 32))),
        ("image + color", liegg.Product(liegg.Image(), liegg.Color())),
    ],
)
def test_actions_by_text(text: str, action: liegg.Action) -> None:
    assert parse_action(text).settings() == action.settings()


@pytest.mark.parametrize(
    "text", ["image:similarity", "color:tone:1", "image:euclidean+color:gains"]
)
def test_smaller_groups_by_text(text: str) -> None:
    assert (
        parse_action(text).size
        == {"image:similarity": 4, "color:tone:1": 2, "image:euclidean+color:gains": 6}[text]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("picture", "Expected linear:N, linear:NxCOPIES or affine:NxCOPIES"),
        (
            "image:warped",
            "group='warped': Image knows 'linear', 'affine', 'similarity', 'euclidean'",
        ),
        ("color:hue", "group='hue': Color knows 'affine', 'linear', 'gains' and 'tone'"),
        ("image+", "action 'image+'"),
        (
            "image:central:paper",
            "action 'image:central:paper': a second derivative, 'paper'. Expected linear:N",
        ),
        ("image:", "action 'image:': nothing after a colon"),
        ("image:28", "group='28'"),
    ],
)
def test_actions_that_do_not_exist(
    text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match=re.escape(message)):
        parse_action(text)


# Weights and samples


def test_state_dicts_of_torch_are_loaded_without_running_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("nets_for_files.py").write_text(
        "import torch\n\ndef build():\n    return torch.nn.Linear(2, 1)\n"
    )
    made = torch.nn.Linear(2, 1)
    torch.save(made.state_dict(), "w.pt")
    assert torch.equal(load_model("nets_for_files:build", Path("w.pt")).weight, made.weight)
    torch.save(made, "whole.pth")  # a pickled module: its class would be imported and run
    with pytest.raises(
        liegg.LieggError,
        match=r"whole\.pth' hold more than tensors, or are damaged .* Save the state dict alone",
    ):
        load_model("nets_for_files:build", Path("whole.pth"))
    torch.save([1, 2], "list.pt")
    with pytest.raises(liegg.LieggError, match=r"list\.pt' are no state dict of tensors"):
        load_model("nets_for_files:build", Path("list.pt"))
    Path("bad.pt").write_bytes(b"bad")
    with pytest.raises(liegg.LieggError, match="or are damaged"):
        load_model("nets_for_files:build", Path("bad.pt"))
    with pytest.raises(liegg.LieggError, match="cannot be read"):
        load_model("nets_for_files:build", Path("nowhere.pt"))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("nets.py:build", r"Type the module's name, nets:build\."),
        ("w.pt", r"Weights go to --weights\."),
    ],
)
def test_what_people_type_for_a_model_is_answered(text: str, hint: str) -> None:
    with pytest.raises(liegg.LieggError, match=hint):
        load_model(text)


def test_names_of_wrapped_modules_and_nested_dicts_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("nets_wrapped.py").write_text(
        "import torch\n\ndef build():\n    return torch.nn.Linear(2, 1)\n"
    )
    state = torch.nn.Linear(2, 1).state_dict()
    torch.save({f"module.{name}": value for name, value in state.items()}, "wrapped.pt")
    with pytest.raises(
        liegg.LieggError, match=r"Its names begin with 'module\.', as DataParallel writes them"
    ):
        load_model("nets_wrapped:build", Path("wrapped.pt"))
    torch.save({"epoch": 3, "model": dict(state)}, "nested.pt")
    with pytest.raises(liegg.LieggError, match="The weights may be its entry 'model'"):
        load_model("nets_wrapped:build", Path("nested.pt"))


def test_a_share_of_the_data_is_held_out(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(20.0).reshape(10, 2))
    np.save(tmp_path / "y.npy", np.ones((3, 2)))
    text = str(tmp_path / "x.npy")
    kept, apart = load_parts(text, "0.3")
    assert (len(kept), apart is not None and apart[0, 0]) == (7, 14.0)
    assert load_parts(text, None)[1] is None
    other = load_parts(text, str(tmp_path / "y.npy"))
    assert (len(other[0]), other[1] is not None and other[1].shape) == (10, (3, 2))
    for share in ("0", "1", "1.5", "-0.2", "0.01", "0.99", "nan"):
        with pytest.raises(
            liegg.LieggError,
            match=f"--held-out {share}: of 10 samples this leaves too few on one side",
        ):
            load_parts(text, share)


def test_the_first_samples_are_copies(tmp_path: Path) -> None:
    x = np.zeros((20, 2))
    first = first_samples(x)
    x += 1
    assert first.shape == (8, 2)
    assert not first.any()
